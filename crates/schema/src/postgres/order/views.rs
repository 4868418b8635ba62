//! Views: replaced where the columns allow, otherwise dropped and recreated with all dependents.

use std::collections::{HashMap, HashSet};

use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::diff::ViewStep;
use crate::postgres::hazards;
use crate::postgres::model::{Table, View};
use crate::postgres::name::Name;
use crate::postgres::split;
use crate::sorted::sorted;
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    /// Drops views showing renamed columns, since the views would keep the old names.
    pub(super) fn clear_views_for_renames(&mut self) {
        let renamed = self.renamed_columns.clone();
        let hit = self.views_that(|names, _| {
            renamed.iter().any(|(table, column)| {
                names.contains(table.name.as_str()) && names.contains(column.as_str())
            })
        });
        self.clear_views(hit);
    }

    /// Drops views showing columns with changed types, or recreated functions.
    pub(super) fn clear_views_for_types(&mut self) {
        let (from, to) = (self.from, self.to);
        let mut columns: Vec<(&str, &str)> = Vec::new();
        let mut whole: HashSet<&str> = HashSet::new();
        for table in from.tables.values() {
            let Some(wanted) = to.tables.get(&table.name) else {
                let replaced = table.columns.values();
                let replaced =
                    replaced.filter(|column| self.sides.has_replaced_type(table, column));
                columns.extend(
                    replaced.map(|column| (table.name.name.as_str(), column.name.as_str())),
                );
                continue;
            };
            if self.sides.is_remade(table, wanted) {
                whole.insert(table.name.name.as_str());
                continue;
            }
            columns.extend(
                self.changing_columns(table, wanted)
                    .into_iter()
                    .map(|column| (table.name.name.as_str(), column)),
            );
        }
        let functions = self.diff.remade_functions.iter();
        whole.extend(functions.map(|key| key.0.name.as_str()));
        if columns.is_empty() && whole.is_empty() {
            return;
        }
        self.clear_foreign_policies(&columns);
        let hit = self.views_that(|names, shows_all| {
            whole.iter().any(|name| names.contains(*name))
                || columns.iter().any(|(table, column)| {
                    names.contains(*table) && (shows_all || names.contains(*column))
                })
        });
        self.clear_views(hit);
    }

    /// Drops tables replaced by views and views replaced by tables, with dependents: both share one
    /// name space.
    pub(super) fn clear_other_kinds(&mut self) {
        let (from, to) = (self.from, self.to);
        let tables = from.tables.values();
        let tables = tables.filter(|table| to.views.contains(&table.name));
        let tables: Vec<&'a Table> = tables.collect();
        let views = from.views.keys();
        let views = views.filter(|name| to.tables.contains(*name));
        let mut hit: HashSet<Name> = views.cloned().collect();
        let names: HashSet<&str> = tables
            .iter()
            .map(|table| table.name.name.as_str())
            .collect();
        if !names.is_empty() {
            hit.extend(self.views_that(|used, _| used.iter().any(|name| names.contains(&**name))));
        }
        self.clear_views(hit);
        for table in tables {
            self.clear_foreign(&table.name, &|_| true);
            let at = self.drop_table(table);
            self.remade.push((table.name.clone(), at));
        }
    }

    fn changing_columns(&self, from: &'a Table, to: &'a Table) -> Vec<&'a str> {
        let sides = &self.sides;
        let retyped = sides.retyped(from, to);
        let columns = from.columns.values().filter(|before| {
            let wanted = to.columns.get(&before.name);
            sides.has_replaced_type(from, before)
                || wanted.is_some_and(|column| {
                    sides.is_retyped(before, column)
                        || before.generated.is_some() != column.generated.is_some()
                        || sides.is_recomputed(&to.name, &retyped, before, column)
                })
        });
        columns.map(|column| column.name.as_str()).collect()
    }

    fn views_that(&self, hits: impl Fn(&HashSet<String>, bool) -> bool) -> HashSet<Name> {
        let views = self.from.views.values().filter(|view| {
            let names: HashSet<String> = split::names(&view.query.0).into_iter().collect();
            hits(&names, view.query.0.contains('*'))
        });
        views.map(|view| view.name.clone()).collect()
    }

    /// Drops views with dependents, the dependents first.
    fn clear_views(&mut self, mut hit: HashSet<Name>) {
        if hit.is_empty() {
            return;
        }
        let from = self.from;
        let order = behind_used(from.views.values());
        for view in &order {
            if uses(view, &hit) {
                hit.insert(view.name.clone());
            }
        }
        for view in order
            .into_iter()
            .rev()
            .filter(|view| hit.contains(&view.name))
        {
            if self.gone.insert(Part::View(view.name.clone())) {
                let for_good = !self.to.views.contains(&view.name);
                self.drop_view(view, for_good);
                for index in view.indexes.values() {
                    self.gone
                        .insert(Part::Index(view.name.clone(), index.name.clone()));
                }
                for trigger in view.triggers.values() {
                    self.gone
                        .insert(Part::Trigger(view.name.clone(), trigger.name.clone()));
                }
            }
        }
    }

    pub(super) fn drop_view(&mut self, view: &View, for_good: bool) -> usize {
        let kind = if view.materialized {
            "MATERIALIZED VIEW"
        } else {
            "VIEW"
        };
        let sql = format!("DROP {kind} {}", self.printer.name(&view.name));
        let shown = self.shown(&view.name);
        let hazards = vec![
            Hazard::Drop(format!("view {shown}")),
            hazards::ACCESS_EXCLUSIVE,
        ];
        let verb = if for_good { Verb::Drop } else { Verb::Aside };
        self.push_with(sql, verb, ObjectKind::View, shown, hazards)
    }

    pub(super) fn views(&mut self) {
        let (from, to) = (self.from, self.to);
        let mut hit: HashSet<Name> = HashSet::new();
        for view in to.views.values() {
            if self.diff.views.get(&view.name) == Some(&ViewStep::Recreate)
                && !self.is_gone(&Part::View(view.name.clone()))
            {
                hit.insert(view.name.clone());
            }
        }
        let first_drop = self.statements.len();
        self.clear_views(hit);
        let drops: Vec<(usize, String)> = (first_drop..self.statements.len())
            .map(|at| (at, self.statements[at].object.name.clone()))
            .collect();
        for view in behind_used(to.views.values()) {
            let shown = self.shown(&view.name);
            let is_gone = self.is_gone(&Part::View(view.name.clone()));
            let before = from.views.get(&view.name).filter(|_| !is_gone);
            let replaces = match before {
                Some(_) if !self.diff.views.contains_key(&view.name) => continue,
                Some(_) => true,
                None => false,
            };
            let source = view
                .meta
                .source
                .clone()
                .filter(|_| self.printer.is_sqldef() && !is_gone && !replaces);
            let sql = source.unwrap_or_else(|| self.printer.view(view, replaces));
            let at = self.push(
                sql,
                if replaces {
                    Verb::Replace
                } else {
                    Verb::Create
                },
                ObjectKind::View,
                shown.clone(),
            );
            self.statements[at].needs.extend(
                drops
                    .iter()
                    .filter(|(_, name)| *name == shown)
                    .map(|(at, _)| *at),
            );
            if !replaces {
                self.fresh.insert(Part::View(view.name.clone()));
            }
        }
    }
}

fn uses(view: &View, others: &HashSet<Name>) -> bool {
    let names: HashSet<String> = split::names(&view.query.0).into_iter().collect();
    others
        .iter()
        .any(|other| *other != view.name && names.contains(&other.name))
}

/// Sorts views behind the ones mentioned; otherwise the order is stable.
pub(super) fn behind_used<'v>(views: impl Iterator<Item = &'v View>) -> Vec<&'v View> {
    let views: Vec<&View> = views.collect();
    let places = views.iter().enumerate();
    let places: HashMap<&str, usize> = places
        .map(|(at, view)| (view.name.name.as_str(), at))
        .collect();
    let needs = |at: usize| {
        let names = split::names(&views[at].query.0);
        let found = names
            .iter()
            .filter_map(|name| places.get(name.as_str()).copied());
        found.filter(|other| *other != at).collect::<Vec<usize>>()
    };
    let order = sorted(views.len(), needs).into_iter();
    order.map(|at| views[at]).collect()
}

#[cfg(test)]
mod tests {
    use crate::PlanOptions;
    use crate::postgres::tests::read;

    #[test]
    fn a_view_that_shows_only_a_recreated_column_comes_again() {
        let schema = |kind: &str| {
            read(&format!(
                "CREATE TABLE t (a {kind}, b int GENERATED ALWAYS AS (a * 2) STORED); \
                 CREATE VIEW v AS SELECT b FROM t;"
            ))
        };
        let (from, to) = (schema("int"), schema("bigint"));
        let plan = crate::postgres::plan(&from, &to, &PlanOptions::default()).unwrap();
        let steps = plan.statements.iter();
        let steps = steps.map(|each| format!("{} {}", each.verb.word(), each.object.name));
        let expected = ["drop v", "drop t.b", "alter t.a", "add t.b", "create v"];
        assert_eq!(steps.collect::<Vec<_>>(), expected);
    }
}

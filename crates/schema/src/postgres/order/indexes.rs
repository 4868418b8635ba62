//! Indexes of tables and of materialized views.

use super::{Builder, Part};
use crate::plan::Steps;
use crate::plan::Way;
use crate::postgres::hazards;
use crate::postgres::listed::Listed;
use crate::postgres::model::{Index, IndexItem};
use crate::postgres::name::Name;
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    pub(super) fn indexes(&mut self) {
        let (from, to) = (self.from, self.to);
        let of_tables = to
            .tables
            .values()
            .map(|table| (&table.name, &table.indexes));
        let of_views = to.views.values().map(|view| (&view.name, &view.indexes));
        let all: Vec<(&'a Name, &'a Listed<String, Index>)> = of_tables.chain(of_views).collect();
        for (on, indexes) in all {
            let before = match from.tables.get(on) {
                Some(table) => (!to
                    .tables
                    .get(on)
                    .is_some_and(|wanted| self.sides.is_remade(table, wanted)))
                .then_some(&table.indexes),
                None => from.views.get(on).map(|view| &view.indexes),
            };
            for index in indexes.values().filter(|index| index.parent.is_none()) {
                self.index(on, index, before);
            }
        }
    }

    fn index(&mut self, on: &Name, wanted: &Index, before: Option<&'a Listed<String, Index>>) {
        let is_there = |index: &&Index| !self.is_gone(&Part::Index(on.clone(), index.name.clone()));
        let found = before
            .and_then(|before| before.get(&wanted.name))
            .filter(is_there);
        let stored = self
            .sides
            .stored
            .and_then(|stored| match stored.tables.get(on) {
                Some(table) => table.indexes.get(&wanted.name),
                None => stored
                    .views
                    .get(on)
                    .and_then(|view| view.indexes.get(&wanted.name)),
            });
        let mut needs = None;
        match found {
            Some(found) if self.sides.is_same_index(found, wanted, stored, on) => return,
            Some(found)
                if self.sides.is_same_index(
                    &Index {
                        options: wanted.options.clone(),
                        ..found.clone()
                    },
                    wanted,
                    stored,
                    on,
                ) =>
            {
                return self.index_options(on, found, wanted);
            }
            Some(found) => needs = Some(self.drop_index(on, &found.name)),
            None => {
                let twin = before
                    .into_iter()
                    .flat_map(|before| before.values())
                    .filter(is_there)
                    .find(|other| {
                        !wanted.is_named
                            && !self.has_index(on, &other.name)
                            && self.sides.is_same_index(other, wanted, stored, on)
                    });
                if let Some(twin) = twin {
                    return self.rename_index(on, twin, wanted);
                }
            }
        }
        self.create_index(on, wanted, needs);
    }

    fn has_index(&self, on: &Name, name: &str) -> bool {
        let table = self.to.tables.get(on).map(|table| &table.indexes);
        let indexes = table.or_else(|| self.to.views.get(on).map(|view| &view.indexes));
        indexes.is_some_and(|indexes| indexes.contains(name))
    }

    /// Renames an index with a name generated from former column names.
    fn rename_index(&mut self, on: &Name, found: &Index, wanted: &Index) {
        if self.printer.is_sqldef() {
            return;
        }
        let sql = format!(
            "ALTER INDEX {} RENAME TO {}",
            self.printer.beside(on, &found.name),
            self.printer.ident(&wanted.name)
        );
        self.push_with(
            sql,
            Verb::Rename,
            ObjectKind::Index,
            found.name.clone(),
            vec![hazards::SHARE_UPDATE_EXCLUSIVE],
        );
    }

    fn index_options(&mut self, on: &Name, found: &Index, wanted: &Index) {
        let name = self.printer.beside(on, &wanted.name);
        let gone: Vec<&str> = found
            .options
            .keys()
            .filter(|key| !wanted.options.contains_key(*key))
            .map(String::as_str)
            .collect();
        let mut actions = Vec::new();
        if !wanted.options.is_empty() {
            actions.push(format!(
                "SET ({})",
                crate::postgres::print::option_list(&wanted.options)
            ));
        }
        if !gone.is_empty() {
            actions.push(format!("RESET ({})", gone.join(", ")));
        }
        for action in actions {
            let sql = format!("ALTER INDEX {name} {action}");
            self.push_with(
                sql,
                Verb::Alter,
                ObjectKind::Index,
                wanted.name.clone(),
                vec![hazards::SHARE_UPDATE_EXCLUSIVE],
            );
        }
    }

    fn create_index(&mut self, on: &Name, index: &Index, needs: Option<usize>) {
        // A partitioned table takes no such index, and an empty new table needs none.
        let is_partitioned = self
            .to
            .tables
            .get(on)
            .is_some_and(|table| table.partition_by.is_some());
        let concurrently =
            self.options.index_concurrently && !is_partitioned && !self.created.contains(on);
        let sql = self.printer.index(index, on, concurrently);
        let mut hazards = vec![if concurrently {
            hazards::SHARE_UPDATE_EXCLUSIVE
        } else {
            hazards::SHARE
        }];
        if concurrently {
            hazards.push(Hazard::NotTransactional);
        }
        if index.unique && !self.created.contains(on) {
            let item = |item: &IndexItem| {
                item.column.as_ref().map_or_else(
                    || item.expression.0.clone(),
                    |name| super::super::name::quote(name),
                )
            };
            let columns: Vec<String> = index.items.iter().map(item).collect();
            let columns = columns.join(", ");
            let predicate = index
                .predicate
                .as_ref()
                .map(|predicate| predicate.0.as_str());
            hazards.push(Hazard::MayFail {
                reason: format!("{columns} of {} must be unique", on.name),
                query: Some(hazards::duplicates(on, &columns, predicate)),
            });
        }
        let at = self.push_with(
            sql,
            Verb::Create,
            ObjectKind::Index,
            index.name.clone(),
            hazards,
        );
        self.statements[at].needs.extend(needs);
        if concurrently {
            self.statements[at].online.way = Way::Build {
                schema: on.schema.clone(),
                table: on.name.clone(),
                index: index.name.clone(),
            };
        }
        self.fresh
            .insert(Part::Index(on.clone(), index.name.clone()));
    }

    /// Drops an index, for good unless one of the same name is wanted.
    pub(super) fn drop_index(&mut self, on: &Name, name: &str) -> usize {
        let sql = format!("DROP INDEX {}", self.printer.beside(on, name));
        let hazards = vec![
            Hazard::Drop(format!("index {name}")),
            hazards::ACCESS_EXCLUSIVE,
        ];
        let verb = match self.has_index(on, name) {
            true => Verb::Aside,
            false => Verb::Drop,
        };
        self.push_with(sql, verb, ObjectKind::Index, name.to_owned(), hazards)
    }
}

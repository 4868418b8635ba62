//! Objects compared by words.

use std::collections::HashSet;

use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::hazards;
use crate::postgres::kept::{self, Key, Stage};
use crate::postgres::model::{Kept, Table};
use crate::postgres::name::Name;
use crate::postgres::split;
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    /// Whether differences matter: sqldef moves nothing between tablespaces.
    fn is_compared(&self, kept: &Kept) -> bool {
        !(self.printer.is_sqldef() && kept.kind.kind == ObjectKind::Tablespace)
    }

    /// Creates or changes the objects of a stage.
    pub(super) fn kept(&mut self, stage: Stage) {
        let to = self.to;
        let asked = to.kept.iter();
        let is_known = |kept: &Kept| self.is_compared(kept) && !kept.is_binding();
        let asked = asked.filter(|(_, kept)| kept.kind.stage == stage && is_known(kept));
        let asked: Vec<(&Key, &Kept)> = asked.collect();
        for (key, kept) in asked {
            if self.goes_with_another(key, kept) || self.sides.kept_differs(key, kept) {
                self.keep(key, kept);
            }
        }
    }

    /// Whether an existing object was dropped before: on the way, or with the object's view or
    /// table.
    pub(super) fn goes_with_another(&self, key: &Key, kept: &Kept) -> bool {
        if self.is_gone(&Part::Kept(key.clone())) {
            return true;
        }
        if !self.from.kept.contains(key) {
            return false;
        }
        if self.went_with_another(kept) {
            return true;
        }
        match kept.kind.kind {
            ObjectKind::Rule => {
                let on = kept.name.rsplit(" ON ").next();
                let is_on = |name: &Name| Some(name.quoted().as_str()) == on;
                let is_gone_view = |part: &Part| matches!(part, Part::View(name) if is_on(name));
                self.created.iter().any(is_on) || self.gone.iter().any(is_gone_view)
            }
            ObjectKind::Statistics => {
                let names = split::names(&kept.sql);
                self.created.iter().any(|table| names.contains(&table.name))
            }
            _ => false,
        }
    }

    /// Drops rules or statistics using a column of the table about to change; `mentions` finds such
    /// a column.
    pub(super) fn clear_kept(
        &mut self,
        kind: ObjectKind,
        table: &Name,
        mentions: &dyn Fn(&str) -> bool,
    ) {
        for (key, kept) in self.from.kept.iter() {
            let part = Part::Kept(key.clone());
            if kept.kind.kind == kind
                && mentions(&kept.sql)
                && split::names(&kept.sql).contains(&table.name)
                && !self.goes_with_another(key, kept)
            {
                let is_wanted = self.to.kept.contains(key);
                self.drop_kept(kept, if is_wanted { Verb::Aside } else { Verb::Drop });
                self.gone.insert(part);
            }
        }
    }

    /// Drops statistics bound to go with one of the columns.
    pub(super) fn clear_statistics(&mut self, table: &Name, columns: &[&str]) {
        let mentions = |text: &str| {
            let names = split::names(text);
            names.iter().any(|name| columns.contains(&name.as_str()))
        };
        self.clear_kept(ObjectKind::Statistics, table, &mentions);
    }

    /// Whether the object is gone since the table, view or index below was recreated.
    fn went_with_another(&self, kept: &Kept) -> bool {
        let of = kept.of.clone();
        let was_made = of.is_some_and(|of| self.fresh.contains(&Part::Kept(of)));
        was_made
            || kept
                .on
                .as_ref()
                .is_some_and(|on| self.is_made_again(on, kept))
    }

    fn is_made_again(&self, on: &Name, kept: &Kept) -> bool {
        let table = self.created.contains(on) && self.from.tables.contains(on);
        let view = self.fresh.contains(&Part::View(on.clone())) && self.from.views.contains(on);
        let is_cluster = kept.kind.kind == ObjectKind::Cluster;
        let is_placed = kept.kind.kind == ObjectKind::Tablespace;
        let is_named = |index: &str| {
            kept.sql
                .ends_with(&format!(" {}", self.printer.ident(index)))
        };
        let index = |part: &Part| match part {
            Part::Index(_, index) if *index == on.name => true,
            Part::Constraint(table, key) if is_placed => {
                table.schema == on.schema && *key == on.name
            }
            Part::Index(table, index) | Part::Constraint(table, index) => {
                is_cluster && table == on && is_named(index)
            }
            Part::Column(table, column) => {
                let column = format!("{}.{}", table.quoted(), self.printer.ident(column));
                kept.name == column
            }
            _ => false,
        };
        table || view || self.gone.iter().any(index) || self.is_made_again_index(on)
    }

    /// Whether the plan creates an index or key of the name, where another one was.
    pub(super) fn is_made_again_index(&self, index: &Name) -> bool {
        let (name, bare) = (self.shown(index), index.name.as_str());
        let mut statements = self.statements.iter();
        statements.any(|each| match (each.verb, each.object.kind) {
            (Verb::Create, ObjectKind::Index) => each.object.name == name,
            (Verb::Create, ObjectKind::Constraint) => {
                let part = each.object.name.strip_suffix(bare);
                let table = part.and_then(|part| part.strip_suffix('.'));
                let mut tables = self.from.tables.values();
                tables.any(|found| {
                    table.is_some_and(|table| self.shown(&found.name) == table)
                        && found.has_index(index)
                })
            }
            _ => false,
        })
    }

    /// Creates or changes an object.
    pub(super) fn keep(&mut self, key: &Key, to: &Kept) {
        if self.fresh.contains(&Part::Kept(key.clone())) {
            return;
        }
        let shown = self.shown_kept(to);
        let before = self
            .from
            .kept
            .get(key)
            .filter(|_| !self.goes_with_another(key, to));
        let mut needs = None;
        if let Some(before) = before {
            let stored = self.sides.stored.and_then(|stored| stored.kept.get(key));
            let wanted = stored.unwrap_or(to);
            if let Some(changes) = kept::changes(before, wanted, &shown) {
                for change in changes {
                    let (verb, kind, name) = match change.attribute {
                        Some((verb, name)) => {
                            (verb, ObjectKind::Attribute, format!("{shown}.{name}"))
                        }
                        None => (Verb::Alter, to.kind.kind, shown.clone()),
                    };
                    self.push_with(change.sql, verb, kind, name, change.hazards);
                }
                return;
            }
            // What others may be made of does not go without a yes, even if it comes again.
            let is_free = before.kind.is_free() || before.undo.is_some();
            let verb = if is_free { Verb::Aside } else { Verb::Drop };
            needs = Some(self.drop_kept(before, verb));
        }
        let hazards = match to.kind.kind {
            ObjectKind::Tablespace if self.is_moved(to) => kept::moved(to, &shown),
            _ => Vec::new(),
        };
        let at = self.push_with(to.sql.clone(), Verb::Create, to.kind.kind, shown, hazards);
        self.statements[at].needs.extend(needs);
        if kept::calls_publisher(to) {
            self.statements[at].hazards.push(Hazard::NotTransactional);
        }
        self.fresh.insert(Part::Kept(key.clone()));
        if needs.is_some() {
            self.set_again(key, at);
        }
    }

    /// Repeats the settings of an object just recreated. What differs is made by
    /// itself.
    fn set_again(&mut self, of: &Key, made: usize) {
        let to = self.to;
        for (key, setting) in to.kept.iter() {
            let is_same = setting.of.as_ref() == Some(of) && !self.sides.kept_differs(key, setting);
            if is_same {
                let shown = self.shown_kept(setting);
                let at = self.push(setting.sql.clone(), Verb::Create, setting.kind.kind, shown);
                self.statements[at].needs.push(made);
                self.fresh.insert(Part::Kept(key.clone()));
            }
        }
    }

    /// Whether the relation has rows to be moved to the tablespace.
    fn is_moved(&self, setting: &Kept) -> bool {
        let Some(on) = &setting.on else { return false };
        let has_rows = |table: &Table| table.partition_by.is_none();
        let mut tables = self.from.tables.values();
        let is_there = self.from.tables.get(on).is_some_and(has_rows)
            || self.from.views.contains(on)
            || tables.any(|table| has_rows(table) && table.has_index(on));
        is_there && !self.is_made_again(on, setting)
    }

    fn drop_kept(&mut self, kept: &Kept, verb: Verb) -> usize {
        let shown = self.shown_kept(kept);
        let kind = kept.kind.kind;
        let words = kind.word().replace('-', " ");
        if let Some(undo) = &kept.undo {
            let mut hazards = vec![Hazard::Drop(format!("{words} {shown}"))];
            if kind == ObjectKind::Tablespace {
                hazards.extend(kept::moved(kept, &shown));
            }
            return self.push_with(undo.clone(), verb, kind, shown, hazards);
        }
        let mut sql = format!("DROP {} {}", kept.kind.words, kept.name);
        let mut hazards = vec![Hazard::Drop(format!(
            "{} {shown}",
            kept.kind.words.to_lowercase()
        ))];
        match kind {
            ObjectKind::Statistics => hazards.push(hazards::SHARE_UPDATE_EXCLUSIVE),
            ObjectKind::Rule
            | ObjectKind::ForeignTable
            | ObjectKind::Aggregate
            | ObjectKind::CompositeType
            | ObjectKind::BaseType => {
                hazards.push(hazards::ACCESS_EXCLUSIVE);
            }
            _ => {}
        }
        match kind {
            // Its functions are made of it, and it of them.
            ObjectKind::BaseType => {
                sql.push_str(" CASCADE");
                hazards.push(Hazard::DataLoss(format!("all values of the type {shown}")));
            }
            // It tells the publisher.
            ObjectKind::Subscription => hazards.push(Hazard::NotTransactional),
            ObjectKind::UserMapping => {
                hazards.push(Hazard::DataLoss(format!("the password of {shown}")));
            }
            _ => {}
        }
        self.push_with(sql, verb, kind, shown, hazards)
    }

    /// Announces the base types to be made: their functions speak of them before they are there.
    pub(super) fn announce_types(&mut self) {
        let (from, to) = (self.from, self.to);
        for (key, kept) in to.kept.iter() {
            if key.0 == ObjectKind::BaseType && !from.kept.contains(key) {
                let shown = self.shown_kept(kept);
                self.push(
                    format!("CREATE TYPE {}", kept.name),
                    Verb::Create,
                    ObjectKind::BaseType,
                    shown,
                );
            }
        }
    }

    /// Drops the objects of a stage, last first.
    pub(super) fn dropped_kept(&mut self, stage: Stage) {
        for (_, kept) in self.unwanted_kept(stage).into_iter().rev() {
            self.drop_unwanted(kept);
        }
    }

    /// The objects of a stage to be dropped.
    pub(super) fn unwanted_kept(&self, stage: Stage) -> Vec<(&'a Key, &'a Kept)> {
        let (from, to) = (self.from, self.to);
        let unwanted = from.kept.iter().filter(|(key, kept)| {
            let is_wanted = to.kept.contains(*key)
                || self
                    .sides
                    .stored
                    .is_some_and(|stored| stored.kept.contains(*key));
            // Functions in a language go before it, and tables before what they are stored by.
            let stage_of = match kept.kind.kind {
                ObjectKind::Language | ObjectKind::AccessMethod => Stage::Early,
                _ => kept.kind.stage,
            };
            let is_gone = self.goes_with_another(key, kept);
            let is_other = stage_of != stage || !self.is_compared(kept);
            !(is_other || is_wanted || is_gone) && self.outlives(kept)
        });
        unwanted.collect()
    }

    pub(super) fn drop_unwanted(&mut self, kept: &Kept) {
        let is_state = kept.kind.is_state();
        let verb = if is_state { Verb::Alter } else { Verb::Drop };
        let at = self.drop_kept(kept, verb);
        if is_state {
            self.statements[at].hazards.clear();
        }
    }

    /// Whether what an unwanted object belongs to stays, so that the object has to be dropped.
    fn outlives(&self, kept: &Kept) -> bool {
        let (from, to) = (self.from, self.to);
        if let Some(of) = &kept.of {
            let owner = to.kept.get(of);
            let is_known = owner.is_some_and(|owner| !kept::has_copy(&owner.norm));
            return is_known && !self.fresh.contains(&Part::Kept(of.clone()));
        }
        let Some(on) = &kept.on else { return true };
        let is_foreign = to.kept.contains(&(ObjectKind::ForeignTable, on.quoted()));
        let is_relation = to.tables.contains(on) || to.views.contains(on) || is_foreign;
        let is_there = is_relation || to.tables.values().any(|table| table.has_index(on));
        // The part of a table that it is of may go as well.
        let column = kept.name.rsplit('.').next().unwrap_or_default();
        let had_column = |table: &Table, wanted: bool| {
            let mut names = table.columns.keys();
            names.any(|name| self.printer.ident(name) == column) == wanted
        };
        let is_of_column = matches!(
            kept.kind.kind,
            ObjectKind::ColumnOption | ObjectKind::StatisticsTarget
        );
        let loses_column = is_of_column
            && from
                .tables
                .get(on)
                .is_some_and(|table| had_column(table, true))
            && to
                .tables
                .get(on)
                .is_some_and(|table| had_column(table, false));
        is_there && !loses_column && !self.is_made_again(on, kept)
    }

    /// Dropped base types, and the functions on such types.
    pub(super) fn gone_types(&self) -> HashSet<String> {
        let (from, to) = (self.from, self.to);
        let types = from.kept.iter();
        let going =
            types.filter(|(key, _)| key.0 == ObjectKind::BaseType && !to.kept.contains(key));
        going.map(|(_, kept)| kept.base.clone()).collect()
    }

    /// The name as written by people.
    pub(super) fn shown_kept(&self, kept: &Kept) -> String {
        let prefix = format!("{}.", self.to.default_schema);
        match kept.schema.as_ref() == Some(&self.to.default_schema) {
            true => kept.name.replacen(&prefix, "", 1),
            false => kept.name.clone(),
        }
    }
}

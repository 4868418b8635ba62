//! From two schemas to statements in an order accepted by SQLite.
//!
//! Phases: drop what blocks `ALTER TABLE`; rename; create and alter tables; indexes; views;
//! triggers; drop the rest (`drops`); check references. `RENAME` and `DROP COLUMN` read every view
//! and trigger and fail on an outdated one, so the changing ones are dropped before; otherwise each
//! is dropped just before its recreation.

mod drops;
mod rebuild;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::diff::TableDiff;
use super::expr::piece_of_name;
use super::model::{Name, Whole, WholeKind};
use super::print::{self, Printer};
use super::renames::{self, Rename};
use super::{Schema, hazards};
use crate::plan::Steps;
use crate::{Hazard, ObjectKind, Plan, PlanError, PlanOptions, Statement, Verb};

/// A plan in the making.
pub(super) struct Builder<'a> {
    pub(super) from: &'a Schema,
    pub(super) to: &'a Schema,
    pub(super) printer: Printer,
    pub(super) statements: Vec<Statement>,
    /// Rewritten tables, by name.
    pub(super) rebuilt: Vec<String>,
    /// Views and triggers dropped in advance, since `ALTER TABLE` would fail on each.
    pub(super) dropped_early: HashSet<(WholeKind, String)>,
    pub(super) renamed: Vec<Rename>,
    /// Rebuilt tables with changed values, possibly held back, and the first statement of each
    /// rebuild.
    pub(super) lossy: Vec<(Name, usize)>,
}

/// See [`crate::plan()`].
pub(super) fn plan(from: &Schema, to: &Schema, options: &PlanOptions) -> Result<Plan, PlanError> {
    let mut from = Cow::Borrowed(from);
    let renamed = renames::apply(&mut from, to)?;
    let mut builder = Builder {
        from: &from,
        to,
        printer: Printer::new(options),
        statements: Vec::new(),
        rebuilt: Vec::new(),
        dropped_early: HashSet::new(),
        renamed,
        lossy: Vec::new(),
    };
    builder.everything();
    Ok(Plan {
        statements: builder.statements,
    })
}

impl Steps for Builder<'_> {
    fn statements(&mut self) -> &mut Vec<Statement> {
        &mut self.statements
    }
}

impl<'a> Builder<'a> {
    fn everything(&mut self) {
        let (from, to) = (self.from, self.to);
        let tables = to.tables.iter().filter_map(|table| {
            let before = from.table(&table.name.key())?;
            TableDiff::of(before, table)
        });
        let changes: Vec<TableDiff<'a>> = tables.collect();
        let rebuilt = changes.iter().filter(|change| change.is_rebuild);
        self.rebuilt = rebuilt.map(|change| change.to.name.text.clone()).collect();
        let reads_all =
            !self.renamed.is_empty() || changes.iter().any(|change| !change.dropped.is_empty());
        if reads_all {
            self.drop_dependents();
        }
        self.rename();
        self.tables(&changes);
        self.indexes();
        self.wholes(WholeKind::View);
        self.wholes(WholeKind::Trigger);
        self.drops(&changes);
        self.check_foreign_keys();
    }

    pub(super) fn is_name_used(&self, key: &str) -> bool {
        [self.from, self.to].iter().any(|schema| {
            schema.table(key).is_some()
                || schema.index(key).is_some()
                || schema.wholes.iter().any(|whole| whole.name.is(key))
        })
    }

    pub(super) fn is_rebuilt(&self, key: &str) -> bool {
        self.rebuilt
            .iter()
            .any(|name| name.eq_ignore_ascii_case(key))
    }

    /// Whether the definition differs, or names a renamed object.
    pub(super) fn is_changed(&self, from: &Whole, to: &Whole) -> bool {
        let is_renamed = |rename: &Rename| {
            let piece = piece_of_name(&rename.from.text);
            from.pieces.contains(&piece)
        };
        from.pieces != to.pieces || self.renamed.iter().any(is_renamed)
    }

    /// Drops changing views and triggers in advance: `ALTER TABLE` fails on outdated ones.
    fn drop_dependents(&mut self) {
        let from = self.from;
        for kind in [WholeKind::Trigger, WholeKind::View] {
            for whole in from.wholes.iter().filter(|whole| whole.kind == kind) {
                let after = self.to.whole(kind, &whole.name.key());
                if after.is_some_and(|after| self.is_changed(whole, after)) {
                    self.drop_to_replace(whole);
                    self.dropped_early.insert((kind, whole.name.key()));
                }
            }
        }
    }

    /// Drops an object to be replaced by a new one of the same name.
    pub(super) fn drop_to_replace(&mut self, whole: &Whole) -> usize {
        let kind = whole.kind.object_kind();
        let sql = format!(
            "DROP {} {}",
            kind.word().to_ascii_uppercase(),
            self.printer.name(&whole.name)
        );
        self.push(sql, Verb::Aside, kind, whole.name.text.clone())
    }

    fn rename(&mut self) {
        for rename in self.renamed.clone() {
            let (old, new) = (
                self.printer.name(&rename.from),
                self.printer.name(&rename.to),
            );
            match &rename.table {
                None => {
                    let sql = format!("ALTER TABLE {old} RENAME TO {new}");
                    self.push(sql, Verb::Rename, ObjectKind::Table, rename.from.text);
                }
                Some(table) => {
                    let sql = format!(
                        "ALTER TABLE {} RENAME COLUMN {old} TO {new}",
                        self.printer.name(table)
                    );
                    let name = format!("{}.{}", table.text, rename.from.text);
                    self.push(sql, Verb::Rename, ObjectKind::Column, name);
                }
            }
        }
    }

    fn tables(&mut self, changes: &[TableDiff<'a>]) {
        let to = self.to;
        let by_name = changes.iter().map(|change| (change.to.name.key(), change));
        let by_name: HashMap<String, &TableDiff<'a>> = by_name.collect();
        for table in &to.tables {
            let key = table.name.key();
            if let Some(change) = by_name.get(&key) {
                self.change(change);
            } else if self.from.table(&key).is_none() {
                let in_the_way = self.drop_namesake(&key);
                let create = print::table(table);
                let created = self.push(
                    create,
                    Verb::Create,
                    ObjectKind::Table,
                    table.name.text.clone(),
                );
                self.statements[created].needs.extend(in_the_way);
            }
        }
        self.virtual_tables();
    }

    fn change(&mut self, change: &TableDiff<'a>) {
        if change.is_rebuild {
            return self.rebuild(change);
        }
        let table = &change.to.name;
        for column in &change.added {
            let definition = self.printer.column(column);
            let sql = format!(
                "ALTER TABLE {} ADD COLUMN {definition}",
                self.printer.name(table)
            );
            let name = format!("{}.{}", table.text, column.name.text);
            let added = self.push(sql, Verb::Add, ObjectKind::Column, name);
            let checks = column.inline.checks.iter().map(|check| Hazard::MayFail {
                reason: format!("the default must satisfy CHECK ({})", check.text),
                query: None,
            });
            self.statements[added].hazards.extend(checks);
        }
    }

    fn virtual_tables(&mut self) {
        let (from, to) = (self.from, self.to);
        let is_virtual = |whole: &&Whole| whole.kind == WholeKind::Virtual;
        for table in to.wholes.iter().filter(is_virtual) {
            let key = table.name.key();
            let mut needed = None;
            if let Some(before) = from.whole(WholeKind::Virtual, &key) {
                if before.pieces == table.pieces {
                    continue;
                }
                let dropped = self.drop_to_replace(before);
                self.mark_lost(dropped, &before.name);
                needed = Some(dropped);
            } else {
                needed = needed.or_else(|| self.drop_namesake(&key));
            }
            let created = self.push(
                table.text.clone(),
                Verb::Create,
                ObjectKind::Table,
                table.name.text.clone(),
            );
            self.statements[created].needs.extend(needed);
        }
    }

    fn indexes(&mut self) {
        let (from, to) = (self.from, self.to);
        for index in &to.indexes {
            let key = index.name.key();
            let old = index
                .renamed_from
                .as_ref()
                .map(|old| old.to_ascii_lowercase());
            let before = from.index(&key);
            let renamed = before.is_none().then(|| from.index(&old?)).flatten();
            let is_same = before.is_some_and(|before| before.is_same(index));
            if is_same {
                continue;
            }
            if let Some(before) = before.or(renamed)
                && !self.is_gone_with_table(&before.table)
            {
                let sql = format!("DROP INDEX {}", self.printer.name(&before.name));
                self.push(
                    sql,
                    Verb::Aside,
                    ObjectKind::Index,
                    before.name.text.clone(),
                );
            }
            let sql = match renamed {
                Some(_) => self.printer.index(index),
                None => index.text.clone(),
            };
            let created = self.push(
                sql,
                Verb::Create,
                ObjectKind::Index,
                index.name.text.clone(),
            );
            let rebuilt = self.lossy_rebuild(&index.table.key());
            self.statements[created].needs.extend(rebuilt);
            let is_on_rows = from.table(&index.table.key()).is_some();
            if is_on_rows {
                self.statements[created].hazards = hazards::of_index(index);
            }
        }
    }

    /// A rebuild takes away what is on the table.
    fn is_gone_with_table(&self, table: &Name) -> bool {
        self.is_rebuilt(&table.key())
    }

    /// Creates or replaces the new and changed views or triggers.
    fn wholes(&mut self, kind: WholeKind) {
        let to = self.to;
        for whole in to.wholes.iter().filter(|whole| whole.kind == kind) {
            let key = whole.name.key();
            let before = self.before(whole);
            let (mut needed, mut rebuilt) = (None, self.rebuild_for(whole));
            match before {
                Some(before) => {
                    let is_changed = self.is_replaced(before, whole);
                    if !is_changed && !self.is_lost_with_view(whole) {
                        continue;
                    }
                    if is_changed && !self.is_away(before) {
                        let dropped = self.drop_to_replace(before);
                        self.statements[dropped].needs.extend(rebuilt);
                    }
                    // What was dropped in advance comes again in any case.
                    let early = (kind, before.name.key());
                    rebuilt = rebuilt.filter(|_| !self.dropped_early.contains(&early));
                }
                None => needed = self.drop_namesake(&key),
            }
            let created = self.push(
                whole.text.clone(),
                Verb::Create,
                kind.object_kind(),
                whole.name.text.clone(),
            );
            let needs = &mut self.statements[created].needs;
            needs.extend(needed.into_iter().chain(rebuilt));
            if let Some(before) = before.filter(|_| kind == WholeKind::View) {
                self.unwanted_again(before, whole, created);
            }
        }
    }

    /// What a wanted view or trigger is in the database, maybe under an old name.
    fn before(&self, whole: &Whole) -> Option<&'a Whole> {
        let (from, to, kind) = (self.from, self.to, whole.kind);
        from.whole(kind, &whole.name.key()).or_else(|| {
            let old = whole.renamed_from.as_ref()?.to_ascii_lowercase();
            let is_free = to.whole(kind, &old).is_none();
            is_free.then(|| from.whole(kind, &old)).flatten()
        })
    }

    /// Whether a view or trigger is dropped and created: SQLite renames neither.
    fn is_replaced(&self, before: &Whole, after: &Whole) -> bool {
        self.is_changed(before, after) || !before.name.is(&after.name.text)
    }

    /// First statement of a table's rebuild, when possibly held back.
    pub(super) fn lossy_rebuild(&self, table: &str) -> Option<usize> {
        let mut lossy = self.lossy.iter();
        let found = lossy.find(|(name, _)| name.is(table));
        found.map(|(_, first)| *first)
    }

    /// First statement of the rebuild, possibly held back, of a table used by a view or trigger.
    fn rebuild_for(&self, whole: &Whole) -> Option<usize> {
        let on = whole.table.as_ref().map(Name::key);
        let mut lossy = self.lossy.iter();
        let found = lossy.find(|(name, _)| {
            on.as_ref() == Some(&name.key()) || whole.pieces.contains(&piece_of_name(&name.text))
        });
        found.map(|(_, first)| *first)
    }

    /// Whether the object was dropped in advance, or together with the owning table or view.
    pub(super) fn is_away(&self, whole: &Whole) -> bool {
        let early = (whole.kind, whole.name.key());
        let table = whole.table.as_ref();
        self.dropped_early.contains(&early)
            || self.is_lost_with_view(whole)
            || table.is_some_and(|table| self.is_gone_with_table(table))
    }

    /// Whether the trigger's view is dropped and recreated, maybe under another name.
    pub(super) fn is_lost_with_view(&self, trigger: &Whole) -> bool {
        let Some(on) = &trigger.table else {
            return false;
        };
        let may_be_on = |view: &&Whole| {
            let old = view.renamed_from.as_ref();
            view.name.is(&on.text) || old.is_some_and(|old| on.is(old))
        };
        let views = self.to.wholes.iter();
        let mut views = views
            .filter(|each| each.kind == WholeKind::View)
            .filter(may_be_on);
        views.any(|after| {
            let before = self.before(after);
            before.is_some_and(|before| {
                let is_on = before.name.is(&on.text) || after.name.is(&on.text);
                is_on && self.is_replaced(before, after)
            })
        })
    }
}

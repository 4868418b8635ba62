//! From two schemas to statements in an order accepted by the server: Hakaru's own order here,
//! sqldef's in [`drop_in`].
//!
//! Blocking foreign keys are dropped first and added last, each table is altered once, and
//! destructive changes are separate statements, to be held back alone.
//!
//! Phases: create sequences, which defaults use; drop triggers; rename; drop foreign keys; drop
//! tables; alter tables; create tables; add foreign keys; create routines, views, triggers and
//! events; drop everything else.

mod alter;
mod creation;
mod drop_in;
mod grants;
mod links;
mod needs;
mod options;
mod partitions;
mod programs;

use std::collections::{HashMap, HashSet};

use super::diff::{ColumnStep, TableDiff};
use super::lexer::backticked;
use super::model::{ForeignKey, Index, Name, Table};
use super::print::Printer;
use super::{Schema, hazards, renames};
use crate::plan::Steps;
use crate::{Hazard, ObjectKind, Plan, PlanError, PlanOptions, Statement, Style, Verb};
use alter::may_wait;
use links::KeyStep;
use needs::Needs;

/// A plan in the making.
pub(super) struct Builder<'a> {
    pub from: &'a Schema,
    pub to: &'a Schema,
    pub printer: Printer,
    pub options: &'a PlanOptions,
    pub statements: Vec<Statement>,
    pub needs: Needs,
}

/// See [`crate::plan()`].
pub(super) fn plan(from: &Schema, to: &Schema, options: &PlanOptions) -> Result<Plan, PlanError> {
    let renamed = renames::apply(from, to)?;
    let from = renamed.as_ref().unwrap_or(from);
    let statements = match options.style {
        Style::Native => native(from, to, options),
        Style::Sqldef => drop_in::plan(from, to, options),
    };
    Ok(Plan { statements })
}

/// Statements in Hakaru's own order.
fn native(from: &Schema, to: &Schema, options: &PlanOptions) -> Vec<Statement> {
    let mut builder = Builder {
        from,
        to,
        printer: Printer::new(options, to.is_mariadb),
        options,
        statements: Vec::new(),
        needs: Needs::default(),
    };
    builder.everything();
    builder.statements
}

/// The whole schema, for an empty database.
pub(super) fn creation(schema: &Schema) -> Vec<String> {
    let grantees = schema.grants.iter().map(|grant| &grant.grantee);
    let options = PlanOptions {
        managed_roles: grantees.map(|grantee| grantee.replace('`', "")).collect(),
        ..PlanOptions::default()
    };
    let empty = Schema::default();
    let statements = native(&empty, schema, &options);
    statements
        .into_iter()
        .map(|statement| statement.sql)
        .collect()
}

impl Steps for Builder<'_> {
    const ALWAYS: &'static [Hazard] = &[Hazard::NotTransactional];

    fn statements(&mut self) -> &mut Vec<Statement> {
        &mut self.statements
    }
}

impl<'a> Builder<'a> {
    fn everything(&mut self) {
        let diffs = self.diffs();
        let gone: Vec<&'a Table> = self
            .from
            .tables
            .iter()
            .filter(|table| self.to.table(&table.name.text).is_none())
            .collect();
        self.create_opaques(&|opaque| opaque.kind == ObjectKind::Sequence);
        self.drop_triggers();
        self.drop_views_in_the_way();
        self.rename_tables(&diffs);
        let retaken = retaken(&diffs, self.from, self.to);
        let dropped = self.drop_foreign_keys(&diffs, &retaken, &gone);
        self.drop_tables(&gone);
        for diff in &diffs {
            self.alter(diff);
        }
        let late = self.create_tables();
        let added = self.add_foreign_keys(&diffs, &retaken, &late);
        self.create_opaques(&|opaque| opaque.kind != ObjectKind::Sequence);
        self.views();
        self.triggers();
        self.events();
        self.drop_rest();
        self.grants();
        self.link(&dropped, &added);
    }

    fn diffs(&self) -> Vec<TableDiff<'a>> {
        let (from, to) = (self.from, self.to);
        let parts_copies = self.options.online && !self.options.outside;
        let both = to.tables.iter().filter_map(|table| {
            let mut diff = TableDiff::of(from.table(&table.name.text)?, table);
            if !to.is_mariadb {
                diff.recreate_cut();
                diff.recreate_checks();
            }
            Some(TableDiff {
                parts_copies,
                ..diff
            })
        });
        let both = both.filter(|diff| !diff.is_empty() || self.is_counter(diff));
        let mut diffs: Vec<TableDiff<'a>> = both.collect();
        anchor(&mut diffs, to);
        diffs
    }

    /// Whether the counter is part of the schema, and another one.
    pub fn is_counter(&self, diff: &TableDiff<'_>) -> bool {
        let after = &diff.to.options.auto_increment;
        self.options.auto_increment && after.is_some() && *after != diff.from.options.auto_increment
    }

    fn rename_tables(&mut self, diffs: &[TableDiff<'_>]) {
        for diff in diffs {
            if let Some(was) = &diff.from.was {
                let sql = format!(
                    "ALTER TABLE {} RENAME TO {}",
                    self.printer.name(was),
                    self.printer.name(&diff.to.name)
                );
                self.push(sql, Verb::Rename, ObjectKind::Table, was.text.clone());
            }
        }
    }

    /// Drops foreign keys for good or for a change, one per statement: effects of one may be held
    /// back.
    fn drop_foreign_keys(
        &mut self,
        diffs: &[TableDiff<'a>],
        retaken: &[Retaken<'a>],
        gone: &[&'a Table],
    ) -> Vec<KeyStep<'a>> {
        let of_diffs = diffs.iter().flat_map(|diff| {
            let keys = diff.dropped_keys.iter();
            keys.map(|key| (diff.from, *key))
        });
        let mut steps: Vec<(&'a Table, &'a ForeignKey)> = of_diffs.collect();
        for Retaken { table, key } in retaken {
            let before = self.from.table(&table.name.text).unwrap_or(table);
            steps.push((before, before.same_key(key)));
        }
        steps.extend(circle(gone));
        let mut dropped = Vec::new();
        for (table, key) in steps {
            let name = table.key_name(key);
            let sql = format!(
                "ALTER TABLE {} DROP FOREIGN KEY {}",
                self.printer.name(&table.name),
                self.printer.name(&name)
            );
            let lost = vec![Hazard::Drop(format!("constraint {}", name.text))];
            let name = format!("{}.{}", table.name.text, name.text);
            let at = self.push_with(sql, Verb::Relax, ObjectKind::Constraint, name, lost);
            dropped.push(KeyStep { at, table, key });
        }
        dropped
    }

    fn drop_tables(&mut self, gone: &[&'a Table]) {
        for table in creation::tables(gone).into_iter().rev() {
            let name = table.name.text.clone();
            let sql = format!("DROP TABLE {}", backticked(&name));
            let lost = vec![Hazard::DataLoss(format!("table {name} with all its rows"))];
            self.push_with(sql, Verb::Drop, ObjectKind::Table, name, lost);
        }
    }

    /// Creates new tables, and returns the foreign keys waiting for other tables.
    fn create_tables(&mut self) -> Vec<Retaken<'a>> {
        let new: Vec<&Table> = self
            .to
            .tables
            .iter()
            .filter(|table| self.from.table(&table.name.text).is_none())
            .collect();
        let ordered = creation::tables(&new);
        let names: HashSet<&str> = new.iter().map(|table| table.name.text.as_str()).collect();
        let mut made = HashSet::new();
        let (mut late, mut later) = (Vec::new(), Vec::new());
        for table in ordered {
            made.insert(table.name.text.as_str());
            let waits = |key: &ForeignKey| {
                let parent = key.table.text.as_str();
                names.contains(parent) && !made.contains(parent)
            };
            let waiting: Vec<&ForeignKey> =
                table.foreign_keys.iter().filter(|key| waits(key)).collect();
            let has_statement = |key: &&ForeignKey| key.statement.is_some();
            let is_as_written = !table.is_moved && waiting.iter().all(has_statement);
            if is_as_written {
                for (at, sql) in table.source.iter().enumerate() {
                    // Foreign keys of their own come when all tables are there.
                    let is_key = at > 0
                        && table
                            .foreign_keys
                            .iter()
                            .any(|key| key.statement.as_deref() == Some(sql));
                    match is_key {
                        true => later.push((sql.clone(), table)),
                        false => self.create(sql.clone(), table, at),
                    }
                }
            } else {
                late.extend(waiting.iter().map(|key| Retaken { table, key }));
                let sql = self.printer.table(table, &|key| !waits(key));
                self.create(sql, table, 0);
            }
        }
        for (sql, table) in later {
            self.create(sql, table, 1);
        }
        late
    }

    fn create(&mut self, sql: String, table: &Table, at: usize) {
        let verb = if at == 0 { Verb::Create } else { Verb::Alter };
        let created = self.push(sql, verb, ObjectKind::Table, table.name.text.clone());
        // Nothing is held back where nothing was there.
        if self.from.tables.is_empty() && self.from.views.is_empty() {
            return;
        }
        let in_the_way = self.needs.dropped_view(&self.statements, &table.name.text);
        let before = &self.statements[..created];
        let needs = &mut self.needs;
        let keys = table.foreign_keys.iter();
        let needed: Vec<usize> = keys
            .flat_map(|key| needs.of_key(before, table, key))
            .collect();
        self.statements[created].needs.extend(in_the_way);
        self.statements[created].needs.extend(needed);
    }

    fn add_foreign_keys(
        &mut self,
        diffs: &[TableDiff<'a>],
        retaken: &[Retaken<'a>],
        late: &[Retaken<'a>],
    ) -> Vec<KeyStep<'a>> {
        let added = diffs
            .iter()
            .flat_map(|diff| diff.added_keys.iter().map(|key| (diff.to, *key)));
        let of_retaken = |Retaken { table, key }: &Retaken<'a>| (*table, *key);
        let new = added.chain(late.iter().map(of_retaken));
        let all: Vec<_> = new.chain(retaken.iter().map(of_retaken)).collect();
        let mut steps = Vec::new();
        for (table, key) in all {
            let is_new = self.from.tables.is_empty() && self.from.views.is_empty();
            let needed = match is_new {
                true => Vec::new(),
                false => self.needs.of_key(&self.statements, table, key),
            };
            let sql = format!(
                "ALTER TABLE {} ADD {}",
                self.printer.name(&table.name),
                self.printer.foreign_key(key)
            );
            let hazards = match self.from.table(&table.name.text) {
                Some(_) => hazards::of_key(table, key),
                None => Vec::new(),
            };
            let name = format!("{}.{}", table.name.text, table.key_name(key).text);
            let at = self.push_with(sql, Verb::Add, ObjectKind::Constraint, name, hazards);
            self.statements[at].needs.extend(needed);
            steps.push(KeyStep { at, table, key });
        }
        steps
    }
}

/// A foreign key dropped and added again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retaken<'a> {
    table: &'a Table,
    key: &'a ForeignKey,
}

/// Foreign keys to drop temporarily, since a column's or an index's change is blocked.
fn retaken<'a>(diffs: &[TableDiff<'a>], from: &Schema, to: &'a Schema) -> Vec<Retaken<'a>> {
    let places: HashMap<&str, &TableDiff<'a>> = diffs
        .iter()
        .map(|diff| (diff.to.name.text.as_str(), diff))
        .collect();
    let mut retaken = Vec::new();
    for table in &to.tables {
        for key in &table.foreign_keys {
            let own = places.get(table.name.text.as_str());
            let is_new = own.is_some_and(|diff| {
                diff.added_keys
                    .iter()
                    .any(|added| std::ptr::eq(*added, key))
            });
            let parent = places.get(key.table.text.as_str());
            let is_moved = own.is_some_and(|diff| moves(diff, &key.columns))
                || parent.is_some_and(|diff| moves(diff, &key.references));
            let before = from.table(&table.name.text);
            let is_kept = before
                .is_some_and(|before| before.foreign_keys.iter().any(|known| known.is_same(key)));
            if !is_new && is_moved && is_kept {
                retaken.push(Retaken { table, key });
            }
        }
    }
    retaken
}

/// Marks the columns of foreign keys which are recreated for a change which may be held back.
fn anchor<'a>(diffs: &mut [TableDiff<'a>], to: &'a Schema) {
    let places = diffs.iter().enumerate();
    let places: HashMap<&str, usize> = places
        .map(|(at, diff)| (diff.to.name.text.as_str(), at))
        .collect();
    for table in &to.tables {
        for key in &table.foreign_keys {
            let own = places.get(table.name.text.as_str());
            let parent = places.get(key.table.text.as_str());
            let sides = [(own, &key.columns), (parent, &key.references)];
            let sides = sides.map(|(at, columns)| Some((*at?, columns)));
            let waits = |(at, columns): &(usize, &'a Vec<Name>)| may_wait(&diffs[*at], columns);
            if sides.iter().flatten().any(waits) {
                for (at, columns) in sides.into_iter().flatten() {
                    diffs[at].anchored.extend(columns);
                }
            }
        }
    }
}

/// Whether a change affects the types of columns of a foreign key, or an index on the columns.
fn moves(diff: &TableDiff<'_>, columns: &[Name]) -> bool {
    let is_named = |name: &Name| columns.iter().any(|column| column.is(name));
    let is_column = diff.columns.iter().any(|step| match step {
        ColumnStep::Add(..) => false,
        ColumnStep::Change { from, to, .. } => {
            is_named(&to.name)
                && (from.was.is_some()
                    || !from.norm.is_same_type(&to.norm)
                    || from.norm.is_nullable != to.norm.is_nullable)
        }
        ColumnStep::Remake { to, .. } => is_named(&to.name),
    });
    let covers = |index: &Index| index.covers(columns);
    let primary = diff.primary.and_then(|(before, _)| before);
    let replaced = diff.replaced_indexes.iter().map(|(before, _)| *before);
    is_column
        || replaced
            .chain(primary)
            .chain(diff.dropped_indexes.iter().copied())
            .any(covers)
}

/// Foreign keys by which dropped tables refer to each other in a circle, or to one dropped before.
fn circle<'a>(gone: &[&'a Table]) -> Vec<(&'a Table, &'a ForeignKey)> {
    let ordered = creation::tables(gone);
    let place = |name: &str| ordered.iter().position(|table| table.name.text == name);
    let mut found = Vec::new();
    for (at, table) in ordered.iter().enumerate() {
        let keys = table.foreign_keys.iter();
        found.extend(
            keys.filter(|key| place(&key.table.text).is_some_and(|parent| parent > at))
                .map(|key| (*table, key)),
        );
    }
    found
}

impl Table {
    /// The equivalent key of the table, or else `key`.
    fn same_key<'k>(&'k self, key: &'k ForeignKey) -> &'k ForeignKey {
        self.foreign_keys
            .iter()
            .find(|known| known.is_same(key))
            .unwrap_or(key)
    }
}

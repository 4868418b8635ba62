//! Plans in sqldef's spelling and order: one change per statement, in the order of the wanted
//! texts, drops last.

mod indexes;
mod partitions;
mod programs;
mod table;

use std::collections::HashSet;

use super::needs::Needs;
use super::{Builder, creation};
use crate::mysql::Schema;
use crate::mysql::diff::TableDiff;
use crate::mysql::lexer::backticked;
use crate::mysql::model::{ForeignKey, Table};
use crate::mysql::print::Printer;
use crate::plan::Steps;
use crate::sorted::sorted;
use crate::{Hazard, ObjectKind, PlanOptions, Statement, Verb};

/// A plan in the making.
struct Writer<'a> {
    from: &'a Schema,
    to: &'a Schema,
    printer: Printer,
    statements: Vec<Statement>,
    /// Foreign keys already dropped for another table's primary key, as table and name.
    dropped_keys: HashSet<(String, String)>,
    /// Indexes already dropped before a column, as table and name.
    dropped_indexes: HashSet<(String, String)>,
    /// Whether drops will be held back, so nothing else may be in a statement with a drop.
    holds_drops: bool,
    needs: Needs,
}

/// See [`crate::plan()`].
pub(super) fn plan(from: &Schema, to: &Schema, options: &PlanOptions) -> Vec<Statement> {
    let mut writer = Writer {
        from,
        to,
        printer: Printer::new(options, to.is_mariadb),
        statements: Vec::new(),
        dropped_keys: HashSet::new(),
        dropped_indexes: HashSet::new(),
        holds_drops: options.holds_drops,
        needs: Needs::default(),
    };
    writer.everything();
    let tied = Builder {
        from,
        to,
        printer: writer.printer,
        options,
        statements: writer.statements,
        needs: writer.needs,
    };
    let statements = tied.tied();
    match options.bulk_alter {
        true => in_bulk(statements),
        false => statements,
    }
}

impl Steps for Writer<'_> {
    const ALWAYS: &'static [Hazard] = &[Hazard::NotTransactional];

    fn statements(&mut self) -> &mut Vec<Statement> {
        &mut self.statements
    }
}

impl<'a> Writer<'a> {
    fn everything(&mut self) {
        let to = self.to;
        let tables: Vec<&Table> = to.tables.iter().collect();
        let ordered = creation::tables(&tables);
        let both = ordered.iter().filter_map(|table| {
            let before = self.from.table(&table.name.text)?;
            Some(TableDiff::of(before, table))
        });
        let diffs: Vec<TableDiff<'a>> = both.filter(|diff| !diff.is_empty()).collect();
        let mut changed = diffs.iter().peekable();
        let mut late = Vec::new();
        for table in &ordered {
            if self.from.table(&table.name.text).is_none() {
                late.extend(self.create(table));
            } else if let Some(diff) = changed.next_if(|diff| diff.to.name == table.name) {
                self.alter(diff, &diffs);
            }
        }
        for (sql, table) in late {
            self.push(sql, Verb::Alter, ObjectKind::Table, table.name.text.clone());
        }
        self.create_programs();
        self.drop_programs();
        self.drop_tables();
        for diff in &diffs {
            self.drop_parts(diff);
        }
    }

    /// Writes the statements of a new table and returns the foreign keys waiting for other tables.
    fn create(&mut self, table: &'a Table) -> Vec<(String, &'a Table)> {
        let name = table.name.text.clone();
        if table.is_moved {
            let sql = self.printer.table(table, &|_: &ForeignKey| true);
            self.push(sql, Verb::Create, ObjectKind::Table, name);
            return Vec::new();
        }
        let mut texts = table.source.iter();
        if let Some(sql) = texts.next() {
            self.push(sql.clone(), Verb::Create, ObjectKind::Table, name);
        }
        texts.map(|sql| (sql.clone(), table)).collect()
    }

    /// Drops tables by name, each before the ones referred to.
    fn drop_tables(&mut self) {
        let mut gone: Vec<&Table> = self
            .from
            .tables
            .iter()
            .filter(|table| self.to.table(&table.name.text).is_none())
            .collect();
        gone.sort_by(|one, other| one.name.text.cmp(&other.name.text));
        let is_referred_to = |table: &Table, by: &Table| {
            by.foreign_keys
                .iter()
                .any(|key| key.table.text == table.name.text)
        };
        let needs = |at: usize| -> Vec<usize> {
            let others = gone.iter().enumerate();
            others
                .filter(|(place, by)| *place != at && is_referred_to(gone[at], by))
                .map(|(place, _)| place)
                .collect()
        };
        let ordered = sorted(gone.len(), needs);
        for at in ordered {
            let name = &gone[at].name.text;
            let lost = Hazard::DataLoss(format!("table {name} with all its rows"));
            let sql = format!("DROP TABLE {}", backticked(name));
            self.push_drop(sql, ObjectKind::Table, name.clone(), vec![lost]);
        }
    }
}

/// Merges consecutive statements altering one table, destructive ones apart from the others.
fn in_bulk(statements: Vec<Statement>) -> Vec<Statement> {
    let mut merged: Vec<Statement> = Vec::new();
    // Places of statements in the merged list.
    let mut places = Vec::new();
    let mut last = String::new();
    for statement in statements {
        let head = head(&statement.sql);
        let is_same = !head.is_empty() && head == last;
        last = head;
        match merged
            .last_mut()
            .filter(|before| is_same && before.is_destructive() == statement.is_destructive())
        {
            Some(before) => {
                before.sql = format!("{}, {}", before.sql, &statement.sql[last.len()..]);
                before.hazards.extend(statement.hazards);
                before.hazards.dedup();
                before.needs.extend(statement.needs);
            }
            None => merged.push(statement),
        }
        places.push(merged.len() - 1);
    }
    for (at, statement) in merged.iter_mut().enumerate() {
        for need in &mut statement.needs {
            *need = places[*need];
        }
        statement.needs.retain(|need| *need != at);
    }
    merged
}

/// `ALTER TABLE name `, when several changes may follow.
fn head(sql: &str) -> String {
    const CLAUSES: [&str; 4] = [" ADD ", " DROP ", " CHANGE ", " MODIFY "];
    let at = CLAUSES.iter().filter_map(|clause| sql.find(clause)).min();
    match at {
        Some(at) if sql.starts_with("ALTER TABLE ") && !sql.contains(" PARTITION ") => {
            sql[..=at].to_owned()
        }
        _ => String::new(),
    }
}

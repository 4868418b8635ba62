//! One table, in sqldef's words.

use super::Writer;
use crate::mysql::diff::{ColumnStep, Place, TableDiff};
use crate::mysql::hazards;
use crate::mysql::lexer::{backticked, literal};
use crate::mysql::model::{Column, Index};
use crate::mysql::order::options;
use crate::plan::Steps;
use crate::{Hazard, ObjectKind, Verb};

impl Writer<'_> {
    pub(super) fn alter(&mut self, diff: &TableDiff<'_>, all: &[TableDiff<'_>]) {
        let table = self.printer.name(&diff.to.name);
        if let Some(was) = &diff.from.was {
            let sql = format!("ALTER TABLE {} RENAME TO {table}", self.printer.name(was));
            self.push(sql, Verb::Rename, ObjectKind::Table, was.text.clone());
        }
        let counters = self.columns(diff, &table);
        self.primary(diff, &table, all);
        let in_primary = |(column, _): &(&Column, &Column)| has_key(diff.to.primary(), column);
        let (early, late): (Vec<_>, Vec<_>) = counters.into_iter().partition(in_primary);
        for counter in early {
            self.change(diff, &table, counter, "", true);
        }
        self.indexes(diff, &table);
        for counter in late {
            self.change(diff, &table, counter, "", true);
        }
        self.checks(diff, &table);
        self.foreign_keys(diff, &table);
        self.table_options(diff, &table);
        self.add_partitions(diff, &table);
    }

    /// Changes columns and returns the auto-increment ones, which wait for a key.
    fn columns<'d>(&mut self, diff: &TableDiff<'d>, table: &str) -> Vec<(&'d Column, &'d Column)> {
        let mut counters = Vec::new();
        for step in &diff.columns {
            match *step {
                ColumnStep::Add(column, place) => {
                    let waits = column.is_auto_increment && !is_unique_with_it(diff, column);
                    self.add_column(diff, table, column, place, !waits);
                    if waits {
                        counters.push((column, column));
                    }
                }
                ColumnStep::Change { from, to, place } => {
                    let place = place.map_or_else(String::new, |place| self.place(place));
                    let has_key = has_key(diff.from.indexes.iter(), from);
                    let waits = to.is_auto_increment && !from.is_auto_increment && !has_key;
                    self.change(diff, table, (from, to), &place, !waits);
                    if waits {
                        counters.push((to, to));
                    }
                }
                ColumnStep::Remake { from, to, place } => {
                    for (before, _) in diff
                        .replaced_indexes
                        .iter()
                        .filter(|(before, _)| diff.has_remade(before))
                    {
                        self.drop_replaced(diff, before);
                    }
                    let dropped = self.drop_column(diff, table, from);
                    if from.generated.is_some() {
                        let dropped = &mut self.statements[dropped];
                        dropped.verb = Verb::Aside;
                        let is_loss = |hazard: &Hazard| matches!(hazard, Hazard::DataLoss(_));
                        dropped.hazards.retain(|hazard| !is_loss(hazard));
                    }
                    let added = self.add_column(diff, table, to, place, true);
                    self.statements[added].needs.push(dropped);
                }
            }
        }
        let shared = |primary: &Index, column: &Column| {
            primary.parts.iter().any(|part| part.is_of(&column.name))
        };
        if let Some((Some(before), after)) = diff.primary {
            for column in diff
                .from
                .columns
                .iter()
                .filter(|column| column.is_auto_increment && shared(before, column))
            {
                let to = diff.to.column(&column.name);
                if to.is_some_and(|to| !to.is_auto_increment) {
                    continue;
                }
                let definition = self
                    .printer
                    .definition(diff.from, &as_stored(column), false);
                self.change_to(
                    diff,
                    table,
                    column,
                    &format!("{} {definition}", self.printer.name(&column.name)),
                );
                counters.extend(to.filter(|_| after.is_some()).map(|to| (to, to)));
            }
        }
        counters
    }

    fn add_column(
        &mut self,
        diff: &TableDiff<'_>,
        table: &str,
        column: &Column,
        place: Place<'_>,
        has_counter: bool,
    ) -> usize {
        let definition = self.printer.definition(diff.to, column, has_counter);
        let unique = if is_unique_with_it(diff, column) {
            " UNIQUE"
        } else {
            ""
        };
        let sql = format!(
            "ALTER TABLE {table} ADD COLUMN {} {definition}{unique}{}",
            self.printer.name(&column.name),
            self.place(place)
        );
        let name = format!("{}.{}", diff.to.name.text, column.name.text);
        let hazards = hazards::of_added(diff.to, column);
        self.push_with(sql, Verb::Add, ObjectKind::Column, name, hazards)
    }

    fn place(&self, place: Place<'_>) -> String {
        match place {
            Place::First => " FIRST".to_owned(),
            Place::After(name) => format!(" AFTER {}", self.printer.name(name)),
        }
    }

    fn change(
        &mut self,
        diff: &TableDiff<'_>,
        table: &str,
        (from, to): (&Column, &Column),
        place: &str,
        has_counter: bool,
    ) {
        let definition = self.printer.definition(diff.to, to, has_counter);
        let text = format!("{} {definition}{place}", self.printer.name(&to.name));
        let at = self.change_to(diff, table, from, &text);
        let hazards = hazards::of_changed(diff.from, from, to);
        self.statements[at].hazards.splice(0..0, hazards);
    }

    fn change_to(&mut self, diff: &TableDiff<'_>, table: &str, from: &Column, text: &str) -> usize {
        let old = backticked(&from.was.as_ref().unwrap_or(&from.name).text);
        let name = format!("{}.{}", diff.to.name.text, from.name.text);
        let sql = format!("ALTER TABLE {table} CHANGE COLUMN {old} {text}");
        self.push(sql, Verb::Alter, ObjectKind::Column, name)
    }

    fn primary(&mut self, diff: &TableDiff<'_>, table: &str, all: &[TableDiff<'_>]) {
        let Some((before, after)) = diff.primary else {
            return;
        };
        let name = diff.to.name.text.clone();
        let mut dropped = None;
        if let Some(before) = before {
            let freed = self.free_from_keys(diff, before, all);
            let sql = format!("ALTER TABLE {table} DROP PRIMARY KEY");
            let at = self.push(sql, Verb::Alter, ObjectKind::Table, name.clone());
            self.statements[at].needs.extend(freed);
            dropped = Some(at);
            // Only without the key can they be NULL; what is written without NOT NULL is said
            // again.
            for column in before
                .parts
                .iter()
                .filter_map(|part| diff.from.column(part.column()?))
            {
                if let Some(to) = diff
                    .to
                    .column(&column.name)
                    .filter(|to| to.nullable != Some(false))
                {
                    self.change(diff, table, (column, to), "", true);
                }
            }
        }
        if let Some(after) = after {
            let sql = format!("ALTER TABLE {table} ADD {}", self.printer.index(after));
            let hazards = hazards::of_index(diff.from, after);
            let at = self.push_with(sql, Verb::Alter, ObjectKind::Table, name, hazards);
            self.statements[at].needs.extend(dropped);
        }
    }

    /// Drops foreign keys to a table, with indexes, since a change of the primary key is blocked.
    /// Returns the positions of the statements for keys dropped with a whole table.
    fn free_from_keys(
        &mut self,
        diff: &TableDiff<'_>,
        primary: &Index,
        all: &[TableDiff<'_>],
    ) -> Vec<usize> {
        for other in all {
            let keys = other
                .dropped_keys
                .iter()
                .filter(|key| key.table.is(&diff.to.name));
            for key in keys {
                self.drop_key(other, &other.from.key_name(key).text);
            }
        }
        let (from, to) = (self.from, self.to);
        let gone = from.tables.iter();
        let gone = gone.filter(|table| to.table(&table.name.text).is_none());
        let keys = gone.flat_map(|table| table.foreign_keys.iter().map(move |key| (table, key)));
        let in_the_way = keys.filter(|(_, key)| {
            key.table.is(&diff.to.name)
                && (key.references.is_empty() || primary.covers(&key.references))
        });
        let dropped = in_the_way
            .map(|(table, key)| self.drop_key_of(&table.name.text, &table.key_name(key).text));
        dropped.flatten().collect()
    }

    fn drop_key(&mut self, diff: &TableDiff<'_>, name: &str) {
        if self.drop_key_of(&diff.to.name.text, name).is_none() {
            return;
        }
        let table = backticked(&diff.to.name.text);
        // The index that came with it makes room for the next one.
        let replaced = diff
            .replaced_indexes
            .iter()
            .filter(|(before, after)| after.is_implied && before.name.text == name);
        for (before, _) in replaced {
            let sql = format!(
                "ALTER TABLE {table} DROP INDEX {}",
                backticked(&before.name.text)
            );
            let object = format!("{}.{}", diff.to.name.text, before.name.text);
            let lost = vec![Hazard::Drop(format!("index {name}"))];
            self.push_with(sql, Verb::Aside, ObjectKind::Index, object, lost);
        }
    }

    /// Place of the statement, unless the key was dropped before.
    fn drop_key_of(&mut self, owner: &str, name: &str) -> Option<usize> {
        let is_first = self
            .dropped_keys
            .insert((owner.to_owned(), name.to_owned()));
        is_first.then(|| {
            let (table, key) = (backticked(owner), backticked(name));
            let sql = format!("ALTER TABLE {table} DROP FOREIGN KEY {key}");
            let lost = vec![Hazard::Drop(format!("constraint {name}"))];
            let name = format!("{owner}.{name}");
            self.push_with(sql, Verb::Relax, ObjectKind::Constraint, name, lost)
        })
    }

    fn checks(&mut self, diff: &TableDiff<'_>, table: &str) {
        for check in &diff.dropped_checks {
            let name = diff.from.check_name(check, self.to.is_mariadb);
            let sql = format!(
                "ALTER TABLE {table} DROP CONSTRAINT {}",
                self.printer.name(&name)
            );
            let lost = vec![Hazard::Drop(format!("constraint {}", name.text))];
            let name = format!("{}.{}", diff.to.name.text, name.text);
            self.push_with(sql, Verb::Relax, ObjectKind::Constraint, name, lost);
        }
        for check in &diff.added_checks {
            let name = diff.to.check_name(check, self.to.is_mariadb);
            let sql = format!("ALTER TABLE {table} ADD {}", self.printer.check(check));
            let name = format!("{}.{}", diff.to.name.text, name.text);
            let hazards = hazards::of_check(diff.from, check);
            self.push_with(sql, Verb::Add, ObjectKind::Constraint, name, hazards);
        }
    }

    fn foreign_keys(&mut self, diff: &TableDiff<'_>, table: &str) {
        for key in &diff.added_keys {
            let name = diff.to.key_name(key);
            let changed = diff
                .dropped_keys
                .iter()
                .find(|before| diff.from.key_name(before).is(&name));
            if changed.is_some() {
                self.drop_key(diff, &name.text);
            }
            let sql = match &key.statement {
                Some(statement) => statement.clone(),
                None => format!("ALTER TABLE {table} ADD {}", self.printer.foreign_key(key)),
            };
            let name = format!("{}.{}", diff.to.name.text, name.text);
            let needed = self.needs.of_key(&self.statements, diff.to, key);
            let hazards = hazards::of_key(diff.from, key);
            let at = self.push_with(sql, Verb::Add, ObjectKind::Constraint, name, hazards);
            self.statements[at].needs.extend(needed);
        }
    }

    fn table_options(&mut self, diff: &TableDiff<'_>, table: &str) {
        for text in native_options(diff) {
            let sql = format!("ALTER TABLE {table} {text}");
            let name = diff.to.name.text.clone();
            let (verb, kind, hazards) = options::of_option(diff, &text);
            self.push_with(sql, verb, kind, name, hazards);
        }
    }

    /// What goes at the very end.
    pub(super) fn drop_parts(&mut self, diff: &TableDiff<'_>) {
        let table = self.printer.name(&diff.to.name);
        self.drop_late_partitions(diff, &table);
        for key in &diff.dropped_keys {
            self.drop_key(diff, &diff.from.key_name(key).text);
        }
        let first = self.statements.len();
        let is_there = |index: &&&Index| {
            let key = (diff.to.name.text.clone(), index.name.text.clone());
            !self.dropped_indexes.contains(&key)
        };
        let left: Vec<&Index> = diff
            .dropped_indexes
            .iter()
            .filter(is_there)
            .copied()
            .collect();
        for index in &left {
            let (owner, name) = (backticked(&diff.to.name.text), &index.name.text);
            let sql = format!("ALTER TABLE {owner} DROP INDEX {}", backticked(name));
            let lost = vec![Hazard::Drop(format!("index {name}"))];
            let name = format!("{}.{name}", diff.to.name.text);
            self.push_drop(sql, ObjectKind::Index, name, lost);
        }
        for column in diff.dropped_columns.iter().rev() {
            let needs = left.iter().enumerate();
            let needs =
                needs.filter(|(_, index)| index.parts.iter().any(|part| part.is_of(&column.name)));
            let needs: Vec<usize> = needs.map(|(at, _)| first + at).collect();
            let at = self.drop_column(diff, &table, column);
            self.statements[at].needs = needs;
        }
    }

    fn drop_column(&mut self, diff: &TableDiff<'_>, table: &str, column: &Column) -> usize {
        let name = format!("{}.{}", diff.to.name.text, column.name.text);
        let sql = format!(
            "ALTER TABLE {table} DROP COLUMN {}",
            backticked(&column.name.text)
        );
        let lost = vec![Hazard::DataLoss(format!("values of {name}"))];
        self.push_drop(sql, ObjectKind::Column, name, lost)
    }
}

/// Whether an index begins with the column, as numbering requires.
fn has_key<'i>(indexes: impl IntoIterator<Item = &'i Index>, column: &Column) -> bool {
    let first = |index: &Index| {
        index
            .parts
            .first()
            .is_some_and(|part| part.is_of(&column.name))
    };
    indexes.into_iter().any(first)
}

fn is_unique_with_it(diff: &TableDiff<'_>, column: &Column) -> bool {
    let mut added = diff.added_indexes.iter();
    added.any(|index| index.is_inline && index.parts.iter().any(|part| part.is_of(&column.name)))
}

/// Options in Hakaru's spelling, except for TiDB's: spaces around `=`, and a reset to 0.
fn native_options(diff: &TableDiff<'_>) -> Vec<String> {
    let texts = options::options(diff)
        .into_iter()
        .map(|text| match text.split_once('=') {
            Some(("COMMENT", _)) => format!("COMMENT = {}", literal(&diff.to.norm.comment)),
            Some((word, value)) => format!("{word} = {value}"),
            None => text,
        });
    texts.collect()
}

/// The column with the data type as shown by the server.
fn as_stored(column: &Column) -> Column {
    let mut shown = column.clone();
    shown.data_type.arguments.clear();
    shown.data_type.is_unsigned = false;
    shown.data_type.name.clone_from(&column.norm.data_type);
    shown
}

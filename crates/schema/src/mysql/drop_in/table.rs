//! One table, in sqldef's words.

use super::Writer;
use crate::mysql::diff::{ColumnStep, Place, TableDiff};
use crate::mysql::hazards;
use crate::mysql::lex::{backticked, literal};
use crate::mysql::model::{Column, Index};
use crate::mysql::{native, needs};
use crate::{Hazard, Verb};

impl Writer<'_> {
    pub(super) fn alter(&mut self, diff: &TableDiff<'_>, all: &[TableDiff<'_>]) {
        let table = self.printer.name(&diff.to.name);
        if let Some(was) = &diff.from.was {
            let sql = format!("ALTER TABLE {} RENAME TO {table}", self.printer.name(was));
            self.push(sql, Verb::Rename, ("table", was.text.clone()));
        }
        let counters = self.columns(diff, &table);
        self.primary(diff, &table, all);
        for (from, to) in counters {
            self.change(diff, &table, (from, to), "", true);
        }
        self.indexes(diff, &table);
        self.checks(diff, &table);
        self.foreign_keys(diff, &table);
        self.table_options(diff, &table);
        self.add_partitions(diff, &table);
    }

    /// Columns that are numbered wait for their key; they are answered.
    fn columns<'d>(&mut self, diff: &TableDiff<'d>, table: &str) -> Vec<(&'d Column, &'d Column)> {
        let mut counters = Vec::new();
        for step in &diff.columns {
            match *step {
                ColumnStep::Add(column, place) => {
                    let waits = column.is_auto_increment && diff.primary.is_some();
                    self.add_column(diff, table, column, place, !waits);
                    if waits {
                        counters.push((column, column));
                    }
                }
                ColumnStep::Change { from, to, place } => {
                    let place = place.map_or_else(String::new, |place| self.place(place));
                    self.change(diff, table, (from, to), &place, true);
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
        self.push_with(
            sql,
            Verb::Add,
            ("column", name),
            hazards::of_added(diff.to, column),
        )
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
        self.push(
            format!("ALTER TABLE {table} CHANGE COLUMN {old} {text}"),
            Verb::Alter,
            ("column", name),
        )
    }

    fn primary(&mut self, diff: &TableDiff<'_>, table: &str, all: &[TableDiff<'_>]) {
        let Some((before, after)) = diff.primary else {
            return;
        };
        let name = ("table", diff.to.name.text.clone());
        if let Some(before) = before {
            self.free_from_keys(diff, all);
            self.push(
                format!("ALTER TABLE {table} DROP PRIMARY KEY"),
                Verb::Alter,
                name.clone(),
            );
            // Only without the key can they be NULL; what is written without NOT NULL is said again.
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
            self.push_with(sql, Verb::Alter, name, hazards::of_index(diff.from, after));
        }
    }

    /// Foreign keys to this table that go, with their indexes: they are in the way of its primary key.
    fn free_from_keys(&mut self, diff: &TableDiff<'_>, all: &[TableDiff<'_>]) {
        for other in all {
            let keys = other
                .dropped_keys
                .iter()
                .filter(|key| key.table.is(&diff.to.name));
            for key in keys {
                self.drop_key(other, &other.from.key_name(key).text);
            }
        }
    }

    fn drop_key(&mut self, diff: &TableDiff<'_>, name: &str) {
        if !self
            .dropped_keys
            .insert((diff.to.name.text.clone(), name.to_owned()))
        {
            return;
        }
        let table = backticked(&diff.to.name.text);
        let sql = format!("ALTER TABLE {table} DROP FOREIGN KEY {}", backticked(name));
        let object = format!("{}.{name}", diff.to.name.text);
        self.push_with(
            sql,
            Verb::Relax,
            ("constraint", object),
            vec![Hazard::Drop(format!("constraint {name}"))],
        );
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
            self.push_with(
                sql,
                Verb::Aside,
                ("index", object),
                vec![Hazard::Drop(format!("index {name}"))],
            );
        }
    }

    fn checks(&mut self, diff: &TableDiff<'_>, table: &str) {
        for check in &diff.dropped_checks {
            let name = diff.from.check_name(check, self.to.is_mariadb);
            let sql = format!(
                "ALTER TABLE {table} DROP CONSTRAINT {}",
                self.printer.name(&name)
            );
            let lost = vec![Hazard::Drop(format!("constraint {}", name.text))];
            self.push_with(
                sql,
                Verb::Relax,
                ("constraint", format!("{}.{}", diff.to.name.text, name.text)),
                lost,
            );
        }
        for check in &diff.added_checks {
            let name = diff.to.check_name(check, self.to.is_mariadb);
            let sql = format!("ALTER TABLE {table} ADD {}", self.printer.check(check));
            let object = ("constraint", format!("{}.{}", diff.to.name.text, name.text));
            self.push_with(sql, Verb::Add, object, hazards::of_check(diff.from, check));
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
            let object = ("constraint", format!("{}.{}", diff.to.name.text, name.text));
            let needed = needs::of_key(&self.statements, diff.to, key);
            let at = self.push_with(sql, Verb::Add, object, hazards::of_key(diff.from, key));
            self.statements[at].needs.extend(needed);
        }
    }

    fn table_options(&mut self, diff: &TableDiff<'_>, table: &str) {
        for text in native_options(diff) {
            let sql = format!("ALTER TABLE {table} {text}");
            let name = diff.to.name.text.clone();
            let (verb, kind, hazards) = native::of_option(diff, &text);
            self.push_with(sql, verb, (kind, name), hazards);
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
        for index in &diff.dropped_indexes {
            let (owner, name) = (backticked(&diff.to.name.text), &index.name.text);
            let sql = format!("ALTER TABLE {owner} DROP INDEX {}", backticked(name));
            let object = ("index", format!("{}.{name}", diff.to.name.text));
            self.push_drop(sql, object, Hazard::Drop(format!("index {name}")));
        }
        for column in diff.dropped_columns.iter().rev() {
            let needs = diff.dropped_indexes.iter().enumerate();
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
        self.push_drop(
            sql,
            ("column", name.clone()),
            Hazard::DataLoss(format!("values of {name}")),
        )
    }
}

fn is_unique_with_it(diff: &TableDiff<'_>, column: &Column) -> bool {
    let mut added = diff.added_indexes.iter();
    added.any(|index| index.is_inline && index.parts.iter().any(|part| part.is_of(&column.name)))
}

/// Ours, but for those that only TiDB has: they have spaces around `=`, and go back to 0.
fn native_options(diff: &TableDiff<'_>) -> Vec<String> {
    let texts = native::options(diff)
        .into_iter()
        .map(|text| match text.split_once('=') {
            Some(("COMMENT", _)) => format!("COMMENT = {}", literal(&diff.to.norm.comment)),
            Some((word, value)) => format!("{word} = {value}"),
            None => text,
        });
    texts.collect()
}

/// With the data type as the server shows it.
fn as_stored(column: &Column) -> Column {
    let mut shown = column.clone();
    shown.data_type.arguments.clear();
    shown.data_type.is_unsigned = false;
    shown.data_type.name.clone_from(&column.norm.data_type);
    shown
}

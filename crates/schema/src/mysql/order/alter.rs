//! Changes of one table, combined in one statement where possible: rows are copied once.

mod columns;
mod parts;

use super::Builder;
use super::options::{adds_history, drops_used_period, of_option, options, period_of};
use crate::mysql::diff::{ColumnStep, TableDiff};
use crate::mysql::hazards;
use crate::mysql::model::{Column, Index, Name};
use crate::plan::Steps;
use crate::{Hazard, Object, ObjectKind, Verb};
pub(super) use parts::may_wait;
use parts::{Clauses, Parts, is_apart, misplaced, shares_index};

impl Builder<'_> {
    pub(super) fn alter(&mut self, diff: &TableDiff<'_>) {
        let table = self.printer.name(&diff.to.name);
        let start = self.statements.len();
        let unparted = self.remove_partitions(diff, &table);
        let (early, late): (Vec<&Index>, Vec<&Index>) = diff
            .dropped_indexes
            .iter()
            .filter(|index| !is_needed(diff, index))
            .partition(|index| has_other_type(diff, index));
        let freed = self.drop_indexes(diff, &table, &early);
        let parsed = self.drop_parsed(diff, &table);
        let mut parts = Parts::of(diff);
        self.drop_clauses(diff, &mut parts);
        self.column_clauses(diff, &mut parts);
        self.index_clauses(diff, &mut parts);
        self.check_clauses(diff, &mut parts);
        let misplaced = misplaced(diff, &parts);
        let mut freed = freed;
        let (losses, periods) = self.option_clauses(diff, &table, &mut parts.kept);
        freed.extend(losses);
        let name = diff.to.name.text.clone();
        self.alter_with(
            &table,
            (ObjectKind::Table, name.clone()),
            parts.kept,
            &freed,
        );
        let mut before: Vec<(Name, usize)> = Vec::new();
        for (column, clauses) in parts.lossy {
            let object = (ObjectKind::Column, format!("{name}.{}", column.text));
            // An index may be on several of them: it is taken away with the first and made with the
            // last.
            let linked = before
                .iter()
                .filter(|(other, _)| shares_index(diff, other, &column));
            let linked: Vec<usize> = linked.map(|(_, at)| *at).collect();
            let mut needs = freed.clone();
            needs.extend(&linked);
            let at = self.alter_with(&table, object, clauses, &needs);
            for (at, linked) in at
                .into_iter()
                .flat_map(|at| linked.iter().map(move |it| (at, *it)))
            {
                self.statements[linked].needs.push(at);
            }
            before.extend(at.map(|at| (column, at)));
        }
        let needs: Vec<usize> = before.into_iter().map(|(_, at)| at).collect();
        let order = self.order_clauses(diff, &misplaced);
        let last = self.statements.len();
        for at in parsed {
            // It comes again with one of these.
            self.statements[at].needs.extend(at + 1..last);
        }
        let ordered = self.alter_with(&table, (ObjectKind::Table, name.clone()), order, &needs);
        if ordered.is_some() {
            self.needs.leave_out_last(&self.statements);
        }
        self.lossy_columns(diff, &table, &freed);
        for (check, clauses) in parts.checks {
            let object = (ObjectKind::Constraint, format!("{name}.{}", check.text));
            if let Some(at) = self.alter_with(&table, object, clauses, &freed) {
                self.statements[at].verb = Verb::Add;
            }
        }
        self.drop_indexes(diff, &table, &late);
        let periods = self.drop_periods(diff, &table, (start, periods));
        self.drop_columns(diff, &table, (start, periods));
        self.partitions(diff, &table, unparted);
    }

    /// The statement's place, when there is something to do.
    fn alter_with(
        &mut self,
        table: &str,
        (kind, name): (ObjectKind, String),
        clauses: Clauses,
        needs: &[usize],
    ) -> Option<usize> {
        if clauses.texts.is_empty() {
            return None;
        }
        let sql = format!("ALTER TABLE {table} {}", clauses.texts.join(", "));
        let hazards = distinct(clauses.hazards);
        let at = self.push_with(sql, Verb::Alter, kind, name, hazards);
        self.statements[at].needs.extend(needs);
        Some(at)
    }

    /// MySQL takes no notice of another parser for the same words within one statement. Places of
    /// the statements.
    fn drop_parsed(&mut self, diff: &TableDiff<'_>, table: &str) -> Vec<usize> {
        let mut places = Vec::new();
        let replaced = diff.replaced_indexes.iter();
        for (before, _) in replaced.filter(|(before, after)| before.parser != after.parser) {
            let was = before.was.as_ref().unwrap_or(&before.name);
            let sql = format!("ALTER TABLE {table} DROP INDEX {}", self.printer.name(was));
            let name = format!("{}.{}", diff.to.name.text, was.text);
            let lost = vec![Hazard::Drop(format!("index {}", was.text))];
            places.push(self.push_with(sql, Verb::Aside, ObjectKind::Index, name, lost));
        }
        places
    }

    fn drop_clauses(&self, diff: &TableDiff<'_>, parts: &mut Parts) {
        for check in &diff.dropped_checks {
            let name = diff.from.check_name(check, self.to.is_mariadb);
            let text = format!("DROP CONSTRAINT {}", self.printer.name(&name));
            // Where the one that takes its name stands.
            let mut added = diff.added_checks.iter();
            let heir = added.find(|heir| diff.to.check_name(heir, self.to.is_mariadb).is(&name));
            let clauses = match heir {
                Some(heir) => parts.of_replaced_check(diff, name.clone(), (check, heir)),
                None => &mut parts.kept,
            };
            clauses.push(
                text,
                vec![Hazard::Drop(format!("constraint {}", name.text))],
            );
        }
        let replaced = diff.replaced_indexes.iter();
        let replaced = replaced.filter(|(before, after)| before.parser == after.parser);
        let replaced = replaced.map(|(before, after)| (*before, Some(*after)));
        let gone = diff.dropped_indexes.iter().copied();
        let gone = gone.filter(|index| is_needed(diff, index));
        for (index, after) in replaced.chain(gone.map(|index| (index, None))) {
            // It still has its old name, which a plan gives up here.
            let name = index.was.as_ref().unwrap_or(&index.name);
            let text = format!("DROP INDEX {}", self.printer.name(name));
            let dropped = vec![Hazard::Drop(format!("index {}", name.text))];
            let both: Vec<&Index> = std::iter::once(index).chain(after).collect();
            let heir = heir(diff, index).filter(|_| after.is_none());
            let clauses = match heir {
                Some(heir) if !parts.has(index) => parts.behind(&[heir]),
                _ => parts.before(&both),
            };
            clauses.push(text, dropped);
        }
        if let Some((Some(before), after)) = diff.primary {
            // Both at once, where the new one is on a column that changes: a table without a key
            // may not be allowed.
            let both: Vec<&Index> = std::iter::once(before).chain(after).collect();
            let clauses = parts.behind(&both);
            clauses.push("DROP PRIMARY KEY".to_owned(), Vec::new());
        }
        for (before, after) in &diff.renamed_indexes {
            if let Some(was) = &before.was {
                let text = format!(
                    "RENAME INDEX {} TO {}",
                    self.printer.name(was),
                    self.printer.name(&after.name)
                );
                parts.kept.push(text, Vec::new());
            }
        }
    }

    fn index_clauses(&self, diff: &TableDiff<'_>, parts: &mut Parts) {
        if let Some((_, Some(primary))) = diff.primary {
            let before = diff.primary.and_then(|(before, _)| before);
            let both: Vec<&Index> = std::iter::once(primary).chain(before).collect();
            parts.behind(&both).push(
                format!("ADD {}", self.printer.index(primary)),
                hazards::of_index(diff.from, primary),
            );
        }
        for index in &diff.hidden_indexes {
            parts.kept.push(self.printer.visibility(index), Vec::new());
        }
        let replaced = diff.replaced_indexes.iter();
        let replaced = replaced.map(|(before, after)| (*after, Some(*before)));
        let added = diff.added_indexes.iter().map(|index| (*index, None));
        // The server makes it together with its foreign key.
        let comes_with_key = |index: &&Index| {
            index.is_implied && diff.added_keys.iter().any(|key| index.covers(&key.columns))
        };
        for (index, before) in replaced
            .chain(added)
            .filter(|(index, _)| !comes_with_key(index))
        {
            let both: Vec<&Index> = std::iter::once(index).chain(before).collect();
            parts.behind(&both).push(
                format!("ADD {}", self.printer.index(index)),
                hazards::of_index(diff.from, index),
            );
        }
    }

    fn check_clauses(&self, diff: &TableDiff<'_>, parts: &mut Parts) {
        for check in &diff.added_checks {
            let name = diff.to.check_name(check, self.to.is_mariadb);
            parts.of_check(diff, name, check).push(
                format!("ADD {}", self.printer.check(check)),
                hazards::of_check(diff.from, check),
            );
        }
    }

    /// Adds clauses for options; returns the positions of statements losing rows, and the clauses
    /// waiting for the drop of an index.
    fn option_clauses(
        &mut self,
        diff: &TableDiff<'_>,
        table: &str,
        clauses: &mut Clauses,
    ) -> (Vec<usize>, Vec<String>) {
        if self.is_counter(diff)
            && let Some(counter) = &diff.to.options.auto_increment
        {
            clauses.push(format!("AUTO_INCREMENT={counter}"), Vec::new());
        }
        let (mut places, mut periods) = (Vec::new(), Vec::new());
        for text in options(diff) {
            if drops_used_period(diff, &text) {
                periods.push(text);
                continue;
            }
            let (verb, kind, hazards) = of_option(diff, &text);
            // Only of a table that has a history the server takes a column without one.
            if kind == ObjectKind::Table && !adds_history(diff, &text) {
                clauses.push(text, hazards);
                continue;
            }
            let sql = format!("ALTER TABLE {table} {text}");
            let at = self.push_with(sql, verb, kind, diff.to.name.text.clone(), hazards);
            // A table with a history is not changed otherwise.
            places.extend((verb == Verb::Drop).then_some(at));
        }
        (places, periods)
    }

    /// Drops periods behind indexes; returns the places. The table's statements begin at `start`.
    fn drop_periods(
        &mut self,
        diff: &TableDiff<'_>,
        table: &str,
        (start, periods): (usize, Vec<String>),
    ) -> Vec<usize> {
        let end = self.statements.len();
        for text in periods {
            let is_on = |index: &Index| {
                let mut parts = index.parts.iter();
                parts.any(|part| part.column().is_some_and(|name| period_of(&text).is(name)))
            };
            let indexes = diff.from.indexes.iter().filter(|index| is_on(index));
            let drops = indexes.map(|index| match index.is_primary() {
                true => "DROP PRIMARY KEY".to_owned(),
                false => format!("DROP INDEX {}", self.printer.name(&index.name)),
            });
            let drops: Vec<String> = drops.collect();
            let is_drop = |at: &usize| {
                let sql = &self.statements[*at].sql;
                drops.iter().any(|drop| sql.contains(drop.as_str()))
            };
            let needs: Vec<usize> = (start..end).filter(is_drop).collect();
            let sql = format!("ALTER TABLE {table} {text}");
            let at = self.push(
                sql,
                Verb::Alter,
                ObjectKind::Table,
                diff.to.name.text.clone(),
            );
            self.statements[at].needs = needs;
        }
        (end..self.statements.len()).collect()
    }

    /// Changes each column with possible losses in a separate statement, allowed by the column's
    /// name.
    fn lossy_columns(&mut self, diff: &TableDiff<'_>, table: &str, freed: &[usize]) {
        for step in &diff.columns {
            if let ColumnStep::Change { from, to, .. } = step
                && is_apart(diff, from, to)
            {
                let definition = self.printer.column(diff.to, to);
                let sql = format!("ALTER TABLE {table} MODIFY COLUMN {definition}");
                let name = format!("{}.{}", diff.to.name.text, to.name.text);
                let hazards = hazards::of_changed(diff.from, from, to);
                let at = self.push_with(sql, Verb::Alter, ObjectKind::Column, name, hazards);
                self.statements[at].needs.extend(freed);
            }
        }
    }

    /// Places of the statements.
    fn drop_indexes(&mut self, diff: &TableDiff<'_>, table: &str, gone: &[&Index]) -> Vec<usize> {
        let mut places = Vec::new();
        for index in gone {
            let sql = format!(
                "ALTER TABLE {table} DROP INDEX {}",
                self.printer.name(&index.name)
            );
            let name = format!("{}.{}", diff.to.name.text, index.name.text);
            let lost = vec![Hazard::Drop(format!("index {}", index.name.text))];
            let at = self.push_with(sql, Verb::Drop, ObjectKind::Index, name, lost);
            places.push(at);
        }
        places
    }

    /// Drops generated columns first, since the expressions may name the others. The table's
    /// statements begin at `start`; those at `periods` drop periods.
    fn drop_columns(
        &mut self,
        diff: &TableDiff<'_>,
        table: &str,
        (start, periods): (usize, Vec<usize>),
    ) {
        let (generated, plain): (Vec<&Column>, Vec<&Column>) = diff
            .dropped_columns
            .iter()
            .partition(|column| column.generated.is_some());
        for column in generated.into_iter().rev().chain(plain) {
            let name = format!("{}.{}", diff.to.name.text, column.name.text);
            let sql = format!(
                "ALTER TABLE {table} DROP COLUMN {}",
                self.printer.name(&column.name)
            );
            let lost = vec![Hazard::DataLoss(format!("values of {name}"))];
            let on_it = diff
                .dropped_indexes
                .iter()
                .filter(|index| index.parts.iter().any(|part| part.is_of(&column.name)));
            let on_it = on_it.map(|index| Object {
                kind: ObjectKind::Index,
                name: format!("{}.{}", diff.to.name.text, index.name.text),
            });
            let on_it: Vec<Object> = on_it.collect();
            let needs = self
                .statements
                .iter()
                .enumerate()
                .skip(start)
                .filter(|(_, each)| on_it.contains(&each.object));
            let mut needs: Vec<usize> = needs.map(|(at, _)| at).collect();
            let mut texts = diff.from.periods.iter();
            if texts.any(|period| period.contains(&column.name.text)) {
                needs.extend(&periods);
            }
            let at = self.push_with(sql, Verb::Drop, ObjectKind::Column, name, lost);
            self.statements[at].needs = needs;
        }
    }
}

/// Whether a column of the index gets a type not accepted by the index.
fn has_other_type(diff: &TableDiff<'_>, index: &Index) -> bool {
    let is_changed = diff.columns.iter().any(|step| match step {
        ColumnStep::Change { from, to, .. } => {
            !from.norm.is_same_type(&to.norm) && index.parts.iter().any(|part| part.is_of(&to.name))
        }
        ColumnStep::Add(..) | ColumnStep::Remake { .. } => false,
    });
    is_changed || diff.has_remade(index)
}

/// The index on which a foreign key stands instead of the dropped one: with neither the server
/// would make a third.
fn heir<'a>(diff: &TableDiff<'a>, index: &Index) -> Option<&'a Index> {
    let keys = diff.to.foreign_keys.iter();
    let mut keys = keys.filter(|key| index.covers(&key.columns));
    keys.find_map(|key| {
        let mut others = diff.to.indexes.iter();
        // Another that is there already makes the drop as good as any.
        if others.any(|other| other.covers(&key.columns) && diff.from.index(&other.name).is_some())
        {
            return None;
        }
        let mut added = diff.added_indexes.iter().copied();
        added.find(|added| !added.is_implied && added.covers(&key.columns))
    })
}

/// Whether a foreign key or a counter needs the index between two statements.
fn is_needed(diff: &TableDiff<'_>, index: &Index) -> bool {
    let own = diff
        .to
        .foreign_keys
        .iter()
        .any(|key| index.covers(&key.columns));
    let has_other = diff.added_indexes.iter().any(|other| {
        let shared = index.parts.first().zip(other.parts.first());
        shared.is_some_and(|(one, other)| one.key == other.key)
    });
    // A column that is numbered needs one in every statement.
    let mut columns = index
        .parts
        .iter()
        .filter_map(|part| diff.from.column(part.column()?));
    let is_counted = columns.any(|column| column.is_auto_increment);
    own || is_counted || (has_other && index.kind == crate::mysql::model::IndexKind::Unique)
}

/// The last of equal hazards each: the clauses of a statement may share some.
fn distinct(hazards: Vec<Hazard>) -> Vec<Hazard> {
    let mut distinct = Vec::with_capacity(hazards.len());
    for hazard in hazards.into_iter().rev() {
        if !distinct.contains(&hazard) {
            distinct.push(hazard);
        }
    }
    distinct.reverse();
    distinct
}

//! One table: what can stand in one statement does, so that its rows are copied once.

use super::Builder;
use super::options::options;
use crate::mysql::diff::{ColumnStep, Place, TableDiff};
use crate::mysql::hazards;
use crate::mysql::model::{Column, Index};
use crate::{Hazard, Object};

/// What stands in one statement.
#[derive(Default)]
struct Clauses {
    texts: Vec<String>,
    hazards: Vec<Hazard>,
}

impl Clauses {
    fn push(&mut self, text: String, hazards: Vec<Hazard>) {
        self.texts.push(text);
        self.hazards.extend(hazards);
    }
}

impl Builder<'_> {
    pub(super) fn alter(&mut self, diff: &TableDiff<'_>) {
        let table = self.printer.name(&diff.to.name);
        let is_freed = self.remove_partitions(diff, &table);
        let (early, late): (Vec<&Index>, Vec<&Index>) = diff
            .dropped_indexes
            .iter()
            .filter(|index| !is_needed(diff, index))
            .partition(|index| has_other_type(diff, index));
        let freed = self.drop_indexes(diff, &table, &early);
        self.drop_parsed(diff, &table);
        let mut clauses = Clauses::default();
        self.drop_clauses(diff, &mut clauses);
        self.column_clauses(diff, &mut clauses);
        self.index_clauses(diff, &mut clauses);
        self.check_clauses(diff, &mut clauses);
        self.option_clauses(diff, &mut clauses);
        if !clauses.texts.is_empty() {
            let sql = format!("ALTER TABLE {table} {}", clauses.texts.join(", "));
            let name = diff.to.name.text.clone();
            let at = self.push_with(sql, "alter", ("table", name), clauses.hazards);
            self.statements[at].needs.clone_from(&freed);
        }
        self.lossy_columns(diff, &table, &freed);
        self.drop_indexes(diff, &table, &late);
        self.drop_columns(diff, &table);
        self.partitions(diff, &table, is_freed);
    }

    /// MySQL takes no notice of another parser for the same words within one statement.
    fn drop_parsed(&mut self, diff: &TableDiff<'_>, table: &str) {
        let replaced = diff.replaced_indexes.iter();
        for (before, _) in replaced.filter(|(before, after)| before.parser != after.parser) {
            let was = before.was.as_ref().unwrap_or(&before.name);
            let sql = format!("ALTER TABLE {table} DROP INDEX {}", self.printer.name(was));
            let name = format!("{}.{}", diff.to.name.text, was.text);
            let lost = vec![Hazard::Drop(format!("index {}", was.text))];
            self.push_with(sql, "drop", ("index", name), lost);
        }
    }

    fn drop_clauses(&self, diff: &TableDiff<'_>, clauses: &mut Clauses) {
        for check in &diff.dropped_checks {
            let name = diff.from.check_name(check, self.to.is_mariadb);
            let text = format!("DROP CONSTRAINT {}", self.printer.name(&name));
            clauses.push(
                text,
                vec![Hazard::Drop(format!("constraint {}", name.text))],
            );
        }
        let replaced = diff.replaced_indexes.iter();
        let replaced = replaced.filter(|(before, after)| before.parser == after.parser);
        let replaced = replaced.map(|(before, _)| *before);
        for index in replaced.chain(
            diff.dropped_indexes
                .iter()
                .copied()
                .filter(|index| is_needed(diff, index)),
        ) {
            // It still has its old name, which a plan gives up here.
            let name = index.was.as_ref().unwrap_or(&index.name);
            let text = format!("DROP INDEX {}", self.printer.name(name));
            clauses.push(text, vec![Hazard::Drop(format!("index {}", name.text))]);
        }
        if let Some((Some(_), _)) = diff.primary {
            clauses.push("DROP PRIMARY KEY".to_owned(), Vec::new());
        }
        for (before, after) in &diff.renamed_indexes {
            if let Some(was) = &before.was {
                let text = format!(
                    "RENAME INDEX {} TO {}",
                    self.printer.name(was),
                    self.printer.name(&after.name)
                );
                clauses.push(text, Vec::new());
            }
        }
    }

    fn column_clauses(&self, diff: &TableDiff<'_>, clauses: &mut Clauses) {
        for step in &diff.columns {
            match step {
                ColumnStep::Add(column, place) => {
                    let text = format!(
                        "ADD COLUMN {}{}",
                        self.printer.column(diff.to, column),
                        self.place(*place)
                    );
                    clauses.push(text, hazards::of_added(diff.to, column));
                }
                ColumnStep::Change { from, to, place } => {
                    if is_apart(diff, from, to) {
                        self.moved(diff, (from, to), *place, clauses);
                        continue;
                    }
                    clauses.push(
                        self.change(diff, from, to, *place),
                        hazards::of_changed(diff.from, from, to),
                    );
                }
                ColumnStep::Remake { from, to, place } => {
                    clauses.push(
                        format!("DROP COLUMN {}", self.printer.name(&from.name)),
                        remade(diff, from),
                    );
                    let text = format!(
                        "ADD COLUMN {}{}",
                        self.printer.column(diff.to, to),
                        self.place(*place)
                    );
                    clauses.push(text, hazards::of_added(diff.to, to));
                }
            }
        }
        for column in diff
            .dropped_columns
            .iter()
            .filter(|column| column.is_auto_increment)
        {
            let text = format!(
                "MODIFY COLUMN {} {}",
                self.printer.name(&column.name),
                self.printer.definition(diff.from, column, false)
            );
            clauses.push(text, Vec::new());
        }
    }

    /// A column that keeps its type for now gets its name and place with the others: their order is one.
    fn moved(
        &self,
        diff: &TableDiff<'_>,
        (from, to): (&Column, &Column),
        place: Option<Place<'_>>,
        clauses: &mut Clauses,
    ) {
        if place.is_none() && from.was.is_none() {
            return;
        }
        let mut still = from.clone();
        still.name = to.name.clone();
        still.data_type.charset.clone_from(&from.norm.charset);
        still.data_type.collation.clone_from(&from.norm.collation);
        let place = place.map_or_else(String::new, |place| self.place(place));
        let definition = self.printer.column(diff.from, &still);
        clauses.push(
            match &from.was {
                Some(was) => format!(
                    "CHANGE COLUMN {} {definition}{place}",
                    self.printer.name(was)
                ),
                None => format!("MODIFY COLUMN {definition}{place}"),
            },
            Vec::new(),
        );
    }

    fn change(
        &self,
        diff: &TableDiff<'_>,
        from: &Column,
        to: &Column,
        place: Option<Place<'_>>,
    ) -> String {
        let place = place.map_or_else(String::new, |place| self.place(place));
        match &from.was {
            Some(was) => format!(
                "CHANGE COLUMN {} {}{place}",
                self.printer.name(was),
                self.printer.column(diff.to, to)
            ),
            None => format!("MODIFY COLUMN {}{place}", self.printer.column(diff.to, to)),
        }
    }

    fn place(&self, place: Place<'_>) -> String {
        match place {
            Place::First => " FIRST".to_owned(),
            Place::After(name) => format!(" AFTER {}", self.printer.name(name)),
        }
    }

    fn index_clauses(&self, diff: &TableDiff<'_>, clauses: &mut Clauses) {
        if let Some((_, Some(primary))) = diff.primary {
            clauses.push(
                format!("ADD {}", self.printer.index(primary)),
                hazards::of_index(diff.from, primary),
            );
        }
        for index in &diff.hidden_indexes {
            clauses.push(self.printer.visibility(index), Vec::new());
        }
        let replaced = diff.replaced_indexes.iter().map(|(_, after)| *after);
        let added = diff.added_indexes.iter().copied();
        // The server makes it together with its foreign key.
        let comes_with_key = |index: &&Index| {
            index.is_implied && diff.added_keys.iter().any(|key| index.covers(&key.columns))
        };
        for index in replaced.chain(added).filter(|index| !comes_with_key(index)) {
            clauses.push(
                format!("ADD {}", self.printer.index(index)),
                hazards::of_index(diff.from, index),
            );
        }
    }

    fn check_clauses(&self, diff: &TableDiff<'_>, clauses: &mut Clauses) {
        for check in &diff.added_checks {
            clauses.push(
                format!("ADD {}", self.printer.check(check)),
                hazards::of_check(diff.from, check),
            );
        }
    }

    fn option_clauses(&self, diff: &TableDiff<'_>, clauses: &mut Clauses) {
        let texts = options(diff);
        if self.is_counter(diff)
            && let Some(counter) = &diff.to.options.auto_increment
        {
            clauses.push(format!("AUTO_INCREMENT={counter}"), Vec::new());
        }
        for text in texts {
            clauses.push(text, hazards::of_options(diff.from, diff.to));
        }
    }

    /// What can lose values is a statement of its own, to be allowed by the column's name.
    fn lossy_columns(&mut self, diff: &TableDiff<'_>, table: &str, freed: &[usize]) {
        for step in &diff.columns {
            if let ColumnStep::Change { from, to, .. } = step
                && is_apart(diff, from, to)
            {
                let definition = self.printer.column(diff.to, to);
                let sql = format!("ALTER TABLE {table} MODIFY COLUMN {definition}");
                let name = format!("{}.{}", diff.to.name.text, to.name.text);
                let hazards = hazards::of_changed(diff.from, from, to);
                let at = self.push_with(sql, "alter", ("column", name), hazards);
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
            let at = self.push_with(sql, "drop", ("index", name), lost);
            self.statements[at].destructive = true;
            places.push(at);
        }
        places
    }

    /// Generated columns first: they may be made of the others.
    fn drop_columns(&mut self, diff: &TableDiff<'_>, table: &str) {
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
                kind: "index",
                name: format!("{}.{}", diff.to.name.text, index.name.text),
            });
            let on_it: Vec<Object> = on_it.collect();
            let needs = self
                .statements
                .iter()
                .enumerate()
                .filter(|(_, each)| on_it.contains(&each.object));
            let needs: Vec<usize> = needs.map(|(at, _)| at).collect();
            let at = self.push_with(sql, "drop", ("column", name), lost);
            self.statements[at].needs = needs;
        }
    }
}

/// Whether a column's change is a statement of its own: values may be lost, and no new index waits for it.
fn is_apart(diff: &TableDiff<'_>, from: &Column, to: &Column) -> bool {
    let is_lossy = from.norm.generated.is_none()
        && !from.norm.is_same_type(&to.norm)
        && hazards::loss(&from.norm, &to.norm).is_some();
    let replaced = diff.replaced_indexes.iter().map(|(_, after)| *after);
    let primary = diff.primary.and_then(|(_, after)| after);
    let mut new = diff
        .added_indexes
        .iter()
        .copied()
        .chain(replaced)
        .chain(primary);
    is_lossy && !new.any(|index| index.parts.iter().any(|part| part.is_of(&to.name)))
}

/// Values of a generated column can be made again.
fn remade(diff: &TableDiff<'_>, from: &Column) -> Vec<Hazard> {
    match from.generated {
        Some(_) => Vec::new(),
        None => vec![Hazard::DataLoss(format!(
            "values of {}.{}",
            diff.to.name.text, from.name.text
        ))],
    }
}

/// Whether one of its columns gets a type that the index may not take.
fn has_other_type(diff: &TableDiff<'_>, index: &Index) -> bool {
    let is_changed = diff.columns.iter().any(|step| match step {
        ColumnStep::Change { from, to, .. } => {
            !from.norm.is_same_type(&to.norm) && index.parts.iter().any(|part| part.is_of(&to.name))
        }
        ColumnStep::Add(..) | ColumnStep::Remake { .. } => false,
    });
    is_changed || diff.has_remade(index)
}

/// Whether something would miss this index between two statements: a foreign key, or a counter.
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

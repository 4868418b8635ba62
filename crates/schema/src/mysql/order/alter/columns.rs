//! Clauses for the columns of one table.

use super::parts::{Clauses, Parts, is_apart, is_handed};
use crate::Hazard;
use crate::mysql::diff::{ColumnStep, Place, TableDiff, loses_values};
use crate::mysql::hazards;
use crate::mysql::model::Column;
use crate::mysql::order::Builder;

impl Builder<'_> {
    pub(super) fn column_clauses(&self, diff: &TableDiff<'_>, parts: &mut Parts) {
        // Where columns belong beside those that may stay where they are is known when nothing was
        // held back: the last statement puts them there.
        let is_late = !parts.lossy.is_empty();
        for step in &diff.columns {
            match step {
                ColumnStep::Add(column, place) => {
                    let text = format!(
                        "ADD COLUMN {}{}",
                        self.printer.column(diff.to, column),
                        self.place(*place)
                    );
                    let clauses = match is_handed(diff, column) {
                        true => parts.of_column(&column.name),
                        false => &mut parts.kept,
                    };
                    clauses.push(text, hazards::of_added(diff.to, column));
                }
                ColumnStep::Change { from, to, place } => {
                    if is_apart(diff, from, to) {
                        // Its new type may be held back; the move is not, and so waits too.
                        let place = place.filter(|_| !is_late);
                        self.moved(diff, (from, to), place, &mut parts.kept);
                        continue;
                    }
                    let waits = is_late && !parts.is_lossy(&to.name);
                    let place = &place.filter(|_| !waits);
                    if waits && from.was.is_none() && from.norm.is_same(&to.norm) {
                        continue;
                    }
                    parts.of_column(&to.name).push(
                        self.change(diff, from, to, *place),
                        hazards::of_changed(diff.from, from, to),
                    );
                }
                ColumnStep::Remake { from, to, place } => {
                    let clauses = parts.of_column(&to.name);
                    clauses.push(
                        format!("DROP COLUMN {}", self.printer.name(&from.name)),
                        remade(diff, from, to),
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
            parts.kept.push(text, Vec::new());
        }
    }

    /// Moves columns into the wanted order after recreations.
    pub(super) fn order_clauses(
        &self,
        diff: &TableDiff<'_>,
        misplaced: &[(&Column, Place<'_>)],
    ) -> Clauses {
        let mut clauses = Clauses::default();
        for (column, place) in misplaced {
            let before = diff.columns.iter().find_map(|step| match step {
                ColumnStep::Change { from, to, .. } if to.name.is(&column.name) => Some(*from),
                _ => None,
            });
            match before.filter(|before| is_apart(diff, before, column)) {
                Some(before) => {
                    // It has its name by then.
                    let mut before = before.clone();
                    before.was = None;
                    self.moved(diff, (&before, column), Some(*place), &mut clauses);
                }
                None => {
                    let definition = self.printer.column(diff.to, column);
                    let text = format!("MODIFY COLUMN {definition}{}", self.place(*place));
                    clauses.push(text, Vec::new());
                }
            }
        }
        clauses
    }

    /// Renames and moves a column with a postponed type change: the order of all columns is set at
    /// once.
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
}

/// Hazards of dropping a column to be added again.
fn remade(diff: &TableDiff<'_>, from: &Column, to: &Column) -> Vec<Hazard> {
    let lost = loses_values(from, to).then(|| {
        let name = format!("{}.{}", diff.to.name.text, from.name.text);
        Hazard::DataLoss(format!("values of {name}"))
    });
    lost.into_iter().collect()
}

//! Primary keys close to the largest number.

use schema::ObjectKind;

use super::Rule;
use crate::{Lint, Severity, Subject};

/// Largest number of a 4-byte integer.
const LARGEST: u64 = 2_147_483_647;

/// Share of the numbers in use from which the problem is urgent.
const URGENT_PERCENT: u64 = 50;

pub(super) const RULE: Rule = Rule {
    name: "small-primary-key",
    about: "rows are numbered with an integer of 4 bytes or fewer",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Lint> {
    if !subject.is_postgres() && !subject.is_mysql() {
        return Vec::new();
    }
    let small = subject.columns().filter(|(table, column)| {
        let is_key = table.primary_key == [column.name.clone()];
        let name = column.data_type.split('(').next().unwrap_or_default();
        let is_small = ["int", "integer", "mediumint", "smallint", "tinyint"].contains(&name);
        is_key && is_small && (column.is_counted || column.is_identity)
    });
    small
        .map(|(table, column)| {
            let rows = subject.usage.table(&table.name).and_then(|found| found.rows);
            let percent = rows.map_or(0, |rows| rows.saturating_mul(100) / LARGEST);
            Lint {
                rule: RULE.name,
                severity: if percent >= URGENT_PERCENT { Severity::Warning } else { Severity::Note },
                kind: ObjectKind::Column,
                owner: table.name.clone(),
                name: format!("{}.{}", table.name, column.name),
                message: format!(
                    "{}.{} numbers its rows{} with {}: when the numbers run out, no row can be added",
                    table.name,
                    column.name,
                    subject.rows(table),
                    column.data_type
                ),
                advice: format!("make {}.{} bigint while the table is small", table.name, column.name),
            }
        })
        .collect()
}

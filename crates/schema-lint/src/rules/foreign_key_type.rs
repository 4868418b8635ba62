//! Foreign keys with a type other than the referenced column's.

use schema::ObjectKind;
use schema::outline::{Column, ForeignKey, Table};

use super::Rule;
use crate::{Lint, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    name: "foreign-key-type",
    about: "a foreign key has another type than the column that it refers to",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Lint> {
    let keys = subject
        .tables()
        .flat_map(|table| table.foreign_keys.iter().map(move |key| (table, key)));
    keys.flat_map(|(table, key)| of_key(subject, table, key))
        .collect()
}

fn of_key(subject: &Subject<'_>, table: &Table, key: &ForeignKey) -> Vec<Lint> {
    let Some(other) = subject.table(&key.table) else {
        return Vec::new();
    };
    let names = match key.references.is_empty() {
        true => &other.primary_key,
        false => &key.references,
    };
    let pairs = key.columns.iter().zip(names);
    pairs
        .filter_map(|(here, there)| lint(table, column(table, here)?, other, column(other, there)?))
        .collect()
}

fn column<'a>(table: &'a Table, name: &str) -> Option<&'a Column> {
    table.columns.iter().find(|column| column.name == name)
}

/// Integers of different widths; servers refuse most of the rest.
fn lint(table: &Table, here: &Column, other: &Table, there: &Column) -> Option<Lint> {
    let width = |column: &Column| {
        let name = column.data_type.split('(').next().unwrap_or_default();
        let known = [
            "tinyint",
            "smallint",
            "mediumint",
            "int",
            "integer",
            "bigint",
        ];
        let place = known.iter().position(|known| *known == name)?;
        // `int` and `integer` are one.
        Some(place.min(3).max(place.saturating_sub(1)))
    };
    let (width_here, width_there) = (width(here)?, width(there)?);
    if width_here >= width_there {
        return None;
    }
    Some(Lint {
        rule: RULE.name,
        severity: Severity::Warning,
        kind: ObjectKind::Column,
        owner: table.name.clone(),
        name: format!("{}.{}", table.name, here.name),
        message: format!(
            "{}.{} is {}, and {}.{}, to which it refers, is {}: it cannot hold all that may be there one day",
            table.name, here.name, here.data_type, other.name, there.name, there.data_type
        ),
        advice: format!("make {}.{} {}", table.name, here.name, there.data_type),
    })
}

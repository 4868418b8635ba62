//! Indexes made redundant by another index or key.

use schema::ObjectKind;
use schema::outline::{Index, Table};

use super::Rule;
use crate::{Lint, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    name: "duplicate-index",
    about: "an index has the columns of another one, or the first of them",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Lint> {
    subject
        .tables()
        .flat_map(|table| of_table(subject, table))
        .collect()
}

/// What an index sorts by, and under which condition.
fn keys(index: &Index) -> (&str, &Option<String>, Vec<String>) {
    let items = index.items.iter();
    let items = items.map(|item| {
        let nulls = item.nulls.unwrap_or_default();
        let (class, length) = (item.class.as_deref(), item.length.as_deref());
        let name = item.column.as_ref().unwrap_or(&item.sql);
        format!("{name} {} {nulls} {class:?} {length:?}", item.is_descending)
    });
    (&index.method, &index.predicate, items.collect())
}

fn of_table(subject: &Subject<'_>, table: &Table) -> Vec<Lint> {
    let mut lints = Vec::new();
    for (place, index) in table.indexes.iter().enumerate() {
        let (method, predicate, items) = keys(index);
        let makes_needless = |(other_place, other): (usize, &Index)| {
            let (other_method, other_predicate, other_items) = keys(other);
            let is_prefix = other_items.starts_with(&items);
            let is_same = other_items.len() == items.len();
            let is_alike =
                method == other_method && predicate == other_predicate && index.include.is_empty();
            let is_kept = !index.is_unique || (is_same && other.is_unique);
            // Of two that are the same, the one that is unique or comes first stays.
            let is_second = is_same && index.is_unique == other.is_unique && place < other_place;
            place != other_place
                && is_alike
                && is_prefix
                && is_kept
                && !is_second
                && (method.is_empty() || is_same)
        };
        let mut others = table.indexes.iter().enumerate();
        let other = others
            .find(|other| makes_needless(*other))
            .map(|(_, other)| other.name.clone());
        let other = other.or_else(|| key(table, index));
        lints.extend(other.map(|other| lint(subject, table, index, &other)));
    }
    lints
}

/// Name of a primary key or unique constraint equivalent to the index.
fn key(table: &Table, index: &Index) -> Option<String> {
    let is_plain = |index: &Index| {
        let is_plain = index.items.iter().all(|item| {
            item.class.is_none()
                && item.length.is_none()
                && !item.is_descending
                && item.nulls.is_none()
        });
        is_plain && index.method.is_empty() && index.predicate.is_none() && index.include.is_empty()
    };
    let columns: Option<Vec<&String>> = index
        .items
        .iter()
        .map(|item| item.column.as_ref())
        .collect();
    let columns = columns.filter(|_| is_plain(index))?;
    let fits = |key: &Vec<String>| {
        let is_prefix = key.len() >= columns.len() && columns.iter().zip(key).all(|(a, b)| *a == b);
        is_prefix && (!index.is_unique || key.len() == columns.len())
    };
    if fits(&table.primary_key) {
        return Some("the primary key".to_owned());
    }
    let unique = table.uniques.iter().find(|unique| fits(&unique.columns));
    unique.map(|unique| format!("the unique constraint {}", unique.name))
}

fn lint(subject: &Subject<'_>, table: &Table, index: &Index, other: &str) -> Lint {
    Lint {
        rule: RULE.name,
        severity: Severity::Warning,
        kind: ObjectKind::Index,
        owner: table.name.clone(),
        name: index.name.clone(),
        message: format!(
            "whatever the index {} of {}{} finds, {other} finds as well: it only takes room and slows writing",
            index.name,
            table.name,
            subject.index_size(table, index)
        ),
        advice: format!("drop the index {}", index.name),
    }
}

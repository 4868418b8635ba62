//! Indexes not read by the server since counting began.

use schema::ObjectKind;

use super::Rule;
use crate::{Lint, Severity, Subject};

/// Younger counts say nothing about what runs once a week.
const DAYS_MIN: u64 = 7;

pub(super) const RULE: Rule = Rule {
    name: "unused-index",
    about: "the server has not read an index since it counts",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Lint> {
    let indexes = subject
        .tables()
        .flat_map(|table| table.indexes.iter().map(move |index| (table, index)));
    let since = match subject.usage.days {
        Some(days) => format!("in the {days} days that it counts"),
        None => "since it counts".to_owned(),
    };
    let is_young = subject.usage.days.is_none_or(|days| days < DAYS_MIN);
    let unread = indexes.filter(|(table, index)| {
        let found = subject.usage.index(&table.name, &index.name);
        // A unique index keeps rows apart, also when nobody reads it.
        !index.is_unique && found.and_then(|found| found.reads) == Some(0)
    });
    unread
        .map(|(table, index)| Lint {
            rule: RULE.name,
            severity: if is_young {
                Severity::Note
            } else {
                Severity::Warning
            },
            kind: ObjectKind::Index,
            owner: table.name.clone(),
            name: index.name.clone(),
            message: format!(
                "the server has not read the index {} of {}{} {since}",
                index.name,
                table.name,
                subject.index_size(table, index)
            ),
            advice: "see whether replicas or rare jobs read it, then drop it".to_owned(),
        })
        .collect()
}

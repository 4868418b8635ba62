//! Tables without a primary key.

use schema::ObjectKind;

use super::Rule;
use crate::{Lint, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    name: "missing-primary-key",
    about: "a table has no primary key",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Lint> {
    let bare = subject
        .tables()
        .filter(|table| table.primary_key.is_empty());
    bare.map(|table| Lint {
        rule: RULE.name,
        severity: Severity::Warning,
        kind: ObjectKind::Table,
        owner: table.name.clone(),
        name: table.name.clone(),
        message: format!(
            "{}{} has no primary key: no single row can be named, and replication looks through the whole table for each change",
            table.name,
            subject.rows(table)
        ),
        advice: "add a primary key: columns that are unique and not null, or a number of its own".to_owned(),
    })
    .collect()
}

//! PostgreSQL's `timestamp`, ambiguous as an instant.

use schema::ObjectKind;

use super::Rule;
use crate::{Lint, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    name: "timestamp-without-zone",
    about: "a column is a timestamp without time zone (PostgreSQL)",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Lint> {
    if !subject.is_postgres() {
        return Vec::new();
    }
    let is_bare = |data_type: &str| {
        data_type.starts_with("timestamp") && !data_type.ends_with("with time zone")
    };
    let columns = subject.columns().filter(|(_, column)| {
        is_bare(&column.data_type)
            || column.data_type.ends_with("without time zone")
                && column.data_type.starts_with("timestamp")
    });
    columns
        .map(|(table, column)| Lint {
            rule: RULE.name,
            // Rails' own default: it writes UTC.
            severity: Severity::Note,
            kind: ObjectKind::Column,
            owner: table.name.clone(),
            name: format!("{}.{}", table.name, column.name),
            message: format!(
                "{}.{} is a timestamp without time zone: the same value is another instant for clients in other zones",
                table.name, column.name
            ),
            advice: "make it timestamptz, or see that every client writes UTC".to_owned(),
        })
        .collect()
}

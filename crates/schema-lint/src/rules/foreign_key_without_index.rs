//! Foreign keys whose columns no index begins with. MySQL makes such an index itself.

use schema::ObjectKind;
use schema::outline::{ForeignKey, Table};

use super::Rule;
use crate::subject::{covers, leading};
use crate::{Lint, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    name: "foreign-key-without-index",
    about: "no index begins with the columns of a foreign key",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Lint> {
    if subject.is_mysql() {
        return Vec::new();
    }
    let keys = subject
        .tables()
        .flat_map(|table| table.foreign_keys.iter().map(move |key| (table, key)));
    let bare = keys.filter(|(table, key)| !has_index(table, &key.columns));
    bare.map(|(table, key)| lint(subject, table, key)).collect()
}

fn has_index(table: &Table, columns: &[String]) -> bool {
    let keys = table.uniques.iter().map(|unique| &unique.columns);
    let mut keys = keys.chain([&table.primary_key]);
    keys.any(|key| covers(&key.iter().map(String::as_str).collect::<Vec<_>>(), columns))
        || table
            .indexes
            .iter()
            .any(|index| covers(&leading(index), columns))
}

fn lint(subject: &Subject<'_>, table: &Table, key: &ForeignKey) -> Lint {
    let columns = key.columns.join(", ");
    Lint {
        rule: RULE.name,
        severity: Severity::Warning,
        kind: ObjectKind::Column,
        owner: table.name.clone(),
        name: format!("{}.{}", table.name, key.columns.join("_")),
        message: format!(
            "no index begins with {columns} of {}{}, which refers to {}: each delete there reads this whole table, and so does each join",
            table.name,
            subject.rows(table),
            key.table
        ),
        advice: format!("create an index on {} ({columns})", table.name),
    }
}

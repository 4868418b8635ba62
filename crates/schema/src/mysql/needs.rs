//! Prerequisites of a statement among the possibly held-back ones: the statement is held back
//! together with a prerequisite.

use super::model::{ForeignKey, Name, Table};
use crate::{Statement, Verb};

/// Statements preparing the columns of a foreign key, on both sides.
pub(super) fn of_key(statements: &[Statement], table: &Table, key: &ForeignKey) -> Vec<usize> {
    let is_column = |owner: &Name, columns: &[Name], name: &str| {
        let column = name.strip_prefix(owner.text.as_str());
        let column = column.and_then(|rest| rest.strip_prefix('.'));
        column.is_some_and(|column| columns.iter().any(|known| known.text == column))
    };
    let is_needed = |statement: &Statement| match statement.object.kind {
        "column" => {
            let name = &statement.object.name;
            is_column(&table.name, &key.columns, name)
                || is_column(&key.table, &key.references, name)
        }
        _ => is_of(
            statement,
            &[table.name.text.as_str(), key.table.text.as_str()],
        ),
    };
    places(statements, &is_needed)
}

/// Statements creating or changing any of the tables and views.
pub(super) fn of_tables(statements: &[Statement], names: &[&str]) -> Vec<usize> {
    places(statements, &|statement| is_of(statement, names))
}

fn is_of(statement: &Statement, names: &[&str]) -> bool {
    let object = &statement.object;
    matches!(object.kind, "table" | "view")
        && matches!(statement.verb, Verb::Create | Verb::Alter)
        && names
            .iter()
            .any(|name| name.eq_ignore_ascii_case(&object.name))
}

fn places(statements: &[Statement], is_needed: &dyn Fn(&Statement) -> bool) -> Vec<usize> {
    let can_be_held = |statement: &Statement| {
        // A column that changes by itself does so since it may have to wait.
        let is_alone = statement.verb == Verb::Alter && statement.object.kind == "column";
        statement.is_destructive() || !statement.needs.is_empty() || is_alone
    };
    let needed = statements.iter().enumerate();
    needed
        .filter(|(_, statement)| is_needed(statement) && can_be_held(statement))
        .map(|(place, _)| place)
        .collect()
}

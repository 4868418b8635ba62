//! Foreign keys, checks, exclusion and unique constraints.

use schema::SyntaxError;

use super::File;
use super::options::{Options, UNBALANCED, is_balanced, words};
use super::quote::Spelling;
use crate::names;
use crate::ruby::{Call, Kind, Value};

/// A constraint in SQL.
pub(super) struct Constraint {
    sql: String,
    /// Whether existing rows are not validated.
    is_not_valid: bool,
}

impl Constraint {
    /// In `CREATE TABLE`.
    pub(super) fn inside(self) -> String {
        self.sql
    }

    /// A server takes what stands in `CREATE TABLE` for valid.
    pub(super) fn has_to_be_added(&self) -> bool {
        self.is_not_valid
    }

    /// Statement adding the constraint to an existing table.
    pub(super) fn added(&self, spelling: Spelling, table: &str) -> String {
        let not_valid = if self.is_not_valid { " NOT VALID" } else { "" };
        format!(
            "ALTER TABLE {} ADD {}{not_valid}",
            spelling.table(table),
            self.sql
        )
    }
}

/// Statements of `add_foreign_key` and similar calls.
pub(super) fn outside(file: &File<'_>, call: &Call) -> Result<Vec<String>, SyntaxError> {
    let table = file.word(call, 0)?;
    let constraint = of(file, &table, call, &call.arguments[1..])?;
    Ok(vec![constraint.added(file.spelling, &table)])
}

/// A constraint as a part of `CREATE TABLE`.
pub(super) fn named(
    file: &File<'_>,
    table: &str,
    call: &Call,
    arguments: &[Value],
) -> Result<String, SyntaxError> {
    of(file, table, call, arguments).map(Constraint::inside)
}

/// A table's constraint, from the creating call.
pub(super) fn of(
    file: &File<'_>,
    table: &str,
    call: &Call,
    arguments: &[Value],
) -> Result<Constraint, SyntaxError> {
    let options = file.options(call);
    let Some(first) = arguments.first() else {
        return file.fail(call.at, &format!("`{}` needs more arguments", call.name));
    };
    let kind = call.name.trim_start_matches("add_");
    let is_everywhere = matches!(kind, "foreign_key" | "check_constraint");
    if !is_everywhere && !file.spelling.is_postgres() {
        return file.fail(call.at, "only PostgreSQL has such a constraint");
    }
    let constraint = match kind {
        "foreign_key" => {
            let to = words(file.source, first)?.concat();
            foreign(file, table, &to, None, &options)?
        }
        "check_constraint" => check(file, table, first, &options)?,
        "exclusion_constraint" => exclusion(file, table, first, &options)?,
        _ => unique(file, table, first, &options)?,
    };
    options.ignore(&["if_not_exists"]);
    options.finish()?;
    Ok(constraint)
}

/// A foreign key; `column` is the default column.
pub(super) fn foreign(
    file: &File<'_>,
    table: &str,
    to: &str,
    column: Option<&String>,
    options: &Options<'_>,
) -> Result<Constraint, SyntaxError> {
    let spelling = file.spelling;
    let keys = options.words("primary_key")?;
    let keys = keys.unwrap_or(vec!["id".to_owned()]);
    let columns = match (options.words("column")?, column) {
        (Some(columns), _) => columns,
        (None, Some(column)) => vec![column.clone()],
        (None, None) if keys.len() == 1 => vec![names::reference_column(to, "id")],
        (None, None) => {
            let column = |key: &String| names::reference_column(to, key);
            keys.iter().map(column).collect()
        }
    };
    let name = options.word("name")?;
    let name = name.unwrap_or_else(|| names::constraint("fk", table, &columns.join("_and_"), "fk"));
    let mut sql = format!(
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({})",
        spelling.name(&name),
        spelling.names(&columns),
        spelling.table(to),
        spelling.names(&keys)
    );
    for (option, word) in [("on_delete", "DELETE"), ("on_update", "UPDATE")] {
        if let Some(value) = options.value(option) {
            let action = match value.word() {
                Some("cascade") => "CASCADE",
                Some("nullify") => "SET NULL",
                Some("restrict") => "RESTRICT",
                _ => {
                    let message = format!("`{option}:` takes :cascade, :nullify or :restrict");
                    return file.fail(value.at, &message);
                }
            };
            sql.push_str(&format!(" ON {word} {action}"));
        }
    }
    let deferral = file.deferral(options)?;
    if !spelling.is_mysql() {
        sql.push_str(deferral);
    }
    options.ignore(&["to_table", "if_not_exists"]);
    Ok(Constraint {
        sql,
        is_not_valid: is_not_valid(file, options),
    })
}

fn is_not_valid(file: &File<'_>, options: &Options<'_>) -> bool {
    let validate = options.given("validate");
    file.spelling.is_postgres()
        && matches!(validate.map(|value| &value.kind), Some(Kind::Bool(false)))
}

fn expression(file: &File<'_>, value: &Value) -> Result<String, SyntaxError> {
    match value.word() {
        Some(text) if is_balanced(text) => Ok(text.to_owned()),
        Some(_) => file.fail(value.at, UNBALANCED),
        None => file.fail(value.at, "expected an expression, as a string"),
    }
}

fn check(
    file: &File<'_>,
    table: &str,
    value: &Value,
    options: &Options<'_>,
) -> Result<Constraint, SyntaxError> {
    let expression = expression(file, value)?;
    let name = options.word("name")?;
    let name = name.unwrap_or_else(|| names::constraint("chk", table, &expression, "chk"));
    Ok(Constraint {
        sql: format!(
            "CONSTRAINT {} CHECK ({expression})",
            file.spelling.name(&name)
        ),
        is_not_valid: is_not_valid(file, options),
    })
}

fn exclusion(
    file: &File<'_>,
    table: &str,
    value: &Value,
    options: &Options<'_>,
) -> Result<Constraint, SyntaxError> {
    let expression = expression(file, value)?;
    let name = options.word("name")?;
    let name = name.unwrap_or_else(|| names::constraint("excl", table, &expression, "excl"));
    let mut sql = format!("CONSTRAINT {} EXCLUDE", file.spelling.name(&name));
    sql.extend(
        options
            .word("using")?
            .map(|using| format!(" USING {using}")),
    );
    sql.push_str(&format!(" ({expression})"));
    sql.extend(
        options
            .expression("where")?
            .map(|predicate| format!(" WHERE ({predicate})")),
    );
    sql.push_str(file.deferral(options)?);
    Ok(Constraint {
        sql,
        is_not_valid: false,
    })
}

fn unique(
    file: &File<'_>,
    table: &str,
    value: &Value,
    options: &Options<'_>,
) -> Result<Constraint, SyntaxError> {
    let columns = words(file.source, value)?;
    let name = options.word("name")?;
    let name =
        name.unwrap_or_else(|| names::constraint("uniq", table, &columns.join("_and_"), "unique"));
    let nulls = match options.flag("nulls_not_distinct")? {
        true => " NULLS NOT DISTINCT",
        false => "",
    };
    let sql = format!(
        "CONSTRAINT {} UNIQUE{nulls} ({}){}",
        file.spelling.name(&name),
        file.spelling.names(&columns),
        file.deferral(options)?
    );
    Ok(Constraint {
        sql,
        is_not_valid: false,
    })
}

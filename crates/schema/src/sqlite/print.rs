//! Parts of the model as SQL.

use super::diff::TableDiff;
use super::model::{Column, Index, Name, Table, quoted};
use crate::PlanOptions;

/// Spelling of names in generated statements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printer {
    keeps_quoting: bool,
}

impl Printer {
    pub(super) fn new(options: &PlanOptions) -> Printer {
        Printer {
            keeps_quoting: options.keep_quoting,
        }
    }

    /// A name, as written or in quotes.
    pub(super) fn name(self, name: &Name) -> String {
        match self.keeps_quoting {
            true => name.written.clone(),
            false => quoted(&name.text),
        }
    }

    /// Definition of a column.
    pub(super) fn column(self, column: &Column) -> String {
        named_column(column, &self.name(&column.name))
    }

    /// Prints an index from the model.
    pub(super) fn index(self, index: &Index) -> String {
        let columns = index.columns.iter().map(|column| match &column.column {
            Some(name) => format!("{} {}", self.name(name), column.text)
                .trim_end()
                .to_owned(),
            None => column.text.clone(),
        });
        let condition = index
            .condition
            .as_ref()
            .map(|(_, text)| format!(" WHERE {text}"));
        format!(
            "CREATE {}INDEX {} ON {} ({}){}",
            if index.is_unique { "UNIQUE " } else { "" },
            self.name(&index.name),
            self.name(&index.table),
            columns.collect::<Vec<_>>().join(", "),
            condition.unwrap_or_default()
        )
    }
}

/// The table as written, or assembled from the model after changes.
pub(super) fn table(table: &Table) -> String {
    match &table.text {
        Some(text) => text.clone(),
        None => assembled(table, &table.name.written, &[]),
    }
}

/// The wanted table under another name, with some columns more.
pub(super) fn table_as(table: &Table, name: &str, kept: &[String]) -> String {
    match &table.text {
        Some(text) if kept.is_empty() => format!(
            "CREATE TABLE {} {}",
            quoted(name),
            &text[table.body_start..]
        ),
        _ => assembled(table, &quoted(name), kept),
    }
}

fn assembled(table: &Table, name: &str, kept: &[String]) -> String {
    let columns = table.columns.iter().map(column);
    let lines = columns
        .chain(kept.iter().cloned())
        .chain(table.constraint_texts.iter().cloned());
    let body = lines
        .map(|line| format!("  {line}"))
        .collect::<Vec<_>>()
        .join(",\n");
    let strict = table.is_strict.then_some("STRICT");
    let rowid = table.is_without_rowid.then_some("WITHOUT ROWID");
    let options: Vec<&str> = strict.into_iter().chain(rowid).collect();
    let space = if options.is_empty() { "" } else { " " };
    format!(
        "CREATE TABLE {name} (\n{body}\n){space}{}",
        options.join(", ")
    )
}

/// Definition of a column with the name as written.
fn column(column: &Column) -> String {
    named_column(column, &column.name.written)
}

/// Definition of a column with the given spelling of the name.
fn named_column(column: &Column, name: &str) -> String {
    format!("{name} {}", one_line(&column.definition))
        .trim_end()
        .to_owned()
}

/// Without line breaks and comments.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut end = 0;
    for token in super::lexer::lex(text).tokens {
        if token.start() > end && !line.is_empty() {
            line.push(' ');
        }
        line.push_str(token.text(text));
        end = token.end();
    }
    line
}

/// Definition of a column present only until dropped, without parts invalid in the wanted table.
pub(super) fn kept_column(column: &Column, change: &TableDiff<'_>) -> String {
    let data_type = match column.data_type.join(" ") {
        _ if change.to.is_strict => "any".to_owned(),
        // Values that look like numbers would become numbers.
        any if any == "any" && change.from.is_strict => "blob".to_owned(),
        data_type => data_type,
    };
    let mut words = vec![quoted(&column.name.text), data_type];
    if column.not_null.is_some() {
        words.push("NOT NULL".to_owned());
    }
    if let Some(default) = &column.default {
        words.push(format!("DEFAULT ({})", default.join(" ")));
    }
    if let Some(collation) = &column.collation {
        words.push(format!("COLLATE {}", quoted(collation)));
    }
    if let Some(generated) = &column.generated {
        let how = if generated.is_stored {
            "STORED"
        } else {
            "VIRTUAL"
        };
        words.push(format!("AS ({}) {how}", one_line(&generated.text)));
    }
    let mut dropped = change.dropped.iter();
    let is_alone =
        !dropped.any(|other| other.name != column.name && super::diff::needs(column, other));
    let checks = column.inline.checks.iter().filter(|_| is_alone);
    words.extend(checks.map(|check| format!("CHECK ({})", check.text)));
    words.join(" ")
}

//! Foreign tables: one object, with settings for the options of columns.

use std::collections::BTreeMap;

use super::norm::{listed, norm};
use super::options::{Change, options_changed, options_of};
use super::reader::{Identity, Reader, find_word, relation};
use super::settings::of_table;
use super::{Kind, Named, Setting, Step, object};
use crate::postgres::locks::ACCESS_EXCLUSIVE;
use crate::postgres::model::Kept;
use crate::postgres::name::quote;
use crate::{Hazard, ObjectKind, Verb};

/// Reads the rest of `CREATE FOREIGN TABLE`: the table, and a setting for the options of each
/// column, as in dumps.
pub(super) fn foreign_table(
    kind: &'static Kind,
    identity: Identity,
    reader: &mut Reader<'_>,
) -> Vec<Step> {
    let Some(inside) = reader.parens() else {
        let sql = reader.text().to_owned();
        return vec![Step::made(object(kind, identity, sql))];
    };
    let (mut items, mut settings) = (Vec::new(), Vec::new());
    for item in listed(inside) {
        let (text, options) = without_options(item);
        items.push(text);
        let column = Reader::new(item, "").name().and_then(|mut name| name.pop());
        if let Some((column, options)) = column.zip(options) {
            settings.extend(column_options(&identity, &quote(&column), options));
        }
    }
    let (head, tail) = (&identity.text, reader.rest());
    let sql = format!("CREATE FOREIGN TABLE {head} ({}) {tail}", items.join(", "));
    let mut steps = vec![Step::made(object(kind, identity, sql))];
    steps.extend(settings);
    steps
}

/// A column's definition without options, and the list of options.
fn without_options(item: &str) -> (String, Option<&str>) {
    let word = "OPTIONS";
    let start = item.find(char::is_whitespace).unwrap_or(item.len());
    let Some(at) = find_word(&item[start..], word).map(|at| start + at) else {
        return (item.to_owned(), None);
    };
    let mut reader = Reader::new(item, "");
    reader.go(at + word.len());
    match reader.parens() {
        Some(options) => {
            let text = format!("{} {}", item[..at].trim(), reader.rest());
            (text.trim().to_owned(), Some(options))
        }
        None => (item.to_owned(), None),
    }
}

fn column_options(table: &Identity, column: &str, options: &str) -> Option<Step> {
    let names: Option<Vec<String>> = listed(options)
        .into_iter()
        .map(|option| Reader::new(option, "").name()?.pop())
        .collect();
    let names: Vec<String> = names?
        .iter()
        .map(|name| format!("DROP {}", quote(name)))
        .collect();
    let head = format!(
        "ALTER FOREIGN TABLE ONLY {} ALTER COLUMN {column} OPTIONS",
        table.text
    );
    let list: Vec<&str> = listed(options);
    let setting = Setting {
        kind: ObjectKind::ForeignColumnOptions,
        of: Some((ObjectKind::ForeignTable, table.text.clone())),
        on: None,
        name: format!("{}.{column}", table.text),
        base: &table.base,
        schema: table.schema.clone(),
        sql: format!("{head} ({})", list.join(", ")),
        undo: format!("{head} ({})", names.join(", ")),
    };
    setting.kept().map(Step::made)
}

/// Reads the rest of `ALTER FOREIGN TABLE`.
pub(super) fn of_foreign_table(reader: &mut Reader<'_>) -> Option<Vec<Step>> {
    let start = reader.at();
    let _ = reader.words("IF EXISTS");
    let _ = reader.word("ONLY");
    let table = reader.in_schema()?;
    if reader.words("OWNER TO") {
        let role = crate::postgres::name::fold(reader.rest());
        let named = Named("FOREIGN TABLE", table.text);
        return Some(vec![Step::Owned(named, role)]);
    }
    if reader.word("ALTER") {
        let _ = reader.word("COLUMN");
        let column = quote(&reader.name()?.pop()?);
        if reader.word("OPTIONS") {
            let options = reader.parens()?;
            return column_options(&table, &column, options).map(|step| vec![step]);
        }
    }
    reader.go(start);
    of_table(reader)
}

/// A foreign table as a partition, after `ATTACH PARTITION`.
pub(super) fn partition(parent: &Identity, only: &str, reader: &mut Reader<'_>) -> Option<Step> {
    let part = reader.in_schema()?;
    let (head, name) = (format!("ALTER TABLE {only}{}", parent.text), &part.text);
    let setting = Setting {
        kind: ObjectKind::ForeignPartition,
        of: Some((ObjectKind::ForeignTable, name.clone())),
        on: Some(relation(parent)),
        name: name.clone(),
        base: &part.base,
        schema: part.schema.clone(),
        sql: format!("{head} ATTACH PARTITION {name} {}", reader.rest()),
        undo: format!("{head} DETACH PARTITION {name}"),
    };
    setting.kept().map(Step::made)
}

/// Changes of a column's options.
pub(super) fn column_options_changed(from: &Kept, to: &Kept) -> Option<Vec<Change>> {
    let ((head, had), (_, wanted)) = (options_of(&from.sql)?, options_of(&to.sql)?);
    let list = options_changed(&had, &wanted);
    Some(vec![Change::plain(format!("{head} OPTIONS ({list})"))])
}

/// What a definition says.
struct Parts<'t> {
    /// Columns with type, default and the rest.
    columns: Vec<(String, &'t str)>,
    /// Constraints of the table in normal form.
    constraints: Vec<String>,
    /// What follows, without the options.
    tail: String,
    options: BTreeMap<String, String>,
}

impl<'t> Parts<'t> {
    fn of(sql: &'t str) -> Option<Parts<'t>> {
        let mut reader = Reader::new(sql, "");
        reader.words("CREATE FOREIGN TABLE").then_some(())?;
        let _ = reader.words("IF NOT EXISTS");
        let _ = reader.name()?;
        let inside = reader.parens()?;
        let (tail, options) = options_of(reader.rest())?;
        let (mut columns, mut constraints) = (Vec::new(), Vec::new());
        for item in listed(inside).into_iter().filter(|item| !item.is_empty()) {
            let mut reader = Reader::new(item, "");
            let first = ["CONSTRAINT", "CHECK", "LIKE", "NOT"];
            if first
                .into_iter()
                .any(|word| Reader::new(item, "").word(word))
            {
                constraints.push(norm(item));
                continue;
            }
            let name = reader.name()?.pop()?;
            columns.push((name, reader.rest()));
        }
        Some(Parts {
            columns,
            constraints,
            tail: norm(tail),
            options,
        })
    }
}

/// What is said of a column: type with collation, default, and whether it may be null. `None` with
/// anything else.
fn said(rest: &str) -> Option<(&str, Option<&str>, bool)> {
    let others = ["GENERATED", "CHECK", "CONSTRAINT"];
    if others
        .into_iter()
        .any(|word| find_word(rest, word).is_some())
    {
        return None;
    }
    let (default, not) = (find_word(rest, "DEFAULT"), find_word(rest, "NOT"));
    let ends = [default, not, Some(rest.len())];
    let end = |from: usize| {
        let mut behind: Vec<usize> = ends.into_iter().flatten().filter(|at| *at > from).collect();
        behind.sort_unstable();
        behind.first().copied().unwrap_or(rest.len())
    };
    let first = ends.into_iter().flatten().min().unwrap_or(rest.len());
    let value = default.map(|at| rest[at + "DEFAULT".len()..end(at)].trim());
    Some((rest[..first].trim(), value, not.is_some()))
}

/// What is said to the server where a column's definition becomes another. `None` where that takes
/// another column.
fn column_actions(before: &str, after: &str) -> Option<Vec<String>> {
    let mut actions = Vec::new();
    if norm(before) == norm(after) {
        return Some(actions);
    }
    let ((old_type, old_value, was_not), (data_type, value, is_not)) =
        (said(before)?, said(after)?);
    if norm(old_type) != norm(data_type) {
        actions.push(format!("TYPE {data_type}"));
    }
    if old_value.map(norm) != value.map(norm) {
        actions.push(match value {
            Some(value) => format!("SET DEFAULT {value}"),
            None => "DROP DEFAULT".to_owned(),
        });
    }
    if was_not != is_not {
        let word = if is_not { "SET" } else { "DROP" };
        actions.push(format!("{word} NOT NULL"));
    }
    Some(actions)
}

/// What the server changes of a foreign table: columns and options. Rows are the other server's.
pub(super) fn changes(from: &Kept, to: &Kept, shown: &str) -> Option<Vec<Change>> {
    let (had, wanted) = (Parts::of(&from.sql)?, Parts::of(&to.sql)?);
    let names = |parts: &Parts<'_>, others: &Parts<'_>| -> Vec<String> {
        let names = parts.columns.iter().map(|(name, _)| name);
        let stays = |name: &&String| others.columns.iter().any(|(other, _)| other == *name);
        names.filter(stays).cloned().collect()
    };
    let stays = names(&had, &wanted);
    let first = wanted.columns.iter().map(|(name, _)| name);
    let is_in_order = first.take(stays.len()).eq(&stays);
    let is_alike = had.tail == wanted.tail && had.constraints == wanted.constraints;
    (is_in_order && is_alike).then_some(())?;
    let head = format!("ALTER FOREIGN TABLE {}", to.name);
    let mut changes = Vec::new();
    let mut push = |verb, name: &str, action: String, hazards: Vec<Hazard>| {
        changes.push(Change {
            sql: format!("{head} {action}"),
            hazards: [vec![ACCESS_EXCLUSIVE], hazards].concat(),
            attribute: Some((verb, name.to_owned())),
        });
    };
    for (name, _) in had.columns.iter().filter(|(name, _)| !stays.contains(name)) {
        let hazard = Hazard::Drop(format!("column {shown}.{name}"));
        push(
            Verb::Drop,
            name,
            format!("DROP COLUMN {}", quote(name)),
            vec![hazard],
        );
    }
    for (name, rest) in &wanted.columns {
        let quoted = quote(name);
        let Some((_, before)) = had.columns.iter().find(|(other, _)| other == name) else {
            let action = format!("ADD COLUMN {quoted} {rest}");
            push(Verb::Add, name, action, Vec::new());
            continue;
        };
        for action in column_actions(before, rest)? {
            let action = format!("ALTER COLUMN {quoted} {action}");
            push(Verb::Alter, name, action, Vec::new());
        }
    }
    let list = options_changed(&had.options, &wanted.options);
    if !list.is_empty() {
        changes.push(Change::plain(format!("{head} OPTIONS ({list})")));
    }
    Some(changes)
}

//! Tables and schemas of publications.

use super::norm::listed;
use super::reader::{Identity, Reader, find_word, relation};
use super::{Kind, Setting, Step, object};
use crate::ObjectKind;
use crate::postgres::model::Kept;
use crate::postgres::name::quote;

/// Reads the rest of `CREATE PUBLICATION`: the object, and a setting for each table and schema.
pub(super) fn publication(
    kind: &'static Kind,
    identity: Identity,
    reader: &mut Reader<'_>,
) -> Vec<Step> {
    let text = reader.text();
    let made = |identity, sql| Step::made(object(kind, identity, sql));
    let head = text[..reader.at()].trim_end().to_owned();
    if !reader.word("FOR") || reader.words("ALL TABLES") {
        return vec![made(identity, text.to_owned())];
    }
    let rest = reader.rest();
    let end = find_word(rest, "WITH").unwrap_or(rest.len());
    let (items, options) = rest.split_at(end);
    let gap = if options.is_empty() { "" } else { " " };
    let settings = published(&identity, items.trim(), reader.schema);
    let mut steps = vec![made(identity, format!("{head}{gap}{options}"))];
    steps.extend(settings.into_iter().map(Step::made));
    steps
}

/// Reads the rest of `ALTER PUBLICATION`.
pub(super) fn of_publication(identity: &Identity, reader: &mut Reader<'_>) -> Option<Vec<Step>> {
    let is_added = reader.word("ADD");
    if !is_added && !reader.word("DROP") {
        return None;
    }
    let settings = published(identity, reader.rest(), reader.schema).into_iter();
    let step = |kept: Kept| match is_added {
        true => Step::made(kept),
        false => Step::Unset((kept.kind.kind, kept.name)),
    };
    Some(settings.map(step).collect())
}

/// Tables and schemas of a publication, as listed: `TABLE a, b, TABLES IN SCHEMA s`.
fn published(publication: &Identity, items: &str, schema: &str) -> Vec<Kept> {
    let mut kept = Vec::new();
    let mut is_schema = false;
    for item in listed(items) {
        let mut reader = Reader::new(item, schema);
        if reader.words("TABLES IN SCHEMA") {
            is_schema = true;
        } else if reader.word("TABLE") {
            is_schema = false;
        }
        let found = match is_schema {
            true => published_schema(publication, &mut reader),
            false => published_table(publication, &mut reader),
        };
        kept.extend(found);
    }
    kept
}

fn published_schema(publication: &Identity, reader: &mut Reader<'_>) -> Option<Kept> {
    let schema = reader.name()?.pop()?;
    let (name, quoted) = (&publication.text, quote(&schema));
    let setting = Setting {
        kind: ObjectKind::PublicationSchema,
        of: Some((ObjectKind::Publication, name.clone())),
        on: None,
        name: format!("{name} ON {quoted}"),
        base: &publication.base,
        schema: None,
        sql: format!("ALTER PUBLICATION {name} ADD TABLES IN SCHEMA {quoted}"),
        undo: format!("ALTER PUBLICATION {name} DROP TABLES IN SCHEMA {quoted}"),
    };
    setting.kept()
}

fn published_table(publication: &Identity, reader: &mut Reader<'_>) -> Option<Kept> {
    let only = if reader.word("ONLY") { "ONLY " } else { "" };
    let table = reader.in_schema()?;
    let rest = reader.rest().trim_start_matches('*').trim();
    let gap = if rest.is_empty() { "" } else { " " };
    let (name, quoted) = (&publication.text, &table.text);
    let setting = Setting {
        kind: ObjectKind::PublicationTable,
        of: Some((ObjectKind::Publication, name.clone())),
        on: Some(relation(&table)),
        name: format!("{name} ON {quoted}"),
        base: &publication.base,
        sql: format!("ALTER PUBLICATION {name} ADD TABLE {only}{quoted}{gap}{rest}"),
        undo: format!("ALTER PUBLICATION {name} DROP TABLE {quoted}"),
        schema: table.schema,
    };
    setting.kept()
}

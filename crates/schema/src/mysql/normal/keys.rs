//! Keys: names that servers give, indexes that foreign keys imply.

use super::Rules;
use crate::mysql::model::{ForeignKey, Index, IndexKind, Key, Name, Part, Table};

/// Names those that have none after their first column, as servers do.
pub(super) fn name(table: &mut Table) {
    for at in 0..table.indexes.len() {
        let index = &table.indexes[at];
        let name = match index.kind {
            IndexKind::Primary => "PRIMARY".to_owned(),
            _ if !index.name.text.is_empty() => continue,
            _ => free_name(&table.indexes, &first_part(index)),
        };
        table.indexes[at].name = Name::quoted(name);
    }
}

fn first_part(index: &Index) -> String {
    match index.parts.first().map(|part| &part.key) {
        Some(Key::Column(name)) => name.text.clone(),
        _ => "functional_index".to_owned(),
    }
}

fn free_name(indexes: &[Index], base: &str) -> String {
    let is_taken = |name: &str| {
        indexes
            .iter()
            .any(|index| index.name.text.eq_ignore_ascii_case(name))
    };
    if !is_taken(base) && !base.eq_ignore_ascii_case("PRIMARY") {
        return base.to_owned();
    }
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    let mut free = numbered.filter(|name| !is_taken(name));
    free.next().unwrap_or_default()
}

/// Adds the indexes that servers make for foreign keys, and takes away those that are needed no
/// more.
pub(super) fn imply(table: &mut Table) {
    table.indexes.retain(|index| !index.is_implied);
    let mut implied: Vec<Index> = Vec::new();
    for key in &table.foreign_keys {
        let index = of_key(key);
        let is_covered = |other: &Index| other.covers(&key.columns);
        // Of two that begin alike the longer one stays, of two that are equal the later one.
        if table.indexes.iter().any(is_covered)
            || implied
                .iter()
                .any(|other| is_covered(other) && other.parts.len() > index.parts.len())
        {
            continue;
        }
        implied.retain(|other| !index.covers(&columns(other)));
        implied.push(index);
    }
    for mut index in implied {
        if index.name.text.is_empty() {
            index.name = Name::quoted(free_name(&table.indexes, &first_part(&index)));
        }
        table.indexes.push(index);
    }
    let has_keys = table
        .options
        .engine
        .as_deref()
        .is_none_or(|engine| engine == "innodb");
    if !has_keys {
        table.foreign_keys.clear();
        table
            .indexes
            .iter_mut()
            .for_each(|index| index.is_implied = false);
    }
}

fn columns(index: &Index) -> Vec<Name> {
    let names = index.parts.iter().filter_map(|part| match &part.key {
        Key::Column(name) => Some(name.clone()),
        Key::Expr(_) => None,
    });
    names.collect()
}

fn of_key(key: &ForeignKey) -> Index {
    let name = key.name.as_ref().map(|name| name.text.clone());
    let name = name.or_else(|| key.index.clone()).unwrap_or_default();
    let parts = key.columns.iter().map(|column| Part {
        key: Key::Column(column.clone()),
        length: None,
        is_descending: false,
        is_period: false,
    });
    Index {
        name: Name::quoted(name),
        word: "KEY",
        parts: parts.collect(),
        is_implied: true,
        ..Index::default()
    }
}

/// Fills in what is compared of indexes.
pub(super) fn norms(table: &mut Table, rules: &Rules) {
    let norms: Vec<String> = table
        .indexes
        .iter()
        .map(|index| norm(table, index, rules))
        .collect();
    for (index, norm) in table.indexes.iter_mut().zip(norms) {
        index.norm = norm;
    }
}

fn norm(table: &Table, index: &Index, rules: &Rules) -> String {
    let is_tree = matches!(
        index.kind,
        IndexKind::Primary | IndexKind::Unique | IndexKind::Plain
    );
    let parts = index.parts.iter().map(|part| {
        let mut text = match &part.key {
            Key::Column(name) => name.text.to_lowercase(),
            Key::Expr(expr) => format!("({})", expr.norm),
        };
        if let Some(length) = part
            .length
            .as_ref()
            .filter(|length| is_tree && !is_whole(table, part, length))
        {
            text = format!("{text}({length})");
        }
        if part.is_descending && is_tree {
            text.push_str(" desc");
        }
        if part.is_period {
            text.push_str(" without overlaps");
        }
        text
    });
    let parts: Vec<String> = parts.collect();
    let using = index
        .using
        .as_deref()
        .filter(|using| rules.is_mariadb && *using == "HASH");
    let mut text = format!("{:?} ({})", index.kind, parts.join(", "));
    for word in [using, index.parser.as_deref(), index.comment.as_deref()]
        .into_iter()
        .flatten()
    {
        text = format!("{text} {word}");
    }
    for other in &index.others {
        text = format!("{text} {other}");
    }
    if index.is_invisible {
        text.push_str(" invisible");
    }
    text
}

/// A prefix of the whole length is none.
fn is_whole(table: &Table, part: &Part, length: &str) -> bool {
    let mut columns = table
        .columns
        .iter()
        .filter(|column| part.is_of(&column.name));
    columns.any(|column| {
        column
            .data_type
            .arguments
            .first()
            .is_some_and(|whole| whole == length)
    })
}

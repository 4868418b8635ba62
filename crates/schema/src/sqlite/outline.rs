//! SQLite's schema as an outline.

use super::Schema;
use super::expr::Pieces;
use super::model::{Column, ForeignKey, Index, IndexColumn, Key, Table};
use crate::Object;
use crate::outline::{self, Deferral, Outline};

impl Schema {
    /// See [`crate::Schema::outline`].
    pub(crate) fn outline(&self) -> Outline {
        let others = self.wholes.iter().map(|whole| Object {
            kind: whole.kind.object_kind(),
            name: whole.name.text.clone(),
        });
        let mut outline = Outline {
            tables: self.tables.iter().map(table).collect(),
            others: others.collect(),
            ..Outline::default()
        };
        let places: std::collections::HashMap<String, usize> = self
            .tables
            .iter()
            .enumerate()
            .map(|(place, table)| (table.name.key(), place))
            .collect();
        for each in &self.indexes {
            if let Some(place) = places.get(&each.table.key()) {
                outline.tables[*place].indexes.push(index(each));
            }
        }
        for table in &mut outline.tables {
            for key in &mut table.foreign_keys {
                if let Some(place) = places.get(&key.table) {
                    key.table.clone_from(&self.tables[*place].name.text);
                }
            }
        }
        outline
    }
}

fn joined(pieces: &Pieces) -> String {
    pieces.join(" ")
}

/// A default, with parentheses around an expression.
fn default(pieces: &Pieces) -> String {
    let is_plain =
        pieces.len() == 1 || (pieces.len() == 2 && matches!(pieces[0].as_str(), "-" | "+"));
    match is_plain {
        true => pieces.concat(),
        false => format!("({})", joined(pieces)),
    }
}

/// A type with tight parentheses: `varchar(10)`.
fn type_text(pieces: &Pieces) -> String {
    let mut text = joined(pieces);
    for (loose, close) in [(" ( ", "("), (" )", ")"), (" , ", ",")] {
        text = text.replace(loose, close);
    }
    text
}

/// Names as written in the table, for lower-case keys.
fn names(table: &Table, keys: &[String]) -> Vec<String> {
    let name = |key: &String| {
        let plain = key.trim_matches('"');
        table
            .column(plain)
            .map_or_else(|| plain.to_owned(), |column| column.name.text.clone())
    };
    keys.iter().map(name).collect()
}

fn key_names(table: &Table, key: &Key) -> Vec<String> {
    let columns: Vec<String> = key
        .columns
        .iter()
        .filter_map(|pieces| pieces.first().cloned())
        .collect();
    names(table, &columns)
}

fn table(table: &Table) -> outline::Table {
    let mut others = Vec::new();
    others.extend(table.is_strict.then(|| "STRICT".to_owned()));
    others.extend(table.is_without_rowid.then(|| "WITHOUT ROWID".to_owned()));
    let uniques = table.uniques.iter().map(|key| outline::Unique {
        name: key.name.clone().unwrap_or_default(),
        columns: key_names(table, key),
        ..outline::Unique::default()
    });
    let checks = table.checks.iter().map(|check| outline::Check {
        name: check.name.clone().unwrap_or_default(),
        expression: check.text.clone(),
        is_not_valid: false,
    });
    let primary = table.primary_key.as_ref();
    outline::Table {
        name: table.name.text.clone(),
        columns: table
            .columns
            .iter()
            .map(|each| column(table, each))
            .collect(),
        primary_key: primary.map(|key| key_names(table, key)).unwrap_or_default(),
        uniques: uniques.collect(),
        foreign_keys: table
            .foreign_keys
            .iter()
            .map(|key| foreign_key(table, key))
            .collect(),
        checks: checks.collect(),
        others,
        ..outline::Table::default()
    }
}

fn column(table: &Table, column: &Column) -> outline::Column {
    let is_rowid = table
        .rowid_column()
        .is_some_and(|key| key == column.name.key());
    let generated = column.generated.as_ref();
    outline::Column {
        name: column.name.text.clone(),
        data_type: type_text(&column.data_type),
        is_not_null: column.not_null.is_some(),
        default: column.default.as_ref().map(default),
        is_counted: is_rowid
            && table
                .primary_key
                .as_ref()
                .is_some_and(|key| key.is_autoincrement),
        generated: generated.map(|generated| (generated.text.clone(), generated.is_stored)),
        collation: column.collation.clone(),
        ..outline::Column::default()
    }
}

fn index(index: &Index) -> outline::Index {
    outline::Index {
        name: index.name.text.clone(),
        is_unique: index.is_unique,
        items: index.columns.iter().map(item).collect(),
        predicate: index.condition.as_ref().map(|(_, text)| text.clone()),
        ..outline::Index::default()
    }
}

fn item(item: &IndexColumn) -> outline::IndexItem {
    let has_only = |word: &str| item.pieces.len() == 2 && item.pieces[1] == word;
    let is_plain = item.pieces.len() == 1 || has_only("desc");
    outline::IndexItem {
        column: item
            .column
            .as_ref()
            .filter(|_| is_plain)
            .map(|name| name.text.clone()),
        sql: item.text.clone(),
        is_descending: item.pieces.last().is_some_and(|piece| piece == "desc"),
        ..outline::IndexItem::default()
    }
}

fn foreign_key(table: &Table, key: &ForeignKey) -> outline::ForeignKey {
    let action = |what: &str| {
        let start = format!("on {what} ");
        let mut clauses = key.clauses.iter();
        clauses
            .find_map(|clause| clause.strip_prefix(&start))
            .map(str::to_uppercase)
    };
    let has = |text: &str| key.clauses.iter().any(|clause| clause == text);
    outline::ForeignKey {
        name: key.name.clone().unwrap_or_default(),
        columns: names(table, &key.columns),
        table: key.parent.clone(),
        references: key.parent_columns.clone(),
        on_delete: action("delete"),
        on_update: action("update"),
        deferral: match () {
            () if has("deferrable initially deferred") => Deferral::Deferred,
            () if key
                .clauses
                .iter()
                .any(|clause| clause.starts_with("deferrable")) =>
            {
                Deferral::Immediate
            }
            () => Deferral::Never,
        },
        is_not_valid: false,
    }
}

//! Hazards of a change for existing rows, with queries finding the rows.

use super::diff::TableDiff;
use super::expr::Pieces;
use super::model::{Column, ForeignKey, Index, Key, Table, quoted};
use crate::Hazard;

/// Lock held by long statements: everybody else waits, readers too at the end.
pub(super) const EXCLUSIVE: Hazard = Hazard::Lock("EXCLUSIVE");

/// Hazards of copying the rows of a table into the new form.
pub(super) fn of_copy(change: &TableDiff<'_>) -> Vec<Hazard> {
    let TableDiff { from, to, .. } = change;
    let mut hazards = vec![
        Hazard::Rewrite(format!("table {} is written anew", to.name.text)),
        EXCLUSIVE,
    ];
    for column in &to.columns {
        match from.column(&column.name.key()) {
            Some(before) => {
                if before.generated.is_none() && column.generated.is_some() {
                    let name = format!("{}.{}", to.name.text, column.name.text);
                    hazards.push(Hazard::DataLoss(format!("the values of {name}")));
                }
                hazards.extend(of_column(from, to, before, column));
            }
            None => hazards.extend(of_added(from, column)),
        }
    }
    let keys = to.primary_key.iter().chain(&to.uniques);
    for key in keys.filter(|key| !has_key(from, key)) {
        hazards.push(duplicates(from, &key.columns));
    }
    for check in &to.checks {
        let is_old = from
            .checks
            .iter()
            .any(|each| each.expression == check.expression);
        if !is_old {
            hazards.push(may_fail(
                format!("rows must satisfy CHECK ({})", check.text),
                format!(
                    "SELECT * FROM {} WHERE NOT ({})",
                    quoted(&from.name.text),
                    check.text
                ),
            ));
        }
    }
    let is_new = |foreign: &&ForeignKey| !from.foreign_keys.contains(foreign);
    hazards.extend(
        to.foreign_keys
            .iter()
            .filter(is_new)
            .map(|foreign| orphans(from, foreign)),
    );
    hazards
}

fn has_key(table: &Table, key: &Key) -> bool {
    let mut keys = table.primary_key.iter().chain(&table.uniques);
    keys.any(|each| each.columns == key.columns)
}

fn may_fail(reason: String, query: String) -> Hazard {
    Hazard::MayFail {
        reason,
        query: Some(query),
    }
}

fn of_column(from: &Table, to: &Table, before: &Column, column: &Column) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    let (table, name) = (quoted(&from.name.text), quoted(&column.name.text));
    if column.not_null.is_some() && before.not_null.is_none() {
        hazards.push(may_fail(
            format!("{} must not be NULL", column.name.text),
            format!("SELECT * FROM {table} WHERE {name} IS NULL"),
        ));
    }
    let old = affinity(&before.data_type, from.is_strict);
    let new = affinity(&column.data_type, to.is_strict);
    if column.generated.is_none() && new.changes(old) {
        hazards.push(Hazard::LossyCast(format!(
            "values of {}.{} are converted from {} to {}",
            from.name.text,
            column.name.text,
            old.word(),
            new.word()
        )));
    }
    let was_strict = from.is_strict && before.data_type == column.data_type;
    let kind = column.data_type.first().map_or("", String::as_str);
    if to.is_strict && !was_strict && kind != "any" {
        let wanted = new.storage_classes();
        hazards.push(may_fail(
            format!("{} must hold nothing but {kind}", column.name.text),
            format!("SELECT * FROM {table} WHERE typeof({name}) NOT IN ({wanted}, 'null')"),
        ));
    }
    hazards
}

/// Hazard of adding a column without a value for existing rows.
pub(super) fn of_added(from: &Table, column: &Column) -> Option<Hazard> {
    let is_empty =
        column.not_null.is_some() && column.default.is_none() && column.generated.is_none();
    is_empty.then(|| {
        may_fail(
            format!(
                "there must be no rows, since {} is NOT NULL and has no default",
                column.name.text
            ),
            format!("SELECT * FROM {} LIMIT 1", quoted(&from.name.text)),
        )
    })
}

fn duplicates(table: &Table, columns: &[Pieces]) -> Hazard {
    let columns: Vec<String> = columns
        .iter()
        .filter_map(|pieces| pieces.first())
        .map(|name| quoted(super::expr::unquoted(name).as_str()))
        .collect();
    duplicates_in(&table.name.text, &columns.join(", "), None)
}

fn duplicates_in(table: &str, columns: &str, condition: Option<&str>) -> Hazard {
    let condition = condition.map(|text| format!(" WHERE {text}"));
    may_fail(
        format!("{columns} must be unique"),
        format!(
            "SELECT {columns}, count(*) FROM {}{} GROUP BY {columns} HAVING count(*) > 1",
            quoted(table),
            condition.unwrap_or_default()
        ),
    )
}

/// Dangers of an index on a table with rows.
pub(super) fn of_index(index: &Index) -> Vec<Hazard> {
    let mut hazards = vec![EXCLUSIVE];
    if index.is_unique {
        let columns = index.columns.iter().map(|column| match &column.column {
            Some(name) => quoted(&name.text),
            None => column.text.clone(),
        });
        let condition = index.condition.as_ref().map(|(_, text)| text.as_str());
        let columns = columns.collect::<Vec<_>>().join(", ");
        hazards.push(duplicates_in(&index.table.text, &columns, condition));
    }
    hazards
}

fn orphans(table: &Table, foreign: &ForeignKey) -> Hazard {
    let columns: Vec<String> = foreign
        .columns
        .iter()
        .map(|column| quoted(column))
        .collect();
    let parents: Vec<String> = foreign
        .parent_columns
        .iter()
        .map(|column| quoted(column))
        .collect();
    let columns = columns.join(", ");
    let query = (!parents.is_empty()).then(|| {
        let not_null = foreign
            .columns
            .iter()
            .map(|column| format!("{} IS NOT NULL", quoted(column)));
        format!(
            "SELECT * FROM {} WHERE {} AND ({columns}) NOT IN (SELECT {} FROM {})",
            quoted(&table.name.text),
            not_null.collect::<Vec<_>>().join(" AND "),
            parents.join(", "),
            quoted(&foreign.parent)
        )
    });
    Hazard::MayFail {
        reason: format!("{columns} must exist in {}", foreign.parent),
        query,
    }
}

/// How SQLite keeps values of a declared type:
/// <https://sqlite.org/datatype3.html#determination_of_column_affinity>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Affinity {
    Integer,
    Text,
    Blob,
    Real,
    Numeric,
}

fn affinity(data_type: &Pieces, is_strict: bool) -> Affinity {
    let words = data_type.join(" ");
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    // `ANY` keeps values as they are in strict tables alone.
    if is_strict && words == "any" {
        Affinity::Blob
    } else if has(&["int"]) {
        Affinity::Integer
    } else if has(&["char", "clob", "text"]) {
        Affinity::Text
    } else if words.is_empty() || has(&["blob"]) {
        Affinity::Blob
    } else if has(&["real", "floa", "doub"]) {
        Affinity::Real
    } else {
        Affinity::Numeric
    }
}

impl Affinity {
    /// Whether a value stored with another affinity may change: `'007'` becomes 7, and a large
    /// integer loses the last digits as a real, as a real does as a text.
    fn changes(self, old: Affinity) -> bool {
        match self {
            Affinity::Integer | Affinity::Numeric => {
                matches!(old, Affinity::Text | Affinity::Blob)
            }
            Affinity::Real => old != Affinity::Real,
            Affinity::Text => {
                matches!(old, Affinity::Real | Affinity::Numeric | Affinity::Blob)
            }
            Affinity::Blob => false,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Affinity::Integer => "INTEGER",
            Affinity::Text => "TEXT",
            Affinity::Blob => "BLOB",
            Affinity::Real => "REAL",
            Affinity::Numeric => "NUMERIC",
        }
    }

    /// What a column of a strict table takes.
    fn storage_classes(self) -> &'static str {
        match self {
            Affinity::Integer => "'integer'",
            Affinity::Text => "'text', 'integer', 'real'",
            Affinity::Blob => "'blob'",
            Affinity::Real | Affinity::Numeric => "'real', 'integer'",
        }
    }
}

//! A SQLite schema in the form used for comparison.

use super::expr::{Pieces, piece_of_name};
use crate::ObjectKind;

/// A name as meant and as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// Without quotes.
    pub(super) text: String,
    /// Spelling in the source.
    pub(super) written: String,
}

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) name: Name,
    pub(super) columns: Vec<Column>,
    pub(super) primary_key: Option<Key>,
    /// Constraints of columns and of the table alike: where one is written changes nothing.
    pub(super) uniques: Vec<Key>,
    pub(super) checks: Vec<Check>,
    pub(super) foreign_keys: Vec<ForeignKey>,
    pub(super) is_strict: bool,
    pub(super) is_without_rowid: bool,
    /// Table constraints behind the columns, as written.
    pub(super) constraint_texts: Vec<String>,
    /// The statement as written; `None` after later changes.
    pub(super) text: Option<String>,
    /// Where the bracket of `text` opens.
    pub(super) body_start: usize,
    pub(super) renamed_from: Option<String>,
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: Name,
    /// In the normal form; empty when there is none.
    pub(super) data_type: Pieces,
    /// What stands after the name, as written.
    pub(super) definition: String,
    /// `NOT NULL`, with what a conflict does; empty for the default.
    pub(super) not_null: Option<String>,
    pub(super) default: Option<Pieces>,
    pub(super) collation: Option<String>,
    pub(super) generated: Option<Generated>,
    /// Constraints written at the column.
    pub(super) inline: Inline,
    pub(super) renamed_from: Option<String>,
}

/// Constraints written with a column, also present in the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inline {
    pub(super) is_primary_key: bool,
    pub(super) is_unique: bool,
    pub(super) checks: Vec<Check>,
    pub(super) foreign_keys: Vec<ForeignKey>,
}

/// The expression of a generated column.
#[derive(Clone, Debug)]
pub(super) struct Generated {
    pub(super) expression: Pieces,
    /// Expression as written, without brackets.
    pub(super) text: String,
    pub(super) is_stored: bool,
}

/// A primary or unique key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: Option<String>,
    /// Columns in the normal form, with collation and direction.
    pub(super) columns: Vec<Pieces>,
    pub(super) conflict: String,
    pub(super) is_autoincrement: bool,
    /// `INTEGER PRIMARY KEY DESC` at a column is, unlike everything else, no other name of the
    /// rowid.
    pub(super) is_descending_at_column: bool,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) name: Option<String>,
    pub(super) expression: Pieces,
    /// Expression as written, without brackets.
    pub(super) text: String,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ForeignKey {
    pub(super) name: Option<String>,
    pub(super) columns: Vec<String>,
    pub(super) parent: String,
    /// Empty: the parent's primary key.
    pub(super) parent_columns: Vec<String>,
    /// `on delete cascade`, `match full`, `deferrable initially deferred`, without what is the
    /// default; sorted.
    pub(super) clauses: Vec<String>,
}

/// An index.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) name: Name,
    pub(super) table: Name,
    pub(super) is_unique: bool,
    pub(super) columns: Vec<IndexColumn>,
    /// The condition in the normal form, and as written.
    pub(super) condition: Option<(Pieces, String)>,
    pub(super) text: String,
    pub(super) renamed_from: Option<String>,
}

/// A column or an expression of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexColumn {
    pub(super) pieces: Pieces,
    /// Name of a plain column, with the rest in `text`; `None` and the whole text for an
    /// expression.
    pub(super) column: Option<Name>,
    pub(super) text: String,
}

/// A view, a trigger or a virtual table: compared as a whole.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) kind: WholeKind,
    pub(super) name: Name,
    /// The table or view of a trigger.
    pub(super) table: Option<Name>,
    pub(super) pieces: Pieces,
    pub(super) text: String,
    pub(super) renamed_from: Option<String>,
}

/// What is compared as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum WholeKind {
    View,
    Trigger,
    Virtual,
}

impl Name {
    pub(super) fn of(text: &str) -> Name {
        Name {
            text: text.to_owned(),
            written: quoted(text),
        }
    }

    /// Key for comparing names: SQLite ignores case.
    pub(super) fn key(&self) -> String {
        self.text.to_ascii_lowercase()
    }

    /// Whether the name has the key.
    pub(super) fn is(&self, key: &str) -> bool {
        self.text.eq_ignore_ascii_case(key)
    }
}

/// A name in double quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Table {
    pub(super) fn column(&self, key: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.is(key))
    }

    /// The column aliasing the rowid.
    pub(super) fn rowid_column(&self) -> Option<String> {
        let key = self.primary_key.as_ref()?;
        let [only] = &key.columns[..] else {
            return None;
        };
        let column = self
            .columns
            .iter()
            .find(|column| only.first() == Some(&piece_of_name(&column.name.text)))?;
        let is_integer = column.data_type.len() == 1 && column.data_type[0] == "integer";
        (is_integer && !key.is_descending_at_column && !self.is_without_rowid)
            .then(|| column.name.key())
    }
}

impl WholeKind {
    /// The kind in plans.
    pub(super) fn object_kind(self) -> ObjectKind {
        match self {
            WholeKind::View => ObjectKind::View,
            WholeKind::Trigger => ObjectKind::Trigger,
            WholeKind::Virtual => ObjectKind::Table,
        }
    }
}

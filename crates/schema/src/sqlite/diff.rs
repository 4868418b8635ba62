//! Differences between two tables, before any statement is written, and whether `ALTER TABLE` is
//! sufficient.

use std::borrow::Cow;

use super::expr::{Pieces, piece_of_name};
use super::model::{Column, Index, Table};
use super::renames::remove_one;

/// How one table becomes the other.
#[derive(Debug)]
pub(super) struct TableDiff<'a> {
    pub(super) from: &'a Table,
    pub(super) to: &'a Table,
    /// In the order of the wanted table.
    pub(super) added: Vec<&'a Column>,
    /// In an order in which none is needed by a later one.
    pub(super) dropped: Vec<&'a Column>,
    /// `ALTER TABLE` is not enough: the table is rewritten, and only then columns are dropped.
    pub(super) is_rebuild: bool,
}

impl<'a> TableDiff<'a> {
    /// What is different; `None` when nothing is.
    pub(super) fn of(from: &'a Table, to: &'a Table) -> Option<TableDiff<'a>> {
        let added: Vec<&Column> = missing(to, from).collect();
        let dropped = ordered(missing(from, to).collect());
        let is_alter = added.iter().all(|column| can_be_added(column))
            && dropped.iter().all(|column| can_be_dropped(column))
            && is_same(&altered(from, &added, &dropped), to);
        let is_nothing = is_alter && added.is_empty() && dropped.is_empty();
        (!is_nothing).then_some(TableDiff {
            from,
            to,
            added,
            dropped,
            is_rebuild: !is_alter,
        })
    }
}

fn missing<'a>(here: &'a Table, there: &'a Table) -> impl Iterator<Item = &'a Column> {
    let columns = here.columns.iter();
    columns.filter(|column| there.column(&column.name.text).is_none())
}

/// Sorts columns by dependency: a column named in an expression comes first.
fn ordered(mut columns: Vec<&Column>) -> Vec<&Column> {
    let mut result = Vec::with_capacity(columns.len());
    while !columns.is_empty() {
        let is_free = |column: &&Column| {
            let mut others = columns.iter().filter(|other| other.name != column.name);
            !others.any(|other| needs(other, column))
        };
        // Checks can need each other in a circle; a rebuild leaves them out.
        let at = columns.iter().position(is_free);
        result.push(columns.remove(at.unwrap_or(0)));
    }
    result
}

/// Whether an expression of one column names the other.
pub(super) fn needs(column: &Column, other: &Column) -> bool {
    let piece = piece_of_name(&other.name.text);
    let generated = column.generated.iter().map(|each| &each.expression);
    let checks = column.inline.checks.iter().map(|check| &check.expression);
    generated
        .chain(checks)
        .any(|pieces| pieces.contains(&piece))
}

/// The rules of `ALTER TABLE … ADD COLUMN`, whatever rows there are.
fn can_be_added(column: &Column) -> bool {
    let is_key = column.inline.is_primary_key || column.inline.is_unique;
    let is_stored = column.generated.as_ref().is_some_and(|each| each.is_stored);
    let has_constant = column.default.as_ref().is_none_or(is_constant);
    let is_filled =
        column.not_null.is_none() || column.default.is_some() && column.generated.is_none();
    let is_free = column.inline.foreign_keys.is_empty() || column.default.is_none();
    !is_key && !is_stored && has_constant && is_filled && is_free
}

fn is_constant(default: &Pieces) -> bool {
    let value = match default.first().map(String::as_str) {
        Some("-" | "+") => default.get(1),
        first => return default.len() == 1 && first.is_some_and(is_literal),
    };
    default.len() == 2 && value.is_some_and(|value| is_literal(value))
}

fn is_literal(piece: &str) -> bool {
    let is_marked =
        piece.starts_with(|first: char| first.is_ascii_digit() || first == '\'' || first == '.');
    is_marked || piece.starts_with("x'") || piece == "true" || piece == "false"
}

fn can_be_dropped(column: &Column) -> bool {
    let inline = &column.inline;
    !inline.is_primary_key && !inline.is_unique && inline.foreign_keys.is_empty()
}

/// The table as left by `ALTER TABLE`.
fn altered<'a>(from: &'a Table, added: &[&Column], dropped: &[&Column]) -> Cow<'a, Table> {
    if added.is_empty() && dropped.is_empty() {
        return Cow::Borrowed(from);
    }
    let mut table = from.clone();
    for column in dropped {
        table.remove_column(&column.name.key());
    }
    for column in added {
        table.checks.extend(column.inline.checks.iter().cloned());
        let foreign_keys = column.inline.foreign_keys.iter();
        table.foreign_keys.extend(foreign_keys.cloned());
        table.columns.push((*column).clone());
    }
    Cow::Owned(table)
}

fn is_same(left: &Table, right: &Table) -> bool {
    let columns = |table: &Table| table.columns.len();
    let pairs = || left.columns.iter().zip(&right.columns);
    left.is_strict == right.is_strict
        && left.is_without_rowid == right.is_without_rowid
        && left.primary_key == right.primary_key
        && columns(left) == columns(right)
        && pairs().all(|(left, right)| is_same_column(left, right))
        && are_same(&left.uniques, &right.uniques)
        && are_same(&left.foreign_keys, &right.foreign_keys)
        && are_same(
            &left
                .checks
                .iter()
                .map(|each| (&each.name, &each.expression))
                .collect::<Vec<_>>(),
            &right
                .checks
                .iter()
                .map(|each| (&each.name, &each.expression))
                .collect::<Vec<_>>(),
        )
}

/// Whether what belongs to the column alone is the same.
pub(super) fn is_same_column(left: &Column, right: &Column) -> bool {
    fn generated(column: &Column) -> Option<(&Pieces, bool)> {
        let generated = column.generated.as_ref();
        generated.map(|each| (&each.expression, each.is_stored))
    }
    left.name.is(&right.name.text)
        && left.data_type == right.data_type
        && left.not_null == right.not_null
        && left.default == right.default
        && left.collation == right.collation
        && generated(left) == generated(right)
}

/// In whatever order.
fn are_same<T: PartialEq + Clone>(left: &[T], right: &[T]) -> bool {
    if left == right {
        return true;
    }
    let mut rest = right.to_vec();
    left.iter().for_each(|each| remove_one(&mut rest, each));
    left.len() == right.len() && rest.is_empty()
}

impl Index {
    /// Whether both are the same to SQLite.
    pub(super) fn is_same(&self, other: &Index) -> bool {
        let columns = |index: &Index| -> Vec<_> {
            index
                .columns
                .iter()
                .map(|column| column.pieces.clone())
                .collect()
        };
        let condition = |index: &Index| index.condition.as_ref().map(|(pieces, _)| pieces.clone());
        self.table.is(&other.table.text)
            && self.is_unique == other.is_unique
            && columns(self) == columns(other)
            && condition(self) == condition(other)
    }
}

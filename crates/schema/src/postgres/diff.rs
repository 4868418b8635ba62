//! Differences between two schemas, before any statement is written.
//!
//! A plan may drop more than what differs, to make room for a change, and creates it again: that is
//! found when the statements are arranged (`order`).

mod columns;
mod others;
mod parts;
mod routines;
mod tables;
#[cfg(test)]
mod tests;
mod types;

use std::collections::HashMap;

use super::Schema;
use super::kept::Key;
use super::model::{Column, Function, Kept, Sequence, Table, UserType};
use super::name::Name;
use super::normal::Same;

pub(super) use types::labels;

/// Name and types of the arguments.
pub(super) type FunctionKey = (Name, String);

/// Both sides of a comparison.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a> {
    pub(super) from: &'a Schema,
    pub(super) to: &'a Schema,
    /// Normal form of `to` as stored by a server, when one was asked.
    pub(super) stored: Option<&'a Schema>,
    pub(super) same: Same<'a>,
}

/// Differences between two schemas: what is to be made or changed, in the wanted order. What is
/// only on the existing side is dropped.
pub(super) struct SchemaDiff<'a> {
    pub(super) types: Vec<&'a UserType>,
    pub(super) sequences: Vec<&'a Sequence>,
    pub(super) functions: Vec<(&'a FunctionKey, &'a Function)>,
    /// Existing functions to be dropped before the successors are created.
    pub(super) remade_functions: Vec<&'a FunctionKey>,
    /// Objects compared by words.
    pub(super) kept: Vec<(&'a Key, &'a Kept)>,
    pub(super) tables: Vec<TableDiff<'a>>,
    pub(super) views: HashMap<&'a Name, ViewStep>,
}

/// A new or changed table.
pub(super) struct TableDiff<'a> {
    pub(super) to: &'a Table,
    pub(super) step: TableStep<'a>,
}

/// What happens to a table.
pub(super) enum TableStep<'a> {
    Create,
    /// Dropped and created, since the existing one cannot be changed into what is wanted.
    Recreate(&'a Table),
    Alter(TableChange<'a>),
}

/// How one table becomes the other.
pub(super) struct TableChange<'a> {
    pub(super) from: &'a Table,
    pub(super) to: &'a Table,
    /// In the order of the wanted table; possibly without any difference.
    pub(super) columns: Vec<ColumnStep<'a>>,
    /// Names of the columns with another type or order of text.
    pub(super) retyped: Vec<&'a str>,
}

/// What happens to a column.
#[derive(Clone, Copy)]
pub(super) enum ColumnStep<'a> {
    Add(&'a Column),
    /// Compared attribute by attribute.
    Change {
        from: &'a Column,
        to: &'a Column,
    },
    /// Dropped and added, since the server cannot turn one into the other.
    Remake {
        from: &'a Column,
        to: &'a Column,
    },
}

/// What happens to a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ViewStep {
    Create,
    /// In place, since the new query returns the old columns first.
    Replace,
    /// Dropped and created.
    Recreate,
}

impl<'a> SchemaDiff<'a> {
    /// Compares both sides; `renamed_columns` are renamed by the plan itself.
    pub(super) fn of(sides: &Sides<'a>, renamed_columns: &[(Name, String)]) -> SchemaDiff<'a> {
        let (from, to) = (sides.from, sides.to);
        let types = to.types.values();
        let sequences = to.sequences.values();
        let functions = to.functions.iter();
        let remade = from.functions.iter();
        let remade = remade.filter(|(key, function)| sides.is_function_remade(key, function));
        let remade_functions: Vec<&FunctionKey> = remade.map(|(key, _)| key).collect();
        let kept = to.kept.iter();
        let views = to.views.values();
        let views = views.filter_map(|view| Some((&view.name, sides.view_step(view)?)));
        SchemaDiff {
            types: types.filter(|found| sides.type_differs(found)).collect(),
            sequences: sequences
                .filter(|sequence| sides.sequence_differs(sequence))
                .collect(),
            functions: functions
                .filter(|(key, function)| sides.function_differs(key, function))
                .collect(),
            kept: kept
                .filter(|(key, kept)| sides.kept_differs(key, kept))
                .collect(),
            tables: sides.tables(!remade_functions.is_empty(), renamed_columns),
            views: views.collect(),
            remade_functions,
        }
    }
}

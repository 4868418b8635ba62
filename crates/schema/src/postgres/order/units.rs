//! Types, sequences, functions and tables, each after all objects mentioned.

use std::collections::HashMap;

use super::Builder;
use crate::ObjectKind;
use crate::postgres::diff::{TableDiff, TableStep};
use crate::postgres::kept::{Key, Stage};
use crate::postgres::model::{Body, ConstraintKind, Function, Kept, Table, TypeKind, UserType};
use crate::postgres::name::Name;
use crate::postgres::split;
use crate::sorted::sorted;

/// Kinds of objects that others use without naming them, or only in strings: made as early as
/// possible.
const FIRST: [ObjectKind; 9] = [
    ObjectKind::ForeignDataWrapper,
    ObjectKind::ForeignServer,
    ObjectKind::UserMapping,
    ObjectKind::AccessMethod,
    ObjectKind::TextSearchParser,
    ObjectKind::TextSearchTemplate,
    ObjectKind::TextSearchDictionary,
    ObjectKind::TextSearchConfiguration,
    ObjectKind::TextSearchMapping,
];

/// Something to be made or changed.
#[derive(Clone, Debug)]
pub(super) enum Unit {
    Type(Name),
    Sequence(Name),
    Function((Name, String)),
    /// By the place among the new and changed tables.
    Table(usize),
    Kept(Key),
}

/// A unit with a name, and the names used in the definition.
pub(super) struct Waiting {
    pub(super) unit: Unit,
    pub(super) name: Name,
    pub(super) mentions: Vec<String>,
}

impl<'a> Builder<'a> {
    /// Everything different, prerequisites first; otherwise types, sequences, functions, tables,
    /// each in source order.
    pub(super) fn units(&self) -> Vec<Unit> {
        let mut waiting = self.kept_units(true);
        let types = self.diff.types.iter();
        waiting.extend(types.map(|found| self.waiting_type(found)));
        let sequences = self.diff.sequences.iter();
        waiting.extend(sequences.map(|sequence| Waiting {
            unit: Unit::Sequence(sequence.name.clone()),
            name: sequence.name.clone(),
            mentions: Vec::new(),
        }));
        let of_types = self.made_of_functions();
        for (key, function) in &self.diff.functions {
            let mut mentions = function_mentions(function);
            // A base type is announced, and defined only when its functions are there.
            for (names, base) in &of_types {
                if names.contains(&key.0.name) {
                    mentions.retain(|name| name != base);
                }
            }
            waiting.push(Waiting {
                unit: Unit::Function((*key).clone()),
                name: key.0.clone(),
                mentions,
            });
        }
        waiting.extend(self.kept_units(false));
        let tables = self.diff.tables.iter().enumerate();
        waiting.extend(tables.map(|(at, table)| Waiting {
            unit: Unit::Table(at),
            name: table.to.name.clone(),
            mentions: table_mentions(table.to),
        }));
        behind_mentioned(waiting)
    }

    pub(super) fn waiting_type(&self, found: &UserType) -> Waiting {
        let mentions = match &found.kind {
            TypeKind::Enum(_) => Vec::new(),
            TypeKind::Domain(_) => split::names(&self.printer.user_type(found)),
        };
        Waiting {
            unit: Unit::Type(found.name.clone()),
            name: found.name.clone(),
            mentions,
        }
    }

    /// Objects compared by words, to be made or changed.
    fn kept_units(&self, is_first: bool) -> Vec<Waiting> {
        let mut waiting = Vec::new();
        for (key, kept) in &self.diff.kept {
            let is_ours = kept.kind.stage == Stage::Among && FIRST.contains(&key.0) == is_first;
            if is_ours {
                // A name of the same kind means another object.
                let is_named = is_named(key, kept);
                let mut mentions = split::names(&kept.sql);
                if is_named && (is_first || key.0 == ObjectKind::OperatorFamily) {
                    mentions.retain(|name| *name != kept.base);
                }
                waiting.push(waiting_kept(key, kept, mentions));
            }
        }
        waiting
    }

    /// Base types, and the names of the functions in each.
    fn made_of_functions(&self) -> Vec<(Vec<String>, &'a str)> {
        let types = self
            .to
            .kept
            .iter()
            .filter(|(key, _)| key.0 == ObjectKind::BaseType);
        types
            .map(|(_, kept)| (split::names(&kept.sql), kept.base.as_str()))
            .collect()
    }

    pub(super) fn unit(&mut self, unit: &Unit) {
        let to = self.to;
        match unit {
            Unit::Type(name) => {
                if let Some(found) = to.types.get(name) {
                    self.user_type(found);
                }
            }
            Unit::Sequence(name) => {
                if let Some(sequence) = to.sequences.get(name) {
                    self.sequence(sequence);
                }
            }
            Unit::Function(key) => {
                if let Some(function) = to.functions.get(key) {
                    self.function(key, function);
                }
            }
            Unit::Kept(key) => {
                if let Some(kept) = to.kept.get(key) {
                    self.keep(key, kept);
                }
            }
            Unit::Table(at) => self.table(&self.diff.tables[*at]),
        }
    }

    fn table(&mut self, diff: &'a TableDiff<'a>) {
        if let Some((parent, _)) = &diff.to.partition_of {
            self.leave_bounds(parent);
        }
        let before = match &diff.step {
            TableStep::Alter(change) => return self.alter_table(change),
            TableStep::Recreate(before) => Some(before),
            TableStep::Create => None,
        };
        let dropped = before.map(|before| self.drop_remade(before));
        let first = self.statements.len();
        self.create_table(diff.to);
        for statement in &mut self.statements[first..] {
            statement.needs.extend(dropped);
        }
    }
}

/// Whether other statements name the object: none names a setting.
fn is_named(key: &Key, kept: &Kept) -> bool {
    kept.undo.is_none() && key.0 != ObjectKind::UserMapping
}

pub(super) fn waiting_kept(key: &Key, kept: &Kept, mentions: Vec<String>) -> Waiting {
    let base = if is_named(key, kept) {
        kept.base.as_str()
    } else {
        ""
    };
    Waiting {
        unit: Unit::Kept(key.clone()),
        name: Name::new("", base),
        mentions,
    }
}

/// Names in what the server looks at when the function is made: not in the bodies of other
/// languages.
pub(super) fn function_mentions(function: &Function) -> Vec<String> {
    let mut mentions = vec![function.language.clone()];
    for argument in &function.arguments {
        mentions.push(argument.data_type.name.clone());
        if let Some(default) = &argument.default {
            mentions.extend(split::names(&default.0));
        }
    }
    if let Some(returns) = &function.returns {
        mentions.push(returns.data_type.name.clone());
    }
    match &function.body {
        Body::Text(text) if function.language == "sql" => mentions.extend(split::names(text)),
        Body::Sql(sql) => mentions.extend(split::names(&sql.0)),
        _ => {}
    }
    mentions
}

pub(super) fn table_mentions(table: &Table) -> Vec<String> {
    let mut mentions = Vec::new();
    for column in table.columns.values() {
        mentions.push(column.data_type.name.clone());
        let generated = column
            .generated
            .as_ref()
            .map(|generated| &generated.expression);
        for expression in column.default.iter().chain(generated) {
            mentions.extend(split::names(&expression.0));
        }
        if let Some(default) = &column.default
            && let Some(sequence) =
                crate::postgres::read::next_value_of(&default.0, &table.name.schema)
        {
            mentions.push(sequence.name);
        }
    }
    for constraint in table.constraints.values() {
        match &constraint.kind {
            ConstraintKind::Check(check) => mentions.extend(split::names(&check.0)),
            ConstraintKind::Foreign(foreign) => mentions.push(foreign.table.name.clone()),
            _ => {}
        }
    }
    mentions.extend(table.access_method.clone());
    let parents = table
        .inherits
        .iter()
        .chain(table.partition_of.as_ref().map(|(parent, _)| parent));
    mentions.extend(
        parents
            .chain(table.likes.iter().map(|(like, _)| like))
            .map(|name| name.name.clone()),
    );
    mentions
}

/// Sorts units behind the ones mentioned; objects without dependents stay in place.
pub(super) fn behind_mentioned(waiting: Vec<Waiting>) -> Vec<Unit> {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, each) in waiting.iter().enumerate() {
        by_name.entry(each.name.name.as_str()).or_default().push(at);
    }
    let (all, by_name) = (&waiting, &by_name);
    let needs = move |at: usize| {
        let mentions = all[at].mentions.iter();
        let found = mentions.filter_map(move |name| by_name.get(name.as_str()));
        found.flatten().copied()
    };
    let order = sorted(waiting.len(), needs).into_iter();
    order.map(|at| waiting[at].unit.clone()).collect()
}

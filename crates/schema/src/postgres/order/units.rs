//! Types, sequences, functions and tables, each after all objects mentioned.

use std::collections::{HashMap, HashSet};

use super::Builder;
use crate::postgres::kept::{Key, Stage};
use crate::postgres::model::{Body, ConstraintKind, Function, Kept, Table, TypeKind, UserType};
use crate::postgres::name::Name;
use crate::postgres::split;

/// Kinds of objects that others use without naming them, or only in strings: made as early as
/// possible.
const FIRST: [&str; 9] = [
    "foreign-data-wrapper",
    "foreign-server",
    "user-mapping",
    "access-method",
    "text-search-parser",
    "text-search-template",
    "text-search-dictionary",
    "text-search-configuration",
    "text-search-mapping",
];

/// Something to be made or changed.
#[derive(Clone, Debug)]
pub(super) enum Unit {
    Type(Name),
    Sequence(Name),
    Function((Name, String)),
    Table(Name),
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
        for found in self.to.types.values() {
            if self.type_differs(found) {
                waiting.push(self.waiting_type(found));
            }
        }
        for (name, sequence) in self.to.sequences.iter() {
            if self.sequence_differs(sequence) {
                waiting.push(Waiting {
                    unit: Unit::Sequence(name.clone()),
                    name: name.clone(),
                    mentions: Vec::new(),
                });
            }
        }
        let of_types = self.made_of_functions();
        for (key, function) in self.to.functions.iter() {
            if self.function_differs(key, function) {
                let mut mentions = function_mentions(function);
                // A base type is announced, and defined only when its functions are there.
                for (names, base) in &of_types {
                    if names.contains(&key.0.name) {
                        mentions.retain(|name| name != base);
                    }
                }
                waiting.push(Waiting {
                    unit: Unit::Function(key.clone()),
                    name: key.0.clone(),
                    mentions,
                });
            }
        }
        waiting.extend(self.kept_units(false));
        for (name, table) in self.to.tables.iter() {
            if self.table_differs(table) {
                waiting.push(Waiting {
                    unit: Unit::Table(name.clone()),
                    name: name.clone(),
                    mentions: table_mentions(table),
                });
            }
        }
        sorted(waiting)
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
        for (key, kept) in self.to.kept.iter() {
            let is_ours = kept.kind.stage == Stage::Among && FIRST.contains(&key.0) == is_first;
            if is_ours && self.kept_differs(key, kept) {
                // A name of the same kind means another object.
                let is_named = is_named(key, kept);
                let mut mentions = split::names(&kept.sql);
                if is_named && (is_first || key.0 == "operator-family") {
                    mentions.retain(|name| *name != kept.base);
                }
                waiting.push(waiting_kept(key, kept, mentions));
            }
        }
        waiting
    }

    /// Base types, and the names of the functions in each.
    fn made_of_functions(&self) -> Vec<(Vec<String>, &'a str)> {
        let types = self.to.kept.iter().filter(|(key, _)| key.0 == "base-type");
        types
            .map(|(_, kept)| (split::names(&kept.sql), kept.base.as_str()))
            .collect()
    }

    pub(super) fn unit(&mut self, unit: &Unit) {
        let (from, to) = (self.from, self.to);
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
            Unit::Table(name) => match (from.tables.get(name), to.tables.get(name)) {
                (Some(before), Some(table)) if !self.is_remade(before, table) => {
                    self.alter_table(before, table)
                }
                (before, Some(table)) => {
                    let dropped = before.map(|before| self.drop_remade(before));
                    let first = self.statements.len();
                    self.create_table(table);
                    for statement in &mut self.statements[first..] {
                        statement.needs.extend(dropped);
                    }
                }
                (_, None) => {}
            },
        }
    }
}

/// Whether other statements name the object: none names a setting.
fn is_named(key: &Key, kept: &Kept) -> bool {
    kept.undo.is_none() && key.0 != "user-mapping"
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

/// Sorts depth first, so objects without dependents stay in place. A circle is cut where it closes.
pub(super) fn sorted(waiting: Vec<Waiting>) -> Vec<Unit> {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, each) in waiting.iter().enumerate() {
        by_name.entry(each.name.name.as_str()).or_default().push(at);
    }
    let mut done = Vec::with_capacity(waiting.len());
    let mut seen: HashSet<usize> = HashSet::new();
    for start in 0..waiting.len() {
        // A stack of its own: chains in generated schemas are longer than threads' stacks are deep.
        let mut stack = vec![(start, 0)];
        if !seen.insert(start) {
            continue;
        }
        while let Some((at, next)) = stack.pop() {
            let needed = waiting[at].mentions[next..]
                .iter()
                .enumerate()
                .flat_map(|(offset, name)| {
                    by_name
                        .get(name.as_str())
                        .into_iter()
                        .flatten()
                        .map(move |needed| (next + offset, *needed))
                })
                .find(|(_, needed)| !seen.contains(needed));
            match needed {
                Some((place, needed)) => {
                    seen.insert(needed);
                    stack.push((at, place));
                    stack.push((needed, 0));
                }
                None => done.push(at),
            }
        }
    }
    done.into_iter()
        .map(|at| waiting[at].unit.clone())
        .collect()
}

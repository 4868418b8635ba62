//! Drops of functions, types and objects compared by words, users before the objects used.

use std::collections::HashSet;

use super::Builder;
use super::units::{Unit, Waiting, behind_mentioned, function_mentions, waiting_kept};
use crate::plan::Steps;
use crate::postgres::hazards;
use crate::postgres::kept::{Key, Stage};
use crate::postgres::model::{Function, Kept, TypeKind};
use crate::postgres::name::Name;
use crate::postgres::split;
use crate::{Hazard, ObjectKind};

impl<'a> Builder<'a> {
    /// Drops what may use each other in any order: the rest of the functions, types, and objects
    /// compared by words.
    pub(super) fn dropped_programs(&mut self) {
        let units = behind_mentioned(self.going_programs());
        for unit in units.into_iter().rev() {
            match &unit {
                Unit::Kept(key) => {
                    if let Some(kept) = self.from.kept.get(key) {
                        self.drop_unwanted(kept);
                    }
                }
                Unit::Function(key) => self.drop_function(key),
                Unit::Type(name) => self.drop_type(name),
                Unit::Sequence(_) | Unit::Table(_) => {}
            }
        }
    }

    /// Objects to be dropped, with the names mentioned in each. Without mentions the last one is
    /// dropped first: objects compared by words, functions, domains, enums.
    fn going_programs(&self) -> Vec<Waiting> {
        let (from, to) = (self.from, self.to);
        let going = from.types.values();
        let going = going.filter(|found| !to.types.contains(&found.name));
        let (enums, domains): (Vec<_>, Vec<_>) =
            going.partition(|found| matches!(found.kind, TypeKind::Enum(_)));
        let types = enums.into_iter().rev().chain(domains);
        let types = types.map(|found| self.waiting_type(found));
        let functions = self.going_functions(false).into_iter().rev();
        let functions = functions.map(|(key, function)| Waiting {
            unit: Unit::Function(key.clone()),
            name: key.0.clone(),
            mentions: function_mentions(function),
        });
        let kept = self.unwanted_kept(Stage::Among).into_iter();
        let kept = kept.map(|(key, kept)| self.going_kept(key, kept));
        types.chain(functions).chain(kept).collect()
    }

    /// An object uses the names in the statement, the settings and the triggers.
    fn going_kept(&self, key: &Key, kept: &Kept) -> Waiting {
        let mut mentions = split::names(&kept.sql);
        if key.0 == ObjectKind::OperatorFamily {
            // A class of the same name is made of it, and not the other way round.
            mentions.retain(|name| *name != kept.base);
        }
        for setting in self.from.kept.values() {
            if setting.of.as_ref() == Some(key) {
                mentions.extend(split::names(&setting.sql));
            }
        }
        for (on, triggers) in self.from.foreign_triggers.iter() {
            if *key == (ObjectKind::ForeignTable, on.quoted()) {
                mentions.extend(triggers.values().map(|each| each.function.name.clone()));
            }
        }
        waiting_kept(key, kept, mentions)
    }

    /// Drops functions with rows of dropped relations as arguments or results, which go before the
    /// relations.
    pub(super) fn dropped_functions_on_relations(&mut self) {
        for (key, _) in self.going_functions(true) {
            self.drop_function(key);
        }
    }

    /// Functions to be dropped, and not with a type: on rows of dropped relations, or the others.
    fn going_functions(&self, that_use_relations: bool) -> Vec<(&'a (Name, String), &'a Function)> {
        let (from, to) = (self.from, self.to);
        let going: HashSet<&str> = from
            .tables
            .keys()
            .filter(|name| !to.tables.contains(*name))
            .chain(from.views.keys().filter(|name| !to.views.contains(*name)))
            .map(|name| name.name.as_str())
            .collect();
        let gone_types = self.gone_types();
        let functions = from.functions.iter().filter(|(key, function)| {
            let arguments = function.arguments.iter().map(|each| &each.data_type);
            let returned = function.returns.iter().map(|returns| &returns.data_type);
            let mut types = arguments.chain(returned);
            !(to.functions.contains(*key)
                || types.any(|found| gone_types.contains(&found.name))
                || self.sides.is_succeeded(key)
                || uses_any(function, &going) != that_use_relations)
        });
        functions.collect()
    }

    fn drop_function(&mut self, key: &(Name, String)) {
        let from = self.from;
        let Some(function) = from.functions.get(key) else {
            return;
        };
        let is_only = from
            .functions
            .keys()
            .filter(|(name, _)| *name == key.0)
            .count()
            == 1;
        let name = if self.printer.is_sqldef() && is_only {
            self.printer.name(&function.name)
        } else {
            self.printer.function_name(function)
        };
        let shown = format!("{}({})", self.shown(&key.0), key.1);
        let hazards = vec![
            Hazard::Drop(format!("function {shown}")),
            hazards::ACCESS_EXCLUSIVE,
        ];
        let word = function.word();
        self.push_drop(
            format!("DROP {word} {name}"),
            ObjectKind::Function,
            shown,
            hazards,
        );
    }

    fn drop_type(&mut self, name: &Name) {
        let Some(found) = self.from.types.get(name) else {
            return;
        };
        let (word, kind) = match found.kind {
            TypeKind::Enum(_) => ("TYPE", ObjectKind::Type),
            TypeKind::Domain(_) => ("DOMAIN", ObjectKind::Domain),
        };
        let sql = format!("DROP {word} {}", self.printer.name(name));
        let shown = self.shown(name);
        let hazards = vec![Hazard::Drop(format!("{kind} {shown}"))];
        self.push_drop(sql, kind, shown, hazards);
    }
}

fn uses_any(function: &Function, names: &HashSet<&str>) -> bool {
    let arguments = function
        .arguments
        .iter()
        .map(|argument| &argument.data_type);
    let returned = function.returns.iter().map(|returns| &returns.data_type);
    arguments
        .chain(returned)
        .any(|data_type| names.contains(data_type.name.as_str()))
}

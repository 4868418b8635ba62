//! Functions.

use super::{Builder, Part};
use crate::plan::Steps;
use crate::postgres::diff::FunctionKey;
use crate::postgres::model::{Function, Trigger};
use crate::postgres::name::Name;
use crate::postgres::split;
use crate::{Hazard, ObjectKind, Verb, postgres::hazards};

impl<'a> Builder<'a> {
    pub(super) fn function(&mut self, key: &FunctionKey, to: &'a Function) {
        let shown = format!("{}({})", self.shown(&key.0), key.1);
        let mut needs = Vec::new();
        let mut replaces = false;
        if let Some(before) = self.sides.predecessor(key) {
            replaces = before.signature == to.signature && self.sides.same.same_call(before, to);
            if !replaces {
                self.clear_triggers(&before.name);
                self.clear_callers(&before.name);
                let sql = format!(
                    "DROP {} {}",
                    before.word(),
                    self.printer.function_name(before)
                );
                let hazards = vec![
                    Hazard::Drop(format!("function {shown} is made again")),
                    hazards::ACCESS_EXCLUSIVE,
                ];
                needs.push(self.push_with(
                    sql,
                    Verb::Aside,
                    ObjectKind::Function,
                    shown.clone(),
                    hazards,
                ));
            }
        }
        let source = to.meta.source.clone().filter(|_| self.printer.is_sqldef());
        let sql = match source {
            Some(source) if replaces => or_replace(&source),
            Some(source) => source,
            None => self.printer.function(to),
        };
        let verb = if replaces {
            Verb::Replace
        } else {
            Verb::Create
        };
        let at = self.push(sql, verb, ObjectKind::Function, shown);
        self.statements[at].needs = needs;
    }

    /// Drops defaults, policies, checks and indexes calling a temporarily dropped function.
    fn clear_callers(&mut self, function: &Name) {
        let from = self.from;
        let mentions = |text: &str| split::names(text).contains(&function.name);
        for table in from.tables.values() {
            for column in table.columns.values() {
                let calls = column
                    .default
                    .as_ref()
                    .is_some_and(|default| mentions(&default.0));
                let part = Part::Default(table.name.clone(), column.name.clone());
                if calls && self.gone.insert(part) {
                    let lock = vec![hazards::ACCESS_EXCLUSIVE];
                    self.alter_column(&table.name, column, "DROP DEFAULT", lock);
                }
            }
            self.clear_hooks(table, &mentions);
            self.clear_expressions(table, &mentions);
        }
    }

    /// Drops triggers calling a temporarily dropped function.
    fn clear_triggers(&mut self, function: &Name) {
        let from = self.from;
        let calls = |trigger: &Trigger| trigger.function == *function;
        let of_tables = from
            .tables
            .values()
            .flat_map(|table| table.triggers.values().map(move |each| (&table.name, each)));
        let of_views = from
            .views
            .values()
            .flat_map(|view| view.triggers.values().map(move |each| (&view.name, each)));
        let foreign = from.foreign_triggers.iter();
        let of_foreign =
            foreign.flat_map(|(on, triggers)| triggers.values().map(move |each| (on, each)));
        let found: Vec<(Name, String)> = of_tables
            .chain(of_views)
            .chain(of_foreign)
            .filter(|(_, trigger)| calls(trigger))
            .map(|(on, trigger)| (on.clone(), trigger.name.clone()))
            .collect();
        for (on, name) in found {
            self.drop_trigger(&on, &name);
            self.gone.insert(Part::Trigger(on, name));
        }
    }
}

fn or_replace(source: &str) -> String {
    let lower = source.to_ascii_lowercase();
    match lower.find("function") {
        Some(at) if !lower[..at].contains("replace") => {
            format!("CREATE OR REPLACE {}", &source[at..])
        }
        _ => source.to_owned(),
    }
}

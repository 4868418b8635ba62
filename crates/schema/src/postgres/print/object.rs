//! Types, sequences, views, functions, triggers and policies.

use super::{Printer, sequence_options, with_options};
use crate::postgres::model::{
    Argument, Body, Domain, Function, Policy, Sequence, Trigger, TypeKind, UserType, View,
};
use crate::postgres::name::{Name, literal, quote};

impl Printer<'_> {
    /// `CREATE TYPE` or `CREATE DOMAIN`.
    pub(crate) fn user_type(&self, found: &UserType) -> String {
        match &found.kind {
            TypeKind::Enum(values) => {
                let labels: Vec<String> =
                    values.iter().map(|value| literal(&value.label)).collect();
                format!(
                    "CREATE TYPE {} AS ENUM ({})",
                    self.name(&found.name),
                    labels.join(", ")
                )
            }
            TypeKind::Domain(domain) => self.domain(&found.name, domain),
        }
    }

    fn domain(&self, name: &Name, domain: &Domain) -> String {
        let mut text = format!(
            "CREATE DOMAIN {} AS {}",
            self.name(name),
            self.data_type(&domain.base)
        );
        if let Some(collation) = &domain.collation {
            text.push_str(&format!(" COLLATE {collation}"));
        }
        if let Some(default) = &domain.default {
            text.push_str(&format!(" DEFAULT {}", self.default(default)));
        }
        if domain.not_null {
            text.push_str(" NOT NULL");
        }
        for check in &domain.checks {
            text.push_str(&format!(" {}", self.constraint(check, false)));
        }
        text
    }

    pub(crate) fn sequence(&self, sequence: &Sequence) -> String {
        let unlogged = if sequence.unlogged { "UNLOGGED " } else { "" };
        let options = sequence_options(&sequence.options);
        let space = if options.is_empty() { "" } else { " " };
        format!(
            "CREATE {unlogged}SEQUENCE {}{space}{options}",
            self.name(&sequence.name)
        )
    }

    /// `CREATE [OR REPLACE] VIEW …`.
    pub(crate) fn view(&self, view: &View, replace: bool) -> String {
        let kind = match (view.materialized, view.recursive) {
            (true, _) => "MATERIALIZED VIEW",
            (false, true) => "RECURSIVE VIEW",
            (false, false) => "VIEW",
        };
        let columns = if view.columns.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.list(&view.columns, ", "))
        };
        let query = if self.is_sqldef() {
            super::expression::as_sqldef(&view.query.0)
        } else {
            view.query.0.clone()
        };
        format!(
            "CREATE {}{kind} {}{columns}{} AS {query}{}",
            if replace { "OR REPLACE " } else { "" },
            self.name(&view.name),
            with_options(&view.options),
            if view.no_data { " WITH NO DATA" } else { "" }
        )
    }

    /// Spells a function's name with the argument types.
    pub(crate) fn function_name(&self, function: &Function) -> String {
        format!("{}({})", self.name(&function.name), function.signature)
    }

    /// `CREATE OR REPLACE FUNCTION …`.
    pub(crate) fn function(&self, function: &Function) -> String {
        let given = function
            .arguments
            .iter()
            .filter(|argument| argument.mode != "TABLE");
        let given: Vec<String> = given.map(|argument| self.argument(argument)).collect();
        let table = function
            .arguments
            .iter()
            .filter(|argument| argument.mode == "TABLE");
        let table: Vec<String> = table.map(|argument| self.argument(argument)).collect();
        let mut text = format!(
            "CREATE OR REPLACE {} {}({})",
            function.word(),
            self.name(&function.name),
            given.join(", ")
        );
        if !table.is_empty() {
            text.push_str(&format!("\n RETURNS TABLE({})", table.join(", ")));
        } else if let Some(returns) = &function.returns {
            let set = if returns.set { "SETOF " } else { "" };
            text.push_str(&format!(
                "\n RETURNS {set}{}",
                self.data_type(&returns.data_type)
            ));
        }
        text.push_str(&format!("\n LANGUAGE {}", quote(&function.language)));
        text.push_str(&attributes(function));
        text + &body(function)
    }

    fn argument(&self, argument: &Argument) -> String {
        let mode = match argument.mode {
            "IN" | "TABLE" => String::new(),
            mode => format!("{mode} "),
        };
        let name = argument
            .name
            .as_ref()
            .map(|name| format!("{} ", quote(name)));
        let default = argument
            .default
            .as_ref()
            .map(|default| format!(" DEFAULT {}", default.0));
        format!(
            "{mode}{}{}{}",
            name.unwrap_or_default(),
            self.data_type(&argument.data_type),
            default.unwrap_or_default()
        )
    }

    /// Spells `CREATE TRIGGER …`. `is_known`: the function is part of the schema, so the function's
    /// schema is known.
    pub(crate) fn trigger(&self, trigger: &Trigger, on: &Name, is_known: bool) -> String {
        let lower = |word: &str| {
            if self.is_sqldef() {
                word.to_lowercase()
            } else {
                word.to_owned()
            }
        };
        let events = trigger.events.iter().map(|(event, columns)| {
            if columns.is_empty() {
                lower(event)
            } else {
                format!("{} OF {}", lower(event), self.plain_list(columns))
            }
        });
        let mut text = format!(
            "CREATE {}TRIGGER {} {} {} ON {}",
            if trigger.is_constraint {
                "CONSTRAINT "
            } else {
                ""
            },
            self.ident(&trigger.name),
            lower(trigger.timing),
            events.collect::<Vec<_>>().join(" OR "),
            self.name(on)
        );
        if let Some(from) = &trigger.from {
            text.push_str(&format!(" FROM {}", self.name(from)));
        }
        if trigger.deferrable {
            text.push_str(" DEFERRABLE");
        }
        if trigger.deferred {
            text.push_str(" INITIALLY DEFERRED");
        }
        if !trigger.referencing.is_empty() {
            text.push_str(&format!(" REFERENCING {}", trigger.referencing));
        }
        text.push_str(if trigger.row {
            " FOR EACH ROW"
        } else {
            " FOR EACH STATEMENT"
        });
        if let Some(when) = &trigger.when {
            text.push_str(&format!(" WHEN ({})", self.expression(when)));
        }
        let word = if trigger.says_procedure && self.is_sqldef() {
            "PROCEDURE"
        } else {
            "FUNCTION"
        };
        let with_schema = trigger.function_schema_said || (is_known && !self.is_sqldef());
        let function = if with_schema {
            trigger.function.quoted()
        } else {
            quote(&trigger.function.name)
        };
        let arguments = match trigger.arguments.trim() {
            "" => "()",
            arguments => arguments,
        };
        format!("{text} EXECUTE {word} {function}{arguments}")
    }

    fn plain_list(&self, names: &[String]) -> String {
        let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
        names.join(", ")
    }

    pub(crate) fn policy(&self, policy: &Policy, on: &Name) -> String {
        let roles: Vec<String> = policy.roles.iter().map(|role| quote(role)).collect();
        let mut text = format!(
            "CREATE POLICY {} ON {} AS {} FOR {} TO {}",
            self.ident(&policy.name),
            self.name(on),
            if policy.restrictive {
                "RESTRICTIVE"
            } else {
                "PERMISSIVE"
            },
            policy.command,
            if roles.is_empty() {
                "PUBLIC".to_owned()
            } else {
                roles.join(", ")
            }
        );
        for (word, expression) in [("USING", &policy.using), ("WITH CHECK", &policy.check)] {
            if let Some(expression) = expression {
                text.push_str(&format!(" {word} ({})", self.expression(expression)));
            }
        }
        text
    }
}

impl Function {
    /// Keyword of the function in statements.
    pub(crate) fn word(&self) -> &'static str {
        match self.is_procedure {
            true => "PROCEDURE",
            false => "FUNCTION",
        }
    }
}

fn attributes(function: &Function) -> String {
    let mut text = String::new();
    for (is_on, words) in [
        (function.window, " WINDOW"),
        (function.volatility == "IMMUTABLE", " IMMUTABLE"),
        (function.volatility == "STABLE", " STABLE"),
        (function.strict, " STRICT"),
        (function.security_definer, " SECURITY DEFINER"),
        (function.leakproof, " LEAKPROOF"),
    ] {
        if is_on {
            text.push_str(words);
        }
    }
    if function.parallel != "UNSAFE" && !function.parallel.is_empty() {
        text.push_str(&format!(" PARALLEL {}", function.parallel));
    }
    for (word, value) in [
        ("COST", &function.cost),
        ("ROWS", &function.rows),
        ("SUPPORT", &function.support),
    ] {
        if let Some(value) = value {
            text.push_str(&format!(" {word} {value}"));
        }
    }
    for (name, value) in &function.settings {
        let values: Vec<String> = value.split(", ").map(literal).collect();
        text.push_str(&format!("\n SET {name} TO {}", values.join(", ")));
    }
    text
}

fn body(function: &Function) -> String {
    match &function.body {
        Body::Text(text) => {
            let mut tag = "$$".to_owned();
            let mut number = 0;
            while text.contains(&tag) {
                number += 1;
                tag = format!("$body{number}$");
            }
            format!("\nAS {tag}{text}{tag}")
        }
        Body::Library(library, symbol) => {
            let symbol = symbol
                .as_ref()
                .map(|symbol| format!(", {}", literal(symbol)));
            format!("\nAS {}{}", literal(library), symbol.unwrap_or_default())
        }
        Body::Sql(sql) => format!("\n{}", sql.0),
    }
}

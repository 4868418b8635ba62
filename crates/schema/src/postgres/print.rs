//! Spelling of a plan's elements: names, types, expressions, columns.
//!
//! Hakaru's own style writes SQL as the source has it, with quotes where a name needs them. The
//! other style follows sqldef: every name in quotes unless the user wants the source's, short names
//! of types, words of expressions in lower case.

mod constraint;
pub(super) mod expression;
mod object;
mod table;

use super::model::{Identity, SequenceOptions, Sql, Type};
use super::name::{Name, always_quote, quote};
use crate::{PlanOptions, Style};

pub(crate) use expression::trimmed;

/// What spelling depends on.
#[derive(Clone, Copy)]
pub(crate) struct Printer<'a> {
    pub(crate) style: Style,
    pub(crate) keep_quoting: bool,
    pub(crate) default_schema: &'a str,
}

/// Types whose short name sqldef prints.
const SHORT_TYPES: [(&str, &str); 4] = [
    ("character varying", "varchar"),
    ("character", "char"),
    ("timestamp without time zone", "timestamp"),
    ("time without time zone", "time"),
];

impl<'a> Printer<'a> {
    pub(crate) fn new(options: &PlanOptions, default_schema: &'a str) -> Printer<'a> {
        Printer {
            style: options.style,
            keep_quoting: options.keep_quoting,
            default_schema,
        }
    }

    pub(crate) fn is_sqldef(&self) -> bool {
        self.style == Style::Sqldef
    }

    /// A name of one part.
    pub(crate) fn ident(&self, name: &str) -> String {
        if self.is_sqldef() && !self.keep_quoting {
            always_quote(name)
        } else {
            quote(name)
        }
    }

    /// Spells a name with schema.
    pub(crate) fn name(&self, name: &Name) -> String {
        format!("{}.{}", self.ident(&name.schema), self.ident(&name.name))
    }

    /// The name of an index or constraint as a relation.
    pub(crate) fn beside(&self, table: &Name, name: &str) -> String {
        format!("{}.{}", self.ident(&table.schema), self.ident(name))
    }

    /// Spells a list of names with a separator.
    pub(crate) fn list(&self, names: &[String], separator: &str) -> String {
        let names: Vec<String> = names.iter().map(|name| self.ident(name)).collect();
        names.join(separator)
    }

    pub(crate) fn data_type(&self, data_type: &Type) -> String {
        if !self.is_sqldef() {
            return data_type.sql();
        }
        let mut shown = data_type.clone();
        if shown.schema.as_deref() == Some(self.default_schema) {
            shown.schema = None;
        }
        let short = SHORT_TYPES
            .iter()
            .find(|(long, _)| shown.schema.is_none() && *long == shown.name);
        match short {
            Some((long, short)) if !shown.is_array || *long == "character varying" => {
                let full = shown.sql();
                match *long {
                    "timestamp without time zone" | "time without time zone" => {
                        full.replace(" without time zone", "")
                    }
                    long => full.replacen(long, short, 1),
                }
            }
            _ => shown.sql(),
        }
    }

    /// Spells an expression without enclosing parentheses.
    pub(crate) fn expression(&self, sql: &Sql) -> String {
        if self.is_sqldef() {
            expression::as_sqldef(&sql.0)
        } else {
            trimmed(&sql.0).to_owned()
        }
    }

    /// An expression after `DEFAULT`. The grammar takes no operators of lower rank there without
    /// parentheses.
    pub(crate) fn default(&self, sql: &Sql) -> String {
        if self.is_sqldef() {
            let text = expression::as_sqldef(&sql.0);
            // Only what stands in parentheses may have words between its parts.
            let has_words = text.to_ascii_lowercase().contains(" at time zone ");
            match has_words && !text.starts_with('(') {
                true => format!("({text})"),
                false => text,
            }
        } else {
            sql.0.trim().to_owned()
        }
    }

    /// `GENERATED … AS IDENTITY (…)`.
    pub(crate) fn identity(&self, identity: &Identity) -> String {
        let how = if identity.always {
            "ALWAYS"
        } else {
            "BY DEFAULT"
        };
        let options = if self.is_sqldef() {
            identity.written.trim_matches(['(', ')']).trim().to_owned()
        } else {
            sequence_options(&identity.options)
        };
        let options = match options.trim() {
            "" => String::new(),
            options => format!(" ({options})"),
        };
        format!("GENERATED {how} AS IDENTITY{options}")
    }
}

/// Spells options different from the server's defaults.
pub(crate) fn sequence_options(options: &SequenceOptions) -> String {
    let mut words = Vec::new();
    if let Some(data_type) = &options.data_type {
        words.push(format!("AS {data_type}"));
    }
    for (word, value) in [
        ("START WITH", options.start),
        ("INCREMENT BY", options.increment),
        ("MINVALUE", options.min),
        ("MAXVALUE", options.max),
        ("CACHE", options.cache),
    ] {
        if let Some(value) = value {
            words.push(format!("{word} {value}"));
        }
    }
    if options.cycle {
        words.push("CYCLE".to_owned());
    }
    words.join(" ")
}

/// Spells ` WITH (fillfactor=70, autovacuum_enabled=false)`, or nothing.
pub(crate) fn with_options(options: &std::collections::BTreeMap<String, String>) -> String {
    if options.is_empty() {
        return String::new();
    }
    format!(" WITH ({})", option_list(options))
}

pub(crate) fn option_list(options: &std::collections::BTreeMap<String, String>) -> String {
    let plain = |value: &str| {
        value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    };
    let options: Vec<String> = options
        .iter()
        .map(|(name, value)| {
            if plain(value) {
                format!("{name} = {value}")
            } else {
                format!("{name} = {}", super::name::literal(value))
            }
        })
        .collect();
    options.join(", ")
}

//! Moves secrets into rows of a feed, so a flow can be published.

use crate::call::{Template, name_of};

/// Words in the names of fields and headers whose values are secrets.
const WORDS: [&str; 12] = [
    "pass",
    "secret",
    "token",
    "csrf",
    "auth",
    "credential",
    "api-key",
    "apikey",
    "api_key",
    "otp",
    "pin",
    "card",
];

/// Returns whether a field or header of the name holds a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| match *word {
        // Short words are parts of others, such as `shipping`.
        "otp" | "pin" | "card" => name.split(['_', '-', '[', ']']).any(|part| part == *word),
        word => name.contains(word),
    })
}

/// Names and values of secrets, in the order of the record.
#[derive(Debug, Default)]
pub(crate) struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Returns the variable for a secret.
    pub(crate) fn hide(&mut self, field: &str, value: &str) -> Template {
        Template::variable(&self.column(field, value))
    }

    /// Returns the name of the variable for a secret.
    pub(crate) fn column(&mut self, field: &str, value: &str) -> String {
        let known = self.0.iter().find(|(_, known)| known == value);
        match known {
            Some((name, _)) => name.clone(),
            None => self.ask_for(field, value),
        }
    }

    /// Returns the name of the variable of a secret still unknown: equal stand-ins are different
    /// secrets.
    pub(crate) fn ask_for(&mut self, field: &str, stand_in: &str) -> String {
        let taken = |name: &str| self.0.iter().any(|(known, _)| known == name);
        let name = unique(&variable_name(field), taken);
        self.0.push((name.clone(), stand_in.to_owned()));
        name
    }

    /// Returns a variable for a secret, and any other value unchanged.
    pub(crate) fn template(&mut self, field: &str, value: &str) -> Template {
        match is_secret(field) {
            true => self.hide(field, value),
            false => Template::text(value),
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns one row with all secrets.
    pub(crate) fn feed(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let names: Vec<&str> = self.names().collect();
        let values: Vec<String> = (self.0.iter())
            .map(|(_, value)| format!("\"{}\"", value.replace('"', "\"\"")))
            .collect();
        Some(format!("{}\n{}\n", names.join(","), values.join(",")))
    }
}

/// A field's name as a variable's. Names that every flow has are not taken.
pub(crate) fn variable_name(field: &str) -> String {
    let name = name_of(field, '_');
    match name.as_str() {
        "" | "user" | "run" | "iteration" | "base_url" | "newuuid" | "newdate" | "getenv" => {
            format!("the_{}", if name.is_empty() { "value" } else { &name })
        }
        name if name.starts_with(|c: char| c.is_ascii_digit()) => format!("v_{name}"),
        name => name.to_owned(),
    }
}

/// Returns the name, with a number appended where taken.
pub(crate) fn unique(base: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(base) {
        return base.to_owned();
    }
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    let mut free = numbered.filter(|name| !is_taken(name));
    free.next().unwrap_or_else(|| base.to_owned())
}

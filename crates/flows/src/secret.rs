//! Moves secrets into rows of a feed, so a flow can be published.

pub(crate) use secrets::is_secret;

use crate::call::{Template, name_of};

/// First letters of keys given out by services.
const KEYS: [&str; 9] = [
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "sk_live_",
    "sk-",
    "AKIA",
];
/// Length of the shortest key recognised by first letters.
const KEY_LETTERS_MIN: usize = 20;

/// Returns whether a value has the form of a secret: a signed token (JWT), or a key of a service.
pub(crate) fn is_token(value: &str) -> bool {
    let value = value.strip_prefix("Bearer ").unwrap_or(value);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.=".contains(letter);
    let is_signed = value.starts_with("eyJ") && value.matches('.').count() >= 2;
    let is_key = KEYS.iter().any(|begin| value.starts_with(begin));
    value.len() >= KEY_LETTERS_MIN && (is_signed || is_key) && value.chars().all(is_letter)
}

/// Names and values of secrets, in the order of the record; and names of other variables.
#[derive(Debug, Default)]
pub(crate) struct Secrets(Vec<(String, String)>, Vec<String>);

impl Secrets {
    /// Returns the variable for a secret; an empty value is none, and a row with nothing else could
    /// not be read again.
    pub(crate) fn hide(&mut self, field: &str, value: &str) -> Template {
        match value.is_empty() {
            true => Template::default(),
            false => Template::variable(&self.column(field, value)),
        }
    }

    /// Returns name and password for `[BasicAuth]`; a name without a password is a key.
    pub(crate) fn login(&mut self, name: &str, password: &str) -> (Template, Template) {
        match password.is_empty() {
            true => (self.hide("user_key", name), Template::default()),
            false => (Template::text(name), self.hide("password", password)),
        }
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
        let taken = |name: &str| {
            let own = self.0.iter().map(|(known, _)| known);
            own.chain(&self.1).any(|known| known == name)
        };
        let name = unique(&variable_name(field), taken);
        self.0.push((name.clone(), stand_in.to_owned()));
        name
    }

    /// Returns a variable for a secret, and any other value unchanged.
    pub(crate) fn template(&mut self, field: &str, value: &str) -> Template {
        match is_secret(field) || is_token(value) {
            true => self.hide(field, value),
            false => Template::text(value),
        }
    }

    /// Keeps a name for another variable.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.1.push(name.to_owned());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_told_by_their_form() {
        assert!(is_token(
            "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
        ));
        assert!(is_token("ghp_0123456789abcdefghij"));
        for value in [
            "eyJ.a.b",
            "sk-learn",
            "AKIA is a name with many letters",
            "1.2.3",
        ] {
            assert!(!is_token(value), "{value}");
        }
    }

    #[test]
    fn a_secret_has_no_name_of_another_variable() {
        let mut secrets = Secrets::default();
        secrets.reserve("token");
        assert_eq!(secrets.column("token", "a"), "token_2");
        assert_eq!(secrets.column("token", "b"), "token_3");
    }

    #[test]
    fn an_empty_value_is_no_secret_and_a_name_alone_is_one() {
        let mut secrets = Secrets::default();
        assert_eq!(secrets.template("password", ""), Template::default());
        assert_eq!(secrets.feed(), None);
        let (name, password) = secrets.login("sk_test_1", "");
        assert_eq!(name, Template::variable("user_key"));
        assert_eq!(password, Template::default());
        let (name, password) = secrets.login("ann", "hush");
        assert_eq!(name, Template::text("ann"));
        assert_eq!(password, Template::variable("password"));
        let feed = "user_key,password\n\"sk_test_1\",\"hush\"\n";
        assert_eq!(secrets.feed().as_deref(), Some(feed));
    }
}

//! The language of pages: the command line's, else the locale's.

use std::env;
use std::sync::OnceLock;

use clap::ValueEnum;
use words::Language;

/// A language as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Typed {
    /// English
    En,
    /// Japanese
    Ja,
}

static TYPED: OnceLock<Typed> = OnceLock::new();

/// Keeps what the command line says; the first call counts.
pub fn choose(typed: Option<Typed>) {
    if let Some(typed) = typed {
        let _ = TYPED.set(typed);
    }
}

/// In which pages are written.
pub fn chosen() -> Language {
    match TYPED.get() {
        Some(Typed::En) => Language::English,
        Some(Typed::Ja) => Language::Japanese,
        None => of_locale(|name| env::var(name).ok()),
    }
}

/// Language by the first variable with a value, as everywhere on Unix.
fn of_locale(variable: impl Fn(&str) -> Option<String>) -> Language {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let set = names.into_iter().filter_map(variable);
    let locale = set.into_iter().find(|locale| !locale.is_empty());
    locale.map_or(Language::English, |locale| Language::of_locale(&locale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let check = |set: &[(&str, &str)], expected| {
            let of = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(of_locale(of), expected, "{set:?}");
        };
        check(&[("LANG", "ja_JP.UTF-8")], Language::Japanese);
        check(
            &[("LC_ALL", "C"), ("LANG", "ja_JP.UTF-8")],
            Language::English,
        );
        check(
            &[("LC_ALL", ""), ("LC_MESSAGES", "ja_JP")],
            Language::Japanese,
        );
        check(&[], Language::English);
    }
}

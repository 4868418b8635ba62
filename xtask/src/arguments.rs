//! Values of a task's flags.

use std::path::PathBuf;

use crate::run::Outcome;

/// Reads the number behind the flag `word`: a whole one above 0.
pub(crate) fn count(word: &str, value: &str) -> Outcome<u32> {
    let number = value.parse::<u32>().ok().filter(|number| *number > 0);
    number.ok_or(format!("{word} takes a number above 0, not {value:?}"))
}

/// Returns the whole path of the existing file behind the flag `word`.
pub(crate) fn existing(word: &str, value: &str) -> Outcome<PathBuf> {
    let whole = PathBuf::from(value).canonicalize();
    whole.map_err(|error| format!("{word} {value}: {error}"))
}

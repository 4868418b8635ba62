//! The Japanese of every template, one file an area, with the same names in braces.

use std::collections::HashMap;
use std::sync::LazyLock;

/// English templates with their Japanese ones.
type Sentences = &'static [(&'static str, &'static str)];

/// All areas.
const AREAS: [Sentences; 0] = [];

static ALL: LazyLock<HashMap<&str, &str>> =
    LazyLock::new(|| AREAS.into_iter().flatten().copied().collect());

/// The Japanese of an English template, where there is one.
pub fn of(english: &str) -> Option<&'static str> {
    ALL.get(english).copied()
}

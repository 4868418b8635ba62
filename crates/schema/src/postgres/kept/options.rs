//! `OPTIONS (…)` of servers, wrappers, mappings and foreign tables, and statements that change an
//! object.

use std::collections::BTreeMap;

use super::norm::listed;
use super::reader::{Reader, find_word};
use crate::postgres::name::quote;
use crate::{Hazard, Verb};

/// A statement, and its possible harm.
pub(crate) struct Change {
    pub(crate) sql: String,
    pub(crate) hazards: Vec<Hazard>,
    /// The changed attribute of a composite type, with the kind of change.
    pub(crate) attribute: Option<(Verb, String)>,
}

impl Change {
    pub(super) fn plain(sql: String) -> Change {
        Change {
            sql,
            hazards: Vec::new(),
            attribute: None,
        }
    }
}

/// The text before `OPTIONS (…)`, and the options by name.
pub(super) fn options_of(sql: &str) -> Option<(&str, BTreeMap<String, String>)> {
    let Some(at) = find_word(sql, "OPTIONS") else {
        return Some((sql.trim(), BTreeMap::new()));
    };
    let inside = Reader::new(&sql[at + "OPTIONS".len()..], "").parens()?;
    let mut options = BTreeMap::new();
    for item in listed(inside).into_iter().filter(|item| !item.is_empty()) {
        let mut reader = Reader::new(item, "");
        let name = reader.name()?.pop()?;
        options.insert(name, reader.rest().to_owned());
    }
    Some((sql[..at].trim(), options))
}

/// The list for `OPTIONS (…)` from one set of options to another.
pub(crate) fn options_changed(
    had: &BTreeMap<String, String>,
    wanted: &BTreeMap<String, String>,
) -> String {
    let gone = had.keys().filter(|name| !wanted.contains_key(*name));
    let mut list: Vec<String> = gone.map(|name| format!("DROP {}", quote(name))).collect();
    for (name, value) in wanted {
        match had.get(name) {
            None => list.push(format!("ADD {} {value}", quote(name))),
            Some(before) if before != value => list.push(format!("SET {} {value}", quote(name))),
            Some(_) => {}
        }
    }
    list.join(", ")
}

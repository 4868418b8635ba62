//! Which object a statement makes or changes, told by its first words.

use super::lex::{Kind, Token, unquoted};

/// What a statement is to a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Makes the object of this kind and name.
    Makes(&'static str, String),
    /// Adds to the table of this name: `ALTER TABLE`, `CREATE INDEX`.
    Changes(String),
    /// Removes what was there: dumps clear the way so.
    Removes(&'static str, String),
    /// Rows, which are no schema.
    Data,
    /// Settings and client directives.
    Setting,
    /// Not known.
    Unknown,
}

/// Kinds, with the word that servers have for them, in the order in which an empty server takes them.
pub(super) const KINDS: [(&str, &str); 7] = [
    ("sequence", "SEQUENCE"),
    ("table", "TABLE"),
    ("view", "VIEW"),
    ("function", "FUNCTION"),
    ("procedure", "PROCEDURE"),
    ("trigger", "TRIGGER"),
    ("event", "EVENT"),
];

const DATA: [&str; 6] = ["INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD", "TRUNCATE"];
const SETTINGS: [&str; 12] = [
    "SET", "USE", "LOCK", "UNLOCK", "START", "COMMIT", "BEGIN", "ROLLBACK", "FLUSH", "ANALYZE",
    "CHANGE", "SOURCE",
];

pub(super) fn role(tokens: &[Token<'_>]) -> Role {
    let Some(first) = tokens.first() else {
        return Role::Setting;
    };
    let is_any = |words: &[&str]| words.iter().any(|word| first.is(word));
    if is_any(&DATA) {
        return Role::Data;
    }
    if is_any(&SETTINGS) {
        return Role::Setting;
    }
    let is_database = tokens
        .get(1)
        .is_some_and(|second| second.is("DATABASE") || second.is("SCHEMA"));
    match first.text.to_ascii_uppercase().as_str() {
        _ if is_database => Role::Setting,
        "CREATE" => created(tokens),
        "ALTER" => match named(tokens, "TABLE") {
            Some(name) => Role::Changes(name),
            None => Role::Unknown,
        },
        "DROP" => {
            kind_and_name(tokens).map_or(Role::Unknown, |(kind, name)| Role::Removes(kind, name))
        }
        _ => Role::Unknown,
    }
}

fn created(tokens: &[Token<'_>]) -> Role {
    let head = tokens.iter().take_while(|token| !token.is_op("("));
    let is_index = head.take(4).any(|token| token.is("INDEX"));
    if is_index {
        let on = tokens.iter().position(|token| token.is("ON"));
        let name = on.and_then(|on| name(&tokens[on + 1..]));
        return name.map_or(Role::Unknown, Role::Changes);
    }
    kind_and_name(tokens).map_or(Role::Unknown, |(kind, name)| Role::Makes(kind, name))
}

/// The kind stands first of all those words: a trigger names its table later, an event may alter one.
fn kind_and_name(tokens: &[Token<'_>]) -> Option<(&'static str, String)> {
    let head = tokens.iter().take_while(|token| !token.is_op("("));
    let (at, kind) = head.enumerate().find_map(|(at, token)| {
        KINDS
            .iter()
            .find(|(_, word)| token.is(word))
            .map(|(kind, _)| (at, *kind))
    })?;
    Some((kind, name(&tokens[at + 1..])?))
}

fn named(tokens: &[Token<'_>], word: &str) -> Option<String> {
    let at = tokens.iter().take(4).position(|token| token.is(word))?;
    name(&tokens[at + 1..])
}

/// The name behind `IF [NOT] EXISTS` and the database's.
fn name(tokens: &[Token<'_>]) -> Option<String> {
    let mut rest = tokens
        .iter()
        .skip_while(|token| token.is("IF") || token.is("NOT") || token.is("EXISTS"));
    let first = plain(rest.next()?)?;
    match rest.next() {
        Some(dot) if dot.is_op(".") => plain(rest.next()?),
        _ => Some(first),
    }
}

fn plain(token: &Token<'_>) -> Option<String> {
    match token.kind {
        Kind::Word => Some(token.text.to_owned()),
        Kind::Quoted => Some(unquoted(token.text)),
        _ => None,
    }
}

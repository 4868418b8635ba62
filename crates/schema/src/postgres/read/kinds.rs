//! Which statements are schema, which have to be understood, and which are passed over.

use squawk_parser::SyntaxKind;

/// First words of statements reading or changing rows, not the schema.
const DATA: &[&str] = &[
    "insert", "update", "delete", "copy", "select", "merge", "truncate", "values", "with", "table",
];
/// First words of statements for session settings and maintenance.
const SETTINGS: &[&str] = &[
    "set",
    "reset",
    "begin",
    "start",
    "commit",
    "end",
    "rollback",
    "savepoint",
    "release",
    "analyze",
    "vacuum",
    "show",
    "lock",
    "refresh",
    "checkpoint",
    "discard",
    "notify",
    "listen",
    "cluster",
    "reindex",
];

/// The first word in lower case; empty where there is none.
pub(super) fn first_word(text: &str) -> String {
    let end = text
        .find(|letter: char| !letter.is_ascii_alphabetic())
        .unwrap_or(text.len());
    text[..end].to_ascii_lowercase()
}

/// Whether statements beginning with the word read or change rows.
pub(super) fn is_data(word: &str) -> bool {
    DATA.contains(&word)
}

/// Whether statements beginning with the word are irrelevant to a schema for another reason.
pub(super) fn is_setting(word: &str) -> bool {
    SETTINGS.contains(&word)
}

/// `SELECT pg_catalog.set_config(…)`, as dumps begin.
pub(super) fn is_setting_call(text: &str) -> bool {
    text.get(..60.min(text.len()))
        .is_some_and(|start| start.contains("set_config"))
}

/// Whether statements of the kind must be understood, so errors inside are fatal.
pub(super) fn is_ours(kind: SyntaxKind) -> bool {
    use SyntaxKind as K;
    matches!(
        kind,
        K::CREATE_TABLE
            | K::ALTER_TABLE
            | K::CREATE_INDEX
            | K::CREATE_VIEW
            | K::CREATE_MATERIALIZED_VIEW
            | K::CREATE_TYPE
            | K::ALTER_TYPE
            | K::CREATE_DOMAIN
            | K::CREATE_SEQUENCE
            | K::ALTER_SEQUENCE
            | K::CREATE_FUNCTION
            | K::CREATE_PROCEDURE
            | K::CREATE_TRIGGER
            | K::CREATE_POLICY
            | K::CREATE_EXTENSION
            | K::CREATE_SCHEMA
            | K::COMMENT_ON
            | K::GRANT
            | K::REVOKE
            | K::ERROR
    )
}

pub(super) fn is_drop(kind: SyntaxKind) -> bool {
    use SyntaxKind as K;
    matches!(
        kind,
        K::DROP_TABLE
            | K::DROP_INDEX
            | K::DROP_VIEW
            | K::DROP_MATERIALIZED_VIEW
            | K::DROP_TYPE
            | K::DROP_DOMAIN
            | K::DROP_SEQUENCE
            | K::DROP_FUNCTION
            | K::DROP_PROCEDURE
            | K::DROP_TRIGGER
            | K::DROP_POLICY
            | K::DROP_EXTENSION
            | K::DROP_SCHEMA
    )
}

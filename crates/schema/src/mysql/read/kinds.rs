//! Statements of data and of settings, and the kinds of objects named by others.

use crate::mysql::cursor::Cursor;
use crate::mysql::model::{PACKAGE, PACKAGE_BODY};

pub(super) const DATA: [&str; 9] = [
    "INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD", "TRUNCATE", "SELECT", "CALL", "DO",
];
pub(super) const SETTINGS: [&str; 14] = [
    "SET", "USE", "LOCK", "UNLOCK", "START", "COMMIT", "BEGIN", "ROLLBACK", "FLUSH", "ANALYZE",
    "CHANGE", "SOURCE", "OPTIMIZE", "SHOW",
];

/// The kind of an object stored as written, behind `CREATE`.
pub(super) fn opaque_kind(cursor: &mut Cursor<'_, '_>) -> Option<&'static str> {
    const KINDS: [(&str, &str); 4] = [
        ("PACKAGE", PACKAGE),
        ("PROCEDURE", "procedure"),
        ("FUNCTION", "function"),
        ("SEQUENCE", "sequence"),
    ];
    if cursor.eat_seq(&["PACKAGE", "BODY"]) {
        return Some(PACKAGE_BODY);
    }
    let found = KINDS.iter().find(|(word, _)| cursor.eat(word));
    found.map(|(_, kind)| *kind)
}

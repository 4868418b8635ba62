//! Statements of data and of settings, and the kinds of objects named by others.

use crate::ObjectKind;
use crate::mysql::cursor::Cursor;
use crate::mysql::lexer::Token;

pub(super) const DATA: [&str; 9] = [
    "INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD", "TRUNCATE", "SELECT", "CALL", "DO",
];
pub(super) const SETTINGS: [&str; 14] = [
    "SET", "USE", "LOCK", "UNLOCK", "START", "COMMIT", "BEGIN", "ROLLBACK", "FLUSH", "ANALYZE",
    "CHANGE", "SOURCE", "OPTIMIZE", "SHOW",
];

/// The kind of object behind `DROP`; `None` where the schema has none of the kind.
pub(super) fn dropped_kind(word: &Token<'_>) -> Option<ObjectKind> {
    const KINDS: [(&str, ObjectKind); 8] = [
        ("TABLE", ObjectKind::Table),
        ("VIEW", ObjectKind::View),
        ("TRIGGER", ObjectKind::Trigger),
        ("EVENT", ObjectKind::Event),
        ("PACKAGE", ObjectKind::Package),
        ("PROCEDURE", ObjectKind::Procedure),
        ("FUNCTION", ObjectKind::Function),
        ("SEQUENCE", ObjectKind::Sequence),
    ];
    let found = KINDS.iter().find(|(known, _)| word.is(known));
    found.map(|(_, kind)| *kind)
}

/// The kind of an object stored as written, behind `CREATE`.
pub(super) fn opaque_kind(cursor: &mut Cursor<'_, '_>) -> Option<ObjectKind> {
    const KINDS: [(&str, ObjectKind); 4] = [
        ("PACKAGE", ObjectKind::Package),
        ("PROCEDURE", ObjectKind::Procedure),
        ("FUNCTION", ObjectKind::Function),
        ("SEQUENCE", ObjectKind::Sequence),
    ];
    if cursor.eat_seq(&["PACKAGE", "BODY"]) {
        return Some(ObjectKind::PackageBody);
    }
    let found = KINDS.iter().find(|(word, _)| cursor.eat(word));
    found.map(|(_, kind)| *kind)
}

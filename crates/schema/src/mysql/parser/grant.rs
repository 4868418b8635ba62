//! `GRANT` and `REVOKE` of privileges on the own database.

use std::collections::BTreeSet;

use super::program::definer;
use crate::mysql::cursor::Cursor;
use crate::mysql::lexer::{Fault, Token, backticked};
use crate::mysql::model::{Grant, Granted};
use crate::{ObjectKind, Product, Server, Version};

/// Privileges on a database, common to MySQL and MariaDB; the first are those on a table.
const OF_DATABASE: [&str; 18] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "REFERENCES",
    "INDEX",
    "ALTER",
    "CREATE VIEW",
    "SHOW VIEW",
    "TRIGGER",
    "CREATE TEMPORARY TABLES",
    "LOCK TABLES",
    "EXECUTE",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "EVENT",
];
const OF_TABLE: usize = 12;
const OF_ROUTINE: [&str; 2] = ["EXECUTE", "ALTER ROUTINE"];

/// First version of MariaDB with a privilege for definitions of routines.
const SHOWS_ROUTINES: Version = Version(11, 3, 0);

/// The grants of a statement from behind `GRANT` or `REVOKE` on; `None` for roles, for the whole
/// server, and for other databases.
pub(crate) fn grants(
    cursor: &mut Cursor<'_, '_>,
    server: &Server,
    database: Option<&str>,
) -> Result<Option<Vec<Grant>>, Fault> {
    let mut is_grantable = cursor.eat_seq(&["GRANT", "OPTION", "FOR"]);
    let Some(written) = privileges(cursor)? else {
        return Ok(None);
    };
    let Some(on) = granted(cursor, database)? else {
        return Ok(None);
    };
    if !cursor.eat("TO") {
        cursor.expect("FROM")?;
    }
    let mut grantees = vec![grantee(cursor, server)?];
    while cursor.eat_op(",") {
        grantees.push(grantee(cursor, server)?);
    }
    is_grantable |= cursor.eat_seq(&["WITH", "GRANT", "OPTION"]);
    if !cursor.is_done() {
        return Ok(None);
    }
    let privileges = expanded(&written, on.kind, server);
    let one = |grantee| Grant {
        on: on.clone(),
        grantee,
        privileges: privileges.clone(),
        is_grantable,
    };
    Ok(Some(grantees.into_iter().map(one).collect()))
}

/// Everything before `ON`; `None` for a list of roles.
fn privileges(cursor: &mut Cursor<'_, '_>) -> Result<Option<Vec<String>>, Fault> {
    let mut all = Vec::new();
    loop {
        let mut words: Vec<String> = Vec::new();
        while !cursor.is("ON") && !cursor.is_op(",") && !cursor.is_op("(") {
            if cursor.is_done() || cursor.is("TO") || cursor.is("FROM") {
                return Ok(None);
            }
            words.push(cursor.any()?.text.to_uppercase());
        }
        let words = words.join(" ");
        match cursor.is_op("(") {
            true => {
                let columns = cursor.names()?;
                let columns = columns.iter().map(|column| backticked(&column.text));
                all.extend(columns.map(|column| format!("{words} ({column})")));
            }
            false => all.push(words),
        }
        if cursor.eat("ON") {
            return Ok(Some(all));
        }
        cursor.expect_op(",")?;
    }
}

fn granted(cursor: &mut Cursor<'_, '_>, database: Option<&str>) -> Result<Option<Granted>, Fault> {
    let kind = kind(cursor);
    let of_database = Granted {
        kind: None,
        name: String::new(),
    };
    if cursor.eat_op("*") {
        // Another `*` means the whole server.
        return Ok((!cursor.is_op(".")).then_some(of_database));
    }
    let first = cursor.name()?;
    let is_own = |name: &str| database.is_none_or(|own| own == name.replace('\\', ""));
    if !cursor.eat_op(".") {
        return Ok(Some(Granted {
            kind: Some(kind.unwrap_or(ObjectKind::Table)),
            name: first.text,
        }));
    }
    if !is_own(&first.text) {
        return Ok(None);
    }
    if cursor.eat_op("*") {
        return Ok(Some(of_database));
    }
    Ok(Some(Granted {
        kind: Some(kind.unwrap_or(ObjectKind::Table)),
        name: cursor.name()?.text,
    }))
}

/// The kind of the object, if the statement says one. `PACKAGE` may be the name of a table.
fn kind(cursor: &mut Cursor<'_, '_>) -> Option<ObjectKind> {
    let kinds = [
        ("TABLE", ObjectKind::Table),
        ("PROCEDURE", ObjectKind::Procedure),
        ("FUNCTION", ObjectKind::Function),
    ];
    let found = kinds.into_iter().find(|(word, _)| cursor.eat(word));
    if found.is_some() || !cursor.is("PACKAGE") {
        return found.map(|(_, kind)| kind);
    }
    let is_name = |token: &Token<'_>| token.is("TO") || token.is("FROM") || token.is_op(".");
    if cursor.peek_at(1).is_none_or(is_name) {
        return None;
    }
    cursor.eat("PACKAGE");
    let is_body = cursor.is("BODY") && !cursor.peek_at(1).is_none_or(is_name);
    match is_body && cursor.eat("BODY") {
        true => Some(ObjectKind::PackageBody),
        false => Some(ObjectKind::Package),
    }
}

/// MariaDB finds out itself whether a name without a host is a role's or a user's.
pub(crate) fn grantee(cursor: &mut Cursor<'_, '_>, server: &Server) -> Result<String, Fault> {
    let name = definer(cursor)?;
    let name = name.ok_or_else(|| cursor.fault("expected a user or a role"))?;
    Ok(match server.product {
        Product::MariaDb => name
            .trim_end_matches("@`%`")
            .trim_end_matches("@``")
            .to_owned(),
        _ => name,
    })
}

fn expanded(written: &[String], kind: Option<ObjectKind>, server: &Server) -> BTreeSet<String> {
    let mut all: Vec<&str> = match kind {
        None => OF_DATABASE.to_vec(),
        Some(ObjectKind::Table) => OF_DATABASE[..OF_TABLE].to_vec(),
        _ => OF_ROUTINE.to_vec(),
    };
    let is_mariadb = server.product == Product::MariaDb;
    if is_mariadb && matches!(kind, None | Some(ObjectKind::Table)) {
        all.push("DELETE HISTORY");
    }
    let is_new = server
        .version
        .is_none_or(|version| version >= SHOWS_ROUTINES);
    if is_mariadb && is_new && kind != Some(ObjectKind::Table) {
        all.push("SHOW CREATE ROUTINE");
    }
    let mut privileges = BTreeSet::new();
    for privilege in written {
        match privilege.as_str() {
            "ALL" | "ALL PRIVILEGES" => {
                privileges.extend(all.iter().map(|name| (*name).to_owned()));
            }
            // It says that there is none.
            "USAGE" => {}
            _ => {
                privileges.insert(privilege.clone());
            }
        }
    }
    privileges
}

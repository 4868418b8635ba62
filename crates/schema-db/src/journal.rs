//! The journal of a run: a table in the database itself, present from before the first statement
//! until after the last one. The next run, from any host, finds out what was interrupted.
//!
//! What was executed is found by reading the schema again. The journal is for what is not found
//! there: objects dropped and recreated by a plan, such as a view around a change of its columns,
//! when the wanted schema does not name them.

use schema::{Object, ObjectKind};

use crate::apply::Step;
use crate::{Database, DbError, DbErrorKind};

/// Name of the table, excluded from compared schemas ([`is_journal`]).
pub const TABLE: &str = "_hakaru_journal";

/// Whether an object is the journal's table.
pub fn is_journal(object: &Object) -> bool {
    object.kind == ObjectKind::Table && object.name.rsplit('.').next() == Some(TABLE)
}

/// An interrupted run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Identity of the plan.
    pub plan_id: u64,
    /// Number of statements certainly executed; one more may be, too.
    pub done: usize,
    /// All statements of the plan.
    pub steps: Vec<Step>,
}

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal;

impl Journal {
    /// Writes the plan down. An older journal is replaced: whoever begins a run has taken over its
    /// rest.
    pub(crate) fn begin(
        database: &mut dyn Database,
        plan_id: u64,
        steps: &[Step],
    ) -> Result<Journal, DbError> {
        let text = match database.server().dialect() {
            // TEXT ends at 64 kB there.
            schema::Dialect::Mysql => "LONGTEXT",
            _ => "TEXT",
        };
        database.execute(&format!(
            "CREATE TABLE IF NOT EXISTS {TABLE} (plan VARCHAR(16) NOT NULL, done INT NOT NULL, body {text} NOT NULL)"
        ))?;
        let body = encode(steps);
        // One statement, so that what an older journal remembers is never gone before ours is
        // there.
        let write = match database.query(&format!("SELECT done FROM {TABLE}"))?.len() {
            0 => format!(
                "INSERT INTO {TABLE} (plan, done, body) VALUES ('{plan_id:016x}', 0, '{body}')"
            ),
            _ => format!("UPDATE {TABLE} SET plan = '{plan_id:016x}', done = 0, body = '{body}'"),
        };
        database.execute(&write)?;
        Ok(Journal)
    }

    /// So many statements are done; what the server refused is not.
    pub(crate) fn set_done(
        &mut self,
        database: &mut dyn Database,
        done: usize,
    ) -> Result<(), DbError> {
        database.execute(&format!("UPDATE {TABLE} SET done = {done}"))
    }

    /// All are done.
    pub(crate) fn end(self, database: &mut dyn Database) -> Result<(), DbError> {
        clear(database)
    }
}

/// Removes the journal.
///
/// # Errors
/// Whatever the server says.
pub fn clear(database: &mut dyn Database) -> Result<(), DbError> {
    database.execute(&format!("DROP TABLE IF EXISTS {TABLE}"))
}

/// What an earlier run left unfinished.
///
/// # Errors
/// Whatever the server says; but no table is no error.
pub fn unfinished(database: &mut dyn Database) -> Result<Option<Unfinished>, DbError> {
    let rows = match database.query(&format!("SELECT plan, done, body FROM {TABLE}")) {
        Ok(rows) => rows,
        Err(error) if error.kind == DbErrorKind::Refused => return Ok(None),
        Err(error) => return Err(error),
    };
    // A run that was cut off between making the table and filling it had done nothing.
    Ok(rows.first().and_then(|row| {
        Some(Unfinished {
            plan_id: u64::from_str_radix(row.first()?.as_deref()?, 16).ok()?,
            done: row.get(1)?.as_deref()?.parse().ok()?,
            steps: decode(row.get(2)?.as_deref()?)?,
        })
    }))
}

/// Encodes steps as hexadecimal, independent of any server's quoting.
fn encode(steps: &[Step]) -> String {
    let one = |step: &Step| {
        let flag = if step.transactional { "1" } else { "0" };
        [&step.sql, &step.verb, &step.kind, &step.name]
            .map(|text| hex(text))
            .join(",")
            + ","
            + flag
    };
    steps.iter().map(one).collect::<Vec<_>>().join(";")
}

fn decode(body: &str) -> Option<Vec<Step>> {
    let one = |text: &str| {
        let fields: Vec<&str> = text.split(',').collect();
        let [sql, verb, kind, name, flag] = fields[..] else {
            return None;
        };
        Some(Step {
            sql: unhex(sql)?,
            transactional: flag == "1",
            verb: unhex(verb)?,
            kind: unhex(kind)?,
            name: unhex(name)?,
            ..Step::default()
        })
    };
    body.split(';').map(one).collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<String> {
    let bytes: Option<Vec<u8>> = (0..text.len() / 2)
        .map(|index| u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok())
        .collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_whatever_they_hold() {
        let steps = [
            Step {
                sql: "CREATE VIEW `v;` AS SELECT 'a,b\\'\u{1F600}'".to_owned(),
                transactional: false,
                verb: "create".to_owned(),
                kind: "view".to_owned(),
                name: "v;".to_owned(),
                ..Step::default()
            },
            Step {
                sql: String::new(),
                transactional: true,
                verb: String::new(),
                kind: String::new(),
                name: "x".to_owned(),
                ..Step::default()
            },
        ];
        assert_eq!(decode(&encode(&steps)).unwrap(), steps);
        assert_eq!(decode("nonsense"), None);
    }

    #[test]
    fn the_journal_is_told_from_other_tables() {
        let object = |kind, name: &str| Object {
            kind,
            name: name.to_owned(),
        };
        assert!(is_journal(&object(ObjectKind::Table, "_hakaru_journal")));
        assert!(is_journal(&object(
            ObjectKind::Table,
            "public._hakaru_journal"
        )));
        assert!(!is_journal(&object(ObjectKind::Table, "my_hakaru_journal")));
    }
}

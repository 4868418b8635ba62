//! Rows with references to missing rows.

use rusqlite::Connection;

use super::run;
use crate::DbError;

/// Whether a statement disables foreign keys: the first of a plan, so counting starts there.
pub(super) fn is_switch(sql: &str) -> bool {
    pragma(sql).is_some_and(|words| words == "foreign_keys=off")
}

/// Whether a statement is the foreign key check, the last of a plan with a rebuild.
pub(super) fn is_check(sql: &str) -> bool {
    pragma(sql).is_some_and(|words| words == "foreign_key_check")
}

/// What follows `PRAGMA`, in lower case without blanks.
fn pragma(sql: &str) -> Option<String> {
    let (word, rest) = sql.trim().split_at_checked("pragma".len())?;
    word.eq_ignore_ascii_case("pragma").then(|| {
        let kept = rest.chars().filter(|c| !c.is_whitespace());
        kept.collect::<String>().to_ascii_lowercase()
    })
}

/// Number of violations by referencing table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Violations {
    rows: Vec<(String, usize)>,
    /// Errors of SQLite about foreign keys referencing something other than a key.
    mismatches: Vec<String>,
}

impl Violations {
    /// Looks at every table.
    pub(super) fn count(connection: &Connection) -> Result<Violations, DbError> {
        let tables = "SELECT DISTINCT tables.name FROM pragma_table_list AS tables, \
             pragma_foreign_key_list(tables.name) WHERE tables.schema = 'main' AND tables.type = 'table'";
        let mut found = Violations::default();
        for table in run(connection, tables)?.into_iter().flatten().flatten() {
            let quoted = table.replace('"', "\"\"");
            match run(
                connection,
                &format!("PRAGMA foreign_key_check(\"{quoted}\")"),
            ) {
                Ok(rows) if rows.is_empty() => {}
                Ok(rows) => found.rows.push((table, rows.len())),
                Err(error) => found.mismatches.push(error.message),
            }
        }
        Ok(found)
    }

    /// Message about an increase over `before`.
    pub(super) fn complaint(&self, before: &Violations) -> Option<String> {
        if self.mismatches.len() > before.mismatches.len() {
            let new = |message: &&String| !before.mismatches.contains(message);
            return self.mismatches.iter().find(new).cloned();
        }
        let (now, then) = (self.total(), before.total());
        (now > then).then(|| {
            let by_table = self
                .rows
                .iter()
                .map(|(table, rows)| format!("{rows} in {table}"));
            format!(
                "{now} rows refer to rows that do not exist ({then} before): {}",
                by_table.collect::<Vec<_>>().join(", ")
            )
        })
    }

    fn total(&self) -> usize {
        self.rows.iter().map(|(_, rows)| rows).sum()
    }
}

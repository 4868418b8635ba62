//! Slow logs: statements with execution times.

mod mysql;
mod postgres;

use std::collections::HashMap;
use std::io::{self, BufRead};

use fnv::FnvBuildHasher;
use serde::{Deserialize, Serialize};

use crate::{Times, Unread};

pub(crate) use mysql::is_start as is_mysql;
pub(crate) use postgres::{is_quoted as is_postgres_quoted, is_start as is_postgres};

/// Bytes of an example.
const EXAMPLE_BYTES: usize = 2_000;
/// Bytes taken of a statement of several lines; a digest is far shorter.
const SQL_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Most statements kept apart, so endlessly varying SQL takes no more memory.
pub const STATEMENTS_MAX: usize = 20_000;
/// In place of a digest: executions of statements beyond the limit.
const OTHERS: &str = "others";
/// Name of [`OTHERS`], had by no digest.
const OTHERS_ID: u64 = 0;

/// What a slow log says.
#[derive(Debug, Default)]
pub struct Slow {
    statements: Vec<Statement>,
    /// Index of the statement of a digest.
    known: HashMap<u64, usize, FnvBuildHasher>,
    /// Entries without a statement or a time.
    pub unread: Unread,
}

/// All executions of one statement, with any values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Statement {
    /// Text of the statement without literals.
    pub digest: String,
    /// Durations of the executions.
    pub times: Times,
    /// Waits for locks in all, seconds; 0 where the log does not say.
    pub lock_s: f64,
    /// Rows returned in all.
    pub rows_sent: u64,
    /// Rows read in all.
    pub rows_examined: u64,
    /// Slowest execution as written, with values.
    pub example: String,
    slowest: u32,
}

/// One execution.
#[derive(Debug, Default)]
struct Execution {
    micros: Option<u32>,
    lock_s: f64,
    rows_sent: u64,
    rows_examined: u64,
    sql: Vec<u8>,
    /// Number of the line where the entry begins.
    line: u64,
}

impl Execution {
    /// Adds a line to the statement, unless long enough.
    fn add_line(&mut self, line: &[u8]) {
        if self.sql.len() < SQL_BYTES_MAX {
            self.sql.push(b'\n');
            self.sql.extend_from_slice(line);
        }
    }
}

/// Reads the slow log of MySQL or MariaDB.
pub(crate) fn mysql(source: impl BufRead) -> io::Result<Slow> {
    let mut reader = mysql::Reader::default();
    crate::each_line(source, |number, line| reader.add(number, line))?;
    Ok(reader.end())
}

/// Reads durations in PostgreSQL's log.
pub(crate) fn postgres(source: impl BufRead) -> io::Result<Slow> {
    let mut reader = postgres::Reader::default();
    crate::each_line(source, |number, line| reader.add(number, line))?;
    Ok(reader.end())
}

impl Slow {
    fn add(&mut self, execution: &Execution) {
        let sql = execution.sql.trim_ascii();
        let Some(micros) = execution.micros.filter(|_| !sql.is_empty()) else {
            self.unread.add(execution.line, sql);
            return;
        };
        let index = self.place(sql_digest::digest_id(sql), || sql_digest::digest(sql));
        let statement = &mut self.statements[index];
        statement.times.add(micros);
        statement.lock_s += execution.lock_s;
        statement.rows_sent += execution.rows_sent;
        statement.rows_examined += execution.rows_examined;
        if statement.example.is_empty() || micros > statement.slowest {
            let shown = &sql[..sql.len().min(EXAMPLE_BYTES)];
            statement.example = String::from_utf8_lossy(shown).into_owned();
            statement.slowest = micros;
        }
    }

    /// Returns the index of a statement; of one too many, the index of the others.
    fn place(&mut self, id: u64, digest: impl FnOnce() -> String) -> usize {
        if let Some(index) = self.known.get(&id) {
            return *index;
        }
        let is_apart = self.statements.len() < STATEMENTS_MAX;
        let id = if is_apart { id } else { OTHERS_ID };
        *self.known.entry(id).or_insert_with(|| {
            self.statements.push(Statement {
                digest: match is_apart {
                    true => digest(),
                    false => OTHERS.to_owned(),
                },
                ..Statement::default()
            });
            self.statements.len() - 1
        })
    }

    /// Returns the number of executions in the row [`OTHERS`].
    pub fn others(&self) -> u64 {
        let index = self.known.get(&OTHERS_ID);
        index.map_or(0, |index| self.statements[*index].times.count())
    }

    /// Returns a log of stored facts.
    pub(crate) fn of_facts(statements: Vec<Statement>, unread: Unread) -> Slow {
        let id_of = |one: &Statement| match one.digest == OTHERS {
            true => OTHERS_ID,
            false => sql_digest::digest_id(one.digest.as_bytes()),
        };
        let ids = statements.iter().enumerate();
        Slow {
            known: ids.map(|(index, one)| (id_of(one), index)).collect(),
            statements,
            unread,
        }
    }

    /// Returns the statements by total time, the largest first.
    pub fn statements(&self) -> Vec<Statement> {
        let mut statements = self.statements.clone();
        statements
            .iter_mut()
            .for_each(|statement| statement.times.sort());
        statements.sort_by(|a, b| {
            (b.times.sum().total_cmp(&a.times.sum())).then_with(|| a.digest.cmp(&b.digest))
        });
        statements
    }

    /// Adds what another log says.
    pub fn merge(&mut self, other: Slow) {
        let mut ids: Vec<(u64, usize)> = other.known.into_iter().collect();
        ids.sort_by_key(|(_, index)| *index);
        for (id, index) in ids {
            let theirs = &other.statements[index];
            let mine = self.place(id, || theirs.digest.clone());
            self.statements[mine].merge(theirs);
        }
        self.unread.merge(other.unread);
    }
}

impl Statement {
    fn merge(&mut self, other: &Statement) {
        self.times.merge(&other.times);
        self.lock_s += other.lock_s;
        self.rows_sent += other.rows_sent;
        self.rows_examined += other.rows_examined;
        if self.example.is_empty() || other.slowest > self.slowest {
            self.example.clone_from(&other.example);
            self.slowest = other.slowest;
        }
    }
}

/// Seconds as microseconds.
fn micros(seconds: f64) -> u32 {
    (seconds * 1e6).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_without_end_are_counted_as_others() {
        let execution = |name: usize| Execution {
            micros: Some(1_000),
            sql: format!("SELECT c{name}x FROM t").into_bytes(),
            ..Execution::default()
        };
        let mut slow = Slow::default();
        (0..STATEMENTS_MAX + 5).for_each(|name| slow.add(&execution(name)));
        slow.add(&execution(0));
        let found = (slow.statements.len(), slow.others());
        assert_eq!(found, (STATEMENTS_MAX + 1, 5));
        let mut few = Slow::default();
        few.add(&execution(0));
        few.merge(slow);
        assert_eq!(few.statements.len(), STATEMENTS_MAX + 1);
        assert_eq!(few.others(), 5);
        let all = few.statements();
        assert_eq!(all[0].digest, "others");
        let count: u64 = all.iter().map(|one| one.times.count()).sum();
        assert_eq!(count, STATEMENTS_MAX as u64 + 7);
        let stored = Slow::of_facts(all, Unread::default());
        assert_eq!(stored.others(), few.others());
    }

    #[test]
    fn of_a_statement_without_end_only_the_beginning_is_kept() {
        let mut execution = Execution::default();
        let line = vec![b'x'; SQL_BYTES_MAX / 2];
        (0..9).for_each(|_| execution.add_line(&line));
        assert!(execution.sql.len() <= 2 * SQL_BYTES_MAX);
    }
}

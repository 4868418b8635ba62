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
        let statements = &mut self.statements;
        let index = *self
            .known
            .entry(sql_digest::digest_id(sql))
            .or_insert_with(|| {
                statements.push(Statement {
                    digest: sql_digest::digest(sql),
                    ..Statement::default()
                });
                statements.len() - 1
            });
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

    /// Returns a log of stored facts.
    pub(crate) fn of_facts(statements: Vec<Statement>, unread: Unread) -> Slow {
        let ids = statements.iter().enumerate();
        Slow {
            known: ids
                .map(|(index, one)| (sql_digest::digest_id(one.digest.as_bytes()), index))
                .collect(),
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
        for (id, index) in other.known {
            let theirs = &other.statements[index];
            match self.known.get(&id) {
                Some(mine) => self.statements[*mine].merge(theirs),
                None => {
                    self.known.insert(id, self.statements.len());
                    self.statements.push(theirs.clone());
                }
            }
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
        if other.slowest > self.slowest {
            self.example.clone_from(&other.example);
            self.slowest = other.slowest;
        }
    }
}

/// Seconds as microseconds.
fn micros(seconds: f64) -> u32 {
    (seconds * 1e6).round() as u32
}

//! PostgreSQL: connects, exports the catalogue as SQL, executes.

mod connect;
mod export;
mod roles;
mod scratch;
mod unseen;

use std::time::Duration;

use ::postgres::{Client, SimpleQueryMessage};
use schema::Server;

pub use connect::{PostgresAddress, connect};

use crate::{Database, DbError, Unseen};

/// A connection to one PostgreSQL database.
pub struct Postgres {
    client: Client,
    server: Server,
    address: PostgresAddress,
    /// Prepared catalogue queries, once used.
    prepared: Vec<::postgres::Statement>,
}

/// The advisory lock of whoever changes a schema: "hakaru" in ASCII.
const RUNNER_LOCK: i64 = 0x6861_6b61_7275;

impl Database for Postgres {
    fn server(&self) -> &Server {
        &self.server
    }

    fn export(&mut self) -> Result<String, DbError> {
        export::export(&mut self.client, &mut self.prepared, &self.server)
    }

    fn roles(&mut self, names: &[String]) -> Result<String, DbError> {
        let sql = roles::query(names, self.server.version);
        let rows = self.query(&sql).map_err(|error| DbError {
            sql: Some("the list of roles".to_owned()),
            ..error
        })?;
        Ok(rows.into_iter().flatten().flatten().collect())
    }

    fn unseen(&mut self) -> Result<Vec<Unseen>, DbError> {
        unseen::unseen(&mut self.client)
    }

    fn execute(&mut self, sql: &str) -> Result<(), DbError> {
        self.client
            .batch_execute(sql)
            .map_err(|error| connect::failed(&error, Some(sql)))
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        let messages = self
            .client
            .simple_query(sql)
            .map_err(|error| connect::failed(&error, Some(sql)))?;
        Ok(messages
            .iter()
            .filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => Some(
                    (0..row.len())
                        .map(|column| row.get(column).map(str::to_owned))
                        .collect(),
                ),
                _ => None,
            })
            .collect())
    }

    fn is_transactional(&self) -> bool {
        true
    }

    fn lock(&mut self, patience: Duration) -> Result<(), DbError> {
        let before = self.query("SHOW lock_timeout")?;
        self.set_lock_timeout(patience)?;
        let locked = self.execute(&format!("SELECT pg_advisory_lock({RUNNER_LOCK})"));
        if let Some(Some(before)) = before.first().and_then(|row| row.first()) {
            self.execute(&format!("SET lock_timeout = '{before}'"))?;
        }
        locked
    }

    fn read_back(&mut self, statements: &[String]) -> Result<String, DbError> {
        scratch::read_back(self, statements)
    }

    fn set_lock_timeout(&mut self, timeout: Duration) -> Result<(), DbError> {
        // 0 would mean no limit at all.
        let milliseconds = timeout.as_millis().clamp(1, i32::MAX as u128);
        self.execute(&format!("SET lock_timeout = {milliseconds}"))
    }
}

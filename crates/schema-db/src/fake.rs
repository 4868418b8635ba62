//! A database recording calls, for tests of the execution order.

use std::time::Duration;

use schema::{Product, Server};

use crate::{Database, DbError, DbErrorKind};

pub(crate) struct Fake {
    pub(crate) executed: Vec<String>,
    /// Statement to refuse.
    pub(crate) refuse: Option<String>,
    pub(crate) server: Server,
}

impl Default for Fake {
    fn default() -> Fake {
        Fake {
            executed: Vec::new(),
            refuse: None,
            server: Server::unknown(Product::Mysql),
        }
    }
}

impl Fake {
    pub(crate) fn transactional() -> Fake {
        Fake {
            server: Server::unknown(Product::Postgres),
            ..Fake::default()
        }
    }
}

impl Database for Fake {
    fn server(&self) -> &Server {
        &self.server
    }

    fn export(&mut self) -> Result<String, DbError> {
        Ok(String::new())
    }

    fn unseen(&mut self) -> Result<Vec<crate::Unseen>, DbError> {
        Ok(Vec::new())
    }

    fn execute(&mut self, sql: &str) -> Result<(), DbError> {
        self.executed.push(sql.to_owned());
        if self.refuse.as_deref() != Some(sql) {
            return Ok(());
        }
        Err(DbError {
            kind: DbErrorKind::Refused,
            message: "no".to_owned(),
            sql: Some(sql.to_owned()),
        })
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        Ok(Vec::new())
    }

    fn is_transactional(&self) -> bool {
        self.server.product == Product::Postgres
    }

    fn lock(&mut self, _patience: Duration) -> Result<(), DbError> {
        Ok(())
    }

    fn set_lock_timeout(&mut self, _timeout: Duration) -> Result<(), DbError> {
        Ok(())
    }
}

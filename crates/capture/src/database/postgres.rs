//! PostgreSQL: `pg_settings`, `pg_stat_database`, `pg_stat_wal`, and `pg_stat_statements` where
//! installed.

use ::postgres::{Error, Row};
use recording::StatementFacts;

use super::{Readable, Reading, StatementRow, refused};
pub(super) use crate::explain::postgres::Postgres;

/// Query for settings, with sizes in bytes, whatever unit the server counts in.
const SETTINGS: &str = "SELECT name,
        CASE unit WHEN '8kB' THEN (setting::bigint * 8192)::text
                  WHEN 'kB' THEN (setting::bigint * 1024)::text
                  WHEN 'MB' THEN (setting::bigint * 1048576)::text ELSE setting END
    FROM pg_catalog.pg_settings
    WHERE name IN ('shared_buffers', 'synchronous_commit', 'fsync', 'random_page_cost', 'work_mem',
        'effective_cache_size', 'max_connections', 'shared_preload_libraries', 'log_min_duration_statement',
        'log_statement', 'checkpoint_timeout', 'max_wal_size', 'track_io_timing')";

const DATA_BYTES: &str = "SELECT pg_catalog.pg_database_size(pg_catalog.current_database())";

const DATABASE: &str =
    "SELECT xact_commit, blks_read, blks_hit, tup_returned, tup_fetched, temp_files,
        temp_bytes, sessions
    FROM pg_catalog.pg_stat_database WHERE datname = pg_catalog.current_database()";
const DATABASE_NAMES: [&str; 8] = [
    "xact_commit",
    "blks_read",
    "blks_hit",
    "tup_returned",
    "tup_fetched",
    "temp_files",
    "temp_bytes",
    "sessions",
];

/// Counters of the WAL before version 18, which moved the count of flushes elsewhere.
const WAL: &str = "SELECT wal_records, wal_bytes::bigint, wal_sync FROM pg_catalog.pg_stat_wal";
const WAL_NAMES: [&str; 3] = ["wal_records", "wal_bytes", "wal_sync"];

const STATEMENTS: &str = "SELECT userid::text || '/' || queryid::text, query, calls,
        (total_exec_time * 1000000)::bigint, rows, shared_blks_hit + shared_blks_read,
        temp_blks_written
    FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
    ORDER BY total_exec_time DESC LIMIT 2000";

/// `undefined_table`: the extension was never created in the database.
const NOT_CREATED: &str = "42P01";

impl Readable for Postgres {
    fn read(&mut self) -> Reading {
        let mut reading = Reading::default();
        match self.client.query(SETTINGS, &[]) {
            Ok(rows) => {
                let pair = |row: &Row| Some((row.try_get(0).ok()?, row.try_get(1).ok()?));
                reading.settings = rows.iter().filter_map(pair).collect();
            }
            Err(error) => reading.notes.push(refused("settings", code(&error))),
        }
        match self.client.query_one(DATA_BYTES, &[]) {
            Ok(row) => {
                let bytes: Option<i64> = row.try_get(0).ok();
                reading
                    .settings
                    .extend(bytes.map(|bytes| ("(data bytes)".to_owned(), bytes.to_string())));
            }
            Err(error) => reading.notes.push(refused("sizes", code(&error))),
        }
        self.read_counters(DATABASE, &DATABASE_NAMES, &mut reading);
        self.read_counters(WAL, &WAL_NAMES, &mut reading);
        self.read_statements(&mut reading);
        reading
    }
}

impl Postgres {
    fn read_counters(&mut self, sql: &str, names: &[&str], reading: &mut Reading) {
        match self.client.query_one(sql, &[]) {
            Ok(row) => {
                for (index, name) in names.iter().enumerate() {
                    let value: Option<i64> = row.try_get(index).ok().flatten();
                    let counter = value.and_then(|value| u64::try_from(value).ok());
                    reading
                        .counters
                        .extend(counter.map(|value| ((*name).to_owned(), value)));
                }
            }
            Err(error) => reading.notes.push(refused(names[0], code(&error))),
        }
    }

    fn read_statements(&mut self, reading: &mut Reading) {
        let missing = match self.client.query(STATEMENTS, &[]) {
            Ok(rows) => {
                reading.statements = Some(rows.iter().filter_map(statement).collect());
                return;
            }
            Err(error) => code(&error),
        };
        reading.settings.push((
            "(pg_stat_statements)".to_owned(),
            match missing.as_str() {
                NOT_CREATED => "not created".to_owned(),
                other => other.to_owned(),
            },
        ));
        reading
            .notes
            .push(refused("statements of pg_stat_statements", missing));
    }
}

fn statement(row: &Row) -> Option<StatementRow> {
    let number = |index: usize| {
        let value: i64 = row.try_get(index).ok()?;
        u64::try_from(value).ok()
    };
    let on_disk = number(6)?;
    Some(StatementRow {
        key: row.try_get(0).ok()?,
        text: row.try_get(1).ok()?,
        facts: StatementFacts {
            count: number(2)?,
            time_ns: number(3)?,
            rows_sent: number(4)?,
            pages: number(5)?,
            tmp_tables_on_disk: u64::from(on_disk > 0),
            ..StatementFacts::default()
        },
    })
}

fn code(error: &Error) -> String {
    let code = error.code().map(|code| code.code().to_owned());
    code.unwrap_or_else(|| "driver".to_owned())
}

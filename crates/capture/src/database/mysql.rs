//! MySQL and MariaDB: `SHOW GLOBAL VARIABLES`, `SHOW GLOBAL STATUS`, the catalogue's sizes, and
//! performance_schema's summary by digest, where enabled.

use ::mysql::prelude::{FromRow, Queryable};
use ::mysql::{Error, Row};
use recording::StatementFacts;

use super::{OWN_STATEMENTS, Readable, Reading, StatementRow, refused};
pub(super) use crate::explain::mysql::Mysql;

const SETTINGS: &str = "'innodb_flush_log_at_trx_commit','sync_binlog','log_bin',
    'innodb_buffer_pool_size','innodb_doublewrite','innodb_flush_method','query_cache_type',
    'query_cache_size','slow_query_log','long_query_time','log_output','general_log','tmp_table_size',
    'max_heap_table_size','max_prepared_stmt_count','performance_schema','max_connections',
    'thread_cache_size','innodb_page_size'";

const COUNTERS: &str =
    "'Queries','Questions','Com_select','Com_insert','Com_update','Com_delete','Com_replace',
    'Com_commit','Com_stmt_prepare','Com_stmt_close','Com_stmt_execute','Prepared_stmt_count',
    'Connections','Threads_created','Innodb_os_log_fsyncs','Innodb_data_fsyncs','Innodb_data_read',
    'Innodb_buffer_pool_reads','Innodb_buffer_pool_read_requests','Innodb_page_size',
    'Created_tmp_tables','Created_tmp_disk_tables','Qcache_hits','Qcache_inserts',
    'Qcache_lowmem_prunes','Qcache_not_cached','Slow_queries','Bytes_sent','Rows_read','Rows_sent',
    'Sort_rows','Binlog_commits','Binlog_group_commits'";

/// Statements of the own session.
const OWN: &str = "SHOW SESSION STATUS WHERE Variable_name = 'Questions'";

/// Sizes of the data for the buffer pool, as far as visible to the user.
const DATA_BYTES: &str = "SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS UNSIGNED)
    FROM information_schema.TABLES WHERE ENGINE = 'InnoDB' AND TABLE_SCHEMA = DATABASE()";

const STATEMENTS: &str =
    "SELECT DIGEST, DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT, SUM_ROWS_EXAMINED,
        SUM_ROWS_SENT, SUM_SORT_ROWS, SUM_CREATED_TMP_TABLES, SUM_CREATED_TMP_DISK_TABLES
    FROM performance_schema.events_statements_summary_by_digest
    WHERE SCHEMA_NAME = DATABASE() AND DIGEST IS NOT NULL
    ORDER BY SUM_TIMER_WAIT DESC LIMIT 2000";

/// Statements without a row in the table of digests; the server counts all in one, in a row
/// without schema and digest.
const WITHOUT_ROW: &str = "SELECT CAST(COALESCE(SUM(COUNT_STAR), 0) AS UNSIGNED)
    FROM performance_schema.events_statements_summary_by_digest
    WHERE SCHEMA_NAME IS NULL AND DIGEST IS NULL";

/// Picoseconds, the unit of performance_schema's timers, in a nanosecond.
const PICOSECONDS: u64 = 1_000;

impl Readable for Mysql {
    fn read(&mut self) -> Reading {
        let mut reading = Reading::default();
        let settings = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({SETTINGS})");
        match self.rows::<(String, String)>(&settings) {
            Ok(rows) => reading.settings = rows,
            Err(why) => reading.notes.push(refused("settings", why)),
        }
        match self.rows::<u64>(DATA_BYTES) {
            Ok(rows) => reading.settings.extend(
                rows.first()
                    .map(|bytes| ("(data bytes)".to_owned(), bytes.to_string())),
            ),
            Err(why) => reading.notes.push(refused("sizes of tables", why)),
        }
        let counters = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({COUNTERS})");
        match self.rows::<(String, String)>(&counters) {
            Ok(rows) => {
                let number = |(name, value): (String, String)| Some((name, value.parse().ok()?));
                reading.counters = rows.into_iter().filter_map(number).collect();
            }
            Err(why) => reading.notes.push(refused("counters", why)),
        }
        if let Ok(rows) = self.rows::<(String, u64)>(OWN) {
            let own = rows.first().map(|(_, own)| *own);
            let own = own.map(|own| (OWN_STATEMENTS.to_owned(), own));
            reading.counters.extend(own);
        }
        self.read_statements(&mut reading);
        reading
    }
}

impl Mysql {
    fn read_statements(&mut self, reading: &mut Reading) {
        let on = reading
            .settings
            .iter()
            .any(|(name, value)| name == "performance_schema" && value == "ON");
        if !on {
            reading.notes.push(
                "performance_schema is off, so the server counts no statements; \
                 performance_schema=ON in its configuration changes that"
                    .to_owned(),
            );
            return;
        }
        match self.rows::<Row>(STATEMENTS) {
            Ok(rows) => {
                reading.statements = Some(rows.iter().filter_map(statement).collect());
            }
            Err(why) => reading
                .notes
                .push(refused("statements of performance_schema", why)),
        }
        let without = self.rows::<u64>(WITHOUT_ROW).unwrap_or_default();
        if without.first().is_some_and(|count| *count > 0) {
            reading.notes.push(
                "performance_schema's table of statements is full, so statements may be missing; \
                 TRUNCATE TABLE performance_schema.events_statements_summary_by_digest empties it"
                    .to_owned(),
            );
        }
    }

    fn rows<T: FromRow>(&mut self, sql: &str) -> Result<Vec<T>, String> {
        self.connection.query(sql).map_err(code)
    }
}

fn statement(row: &Row) -> Option<StatementRow> {
    let number = |index: usize| row.get_opt::<u64, _>(index)?.ok();
    Some(StatementRow {
        key: row.get_opt(0)?.ok()?,
        text: row.get_opt(1)?.ok()?,
        facts: StatementFacts {
            count: number(2)?,
            time_ns: number(3)? / PICOSECONDS,
            rows_examined: number(4)?,
            rows_sent: number(5)?,
            rows_sorted: number(6)?,
            tmp_tables: number(7)?,
            tmp_tables_on_disk: number(8)?,
            ..StatementFacts::default()
        },
    })
}

fn code(error: Error) -> String {
    match error {
        Error::MySqlError(error) => format!("MySQL {}", error.code),
        Error::IoError(error) => format!("connection: {}", error.kind()),
        _ => "driver".to_owned(),
    }
}

//! What a server counts: sizes of tables and indexes, and how often indexes are read.

use schema::{Product, Server};
use schema_lint::{IndexUse, TableUse, Usage};

use crate::{Database, DbError};

const SECONDS_A_DAY: u64 = 86_400;

/// The same on each server: name, rows, bytes of a table.
const POSTGRES_TABLES: &str = "SELECT CASE WHEN n.nspname = current_schema() THEN c.relname ELSE n.nspname || '.' || c.relname END, \
    nullif(c.reltuples, -1)::bigint, pg_total_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";
/// Table, index, bytes, reads.
const POSTGRES_INDEXES: &str = "SELECT CASE WHEN schemaname = current_schema() THEN relname ELSE schemaname || '.' || relname END, \
    indexrelname, pg_relation_size(indexrelid), idx_scan FROM pg_stat_user_indexes";
const POSTGRES_SECONDS: &str = "SELECT extract(epoch FROM now() - coalesce(stats_reset, pg_postmaster_start_time()))::bigint \
    FROM pg_stat_database WHERE datname = current_database()";

const MYSQL_TABLES: &str = "SELECT TABLE_NAME, TABLE_ROWS, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES \
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'";
const MYSQL_INDEXES: &str = "SELECT table_name, index_name, stat_value * @@innodb_page_size, NULL FROM mysql.innodb_index_stats \
    WHERE database_name = DATABASE() AND stat_name = 'size'";
const MYSQL_READS: &str = "SELECT OBJECT_NAME, INDEX_NAME, NULL, COUNT_READ FROM performance_schema.table_io_waits_summary_by_index_usage \
    WHERE OBJECT_SCHEMA = DATABASE() AND INDEX_NAME IS NOT NULL";
const MYSQL_SECONDS: &str =
    "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime'";
const MARIADB_SECONDS: &str =
    "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME'";

const SQLITE_INDEXES: &str = "SELECT s.tbl_name, s.name, (SELECT sum(pgsize) FROM dbstat d WHERE d.name = s.name), NULL \
    FROM sqlite_schema s WHERE s.type = 'index'";
const SQLITE_TABLES: &str = "SELECT s.name, NULL, (SELECT sum(pgsize) FROM dbstat d WHERE d.name = s.name) \
    FROM sqlite_schema s WHERE s.type = 'table'";

/// The questions for one product.
struct Questions {
    tables: &'static str,
    /// Each may know sizes, reads or both.
    indexes: &'static [&'static str],
    /// Since when reads are counted.
    seconds: Option<&'static str>,
}

fn questions(server: &Server) -> Questions {
    match server.product {
        Product::Postgres => Questions {
            tables: POSTGRES_TABLES,
            indexes: &[POSTGRES_INDEXES],
            seconds: Some(POSTGRES_SECONDS),
        },
        Product::Mysql => Questions {
            tables: MYSQL_TABLES,
            indexes: &[MYSQL_INDEXES, MYSQL_READS],
            seconds: Some(MYSQL_SECONDS),
        },
        Product::MariaDb => Questions {
            tables: MYSQL_TABLES,
            indexes: &[MYSQL_INDEXES, MYSQL_READS],
            seconds: Some(MARIADB_SECONDS),
        },
        Product::Sqlite => Questions {
            tables: SQLITE_TABLES,
            indexes: &[SQLITE_INDEXES],
            seconds: None,
        },
    }
}

/// Returns the server's counters, and the errors of refused queries: reading statistics needs
/// privileges.
pub fn usage(database: &mut dyn Database) -> (Usage, Vec<DbError>) {
    let questions = questions(database.server());
    let (mut usage, mut refused) = (Usage::default(), Vec::new());
    let mut ask = |sql: &str| {
        database.query(sql).unwrap_or_else(|error| {
            refused.push(error);
            Vec::new()
        })
    };
    for row in ask(questions.tables) {
        let (rows, bytes) = (number(&row, 1), number(&row, 2));
        usage.tables.insert(text(&row, 0), TableUse { rows, bytes });
    }
    for sql in questions.indexes {
        for row in ask(sql) {
            let known: &mut IndexUse = usage
                .indexes
                .entry((text(&row, 0), text(&row, 1)))
                .or_default();
            known.bytes = number(&row, 2).or(known.bytes);
            known.reads = number(&row, 3).or(known.reads);
        }
    }
    if let Some(sql) = questions.seconds {
        let rows = ask(sql);
        let seconds = rows.first().and_then(|row| number(row, 0));
        usage.days = seconds.map(|seconds| seconds / SECONDS_A_DAY);
    }
    (usage, refused)
}

fn text(row: &[Option<String>], place: usize) -> String {
    row.get(place).cloned().flatten().unwrap_or_default()
}

fn number(row: &[Option<String>], place: usize) -> Option<u64> {
    row.get(place)?.as_ref()?.split('.').next()?.parse().ok()
}

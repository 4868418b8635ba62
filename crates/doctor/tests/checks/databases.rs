//! Databases.

use doctor::Snapshot;
use doctor::snapshot::DatabaseKind::{self, Mariadb, Mysql, Postgres, Sqlite};

use crate::Case;

fn set(s: &mut Snapshot, kind: DatabaseKind, name: &str, value: &str) {
    for database in s.databases.iter_mut().filter(|it| it.kind == kind) {
        database.values.insert(name.to_owned(), value.to_owned());
    }
}

fn list(s: &mut Snapshot, kind: DatabaseKind, name: &str) {
    for database in s.databases.iter_mut().filter(|it| it.kind == kind) {
        let names = vec!["app.posts".to_owned()];
        database.lists.insert(name.to_owned(), names);
    }
}

fn version(s: &mut Snapshot, kind: DatabaseKind, version: &str) {
    for database in s.databases.iter_mut().filter(|it| it.kind == kind) {
        database.version = version.to_owned();
    }
}

fn remote(s: &mut Snapshot) {
    s.databases.iter_mut().for_each(|it| it.is_local = false);
}

/// Cases of checks on every kind of database.
pub const SERVERS: &[Case] = &[
    (
        "database.end-of-life",
        |s| version(s, Mysql, "8.0.40"),
        |s| version(s, Mariadb, "10.11.14-MariaDB"),
    ),
    (
        "database.connections-nearly-used",
        |s| set(s, Mysql, "Max_used_connections", "140"),
        |s| set(s, Mysql, "Max_used_connections", "120"),
    ),
    (
        "database.connections-below-pools",
        |s| s.app.as_mut().expect("an app").pool = Some(20),
        |s| s.app.as_mut().expect("an app").pool = Some(10),
    ),
    (
        "database.round-trip-slow",
        |s| s.databases[2].round_trip_ns = Some(3e6),
        |s| s.databases[2].round_trip_ns = Some(0.8e6),
    ),
    (
        "database.no-primary-key",
        |s| list(s, Postgres, "tables without a primary key"),
        |s| list(s, Sqlite, "tables without a primary key"),
    ),
    (
        "database.double-indexes",
        |s| list(s, Sqlite, "double indexes"),
        |s| s.databases.clear(),
    ),
    (
        "database.unused-indexes",
        |s| list(s, Mysql, "unused indexes"),
        |s| {
            list(s, Mysql, "unused indexes");
            set(s, Mysql, "Uptime", "80000");
        },
    ),
    (
        "database.numbers-nearly-used",
        |s| list(s, Postgres, "numbers nearly used up"),
        |s| s.databases.clear(),
    ),
    (
        "database.long-transactions",
        |s| list(s, Postgres, "idle in transaction"),
        |s| list(s, Sqlite, "long transactions"),
    ),
    (
        "database.replication-lag",
        |s| set(s, Postgres, "(replication lag)", "30"),
        |s| set(s, Postgres, "(replication lag)", "3"),
    ),
    (
        "database.replication-lag",
        |s| set(s, Mysql, "(replication lag)", "11"),
        |s| set(s, Mysql, "(replication lag)", "10"),
    ),
    (
        "database.replication-lag",
        |s| set(s, Mariadb, "(replication lag)", "11"),
        |s| set(s, Mariadb, "(replication lag)", "0"),
    ),
    (
        "database.replication-stopped",
        |s| list(s, Mysql, "stopped replication"),
        |s| list(s, Sqlite, "stopped replication"),
    ),
    (
        "database.replication-stopped",
        |s| list(s, Postgres, "stopped replication"),
        |s| set(s, Postgres, "(replication lag)", "0"),
    ),
    (
        "database.young-statistics",
        |s| set(s, Mysql, "Uptime", "100"),
        |s| set(s, Mysql, "Uptime", "700"),
    ),
];

/// Cases of PostgreSQL's sessions, and of settings left over from a test.
pub const POSTGRES_USE: &[Case] = &[
    (
        "postgres.connection-churn",
        |s| set(s, Postgres, "(sessions)", "600000"),
        |s| set(s, Postgres, "(sessions)", "400000"),
    ),
    (
        "postgres.connection-churn",
        |s| set(s, Postgres, "(sessions)", "600000"),
        |s| {
            // A server that was started a minute ago.
            set(s, Postgres, "(sessions)", "600");
            set(s, Postgres, "(uptime)", "60");
        },
    ),
    (
        "postgres.login-delay",
        |s| set(s, Postgres, "post_auth_delay", "1"),
        |s| set(s, Postgres, "pre_auth_delay", "0"),
    ),
    (
        "postgres.log-hostname",
        |s| set(s, Postgres, "log_hostname", "on"),
        |s| set(s, Postgres, "log_hostname", "off"),
    ),
    (
        "postgres.no-connection-reserved",
        |s| set(s, Postgres, "superuser_reserved_connections", "0"),
        |s| set(s, Postgres, "superuser_reserved_connections", "1"),
    ),
    (
        "postgres.prepared-transactions",
        |s| list(s, Postgres, "prepared transactions"),
        |s| list(s, Mysql, "prepared transactions"),
    ),
    (
        "postgres.checkpoints-hurried",
        |s| set(s, Postgres, "checkpoint_completion_target", "0.5"),
        |s| set(s, Postgres, "checkpoint_completion_target", "0.7"),
    ),
    (
        "postgres.plans-off",
        |s| set(s, Postgres, "enable_nestloop", "off"),
        |s| {
            set(s, Postgres, "enable_nestloop", "on");
            set(s, Postgres, "enable_partitionwise_join", "off");
        },
    ),
    (
        "postgres.maintenance-memory-small",
        |s| {
            set(s, Postgres, "maintenance_work_mem", "67108864");
            set(s, Postgres, "(data bytes)", "5000000000");
        },
        |s| {
            set(s, Postgres, "maintenance_work_mem", "67108864");
            set(s, Postgres, "(data bytes)", "3000000000");
        },
    ),
];

/// Cases of one kind.
pub const CASES: &[Case] = &[
    (
        "mysql.buffer-pool-small",
        |s| set(s, Mariadb, "innodb_buffer_pool_size", "8388608"),
        |s| set(s, Mariadb, "innodb_buffer_pool_size", "134217728"),
    ),
    (
        "mysql.redo-log-small",
        |s| set(s, Mysql, "Innodb_os_log_written", "90000000000"),
        |s| {
            set(s, Mysql, "Innodb_os_log_written", "90000000000");
            set(s, Mysql, "innodb_redo_log_capacity", "8589934592");
        },
    ),
    (
        "mysql.commit-syncs",
        |s| set(s, Mysql, "log_bin", "ON"),
        |s| {
            set(s, Mysql, "log_bin", "ON");
            set(s, Mysql, "sync_binlog", "0");
        },
    ),
    (
        "mysql.log-waits",
        |s| set(s, Mysql, "Innodb_log_waits", "50"),
        |s| set(s, Mysql, "Innodb_log_waits", "5"),
    ),
    (
        "mysql.pool-waits",
        |s| set(s, Mysql, "Innodb_buffer_pool_wait_free", "500"),
        |s| set(s, Mysql, "Innodb_buffer_pool_wait_free", "50"),
    ),
    (
        "mysql.temporary-tables-on-disk",
        |s| {
            set(s, Mysql, "Created_tmp_disk_tables", "500000");
            set(s, Mysql, "Created_tmp_tables", "900000");
        },
        |s| {
            set(s, Mysql, "Created_tmp_disk_tables", "500000");
            set(s, Mysql, "Created_tmp_tables", "9000000");
        },
    ),
    (
        "mysql.sort-merges",
        |s| set(s, Mysql, "Sort_merge_passes", "900"),
        |s| set(s, Mysql, "Sort_merge_passes", "100"),
    ),
    (
        "mysql.connection-churn",
        |s| set(s, Mysql, "Connections", "900000"),
        |s| set(s, Mysql, "Connections", "400000"),
    ),
    (
        "mysql.threads-created",
        |s| set(s, Mysql, "Threads_created", "1500"),
        |s| set(s, Mysql, "Threads_created", "500"),
    ),
    ("mysql.reverse-names", remote, |s| {
        remote(s);
        set(s, Mysql, "skip_name_resolve", "ON");
        set(s, Mariadb, "skip_name_resolve", "ON");
    }),
    (
        "mysql.statements-leak",
        |s| set(s, Mysql, "Prepared_stmt_count", "9000"),
        |s| {
            set(s, Mysql, "Prepared_stmt_count", "9000");
            set(s, Mysql, "Com_stmt_close", "19900");
        },
    ),
    (
        "mysql.joins-without-index",
        |s| set(s, Mysql, "Select_full_join", "50000"),
        |s| set(s, Mysql, "Select_full_join", "5000"),
    ),
    (
        "mysql.statements-without-index",
        |s| list(s, Mysql, "statements without an index"),
        |s| list(s, Postgres, "statements without an index"),
    ),
    (
        "mysql.connections-failed",
        |s| set(s, Mysql, "Aborted_connects", "80"),
        |s| set(s, Mysql, "Aborted_connects", "50"),
    ),
    (
        "mysql.row-lock-waits",
        |s| set(s, Mysql, "Innodb_row_lock_time", "5000000"),
        |s| set(s, Mysql, "Innodb_row_lock_time", "500000"),
    ),
    (
        "mysql.undo-long",
        |s| set(s, Mysql, "(undo)", "200000"),
        |s| set(s, Mysql, "(undo)", "90000"),
    ),
    (
        "mysql.io-capacity",
        |s| set(s, Mysql, "Innodb_buffer_pool_pages_flushed", "20000000"),
        |s| {
            set(s, Mysql, "Innodb_buffer_pool_pages_flushed", "20000000");
            set(s, Mysql, "innodb_io_capacity", "10000");
        },
    ),
    (
        "mysql.memory-above-machine",
        |s| set(s, Mysql, "sort_buffer_size", "1073741824"),
        |s| set(s, Mysql, "sort_buffer_size", "268435456"),
    ),
    (
        "mysql.table-cache",
        |s| set(s, Mysql, "Table_open_cache_misses", "5000000"),
        |s| set(s, Mysql, "Table_open_cache_misses", "500000"),
    ),
    (
        "mysql.myisam",
        |s| list(s, Mysql, "tables of MyISAM"),
        |s| s.databases.clear(),
    ),
    (
        "mysql.query-cache",
        |s| set(s, Mariadb, "query_cache_type", "ON"),
        |s| {
            set(s, Mariadb, "query_cache_type", "ON");
            set(s, Mariadb, "query_cache_size", "0");
        },
    ),
    (
        "mysql.general-log",
        |s| set(s, Mysql, "general_log", "ON"),
        |s| set(s, Mysql, "general_log", "OFF"),
    ),
    (
        "mysql.slow-log-everything",
        |s| set(s, Mysql, "long_query_time", "0.000000"),
        |s| set(s, Mysql, "long_query_time", "0.1"),
    ),
    (
        "mysql.blind",
        |s| {
            set(s, Mysql, "performance_schema", "OFF");
            set(s, Mysql, "slow_query_log", "OFF");
        },
        |s| set(s, Mysql, "performance_schema", "OFF"),
    ),
    (
        "mysql.flush-method",
        |s| set(s, Mysql, "innodb_buffer_pool_size", "10737418240"),
        |s| set(s, Mysql, "innodb_buffer_pool_size", "4294967296"),
    ),
    (
        "mysql.deadlocks",
        |s| set(s, Mariadb, "Innodb_deadlocks", "5000"),
        |s| set(s, Mariadb, "Innodb_deadlocks", "10"),
    ),
    (
        "postgres.shared-buffers-small",
        |s| set(s, Postgres, "shared_buffers", "1048576"),
        |s| set(s, Postgres, "shared_buffers", "134217728"),
    ),
    (
        "postgres.checkpoints-requested",
        |s| set(s, Postgres, "(checkpoints requested)", "80"),
        |s| set(s, Postgres, "(checkpoints requested)", "20"),
    ),
    (
        "postgres.spills",
        |s| set(s, Postgres, "(temporary files)", "50000"),
        |s| set(s, Postgres, "(temporary files)", "5000"),
    ),
    (
        "postgres.memory-above-machine",
        |s| set(s, Postgres, "work_mem", "1073741824"),
        |s| set(s, Postgres, "work_mem", "104857600"),
    ),
    (
        "postgres.random-page-cost",
        |s| set(s, Postgres, "random_page_cost", "4"),
        |s| {
            set(s, Postgres, "random_page_cost", "4");
            s.measures.sync_ns = Some(3e6);
        },
    ),
    (
        "postgres.cache-size-small",
        |s| {
            set(s, Postgres, "effective_cache_size", "67108864");
        },
        |s| {
            set(s, Postgres, "effective_cache_size", "1073741824");
        },
    ),
    (
        "postgres.jit",
        |s| set(s, Postgres, "jit_above_cost", "1000"),
        |s| set(s, Postgres, "jit_above_cost", "-1"),
    ),
    (
        "postgres.fsync-off",
        |s| set(s, Postgres, "fsync", "off"),
        |s| set(s, Postgres, "synchronous_commit", "off"),
    ),
    (
        "postgres.commit-cost",
        |s| s.measures.sync_ns = Some(3e6),
        |s| {
            s.measures.sync_ns = Some(3e6);
            set(s, Postgres, "synchronous_commit", "off");
        },
    ),
    (
        "postgres.dead-rows",
        |s| list(s, Postgres, "dead rows"),
        |s| s.databases.clear(),
    ),
    (
        "postgres.autovacuum-off",
        |s| set(s, Postgres, "autovacuum", "off"),
        |s| set(s, Postgres, "autovacuum", "on"),
    ),
    (
        "postgres.counting-off",
        |s| set(s, Postgres, "track_counts", "off"),
        |s| s.databases.clear(),
    ),
    (
        "postgres.wraparound",
        |s| set(s, Postgres, "(oldest transaction id)", "1500000000"),
        |s| set(s, Postgres, "(oldest transaction id)", "200000000"),
    ),
    (
        "postgres.tables-read-whole",
        |s| list(s, Postgres, "read whole"),
        |s| list(s, Mysql, "read whole"),
    ),
    (
        "postgres.invalid-indexes",
        |s| list(s, Postgres, "invalid indexes"),
        |s| s.databases.clear(),
    ),
    (
        "postgres.never-analysed",
        |s| list(s, Postgres, "never analysed"),
        |s| s.databases.clear(),
    ),
    (
        "postgres.slots-idle",
        |s| list(s, Postgres, "idle replication slots"),
        |s| s.databases.clear(),
    ),
    (
        "postgres.log-everything",
        |s| set(s, Postgres, "log_min_duration_statement", "0"),
        |s| set(s, Postgres, "log_min_duration_statement", "500"),
    ),
    (
        "postgres.blind",
        |s| set(s, Postgres, "(pg_stat_statements)", "0"),
        |s| s.databases.clear(),
    ),
    (
        "postgres.deadlocks",
        |s| set(s, Postgres, "(deadlocks)", "5000"),
        |s| set(s, Postgres, "(deadlocks)", "10"),
    ),
    (
        "sqlite.rollback-journal",
        |s| set(s, Sqlite, "journal_mode", "delete"),
        |s| set(s, Sqlite, "journal_mode", "memory"),
    ),
    (
        "sqlite.journal-unsafe",
        |s| set(s, Sqlite, "journal_mode", "off"),
        |s| set(s, Sqlite, "journal_mode", "truncate"),
    ),
    (
        "sqlite.free-pages",
        |s| set(s, Sqlite, "freelist_count", "50000"),
        |s| set(s, Sqlite, "freelist_count", "20000"),
    ),
    (
        "sqlite.page-small",
        |s| set(s, Sqlite, "page_size", "1024"),
        |s| set(s, Sqlite, "page_size", "8192"),
    ),
    (
        "sqlite.not-analysed",
        |s| set(s, Sqlite, "(analysed)", "0"),
        |s| {
            set(s, Sqlite, "(analysed)", "0");
            set(s, Sqlite, "(indexes)", "2");
        },
    ),
];

//! MySQL and MariaDB: what statements, tables and logs cost; settings of InnoDB are in `mysql`.

use figures::numbers;
use words::{phrase, text};

use super::mysql::BOTH;
use super::servers::{is_old_enough, listed, memory, set, uptime};
use crate::check::{Area, Check, Cost, Found, Level, Look, Needs};
use crate::snapshot::{Database, DatabaseKind, Snapshot};

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "mysql.joins-without-index",
        area: Area::Database,
        title: phrase!("joins read a whole table for each row"),
        why: phrase!("the work grows with the product of both tables"),
        source: "MySQLTuner (Select_full_join, 250 a day)",
        look: Look::Databases(BOTH, |db, _| {
            let joins = db.number("Select_full_join")?;
            let rate = joins / uptime(db).filter(|_| is_old_enough(db))?;
            (rate > 0.1).then(|| {
                Found::new(
                    Level::Medium,
                    text!(
                        "{counter} = {count}, {rate} per second",
                        counter = "Select_full_join",
                        count = joins.to_string(),
                        rate = format!("{rate:.1}")
                    ),
                )
                .change(
                    phrase!("an index on the joined columns; hakaru run names the statements"),
                    "DROP INDEX …",
                )
            })
        }),
    },
    Check {
        id: "mysql.statements-without-index",
        area: Area::Database,
        title: phrase!("statements that cost most use no index"),
        why: phrase!("they read far more rows than they return"),
        source: "performance_schema.events_statements_summary_by_digest (SUM_NO_INDEX_USED)",
        look: Look::Databases(BOTH, |db, _| {
            let found = listed(db, "statements without an index", Level::Medium)?;
            Some(found.change(
                phrase!("CREATE INDEX … on the columns of WHERE and ORDER BY"),
                "DROP INDEX …",
            ))
        }),
    },
    Check {
        id: "mysql.connections-failed",
        area: Area::Database,
        title: phrase!("many connections fail before they are made"),
        why: phrase!("each is a request that failed or a wait for another attempt"),
        source: "MySQLTuner (Aborted_connects, 3 % of connections)",
        look: Look::Databases(BOTH, |db, _| {
            let (failed, all) = (db.number("Aborted_connects")?, db.number("Connections")?);
            let (logged, level) = match db.kind {
                DatabaseKind::Mariadb => ("log_warnings", 2),
                _ => ("log_error_verbosity", 3),
            };
            (failed >= 10.0 && failed > 0.03 * all).then(|| {
                let found = Found::new(
                    Level::Low,
                    format!("Aborted_connects = {failed}, Connections = {all}"),
                );
                let now = db.number(logged).unwrap_or_default();
                if now >= f64::from(level) {
                    return found.change(
                        phrase!("the server's error log says for each which address and why"),
                        "",
                    );
                }
                found.change(set(db, logged, level), set(db, logged, now))
            })
        }),
    },
    Check {
        id: "mysql.row-lock-waits",
        area: Area::Database,
        title: phrase!("statements have waited for rows that others had locked"),
        why: phrase!("transactions on the same rows run one after the other"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/server-status-variables.html (Innodb_row_lock_time)",
        look: Look::Databases(BOTH, |db, _| {
            let ms = db.number("Innodb_row_lock_time")?;
            let share = ms / 1000.0 / uptime(db).filter(|_| is_old_enough(db))?;
            (share > 0.01).then(|| {
                Found::new(Level::Medium, format!("Innodb_row_lock_time = {ms} ms"))
                    .cost(Cost::Share(share.min(1.0)))
                    .change(
                        phrase!("shorter transactions; the rows in the same order everywhere"),
                        phrase!("as before"),
                    )
            })
        }),
    },
    Check {
        id: "mysql.undo-long",
        area: Area::Database,
        title: phrase!("many old versions of rows are kept"),
        why: phrase!(
            "reads must step over them; a long transaction or a lagging purge is the cause"
        ),
        source: "MySQLTuner (history list 100,000)",
        look: Look::Databases(BOTH, |db, _| {
            let length = db.number("(undo)").filter(|length| *length > 100_000.0)?;
            Some(
                Found::new(Level::Medium, format!("trx_rseg_history_len = {length}")).change(
                    phrase!("end long transactions: information_schema.INNODB_TRX"),
                    "",
                ),
            )
        }),
    },
    Check {
        id: "mysql.io-capacity",
        area: Area::Database,
        title: phrase!("the server takes the disk for a rotating one"),
        why: phrase!("it writes pages out slowly until it must, then all at once"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html (innodb_io_capacity, 10000 since 8.4)",
        look: Look::Databases(BOTH, |db, s| {
            let capacity = db
                .number("innodb_io_capacity")
                .filter(|capacity| *capacity <= 200.0)?;
            let sync = db.disk_costs(&s.measures).sync_ns.filter(|ns| *ns < 1e6)?;
            let written = db.number("Innodb_buffer_pool_pages_flushed")?
                / uptime(db).filter(|_| is_old_enough(db))?;
            (written > 0.5 * capacity).then(|| {
                let found = Found::new(
                    Level::Low,
                    text!(
                        "innodb_io_capacity = {capacity}, {written} pages flushed per second",
                        capacity = capacity.to_string(),
                        written = format!("{written:.0}")
                    ),
                )
                .evidence(text!(
                    "fdatasync here: {time}",
                    time = numbers::duration_ns(sync)
                ));
                // The server cuts the one down to the other.
                let limit = "innodb_io_capacity_max";
                let found = match db.number(limit).filter(|limit| *limit < 2000.0) {
                    Some(most) => found.change(set(db, limit, 2000), set(db, limit, most)),
                    None => found,
                };
                found.change(
                    set(db, "innodb_io_capacity", 2000),
                    set(db, "innodb_io_capacity", capacity),
                )
            })
        }),
    },
    Check {
        id: "mysql.memory-above-machine",
        area: Area::Database,
        title: phrase!("the server may use more memory than there is"),
        why: phrase!("with all connections in use the machine swaps or kills it"),
        source: "MySQLTuner (85 % of memory)",
        look: Look::Databases(BOTH, memory_sum),
    },
    Check {
        id: "mysql.table-cache",
        area: Area::Database,
        title: phrase!("tables are opened again and again"),
        why: phrase!("the cache of open tables is too small for the connections"),
        source: "MySQLTuner (Table_open_cache_misses)",
        look: Look::Databases(BOTH, |db, _| {
            let misses =
                db.number("Table_open_cache_misses")? / uptime(db).filter(|_| is_old_enough(db))?;
            (misses > 10.0).then(|| {
                let size = db.number("table_open_cache").unwrap_or(2000.0);
                Found::new(
                    Level::Low,
                    text!(
                        "{misses} misses per second, table_open_cache = {size}",
                        misses = format!("{misses:.0}"),
                        size = size.to_string()
                    ),
                )
                .change(
                    set(db, "table_open_cache", size * 2.0),
                    set(db, "table_open_cache", size),
                )
            })
        }),
    },
    Check {
        id: "mysql.myisam",
        area: Area::Database,
        title: phrase!("tables are kept by MyISAM"),
        why: phrase!("a write locks the whole table, and a crash damages it"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/converting-tables-to-innodb.html",
        look: Look::Databases(BOTH, |db, _| {
            let found = listed(db, "tables of MyISAM", Level::Medium)?;
            Some(found.change("ALTER TABLE … ENGINE=InnoDB", "ALTER TABLE … ENGINE=MyISAM"))
        }),
    },
    Check {
        id: "mysql.query-cache",
        area: Area::Database,
        title: phrase!("the query cache is on"),
        why: phrase!("one lock guards it, and each write throws away all results of its table"),
        source: "https://mariadb.com/kb/en/query-cache/",
        look: Look::Databases(BOTH, |db, _| {
            let size = db.number("query_cache_size")?;
            let kind = db.word("query_cache_type")?;
            (kind != "off" && kind != "0" && size > 0.0).then(|| {
                Found::new(
                    Level::Medium,
                    format!(
                        "query_cache_type = {kind}, query_cache_size = {}",
                        numbers::bytes(size as u64)
                    ),
                )
                .change(
                    set(db, "query_cache_type", 0),
                    set(db, "query_cache_type", kind),
                )
            })
        }),
    },
    Check {
        id: "mysql.general-log",
        area: Area::Database,
        title: phrase!("every statement is written into the general log"),
        why: phrase!("each statement waits for a write, and the file grows without end"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/query-log.html",
        look: Look::Databases(BOTH, |db, _| {
            (db.is_on("general_log")?).then(|| {
                Found::new(Level::Medium, "general_log = ON")
                    .change(set(db, "general_log", 0), set(db, "general_log", 1))
            })
        }),
    },
    Check {
        id: "mysql.slow-log-everything",
        area: Area::Database,
        title: phrase!("every statement is written into the slow log"),
        why: phrase!("each statement waits for a write; good for an hour of looking, not for good"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html (long_query_time)",
        look: Look::Databases(BOTH, |db, _| {
            let seconds = db.number("long_query_time")?;
            (db.is_on("slow_query_log")? && seconds < 0.001).then(|| {
                Found::new(Level::Medium, format!("long_query_time = {seconds} s")).change(
                    set(db, "long_query_time", 0.5),
                    set(db, "long_query_time", seconds),
                )
            })
        }),
    },
    Check {
        id: "mysql.blind",
        area: Area::Database,
        title: phrase!("the server keeps no record of what its statements cost"),
        why: phrase!(
            "without performance_schema or a slow log nobody can say which statement was slow"
        ),
        source: "https://mariadb.com/kb/en/performance-schema-overview/ (OFF by default in MariaDB)",
        look: Look::Databases(BOTH, |db, _| {
            let measured = db.is_on("performance_schema")? || db.is_on("slow_query_log")?;
            (!measured).then(|| {
                Found::new(Level::Low, "performance_schema = OFF, slow_query_log = OFF").change(
                    "SET GLOBAL long_query_time = 0.5; SET GLOBAL slow_query_log = 1",
                    "SET GLOBAL slow_query_log = 0",
                )
            })
        }),
    },
    Check {
        id: "mysql.flush-method",
        area: Area::Database,
        title: phrase!("pages are cached twice, by the server and by the kernel"),
        why: phrase!("the same memory would hold twice as much of the data"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html (innodb_flush_method, O_DIRECT since 8.4)",
        look: Look::Databases(BOTH, |db, s| {
            let method = db
                .word("innodb_flush_method")
                .filter(|method| method == "fsync")?;
            let pool = db.number("innodb_buffer_pool_size")?;
            (pool > 0.4 * memory(db, s)?).then(|| {
                Found::new(Level::Low, format!("innodb_flush_method = {method}"))
                    .change(
                        phrase!("innodb_flush_method=O_DIRECT in the configuration file"),
                        "innodb_flush_method=fsync",
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "mysql.deadlocks",
        area: Area::Database,
        title: phrase!("transactions were ended because they blocked each other"),
        why: phrase!("each of these requests failed or was repeated"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/innodb-deadlocks.html",
        look: Look::Databases(&[DatabaseKind::Mariadb], |db, _| {
            let count = db.number("Innodb_deadlocks")?;
            let rate = count / (uptime(db).filter(|_| is_old_enough(db))? / 3600.0);
            (rate > 1.0).then(|| {
                Found::new(
                    Level::Low,
                    text!(
                        "{counter} = {count}, {rate} per hour",
                        counter = "Innodb_deadlocks",
                        count = count.to_string(),
                        rate = format!("{rate:.0}")
                    ),
                )
                .change(
                    phrase!("lock the rows in the same order everywhere"),
                    phrase!("as before"),
                )
            })
        }),
    },
];

fn memory_sum(db: &Database, s: &Snapshot) -> Option<Found> {
    /// Buffers of each connection with usual sizes; all may be set while the server runs.
    const OF_THREAD: [(&str, f64); 5] = [
        ("sort_buffer_size", 262_144.0),
        ("join_buffer_size", 262_144.0),
        ("read_buffer_size", 131_072.0),
        ("read_rnd_buffer_size", 262_144.0),
        ("binlog_cache_size", 32_768.0),
    ];
    const STEP: f64 = 134_217_728.0;
    let buffers = OF_THREAD.map(|(name, usual)| (name, usual, db.number(name).unwrap_or(0.0)));
    let stack = db.number("thread_stack").unwrap_or(0.0);
    let of_thread = buffers.iter().map(|(_, _, size)| size).sum::<f64>() + stack;
    let used = db.number("Max_used_connections")?;
    let pool = db.number("innodb_buffer_pool_size")?;
    let machine = memory(db, s)?;
    let rest = of_thread * used + db.number("innodb_log_buffer_size").unwrap_or(0.0);
    (pool + rest > 0.85 * machine).then(|| {
        let found = Found::new(
            Level::High,
            text!(
                "{sum} with {used} connections, machine {machine}",
                sum = numbers::bytes((pool + rest) as u64),
                used = used.to_string(),
                machine = numbers::bytes(machine as u64)
            ),
        );
        // What takes most is made smaller: all that the rest leaves is smaller than the pool is.
        let smaller = ((0.85 * machine - rest) / STEP).floor() * STEP;
        if pool >= rest && smaller > 0.0 {
            let name = "innodb_buffer_pool_size";
            return found.change(set(db, name, smaller), set(db, name, pool));
        }
        let over = |(_, usual, size): &(&str, f64, f64)| size - usual;
        let largest = buffers.iter().max_by(|a, b| over(a).total_cmp(&over(b)));
        match largest.filter(|buffer| over(buffer) > 0.0) {
            Some((name, usual, size)) => found.change(set(db, name, usual), set(db, name, size)),
            None => found.change(
                phrase!("smaller pools in the app, so that fewer connections are open"),
                phrase!("as before"),
            ),
        }
    })
}

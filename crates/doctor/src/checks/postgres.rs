//! PostgreSQL.

use figures::numbers;
use words::{phrase, text};

use super::postgres_memory;
use super::servers::{is_old_enough, listed, set, uptime};
use crate::check::{Area, Check, Cost, Found, Level, Look, Needs, Safety};
use crate::snapshot::{Database, DatabaseKind, Snapshot};

const POSTGRES: &[DatabaseKind] = &[DatabaseKind::Postgres];

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "postgres.shared-buffers-small",
        area: Area::Database,
        title: phrase!("shared_buffers is too small"),
        why: phrase!("pages that are needed again are asked from the kernel or the disk each time"),
        source: "pgtune (a quarter of memory); pgHero (99 % of reads from memory)",
        look: Look::Databases(POSTGRES, postgres_memory::shared_buffers),
    },
    Check {
        id: "postgres.checkpoints-requested",
        area: Area::Database,
        title: phrase!("checkpoints come because the log is full"),
        why: phrase!(
            "all changed pages are written in a hurry, and each page is logged whole again"
        ),
        source: "postgresqltuner (checkpoints_req); https://www.postgresql.org/docs/current/wal-configuration.html",
        look: Look::Databases(POSTGRES, |db, _| {
            let (timed, requested) = (
                db.number("(checkpoints timed)")?,
                db.number("(checkpoints requested)")?,
            );
            let share = requested / (timed + requested).max(1.0);
            (is_old_enough(db) && requested > 10.0 && share > 0.3).then(|| {
                let size = db.number("max_wal_size").unwrap_or(1073741824.0) / 1048576.0;
                Found::new(
                    Level::Medium,
                    text!(
                        "{requested} of {all} checkpoints were requested",
                        requested = requested.to_string(),
                        all = (timed + requested).to_string()
                    ),
                )
                .change(
                    set(db, "max_wal_size", format!("{}MB", size * 4.0)),
                    set(db, "max_wal_size", format!("{size}MB")),
                )
            })
        }),
    },
    Check {
        id: "postgres.spills",
        area: Area::Database,
        title: phrase!("sorts and hashes are written to disk"),
        why: phrase!("work_mem is smaller than what they need"),
        source: "https://www.postgresql.org/docs/current/runtime-config-resource.html (work_mem); postgresqltuner",
        look: Look::Databases(POSTGRES, postgres_memory::spills),
    },
    Check {
        id: "postgres.memory-above-machine",
        area: Area::Database,
        title: phrase!("the server may use more memory than there is"),
        why: phrase!("with all connections in use the machine swaps or kills it"),
        source: "pgtune; https://www.postgresql.org/docs/current/runtime-config-resource.html",
        look: Look::Databases(POSTGRES, postgres_memory::sum),
    },
    Check {
        id: "postgres.random-page-cost",
        area: Area::Database,
        title: phrase!("the planner takes the disk for a rotating one"),
        why: phrase!("it reads whole tables where an index would be faster"),
        source: "pgtune (1.1 on SSD); https://www.postgresql.org/docs/current/runtime-config-query.html",
        look: Look::Databases(POSTGRES, random_page_cost),
    },
    Check {
        id: "postgres.cache-size-small",
        area: Area::Database,
        title: phrase!("the planner believes that little is cached"),
        why: phrase!("it avoids indexes whose pages are in memory"),
        source: "pgtune (three quarters of memory)",
        look: Look::Databases(POSTGRES, postgres_memory::cache_size),
    },
    Check {
        id: "postgres.jit",
        area: Area::Database,
        title: phrase!("statements may be compiled before they run"),
        why: phrase!("for the short statements of a web app compiling takes longer than running"),
        source: "https://www.postgresql.org/docs/current/jit-decision.html (jit_above_cost 100000)",
        look: Look::Databases(POSTGRES, |db, _| {
            let above = db.number("jit_above_cost")?;
            // The default hits only costly statements; a lowered limit hits short ones too.
            (db.is_on("jit")? && (0.0..50_000.0).contains(&above)).then(|| {
                Found::new(Level::Medium, format!("jit = on, jit_above_cost = {above}"))
                    .change(set(db, "jit", "off"), set(db, "jit", "on"))
            })
        }),
    },
    Check {
        id: "postgres.fsync-off",
        area: Area::Database,
        title: phrase!("nothing is written for good"),
        why: phrase!(
            "a crash of the machine destroys the database; and its commits are faster here than in production"
        ),
        source: "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-FSYNC",
        look: Look::Databases(POSTGRES, |db, _| {
            (!db.is_on("fsync")?).then(|| {
                Found::new(Level::Low, "fsync = off")
                    .change(set(db, "fsync", "on"), set(db, "fsync", "off"))
            })
        }),
    },
    Check {
        id: "postgres.commit-cost",
        area: Area::Database,
        title: phrase!("each commit waits for a slow disk"),
        why: phrase!(
            "transactions of one connection come one after the other, each with this wait"
        ),
        source: "https://www.postgresql.org/docs/current/wal-async-commit.html",
        look: Look::Databases(POSTGRES, |db, s| {
            const NAME: &str = "synchronous_commit";
            let mode = db.word(NAME)?;
            let waits = mode != "off" && db.is_on("fsync")?;
            let disk = db.disk_costs(&s.measures);
            let ns = disk.sync_ns.filter(|ns| waits && *ns > 2e6)?;
            let level = if ns > 1e7 { Level::Medium } else { Level::Low };
            // A commit is written at the third turn of the writer at the latest.
            let lost_ms = 3.0 * db.number("wal_writer_delay").unwrap_or(200.0);
            let mut found = Found::new(level, format!("{NAME} = {mode}")).evidence(text!(
                "with off a crash loses the commits of the last {time}; nothing else is damaged",
                time = numbers::duration_ns(lost_ms * 1e6)
            ));
            let copies = db.values.get("synchronous_standby_names");
            if copies.is_some_and(|names| !names.is_empty()) {
                found = found.evidence(phrase!(
                    "with off no commit waits for a synchronous copy either: a failover loses commits"
                ));
            }
            Some(
                found
                    .cost(Cost::Each {
                        ns,
                        event: phrase!("commit"),
                    })
                    .change(set(db, NAME, "off"), set(db, NAME, mode))
                    .safety(Safety::Durability),
            )
        }),
    },
    Check {
        id: "postgres.dead-rows",
        area: Area::Database,
        title: phrase!("tables hold many dead rows"),
        why: phrase!("each read of the table steps over them"),
        source: "postgresqltuner; https://www.postgresql.org/docs/current/routine-vacuuming.html (20 %)",
        look: Look::Databases(POSTGRES, |db, _| {
            let found = listed(db, "dead rows", Level::Medium)?;
            Some(found.change(
                phrase!(
                    "VACUUM (ANALYZE) …, and autovacuum_vacuum_scale_factor = 0.05 for the table"
                ),
                "ALTER TABLE … RESET (autovacuum_vacuum_scale_factor)",
            ))
        }),
    },
    Check {
        id: "postgres.autovacuum-off",
        area: Area::Database,
        title: phrase!("dead rows are not removed by themselves"),
        why: phrase!("tables grow, and the planner's statistics grow old"),
        source: "https://www.postgresql.org/docs/current/routine-vacuuming.html#AUTOVACUUM",
        look: Look::Databases(POSTGRES, |db, _| {
            if db.is_on("autovacuum") == Some(false) {
                return Some(
                    Found::new(Level::High, "autovacuum = off")
                        .change(set(db, "autovacuum", "on"), set(db, "autovacuum", "off")),
                );
            }
            let found = listed(db, "autovacuum off", Level::Medium)?;
            Some(found.change(
                "ALTER TABLE … RESET (autovacuum_enabled)",
                "ALTER TABLE … SET (autovacuum_enabled = off)",
            ))
        }),
    },
    Check {
        id: "postgres.counting-off",
        area: Area::Database,
        title: phrase!("the server does not count what happens to tables"),
        why: phrase!("autovacuum and every check of this kind work by these counts"),
        source: "https://www.postgresql.org/docs/current/runtime-config-statistics.html (track_counts)",
        look: Look::Databases(POSTGRES, |db, _| {
            (!db.is_on("track_counts")?).then(|| {
                Found::new(Level::High, "track_counts = off").change(
                    set(db, "track_counts", "on"),
                    set(db, "track_counts", "off"),
                )
            })
        }),
    },
    Check {
        id: "postgres.wraparound",
        area: Area::Database,
        title: phrase!("the transaction numbers are nearly used up"),
        why: phrase!("the server refuses all writes before they wrap around"),
        source: "https://www.postgresql.org/docs/current/routine-vacuuming.html#VACUUM-FOR-WRAPAROUND; pgHero",
        look: Look::Databases(POSTGRES, |db, _| {
            let age = db.number("(oldest transaction id)")?;
            let level = match age {
                age if age > 2_000_000_000.0 => Level::High,
                age if age > 1_000_000_000.0 => Level::Medium,
                _ => return None,
            };
            Some(
                Found::new(level, format!("age(datfrozenxid) = {age}")).change(
                    phrase!(
                        "VACUUM (FREEZE) of the oldest tables; look for what holds autovacuum up"
                    ),
                    "",
                ),
            )
        }),
    },
    Check {
        id: "postgres.tables-read-whole",
        area: Area::Database,
        title: phrase!("tables are mostly read whole"),
        why: phrase!("a condition has no index that serves it"),
        source: "pgHero missing_indexes (95 % by index, 10,000 rows), those without any use of an index too",
        look: Look::Databases(POSTGRES, |db, _| {
            let found = listed(db, "read whole", Level::Medium)?;
            Some(found.change(phrase!("CREATE INDEX CONCURRENTLY … on the columns of WHERE and ORDER BY; hakaru run names the statements"), "DROP INDEX …"))
        }),
    },
    Check {
        id: "postgres.invalid-indexes",
        area: Area::Database,
        title: phrase!("indexes are invalid"),
        why: phrase!("building them failed: each write keeps them, no read may use them"),
        source: "https://www.postgresql.org/docs/current/sql-createindex.html (CONCURRENTLY); pgHero",
        look: Look::Databases(POSTGRES, |db, _| {
            let found = listed(db, "invalid indexes", Level::Medium)?;
            Some(found.change("REINDEX INDEX CONCURRENTLY …", ""))
        }),
    },
    Check {
        id: "postgres.never-analysed",
        area: Area::Database,
        title: phrase!("the planner knows nothing of large tables"),
        why: phrase!("without statistics it guesses, and chooses wrong plans"),
        source: "https://www.postgresql.org/docs/current/routine-vacuuming.html#VACUUM-FOR-STATISTICS",
        look: Look::Databases(POSTGRES, |db, _| {
            let found = listed(db, "never analysed", Level::Low)?;
            Some(found.change("ANALYZE", ""))
        }),
    },
    Check {
        id: "postgres.slots-idle",
        area: Area::Database,
        title: phrase!("a replication slot that nobody reads keeps the log"),
        why: phrase!("the log grows until the disk is full"),
        source: "https://www.postgresql.org/docs/current/warm-standby.html#STREAMING-REPLICATION-SLOTS",
        look: Look::Databases(POSTGRES, |db, _| {
            let found = listed(db, "idle replication slots", Level::Medium)?;
            // Dropping a slot loses its place for good: nothing makes it again.
            Some(
                found
                    .change(phrase!("start what reads the slot again"), "")
                    .change(
                        phrase!("only if its reader is gone for good: SELECT pg_drop_replication_slot('…'); a reader that returns lacks the changes since, and must copy the data again"),
                        "",
                    ),
            )
        }),
    },
    Check {
        id: "postgres.log-everything",
        area: Area::Database,
        title: phrase!("every statement is logged"),
        why: phrase!("each one is formatted and written; a busy server writes more log than data"),
        source: "https://www.postgresql.org/docs/current/runtime-config-logging.html",
        look: Look::Databases(POSTGRES, |db, _| {
            let all = db.word("log_statement").as_deref() == Some("all");
            let zero = db.number("log_min_duration_statement") == Some(0.0);
            let (name, now, wanted) = match (all, zero) {
                (true, _) => ("log_statement", "all", "none"),
                (false, true) => ("log_min_duration_statement", "0", "500ms"),
                (false, false) => return None,
            };
            Some(
                Found::new(Level::Medium, format!("{name} = {now}"))
                    .change(set(db, name, wanted), set(db, name, now)),
            )
        }),
    },
    Check {
        id: "postgres.blind",
        area: Area::Database,
        title: phrase!("the server keeps no record of what its statements cost"),
        why: phrase!("without pg_stat_statements nobody can say which statement was slow"),
        source: "https://www.postgresql.org/docs/current/pgstatstatements.html",
        look: Look::Databases(POSTGRES, |db, _| {
            (db.number("(pg_stat_statements)")? == 0.0).then(|| statements_recorded(db))
        }),
    },
    Check {
        id: "postgres.deadlocks",
        area: Area::Database,
        title: phrase!("transactions were ended because they blocked each other"),
        why: phrase!("each of these requests failed or was repeated"),
        source: "https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-DEADLOCKS",
        look: Look::Databases(POSTGRES, |db, _| {
            let count = db.number("(deadlocks)")?;
            let rate = count / (uptime(db).filter(|_| is_old_enough(db))? / 3600.0);
            (rate > 1.0).then(|| {
                Found::new(
                    Level::Low,
                    text!(
                        "{counter} = {count}, {rate} per hour",
                        counter = "deadlocks",
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

/// Returns the finding on a server without pg_stat_statements. The list of libraries is kept: a
/// server without a library that its tables need cannot read them.
fn statements_recorded(db: &Database) -> Found {
    const NAME: &str = "shared_preload_libraries";
    const CREATE: &str = "CREATE EXTENSION pg_stat_statements";
    const DROP: &str = "DROP EXTENSION pg_stat_statements";
    let found = Found::new(
        Level::Low,
        phrase!("pg_stat_statements is not created in this database"),
    );
    let Some(loaded) = db.values.get(NAME) else {
        let change = phrase!(
            "pg_stat_statements added to the list in shared_preload_libraries, a restart, CREATE EXTENSION pg_stat_statements"
        );
        return found.change(change, DROP).needs(Needs::Restart);
    };
    let is_it = |name: &str| name.trim().trim_matches('"') == "pg_stat_statements";
    if loaded.split(',').any(is_it) {
        return found.change(CREATE, DROP);
    }
    let more = match loaded.trim() {
        "" => "pg_stat_statements".to_owned(),
        others => format!("{others}, pg_stat_statements"),
    };
    let line = |list: &str| format!("{NAME} = '{list}'");
    let change = text!(
        "{line}, a restart, CREATE EXTENSION pg_stat_statements",
        line = line(&more)
    );
    let undo = text!(
        "{statement}, then {line}",
        statement = DROP,
        line = line(loaded)
    );
    found.change(change, undo).needs(Needs::Restart)
}

fn random_page_cost(db: &Database, s: &Snapshot) -> Option<Found> {
    let cost = db.number("random_page_cost").filter(|cost| *cost >= 3.0)?;
    let fast = db.disk_costs(&s.measures).sync_ns.filter(|ns| *ns < 2e6)?;
    // A database that is in memory as a whole has few such choices.
    let is_large = db.number("(data bytes)")? > 256.0 * 1048576.0;
    let ranges = db.ranges.unwrap_or_default();
    let more_ns = ranges.more_ns.filter(|ns| *ns > 0.0);
    // Plans that are the faster ones need no other setting.
    let is_right = ranges.timed > 0 && more_ns.is_none();
    let level = match is_large && !is_right {
        true => Level::Medium,
        false => Level::Low,
    };
    let mut found = Found::new(
        level,
        text!(
            "random_page_cost = {cost}, fdatasync here {time}",
            cost = cost.to_string(),
            time = numbers::duration_ns(fast)
        ),
    );
    if ranges.asked > 0 {
        found = found.evidence(text!(
            "with 1.1 the planner reads {changed} of {asked} ranges of indexes by another plan",
            changed = ranges.changed.to_string(),
            asked = ranges.asked.to_string()
        ));
    }
    if let Some(ns) = ranges.more_ns.filter(|ns| *ns <= 0.0) {
        found = found.evidence(text!(
            "the present plans are the faster ones here, by {time}",
            time = numbers::duration_ns(-ns)
        ));
    }
    let cost_each = more_ns.map_or(Cost::Unknown, |ns| Cost::Each {
        ns,
        event: phrase!("range read by the other plan"),
    });
    Some(found.cost(cost_each).change(
        set(db, "random_page_cost", 1.1),
        set(db, "random_page_cost", cost),
    ))
}

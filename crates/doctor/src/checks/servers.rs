//! Checks of every kind of database server.

use words::{Phrase, Text, phrase, text};

use super::{counts, some_of};
use crate::check::{Area, Check, Cost, Found, Level, Look, Needs};
use crate::snapshot::{Database, DatabaseKind, Snapshot};
use DatabaseKind::{Mariadb, Mysql, Postgres, Sqlite};

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "database.end-of-life",
        area: Area::Database,
        title: phrase!("this database server gets no fixes any more"),
        why: phrase!(
            "faults that were found since stay, and with them the slowness that was mended"
        ),
        source: "https://www.postgresql.org/support/versioning/ (14 ended 2026-11-12) https://mariadb.org/about/#maintenance-policy (10.6 ended 2026-07-06, 12.2 2026-05-13) https://endoflife.date/mysql (8.0 ended 2026-04-30, 9.6 2026-04-21)",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            let next = maintained(db)?;
            let version = format!("{}.{}", next.0, next.1);
            Some(
                Found::new(Level::Low, text!("version {version}", version = db.version))
                    .change(
                        text!("version {version} or later, after a dump", version),
                        phrase!("restore the dump into the old version"),
                    )
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "database.connections-nearly-used",
        area: Area::Database,
        title: phrase!("nearly all connections of the server are in use"),
        why: phrase!("the next one is refused, and a request fails"),
        source: "MySQLTuner (85 %), postgresqltuner (90 %)",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            let most = db.number("max_connections")?;
            let peak = db.number("Max_used_connections");
            let used = peak.or_else(|| db.number("(connections)"))?;
            (used > 0.85 * most).then(|| {
                let found = Found::new(
                    Level::High,
                    text!(
                        "{now} of {most}",
                        now = used.to_string(),
                        most = most.to_string()
                    ),
                );
                let found = match peak {
                    Some(_) => found.evidence(phrase!("at the peak since the server's start")),
                    None => found,
                };
                more_connections(found, db, most * 2.0, most)
            })
        }),
    },
    Check {
        id: "database.connections-below-pools",
        area: Area::Database,
        title: phrase!("the app's pools may ask for more connections than the server has"),
        why: phrase!("under load connections are refused and requests fail"),
        source: "https://guides.rubyonrails.org/configuring.html#database-pooling",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, s| {
            let most = db.number("max_connections")?;
            let pool = counts::pool(s).or_else(|| counts::threads(s))?;
            let workers = counts::workers(s).unwrap_or(1).max(1);
            let wanted = f64::from(pool) * f64::from(workers);
            (wanted > 0.9 * most).then(|| {
                let found = Found::new(
                    Level::Medium,
                    text!(
                        "{workers} workers × pool {pool} = {wanted}, max_connections = {most}",
                        workers = workers.to_string(),
                        pool = pool.to_string(),
                        wanted = wanted.to_string(),
                        most = most.to_string()
                    ),
                );
                more_connections(found, db, (wanted * 1.5).ceil(), most)
            })
        }),
    },
    Check {
        id: "database.round-trip-slow",
        area: Area::Database,
        title: phrase!("a round trip to the database takes long"),
        why: phrase!("each statement of a request pays for it, one after the other"),
        source: "measured: SELECT 1, 20 times",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            let ns = db.round_trip_ns?;
            let slow = if db.is_local { 1e6 } else { 2e6 };
            (ns > slow).then(|| {
                let level = if ns > 5.0 * slow {
                    Level::Medium
                } else {
                    Level::Low
                };
                Found::new(
                    level,
                    text!("SELECT 1 takes {ms} ms", ms = format!("{:.1}", ns / 1e6)),
                )
                .cost(Cost::Each {
                    ns,
                    event: phrase!("statement"),
                })
                .change(
                    phrase!("the app in the database's zone; fewer statements for each request"),
                    phrase!("as before"),
                )
            })
        }),
    },
    Check {
        id: "database.no-primary-key",
        area: Area::Database,
        title: phrase!("tables have no primary key"),
        why: phrase!("a row can only be found by reading the table, replication included"),
        source: "MySQLTuner; sys.schema_tables_with_full_table_scans; pg_index",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            let found = listed(db, "tables without a primary key", Level::Low)?;
            Some(found.change(
                phrase!("ALTER TABLE … ADD PRIMARY KEY (…), which rewrites the table"),
                "ALTER TABLE … DROP PRIMARY KEY",
            ))
        }),
    },
    Check {
        id: "database.double-indexes",
        area: Area::Database,
        title: phrase!("an index is the beginning of another"),
        why: phrase!("each write keeps both, and no read needs the shorter one"),
        source: "sys.schema_redundant_indexes; pgHero duplicate_indexes",
        look: Look::Databases(&[Mysql, Mariadb, Postgres, Sqlite], |db, _| {
            let found = listed(db, "double indexes", Level::Low)?;
            Some(found.change(
                phrase!("DROP INDEX … (the shorter one)"),
                phrase!("CREATE INDEX … as it was"),
            ))
        }),
    },
    Check {
        id: "database.unused-indexes",
        area: Area::Database,
        title: phrase!("indexes have not been read since the server's statistics began"),
        why: phrase!("each write keeps them up to date"),
        source: "sys.schema_unused_indexes; pgHero unused_indexes; more than a day of statistics",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            // What ran for a day only says little about jobs that run by week, so this stays low.
            (uptime(db)? > 86_400.0).then_some(())?;
            let found = listed(db, "unused indexes", Level::Low)?;
            Some(found.change(
                phrase!("DROP INDEX …, after a month of the same answer"),
                phrase!("CREATE INDEX … as it was"),
            ))
        }),
    },
    Check {
        id: "database.numbers-nearly-used",
        area: Area::Database,
        title: phrase!("the numbers of a table are nearly used up"),
        why: phrase!("at the end no row can be added"),
        source: "pgHero sequence_danger (90 %; here from 70 %, since changing the type of a large table takes long); sys.schema_auto_increment_columns",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            let found = listed(db, "numbers nearly used up", Level::Medium)?;
            Some(found.change(phrase!("ALTER TABLE … the column to BIGINT"), ""))
        }),
    },
    Check {
        id: "database.long-transactions",
        area: Area::Database,
        title: phrase!("a transaction has been open for more than a minute"),
        why: phrase!("it keeps locks, and old versions of rows cannot be removed"),
        source: "MySQLTuner; pgHero long_running_queries (60 s)",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            if let Some(idle) = listed(db, "idle in transaction", Level::Medium) {
                // For the whole server it would end the transactions of other apps too.
                return Some(idle.change(
                    phrase!("ALTER ROLE … SET idle_in_transaction_session_timeout = '60s' for the role of the app: a transaction left open is rolled back, and its connection ended"),
                    "ALTER ROLE … RESET idle_in_transaction_session_timeout",
                ));
            }
            let found = listed(db, "long transactions", Level::Medium)?;
            let change = match db.kind {
                Postgres => phrase!(
                    "look what it does in pg_stat_activity; SELECT pg_cancel_backend(…) ends the statement and rolls its transaction back"
                ),
                _ => phrase!(
                    "look what the named connection does in SHOW FULL PROCESSLIST; KILL … ends it and rolls its transaction back"
                ),
            };
            Some(found.change(change, ""))
        }),
    },
    Check {
        id: "database.young-statistics",
        area: Area::Database,
        title: phrase!("the server has not run long enough to be judged by its counters"),
        why: phrase!("rates since start are those of the start; checks of rates keep silent"),
        source: "MySQLTuner (24 h)",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            let seconds = uptime(db).filter(|seconds| *seconds < ENOUGH_S)?;
            Some(
                Found::new(
                    Level::Low,
                    text!(
                        "up for {minutes} min",
                        minutes = format!("{:.0}", seconds / 60.0)
                    ),
                )
                .change(phrase!("look again after an hour of usual load"), ""),
            )
        }),
    },
];

/// Returns the lowest maintained version to upgrade to; `None` for a server with fixes.
///
/// Both makers end the versions between two long-term ones when the next one comes. Versions later
/// than those known here pass.
fn maintained(db: &Database) -> Option<(u32, u32)> {
    let long_term: &[(u32, u32)] = match db.kind {
        Mysql => &[(8, 4), (9, 7)],
        Mariadb => &[(10, 11), (11, 4), (11, 8), (12, 3)],
        _ => &[(15, 0)],
    };
    let has = db.release();
    let is_known = has.0 > 0 && !long_term.contains(&has);
    let next = long_term.iter().find(|version| has < **version);
    next.copied().filter(|_| is_known)
}

/// Seconds of uptime below which counters show only the start.
const ENOUGH_S: f64 = 600.0;

/// Seconds since the server started.
pub(super) fn uptime(db: &Database) -> Option<f64> {
    db.number("Uptime").or_else(|| db.number("(uptime)"))
}

/// Whether rates since start mean something.
pub(super) fn is_old_enough(db: &Database) -> bool {
    uptime(db).is_some_and(|seconds| seconds >= ENOUGH_S)
}

/// Returns the finding for clients that connect again and again, by the connections since the
/// server's start.
pub(super) fn connection_churn(db: &Database, connections: f64) -> Option<Found> {
    let rate = connections / uptime(db).filter(|_| is_old_enough(db))?;
    (rate > 5.0).then(|| {
        Found::new(
            Level::Medium,
            text!("{rate} connections per second", rate = format!("{rate:.0}")),
        )
        .change(
            phrase!("a pool in the app, connections kept between requests"),
            phrase!("as before"),
        )
    })
}

/// Advised settings of PostgreSQL read only at the server's start.
const AT_START: [&str; 3] = [
    "max_connections",
    "shared_buffers",
    "superuser_reserved_connections",
];

/// Returns the finding with a change of `max_connections`, for which PostgreSQL must be restarted
/// and the others need not.
fn more_connections(found: Found, db: &Database, wanted: f64, most: f64) -> Found {
    let name = "max_connections";
    let found = found.change(set(db, name, wanted), set(db, name, most));
    match db.kind {
        Postgres => found.needs(Needs::Restart),
        _ => found,
    }
}

/// Returns the statement for changing a setting.
pub(super) fn set(db: &Database, name: &str, value: impl std::fmt::Display) -> Text {
    match db.kind {
        Postgres => {
            let statement = format!("ALTER SYSTEM SET {name} = '{value}'");
            match AT_START.contains(&name) {
                true => statement.into(),
                false => text!("{statement}, then SELECT pg_reload_conf()", statement),
            }
        }
        Sqlite => format!("PRAGMA {name} = {value}").into(),
        Mysql | Mariadb => {
            text!(
                "{statement}, and {line} in the configuration file",
                statement = format!("SET GLOBAL {name} = {value}"),
                line = format!("{name} = {value}")
            )
        }
    }
}

/// Returns a finding of `level` for a list with entries.
pub(super) fn listed(db: &Database, name: &str, level: Level) -> Option<Found> {
    let names = db.list(name);
    (!names.is_empty()).then(|| Found::new(level, some_of(names)))
}

/// Returns the line of the configuration file for a setting read only at the server's start.
pub(super) fn at_start(name: &str, value: impl std::fmt::Display) -> Text {
    text!(
        "{line} in the configuration file",
        line = format!("{name} = {value}")
    )
}

/// Returns the memory of a server on the same machine, bytes: the machine's, or the limit of the
/// server's control group. That of a server elsewhere is unknown.
pub(super) fn memory(db: &Database, s: &Snapshot) -> Option<f64> {
    let machine = s.machine.memory_bytes.get("MemTotal");
    let machine = *machine.filter(|_| db.is_local)?;
    Some(machine.min(db.memory_max_bytes.unwrap_or(u64::MAX)) as f64)
}

/// Returns the bytes to which a buffer of `size` may be raised, in steps of 128 MB: what is wanted,
/// but at most a share of the server's memory. `None` without room for more, or where the memory is
/// unknown.
pub(super) fn room(db: &Database, s: &Snapshot, size: f64, wanted: f64, share: f64) -> Option<f64> {
    const STEP: f64 = 134_217_728.0;
    let most = (memory(db, s)? * share / STEP).floor();
    let bytes = (wanted / STEP).ceil().min(most) * STEP;
    (bytes > size).then_some(bytes)
}

/// Advice for a small buffer in a memory without room for more.
pub(super) const MORE_MEMORY: Phrase =
    phrase!("more memory for the server; then a larger buffer, so that what is read again fits");

//! PostgreSQL: sessions, and settings left over from a test.

use figures::numbers;
use words::{phrase, text};

use super::servers::{connection_churn, listed, memory, set};
use super::some_of;
use crate::check::{Area, Check, Found, Level, Look, Needs};
use crate::snapshot::DatabaseKind;

const POSTGRES: &[DatabaseKind] = &[DatabaseKind::Postgres];

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "postgres.connection-churn",
        area: Area::Database,
        title: phrase!("the app connects again and again"),
        why: phrase!("each connection costs a handshake and a process; a pool keeps them"),
        source: "postgresqltuner (mean age of connections); pg_stat_database.sessions; https://guides.rubyonrails.org/configuring.html#database-pooling",
        look: Look::Databases(POSTGRES, |db, _| {
            connection_churn(db, db.number("(sessions)")?)
        }),
    },
    Check {
        id: "postgres.login-delay",
        area: Area::Database,
        title: phrase!("each new connection waits for a developer's setting"),
        why: phrase!("the server sleeps before or after it lets a client in"),
        source: "https://www.postgresql.org/docs/current/runtime-config-developer.html (pre_auth_delay, post_auth_delay); postgresqltuner",
        look: Look::Databases(POSTGRES, |db, _| {
            let seconds = |name: &str| Some((name.to_owned(), db.number(name)?));
            let delays = ["pre_auth_delay", "post_auth_delay"].map(seconds);
            let (name, seconds) = delays.into_iter().flatten().find(|(_, s)| *s > 0.0)?;
            Some(
                Found::new(Level::High, format!("{name} = {seconds} s"))
                    .change(set(db, &name, 0), set(db, &name, seconds)),
            )
        }),
    },
    Check {
        id: "postgres.log-hostname",
        area: Area::Database,
        title: phrase!("each new connection's address is looked up by name"),
        why: phrase!("a slow or absent name server delays every connection by seconds"),
        source: "https://www.postgresql.org/docs/current/runtime-config-logging.html (log_hostname); postgresqltuner",
        look: Look::Databases(POSTGRES, |db, _| {
            db.is_on("log_hostname")?.then(|| {
                Found::new(Level::Low, "log_hostname = on").change(
                    set(db, "log_hostname", "off"),
                    set(db, "log_hostname", "on"),
                )
            })
        }),
    },
    Check {
        id: "postgres.no-connection-reserved",
        area: Area::Database,
        title: phrase!("no connection is reserved for an administrator"),
        why: phrase!(
            "when the app has taken all, nobody can log in to see what they do or to end one"
        ),
        source: "https://www.postgresql.org/docs/current/runtime-config-connection.html (superuser_reserved_connections); postgresqltuner",
        look: Look::Databases(POSTGRES, |db, _| {
            let name = "superuser_reserved_connections";
            (db.number(name)? == 0.0).then(|| {
                Found::new(Level::Low, format!("{name} = 0"))
                    .change(set(db, name, 3), set(db, name, 0))
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "postgres.prepared-transactions",
        area: Area::Database,
        title: phrase!("transactions in two phases have waited for their second for minutes"),
        why: phrase!(
            "they keep their locks, also over a restart, and old versions of rows cannot be removed"
        ),
        source: "https://www.postgresql.org/docs/current/sql-prepare-transaction.html; postgresqltuner",
        look: Look::Databases(POSTGRES, |db, _| {
            let found = listed(db, "prepared transactions", Level::Medium)?;
            Some(found.change("COMMIT PREPARED '…' / ROLLBACK PREPARED '…'", ""))
        }),
    },
    Check {
        id: "postgres.checkpoints-hurried",
        area: Area::Database,
        title: phrase!("checkpoints write in a hurry and then rest"),
        why: phrase!("statements wait for the disk while it is busy with changed pages"),
        source: "https://www.postgresql.org/docs/current/runtime-config-wal.html (checkpoint_completion_target, 0.9 since 14); postgresqltuner (below 0.7)",
        look: Look::Databases(POSTGRES, |db, _| {
            let name = "checkpoint_completion_target";
            let target = db.number(name).filter(|target| *target < 0.7)?;
            Some(
                Found::new(Level::Low, format!("{name} = {target}"))
                    .change(set(db, name, 0.9), set(db, name, target)),
            )
        }),
    },
    Check {
        id: "postgres.plans-off",
        area: Area::Database,
        title: phrase!("the planner may not use some kinds of plans"),
        why: phrase!("statements that need them run by slower ones"),
        source: "https://www.postgresql.org/docs/current/runtime-config-query.html (enable_…, crude and temporary); postgresqltuner",
        look: Look::Databases(POSTGRES, |db, _| {
            // Partitions are joined whole unless somebody asks for otherwise.
            let is_plan = |name: &str| {
                name.starts_with("enable_") && !name.starts_with("enable_partitionwise_")
            };
            let settings = db.values.iter().filter(|(name, _)| is_plan(name));
            let off: Vec<String> = settings
                .filter(|(_, value)| *value == "off")
                .map(|(name, _)| name.clone())
                .collect();
            let first = off.first()?;
            Some(
                Found::new(Level::Medium, text!("off: {names}", names = some_of(&off)))
                    .change(set(db, first, "on"), set(db, first, "off")),
            )
        }),
    },
    Check {
        id: "postgres.maintenance-memory-small",
        area: Area::Database,
        title: phrase!("building an index and removing dead rows have little memory"),
        why: phrase!("both take longer on large tables, and autovacuum falls behind"),
        source: "pgtune (a sixteenth of memory); postgresqltuner (64 MB); https://www.postgresql.org/docs/current/runtime-config-resource.html (maintenance_work_mem)",
        look: Look::Databases(POSTGRES, |db, s| {
            let name = "maintenance_work_mem";
            let size = db.number(name).filter(|bytes| *bytes <= 64.0 * 1048576.0)?;
            // Each worker of autovacuum takes as much.
            let most = memory(db, s).map_or(256.0, |bytes| (bytes / 16.0 / 1048576.0).floor());
            let wanted = most.min(256.0);
            (wanted * 1048576.0 > size).then_some(())?;
            // A database of less is rebuilt as a whole in a minute.
            let data = db.number("(data bytes)").filter(|bytes| *bytes > 4e9)?;
            Some(
                Found::new(
                    Level::Low,
                    text!(
                        "{name} = {size}, data {data}",
                        name,
                        size = numbers::bytes(size as u64),
                        data = numbers::bytes(data as u64)
                    ),
                )
                .change(
                    set(db, name, format!("{wanted}MB")),
                    set(db, name, format!("{}kB", size / 1024.0)),
                ),
            )
        }),
    },
];

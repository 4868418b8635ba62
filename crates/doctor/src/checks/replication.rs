//! Copies of a database server.

use DatabaseKind::{Mariadb, Mysql, Postgres};
use words::phrase;

use super::servers::listed;
use crate::check::{Area, Check, Found, Level, Look};
use crate::snapshot::DatabaseKind;

/// Noticeable lag of a copy, in seconds. Shorter ones come with every large transaction.
const LAG_S: f64 = 10.0;

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "database.replication-lag",
        area: Area::Database,
        title: phrase!("a copy of the database is behind"),
        why: phrase!("reads from it return old rows"),
        source: "man pg_stat_replication; https://dev.mysql.com/doc/refman/8.4/en/show-replica-status.html (Seconds_Behind_Source, SQL_Delay); MySQLTuner",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            let seconds = db.number("(replication lag)").filter(|lag| *lag > LAG_S)?;
            let name = match db.kind {
                Mysql => "Seconds_Behind_Source",
                Mariadb => "Seconds_Behind_Master",
                _ => "replay_lag",
            };
            Some(
                Found::new(Level::Medium, format!("{name} = {seconds:.0} s")).change(
                    phrase!(
                        "read from the primary meanwhile; look at the copy's disk and long reads"
                    ),
                    "",
                ),
            )
        }),
    },
    Check {
        id: "database.replication-stopped",
        area: Area::Database,
        title: phrase!("a copy of the database does not follow"),
        why: phrase!("reads from it return the rows of the moment at which it stopped"),
        source: "https://dev.mysql.com/doc/refman/8.4/en/show-replica-status.html (Replica_IO_Running, Replica_SQL_Running); https://www.postgresql.org/docs/current/monitoring-stats.html (pg_stat_wal_receiver); MySQLTuner",
        look: Look::Databases(&[Mysql, Mariadb, Postgres], |db, _| {
            let found = listed(db, "stopped replication", Level::High)?;
            let (change, undo) = match db.kind {
                Mysql => ("START REPLICA", "STOP REPLICA"),
                Mariadb => ("START ALL SLAVES", "STOP ALL SLAVES"),
                _ => ("SELECT pg_reload_conf()", ""),
            };
            Some(
                found
                    .change(
                        phrase!("read from the primary meanwhile; mend what the error names, then"),
                        "",
                    )
                    .change(change, undo),
            )
        }),
    },
];

//! The database server's own counters of statements (`pg_stat_statements`, `performance_schema`),
//! over the window.

use std::time::Duration;

use capture::{DatabaseWatch, WatchTimes};

use crate::message::{Address, Counted, DatabaseEnd};

/// Longest wait for the first reading, before which the window does not begin.
const PATIENCE: Duration = Duration::from_secs(10);
/// Far beyond any window: the end of the window is the last reading.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// Counter of MySQL and MariaDB. PostgreSQL has none.
const PREPARES: &str = "Com_stmt_prepare";
/// Bytes of a statement's text.
const DIGEST_BYTES: usize = 4_000;

/// A database between two readings of the counters.
pub(crate) struct Counters {
    watch: Result<DatabaseWatch, String>,
}

impl Counters {
    /// Connects and reads for the first time.
    pub(crate) fn begin(address: &Address) -> Counters {
        let times = WatchTimes {
            first: Duration::ZERO,
            last: NEVER,
        };
        let watch = DatabaseWatch::start(&address.0, times);
        if let Ok(watch) = &watch {
            watch.wait_for_first(PATIENCE);
        }
        Counters {
            watch: watch.map_err(|error| error.to_string()),
        }
    }

    /// Reads for the second time; returns the statements, the costliest first, and the rest.
    pub(crate) fn end(self) -> (Vec<Counted>, DatabaseEnd) {
        let watched = self
            .watch
            .and_then(|watch| watch.end().map_err(|error| error.to_string()));
        let watched = match watched {
            Ok(watched) => watched,
            Err(error) => {
                return (
                    Vec::new(),
                    DatabaseEnd {
                        error: Some(error),
                        ..DatabaseEnd::default()
                    },
                );
            }
        };
        let prepares = watched.facts.growth(PREPARES).unwrap_or(0);
        let notes = watched.facts.notes;
        let rows = watched.facts.statements.into_iter().zip(watched.texts);
        let statements = rows.map(|(facts, (_, mut digest))| {
            digest.truncate(digest.floor_char_boundary(DIGEST_BYTES));
            Counted {
                digest,
                count: facts.count,
                time_ns: facts.time_ns,
                rows_examined: facts.rows_examined,
                rows_sent: facts.rows_sent,
                pages: facts.pages,
            }
        });
        let end = DatabaseEnd {
            error: None,
            notes,
            prepares,
        };
        (statements.collect(), end)
    }
}

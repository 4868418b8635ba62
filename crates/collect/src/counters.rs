//! The database server's own counters of statements (`pg_stat_statements`, `performance_schema`),
//! over the window.

use std::time::Duration;

use capture::{DatabaseWatch, OWN_STATEMENTS, WatchTimes};
use recording::DatabaseFacts;

use crate::message::{Address, Counted, DatabaseEnd};

/// Longest wait for the first reading, before which the window does not begin.
const PATIENCE: Duration = Duration::from_secs(10);
/// Far beyond any window: the end of the window is the last reading.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// Counters of MySQL and MariaDB. PostgreSQL has neither.
const PREPARES: &str = "Com_stmt_prepare";
const SENT: &str = "Questions";
/// Counters of opened connections of MySQL and MariaDB, and of PostgreSQL from version 14 on, with
/// the round trips of each at the least. All begin with one of TCP. MySQL's server then greets, and
/// replies to the login; PostgreSQL's replies to the first message of a client. TLS and most ways
/// of proving a password take more, which nobody counts.
const OPENED: [(&str, u64); 2] = [("Connections", 3), ("sessions", 2)];
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
        let end = end_of(&watched.facts);
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
        (statements.collect(), end)
    }
}

fn end_of(facts: &DatabaseFacts) -> DatabaseEnd {
    let opened = OPENED
        .iter()
        .find_map(|(name, trips)| Some((facts.growth(name)?, *trips)));
    let (connections, trips) = opened.unwrap_or_default();
    let own = facts.growth(OWN_STATEMENTS).unwrap_or(0);
    DatabaseEnd {
        error: None,
        notes: facts.notes.clone(),
        prepares: facts.growth(PREPARES).unwrap_or(0),
        connections,
        sent: facts.growth(SENT).map(|sent| sent.saturating_sub(own)),
        opening_trips: connections * trips,
    }
}

#[cfg(test)]
mod tests {
    use recording::{Counter, Timestamp};

    use super::*;

    fn facts(counters: &[(&str, u64)]) -> DatabaseFacts {
        let counter = |(name, grown): &(&str, u64)| Counter {
            name: (*name).to_owned(),
            before: 1_000,
            after: 1_000 + grown,
        };
        DatabaseFacts {
            start: Timestamp::from_monotonic_nanos(0),
            end: Timestamp::from_monotonic_nanos(1),
            counters: counters.iter().map(counter).collect(),
            ..DatabaseFacts::default()
        }
    }

    #[test]
    fn opened_connections_have_round_trips_and_own_statements_do_not_count() {
        let mysql = facts(&[
            (SENT, 70),
            (OWN_STATEMENTS, 6),
            (PREPARES, 40),
            ("Connections", 20),
        ]);
        let end = end_of(&mysql);
        assert_eq!((end.sent, end.prepares), (Some(64), 40));
        assert_eq!((end.connections, end.opening_trips), (20, 60));
        let postgres = end_of(&facts(&[("sessions", 20)]));
        assert_eq!((postgres.sent, postgres.prepares), (None, 0));
        assert_eq!((postgres.connections, postgres.opening_trips), (20, 40));
        assert_eq!(end_of(&facts(&[])), DatabaseEnd::default());
    }
}

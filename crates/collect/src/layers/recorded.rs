//! An app's own account of the requests, by the agents inside, for the balance. Pure.

use crate::message::{RouteTime, STATES};

/// Names of the terms of an app's time: the wait for a thread, the states of the handler as in
/// [`STATES`], and what the agents' events missed.
pub const TERMS: [&str; STATES.len() + 2] = [
    "queue",
    STATES[0],
    STATES[1],
    STATES[2],
    STATES[3],
    STATES[4],
    STATES[5],
    STATES[6],
    STATES[7],
    "unaccounted",
];
/// Places in [`TERMS`].
const QUEUE: usize = 0;
const SQL: usize = 3;
const OTHER_IO: usize = 7;
const UNACCOUNTED: usize = TERMS.len() - 1;

/// What agents recorded of an app's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Requests recorded.
    pub requests: u64,
    /// Seconds of all requests by term, in the order of [`TERMS`].
    pub terms_s: [f64; TERMS.len()],
}

impl Recorded {
    /// Adds routes up.
    pub fn of(routes: &[RouteTime]) -> Recorded {
        let mut all = Recorded::default();
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let mut handler_s = 0.0;
        for route in routes {
            all.requests += route.requests;
            all.terms_s[QUEUE] += seconds(route.waited_ns);
            for (sum, nanos) in all.terms_s[QUEUE + 1..].iter_mut().zip(route.states_ns) {
                *sum += seconds(nanos);
            }
            handler_s += seconds(route.time_ns);
        }
        let known_s: f64 = all.terms_s[QUEUE + 1..UNACCOUNTED].iter().sum();
        all.terms_s[UNACCOUNTED] = (handler_s - known_s).max(0.0);
        all
    }

    /// Returns the same for a number of requests that are like those recorded, together no longer
    /// than `limit_s`: a proxy's log rounds each of its times.
    pub(super) fn of_requests(&self, requests: u64, limit_s: f64) -> Recorded {
        let each = requests as f64 / self.requests.max(1) as f64;
        let whole_s = self.total_s() * each;
        let fitting = match whole_s > limit_s {
            true => each * limit_s / whole_s,
            false => each,
        };
        Recorded {
            requests,
            terms_s: self.terms_s.map(|seconds| seconds * fitting),
        }
    }

    /// Returns the seconds of all terms.
    pub(super) fn total_s(&self) -> f64 {
        self.terms_s.iter().sum()
    }

    /// Returns the seconds in which a database may have worked: a driver unknown to the agents, or
    /// a connection being opened, is I/O of no kind.
    pub(super) fn outside_s(&self) -> f64 {
        self.terms_s[SQL] + self.terms_s[OTHER_IO]
    }

    /// Returns the terms without seconds of a database and of the way to it, at most
    /// [`Recorded::outside_s`].
    pub(super) fn without(&self, seconds: f64) -> [f64; TERMS.len()] {
        let mut terms_s = self.terms_s;
        let in_sql = seconds.min(terms_s[SQL]);
        terms_s[SQL] -= in_sql;
        terms_s[OTHER_IO] = (terms_s[OTHER_IO] - (seconds - in_sql)).max(0.0);
        terms_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_terms_are_those_of_their_names() {
        assert_eq!(TERMS[1..UNACCOUNTED], STATES);
        let named = [QUEUE, SQL, OTHER_IO, UNACCOUNTED].map(|place| TERMS[place]);
        assert_eq!(named, ["queue", "sql", "other_io", "unaccounted"]);
    }

    #[test]
    fn a_database_beyond_sql_calls_is_taken_from_other_io() {
        let mut recorded = Recorded {
            requests: 1,
            ..Recorded::default()
        };
        recorded.terms_s[SQL] = 2.0;
        recorded.terms_s[OTHER_IO] = 1.0;
        recorded.terms_s[UNACCOUNTED] = 4.0;
        let left = |seconds: f64| {
            let terms_s = recorded.without(seconds);
            (terms_s[SQL], terms_s[OTHER_IO], terms_s[UNACCOUNTED])
        };
        assert_eq!(left(0.5), (1.5, 1.0, 4.0));
        assert_eq!(left(2.5), (0.0, 0.5, 4.0));
        assert_eq!(recorded.outside_s(), 3.0);
    }
}

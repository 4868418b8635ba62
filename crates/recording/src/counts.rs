//! Plain questions about the exchanges of a recording.

use crate::{Outcome, Recording};

impl Recording {
    /// Returns the status of each response, with 1 as the count of each.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> {
        let exchanges = self.exchanges.iter();
        exchanges.filter_map(|one| (one.status > 0).then_some((one.status, 1)))
    }

    /// Returns whether a request of the measured window failed. A request that nobody waited for
    /// any more when the load ended did not.
    pub fn has_failures(&self) -> bool {
        self.exchanges.iter().any(|exchange| {
            let is_failure = !matches!(exchange.outcome, Outcome::Ok | Outcome::Unanswered);
            is_failure && self.window.contains(exchange.due)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Exchange, Outcome, Recording, RequestId, TextId, Timestamp, Window};

    fn exchange(second: u64, outcome: Outcome, status: u16) -> Exchange {
        let at = Timestamp::from_monotonic_nanos(second * 1_000_000_000);
        let line = TextId::NONE;
        Exchange {
            id: RequestId(0),
            due: at,
            sent: at,
            answered: at,
            line,
            step: 0,
            connection: 0,
            status,
            outcome,
            body_bytes: 0,
        }
    }

    fn recording(exchanges: Vec<Exchange>) -> Recording {
        let at = |second: u64| Timestamp::from_monotonic_nanos(second * 1_000_000_000);
        Recording {
            window: Window {
                start: at(1),
                end: at(3),
            },
            exchanges,
            ..Recording::default()
        }
    }

    #[test]
    fn only_failures_of_the_window_count() {
        let check = |second, outcome, has_failures| {
            let recording = recording(vec![exchange(second, outcome, 200)]);
            assert_eq!(
                recording.has_failures(),
                has_failures,
                "{second} {outcome:?}"
            );
        };
        check(2, Outcome::Ok, false);
        check(2, Outcome::Unanswered, false);
        check(2, Outcome::TimedOut, true);
        check(2, Outcome::BadAnswer, true);
        check(0, Outcome::TimedOut, false);
    }

    #[test]
    fn a_request_without_a_response_has_no_status() {
        let exchanges = [200, 0, 404].map(|status| exchange(2, Outcome::Ok, status));
        let recording = recording(exchanges.into());
        let statuses: Vec<_> = recording.statuses().collect();
        assert_eq!(statuses, [(200, 1), (404, 1)]);
    }
}

//! The measured window second by second, as observed by clients.

use recording::{Nanos, Outcome, Recording};

use crate::facts::Percentiles;

/// One second of the window. A request belongs to the second in which its last byte came.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// Seconds from the start of the window to the start of the second.
    pub at_s: u32,
    /// Requests answered in the second.
    pub answered: u64,
    /// Requests ended in the second with an error: without a response, or with a server error.
    pub errors: u64,
    /// Requests answered in the second and refused by a check of the flow.
    pub checks_failed: u64,
    /// Latency (due → answered) of the requests answered in the second.
    pub latency: Percentiles,
}

/// Seconds of a day: longer windows are cut, to keep a damaged recording from requesting all
/// memory.
const SECONDS_MAX: usize = 86_400;

#[derive(Clone, Default)]
struct Tally {
    errors: u64,
    checks_failed: u64,
    latency: Vec<Nanos>,
}

/// The whole seconds of the window, in order. A rest shorter than a second is left out, since its
/// counts would look like a drop. Requests count that were due in the window, as everywhere.
pub fn of(recording: &Recording) -> Vec<Second> {
    let window = recording.window;
    let count = (window.length().as_secs_f64() as usize).min(SECONDS_MAX);
    let mut tallies = vec![Tally::default(); count];
    for exchange in &recording.exchanges {
        if !window.contains(exchange.due) {
            continue;
        }
        let since = exchange.answered.since(window.start);
        let Some(tally) = tallies.get_mut(since.as_secs_f64() as usize) else {
            continue;
        };
        match exchange.outcome {
            Outcome::Unanswered => continue,
            Outcome::Ok => {}
            Outcome::CheckFailed => tally.checks_failed += 1,
            _ => tally.errors += 1,
        }
        if exchange.was_answered() {
            tally.latency.push(exchange.answered.since(exchange.due));
        }
    }
    (0..).zip(tallies).map(second).collect()
}

fn second((at_s, mut tally): (u32, Tally)) -> Second {
    tally.latency.sort_unstable();
    Second {
        at_s,
        answered: tally.latency.len() as u64,
        errors: tally.errors,
        checks_failed: tally.checks_failed,
        latency: Percentiles::of(&tally.latency),
    }
}

#[cfg(test)]
mod tests {
    use recording::{Exchange, RequestId, TextId, Timestamp, Window};

    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_monotonic_nanos(ms * 1_000_000)
    }

    fn exchange(due: u64, answered: u64, outcome: Outcome) -> Exchange {
        Exchange {
            id: RequestId(due),
            due: at(due),
            sent: at(due),
            answered: at(answered),
            line: TextId::NONE,
            step: 0,
            connection: 0,
            status: 200,
            outcome,
            body_bytes: 0,
        }
    }

    #[test]
    fn a_request_belongs_to_the_second_of_its_last_byte() {
        let recording = Recording {
            window: Window {
                start: at(1000),
                end: at(3500),
            },
            exchanges: vec![
                exchange(900, 1100, Outcome::Ok),
                exchange(1000, 1400, Outcome::Ok),
                exchange(1100, 1999, Outcome::CheckFailed),
                exchange(1200, 2000, Outcome::ServerError),
                exchange(1300, 2900, Outcome::TimedOut),
                exchange(3100, 3200, Outcome::Ok),
                exchange(3100, 3500, Outcome::Unanswered),
            ],
            ..Recording::default()
        };
        let seconds = of(&recording);
        let counts: Vec<_> = seconds
            .iter()
            .map(|second| {
                (
                    second.at_s,
                    second.answered,
                    second.errors,
                    second.checks_failed,
                )
            })
            .collect();
        assert_eq!(counts, [(0, 2, 0, 1), (1, 1, 2, 0)]);
        assert_eq!(seconds[0].latency.p50, Some(400.0));
        assert_eq!(seconds[1].latency.max, Some(800.0));
        assert_eq!(of(&Recording::default()), []);
    }
}

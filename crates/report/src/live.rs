//! Progress of a load in `hakaru run`: pure, three lines of at most 60 columns.

use figures::numbers;
use recording::{Exchange, Nanos, Outcome};
use words::{Text, text};

/// The figures so far, and the figures of the last second.
#[derive(Debug, Default)]
pub struct Live {
    warmup: Nanos,
    whole: Nanos,
    requests: u64,
    failed: u64,
    /// Start of the current interval.
    begin: Nanos,
    latencies: Vec<u64>,
    last: Option<Stretch>,
}

#[derive(Debug)]
struct Stretch {
    per_second: f64,
    p50_ms: Option<f64>,
    p95_ms: Option<f64>,
}

/// Shortest length of an interval, nanoseconds.
const STRETCH: Nanos = Nanos(1_000_000_000);

impl Live {
    /// Returns the progress before the first request.
    pub fn new(warmup: Nanos, duration: Nanos) -> Live {
        Live {
            warmup,
            whole: warmup + duration,
            ..Live::default()
        }
    }

    /// Adds the requests ended since the last call; `passed` counts from the start of the load.
    pub fn add(&mut self, exchanges: &[Exchange], passed: Nanos) {
        for exchange in exchanges {
            self.requests += 1;
            self.failed += u64::from(exchange.outcome != Outcome::Ok);
            if exchange.was_answered() {
                (self.latencies).push(exchange.answered.since(exchange.due).0);
            }
        }
        let length = passed - self.begin;
        if length < STRETCH {
            return;
        }
        self.latencies.sort_unstable();
        self.last = Some(Stretch {
            per_second: self.latencies.len() as f64 / length.as_secs_f64(),
            p50_ms: quantile_ms(&self.latencies, 0.5),
            p95_ms: quantile_ms(&self.latencies, 0.95),
        });
        self.latencies.clear();
        self.begin = passed;
    }

    /// The lines after `passed`.
    pub fn lines(&self, passed: Nanos) -> [Text; 3] {
        let phase = match passed < self.warmup {
            true => text!("warming up"),
            false => text!("measuring"),
        };
        let left = self.whole - passed;
        let time = text!(
            "  {phase}   {passed} s of {whole} s   {left} s left",
            phase,
            passed = whole_seconds(passed),
            whole = whole_seconds(self.whole),
            left = whole_seconds(left)
        );
        let now = match &self.last {
            None => text!("  now      nothing was measured yet"),
            Some(last) => text!(
                "  now      {rate} requests/s   p50 {p50}   p95 {p95}",
                rate = numbers::plain(last.per_second),
                p50 = numbers::duration_ms_or_unknown(last.p50_ms),
                p95 = numbers::duration_ms_or_unknown(last.p95_ms)
            ),
        };
        let sums = text!(
            "  so far   {requests} requests   {failed} failed",
            requests = numbers::count(self.requests),
            failed = numbers::count(self.failed)
        );
        [time, now, sums]
    }
}

fn quantile_ms(sorted: &[u64], q: f64) -> Option<f64> {
    stats::quantile(sorted, q).map(|nanos| nanos as f64 / 1e6)
}

fn whole_seconds(length: Nanos) -> String {
    format!("{:.0}", length.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use recording::{RequestId, TextId, Timestamp};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn exchange(latency_ms: u64, outcome: Outcome) -> Exchange {
        Exchange {
            id: RequestId(1),
            due: Timestamp::from_monotonic_nanos(0),
            sent: Timestamp::from_monotonic_nanos(0),
            answered: Timestamp::from_monotonic_nanos(latency_ms * 1_000_000),
            line: TextId::of(b"GET /"),
            step: 0,
            connection: 0,
            status: 200,
            outcome,
            body_bytes: 0,
        }
    }

    fn english(live: &Live, passed: Nanos) -> String {
        live.lines(passed).map(|line| line.to_string()).join("\n")
    }

    #[test]
    fn a_second_is_shown_when_it_is_whole() {
        let mut live = Live::new(Nanos(SECOND), Nanos(9 * SECOND));
        live.add(&[exchange(3, Outcome::Ok)], Nanos(SECOND / 2));
        let lines = english(&live, Nanos(SECOND / 2));
        assert!(lines.starts_with("  warming up"), "{lines}");
        assert!(lines.contains("nothing was measured yet"), "{lines}");
        let ninety_nine: Vec<Exchange> = (1..=99)
            .map(|ms| exchange(ms, Outcome::Ok))
            .chain([exchange(5000, Outcome::TimedOut)])
            .collect();
        live.add(&ninety_nine, Nanos(2 * SECOND));
        let lines = english(&live, Nanos(2 * SECOND));
        assert_eq!(
            lines,
            "  measuring   2 s of 10 s   8 s left\n  now      50.0 requests/s   p50 49.0 ms   p95 94.0 ms\n  \
             so far   101 requests   1 failed"
        );
    }

    #[test]
    fn great_numbers_fit_the_narrowest_terminal() {
        let mut live = Live::new(Nanos(0), Nanos(86_400 * SECOND));
        live.requests = 123_456_789_012;
        live.failed = 123_456_789_012;
        live.last = Some(Stretch {
            per_second: 1_234_567.0,
            p50_ms: Some(119_999.0),
            p95_ms: Some(3_000_000.0),
        });
        for line in live.lines(Nanos(86_399 * SECOND)) {
            for language in [words::Language::English, words::Language::Japanese] {
                let line = line.written_in(language);
                assert!(figures::text::width(&line) < 60, "{line}");
            }
        }
    }
}

//! The load second by second.

use std::fmt::Write as _;

use load::Interval;
use recording::Nanos;

use crate::quantile_ms;

/// One stretch of the load.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Start of the interval, seconds after the start of the measured part; negative in the
    /// warm-up.
    pub at_s: f64,
    /// Length of the interval in seconds.
    pub length_s: f64,
    /// Complete responses.
    pub answered: u64,
    /// Failed requests.
    pub failed: u64,
    /// Latency from due: p50, p90, p99 and the greatest, in milliseconds.
    pub latency_ms: [Option<f64>; 4],
    /// p99 of the generator's own delay, milliseconds.
    pub lateness_ms_p99: Option<f64>,
    /// CPU time of the generator, in cores.
    pub generator_cores: f64,
    /// Bytes of the responses' bodies.
    pub body_bytes: u64,
    /// Requests in flight at the end of the interval.
    pub in_flight: u64,
}

impl Row {
    /// Returns the row of an interval of the given length.
    pub fn of(interval: &Interval, length: Nanos) -> Row {
        let length_s = length.as_secs_f64();
        let at = |quantile| quantile_ms(&interval.latency, quantile);
        Row {
            at_s: interval.number as f64 * length_s,
            length_s,
            answered: interval.answered(),
            failed: interval.outcomes.failed(),
            latency_ms: [at(0.5), at(0.9), at(0.99), at(1.0)],
            lateness_ms_p99: quantile_ms(&interval.lateness, 0.99),
            generator_cores: interval.cpu.as_secs_f64() / length_s,
            body_bytes: interval.body_bytes,
            in_flight: interval.in_flight,
        }
    }

    /// Complete responses per second.
    pub fn rps(&self) -> f64 {
        self.answered as f64 / self.length_s
    }
}

/// The rows as CSV with a header line; what is not known is empty. What ended after the measured
/// part's end stands in the rows behind it.
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "second,rps,answered,failed,p50_ms,p90_ms,p99_ms,max_ms,lateness_p99_ms,generator_cores,body_bytes,in_flight\n",
    );
    for row in rows {
        let _ = write!(
            text,
            "{},{},{},{}",
            row.at_s,
            row.rps(),
            row.answered,
            row.failed
        );
        for time in row.latency_ms.into_iter().chain([row.lateness_ms_p99]) {
            let time = time.map_or_else(String::new, |time| format!("{time:.6}"));
            let _ = write!(text, ",{time}");
        }
        let (cores, bytes, flight) = (row.generator_cores, row.body_bytes, row.in_flight);
        let _ = writeln!(text, ",{cores:.4},{bytes},{flight}");
    }
    text
}

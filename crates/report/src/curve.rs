//! The latency curve: percentiles of latency and service, as many as the samples carry.

use recording::Nanos;

/// Shares of the requests on the curve, out of 10,000 for exactness; the last is the maximum.
const SHARES: [u16; 17] = [
    1000, 2500, 5000, 6600, 7500, 8000, 9000, 9500, 9800, 9900, 9950, 9980, 9990, 9995, 9998, 9999,
    10_000,
];

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Share of the requests with at most the latency of the point; 1 for the maximum.
    pub share: f64,
    /// Due → answered, milliseconds.
    pub latency_ms: f64,
    /// Sent → answered, milliseconds; `None` where fewer requests were answered than the share
    /// needs.
    pub service_ms: Option<f64>,
}

/// The curve of values sorted ascending. A point is left out when not one sample lies beyond it, by
/// the rule of [`crate::facts::Percentiles`].
pub fn of(latency: &[Nanos], service: &[Nanos]) -> Vec<Point> {
    let point = |share: u16| {
        Some(Point {
            share: f64::from(share) / 10_000.0,
            latency_ms: carried(latency, share)?,
            service_ms: carried(service, share),
        })
    };
    SHARES.into_iter().filter_map(point).collect()
}

fn carried(sorted: &[Nanos], share: u16) -> Option<f64> {
    let beyond = usize::from(10_000 - share);
    let known = share == 10_000 || sorted.len() * beyond >= 10_000;
    known.then_some(())?;
    let value = stats::quantile(sorted, f64::from(share) / 10_000.0)?;
    Some(value.as_millis_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Percentiles;

    fn millis(count: u64) -> Vec<Nanos> {
        (1..=count).map(|ms| Nanos(ms * 1_000_000)).collect()
    }

    #[test]
    fn points_are_those_that_the_samples_carry() {
        let check = |count: u64, last_but_one: Option<f64>| {
            let curve = of(&millis(count), &[]);
            let before_max = curve.iter().rev().nth(1).map(|point| point.share);
            assert_eq!(before_max, last_but_one, "{count} samples");
        };
        check(0, None);
        check(1, None);
        check(2, Some(0.5));
        check(100, Some(0.99));
        check(999, Some(0.998));
        check(1000, Some(0.999));
        check(10_000, Some(0.9999));
    }

    #[test]
    fn it_says_what_the_percentiles_say() {
        for count in [1, 2, 9, 10, 19, 20, 99, 100, 5000] {
            let sorted = millis(count);
            let curve = of(&sorted, &sorted);
            let at = |share: f64| {
                let point = curve.iter().find(|point| point.share == share)?;
                assert_eq!(point.service_ms, Some(point.latency_ms));
                Some(point.latency_ms)
            };
            let found = Percentiles::of(&sorted);
            assert_eq!(at(0.5), found.p50, "{count}");
            assert_eq!(at(0.9), found.p90, "{count}");
            assert_eq!(at(0.95), found.p95, "{count}");
            assert_eq!(at(0.99), found.p99, "{count}");
            assert_eq!(at(1.0), found.max, "{count}");
        }
    }
}

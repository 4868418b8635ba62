//! Distribution of latencies: percentiles for a curve, and counts by class for a histogram.

use hdrhistogram::Histogram;

use crate::{quantile_ms, v1};

/// Shares of the curve, as on a run's page.
const SHARES: [f64; 17] = [
    0.1, 0.25, 0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998,
    0.9999, 1.0,
];
/// Classes in each power of ten: a doubling is about three classes wide.
const CLASSES_PER_DECADE: f64 = 10.0;

/// Returns the percentiles supported by the number of requests.
pub(crate) fn curve(latency: &Histogram<u64>, sent: &Histogram<u64>) -> Vec<v1::CurvePoint> {
    let point = |share: f64| {
        Some(v1::CurvePoint {
            share,
            latency_ms: quantile_ms(latency, share)?,
            sent_latency_ms: quantile_ms(sent, share),
        })
    };
    match latency.is_empty() {
        true => Vec::new(),
        false => SHARES.into_iter().filter_map(point).collect(),
    }
}

/// Counts by classes of equal width on a logarithmic scale, without empty classes at both ends.
pub(crate) fn classes(latency: &Histogram<u64>) -> Vec<v1::Class> {
    let index = |nanos: u64| (nanos.max(1) as f64 / 1e6).log10() * CLASSES_PER_DECADE;
    let mut classes = std::collections::BTreeMap::new();
    for value in latency.iter_recorded() {
        let class = index(value.value_iterated_to()).floor() as i32;
        *classes.entry(class).or_insert(0) += value.count_at_value();
    }
    let (Some(first), Some(last)) = (classes.keys().next(), classes.keys().next_back()) else {
        return Vec::new();
    };
    let edge = |class: i32| 10f64.powf(f64::from(class) / CLASSES_PER_DECADE);
    let class = |class: i32| v1::Class {
        from_ms: edge(class),
        to_ms: edge(class + 1),
        count: classes.get(&class).copied().unwrap_or(0),
    };
    (*first..=*last).map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(millis: impl Iterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        for ms in millis {
            histogram.record(ms * 1_000_000).unwrap();
        }
        histogram
    }

    #[test]
    fn classes_hold_every_request_once() {
        let classes = classes(&of((1..=1000).chain([9000])));
        assert_eq!(classes.iter().map(|class| class.count).sum::<u64>(), 1001);
        assert!(
            classes.iter().any(|class| class.count == 0),
            "a gap is shown"
        );
        for pair in classes.windows(2) {
            assert!((pair[0].to_ms - pair[1].from_ms).abs() < 1e-9);
        }
        let last = classes.last().unwrap();
        assert!(last.from_ms <= 9001.0 && last.to_ms > 9000.0 && last.count == 1);
        assert!(super::classes(&of(0..0)).is_empty());
    }

    #[test]
    fn the_curve_ends_with_what_the_requests_carry() {
        let shares = |count: u64| -> Vec<f64> {
            let latency = of(1..=count);
            let points = curve(&latency, &of(0..0));
            points.iter().map(|point| point.share).collect()
        };
        assert_eq!(shares(0), [0.0; 0]);
        assert_eq!(shares(20).iter().rev().nth(1), Some(&0.95));
        assert_eq!(shares(20).last(), Some(&1.0));
    }
}

//! Exponential histograms, whose buckets keep the relative precision of a histogram's own.

use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

/// Scale of the buckets: each ends at 2^(1/128) times the beginning, so is 0.54 % wide. Ours are
/// 0.1 % wide; receivers merge neighbours where they want fewer.
const SCALE: i32 = 7;
const NANOS_PER_SECOND: f64 = 1e9;

/// Returns the histogram's part of a data point. The values are nanoseconds, the buckets seconds.
pub(crate) fn point(histogram: &Histogram<u64>) -> Map<String, Value> {
    let (mut zeros, mut counts) = (0, Vec::<(i32, u64)>::new());
    for one in histogram.iter_recorded() {
        let count = one.count_at_value();
        match histogram.median_equivalent(one.value_iterated_to()) {
            0 => zeros += count,
            nanos => {
                let index = bucket(nanos as f64 / NANOS_PER_SECOND);
                match counts.last_mut() {
                    Some((last, sum)) if *last == index => *sum += count,
                    _ => counts.push((index, count)),
                }
            }
        }
    }
    let offset = counts.first().map_or(0, |(index, _)| *index);
    let mut buckets: Vec<String> = Vec::new();
    for (index, count) in counts {
        buckets.resize((index - offset) as usize, "0".to_owned());
        buckets.push(count.to_string());
    }
    let sum = histogram.mean() * histogram.len() as f64 / NANOS_PER_SECOND;
    let mut point = Map::new();
    let mut put = |name: &str, value: Value| point.insert(name.to_owned(), value);
    put("count", json!(histogram.len().to_string()));
    put("sum", json!(sum));
    put("scale", json!(SCALE));
    put("zeroCount", json!(zeros.to_string()));
    put(
        "positive",
        json!({ "offset": offset, "bucketCounts": buckets }),
    );
    if !histogram.is_empty() {
        put("min", json!(histogram.min() as f64 / NANOS_PER_SECOND));
        put("max", json!(histogram.max() as f64 / NANOS_PER_SECOND));
    }
    point
}

/// Returns the index of the bucket of a value: above base^index, at most base^(index + 1).
fn bucket(seconds: f64) -> i32 {
    (seconds.log2() * f64::from(1 << SCALE)).ceil() as i32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(nanos: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        nanos
            .iter()
            .for_each(|value| histogram.record(*value).unwrap());
        histogram
    }

    /// Returns the share of values at most as large, and the largest error of a quantile read from
    /// the buckets.
    fn quantile(point: &Map<String, Value>, share: f64) -> f64 {
        let base = 2_f64.powf(2_f64.powi(-SCALE));
        let text = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap();
        let wanted = (share * text(&point["count"]) as f64).ceil() as u64;
        let mut passed = text(&point["zeroCount"]);
        if passed >= wanted {
            return 0.0;
        }
        let offset = point["positive"]["offset"].as_i64().unwrap() as i32;
        for (number, count) in (0..).zip(point["positive"]["bucketCounts"].as_array().unwrap()) {
            passed += text(count);
            if passed >= wanted {
                return base.powf(f64::from(offset + number) + 0.5);
            }
        }
        panic!("the buckets hold fewer than count");
    }

    #[test]
    fn a_value_lies_above_the_bucket_s_beginning_and_not_beyond_its_end() {
        let base = 2_f64.powf(2_f64.powi(-SCALE));
        for seconds in [1e-9, 1.5e-6, 0.25, 0.251, 0.999, 1.0, 1.001, 59.0] {
            let index = f64::from(bucket(seconds));
            assert!(base.powf(index) < seconds * 1.000_001, "{seconds}");
            assert!(base.powf(index + 1.0) > seconds * 0.999_999, "{seconds}");
        }
        assert_eq!([bucket(1.0), bucket(0.5), bucket(2.0)], [-1, -129, 127]);
    }

    #[test]
    fn quantiles_are_those_of_the_histogram_to_half_a_percent() {
        let nanos: Vec<u64> = (1..=20_000_u64).map(|i| 40_000 + i * i).collect();
        let given = histogram(&nanos);
        let point = point(&given);
        for share in [0.01, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let exact = given.value_at_quantile(share) as f64 / 1e9;
            let read = quantile(&point, share);
            assert!(
                (read / exact - 1.0).abs() < 0.005,
                "{share}: {read} {exact}"
            );
        }
        assert_eq!(point["count"], "20000");
        let sum: u64 = nanos.iter().sum();
        let read = point["sum"].as_f64().unwrap();
        assert!((read / (sum as f64 / 1e9) - 1.0).abs() < 0.001, "{read}");
    }

    #[test]
    fn zeros_and_no_value_at_all() {
        let zeros = point(&histogram(&[0, 0, 1_000_000]));
        assert_eq!(zeros["zeroCount"], "2");
        assert_eq!(zeros["positive"]["bucketCounts"], json!(["1"]));
        let none = point(&histogram(&[]));
        assert_eq!(none["count"], "0");
        assert_eq!(none["positive"]["bucketCounts"], json!([]));
        assert!(!none.contains_key("min"), "{none:?}");
    }
}

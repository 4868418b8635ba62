//! A bench compared with an earlier one, both read from JSON: claims possible without interleaving.
//!
//! Nothing cancels what the machine did between both. So a difference must exceed [`DRIFT`] to be
//! claimed, and where the cores' own pace differs by as much, nothing is.

use serde_json::Value;
use stats::comparison::{BLOCKS_MIN, Verdict};
use stats::{Interval, difference_interval, mean, median};

/// Drift of shared hosts from one minute to the next; as in `hakaru compare`, chosen by judgement.
pub const DRIFT: f64 = 0.03;
/// Resamples behind an interval.
const RESAMPLES: usize = 2_000;

/// A contender's figures in a row of a stored bench.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The row's name and the contender's.
    pub name: [String; 2],
    /// The metric's unit.
    pub unit: String,
    /// The figure as shown; `None` where there was none.
    pub value: Option<f64>,
    /// Logarithms of what each process measured.
    pub(crate) logs: Vec<f64>,
    /// Median of the cores' pace.
    pub(crate) pace: Option<f64>,
    /// Whether more of what was measured is better.
    pub(crate) is_more_better: bool,
}

/// A contender now beside itself then.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// The row's name and the contender's.
    pub name: [String; 2],
    /// How many times as good the newer figure is.
    pub ratio: f64,
    /// Interval of `ratio`, drift not included; `None` with too few processes.
    pub interval: Option<Interval>,
    /// `Higher` is better.
    pub verdict: Verdict,
    /// Ratio of the times for the same work on the cores, newer over older, where too different for
    /// any claim.
    pub pace: Option<f64>,
}

/// Reads a document; unreadable rows are left out.
pub fn read(document: &str) -> Vec<Kept> {
    let document: Value = serde_json::from_str(document).unwrap_or_default();
    let mut all = Vec::new();
    for row in list(&document["rows"]) {
        for contender in list(&row["contenders"]) {
            all.extend(kept(row, contender));
        }
    }
    all
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn kept(row: &Value, contender: &Value) -> Option<Kept> {
    let unit = row["metric"]["unit"].as_str()?;
    let figure = |process: &Value| {
        let time = if row["clock"] == "cpu" {
            "cpu_s"
        } else {
            "wall_s"
        };
        let key = if unit == "bytes" {
            "memory_bytes"
        } else {
            time
        };
        process["printed"]
            .as_f64()
            .or_else(|| process[key].as_f64())
    };
    let processes = list(&contender["processes"]);
    let figures: Vec<f64> = processes
        .iter()
        .filter_map(figure)
        .filter(|figure| *figure > 0.0)
        .collect();
    let paces: Vec<f64> = processes
        .iter()
        .filter_map(|process| process["core_pace_ns"].as_f64())
        .collect();
    let has_printed = processes.iter().any(|process| process["printed"].is_f64());
    Some(Kept {
        name: [row["name"].as_str()?, contender["name"].as_str()?].map(str::to_owned),
        unit: unit.to_owned(),
        value: contender["value"].as_f64(),
        logs: figures.iter().map(|figure| figure.ln()).collect(),
        pace: median(&paces),
        is_more_better: has_printed && row["metric"]["larger_is_better"] == true,
    })
}

/// Returns each contender of `now` with a counterpart in `then`.
pub fn against(then: &[Kept], now: &[Kept]) -> Vec<Against> {
    let beside = |now: &Kept| {
        let then = then
            .iter()
            .find(|then| then.name == now.name && then.unit == now.unit)?;
        let sign = if now.is_more_better { 1.0 } else { -1.0 };
        let ratio = sign * (mean(&now.logs)? - mean(&then.logs)?);
        let is_enough = now.logs.len().min(then.logs.len()) >= BLOCKS_MIN;
        let interval = is_enough
            .then(|| difference_interval(&now.logs, &then.logs, 0.99, RESAMPLES))
            .flatten()
            .map(|interval| {
                let ends = [sign * interval.low, sign * interval.high];
                Interval {
                    low: ends[0].min(ends[1]),
                    high: ends[0].max(ends[1]),
                }
            });
        let pace = now.pace.zip(then.pace).map(|(now, then)| now / then);
        let pace = pace.filter(|pace| pace.ln().abs() > DRIFT.ln_1p());
        Some(Against {
            name: now.name.clone(),
            ratio: ratio.exp(),
            verdict: match interval {
                Some(interval) if pace.is_none() => verdict(interval),
                _ => Verdict::Unclear,
            },
            interval: interval.map(|interval| Interval {
                low: interval.low.exp(),
                high: interval.high.exp(),
            }),
            pace,
        })
    };
    now.iter().filter_map(beside).collect()
}

fn verdict(interval: Interval) -> Verdict {
    let drift = DRIFT.ln_1p();
    if interval.low > drift {
        Verdict::Higher
    } else if interval.high < -drift {
        Verdict::Lower
    } else if -drift <= interval.low && interval.high <= drift {
        Verdict::Same
    } else {
        Verdict::Unclear
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(seconds: f64, pace: f64) -> String {
        let process = |index: usize| {
            let wobble = 1.0 + 0.002 * (index % 5) as f64;
            format!(
                "{{\"cpu_s\": {}, \"wall_s\": 1.0, \"printed\": null, \"core_pace_ns\": {pace}}}",
                seconds * wobble
            )
        };
        let processes: Vec<String> = (0..12).map(process).collect();
        format!(
            "{{\"rows\": [{{\"name\": \"join\", \"clock\": \"cpu\", \"metric\": {{\"unit\": \"i/s\", \"larger_is_better\": true}}, \
             \"contenders\": [{{\"name\": \"ruby\", \"value\": 5.0, \"processes\": [{}]}}]}}]}}",
            processes.join(", ")
        )
    }

    #[test]
    fn only_more_than_drift_is_claimed_and_nothing_on_other_cores() {
        let check = |seconds: f64, pace: f64, expected: Verdict| {
            let [then, now] =
                [document(1.0, 100.0), document(seconds, pace)].map(|text| read(&text));
            let against = against(&then, &now);
            assert_eq!(
                against[0].verdict, expected,
                "{seconds} {pace}: {against:?}"
            );
        };
        check(1.0, 100.0, Verdict::Same);
        check(1.02, 100.0, Verdict::Same);
        check(1.1, 100.0, Verdict::Lower);
        check(0.9, 101.0, Verdict::Higher);
        check(1.1, 110.0, Verdict::Unclear);
    }

    #[test]
    fn what_is_no_bench_has_no_figures() {
        assert_eq!(read("{}"), []);
        assert_eq!(read("no JSON"), []);
    }
}

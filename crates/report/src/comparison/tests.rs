use ::comparison::{Comparison, Decision, Ending, MeasuredBlock, Row, Tried, Variant};
use recording::Nanos;
use serde_json::Value;
use stats::Interval;
use stats::comparison::{Row as Seen, Verdict};

use words::Language;

use super::*;
use crate::samples::check_widths;

pub(crate) fn row(metric: &str, ratio: f64, verdict: Verdict) -> Row {
    Row {
        metric: metric.to_owned(),
        a: 40.1,
        b: 40.1 * ratio,
        seen: Seen {
            ratio,
            interval: Some(Interval {
                low: ratio - 0.02,
                high: ratio + 0.02,
            }),
            verdict,
            noise: Some(0.02),
        },
    }
}

pub(crate) fn comparison(rows: Vec<Row>) -> Comparison {
    let variant = |name: &str| Variant {
        name: name.to_owned(),
        requests: 12_000,
        start_s: Some(0.8),
        ..Variant::default()
    };
    Comparison {
        a: variant("puma -t 5:5"),
        b: variant("puma -t 3:3"),
        rows,
        blocks: 24,
        noise_floor: Some(0.02),
        measuring_s: 360.0,
        ..Comparison::default()
    }
}

fn check(rows: Vec<Row>, expected: &str, decided: Decision) {
    let comparison = comparison(rows);
    assert_eq!(sentence(&comparison), expected);
    assert_eq!(comparison.decision(), decided);
}

#[test]
fn neighbouring_percentiles_are_a_range() {
    check(
        vec![
            row("rps", 1.0, Verdict::Same),
            row("p50", 0.46, Verdict::Lower),
            row("p66", 0.5, Verdict::Lower),
            row("p95", 0.99, Verdict::Unclear),
            row("p99", 0.8, Verdict::Lower),
        ],
        "B is faster at p50–p66, p99 (24 blocks, 6.00 min); throughput unchanged; noise floor of this host ±2%",
        Decision::Faster,
    );
    check(
        vec![
            row("rps", 1.2, Verdict::Higher),
            row("p50", 0.46, Verdict::Lower),
            row("p99", 1.8, Verdict::Higher),
        ],
        "B is faster at p50, throughput (1.20x) and slower at p99 (24 blocks, 6.00 min); noise floor of this host ±2%",
        Decision::Mixed,
    );
}

#[test]
fn cpu_time_is_told_beside_times_or_alone() {
    check(
        vec![
            row("rps", 1.0, Verdict::Same),
            row("p50", 0.46, Verdict::Lower),
            row("p100", 1.0, Verdict::Unclear),
            row("cpu", 1.3, Verdict::Higher),
        ],
        "B is faster at p50 (24 blocks, 6.00 min); throughput unchanged; more CPU (1.30x per request); noise floor of this host ±2%",
        Decision::Faster,
    );
    check(
        vec![
            row("rps", 0.97, Verdict::Unclear),
            row("p50", 1.0, Verdict::Same),
            row("cpu", 1.05, Verdict::Higher),
        ],
        "B takes more CPU (1.05x per request), which no time and no rate shows (24 blocks, 6.00 min); noise floor of this host ±2%",
        Decision::Costlier,
    );
    let less = vec![
        row("rps", 1.0, Verdict::Same),
        row("cpu", 0.9, Verdict::Lower),
    ];
    assert_eq!(comparison(less).decision(), Decision::Cheaper);
}

#[test]
fn nothing_is_claimed_without_ground() {
    check(
        vec![
            row("rps", 1.0, Verdict::Same),
            row("p50", 1.0, Verdict::Same),
        ],
        "no difference: whatever there is, is below 3% (24 blocks, 6.00 min); noise floor of this host ±2%",
        Decision::Same,
    );
    let unclear = comparison(vec![row("rps", 1.3, Verdict::Unclear)]);
    assert_eq!(unclear.decision(), Decision::Unclear);
    assert!(
        sentence(&unclear)
            .to_string()
            .starts_with("undecided: the noise hides")
    );
    let few = Comparison {
        blocks: 3,
        noise_claims: true,
        ..unclear.clone()
    };
    assert!(
        sentence(&few).to_string().contains("at least 6 blocks"),
        "{}",
        sentence(&few)
    );
    assert!(sentence(&few).to_string().ends_with("do not trust this"));
    let failed = Comparison {
        ending: Ending::Failed("B did not start: no such file".to_owned()),
        ..unclear
    };
    assert_eq!(failed.decision(), Decision::Failed);
    assert!(
        sentence(&failed)
            .to_string()
            .starts_with("no comparison: B did not start")
    );
}

#[test]
fn the_table_stands_in_columns() {
    let compared = comparison(vec![
        row("rps", 1.0, Verdict::Same),
        row("p50", 0.46, Verdict::Lower),
    ]);
    let page = text(&compared, 100, Language::English);
    let lines: Vec<&str> = page.lines().collect();
    let heads = "A puma -t 5:5  B puma -t 3:3    B/A  95 % interval";
    assert_eq!(lines[0], format!("{:10}{heads}", ""));
    assert_eq!(
        lines[2],
        "  p50 ms           40.1           18.4  0.46x      0.44–0.48  faster"
    );
    assert_eq!(
        lines[3],
        "  A: 12,000 requests, 0 failed, ready after 800 ms"
    );
    assert!(page.contains("\n  verdict: B is faster at p50"), "{page}");
}

#[test]
fn the_page_fits_every_terminal() {
    let mut long = comparison(vec![
        row("rps", 1.0, Verdict::Unclear),
        row("p99.9", 14.6, Verdict::Higher),
    ]);
    let word = "bundle exec puma -b tcp://127.0.0.1:9292 config.ru ";
    long.b.name = word.repeat(3);
    long.b.memory_bytes = Some(1 << 30);
    long.notes = vec![word.repeat(4).into()];
    long.tried = Some(Tried {
        title: word.repeat(2).into(),
        remedy: "CREATE INDEX a ON b (c)".repeat(9).into(),
        ..Tried::default()
    });
    check_widths(|columns| text(&long, columns, Language::English));
    long.b.name = "puma -t 3:3".to_owned();
    check_widths(|columns| text(&long, columns, Language::English));
}

#[test]
fn the_json_has_every_key() {
    let mut sample = comparison(vec![row("rps", 1.0, Verdict::Same)]);
    sample.rows[0].seen.interval = Some(Interval {
        low: 0.0,
        high: f64::INFINITY,
    });
    sample.measured = vec![MeasuredBlock {
        order: "ABBA",
        a: vec![[1.0, 2.0]],
        b: vec![[3.0, 4.0]],
        core_pace: [[None, Some(Nanos(40_500))], [None, None]],
    }];
    let value: Value = serde_json::from_str(&json(&sample)).unwrap();
    assert_eq!(value["rows"][0]["high"], Value::Null);
    assert_eq!(value["rows"][0]["verdict"], "same");
    assert_eq!(value["measured"][0]["rows"]["rps"]["b"][1], 4.0);
    assert_eq!(
        value["measured"][0]["core_pace_us"]["a"],
        serde_json::json!([null, 40.5])
    );
    assert_eq!(value["decision"], "same");
    assert_eq!(value["blocks"], 24);
}

#[test]
fn the_page_speaks_japanese() {
    let mut compared = comparison(vec![
        row("rps", 1.0, Verdict::Same),
        row("p50", 0.46, Verdict::Lower),
    ]);
    compared.tried = Some(Tried::default());
    let page = text(&compared, 100, Language::Japanese);
    let english = [
        "faster", "verdict", "requests", "failed", "tried", "interval",
    ];
    for word in english {
        assert!(!page.contains(word), "{word} in\n{page}");
    }
    assert!(page.contains("判定: B は p50 で速い"), "{page}");
    check_widths(|columns| text(&compared, columns, Language::Japanese));
}

//! Claims against the truth. Pure.

use serde_json::{Value, json};

use super::cause::{App, Cause};

/// Greatest |ln(claimed / measured)| of a good claim, and of any claim. Set by the requirement,
/// before anything was measured.
pub(super) const ERROR_TYPICAL: f64 = 0.10;
pub(super) const ERROR_MOST: f64 = 0.4;
/// How wide a claimed interval may be, high over low.
pub(super) const WIDTH_MOST: f64 = 1.4;

/// Ratio of throughput, with the fix over without, and an interval where there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    pub(super) point: f64,
    pub(super) interval: Option<(f64, f64)>,
}

/// What a page says of one planted cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Named {
    /// Rank among the findings, from 1; `None` without a finding of the cause.
    pub(super) rank: Option<usize>,
    pub(super) id: String,
    pub(super) claimed: Option<Ratio>,
    pub(super) confidence: String,
}

/// Returns throughput and p95 of a comparison; `None` for a comparison without a row of throughput.
pub(super) fn rows(compared: &Value) -> Option<Value> {
    let row = |metric: &str| {
        let rows = compared["rows"].as_array()?;
        let row = rows.iter().find(|row| row["metric"] == metric)?;
        Some(
            json!({"ratio": row["ratio"], "low": row["low"], "high": row["high"], "verdict": row["verdict"]}),
        )
    };
    Some(json!({"rps": row("rps")?, "p95": row("p95"), "blocks": compared["blocks"]}))
}

/// The measured ratio of throughput.
pub(super) fn measured(truth: &Value) -> Option<Ratio> {
    let row = &truth["rps"];
    Some(Ratio {
        point: row["ratio"].as_f64()?,
        interval: row["low"].as_f64().zip(row["high"].as_f64()),
    })
}

/// Returns the first finding of a cause: made by one of the cause's rules, with the cause's place.
pub(super) fn named(findings: &[Value], cause: &Cause) -> Named {
    let is_it = |finding: &Value| {
        let id = finding["id"].as_str().unwrap_or_default();
        cause.rules.iter().any(|rule| rule == id) && finding.to_string().contains(&cause.place)
    };
    let Some(at) = findings.iter().position(is_it) else {
        return Named::default();
    };
    let finding = &findings[at];
    let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    Named {
        rank: Some(at + 1),
        id: text("id"),
        claimed: claimed(finding),
        confidence: text("confidence"),
    }
}

/// Returns the ratio of throughput claimed by a finding: `gain.throughput` of a replay, else
/// computed from the share of all time.
pub(super) fn claimed(finding: &Value) -> Option<Ratio> {
    let throughput = &finding["gain"]["throughput"];
    if let Some(point) = throughput["ratio"].as_f64() {
        let interval = throughput["low"].as_f64().zip(throughput["high"].as_f64());
        return Some(Ratio { point, interval });
    }
    let share = finding["gain_share"].as_f64()?;
    // All of the time cannot go.
    (share > 0.0).then(|| Ratio {
        point: 1.0 / (1.0 - share.min(0.99)),
        interval: None,
    })
}

/// ln(claimed / measured); zero where the measured interval holds the claim and the comparison was
/// not decided.
pub(super) fn error(claimed: Ratio, measured: Ratio, decided: bool) -> f64 {
    let inside = |(low, high): (f64, f64)| (low..=high).contains(&claimed.point);
    if !decided && measured.interval.is_some_and(inside) {
        return 0.0;
    }
    (claimed.point / measured.point).ln()
}

/// Whether the first finding of a page is one of the app's causes.
pub(super) fn is_first(app: &App, findings: &[Value]) -> bool {
    app.causes
        .iter()
        .any(|cause| named(findings, cause).rank == Some(1))
}

/// Returns the findings on a healthy app which claim more than a hint may.
pub(super) fn alarms(findings: &[Value]) -> Vec<String> {
    let loud = findings
        .iter()
        .filter(|finding| finding["confidence"] != "low");
    loud.filter_map(|finding| finding["id"].as_str())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause() -> Cause {
        Cause {
            rules: vec!["sleep".to_owned()],
            place: "app.rb".to_owned(),
            patch: "fix.patch".to_owned(),
        }
    }

    fn finding(id: &str, place: &str, share: f64) -> Value {
        json!({"id": id, "evidence": [place], "gain_share": share, "confidence": "high"})
    }

    #[test]
    fn a_cause_is_named_by_rule_and_place() {
        let findings = [
            finding("threads", "app.rb:3", 0.3),
            finding("sleep", "lib/other.rb:1", 0.2),
            finding("sleep", "app.rb:9", 0.5),
        ];
        let named = named(&findings, &cause());
        assert_eq!((named.rank, named.id.as_str()), (Some(3), "sleep"));
        assert_eq!(named.claimed.map(|ratio| ratio.point), Some(2.0));
        assert_eq!(super::named(&findings[..2], &cause()).rank, None);
    }

    #[test]
    fn a_replayed_gain_goes_before_a_share() {
        let mut finding = finding("sleep", "app.rb", 0.5);
        finding["gain"] = json!({"throughput": {"ratio": 1.2, "low": 1.1, "high": 1.3}});
        let expected = Ratio {
            point: 1.2,
            interval: Some((1.1, 1.3)),
        };
        assert_eq!(claimed(&finding), Some(expected));
        assert_eq!(claimed(&json!({"gain_share": 0.0})), None);
    }

    #[test]
    fn an_undecided_comparison_counts_by_its_interval() {
        let measured = Ratio {
            point: 1.0,
            interval: Some((0.9, 1.2)),
        };
        let claimed = Ratio {
            point: 1.1,
            interval: None,
        };
        assert_eq!(error(claimed, measured, false), 0.0);
        assert!((error(claimed, measured, true) - 0.0953).abs() < 1e-3);
    }

    #[test]
    fn rows_of_a_comparison_are_taken() {
        let compared = json!({"blocks": 8, "rows": [
            {"metric": "rps", "ratio": 2.0, "low": 1.9, "high": 2.1, "verdict": "faster"},
        ]});
        let truth = rows(&compared).expect("a row");
        assert_eq!(
            measured(&truth),
            Some(Ratio {
                point: 2.0,
                interval: Some((1.9, 2.1))
            })
        );
        assert_eq!(rows(&json!({"rows": []})), None);
    }
}

//! Stored results of the benchmark, and the page.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::cause::{App, Cause};
use super::judge::{self, ERROR_MOST, ERROR_TYPICAL, Named, Ratio, WIDTH_MOST};
use crate::machine;

const FILE: &str = "results.json";
const PAGE: &str = "README.md";

/// Claims by program and app, truths by app and patch.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    claims: BTreeMap<String, BTreeMap<String, Value>>,
    truths: BTreeMap<String, BTreeMap<String, Value>>,
}

impl Kept {
    pub(super) fn read(folder: &Path) -> Result<Kept, Box<dyn Error>> {
        let Ok(text) = std::fs::read_to_string(folder.join(FILE)) else {
            return Ok(Kept::default());
        };
        let kept: Value = serde_json::from_str(&text)?;
        Ok(Kept {
            claims: serde_json::from_value(kept["claims"].clone())?,
            truths: serde_json::from_value(kept["truths"].clone())?,
        })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Box<dyn Error>> {
        std::fs::create_dir_all(folder)?;
        let machine = machine::line(&[&["ruby", "-v"], &["puma", "--version"]]);
        let document = json!({"machine": machine, "claims": self.claims, "truths": self.truths});
        Ok(std::fs::write(
            folder.join(FILE),
            format!("{document:#}\n"),
        )?)
    }

    pub(super) fn claims(&mut self, label: &str, app: &str, claims: Value) {
        let of_label = self.claims.entry(label.to_owned()).or_default();
        of_label.insert(app.to_owned(), claims);
    }

    pub(super) fn truth(&mut self, app: &str, patch: &str, truth: Value) {
        let of_app = self.truths.entry(app.to_owned()).or_default();
        of_app.insert(patch.to_owned(), truth);
    }

    fn truth_of(&self, app: &App, cause: &Cause) -> Option<&Value> {
        self.truths.get(&app.name)?.get(&cause.patch)
    }
}

/// The findings of a page in one line.
pub(super) fn brief(claims: &Value) -> String {
    let findings = claims["findings"].as_array().into_iter().flatten();
    let ids: Vec<&str> = findings
        .filter_map(|finding| finding["id"].as_str())
        .collect();
    format!("{} requests per second; {}", claims["rps"], ids.join(", "))
}

/// Writes the page; whether every bound holds for the latest program on every half.
pub(super) fn write(folder: &Path, apps: &[App], kept: &Kept) -> Result<bool, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let mut text = HEAD.to_owned();
    let mut held = true;
    for (label, claims) in &kept.claims {
        for half in ["first", "second"] {
            let of_half: Vec<&App> = apps
                .iter()
                .filter(|app| app.half == half && claims.contains_key(&app.name))
                .collect();
            if !of_half.is_empty() {
                write!(text, "\n## The {half} half, program `{label}`\n\n")?;
                let section = section(&of_half, claims, kept);
                text += &section.text;
                held &= label != "now" || section.holds;
            }
        }
    }
    std::fs::write(folder.join(PAGE), &text)?;
    println!("{text}");
    Ok(held)
}

const HEAD: &str = "# Advice against the truth\n\n\
    Written by `cargo xtask bench advice`; the numbers are in `results.json`. *Claimed* is what the finding that names the planted\n\
    cause says that throughput becomes; *measured* is the fix beside the app as it is, in interleaved blocks, with the interval\n\
    that holds for all rows of a comparison at once. *First finding* is what the page tells its reader to do.\n";

struct Section {
    text: String,
    holds: bool,
}

/// One planted cause with what was said and what is true.
struct Row {
    named: Named,
    measured: Option<Ratio>,
    is_decided: bool,
    /// The fix is for throughput, not for memory.
    is_about_throughput: bool,
}

impl Row {
    /// Returns whether a page has to name the cause: the fix has a measured effect, or was not
    /// measured.
    fn has_to_be_named(&self) -> bool {
        self.is_decided || self.measured.is_none() || !self.is_about_throughput
    }

    fn is_in_top_three(&self) -> bool {
        self.named.rank.is_some_and(|rank| rank <= 3)
    }

    fn error(&self) -> Option<f64> {
        let (claimed, measured) = (self.named.claimed?, self.measured?);
        Some(judge::error(claimed, measured, self.is_decided))
    }
}

fn section(apps: &[&App], claims: &BTreeMap<String, Value>, kept: &Kept) -> Section {
    let mut text = "| app | planted | rank | claimed | measured | error | first finding |\n|---|---|--:|--:|--:|--:|---|\n".to_owned();
    let mut rows = Vec::new();
    let mut first = 0;
    let mut alarms = Vec::new();
    for app in apps {
        let findings = claims[&app.name]["findings"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let headline = headline(&findings);
        if app.is_healthy {
            let loud = judge::alarms(&findings);
            text += &format!(
                "| {} | {} | – | – | – | – | {headline} |\n",
                app.name, app.title
            );
            alarms.extend(loud.into_iter().map(|id| format!("{}: {id}", app.name)));
            continue;
        }
        first += usize::from(judge::is_first(app, &findings));
        for cause in &app.causes {
            let truth = kept.truth_of(app, cause);
            let row = Row {
                named: judge::named(&findings, cause),
                measured: truth.and_then(judge::measured),
                is_decided: truth.is_some_and(|truth| truth["rps"]["verdict"] != "unclear"),
                is_about_throughput: app.metric == "throughput",
            };
            text += &line(app, cause, &row, &headline);
            rows.push(row);
        }
    }
    let planted = apps.iter().filter(|app| !app.is_healthy).count();
    let (summary, holds) = summary(first, planted, &rows, &alarms);
    Section {
        text: text + "\n" + &summary,
        holds,
    }
}

fn headline(findings: &[Value]) -> String {
    let Some(first) = findings.first() else {
        return "none".to_owned();
    };
    let text = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
    format!(
        "{} ({}): {}",
        text("id"),
        text("confidence"),
        text("title").replace('|', "/")
    )
}

fn line(app: &App, cause: &Cause, row: &Row, headline: &str) -> String {
    let shown = |ratio: Option<Ratio>| match ratio {
        None => "–".to_owned(),
        Some(Ratio {
            point,
            interval: None,
        }) => format!("{point:.2} ×"),
        Some(Ratio {
            point,
            interval: Some((low, high)),
        }) => format!("{point:.2} × ({low:.2} to {high:.2})"),
    };
    format!(
        "| {} | {} ({}) | {} | {} | {} | {} | {headline} |\n",
        app.name,
        app.title,
        cause.patch,
        row.named
            .rank
            .map_or("not found".to_owned(), |rank| rank.to_string()),
        shown(row.named.claimed),
        shown(row.measured),
        row.error()
            .map_or("–".to_owned(), |error| format!("{error:+.2}")),
    )
}

/// The bounds, one line each, and whether all hold.
fn summary(first: usize, planted: usize, rows: &[Row], alarms: &[String]) -> (String, bool) {
    let (due, idle): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.has_to_be_named());
    let top = |rows: &[&Row]| rows.iter().filter(|row| row.is_in_top_three()).count();
    let (top, idle_top) = (top(&due), top(&idle));
    let mut errors: Vec<f64> = rows.iter().filter_map(Row::error).map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    let typical = stats::median(&errors).unwrap_or(f64::INFINITY);
    let worst = errors.last().copied().unwrap_or(f64::INFINITY);
    let intervals: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| row.named.claimed?.interval)
        .collect();
    let holding = rows.iter().filter(|row| row.claim_holds_truth()).count();
    let widths: Vec<f64> = intervals.iter().map(|(low, high)| high / low).collect();
    let width = stats::median(&widths).unwrap_or(f64::INFINITY);
    let measured = rows.iter().filter(|row| row.measured.is_some()).count();
    let bounds = [
        (
            first * 10 >= planted * 9,
            format!("the planted cause is first in {first} of {planted} apps (asked: 90 %)"),
        ),
        (
            top == due.len(),
            format!(
                "in the top three for {top} of {} causes (asked: all), and for {idle_top} of {} whose fix was not shown to \
                 give anything here (not asked)",
                due.len(),
                idle.len()
            ),
        ),
        (
            holding * 10 >= measured * 8 && measured > 0,
            format!(
                "the claimed interval holds the measured point for {holding} of {measured} causes (asked: 80 %)"
            ),
        ),
        (
            width <= WIDTH_MOST,
            format!("median width of the claimed intervals: {width:.2} (asked: {WIDTH_MOST})"),
        ),
        (
            typical <= ERROR_TYPICAL,
            format!("median |ln(claimed / measured)|: {typical:.2} (asked: {ERROR_TYPICAL})"),
        ),
        (
            worst <= ERROR_MOST,
            format!("the worst one: {worst:.2} (asked: {ERROR_MOST})"),
        ),
        (
            alarms.is_empty(),
            format!(
                "findings above \"low\" on healthy apps: {} (asked: none)",
                if alarms.is_empty() {
                    "none".to_owned()
                } else {
                    alarms.join(", ")
                }
            ),
        ),
    ];
    let word = |held: bool| if held { "met" } else { "missed" };
    let lines = bounds
        .iter()
        .map(|(held, line)| format!("- **{}**: {line}\n", word(*held)));
    (lines.collect(), bounds.iter().all(|(held, _)| *held))
}

impl Row {
    fn claim_holds_truth(&self) -> bool {
        let claim = self.named.claimed.and_then(|claimed| claimed.interval);
        let point = self.measured.map(|measured| measured.point);
        claim
            .zip(point)
            .is_some_and(|((low, high), point)| (low..=high).contains(&point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rank: Option<usize>, claimed: f64, measured: f64) -> Row {
        let interval = Some((claimed * 0.9, claimed * 1.1));
        Row {
            named: Named {
                rank,
                claimed: Some(Ratio {
                    point: claimed,
                    interval,
                }),
                ..Named::default()
            },
            measured: Some(Ratio {
                point: measured,
                interval: None,
            }),
            is_decided: true,
            is_about_throughput: true,
        }
    }

    #[test]
    fn a_cause_whose_fix_gives_nothing_here_need_not_be_named() {
        let mut rows: Vec<Row> = (0..10).map(|_| row(Some(1), 2.0, 2.05)).collect();
        rows[0] = row(None, 1.0, 1.0);
        rows[0].named.claimed = None;
        rows[0].is_decided = false;
        let (text, _) = summary(10, 10, &rows, &[]);
        assert!(
            text.contains("three for 9 of 9 causes (asked: all), and for 0 of 1"),
            "{text}"
        );
        rows[0].is_about_throughput = false;
        let (text, _) = summary(10, 10, &rows, &[]);
        assert!(text.contains("three for 9 of 10 causes"), "{text}");
    }

    #[test]
    fn bounds_are_met_and_missed() {
        let good: Vec<Row> = (0..10).map(|_| row(Some(1), 2.0, 2.05)).collect();
        let (text, holds) = summary(10, 10, &good, &[]);
        assert!(holds && !text.contains("missed"), "{text}");
        let check = |first: usize, change: fn(&mut Vec<Row>), alarms: &[String], missed: &str| {
            let mut rows: Vec<Row> = (0..10).map(|_| row(Some(1), 2.0, 2.05)).collect();
            change(&mut rows);
            let (text, holds) = summary(first, 10, &rows, alarms);
            assert!(
                !holds && text.contains(&format!("**missed**: {missed}")),
                "{text}"
            );
        };
        check(8, |_| {}, &[], "the planted cause is first in 8 of 10");
        check(
            10,
            |rows| rows[0].named.rank = Some(4),
            &[],
            "in the top three for 9",
        );
        check(
            10,
            |rows| rows[0] = row(Some(1), 4.0, 2.0),
            &[],
            "the worst one: 0.69",
        );
        check(
            10,
            |rows| rows[0].named.rank = None,
            &[],
            "in the top three",
        );
        check(
            10,
            |_| {},
            &["clinic: threads".to_owned()],
            "findings above",
        );
        check(10, |rows| rows.clear(), &[], "median");
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut kept = Kept::default();
        kept.claims("before", "shop", json!({"rps": 10.0, "findings": []}));
        kept.truth("shop", "fix.patch", json!({"rps": {"ratio": 2.0}}));
        kept.write(folder.path()).expect("it is written");
        let again = Kept::read(folder.path()).expect("it is read");
        assert_eq!(again.claims["before"]["shop"]["rps"], 10.0);
        assert_eq!(again.truths["shop"]["fix.patch"]["rps"]["ratio"], 2.0);
    }
}

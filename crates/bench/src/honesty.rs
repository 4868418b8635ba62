//! What `hakaru compare` claims of real apps whose difference is known: none, or 5 % more CPU for
//! each request.
//!
//! Each comparison is one step that is kept ([`Steps`]). Asked: of ten comparisons of equals at
//! most two claim any difference in any row; of ten with the difference planted at least nine find
//! it, each within five minutes. For how long equals are compared decides nothing of the first (the
//! chance of a claim is the same), so they get less time.

use std::error::Error;

use serde_json::{Value, json};

use crate::options::value;
use crate::program::Project;
use crate::steps::Steps;

const OF_EACH: u32 = 10;
const CLAIMED_MAX: u32 = 2;
const FOUND_MIN: u32 = 9;
/// CPU of a request as the app is, and with the planted difference; milliseconds.
const CPU_MS: [&str; 2] = ["5", "5.25"];

/// Variant to compare with the unchanged app.
#[derive(Clone, Copy)]
enum Kind {
    Equal,
    Planted,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Equal => "equal",
            Kind::Planted => "planted",
        }
    }

    fn cpu_ms(self) -> &'static str {
        CPU_MS[self as usize]
    }

    /// Returns whether the comparison claimed the difference counted for the kind: any at all, or B
    /// slower or with more CPU and better in nothing.
    fn is_counted(self, seen: &Value) -> bool {
        let says = |words: [&str; 2]| {
            let verdicts = seen["verdicts"].as_array().into_iter().flatten();
            verdicts
                .into_iter()
                .any(|said| words.iter().any(|word| said == word))
        };
        let (worse, better) = (says(["slower", "more"]), says(["faster", "less"]));
        match self {
            Kind::Equal => worse || better,
            Kind::Planted => worse && !better,
        }
    }
}

/// Runs the benchmark; returns whether the bounds hold.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let mut steps = Steps::open("honesty", arguments)?;
    let of_each = value(arguments, "of-each", OF_EACH)?;
    let budget_s: u32 = value(arguments, "budget", 300)?;
    let equal_s: u32 = value(arguments, "equal-budget", 180)?;
    let project = Project::new("cpu", steps.folder())?;
    let (mut claimed, mut found) = (0, 0);
    // In turns, so that both meet the same hours of the host.
    for number in 1..=of_each {
        let mut is_counted =
            |kind, budget_s| is_counted(&mut steps, &project, kind, number, budget_s);
        claimed += u32::from(is_counted(Kind::Equal, equal_s)?);
        found += u32::from(is_counted(Kind::Planted, budget_s)?);
    }
    println!("equal: {claimed} of {of_each} claim a difference (asked: at most {CLAIMED_MAX})");
    println!("planted 5 %: {found} of {of_each} find it (asked: at least {FOUND_MIN})");
    Ok(claimed <= CLAIMED_MAX && found >= FOUND_MIN)
}

/// Runs one comparison; returns whether the comparison counts.
fn is_counted(
    steps: &mut Steps,
    project: &Project,
    kind: Kind,
    number: u32,
    budget_s: u32,
) -> Result<bool, Box<dyn Error>> {
    let key = format!("{} {number} within {budget_s} s", kind.name());
    let seen = steps.take(&key, f64::from(budget_s), || {
        let [a, b] = [Kind::Equal.cpu_ms(), kind.cpu_ms()].map(|ms| format!("CPU_MS={ms}"));
        let seed = number.to_string();
        let budget = format!("{budget_s}s");
        let words = [
            ["--env-a", &a],
            ["--env-b", &b],
            ["--budget", &budget],
            ["--seed", &seed],
        ];
        told(&project.hakaru("compare", &words.concat())?)
    })?;
    println!(
        "{} {number}: {} blocks in {:.0} s, {} measurements made again, CPU {}, {}",
        kind.name(),
        seen["blocks"],
        seen["measuring_s"].as_f64().unwrap_or(f64::NAN),
        seen["redone"],
        seen["cpu"].as_str().unwrap_or("unknown"),
        seen["verdict"].as_str().unwrap_or("no verdict")
    );
    Ok(kind.is_counted(&seen))
}

/// What is kept of a comparison.
fn told(comparison: &Value) -> Result<Value, Box<dyn Error>> {
    if comparison["ended"] == "failed" {
        return Err(format!("a comparison failed: {}", comparison["verdict"]).into());
    }
    let rows = comparison["rows"].as_array().ok_or("no rows")?;
    let verdicts: Vec<&Value> = rows.iter().map(|row| &row["verdict"]).collect();
    let cpu = rows.iter().find(|row| row["metric"] == "cpu");
    let kept = ["blocks", "measuring_s", "redone", "verdict"]
        .map(|key| (key.to_owned(), comparison[key].clone()));
    let mut kept = Value::Object(kept.into_iter().collect());
    kept["verdicts"] = json!(verdicts);
    kept["cpu"] = json!(cpu.map(interval));
    Ok(kept)
}

fn interval(row: &Value) -> String {
    let [low, high] = ["low", "high"].map(|key| row[key].as_f64().unwrap_or(f64::NAN));
    format!("{low:.3}–{high:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_claim_about_equals_counts_and_only_a_right_one_about_the_planted() {
        let check = |kind: Kind, verdicts: &[&str], expected: bool| {
            let seen = json!({ "verdicts": verdicts });
            assert_eq!(
                kind.is_counted(&seen),
                expected,
                "{} {verdicts:?}",
                kind.name()
            );
        };
        check(Kind::Equal, &["same", "unclear"], false);
        check(Kind::Equal, &["same", "faster"], true);
        check(Kind::Equal, &["slower", "same"], true);
        check(Kind::Planted, &["slower", "unclear"], true);
        check(Kind::Planted, &["slower", "faster"], false);
        check(Kind::Planted, &["unclear", "more"], true);
        check(Kind::Planted, &["slower", "less"], false);
        check(Kind::Equal, &["unclear", "more"], true);
        check(Kind::Planted, &["same", "same"], false);
    }
}

//! The page, written from the stored steps, with the requirements.

use std::error::Error;
use std::path::Path;

use serde_json::Value;

use super::{Answered, Step, Steps, answered, read};

/// Growth of the score required of all solutions together.
const GROWTH_ASKED: f64 = 10.0;

/// Writes the page from what is kept; whether everything asked holds.
pub(super) fn write(into: &Path) -> Result<bool, Box<dyn Error>> {
    let mut text = HEAD.to_owned();
    let mut held = true;
    for (database, title) in [("sqlite", "SQLite"), ("mariadb", "MariaDB")] {
        let path = into.join(format!("{database}.json"));
        let steps = read(&path)?;
        if steps.is_empty() {
            text += &format!("\n## {title}\n\nNot measured yet.\n");
            continue;
        }
        let (table, all) = table(&steps, &answered(database)?);
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        let told = |key: &str| kept[key].as_str().unwrap_or_default();
        text += &format!(
            "\n## {title}\n\n{table}\n{}; {}.\n",
            told("date"),
            told("machine")
        );
        held &= all;
    }
    std::fs::write(into.join("README.md"), &text)?;
    println!("{text}");
    Ok(held)
}

const HEAD: &str = "# What the chat's solutions give

    cargo xtask bench solutions
    cargo xtask bench solutions --databases sqlite --from 4 --to 7      # some steps anew

The [chat](../../apps/chat/README.md) as it is and with one patch more at each step, on all of its data, each step measured
three times: the scores, their median, and how far they lie apart (the A/A spread: greatest less least, by the median). Asked: no
step lower than the one before beyond that spread, ten times the first score at the end, and of each finding that a patch
answers (`apps/chat/solutions/findings.json`) that most runs before the patch have it and none after it. This page is written by
that command from what is kept beside it; it exits with 3 when what is asked does not hold.
";

pub(super) fn table(steps: &Steps, answered: &[Answered]) -> (String, bool) {
    let mut text = "| step | scores | median | spread | times the first | not lower | findings: runs before → after |\n\
                    |---|---|---:|---:|---:|---|---|\n"
        .to_owned();
    let first = steps.values().next().map_or(0.0, Step::middle);
    let mut before: Option<&Step> = None;
    let mut all = true;
    for step in steps.values() {
        let not_lower = before.is_none_or(|before| step.is_not_lower(before));
        let (findings, gone) = before.map_or((String::new(), true), |before| {
            findings(before, step, answered)
        });
        all &= not_lower && gone;
        let scores: Vec<String> = step
            .scores
            .iter()
            .map(|score| format!("{score:.0}"))
            .collect();
        text += &format!(
            "| {} | {} | {:.0} | {:.1}% | {:.1} | {} | {findings} |\n",
            step.name,
            scores.join(", "),
            step.middle(),
            step.spread() * 100.0,
            step.middle() / first,
            if not_lower { "yes" } else { "**no**" },
        );
        before = Some(step);
    }
    let growth = before.map_or(0.0, Step::middle) / first;
    text +=
        &format!("\nThe last is {growth:.1} times the first (asked: {GROWTH_ASKED:.0} times).\n");
    (text, all && growth >= GROWTH_ASKED)
}

/// Returns the change of the findings solved by the step's own patch, and whether the change is as
/// required.
fn findings(before: &Step, step: &Step, answered: &[Answered]) -> (String, bool) {
    let mut all = true;
    let told = answered.iter().filter(|finding| finding.patch == step.name);
    let told = told.map(|finding| {
        let name = finding.name();
        let held = before.mostly_has(&name) && step.seen(&name) == 0;
        all &= held;
        let mark = if held { "" } else { "**" };
        let (had, has) = (before.seen(&name), step.seen(&name));
        format!("{mark}{name}: {had} → {has}{mark}")
    });
    let told: Vec<String> = told.collect();
    (told.join(", "), all)
}

//! benchmark_driver on the same file, with the gem's defaults.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::file;
use crate::code::Claim;

/// Of a gem's folder.
pub(super) const PROGRAM: &str = "exe/benchmark-driver";

/// Runs benchmark_driver; the claim is the line of the comparison: one of the two is always the
/// slower one, unless both printed figures are equal.
pub(super) fn bench(
    gem: &Path,
    folder: &Path,
    turns: [u32; 2],
    budget_s: u32,
) -> Result<Value, Box<dyn Error>> {
    let file = file(folder, turns)?;
    // Both jobs, each after a warm-up that it takes for itself.
    let side_s = f64::from(budget_s) / 2.0;
    let output = Command::new("ruby")
        .arg("-I")
        .arg(gem.join("lib"))
        .arg(gem.join(PROGRAM))
        .args([&file, "--output", "compare", "--run-duration"])
        .arg(side_s.to_string())
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    told(&printed, budget_s).ok_or_else(|| {
        let error = String::from_utf8_lossy(&output.stderr);
        format!("benchmark_driver printed no comparison: {printed}{error}").into()
    })
}

/// Reads the lines behind `Comparison:`, such as `b:  1234.5 i/s - 1.02x  slower`, the faster
/// first.
fn told(printed: &str, budget_s: u32) -> Option<Value> {
    let (_, comparison) = printed.split_once("Comparison:")?;
    let figure = |job: &str| {
        let lines = comparison.lines();
        let rest = lines.filter_map(|line| line.trim().strip_prefix(job)?.strip_prefix(':'));
        let word = rest
            .filter_map(|rest| rest.split_whitespace().next())
            .next()?;
        word.parse::<f64>().ok()
    };
    // Time of b over that of a, from turns per second.
    let ratio = figure("a")? / figure("b")?;
    let claim = match ratio.total_cmp(&1.0) {
        std::cmp::Ordering::Greater => Claim::More,
        std::cmp::Ordering::Less => Claim::Less,
        std::cmp::Ordering::Equal => Claim::Nothing,
    };
    Some(json!({"ratio": ratio, "claim": claim.name(), "seconds": budget_s}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_comparison_is_read_in_either_order() {
        let told = |first: &str, second: &str| {
            let printed = format!(
                "Calculating ----\n  a     9.123k i/s\n\nComparison:\n      {first}: 10200.0 i/s \n      {second}: 10000.0 i/s - 1.02x  slower\n"
            );
            let value = told(&printed, 6).expect("a comparison");
            (value["claim"].clone(), value["ratio"].as_f64())
        };
        assert_eq!(told("a", "b"), (json!("more"), Some(1.02)));
        assert_eq!(told("b", "a").0, "less");
        assert_eq!(super::told("Calculating ----\n", 6), None);
    }
}

//! Pairs of commands, each measured by `hakaru bench` and then by hyperfine for the same time.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::pair;
use crate::options::value;
use crate::program::hakaru_bench;
use crate::steps::Steps;

/// Turns of a loop in A, about 60 ms with the start of Ruby. Every second B has the same, the
/// others up to 1.9 times as many.
const TURNS: u32 = 1_000_000;
/// Of a normal distribution, for 95 %.
const Z_95: f64 = 1.96;
/// Share of equal pairs whose interval may leave out 1.
const CLAIMED_MAX: f64 = 0.05;
const TOOLS: [&str; 2] = ["hakaru", "hyperfine"];

/// An interval of the ratio of a pair, B over A.
type Interval = (f64, f64);

/// `--commands N` pairs, each for about `--command-budget` seconds a tool; whether Hakaru calls no
/// more equal pairs different than may be. Widths are printed beside: an interval that leaves out
/// the truth is too narrow.
pub(super) fn run(steps: &mut Steps, arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let count: u32 = value(arguments, "commands", 20)?;
    let budget_s: u32 = value(arguments, "command-budget", 20)?;
    if Command::new("hyperfine").arg("--version").output().is_err() {
        println!("hyperfine is not in PATH: no commands are compared");
        return Ok(true);
    }
    let mut pairs: Vec<(u32, [Interval; 2])> = Vec::new();
    for number in 0..count {
        let key = format!("commands {number} of {count} within {budget_s} s");
        let seen = steps.take(&key, f64::from(budget_s) * 2.5, || {
            both(number, count, budget_s)
        })?;
        let figure = |tool: &str, key: &str| seen[tool][key].as_f64().unwrap_or(f64::NAN);
        let intervals = TOOLS.map(|tool| (figure(tool, "low"), figure(tool, "high")));
        for (tool, (low, high)) in TOOLS.iter().zip(intervals) {
            let (ratio, seconds) = (figure(tool, "ratio"), figure(tool, "seconds"));
            println!("pair {number}: {tool} {ratio:.4} ({low:.4}–{high:.4}) in {seconds:.0} s");
        }
        pairs.push((number, intervals));
    }
    Ok(summary(&pairs))
}

/// Prints what the pairs show together; whether Hakaru's claims of equal pairs are few enough.
fn summary(pairs: &[(u32, [Interval; 2])]) -> bool {
    let equal: Vec<[Interval; 2]> = pairs
        .iter()
        .filter(|(number, _)| is_equal(*number))
        .map(|(_, intervals)| *intervals)
        .collect();
    let claimed = [0, 1].map(|tool| {
        let of_tool = equal.iter().map(|intervals| intervals[tool]);
        of_tool
            .filter(|(low, high)| *low > 1.0 || *high < 1.0)
            .count()
    });
    for (tool, claimed) in TOOLS.iter().zip(claimed) {
        println!(
            "{tool}: the interval leaves out 1 in {claimed} of {} equal pairs",
            equal.len()
        );
    }
    let apart = pairs.iter().filter(|(_, [a, b])| !overlap(*a, *b)).count();
    println!(
        "intervals of the two lie apart in {apart} of {} pairs",
        pairs.len()
    );
    let width = |(low, high): Interval| (high / low).ln();
    let widths: Vec<f64> = pairs
        .iter()
        .map(|(_, [a, b])| width(*a) / width(*b))
        .collect();
    println!(
        "width of hakaru's interval over hyperfine's, median: {:.2}",
        stats::median(&widths).unwrap_or(f64::NAN)
    );
    claimed[0] as f64 <= (CLAIMED_MAX * equal.len() as f64).ceil()
}

fn is_equal(number: u32) -> bool {
    number.is_multiple_of(2)
}

fn overlap(a: Interval, b: Interval) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// The pair of that number; of those that differ the last differs most.
fn both(number: u32, count: u32, budget_s: u32) -> Result<Value, Box<dyn Error>> {
    let more = match is_equal(number) {
        true => TURNS,
        false => TURNS + TURNS / 10 * 9 / count * (number + 1),
    };
    let command = |turns: u32, name: &str| {
        format!("ruby --disable=gems -e 'i = 0; i += 1 while i < {turns}' {name}")
    };
    let (a, b) = (command(TURNS, "a"), command(more, "b"));
    let budget = format!("{budget_s}s");
    let document = hakaru_bench(&["--budget", &budget, "--clock", "wall", "--", &a, &b])?;
    let ours = pair(&document, &b)?;
    let seconds = ours["seconds"].as_f64().unwrap_or(f64::from(budget_s));
    Ok(json!({"hakaru": ours, "hyperfine": hyperfine([&a, &b], seconds)?}))
}

/// Runs hyperfine for about that time: three runs show how many fit.
fn hyperfine(commands: [&str; 2], seconds: f64) -> Result<Value, Box<dyn Error>> {
    let folder = std::env::temp_dir();
    let file = folder.join(format!("hyperfine-{}.json", std::process::id()));
    let outcome = (|| {
        let look = runs(&file, commands, 3)?;
        let round_s: f64 = look.iter().map(|side| side.mean_s).sum();
        let count = (seconds / round_s).round().max(3.0);
        let sides = runs(&file, commands, count as u32)?;
        Ok(ratio(&sides, count * round_s))
    })();
    let _ = fs::remove_file(&file);
    outcome
}

/// What hyperfine exports of a command.
struct Side {
    mean_s: f64,
    deviation_s: f64,
    runs: usize,
}

fn runs(file: &Path, commands: [&str; 2], count: u32) -> Result<Vec<Side>, Box<dyn Error>> {
    let output = Command::new("hyperfine")
        .args(["--shell=none", "--warmup", "1", "--style", "none"])
        .args(["--runs", &count.to_string(), "--export-json"])
        .arg(file)
        .args(commands)
        .output()?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("hyperfine failed: {error}").into());
    }
    let document: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    let results = document["results"].as_array().into_iter().flatten();
    results
        .map(|result| {
            Some(Side {
                mean_s: result["mean"].as_f64()?,
                deviation_s: result["stddev"].as_f64()?,
                runs: result["times"].as_array()?.len(),
            })
        })
        .map(|side| side.ok_or_else(|| "hyperfine exported no mean".into()))
        .collect()
}

/// Its ratio of means with the 95 % interval that its own deviations give (delta method on the
/// logarithm).
fn ratio(sides: &[Side], seconds: f64) -> Value {
    let [a, b] = sides else {
        return Value::Null;
    };
    let relative = |side: &Side| (side.deviation_s / side.mean_s).powi(2) / side.runs as f64;
    let error = (relative(a) + relative(b)).sqrt();
    let ratio = b.mean_s / a.mean_s;
    json!({
        "ratio": ratio,
        "low": ratio * (-Z_95 * error).exp(),
        "high": ratio * (Z_95 * error).exp(),
        "seconds": seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyperfines_interval_follows_from_its_deviations() {
        let side = |mean_s: f64, deviation_s: f64| Side {
            mean_s,
            deviation_s,
            runs: 100,
        };
        let told = ratio(&[side(0.1, 0.01), side(0.2, 0.02)], 9.0);
        let figure = |key: &str| told[key].as_f64().expect("a figure");
        assert!((figure("ratio") - 2.0).abs() < 1e-12);
        // 10 % over √100, of both sides: √2 %.
        assert!((figure("high") / 2.0 - (Z_95 * 0.014_142).exp()).abs() < 1e-4);
        assert!((figure("low") * figure("high") - 4.0).abs() < 1e-9);
    }

    #[test]
    fn an_interval_beside_1_is_a_claim_only_for_equal_pairs() {
        let wide = (0.9, 1.1);
        assert!(summary(&[
            (0, [wide, (1.01, 1.02)]),
            (1, [(1.5, 1.6), (1.5, 1.6)])
        ]));
        let wrong = (1.01, 1.02);
        assert!(!summary(&[(0, [wrong, wide]), (2, [wrong, wide])]));
    }

    #[test]
    fn intervals_that_touch_overlap() {
        assert!(overlap((1.0, 1.1), (1.1, 1.2)));
        assert!(!overlap((1.0, 1.1), (1.11, 1.2)));
    }
}

//! Pairs of commands, each measured by `hakaru bench` and then by hyperfine for the same time.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Part, pair};
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

/// Number of a pair and the interval of each tool.
type Told = (u32, [Interval; 2]);

/// `--commands N` pairs, each for about `--command-budget` seconds a tool. Asked: the intervals of
/// both overlap in every pair, Hakaru's are narrower, and it calls no more equal pairs different
/// than may be (an interval that leaves out the truth is too narrow).
pub(super) fn run(steps: &mut Steps, arguments: &[String]) -> Result<Part, Box<dyn Error>> {
    let count: u32 = value(arguments, "commands", 20)?;
    let budget_s: u32 = value(arguments, "command-budget", 20)?;
    let version = Command::new("hyperfine").arg("--version").output();
    version.map_err(|error| {
        format!("hyperfine cannot be run: {error}; `cargo install hyperfine` builds it")
    })?;
    let mut pairs: Vec<Told> = Vec::new();
    let mut table = "pair  truth  tool       ratio (95 %)               seconds\n".to_owned();
    for number in 0..count {
        let key = format!("commands {number} of {count} within {budget_s} s");
        let seen = steps.take(&key, f64::from(budget_s) * 2.5, || {
            both(number, count, budget_s)
        })?;
        let figure = |tool: &str, key: &str| seen[tool][key].as_f64().unwrap_or(f64::NAN);
        let intervals = TOOLS.map(|tool| (figure(tool, "low"), figure(tool, "high")));
        let truth = match is_equal(number) {
            true => "equal",
            false => "more",
        };
        for (tool, (low, high)) in TOOLS.iter().zip(intervals) {
            let (ratio, seconds) = (figure(tool, "ratio"), figure(tool, "seconds"));
            let line = format!(
                "{number:>4}  {truth:5}  {tool:9}  {ratio:.4} ({low:.4}–{high:.4})  {seconds:>7.0}\n"
            );
            print!("{line}");
            table += &line;
        }
        pairs.push((number, intervals));
    }
    let (is_held, summary) = summary(&pairs);
    Ok(Part {
        is_held,
        table: table + "\n" + &summary,
    })
}

/// Returns whether the pairs meet the demands, with a summary.
fn summary(pairs: &[Told]) -> (bool, String) {
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
    let claimed_max = (CLAIMED_MAX * equal.len() as f64).ceil();
    let apart = pairs.iter().filter(|(_, [a, b])| !overlap(*a, *b)).count();
    let width = |(low, high): Interval| (high / low).ln();
    let widths: Vec<f64> = pairs
        .iter()
        .map(|(_, [a, b])| width(*a) / width(*b))
        .collect();
    let width = stats::median(&widths).unwrap_or(f64::NAN);
    let narrower = widths.iter().filter(|width| **width < 1.0).count();
    let text = format!(
        "equal pairs of which the interval leaves out 1: hakaru {}, hyperfine {}, of {} (asked of hakaru: at most {claimed_max})\n\
         pairs in which the intervals of both lie apart: {apart} of {} (asked: none)\n\
         width of hakaru's interval over hyperfine's: {width:.2} in the median, narrower in {narrower} of {} (asked: below 1)\n",
        claimed[0],
        claimed[1],
        equal.len(),
        pairs.len(),
        pairs.len()
    );
    let is_held = claimed[0] as f64 <= claimed_max && apart == 0 && width < 1.0;
    (is_held, text)
}

fn is_equal(number: u32) -> bool {
    number.is_multiple_of(2)
}

fn overlap(a: Interval, b: Interval) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// Measures the pair of the given number; among unequal pairs the last differs most.
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

/// Runs hyperfine for about the given time: three runs show how many fit.
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

/// Returns the ratio of means with the 95 % interval from hyperfine's deviations (delta method on
/// the logarithm).
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
    fn narrow_intervals_are_held_only_where_they_hold_the_truth() {
        let (narrow, wide) = ((0.99, 1.01), (0.9, 1.1));
        let held = |pairs: &[Told]| summary(pairs).0;
        assert!(held(&[(0, [narrow, wide]), (1, [(1.5, 1.6), (1.4, 1.7)])]));
        assert!(
            !held(&[(0, [wide, narrow]), (1, [(1.4, 1.7), (1.5, 1.6)])]),
            "wider"
        );
        assert!(
            !held(&[(0, [narrow, wide]), (1, [(1.5, 1.6), (1.7, 2.0)])]),
            "apart"
        );
        let wrong = (1.01, 1.02);
        assert!(
            !held(&[(0, [wrong, wide]), (2, [wrong, wide])]),
            "two of two claimed"
        );
    }

    #[test]
    fn intervals_that_touch_overlap() {
        assert!(overlap((1.0, 1.1), (1.1, 1.2)));
        assert!(!overlap((1.0, 1.1), (1.11, 1.2)));
    }
}

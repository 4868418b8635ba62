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

/// The ratio of a pair, B over A, by a tool, with the interval.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    ratio: f64,
    low: f64,
    high: f64,
}

/// Number of a pair and the estimate of each tool.
type Told = (u32, [Estimate; 2]);

/// `--commands N` pairs, each for about `--command-budget` seconds a tool. Asked: Hakaru calls no
/// more equal pairs different than may be; and once the intervals of both tools are so wide that
/// this holds for each, they overlap in every pair, and Hakaru's are narrower.
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
        let estimates = TOOLS.map(|tool| Estimate {
            ratio: figure(tool, "ratio"),
            low: figure(tool, "low"),
            high: figure(tool, "high"),
        });
        let truth = match is_equal(number) {
            true => "equal",
            false => "more",
        };
        for (tool, Estimate { ratio, low, high }) in TOOLS.iter().zip(estimates) {
            let seconds = figure(tool, "seconds");
            let line = format!(
                "{number:>4}  {truth:5}  {tool:9}  {ratio:.4} ({low:.4}–{high:.4})  {seconds:>7.0}\n"
            );
            print!("{line}");
            table += &line;
        }
        pairs.push((number, estimates));
    }
    let (is_held, summary) = summary(&pairs);
    Ok(Part {
        is_held,
        table: table + "\n" + &summary,
    })
}

/// Returns whether the pairs meet the demands, with a summary.
///
/// An interval that leaves out the truth is narrow for nothing, so widths are compared where both
/// tools leave it out as rarely ([`stretch`]).
fn summary(pairs: &[Told]) -> (bool, String) {
    let equal = |tool: usize| -> Vec<Estimate> {
        let equal = pairs.iter().filter(|(number, _)| is_equal(*number));
        equal.map(|(_, of_tools)| of_tools[tool]).collect()
    };
    let (ours, theirs) = (equal(0), equal(1));
    let claimed =
        |estimates: &[Estimate]| estimates.iter().filter(|one| one.misses() > 1.0).count();
    let claimed_max = (CLAIMED_MAX * ours.len() as f64).ceil() as usize;
    let stretches = [stretch(&ours, claimed_max), stretch(&theirs, claimed_max)];
    let [printed, honest] = [[1.0, 1.0], stretches].map(|factors| Beside::new(pairs, factors));
    let count = pairs.len();
    let text = format!(
        "equal pairs of which the interval leaves out 1: hakaru {}, hyperfine {}, of {} (asked of hakaru: at most {claimed_max})\n\
         error of the ratio in these, root mean square: hakaru {:.2} %, hyperfine {:.2} %\n\
         intervals as they are: width of hakaru's over hyperfine's {:.2} in the median; {} of {count} pairs apart\n\
         widened until at most {claimed_max} leaves out 1 (hakaru's {:.2} times, hyperfine's {:.2} times): \
         width {:.2} (asked: below 1); {} of {count} pairs apart (asked: none)\n",
        claimed(&ours),
        claimed(&theirs),
        ours.len(),
        error_of_equal(&ours) * 100.0,
        error_of_equal(&theirs) * 100.0,
        printed.width,
        printed.apart,
        stretches[0],
        stretches[1],
        honest.width,
        honest.apart,
    );
    let is_held = claimed(&ours) <= claimed_max && honest.apart == 0 && honest.width < 1.0;
    (is_held, text)
}

impl Estimate {
    /// Half of the interval's width, in logarithms.
    fn half_width(&self) -> f64 {
        (self.high / self.low).ln() / 2.0
    }

    /// Returns how many half widths the middle of the interval is from 1; above 1 the interval
    /// leaves 1 out.
    fn misses(&self) -> f64 {
        ((self.high * self.low).ln() / 2.0).abs() / self.half_width()
    }

    /// The interval, so many times as wide around the middle, in logarithms.
    fn widened(&self, factor: f64) -> (f64, f64) {
        let middle = (self.high * self.low).ln() / 2.0;
        let half = self.half_width() * factor;
        (middle - half, middle + half)
    }
}

/// Returns the least factor, at least 1, by which intervals of equal pairs have to be widened until
/// at most `left_out` leave out 1.
fn stretch(equal: &[Estimate], left_out: usize) -> f64 {
    let mut misses: Vec<f64> = equal.iter().map(Estimate::misses).collect();
    misses.sort_by(|a, b| b.total_cmp(a));
    misses.get(left_out).map_or(1.0, |factor| factor.max(1.0))
}

/// The root mean square of the logarithm of ratios, all 1 in truth.
fn error_of_equal(equal: &[Estimate]) -> f64 {
    let sum: f64 = equal.iter().map(|one| one.ratio.ln().powi(2)).sum();
    (sum / equal.len() as f64).sqrt()
}

/// The intervals of both tools beside each other.
struct Beside {
    /// Pairs whose intervals do not overlap.
    apart: usize,
    /// Width of Hakaru's over hyperfine's, in the median.
    width: f64,
}

impl Beside {
    /// `factors` widen the intervals of each tool.
    fn new(pairs: &[Told], factors: [f64; 2]) -> Beside {
        let of_pair = |(_, [ours, theirs]): &Told| {
            let (a, b) = (ours.widened(factors[0]), theirs.widened(factors[1]));
            let is_apart = a.0 > b.1 || b.0 > a.1;
            (is_apart, (a.1 - a.0) / (b.1 - b.0))
        };
        let (apart, widths): (Vec<bool>, Vec<f64>) = pairs.iter().map(of_pair).unzip();
        Beside {
            apart: apart.into_iter().filter(|is_apart| *is_apart).count(),
            width: stats::median(&widths).unwrap_or(f64::NAN),
        }
    }
}

fn is_equal(number: u32) -> bool {
    number.is_multiple_of(2)
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

    fn between(low: f64, high: f64) -> Estimate {
        Estimate {
            ratio: (low * high).sqrt(),
            low,
            high,
        }
    }

    #[test]
    fn narrow_intervals_are_held_only_where_they_hold_the_truth() {
        let (narrow, wide) = (between(0.99, 1.01), between(0.9, 1.1));
        let held = |pairs: &[Told]| summary(pairs).0;
        let more = |a: Estimate, b: Estimate| (1, [a, b]);
        let [inner, outer] = [between(1.5, 1.6), between(1.4, 1.7)];
        assert!(held(&[(0, [narrow, wide]), more(inner, outer)]));
        assert!(!held(&[(0, [wide, narrow]), more(outer, inner)]), "wider");
        let apart = more(inner, between(1.7, 2.0));
        assert!(!held(&[(0, [narrow, wide]), apart]), "apart");
        let wrong = between(1.01, 1.02);
        assert!(
            !held(&[(0, [wrong, wide]), (2, [wrong, wide])]),
            "two claimed"
        );
    }

    #[test]
    fn intervals_that_leave_out_the_truth_are_widened_before_they_are_compared() {
        let ours = between(0.98, 1.02);
        let wrong = between(1.02, 1.03);
        let pairs: Vec<Told> = (0..6).map(|number| (2 * number, [ours, wrong])).collect();
        let as_printed = Beside::new(&pairs, [1.0, 1.0]);
        assert!(as_printed.width > 1.0, "{}", as_printed.width);
        let (is_held, text) = summary(&pairs);
        assert!(is_held, "{text}");
        assert!(text.contains("hyperfine 6, of 6"), "{text}");
    }

    #[test]
    fn intervals_are_widened_until_few_leave_out_the_truth() {
        let estimates = [between(1.0, 1.02), between(1.01, 1.03), between(0.9, 1.1)];
        let factor = stretch(&estimates, 1);
        assert!((1.0..1.01).contains(&factor), "{factor}");
        assert!(stretch(&estimates, 0) > 1.9);
        assert_eq!(stretch(&estimates, 3), 1.0);
    }

    #[test]
    fn the_error_of_equal_pairs_is_what_differs_from_one() {
        let estimates = [between(1.02, 1.02), between(0.98, 0.98)];
        assert!((error_of_equal(&estimates) - 0.02).abs() < 0.000_1);
    }
}

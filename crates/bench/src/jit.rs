//! Bundled workloads on several Rubies, without a compiler and with each available one: start-up,
//! warm-up, steady state and code apart.
//!
//! A workload on a Ruby is a step ([`Steps`]), so the whole can be measured in pieces.

use std::error::Error;
use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use crate::experiment::report;
use crate::options::{list, value};
use crate::program::hakaru_bench;
use crate::steps::Steps;

/// Contenders: name, Ruby's flag, and the compiler's name inside Ruby.
const KINDS: [(&str, &str, &str); 3] = [
    ("none", "", ""),
    ("yjit", "--yjit", "YJIT"),
    ("zjit", "--zjit", "ZJIT"),
];

/// Time of a step beyond the budget, seconds: starts of processes, and the last block.
const BEYOND_S: f64 = 15.0;

/// Measures each workload on each Ruby and writes the tables. `--ruby PATH[,PATH]` names the
/// Rubies, `--budget 45` the seconds for a workload on one of them, `--filter TEXT` the workloads.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let mut steps = Steps::open("jit", arguments)?;
    let rubies: Vec<String> = list(arguments, "ruby", "ruby")?;
    let budget_s: u32 = value(arguments, "budget", 45)?;
    let filter: String = value(arguments, "filter", String::new())?;
    let names: Vec<String> = microbench::workloads::jobs()
        .into_iter()
        .map(|job| job.name)
        .filter(|name| name.contains(&filter))
        .collect();
    let mut text = String::new();
    for ruby in &rubies {
        let kinds: Vec<_> = KINDS.iter().filter(|kind| has(ruby, kind)).collect();
        let version = report::version(ruby, "--version");
        let measured = names.iter().map(|name| {
            let key = format!("{version}, {} kinds, {name} in {budget_s} s", kinds.len());
            steps.take(&key, f64::from(budget_s) + BEYOND_S, || {
                measure(ruby, &kinds, name, budget_s)
            })
        });
        let measured = measured.collect::<Result<Vec<Value>, _>>()?;
        let _ = write!(text, "\n### {version}\n\n{}", table(&measured));
    }
    let host = report::host();
    report::write_between(
        "jit",
        "workloads",
        &format!("{host}; {budget_s} s a workload.\n{text}"),
    )?;
    Ok(true)
}

/// Runs `hakaru bench workloads` on one Ruby.
fn measure(
    ruby: &str,
    kinds: &[&(&str, &str, &str)],
    name: &str,
    budget_s: u32,
) -> Result<Value, Box<dyn Error>> {
    let budget = format!("{budget_s}s");
    let contenders: Vec<String> = kinds
        .iter()
        .map(|(name, flag, _)| format!("{name}={ruby} {flag}"))
        .collect();
    let mut words = vec!["workloads", "--budget", &budget, "--filter", name];
    words.extend(contenders.iter().flat_map(|one| ["-e", one]));
    hakaru_bench(&words)
}

/// Returns whether a Ruby has the compiler. One built without it may warn, and run.
fn has(ruby: &str, (_, flag, name): &(&str, &str, &str)) -> bool {
    if flag.is_empty() {
        return true;
    }
    let script =
        format!("exit(defined?(RubyVM::{name}) && RubyVM::{name}.enabled? ? true : false)");
    let asked = Command::new(ruby).args([flag, "-e", &script]).output();
    asked.is_ok_and(|output| output.status.success())
}

fn table(measured: &[Value]) -> String {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut text = "| workload | compiler | start ms | first turn ms | settled after s | turn ms | with / without | code KiB | compiling ms |\n\
         |---|---|--:|--:|--:|--:|---|--:|--:|\n"
        .to_owned();
    let rows: Vec<Value> = measured
        .iter()
        .flat_map(|told| array(&told["rows"]))
        .collect();
    for row in &rows {
        for contender in array(&row["contenders"]) {
            text += &line(row, &contender);
        }
    }
    for (name, ..) in &KINDS[1..] {
        if let Some((mean, count)) = mean_ratio(&rows, name) {
            let _ = write!(
                text,
                "\nAll {count}, geometric mean of {name} / {}: {mean:.3}.\n",
                KINDS[0].0
            );
        }
    }
    let mut doubts: Vec<String> = measured
        .iter()
        .flat_map(|told| array(&told["doubts"]))
        .filter_map(|doubt| doubt.as_str().map(str::to_owned))
        .collect();
    doubts.sort();
    doubts.dedup();
    for doubt in doubts {
        let _ = write!(text, "\n! {doubt}\n");
    }
    text
}

/// The geometric mean of the workloads' ratios, and how many there are; an interval would need the
/// blocks of all workloads to be measured in turns.
fn mean_ratio(rows: &[Value], name: &str) -> Option<(f64, usize)> {
    let ratios: Vec<f64> = rows
        .iter()
        .filter_map(|row| pair(row, name)?["ratio"].as_f64())
        .collect();
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| ((sum / ratios.len() as f64).exp(), ratios.len()))
}

/// A contender beside the one without a compiler.
fn pair<'a>(row: &'a Value, name: &str) -> Option<&'a Value> {
    let pairs = row["pairs"].as_array()?;
    pairs
        .iter()
        .find(|pair| pair["a"] == KINDS[0].0 && pair["b"] == name)
}

fn line(row: &Value, contender: &Value) -> String {
    let (trial, name) = (&contender["trial"], &contender["name"]);
    let number = |value: &Value, scale: f64, digits: usize| {
        let scaled = value.as_f64().map(|value| value * scale);
        scaled.map_or("?".to_owned(), |value| format!("{value:.digits$}"))
    };
    let pair = pair(row, name.as_str().unwrap_or_default());
    let settled = match trial["settled"].as_bool() {
        Some(true) => number(&trial["warmup_s"], 1.0, 2),
        _ => "?".to_owned(),
    };
    let jit = &trial["jit_after"];
    format!(
        "| {} | {} | {} | {} | {settled} | {} | {} | {} | {} |\n",
        row["name"].as_str().unwrap_or_default(),
        name.as_str().unwrap_or_default(),
        number(&trial["startup_s"], 1e3, 0),
        number(&trial["first_turn_s"], 1e3, 2),
        number(&contender["median_s"], 1e3, 3),
        pair.map_or(String::new(), ratio),
        number(&jit["code_bytes"], 1.0 / 1024.0, 0),
        number(&jit["compile_ns"], 1e-6, 0),
    )
}

/// Returns the ratio of times with interval and verdict.
fn ratio(pair: &Value) -> String {
    let figure = |key: &str| pair[key].as_f64();
    let verdict = pair["verdict"].as_str().unwrap_or_default();
    let middle = figure("ratio").map_or("?".to_owned(), |ratio| format!("{ratio:.3}"));
    match (figure("low"), figure("high")) {
        (Some(low), Some(high)) => format!("{middle} ({low:.3}–{high:.3}), {verdict}"),
        _ => format!("{middle}, {verdict}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_becomes_a_table_of_each_phase() {
        let trial = serde_json::json!({"startup_s": 0.04, "first_turn_s": 0.001, "settled": true, "warmup_s": 0.5,
            "jit_after": {"code_bytes": 2048, "compile_ns": 3_000_000}});
        let contender =
            |name: &str| serde_json::json!({"name": name, "median_s": 0.002, "trial": trial});
        let told = serde_json::json!({"measuring_s": 60.0, "rows": [{"name": "tarai",
            "contenders": [contender("none"), contender("yjit")],
            "pairs": [{"a": "none", "b": "yjit", "ratio": 0.5, "low": 0.4, "high": 0.6, "verdict": "faster"}]}]});
        let text = table(&[told]);
        let expected =
            "| tarai | yjit | 40 | 1.00 | 0.50 | 2.000 | 0.500 (0.400–0.600), faster | 2 | 3 |";
        assert!(text.contains(expected), "{text}");
        let mean = "All 1, geometric mean of yjit / none: 0.500.";
        assert!(text.contains(mean), "{text}");
        assert!(!text.contains("zjit"), "{text}");
    }
}

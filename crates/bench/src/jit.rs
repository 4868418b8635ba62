//! Bundled workloads on one Ruby, without a compiler and with each available one: start-up,
//! warm-up, steady state and code apart.

use std::error::Error;
use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use crate::experiment::report;
use crate::options::value;
use crate::program::hakaru_bench;

/// Contenders, each with Ruby's flag.
const KINDS: [(&str, &str); 3] = [("none", ""), ("yjit", "--yjit"), ("zjit", "--zjit")];

/// Runs `hakaru bench workloads` and writes the table. `--ruby PATH` has the compilers, `--budget
/// 600s`, `--filter TEXT` of workloads.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let ruby: String = value(arguments, "ruby", "ruby".to_owned())?;
    let budget: String = value(arguments, "budget", "600s".to_owned())?;
    let filter: String = value(arguments, "filter", String::new())?;
    let contenders: Vec<String> = (KINDS.iter().filter(|(_, flag)| has(&ruby, flag)))
        .map(|(name, flag)| format!("{name}={ruby} {flag}"))
        .collect();
    let mut words = vec!["workloads", "--budget", &budget];
    if !filter.is_empty() {
        words.extend(["--filter", &filter]);
    }
    words.extend(contenders.iter().flat_map(|one| ["-e", one]));
    let told = hakaru_bench(&words)?;
    report::write_between("jit", "workloads", &table(&told))?;
    Ok(true)
}

/// Returns whether a Ruby has the compiler of the flag.
fn has(ruby: &str, flag: &str) -> bool {
    let mut command = Command::new(ruby);
    command.args((!flag.is_empty()).then_some(flag));
    let asked = command.args(["-e", "exit 0"]).output();
    // A Ruby that was built without it warns, and runs.
    asked.is_ok_and(|output| output.status.success() && output.stderr.is_empty())
}

fn table(told: &Value) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let rows = list(&told["rows"]);
    let ruby = rows
        .iter()
        .find_map(|row| row["contenders"][0]["trial"]["ruby"].as_str());
    let mut text = format!(
        "{}; {}; {:.0} s.\n\n\
         | workload | compiler | start ms | first turn ms | settled after s | turn ms | with / without | code KiB | compiling ms |\n\
         |---|---|--:|--:|--:|--:|---|--:|--:|\n",
        report::host(),
        ruby.unwrap_or("an unknown Ruby"),
        told["measuring_s"].as_f64().unwrap_or(f64::NAN),
    );
    for row in &rows {
        for contender in list(&row["contenders"]) {
            text += &line(row, &contender);
        }
    }
    for pair in list(&told["overall"]) {
        let name = |key: &str| pair[key].as_str().unwrap_or_default().to_owned();
        let _ = write!(
            text,
            "\nAll, geometric mean of {} / {}: {}.\n",
            name("b"),
            name("a"),
            ratio(&pair)
        );
    }
    for doubt in list(&told["doubts"]) {
        let _ = write!(text, "\n! {}\n", doubt.as_str().unwrap_or_default());
    }
    text
}

fn line(row: &Value, contender: &Value) -> String {
    let (trial, name) = (&contender["trial"], &contender["name"]);
    let number = |value: &Value, scale: f64, digits: usize| {
        let scaled = value.as_f64().map(|value| value * scale);
        scaled.map_or("?".to_owned(), |value| format!("{value:.digits$}"))
    };
    let beside = row["pairs"].as_array().into_iter().flatten();
    let pair = beside
        .into_iter()
        .find(|pair| pair["a"] == KINDS[0].0 && &pair["b"] == name);
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
            "jit_after": {"code_bytes": 2048, "compile_ns": 3_000_000}, "ruby": "ruby 4"});
        let contender =
            |name: &str| serde_json::json!({"name": name, "median_s": 0.002, "trial": trial});
        let told = serde_json::json!({"measuring_s": 60.0, "rows": [{"name": "tarai",
            "contenders": [contender("none"), contender("yjit")],
            "pairs": [{"a": "none", "b": "yjit", "ratio": 0.5, "low": 0.4, "high": 0.6, "verdict": "faster"}]}]});
        let text = table(&told);
        let expected =
            "| tarai | yjit | 40 | 1.00 | 0.50 | 2.000 | 0.500 (0.400–0.600), faster | 2 | 3 |";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("ruby 4; 60 s."), "{text}");
    }
}

//! Benchmark of `hakaru bench` on code and commands with known differences, beside the peers.
//!
//! Four parts, in turns, so that all meet the same hours of the host: *equal* code (asked: a
//! difference is claimed in at most 5 % of the benches), code with *2 % more* turns of a loop
//! (asked: found in 9 of 10 within a minute), *commands*, which hyperfine runs for the same time
//! (asked: intervals that overlap, Hakaru's narrower), and repositories in which one commit takes
//! 3 % more (asked: the *bisect* names it within ten minutes, always). Every measurement is a step
//! ([`Steps`]); a part that has all of them prints its table and writes it to `benchmarks/code/`.

mod bisect;
mod commands;
mod scripts;

use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::machine;
use crate::options::value;
use crate::steps::Steps;

/// Where the tables go.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/code");

/// A measured part.
pub(super) struct Part {
    /// Whether Hakaru stays within the bounds.
    pub(super) is_held: bool,
    /// Table of results.
    pub(super) table: String,
}

/// What a tool claims of B beside A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// B takes less.
    Less,
    /// B takes more.
    More,
    /// No difference: the same, or undecided.
    Nothing,
}

impl Claim {
    pub(super) fn name(self) -> &'static str {
        match self {
            Claim::Less => "less",
            Claim::More => "more",
            Claim::Nothing => "nothing",
        }
    }
}

/// A part's name, and the measuring function.
type Measure = (
    &'static str,
    fn(&mut Steps, &[String]) -> Result<Part, Box<dyn Error>>,
);

/// All parts; a new one adds a line here.
const PARTS: [Measure; 4] = [
    ("equal", scripts::equal),
    ("planted", scripts::planted),
    ("commands", commands::run),
    ("bisect", bisect::run),
];

/// Runs the parts; whether the bounds are held by Hakaru.
///
/// `--equal 200`, `--planted 10`, `--commands 20` and `--bisects 5` are the numbers of benches,
/// `--what` names one part.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let what: String = value(arguments, "what", "all".to_owned())?;
    let is_asked = |part: &str| what == "all" || what == part;
    if !PARTS.iter().any(|(name, _)| is_asked(name)) {
        let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "no part is called {what:?}; --what takes {}",
            names.join(", ")
        )
        .into());
    }
    let mut steps = Steps::open("code", arguments)?;
    let mut is_held = true;
    for (name, measure) in PARTS.iter().filter(|(name, _)| is_asked(name)) {
        let part = measure(&mut steps, arguments)?;
        println!("\n{}", part.table);
        write(name, &part.table)?;
        is_held &= part.is_held;
    }
    Ok(is_held)
}

/// Writes a part's table, with the machine measured on.
fn write(name: &str, table: &str) -> Result<(), Box<dyn Error>> {
    let host = machine::line(&[&["ruby", "-v"], &["hyperfine", "--version"]]);
    fs::create_dir_all(FOLDER)?;
    let path = Path::new(FOLDER).join(format!("{name}.txt"));
    fs::write(&path, format!("{}\n{host}\n\n{table}", machine::date()))
        .map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}

/// The only pair of a bench of two, as B over A: `ratio`, `low`, `high` and what is claimed.
pub(super) fn pair(document: &Value, b: &str) -> Result<Value, Box<dyn Error>> {
    let pair = &document["rows"][0]["pairs"][0];
    let [ratio, low, high] = ["ratio", "low", "high"].map(|key| pair[key].as_f64());
    let ratio = ratio.ok_or_else(|| format!("a bench has no ratio: {pair}"))?;
    // The pair is b/a in the program's own order, which need not be that of the file.
    let is_turned = pair["b"] != b;
    let turn = |x: f64| if is_turned { 1.0 / x } else { x };
    let (low, high) = match is_turned {
        true => (high.map(turn), low.map(turn)),
        false => (low, high),
    };
    let claim = match (pair["verdict"].as_str(), is_turned) {
        (Some("lower"), false) | (Some("higher"), true) => Claim::Less,
        (Some("higher"), false) | (Some("lower"), true) => Claim::More,
        _ => Claim::Nothing,
    };
    Ok(json!({
        "ratio": turn(ratio), "low": low, "high": high, "claim": claim.name(),
        "seconds": document["measuring_s"],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_read_as_b_over_a_in_either_order() {
        let of = |b: &str, verdict: &str| {
            json!({"measuring_s": 5.0, "rows": [{"pairs": [
                {"a": "x", "b": b, "ratio": 2.0, "low": 1.6, "high": 2.5, "verdict": verdict},
            ]}]})
        };
        let straight = pair(&of("b", "higher"), "b").expect("a pair");
        assert_eq!(
            (straight["ratio"].as_f64(), straight["claim"].as_str()),
            (Some(2.0), Some("more"))
        );
        let turned = pair(&of("a", "higher"), "b").expect("a pair");
        assert_eq!(
            (turned["low"].as_f64(), turned["claim"].as_str()),
            (Some(0.4), Some("less"))
        );
        let open = pair(&of("b", "undecided"), "b").expect("a pair");
        assert_eq!(open["claim"], "nothing");
        assert!(pair(&json!({"rows": []}), "b").is_err());
    }
}

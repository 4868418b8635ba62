//! What `hakaru bench` claims of code and of commands whose difference is known, beside its peers.
//!
//! Three parts, in turns, so that all meet the same hours of the host: *equal* code (asked: a
//! difference is claimed in at most 5 % of the benches), code with *2 % more* turns of a loop
//! (asked: found in 9 of 10 within a minute), and *commands*, which hyperfine runs for the same
//! time. benchmark-ips and hyperfine take part where they are installed.

mod commands;
mod scripts;

use std::error::Error;

use serde_json::{Value, json};

use crate::options::value;
use crate::steps::Steps;

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

/// Runs the parts; whether the bounds are held by Hakaru.
///
/// `--equal 200`, `--planted 10` and `--commands 20` are the numbers of benches, `--what` names one
/// part.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let what: String = value(arguments, "what", "all".to_owned())?;
    let mut steps = Steps::open("code", arguments)?;
    let is_asked = |part: &str| what == "all" || what == part;
    let mut is_held = true;
    if is_asked("equal") {
        is_held &= scripts::equal(&mut steps, arguments)?;
    }
    if is_asked("planted") {
        is_held &= scripts::planted(&mut steps, arguments)?;
    }
    if is_asked("commands") {
        is_held &= commands::run(&mut steps, arguments)?;
    }
    Ok(is_held)
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

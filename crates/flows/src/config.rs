//! The configuration for the load of a record.

use std::fmt::Write;

use crate::Taken;
use crate::plan::Plan;

/// First words of a configuration written here.
const TAKEN_FROM: &str = "# Load and flows taken from";

/// Longest duration written, unless each request of the record is due again.
const DURATION_MS_MAX: u64 = 3_600_000;

/// Returns the configuration for running the flows in `folder`. `kept` is the text of an existing
/// configuration; load and flows are replaced there. Without one, `url` is the app's.
pub fn config(taken: &Taken, source: &str, folder: &str, kept: Option<&str>, url: &str) -> String {
    let head = format!(
        "# Load and flows taken from {}.\n",
        crate::call::comment(source)
    );
    let kept = match kept {
        Some(text) => without_load(text),
        None => format!(
            "\n[target]\n# Where the app answers; `command` starts it (`hakaru help config`).\nurl = {}\n",
            quoted(url)
        ),
    };
    head + &kept + &load(&taken.plan) + &flows(taken, folder)
}

/// Returns a configuration without load and flows.
fn without_load(text: &str) -> String {
    let mut out = String::from("\n");
    let mut is_kept = true;
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with('[') {
            let name = bare.trim_matches(['[', ']', ' ']);
            let root = name.split(['.', ']', ' ']).next().unwrap_or_default();
            is_kept = !matches!(root, "load" | "flow" | "score");
        }
        if is_kept && !bare.starts_with(TAKEN_FROM) {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

fn load(plan: &Plan) -> String {
    let mut out = String::from("\n[load]\n");
    if let Some(concurrency) = plan.concurrency {
        let _ = writeln!(
            out,
            "# On average {concurrency:.3} requests were under way, at most so many as connections say."
        );
    }
    let _ = writeln!(out, "connections = {}", plan.connections.max(1));
    if let Some(rate) = plan.rate {
        write_rate(plan, rate, &mut out);
    }
    if let Some(seconds) = plan.duration_s {
        let most = match plan.arrivals {
            Some(_) => u64::MAX,
            None => DURATION_MS_MAX,
        };
        let millis = ((seconds * 1e3).ceil() as u64).clamp(1_000, most);
        let _ = writeln!(out, "duration = \"{millis}ms\"");
    }
    if let Some(dispersion) = plan.dispersion {
        let _ = writeln!(
            out,
            "# Burstiness: variance over mean of the requests in a second is {dispersion:.2} (1: independent of each other, `hakaru load --poisson`)."
        );
    }
    if let Some((median, p95)) = plan.pauses_s {
        let _ = writeln!(
            out,
            "# Pauses of one client between an answer and its next request: {median:.3} s at the median, {p95:.3} s at the 95th percentile."
        );
    }
    out
}

/// Returns a rate as a number of the configuration, with enough digits for seldom requests.
fn shown(rate: f64) -> String {
    match rate < 0.1 {
        true => format!("{rate:.9}"),
        false => format!("{rate:.3}"),
    }
}

fn write_rate(plan: &Plan, rate: f64, out: &mut String) {
    let rate = shown(rate);
    if let Some(arrivals) = &plan.arrivals {
        let _ = writeln!(
            out,
            "# The mean of the record; each request is due when it came, all from the start."
        );
        let _ = writeln!(out, "rate = {rate}");
        let _ = writeln!(out, "arrivals = {}", quoted(arrivals));
        let _ = writeln!(out, "warmup = \"0s\"");
        return;
    }
    if plan.is_closed {
        let _ = writeln!(
            out,
            "# Nearly always so many requests were under way: users who waited for each response. They got {rate}\n\
             # requests per second; an open load of that rate would be `rate = {rate}`."
        );
        if let Some(order) = &plan.order {
            let _ = writeln!(
                out,
                "# What waits together decides what an app gets done: flows take turns as in the record. Without this\n\
                 # line they take turns by weight."
            );
            let _ = writeln!(out, "order = {}", quoted(order));
        }
        return;
    }
    match &plan.stages {
        Some(stages) => {
            let _ = writeln!(out, "# By minute; the mean of the record is {rate}.");
            let _ = writeln!(out, "rate = {}", quoted(stages));
        }
        None => {
            let _ = writeln!(out, "# The mean of the record.");
            let _ = writeln!(out, "rate = {rate}");
        }
    }
}

fn flows(taken: &Taken, folder: &str) -> String {
    let mut out = String::new();
    for flow in &taken.flows {
        let mark = if flow.is_on { "" } else { "# " };
        if !flow.is_on {
            out.push_str("\n# Changes data; take the marks away, or use --writes.");
        }
        let path = |extension: &str| quoted(&format!("{folder}/{}.{extension}", flow.name));
        let _ = writeln!(out, "\n{mark}[[flow]]\n{mark}file = {}", path("hurl"));
        let _ = writeln!(out, "{mark}weight = {}", flow.weight);
        if flow.feed.is_some() {
            let _ = writeln!(out, "{mark}feed = {}", path("csv"));
        }
    }
    out
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_seldom_requests_is_above_zero() {
        let plan = |rate| Plan {
            connections: 1,
            rate: Some(rate),
            ..Plan::default()
        };
        // Three requests in two hours.
        let text = load(&plan(3.0 / 7_200.0));
        assert!(text.contains("\nrate = 0.000416667\n"), "{text}");
        let text = load(&plan(30.0));
        assert!(text.contains("\nrate = 30.000\n"), "{text}");
    }
}

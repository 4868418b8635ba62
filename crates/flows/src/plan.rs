//! The load in a record of traffic, and the configuration for the same load.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use logs::access::Request;

use crate::Taken;

/// Users of a load of which no times are known.
const CONNECTIONS: u32 = 10;
/// Longest think time: after a longer pause the user has gone.
const PAUSE_MICROS_MAX: i64 = 600_000_000;
/// First words of a configuration written here.
const TAKEN_FROM: &str = "# Load and flows taken from";
const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
/// Greatest number of minutes written as stages of a rate.
const MINUTES_MAX: usize = 24 * 60;

/// How hard to load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Greatest number of open connections; for a closed load, of users.
    pub connections: u32,
    /// Requests per second of an open load; `None` for a closed one.
    pub rate: Option<f64>,
    /// Length of the record in seconds.
    pub duration_s: Option<f64>,
    /// Requests under way at a time, on average.
    pub concurrency: Option<f64>,
    /// The rate by minute, in the format of `hakaru load --rate`.
    pub stages: Option<String>,
    /// Variance of the requests in a second, over the mean: 1 for independent arrivals, less for
    /// even ones.
    pub dispersion: Option<f64>,
    /// Pauses of one client between a response and the next request: median and 95th percentile, in
    /// seconds.
    pub pauses_s: Option<(f64, f64)>,
}

impl Plan {
    /// Returns the load of one user who does one thing after another.
    pub(crate) fn of_one_user() -> Plan {
        Plan {
            connections: 1,
            ..Plan::default()
        }
    }
}

/// Returns what the times of requests say.
pub(crate) fn of_requests(requests: &[&Request]) -> Plan {
    let mut spans: Vec<(i64, i64)> = requests
        .iter()
        .filter_map(|request| {
            let began = request.began_micros?;
            Some((began, began + i64::from(request.took_micros.unwrap_or(0))))
        })
        .collect();
    spans.sort_unstable();
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Plan {
            connections: CONNECTIONS,
            ..Plan::default()
        };
    };
    let (first, last) = (first.0, last.0);
    let length = length_micros(first, last, spans.len(), ended_in_whole_seconds(requests));
    let seconds = length as f64 / SECOND as f64;
    let timed = requests.iter().any(|request| request.took_micros.is_some());
    let busy: i64 = spans.iter().map(|(began, ended)| ended - began).sum();
    Plan {
        connections: if timed { peak(&spans) } else { CONNECTIONS },
        rate: Some(spans.len() as f64 / seconds),
        duration_s: Some(seconds),
        concurrency: timed.then_some(busy as f64 / length as f64),
        stages: stages(&spans, first, length),
        dispersion: dispersion(&spans, first, length),
        pauses_s: pauses(requests),
    }
}

/// Returns the time from the first request to one mean distance behind the last; times of whole
/// seconds stand for the whole second.
fn length_micros(first: i64, last: i64, count: usize, in_seconds: bool) -> i64 {
    let between = last - first;
    let behind = match in_seconds {
        true => SECOND,
        false if count > 1 => between / (count as i64 - 1),
        false => SECOND,
    };
    (between + behind).max(1)
}

fn ended_in_whole_seconds(requests: &[&Request]) -> bool {
    requests.iter().all(|request| {
        let took = i64::from(request.took_micros.unwrap_or(0));
        request
            .began_micros
            .is_none_or(|began| (began + took) % SECOND == 0 || began % SECOND == 0)
    })
}

/// Returns the greatest number of concurrent requests.
fn peak(spans: &[(i64, i64)]) -> u32 {
    // An end comes before a begin of the same moment.
    let mut changes: Vec<(i64, i32)> = spans
        .iter()
        .flat_map(|(began, ended)| [(*began, 1), ((*ended).max(began + 1), -1)])
        .collect();
    changes.sort_unstable();
    let (mut now, mut most) = (0, 1);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most.unsigned_abs()
}

fn counts(spans: &[(i64, i64)], first: i64, each: i64) -> BTreeMap<i64, u64> {
    let mut counts = BTreeMap::new();
    for (began, _) in spans {
        *counts.entry((began - first) / each).or_default() += 1;
    }
    counts
}

fn stages(spans: &[(i64, i64)], first: i64, length: i64) -> Option<String> {
    let counts = counts(spans, first, MINUTE);
    let minutes = (length + MINUTE - 1) / MINUTE;
    if minutes < 2 || minutes as usize > MINUTES_MAX {
        return None;
    }
    let stage = |minute: i64| {
        let millis = (length - minute * MINUTE).min(MINUTE) / 1_000;
        let count = counts.get(&minute).copied().unwrap_or(0);
        let rate = count as f64 * 1e3 / millis.max(1) as f64;
        (millis > 0).then(|| format!("{rate:.3}/{millis}ms"))
    };
    let stages: Vec<String> = (0..minutes).filter_map(stage).collect();
    Some(stages.join(","))
}

fn dispersion(spans: &[(i64, i64)], first: i64, length: i64) -> Option<f64> {
    let seconds = length / SECOND;
    if seconds < 2 {
        return None;
    }
    let counts = counts(spans, first, SECOND);
    let counted = |second| counts.get(&second).copied().unwrap_or(0) as f64;
    let mean = (0..seconds).map(counted).sum::<f64>() / seconds as f64;
    let squares = (0..seconds).map(|second| (counted(second) - mean).powi(2));
    let variance = squares.sum::<f64>() / (seconds - 1) as f64;
    (mean > 0.0).then_some(variance / mean)
}

fn pauses(requests: &[&Request]) -> Option<(f64, f64)> {
    let mut ends: HashMap<&str, i64> = HashMap::new();
    let mut sorted: Vec<&&Request> = requests
        .iter()
        .filter(|request| request.began_micros.is_some() && !request.client.is_empty())
        .collect();
    sorted.sort_by_key(|request| request.began_micros);
    let mut pauses = Vec::new();
    for request in sorted {
        let began = request.began_micros?;
        let ended = began + i64::from(request.took_micros.unwrap_or(0));
        if let Some(before) = ends.insert(&request.client, ended) {
            let pause = began - before;
            if (0..=PAUSE_MICROS_MAX).contains(&pause) {
                pauses.push(pause as f64 / SECOND as f64);
            }
        }
    }
    pauses.sort_by(f64::total_cmp);
    let at = |share: f64| pauses.get((pauses.len() as f64 * share) as usize).copied();
    Some((at(0.5)?, at(0.95)?))
}

/// The value in the middle; `None` of none.
pub(crate) fn middle(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

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
        let _ = writeln!(out, "# The mean of the record.");
        let _ = writeln!(out, "rate = {rate:.3}");
    }
    if let Some(seconds) = plan.duration_s {
        let millis = ((seconds * 1e3) as u64).clamp(1_000, 3_600_000);
        let _ = writeln!(out, "duration = \"{millis}ms\"");
    }
    if let Some(stages) = &plan.stages {
        let _ = writeln!(out, "# By minute: hakaru load --rate '{stages}'");
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

//! Two snapshots side by side: why is one machine slower than the other?

use std::collections::BTreeMap;

use serde_json::Value;

use crate::check::{Area, Verdict};
use crate::diagnose;
use crate::snapshot::Snapshot;

/// Differences between two machines.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Measured figures, the greatest difference first.
    pub figures: Vec<Figure>,
    /// Findings on the first machine only.
    pub only_here: Vec<Verdict>,
    /// Findings on the second machine only.
    pub only_there: Vec<Verdict>,
    /// Settings and other facts with a difference.
    pub facts: Vec<Fact>,
}

/// A figure measured on both machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name of the figure with the unit.
    pub name: String,
    /// On the first.
    pub here: f64,
    /// On the second.
    pub there: f64,
}

/// A fact with a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Path of the fact in the snapshot.
    pub name: String,
    /// Value on the first machine; empty if missing.
    pub here: String,
    /// On the second.
    pub there: String,
}

/// Facts changing from moment to moment, which say nothing about a machine.
const PASSING: [&str; 16] = [
    "counters.",
    "pressure.",
    "uptime",
    "time_wait",
    "SwapFree",
    "MemAvailable",
    "AnonHugePages",
    "pid",
    "files_open",
    "processes_now",
    "entropy",
    "conntrack_count",
    "free_bytes",
    "inodes_used",
    "group.path",
    "group.memory_bytes",
];

/// Compares two snapshots within the areas.
pub fn compare(here: &Snapshot, there: &Snapshot, areas: &[Area]) -> Comparison {
    let (a, b) = (diagnose(here, areas), diagnose(there, areas));
    let only = |of: &[Verdict], others: &[Verdict]| {
        let is_there = |verdict: &Verdict| others.iter().any(|other| same(verdict, other));
        let verdicts = of.iter().filter(|verdict| !is_there(verdict));
        verdicts.cloned().collect()
    };
    let (left, right) = (leaves(here), leaves(there));
    let mut comparison = Comparison {
        only_here: only(&a, &b),
        only_there: only(&b, &a),
        ..Comparison::default()
    };
    let names: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for name in names {
        let (one, other) = (left.get(name), right.get(name));
        if let Some(name) = name.strip_prefix("measures.") {
            // Numbers of pairs and names of other processes are no figures.
            if let (Some(one), Some(other)) = (number(one), number(other))
                && !name.contains("pairs")
                && !name.contains("busiest")
                && one > 0.0
            {
                comparison.figures.push(Figure {
                    name: name.to_owned(),
                    here: one,
                    there: other,
                });
            }
        } else if one != other && !is_passing(name) {
            let text = |value: Option<&String>| value.cloned().unwrap_or_default();
            comparison.facts.push(Fact {
                name: name.clone(),
                here: text(one),
                there: text(other),
            });
        }
    }
    let far = |figure: &Figure| (figure.there.max(1e-12) / figure.here).ln().abs();
    comparison.figures.sort_by(|a, b| far(b).total_cmp(&far(a)));
    comparison
}

fn same(a: &Verdict, b: &Verdict) -> bool {
    a.check.id == b.check.id && a.found.on == b.found.on
}

fn is_passing(name: &str) -> bool {
    let status = name.strip_prefix("databases.").is_some_and(|rest| {
        // Counters of servers begin with a capital, their settings do not.
        let key = rest.split(".values.").nth(1).unwrap_or_default();
        key.starts_with(|letter: char| letter.is_ascii_uppercase() || letter == '(')
            || rest.contains(".lists.")
            || rest.contains("round_trip")
    });
    status || name.starts_with("unseen") || PASSING.iter().any(|passing| name.contains(passing))
}

fn number(text: Option<&String>) -> Option<f64> {
    text?.parse().ok()
}

/// Returns all facts of a snapshot by path.
fn leaves(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let value = serde_json::to_value(snapshot).unwrap_or_default();
    add("", &value, &mut found);
    found
}

fn add(at: &str, value: &Value, to: &mut BTreeMap<String, String>) {
    let place = |key: &str| match at {
        "" => key.to_owned(),
        _ => format!("{at}.{key}"),
    };
    match value {
        Value::Null => {}
        Value::Object(map) => map
            .iter()
            .for_each(|(key, value)| add(&place(key), value, to)),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(key, value)| add(&place(&key.to_string()), value, to)),
        Value::String(text) => {
            to.insert(at.to_owned(), text.clone());
        }
        other => {
            to.insert(at.to_owned(), other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_found() {
        let mut here = Snapshot::default();
        let mut there = Snapshot::default();
        here.machine.clocksource = Some("tsc".to_owned());
        there.machine.clocksource = Some("hpet".to_owned());
        here.machine.uptime_s = Some(1.0);
        here.measures.clock_ns = Some(30.0);
        there.measures.clock_ns = Some(900.0);
        let found = compare(&here, &there, &[]);
        assert_eq!(found.facts.len(), 1, "{:?}", found.facts);
        assert_eq!(found.facts[0].name, "machine.clocksource");
        assert_eq!(found.figures[0].there, 900.0);
        let ids: Vec<&str> = found
            .only_there
            .iter()
            .map(|verdict| verdict.check.id)
            .collect();
        assert_eq!(ids, ["cpu.clock-slow"]);
        assert!(found.only_here.is_empty());
    }
}

//! A profile as JSON, as a page of text and as HTML; the difference of two likewise; the profile's
//! part of a run's page.

mod document;
mod flame;
mod graph;
mod messages;
mod of_run;
mod page;

use serde_json::{Map, Value, json};
use stacks::{Diff, Profile, Row, Unit};

pub use document::{difference_to_html, to_html};
pub use of_run::of_run;
pub use page::{around, difference, page};

/// Rows in the JSON's tables: a further method weighs too little to be distinguished from none.
const ROWS_MAX: usize = 500;

/// A profile with related facts.
#[derive(Clone, Copy, Debug)]
pub struct ProfileView<'a> {
    /// Number of the profile in the store; `None` for a profile not stored.
    pub number: Option<i64>,
    /// The samples.
    pub profile: &'a Profile,
    /// The counted method with the call sites, when one was counted.
    pub counted: Option<&'a CountedView>,
}

/// Calls of one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedView {
    /// Name of the method as requested, such as `Resolver::Spec.new`.
    pub method: String,
    /// Caller, calls from the caller, and calls among the caller's with the arguments of an earlier
    /// call.
    pub sites: Vec<(String, u64, u64)>,
    /// Calls missed by the count.
    pub missed: u64,
}

impl CountedView {
    /// All calls.
    pub fn calls(&self) -> u64 {
        self.sites.iter().map(|site| site.1).sum()
    }

    /// Calls with arguments of an earlier one.
    pub fn repeats(&self) -> u64 {
        self.sites.iter().map(|site| site.2).sum()
    }
}

/// The JSON document, one line and a line's end.
pub fn json(view: &ProfileView<'_>) -> String {
    let profile = view.profile;
    let table = stacks::table(profile);
    let total = profile.total().max(1) as f64;
    let states: Map<String, Value> = stacks::states(profile)
        .into_iter()
        .map(|(state, weight)| {
            let mut value = amount(profile, weight, 0);
            value.insert("share".to_owned(), json!(weight as f64 / total));
            (state.name().to_owned(), Value::Object(value))
        })
        .collect();
    let rows = |rows: &[Row]| -> Vec<Value> {
        rows.iter()
            .take(ROWS_MAX)
            .map(|one| row(profile, one))
            .collect()
    };
    let mut document = json!({
        "version": 1,
        "profile": view.number,
        "command": profile.command,
        "mode": profile.mode,
        "samples": profile.observations(),
        "interval_us": profile.interval as f64 / 1e3,
        "duration_s": profile.duration as f64 / 1e9,
        "threads": profile.threads().len(),
        "self": rows(&table.exclusive),
        "inclusive": rows(&table.inclusive),
        "states": states,
        "cost": {
            "cpu_share": profile.cost.cpu_share,
            "dropped": profile.cost.dropped,
        },
        "notes": profile.notes,
        "runtime": runtime(profile),
        "requests": messages::json(profile),
    });
    if let Some(counted) = view.counted {
        document["counted"] = counted_json(counted);
    }
    format!("{document}\n")
}

/// The difference as JSON.
pub fn difference_json(before: &Profile, after: &Profile, diff: &Diff) -> String {
    let side = |profile: &Profile| {
        let mut value = amount(profile, profile.total(), 0);
        value.insert("command".to_owned(), json!(profile.command));
        value.insert("samples".to_owned(), json!(profile.observations()));
        Value::Object(value)
    };
    let frames: Vec<Value> = diff
        .frames
        .iter()
        .take(ROWS_MAX)
        .map(|changed| {
            json!({
                "frame": changed.frame.name,
                "file": changed.frame.file,
                "line": changed.frame.line,
                "before": {"share": changed.share[0], "self_share": changed.own_share[0],
                           "weight": amount(before, changed.weight[0], 0)},
                "after": {"share": changed.share[1], "self_share": changed.own_share[1],
                          "weight": amount(after, changed.weight[1], 0)},
                "change": changed.change(),
                "low": changed.bounds[0],
                "high": changed.bounds[1],
                "sure": changed.is_sure(),
            })
        })
        .collect();
    let document = json!({
        "version": 1,
        "before": side(before),
        "after": side(after),
        "frames": frames,
    });
    format!("{document}\n")
}

/// The runtime's own counters, by name.
fn runtime(profile: &Profile) -> Value {
    let facts = profile.facts.iter();
    let told: Map<String, Value> = facts
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    Value::Object(told)
}

fn row(profile: &Profile, row: &Row) -> Value {
    let mut value = Map::new();
    value.insert("frame".to_owned(), json!(row.frame.name));
    value.insert("file".to_owned(), json!(row.frame.file));
    value.insert("line".to_owned(), json!(row.frame.line));
    value.insert("hot_line".to_owned(), json!(row.hot_line));
    value.extend(amount(profile, row.weight, row.bytes));
    value.insert("share".to_owned(), json!(row.share));
    Value::Object(value)
}

/// A weight under the key of the profile's unit.
fn amount(profile: &Profile, weight: u64, bytes: u64) -> Map<String, Value> {
    let mut value = Map::new();
    match profile.unit {
        Unit::Nanos => {
            value.insert("ms".to_owned(), json!(weight as f64 / 1e6));
        }
        Unit::Objects => {
            value.insert("objects".to_owned(), json!(weight));
            value.insert("bytes".to_owned(), json!(bytes));
        }
        Unit::Samples => {
            value.insert("samples".to_owned(), json!(weight));
        }
    }
    value
}

fn counted_json(counted: &CountedView) -> Value {
    let sites: Vec<Value> = counted
        .sites
        .iter()
        .map(|(caller, calls, repeats)| json!({"caller": caller, "calls": calls, "repeats": repeats}))
        .collect();
    json!({
        "method": counted.method,
        "calls": counted.calls(),
        "repeats": counted.repeats(),
        "missed": counted.missed,
        "callers": sites,
    })
}

#[cfg(test)]
mod tests;

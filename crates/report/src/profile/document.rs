//! Data of the HTML pages of a profile and of a difference.

use serde_json::{Value, json};
use stacks::{Diff, Flame, Profile};
use words::Language;

use super::graph::Graphs;
use super::{ProfileView, difference, difference_json, page};
use crate::html;
use figures::text::COLUMNS;

/// Nodes of a page's graph. What is left out is narrower than a ten-thousandth, and said.
const NODES_MAX: usize = 30_000;
/// Nodes of the stacks in order of time, which cannot be folded: further ones are left out, and the
/// page names the time reached.
const TIME_NODES_MAX: usize = 20_000;

/// The page of a profile.
pub fn to_html(view: &ProfileView<'_>, language: Language) -> String {
    let profile = view.profile;
    let mut graphs = Graphs::new(profile);
    graphs.add("all", None, &Flame::of(profile, NODES_MAX));
    if let Some(shown) = stacks::in_time(profile, TIME_NODES_MAX) {
        graphs.add_time(&shown);
    }
    super::messages::add_graphs(&mut graphs, profile);
    let mut document = head("hakaru-profile", profile);
    document["number"] = json!(view.number);
    document["counted"] = view.counted.map_or(Value::Null, super::counted_json);
    document["flame"] = graphs.end();
    html::page(
        &document.to_string(),
        &page(view, COLUMNS, language),
        language,
    )
}

/// The page of a difference.
pub fn difference_to_html(
    before: &Profile,
    after: &Profile,
    diff: &Diff,
    language: Language,
) -> String {
    let mut graphs = Graphs::new(after);
    let flame = Flame::of_both(before, after, NODES_MAX);
    graphs.add("difference", None, &flame);
    let told: Value = serde_json::from_str(&difference_json(before, after, diff))
        .expect("what has just been written is JSON");
    let document = json!({
        "format": "hakaru-profile-diff",
        "version": 1,
        "before": head("hakaru-profile", before),
        "after": head("hakaru-profile", after),
        "changes": told["frames"],
        "flame": graphs.end(),
    });
    html::page(
        &document.to_string(),
        &difference((before, after), diff, COLUMNS, language),
        language,
    )
}

/// Data above the graph.
fn head(format: &str, profile: &Profile) -> Value {
    json!({
        "format": format,
        "version": 1,
        "command": profile.command,
        "mode": profile.mode,
        "samples": profile.observations(),
        "interval_us": profile.interval as f64 / 1e3,
        "duration_s": profile.duration as f64 / 1e9,
        "threads": profile.threads().len(),
        "cost": {"cpu_share": profile.cost.cpu_share, "dropped": profile.cost.dropped},
        "notes": profile.notes,
        "runtime": super::runtime(profile),
    })
}

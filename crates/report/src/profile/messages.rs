//! Requests reported by the app itself, such as messages of WebSockets: by route, with the samples
//! taken during each.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Value, json};
use stacks::{Flame, Profile, RouteId};

use words::{Language, text};

use super::graph::Graphs;
use figures::text::{fit, one_line};

/// Nodes of one route's graph, and the number of routes with a graph.
const NODES_MAX: usize = 3_000;
const ROUTES_MAX: usize = 30;
/// Rows in the terminal, and the width of a row.
const ROWS: usize = 10;

/// All of one route.
#[derive(Clone, Copy, Debug, Default)]
struct OfRoute {
    count: usize,
    length: u64,
    length_max: u64,
    /// Weight of the requests' samples.
    sampled: u64,
}

/// Sums of the routes, by time, greatest first.
fn by_route(profile: &Profile) -> Vec<(RouteId, OfRoute)> {
    let mut sums: HashMap<RouteId, OfRoute> = HashMap::new();
    for request in &profile.requests {
        let sum = sums.entry(request.route).or_default();
        sum.count += 1;
        sum.length += request.length;
        sum.length_max = sum.length_max.max(request.length);
    }
    let routes = routes_by_id(profile);
    for sample in &profile.samples {
        if let Some(sum) = routes
            .get(&sample.request)
            .and_then(|route| sums.get_mut(route))
        {
            sum.sampled += sample.weight;
        }
    }
    let mut all: Vec<(RouteId, OfRoute)> = sums.into_iter().collect();
    all.sort_by_key(|(route, sum)| (std::cmp::Reverse(sum.length), *route));
    all
}

fn routes_by_id(profile: &Profile) -> HashMap<u64, RouteId> {
    let all = profile.requests.iter();
    all.map(|request| (request.id, request.route)).collect()
}

/// A row for each route.
pub(super) fn json(profile: &Profile) -> Value {
    let rows = by_route(profile).into_iter().map(|(route, sum)| {
        json!({
            "route": profile.route(route),
            "count": sum.count,
            "ms": millis(sum.length),
            "ms_max": millis(sum.length_max),
            "sampled": sum.sampled,
        })
    });
    rows.collect()
}

/// Writes the table of requests for a terminal; nothing without requests.
pub(super) fn lines(out: &mut String, profile: &Profile, columns: usize, language: Language) {
    let all = by_route(profile);
    if all.is_empty() {
        return;
    }
    let heads = text!("MESSAGES     mean ms      max ms   route");
    let _ = writeln!(out, "\n{}", heads.written_in(language));
    for (route, sum) in all.iter().take(ROWS) {
        let text = format!(
            "{:>8}{:>12.2}{:>12.2}   {}",
            sum.count,
            millis(sum.length) / sum.count.max(1) as f64,
            millis(sum.length_max),
            one_line(profile.route(*route)),
        );
        let _ = writeln!(out, "{}", fit(&text, columns));
    }
}

/// Adds a graph for each sampled route.
pub(super) fn add_graphs(graphs: &mut Graphs, profile: &Profile) {
    let routes = routes_by_id(profile);
    let sampled = by_route(profile)
        .into_iter()
        .filter(|(_, sum)| sum.sampled > 0);
    for (route, sum) in sampled.take(ROUTES_MAX) {
        let flame = Flame::of_samples(profile, NODES_MAX, |sample| {
            routes.get(&sample.request) == Some(&route)
        });
        graphs.add(profile.route(route), Some(sum.count), &flame);
    }
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

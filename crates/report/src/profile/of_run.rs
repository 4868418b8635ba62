//! The profile's part of a run's page: the flame graph of each route, and the slowest requests with
//! a record of each.

use std::collections::HashMap;

use breakdown::{Joined, Request};
use recording::{BurstKind, Handled, Nanos, Recording, Timestamp};
use serde_json::{Value, json};
use stacks::{Flame, Profile, Sample};

use super::graph::Graphs;

/// Nodes of all routes together, and of one.
const NODES_MAX: [usize; 2] = [10_000, 3_000];
/// Routes with a graph for each, the most sampled first.
const ROUTES_MAX: usize = 30;
/// Slowest requests stored of each route.
const SLOWEST: usize = 3;
/// Stacks shown of one request, statements likewise.
const SAMPLES_MAX: usize = 200;
const STATEMENTS_MAX: usize = 20;

/// Graphs and exemplars. Samples of requests outside of the window are left out.
pub fn of_run(recording: &Recording, profile: &Profile) -> Value {
    let joined = breakdown::join(recording);
    let mut by_id: HashMap<u64, usize> = HashMap::new();
    for (index, request) in joined.requests.iter().enumerate() {
        if let Some(handled) = request.handled {
            by_id.insert(handled.id.0, index);
        }
    }
    let of = |sample: &Sample| by_id.get(&sample.request).copied();
    let mut graphs = Graphs::new(profile);
    let all = Flame::of_samples(profile, NODES_MAX[0], |sample| of(sample).is_some());
    graphs.add("all routes", Some(by_id.len()), &all);
    let routes = routes(profile, &joined, of);
    let mut exemplars = Vec::new();
    let mut by_request: HashMap<usize, Vec<&Sample>> = HashMap::new();
    for sample in &profile.samples {
        if let Some(index) = of(sample) {
            by_request.entry(index).or_default().push(sample);
        }
    }
    for route in routes {
        let is_of =
            |sample: &Sample| of(sample).is_some_and(|index| joined.requests[index].route == route);
        let flame = Flame::of_samples(profile, NODES_MAX[1], is_of);
        let requests = slowest_first(&joined, route);
        graphs.add(&joined.routes[route], Some(requests.len()), &flame);
        for index in requests.into_iter().take(SLOWEST) {
            let samples = by_request.get(&index).map_or(&[][..], Vec::as_slice);
            let one = Exemplar {
                recording,
                profile,
                joined: &joined,
                request: &joined.requests[index],
            };
            exemplars.extend(one.told(samples, &mut graphs));
        }
    }
    super::messages::add_graphs(&mut graphs, profile);
    json!({
        "interval_us": profile.interval as f64 / 1e3,
        "samples": profile.observations(),
        "cost": {"cpu_share": profile.cost.cpu_share, "dropped": profile.cost.dropped},
        "notes": profile.notes,
        "runtime": super::runtime(profile),
        "exemplars": exemplars,
        "flame": graphs.end(),
    })
}

/// Sampled routes, the heaviest first.
fn routes(
    profile: &Profile,
    joined: &Joined<'_>,
    of: impl Fn(&Sample) -> Option<usize>,
) -> Vec<usize> {
    let mut weights = vec![0u64; joined.routes.len()];
    for sample in &profile.samples {
        if let Some(index) = of(sample) {
            weights[joined.requests[index].route] += sample.weight;
        }
    }
    let mut routes: Vec<usize> = (0..weights.len())
        .filter(|route| weights[*route] > 0)
        .collect();
    routes.sort_by_key(|route| std::cmp::Reverse(weights[*route]));
    routes.truncate(ROUTES_MAX);
    routes
}

/// Indexes of a route's requests with an app-side record, the slowest first.
fn slowest_first(joined: &Joined<'_>, route: usize) -> Vec<usize> {
    let mut all: Vec<(Nanos, usize)> = (joined.requests.iter().enumerate())
        .filter(|(_, request)| request.route == route)
        .filter_map(|(index, request)| {
            let handled = request.handled?;
            Some((handled.end.since(handled.start), index))
        })
        .collect();
    all.sort_by(|a, b| b.cmp(a));
    all.into_iter().map(|(_, index)| index).collect()
}

/// One request with the client's and the app's records.
struct Exemplar<'a> {
    recording: &'a Recording,
    profile: &'a Profile,
    joined: &'a Joined<'a>,
    request: &'a Request<'a>,
}

impl Exemplar<'_> {
    /// Milliseconds count from when the request was due.
    fn told(&self, samples: &[&Sample], graphs: &mut Graphs) -> Option<Value> {
        let (exchange, handled) = (self.request.exchange, self.request.handled?);
        let at = |time: Timestamp| time.signed_since(exchange.due) as f64 / 1e6;
        let text = |id| self.recording.texts.get(id).unwrap_or_default();
        Some(json!({
            "route": self.joined.routes[self.request.route],
            "line": text(exchange.line),
            "status": exchange.status,
            "pid": handled.pid,
            "sent_ms": at(exchange.sent),
            "start_ms": at(handled.start),
            "end_ms": at(handled.end),
            "answered_ms": at(exchange.answered),
            "parts": parts(handled),
            "bursts": bursts(handled),
            "sql": self.statements(handled),
            "samples": self.samples(samples, graphs),
        }))
    }

    fn statements(&self, handled: &Handled) -> Vec<Value> {
        let text = |id| self.recording.texts.get(id).unwrap_or_default();
        let mut all: Vec<_> = handled.sql.iter().collect();
        all.sort_by_key(|used| std::cmp::Reverse(used.time));
        let told = all.into_iter().take(STATEMENTS_MAX).map(|used| {
            json!({
                "digest": text(used.digest),
                "site": self.joined.site(used.site).unwrap_or_default(),
                "count": used.count,
                "time_ms": millis(used.time),
            })
        });
        told.collect()
    }

    /// State, start, length and stack (outermost first) of each look. A look stands for the time
    /// before it.
    fn samples(&self, samples: &[&Sample], graphs: &mut Graphs) -> Vec<Value> {
        let due = self.request.exchange.due.monotonic_nanos();
        let begun = self.profile.begun;
        let told = samples.iter().take(SAMPLES_MAX).map(|sample| {
            let frames: Vec<usize> = (self.profile.stack(sample.stack).iter().rev())
                .map(|location| graphs.frame(self.profile.frame(location.frame)))
                .collect();
            let end = (begun + sample.at) as f64 - due as f64;
            json!([
                sample.state as u8,
                (end - sample.weight as f64) / 1e6,
                sample.weight as f64 / 1e6,
                frames,
            ])
        });
        told.collect()
    }
}

/// The exclusive parts of a request's time in the app, without zeros.
fn parts(handled: &Handled) -> Value {
    let parts = &handled.parts;
    let all = [
        ("running", parts.running),
        ("gvl_wait", parts.gvl_wait),
        ("gc", parts.gc),
        ("sql", parts.sql_running + parts.sql_waiting),
        ("http", parts.http_running + parts.http_waiting),
        ("lock", parts.lock),
        ("sleep", parts.sleep),
        ("other_io", parts.other_io),
    ];
    let told = all.into_iter().filter(|(_, time)| time.0 > 0);
    told.map(|(name, time)| json!([name, millis(time)]))
        .collect()
}

fn bursts(handled: &Handled) -> Value {
    let name = |kind| match kind {
        BurstKind::Running => "running",
        BurstKind::Sql => "sql",
        BurstKind::Http => "http",
        BurstKind::Lock => "lock",
        BurstKind::Sleep => "sleep",
        BurstKind::OtherIo => "other_io",
    };
    let told = handled.bursts.iter();
    told.map(|burst| json!([name(burst.kind), millis(burst.length)]))
        .collect()
}

fn millis(time: Nanos) -> f64 {
    time.0 as f64 / 1e6
}

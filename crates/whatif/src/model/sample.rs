//! Recorded requests in the proportions of their routes, their running time as CPU.

use std::collections::HashMap;

use breakdown::{Breakdown, Joined, RouteBalance};
use recording::{Burst, BurstKind, Nanos};

use super::NoModel;

/// Recorded requests below which nothing is predicted. Found by weighing.
pub(super) const REQUESTS_MIN: usize = 30;
/// Requests in the sample: each of them is replayed several times.
const SIZE: f64 = 2_000.0;

/// Requests to replay.
pub(super) struct Sample {
    /// Each route in its proportion; a recorded request may be among them several times.
    pub(super) requests: Vec<Vec<Burst>>,
    /// How many different ones they were taken from.
    pub(super) recorded: usize,
}

/// The first requests of each thread are always recorded, so the recorded ones alone would count rare routes
/// wrongly: each route is given its share of the sample.
pub(super) fn requests(joined: &Joined<'_>, breakdown: &Breakdown) -> Result<Sample, NoModel> {
    let mut by_route: HashMap<usize, (u64, Vec<&[Burst]>)> = HashMap::new();
    for request in &joined.requests {
        if let Some(handled) = request.handled {
            let (seen, recorded) = by_route.entry(request.route).or_default();
            *seen += 1;
            if !handled.bursts.is_empty() {
                recorded.push(&handled.bursts);
            }
        }
    }
    by_route.retain(|_, (_, recorded)| !recorded.is_empty());
    let recorded: usize = by_route.values().map(|(_, recorded)| recorded.len()).sum();
    if recorded < REQUESTS_MIN {
        return Err(NoModel::FewRequests(recorded));
    }
    let seen: u64 = by_route.values().map(|(seen, _)| seen).sum();
    let mut routes: Vec<_> = by_route.into_iter().collect();
    routes.sort_by_key(|(route, _)| *route);
    let mut requests = Vec::new();
    for (route, (route_seen, recorded)) in routes {
        let on_core = on_core(breakdown, &joined.routes[route]);
        let wanted = (SIZE * route_seen as f64 / seen as f64).ceil() as usize;
        // Spread over the run, so that its course is in the sample and not its beginning.
        let step = (recorded.len() as f64 / wanted as f64).max(1.0);
        let drawn = (0..wanted).map(|k| recorded[(k as f64 * step) as usize % recorded.len()]);
        requests.extend(drawn.map(|bursts| scaled(bursts, on_core)));
    }
    Ok(Sample { requests, recorded })
}

/// Share of the route's running time that was on a core; of all routes' where its own is not known.
fn on_core(breakdown: &Breakdown, route: &str) -> f64 {
    let own = breakdown.routes.iter().find(|known| known.route == route);
    own.and_then(share)
        .unwrap_or_else(|| on_core_overall(breakdown))
}

/// Of all routes; all of it where no request's CPU was read.
pub(super) fn on_core_overall(breakdown: &Breakdown) -> f64 {
    share(&breakdown.overall).unwrap_or(1.0)
}

fn share(of: &RouteBalance) -> Option<f64> {
    let running = of.balance.cpu + of.balance.cpu_wait;
    (of.cpu_sampled > 0 && running > 0.0).then(|| of.balance.cpu / running)
}

fn scaled(bursts: &[Burst], on_core: f64) -> Vec<Burst> {
    let scale = |burst: &Burst| match burst.kind {
        BurstKind::Running => Burst {
            length: Nanos((burst.length.0 as f64 * on_core) as u64),
            ..*burst
        },
        _ => *burst,
    };
    bursts.iter().map(scale).collect()
}

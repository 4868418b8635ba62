//! Samples recorded requests in the proportions of the routes, with running time as CPU.

use std::collections::HashMap;

use breakdown::{Breakdown, Joined, RouteBalance};
use recording::{Burst, BurstKind, Handled, Nanos, RequestId};

use super::NoModel;
use super::lock::Lock;
use super::short::Short;
use super::unfold::unfolded;
use crate::workload::Computing;

/// Recorded requests below which nothing is predicted. Chosen by judgement.
pub(super) const REQUESTS_MIN: usize = 30;
/// Requests in the sample: each is replayed several times.
const SIZE: f64 = 2_000.0;

/// Requests to replay.
pub(super) struct Sample {
    /// Requests of each route in proportion; a recorded request may be there several times.
    pub(super) requests: Vec<Vec<Burst>>,
    /// Index of each request's route in [`Joined::routes`].
    pub(super) routes: Vec<usize>,
    /// Native code in each request, run without the GVL.
    pub(super) computing: Vec<Computing>,
    /// Whether each request waited for the lock.
    pub(super) locking: Vec<bool>,
    /// The recorded request behind each of `requests`.
    pub(super) ids: Vec<RequestId>,
    /// Number of distinct recorded requests sampled from.
    pub(super) recorded: usize,
    /// Cost of releasing the GVL, not part of the requests' stretches.
    pub(super) release: Nanos,
}

/// Samples the requests by route. The first requests of each thread are always recorded, so the
/// recorded ones alone would count rare routes wrongly: each route is given its share of the
/// sample.
pub(super) fn requests(
    joined: &Joined<'_>,
    breakdown: &Breakdown,
    lock: Option<&Lock>,
    short: &Short,
) -> Result<Sample, NoModel> {
    let mut by_route: HashMap<usize, OfRoute<'_>> = HashMap::new();
    for request in &joined.requests {
        if let Some(handled) = request.handled {
            let waits = lock.is_some_and(|lock| lock.is_waited_for(handled));
            by_route
                .entry(request.route)
                .or_default()
                .add(handled, waits, short);
        }
    }
    by_route.retain(|_, of| !of.recorded.is_empty());
    let recorded: usize = by_route.values().map(|of| of.recorded.len()).sum();
    if recorded < REQUESTS_MIN {
        return Err(NoModel::FewRequests(recorded));
    }
    let seen: u64 = by_route.values().map(|of| of.seen).sum();
    let mut routes: Vec<_> = by_route.into_iter().collect();
    routes.sort_by_key(|(route, _)| *route);
    let release = release(
        routes
            .iter()
            .flat_map(|(_, of)| of.recorded.iter().map(|recorded| recorded.bursts)),
    );
    let (mut requests, mut of_route) = (Vec::new(), Vec::new());
    let (mut computes, mut locking, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for (route, of) in routes {
        let on_core = on_core(breakdown, &joined.routes[route]);
        let recorded = &of.recorded;
        let wanted = (SIZE * of.seen as f64 / seen as f64).ceil() as usize;
        // Spread over the run, so that its course is in the sample and not its beginning.
        let step = (recorded.len() as f64 / wanted as f64).max(1.0);
        for k in 0..wanted {
            let one = &recorded[(k as f64 * step) as usize % recorded.len()];
            requests.push(one.alone(on_core, release));
            locking.push(one.waits);
            ids.push(one.id);
        }
        of_route.resize(requests.len(), route);
        computes.resize(requests.len(), of.computing(on_core));
    }
    Ok(Sample {
        requests,
        routes: of_route,
        computing: computes,
        locking,
        ids,
        recorded,
        release,
    })
}

/// Fewest requests of a route with CPU read for a figure of native code off the GVL.
const CPU_READ_MIN: usize = 5;
/// Mean unnamed time off the GVL, and share of CPU, below which a route computes nothing there.
/// Chosen by judgement.
const COMPUTING_MEAN_MIN: Nanos = Nanos(1_000_000);
const COMPUTING_SHARE_MIN: f64 = 0.2;

/// Recorded requests of a route, with totals.
#[derive(Default)]
struct OfRoute<'a> {
    seen: u64,
    recorded: Vec<Recorded<'a>>,
    /// Requests whose CPU was read, with nanoseconds of unnamed time off the GVL, CPU of the thread
    /// outside the handler's own code, and other time with the GVL.
    cpu_read: usize,
    off: f64,
    cpu: f64,
    held: f64,
}

/// A request with recorded stretches.
struct Recorded<'a> {
    id: RequestId,
    bursts: &'a [Burst],
    /// Whether the request waited for the lock.
    waits: bool,
    /// Share of the time in SQL without waiting for a core.
    sql: f64,
}

impl<'a> OfRoute<'a> {
    fn add(&mut self, handled: &'a Handled, waits: bool, short: &Short) {
        self.seen += 1;
        if !handled.bursts.is_empty() {
            self.recorded.push(Recorded {
                id: handled.id,
                bursts: &handled.bursts,
                waits,
                sql: short.share(handled),
            });
        }
        if let Some(sample) = handled.cpu {
            let parts = handled.parts;
            self.cpu_read += 1;
            self.off += parts.other_io.0 as f64;
            self.cpu += sample.total_cpu.0 as f64 - sample.running_cpu.0 as f64;
            self.held += (parts.gc + parts.sql_running + parts.http_running).0 as f64;
        }
    }

    /// Returns the share of CPU in the unnamed time off the GVL: the thread's own CPU, less the
    /// part with the GVL.
    fn computing(&self, on_core: f64) -> Computing {
        let share = (self.cpu - self.held * on_core) / self.off.max(1.0);
        if self.cpu_read < CPU_READ_MIN
            || self.off < self.cpu_read as f64 * COMPUTING_MEAN_MIN.0 as f64
            || share < COMPUTING_SHARE_MIN
        {
            return Computing::default();
        }
        Computing {
            share: share.min(1.0),
            on_core: on_core.clamp(f64::MIN_POSITIVE, 1.0),
        }
    }
}

/// Length above which a stretch off the GVL is a wait. Chosen by judgement: waking a thread takes 5
/// to 30 µs.
const RELEASE_MAX: Nanos = Nanos(50_000);
/// Fewest short stretches needed for a figure.
const RELEASES_MIN: usize = 100;

/// Returns the time of letting go of the GVL. A stretch off the GVL begins before the thread that
/// waits for it is woken, so calls that wait for nothing, such as those that fetch one row of a
/// result, show that alone: the median of the short ones.
fn release<'a>(requests: impl Iterator<Item = &'a [Burst]>) -> Nanos {
    let is_short = |burst: &&Burst| burst.kind == BurstKind::OtherIo && burst.length < RELEASE_MAX;
    let short = requests.flatten().filter(is_short);
    let mut lengths: Vec<u64> = short.map(|burst| burst.length.0).collect();
    lengths.sort_unstable();
    match lengths.len() {
        0..RELEASES_MIN => Nanos::ZERO,
        _ => Nanos(stats::quantile(&lengths, 0.5).unwrap_or_default()),
    }
}

/// Returns the share of the route's running time spent on a core; of all routes when the route's
/// own is unknown.
fn on_core(breakdown: &Breakdown, route: &str) -> f64 {
    let own = breakdown.routes.iter().find(|known| known.route == route);
    own.and_then(share)
        .unwrap_or_else(|| on_core_overall(breakdown))
}

/// Returns the share of all routes' running time spent on a core; 1 without a request whose CPU was
/// read.
pub(super) fn on_core_overall(breakdown: &Breakdown) -> f64 {
    share(&breakdown.overall).unwrap_or(1.0)
}

fn share(of: &RouteBalance) -> Option<f64> {
    let running = of.balance.cpu + of.balance.cpu_wait;
    (of.cpu_sampled > 0 && running > 0.0).then(|| of.balance.cpu / running)
}

impl Recorded<'_> {
    /// Returns the stretches of the request alone on the machine: running time on a core, waits
    /// without the waking of others and without waiting for a core.
    fn alone(&self, on_core: f64, release: Nanos) -> Vec<Burst> {
        let quick = quick(self.bursts);
        let length = |burst: &Burst| {
            let length = burst.length.0 as f64;
            match burst.kind {
                BurstKind::Running => length * on_core,
                kind => {
                    let most = quick.filter(|_| kind == BurstKind::OtherIo);
                    let share = if kind == BurstKind::Sql {
                        self.sql
                    } else {
                        1.0
                    };
                    // Hardly a wait, but the GVL was let go of.
                    (length.min(most.unwrap_or(length)) * share - release.0 as f64).max(1.0)
                }
            }
        };
        let alone = |burst: Burst| Burst {
            length: Nanos(length(&burst) as u64),
            ..burst
        };
        unfolded(self.bursts).into_iter().map(alone).collect()
    }
}

/// Unnamed stretches of one request off the GVL from which all are one repeated call, such as
/// fetching a row.
const SAME_CALL_MIN: usize = 20;

/// Returns the undisturbed length of one of many repeated calls, ns: the first quartile. On few
/// cores a thread that wakes another one often loses its core to it, and is back after a
/// millisecond or more.
fn quick(bursts: &[Burst]) -> Option<f64> {
    let same = bursts
        .iter()
        .filter(|burst| burst.kind == BurstKind::OtherIo);
    let mut lengths: Vec<u64> = same.map(|burst| burst.length.0).collect();
    lengths.sort_unstable();
    let quarter = stats::quantile(&lengths, 0.25)?;
    (lengths.len() >= SAME_CALL_MIN).then_some(quarter as f64)
}

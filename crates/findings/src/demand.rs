//! Demands of requests on the scarce resource.
//!
//! Where a resource is taken all the time, throughput is one over its demand a request, whatever
//! else is slow (the bottleneck law of operational analysis: Denning and Buzen 1978). So what a
//! remedy gives is its share of that demand: freeing a thread gives nothing while all threads wait
//! for the GVL, and a statement that holds the GVL costs more than one that takes as long without
//! it. Where nothing is scarce, it is its share of all time.

mod gain;

use std::collections::{BTreeMap, HashMap};
use std::iter::Sum;

use breakdown::Joined;
use recording::{BurstKind, Handled, Nanos, Parts, Recording, RequestId};
use whatif::Removal;
use words::text;

use crate::text::percent;
pub(crate) use gain::{Gain, most_sure};

/// Share of time with a worker's GVL held, or a worker's threads with a request, from which all
/// wait for the GVL or the threads: the rest is taken by the server between requests. Chosen by
/// judgement.
const SCARCE: f64 = 0.8;

/// Part of a demand below which a difference is one of rounding.
const PLACED_ERROR: f64 = 1e-9;

/// Time of threads in milliseconds, by route and by what a thread did; waiting for the GVL is no
/// demand, but follows from one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    routes: BTreeMap<usize, ByKind>,
    /// Part of the demand in calls no longer made: share, 0 to 1, of the route's stretches of one
    /// kind by number.
    calls: BTreeMap<usize, ByKind>,
    /// The parts of both whose requests are known, by route.
    placed: BTreeMap<usize, Own>,
    /// The parts in `placed`, by request.
    own: HashMap<RequestId, Own>,
}

/// A demand of one request, or of the known requests of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Own {
    time: ByKind,
    calls: ByKind,
}

/// Milliseconds, or shares, by [`BurstKind`].
type ByKind = [f64; BurstKind::ALL.len()];

/// The scarce resource all requests wait for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scarce {
    /// The GVL, held the given share of the time.
    Gvl(f64),
    /// The threads, busy with a request the given share of the time.
    Threads(f64),
    Nothing,
}

/// The demands of a run.
#[derive(Clone, Debug)]
pub(crate) struct Demands {
    scarce: Scarce,
    all: Demand,
    /// Demands by route, in the order of [`Joined::routes`].
    routes: Vec<OfRoute>,
    /// Demands of the requests recorded with stretches.
    requests: HashMap<RequestId, ByKind>,
}

#[derive(Clone, Copy, Debug, Default)]
struct OfRoute {
    requests: f64,
    handler: ByKind,
    sql: ByKind,
    service: ByKind,
}

impl Demand {
    /// Returns a demand of `ms` milliseconds of one kind on one route.
    pub(crate) fn on(route: usize, kind: BurstKind, ms: f64) -> Demand {
        let mut demand = Demand::default();
        demand.routes.entry(route).or_default()[kind as usize] = ms;
        demand
    }

    fn of(route: usize, by_kind: ByKind) -> Demand {
        Demand {
            routes: BTreeMap::from([(route, by_kind)]),
            ..Demand::default()
        }
    }

    pub(crate) fn sum(&self) -> f64 {
        self.routes.values().flatten().sum()
    }

    /// Returns the milliseconds on each route.
    pub(crate) fn by_route(&self) -> impl Iterator<Item = (usize, f64)> {
        let routes = self.routes.iter();
        routes.map(|(route, kinds)| (*route, kinds.iter().sum()))
    }

    /// Returns the milliseconds with the GVL.
    pub(crate) fn held_ms(&self) -> f64 {
        self.routes
            .values()
            .map(|kinds| kinds[BurstKind::Running as usize])
            .sum()
    }

    /// Returns the demand multiplied by a factor.
    pub(crate) fn times(mut self, factor: f64) -> Demand {
        let parts = self.routes.values_mut().chain(self.calls.values_mut());
        let own = self.placed.values_mut().chain(self.own.values_mut());
        let own = own.flat_map(|own| [&mut own.time, &mut own.calls]);
        parts.chain(own).flatten().for_each(|part| *part *= factor);
        self
    }

    /// Adds calls no longer made: a share, 0 to 1, of the route's stretches of one kind, by number.
    pub(crate) fn in_calls(mut self, route: usize, kind: BurstKind, share: f64) -> Demand {
        self.calls.entry(route).or_default()[kind as usize] += share;
        self
    }

    /// Both together.
    pub(crate) fn plus(mut self, other: Demand) -> Demand {
        for (route, kinds) in other.routes {
            add(self.routes.entry(route).or_default(), &kinds);
        }
        for (route, kinds) in other.calls {
            add(self.calls.entry(route).or_default(), &kinds);
        }
        for (route, placed) in other.placed {
            self.placed.entry(route).or_default().add(&placed);
        }
        for (request, own) in other.own {
            self.own.entry(request).or_default().add(&own);
        }
        self
    }

    /// Places the demand on a route in single requests, in proportion to the weights of all
    /// requests of the route; `of_all` is the number of requests behind each. A statement repeated
    /// by some requests only is taken from them.
    pub(crate) fn placed_in(
        mut self,
        route: usize,
        weights: &[(&Handled, f64)],
        of_all: f64,
    ) -> Demand {
        let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let Some(time) = self.routes.get(&route).copied().filter(|_| all > 0.0) else {
            return self;
        };
        let calls = self.calls.get(&route).copied().unwrap_or_default();
        self.placed.insert(route, Own { time, calls });
        let count = weights.len() as f64;
        let heavy = weights
            .iter()
            .filter(|(handled, weight)| *weight > 0.0 && !handled.bursts.is_empty());
        let own = heavy.map(|(handled, weight)| {
            let share = weight / all;
            let own = Own {
                time: time.map(|ms| ms * share / of_all),
                calls: calls.map(|of_calls| of_calls * share * count),
            };
            (handled.id, own)
        });
        self.own.extend(own);
        self
    }

    /// Returns the demand with at least `ms` of the GVL on a route.
    pub(crate) fn at_least_held(mut self, route: usize, ms: f64) -> Demand {
        let held = &mut self.routes.entry(route).or_default()[BurstKind::Running as usize];
        *held = held.max(ms);
        self
    }
}

impl Sum for Demand {
    fn sum<Demands: Iterator<Item = Demand>>(demands: Demands) -> Demand {
        demands.fold(Demand::default(), Demand::plus)
    }
}

impl Own {
    fn add(&mut self, more: &Own) {
        add(&mut self.time, &more.time);
        add(&mut self.calls, &more.calls);
    }
}

fn add(to: &mut ByKind, more: &ByKind) {
    for (ms, more) in to.iter_mut().zip(more) {
        *ms += more;
    }
}

impl Demands {
    pub(crate) fn of(recording: &Recording, joined: &Joined<'_>) -> Demands {
        let mut demands = Demands {
            scarce: Scarce::Nothing,
            all: Demand::default(),
            routes: vec![OfRoute::default(); joined.routes.len()],
            requests: HashMap::new(),
        };
        let mut gvl_wait_ms = 0.0;
        for request in &joined.requests {
            if let Some(handled) = request.handled {
                gvl_wait_ms += handled.parts.gvl_wait.as_millis_f64() * joined.weight;
                let all = |one: ByKind| one.map(|ms| ms * joined.weight);
                let route = &mut demands.routes[request.route];
                route.requests += joined.weight;
                if !handled.bursts.is_empty() {
                    demands.requests.insert(handled.id, handler(&handled.parts));
                }
                add(&mut route.handler, &all(handler(&handled.parts)));
                add(&mut route.sql, &all(sql(&handled.parts)));
                add(&mut route.service, &all(service(&handled.parts)));
            }
        }
        let routes = demands.routes.iter().enumerate();
        demands.all.routes = routes.map(|(at, route)| (at, route.handler)).collect();
        demands.scarce = scarce(recording, &demands.all, gvl_wait_ms);
        demands
    }

    /// Returns a demand of `ms` of a kind, spread over the routes as all time of the same kind is.
    pub(crate) fn everywhere(&self, kind: BurstKind, ms: f64) -> Demand {
        let of = |route: &OfRoute| route.handler[kind as usize];
        let all: f64 = self.routes.iter().map(of).sum();
        let routes = self.routes.iter().enumerate().filter(|_| all > 0.0);
        let parts = routes.map(|(at, route)| Demand::on(at, kind, ms * of(route) / all));
        parts.sum()
    }

    /// All time of a route with the GVL.
    pub(crate) fn held_ms(&self, route: usize) -> f64 {
        self.time_of(route, BurstKind::Running)
    }

    /// Returns all time of a route of one kind, milliseconds.
    pub(crate) fn time_of(&self, route: usize, kind: BurstKind) -> f64 {
        self.routes[route].handler[kind as usize]
    }

    /// Requests of a route, as observed in the app.
    pub(crate) fn requests(&self, route: usize) -> f64 {
        self.routes[route].requests
    }

    /// Returns the parts of the recorded stretches removed by `saved`: from the requests with the
    /// parts where known, else from all requests of the route alike.
    pub(crate) fn removal(&self, saved: &Demand) -> Removal {
        let mut removal = Removal::default();
        let placed = |route| saved.placed.get(route).copied().unwrap_or_default();
        for (route, kinds) in &saved.routes {
            let (all, placed) = (&self.routes[*route].handler, placed(route).time);
            for kind in BurstKind::ALL.map(|kind| kind as usize) {
                let gone = kinds[kind] - placed[kind];
                if all[kind] > 0.0 && gone > PLACED_ERROR * kinds[kind] {
                    removal.remove(*route, BurstKind::ALL[kind], gone / all[kind]);
                }
            }
        }
        for (route, kinds) in &saved.calls {
            let placed = placed(route).calls;
            for kind in BurstKind::ALL {
                let gone = kinds[kind as usize] - placed[kind as usize];
                if gone > PLACED_ERROR {
                    removal.remove_whole(*route, kind, gone);
                }
            }
        }
        for (request, own) in &saved.own {
            let Some(all) = self.requests.get(request) else {
                continue;
            };
            for kind in BurstKind::ALL {
                let (gone, of) = (own.time[kind as usize], all[kind as usize]);
                if of > 0.0 && gone > 0.0 {
                    let calls = own.calls[kind as usize];
                    removal.remove_from(*request, kind, gone / of, calls);
                }
            }
        }
        removal
    }

    /// Share of the time in which a worker's GVL is held, where the GVL is the scarce resource.
    pub(crate) fn gvl_is_scarce(&self) -> Option<f64> {
        match self.scarce {
            Scarce::Gvl(held) => Some(held),
            _ => None,
        }
    }

    /// Mean demand of one request of a route on a thread.
    pub(crate) fn of_request(&self, joined: &Joined<'_>, route: &str) -> Demand {
        joined.route_named(route).map_or(Demand::default(), |at| {
            let route = self.routes[at];
            Demand::of(at, route.handler).times(1.0 / route.requests.max(1.0))
        })
    }

    /// Returns the demand of `ms` of a route's SQL calls without waits for the GVL, split as all
    /// SQL calls of the route are.
    pub(crate) fn of_sql(&self, joined: &Joined<'_>, route: &str, ms: f64) -> Demand {
        joined.route_named(route).map_or(Demand::default(), |at| {
            calls((at, self.routes[at].sql), BurstKind::Sql, ms)
        })
    }

    /// Returns the demand of `ms` of a route's calls of other services, split as all such calls
    /// are.
    pub(crate) fn of_service(&self, route: usize, ms: f64) -> Demand {
        calls((route, self.routes[route].service), BurstKind::Http, ms)
    }

    /// Returns the gain without `saved`; `service_ms` is the sent → answered time of all requests.
    pub(crate) fn gain(&self, saved: &Demand, service_ms: f64) -> Gain {
        let share = |part: f64, whole: f64| {
            if whole > 0.0 {
                (part / whole).clamp(0.0, 1.0)
            } else {
                0.0
            }
        };
        match self.scarce {
            Scarce::Gvl(busy) => {
                let share = share(saved.held_ms(), self.all.held_ms());
                let text = text!(
                    "{share} of all time (the GVL is held {busy} of it)",
                    share = percent(share),
                    busy = percent(busy)
                );
                Gain::estimated(share, text)
            }
            Scarce::Threads(busy) => {
                let share = share(saved.sum(), self.all.sum());
                let text = text!(
                    "{share} of all time (the threads are busy {busy} of it)",
                    share = percent(share),
                    busy = percent(busy)
                );
                Gain::estimated(share, text)
            }
            Scarce::Nothing => {
                let share = share(saved.sum(), service_ms);
                let text = text!("{share} of all time", share = percent(share));
                Gain::estimated(share, text)
            }
        }
    }
}

/// So much time in calls, split as `all` of the route is; waiting where none is known.
fn calls((route, all): (usize, ByKind), waits: BurstKind, ms: f64) -> Demand {
    let all = Demand::of(route, all);
    match all.sum() {
        sum if sum > 0.0 => all.times(ms / sum),
        _ => Demand::on(route, waits, ms),
    }
}

/// Returns a request's time with the GVL in the handler, milliseconds.
pub(crate) fn held_ms(handled: &Handled) -> f64 {
    handler(&handled.parts)[BurstKind::Running as usize]
}

/// Returns the demand of a handler.
fn handler(parts: &Parts) -> ByKind {
    let mut kinds = [Nanos::ZERO; BurstKind::ALL.len()];
    kinds[BurstKind::Running as usize] =
        parts.gc + parts.sql_running + parts.http_running + parts.running;
    kinds[BurstKind::Sql as usize] = parts.sql_waiting;
    kinds[BurstKind::Http as usize] = parts.http_waiting;
    kinds[BurstKind::Lock as usize] = parts.lock;
    kinds[BurstKind::Sleep as usize] = parts.sleep;
    kinds[BurstKind::OtherIo as usize] = parts.other_io;
    kinds.map(Nanos::as_millis_f64)
}

fn sql(parts: &Parts) -> ByKind {
    let mut kinds = ByKind::default();
    kinds[BurstKind::Running as usize] = parts.sql_running.as_millis_f64();
    kinds[BurstKind::Sql as usize] = parts.sql_waiting.as_millis_f64();
    kinds
}

fn service(parts: &Parts) -> ByKind {
    let mut kinds = ByKind::default();
    kinds[BurstKind::Running as usize] = parts.http_running.as_millis_f64();
    kinds[BurstKind::Http as usize] = parts.http_waiting.as_millis_f64();
    kinds
}

fn scarce(recording: &Recording, all: &Demand, gvl_wait_ms: f64) -> Scarce {
    let target = &recording.meta.target;
    let worker_ms = recording.window.length().as_millis_f64() * f64::from(target.workers.max(1));
    if worker_ms <= 0.0 {
        return Scarce::Nothing;
    }
    let held = all.held_ms() / worker_ms;
    let busy = (all.sum() + gvl_wait_ms) / (worker_ms * f64::from(target.threads.max(1)));
    if held >= SCARCE {
        Scarce::Gvl(held.min(1.0))
    } else if target.threads > 0 && busy >= SCARCE {
        Scarce::Threads(busy.min(1.0))
    } else {
        Scarce::Nothing
    }
}

#[cfg(test)]
mod tests {
    use whatif::Ratio;

    use super::*;
    use crate::Confidence;

    fn demand(held_ms: f64, waits_ms: f64) -> Demand {
        Demand::on(0, BurstKind::Running, held_ms).plus(Demand::on(0, BurstKind::Sleep, waits_ms))
    }

    fn demands(scarce: Scarce) -> Demands {
        Demands {
            scarce,
            all: demand(100.0, 300.0),
            routes: Vec::new(),
            requests: HashMap::new(),
        }
    }

    /// Of two requests with 10 ms in SQL each, one spends 6 ms in a statement to be left out.
    #[test]
    fn a_statement_is_taken_from_the_requests_with_it() {
        let handled = |id| Handled {
            id: RequestId(id),
            parts: Parts {
                sql_waiting: Nanos(10_000_000),
                ..Parts::default()
            },
            bursts: vec![recording::Burst {
                kind: BurstKind::Sql,
                length: Nanos(10_000_000),
            }],
            ..Handled::default()
        };
        let (with, without) = (handled(1), handled(2));
        let mut demands = demands(Scarce::Nothing);
        let by_kind = handler(&with.parts);
        demands.requests = [with.id, without.id].map(|id| (id, by_kind)).into();
        demands.routes = vec![OfRoute {
            requests: 2.0,
            handler: by_kind.map(|ms| 2.0 * ms),
            ..OfRoute::default()
        }];
        let saved = Demand::on(0, BurstKind::Sql, 6.0).in_calls(0, BurstKind::Sql, 0.5);
        let placed = saved.placed_in(0, &[(&with, 3.0), (&without, 0.0)], 1.0);
        assert!((placed.sum() - 6.0).abs() < 1e-9);
        let mut expected = Removal::default();
        expected.remove_from(with.id, BurstKind::Sql, 0.6, 1.0);
        assert_eq!(demands.removal(&placed), expected);
        // Half of it, and as much from anywhere on the route.
        let anywhere = Demand::on(0, BurstKind::Sql, 5.0);
        let mut expected = Removal::default();
        expected.remove(0, BurstKind::Sql, 0.25);
        expected.remove_from(with.id, BurstKind::Sql, 0.3, 0.5);
        assert_eq!(demands.removal(&placed.times(0.5).plus(anywhere)), expected);
    }

    #[track_caller]
    fn check(scarce: Scarce, (held_ms, waits_ms): (f64, f64), expected: f64) {
        let gain = demands(scarce).gain(&demand(held_ms, waits_ms), 1_000.0);
        assert!((gain.share - expected).abs() < 1e-9, "{gain:?}");
    }

    #[test]
    fn only_the_scarce_resource_counts() {
        check(Scarce::Gvl(0.9), (10.0, 200.0), 0.1);
        check(Scarce::Gvl(0.9), (0.0, 200.0), 0.0);
        check(Scarce::Threads(0.9), (0.0, 200.0), 0.5);
        check(Scarce::Nothing, (0.0, 200.0), 0.2);
        check(Scarce::Nothing, (900.0, 200.0), 1.0);
    }

    #[test]
    fn the_text_says_what_is_scarce() {
        let saved = demand(62.0, 0.0);
        assert_eq!(
            demands(Scarce::Gvl(0.97)).gain(&saved, 1.0).text,
            "62% of all time (the GVL is held 97% of it)"
        );
        assert_eq!(
            demands(Scarce::Nothing).gain(&saved, 1_000.0).text,
            "6% of all time"
        );
    }

    #[test]
    fn replayed_gains_say_what_a_client_meets() {
        let ratio = |ratio, low, high| Ratio { ratio, low, high };
        let check = |throughput, p95, is_open, expected: &str| {
            let mean = p95;
            let gain = Gain::replayed(
                whatif::Gain {
                    throughput,
                    p95,
                    mean,
                },
                is_open,
            );
            assert_eq!(gain.text, expected);
        };
        let half = ratio(0.48, 0.45, 0.52);
        check(
            ratio(2.1, 1.9, 2.4),
            half,
            false,
            "2.1 times the requests/s (1.9 to 2.4), p95 −52%",
        );
        check(
            ratio(1.12, 1.09, 1.15),
            half,
            false,
            "12% more requests/s (9 to 15%), p95 −52%",
        );
        check(
            ratio(1.0, 0.99, 1.001),
            ratio(1.0, 1.0, 1.0),
            false,
            "no more requests/s, p95 as now",
        );
        check(ratio(1.0, 1.0, 1.0), half, true, "p95 −52% (−48% to −55%)");
        let same = ratio(1.0, 1.0, 1.0);
        check(same, same, true, "p95 as now");
    }

    #[test]
    fn nobody_is_sure_of_a_gain_that_may_be_none() {
        let ratio = |ratio, low, high| Ratio { ratio, low, high };
        let sure = |throughput, mean, p95, is_open| {
            let gain = whatif::Gain {
                throughput,
                p95,
                mean,
            };
            most_sure(&gain, is_open)
        };
        let same = ratio(1.0, 1.0, 1.0);
        assert_eq!(sure(same, same, same, false), Confidence::Low);
        // The rate is the load's own there.
        assert_eq!(sure(same, same, same, true), Confidence::Low);
        let better = ratio(0.9, 0.88, 0.93);
        assert_eq!(sure(same, better, better, true), Confidence::High);
        assert_eq!(sure(same, better, better, false), Confidence::Medium);
        let little = ratio(1.01, 1.0, 1.02);
        assert_eq!(sure(little, same, same, false), Confidence::Medium);
        let more = ratio(1.01, 1.006, 1.02);
        assert_eq!(sure(more, same, same, false), Confidence::High);
    }
}

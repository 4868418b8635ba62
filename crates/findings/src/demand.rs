//! What requests demand of the resource that everything waits for.
//!
//! Where a resource is taken all the time, throughput is one over its demand a request, whatever else is slow
//! (the bottleneck law of operational analysis: Denning and Buzen 1978). So what a remedy gives is its share of
//! that demand: freeing a thread gives nothing while all threads wait for the GVL, and a statement that holds the
//! GVL costs more than one that takes as long without it. Where nothing is scarce, it is its share of all time.

use breakdown::Joined;
use recording::{Parts, Recording};

use crate::text::percent;

/// Share of time a worker's GVL is held, or its threads have a request, from which it is what all wait for: the rest
/// is taken by the server between requests. Found by weighing.
const SCARCE: f64 = 0.8;

/// Time of a thread in milliseconds; waiting for the GVL is no demand, but follows from one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    /// With the GVL.
    pub(crate) held_ms: f64,
    /// Off the GVL, with a request.
    pub(crate) waits_ms: f64,
}

/// What a remedy should give.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gain {
    /// Share of all time, 0 to 1.
    pub(crate) share: f64,
    /// Such as `62% of all time, since the GVL is held 97% of it`.
    pub(crate) text: String,
}

/// What everything waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scarce {
    /// The GVL, held this share of the time.
    Gvl(f64),
    /// The threads, with a request this share of the time.
    Threads(f64),
    Nothing,
}

/// The demands of a run.
#[derive(Clone, Debug)]
pub(crate) struct Demands {
    scarce: Scarce,
    all: Demand,
    /// By route, in the order of [`Joined::routes`].
    routes: Vec<OfRoute>,
}

#[derive(Clone, Copy, Debug, Default)]
struct OfRoute {
    requests: f64,
    handler: Demand,
    sql: Demand,
}

impl Demand {
    pub(crate) fn sum(self) -> f64 {
        self.held_ms + self.waits_ms
    }

    /// This many times as much.
    pub(crate) fn times(self, factor: f64) -> Demand {
        Demand {
            held_ms: self.held_ms * factor,
            waits_ms: self.waits_ms * factor,
        }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Demand) -> Demand {
        Demand {
            held_ms: self.held_ms + other.held_ms,
            waits_ms: self.waits_ms + other.waits_ms,
        }
    }
}

impl Demands {
    pub(crate) fn of(recording: &Recording, joined: &Joined<'_>) -> Demands {
        let mut demands = Demands {
            scarce: Scarce::Nothing,
            all: Demand::default(),
            routes: vec![OfRoute::default(); joined.routes.len()],
        };
        let mut gvl_wait_ms = 0.0;
        for request in &joined.requests {
            if let Some(handled) = request.handled {
                gvl_wait_ms += handled.parts.gvl_wait.as_millis_f64() * joined.weight;
                let all = |one: Demand| one.times(joined.weight);
                let (handler, sql) = (all(handler(&handled.parts)), all(sql(&handled.parts)));
                let route = &mut demands.routes[request.route];
                route.requests += joined.weight;
                route.handler = route.handler.plus(handler);
                route.sql = route.sql.plus(sql);
                demands.all = demands.all.plus(handler);
            }
        }
        demands.scarce = scarce(recording, demands.all, gvl_wait_ms);
        demands
    }

    /// Share of the time in which a worker's GVL is held, where that is what all wait for.
    pub(crate) fn gvl_is_scarce(&self) -> Option<f64> {
        match self.scarce {
            Scarce::Gvl(held) => Some(held),
            _ => None,
        }
    }

    /// What one request of a route demands of its thread, in the mean.
    pub(crate) fn of_request(&self, joined: &Joined<'_>, route: &str) -> Demand {
        let found = joined.routes.iter().position(|name| name == route);
        found.map_or(Demand::default(), |route| {
            let route = self.routes[route];
            route.handler.times(1.0 / route.requests.max(1.0))
        })
    }

    /// What SQL calls of a route that took `ms` without their waits for the GVL demanded: split as all its calls are.
    pub(crate) fn of_sql(&self, joined: &Joined<'_>, route: &str, ms: f64) -> Demand {
        let found = joined.routes.iter().position(|name| name == route);
        let sql = found.map_or(Demand::default(), |route| self.routes[route].sql);
        if sql.sum() > 0.0 {
            sql.times(ms / sql.sum())
        } else {
            Demand {
                held_ms: 0.0,
                waits_ms: ms,
            }
        }
    }

    /// What it gives to do without `saved`; `service_ms` is the sent → answered time of all requests.
    pub(crate) fn gain(&self, saved: Demand, service_ms: f64) -> Gain {
        let share = |part: f64, whole: f64| {
            if whole > 0.0 {
                (part / whole).clamp(0.0, 1.0)
            } else {
                0.0
            }
        };
        match self.scarce {
            Scarce::Gvl(busy) => {
                let share = share(saved.held_ms, self.all.held_ms);
                let text = format!(
                    "{} of all time, since the GVL is held {} of it",
                    percent(share),
                    percent(busy)
                );
                Gain { share, text }
            }
            Scarce::Threads(busy) => {
                let share = share(saved.sum(), self.all.sum());
                let text = format!(
                    "{} of all time, since the threads are busy {} of it",
                    percent(share),
                    percent(busy)
                );
                Gain { share, text }
            }
            Scarce::Nothing => {
                let share = share(saved.sum(), service_ms);
                let text = format!("{} of all time", percent(share));
                Gain { share, text }
            }
        }
    }
}

/// What a handler demanded.
fn handler(parts: &Parts) -> Demand {
    let held = parts.gc + parts.sql_running + parts.http_running + parts.running;
    let waits = parts.sql_waiting + parts.http_waiting + parts.lock + parts.sleep + parts.other_io;
    Demand {
        held_ms: held.as_millis_f64(),
        waits_ms: waits.as_millis_f64(),
    }
}

fn sql(parts: &Parts) -> Demand {
    Demand {
        held_ms: parts.sql_running.as_millis_f64(),
        waits_ms: parts.sql_waiting.as_millis_f64(),
    }
}

fn scarce(recording: &Recording, all: Demand, gvl_wait_ms: f64) -> Scarce {
    let target = &recording.meta.target;
    let worker_ms = recording.window.length().as_millis_f64() * f64::from(target.workers.max(1));
    if worker_ms <= 0.0 {
        return Scarce::Nothing;
    }
    let held = all.held_ms / worker_ms;
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
    use super::*;

    fn demands(scarce: Scarce) -> Demands {
        Demands {
            scarce,
            all: Demand {
                held_ms: 100.0,
                waits_ms: 300.0,
            },
            routes: Vec::new(),
        }
    }

    #[track_caller]
    fn check(scarce: Scarce, (held_ms, waits_ms): (f64, f64), expected: f64) {
        let gain = demands(scarce).gain(Demand { held_ms, waits_ms }, 1_000.0);
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
        let saved = Demand {
            held_ms: 62.0,
            waits_ms: 0.0,
        };
        assert_eq!(
            demands(Scarce::Gvl(0.97)).gain(saved, 1.0).text,
            "62% of all time, since the GVL is held 97% of it"
        );
        assert_eq!(
            demands(Scarce::Nothing).gain(saved, 1_000.0).text,
            "6% of all time"
        );
    }
}

//! What several rules need of the facts, made once.

use breakdown::{Breakdown, Joined, RouteBalance, SqlSummary};
use recording::{Nanos, Recording};

use crate::Facts;
use crate::demand::{Demand, Demands, Gain};

/// The facts, and requests joined with their routes.
pub(crate) struct Context<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) breakdown: &'a Breakdown,
    pub(crate) joined: Joined<'a>,
    /// Sent → answered time of all answered requests.
    pub(crate) service: Nanos,
    demands: Demands,
}

impl<'a> Context<'a> {
    pub(crate) fn new(facts: Facts<'a>) -> Self {
        let joined = breakdown::join(facts.recording);
        Context {
            recording: facts.recording,
            breakdown: facts.breakdown,
            demands: Demands::of(facts.recording, &joined),
            joined,
            service: facts.breakdown.overall.service.iter().copied().sum(),
        }
    }

    /// `saved_ms` as a share of all sent → answered time.
    pub(crate) fn share(&self, saved_ms: f64) -> f64 {
        if self.service == Nanos::ZERO {
            return 0.0;
        }
        (saved_ms / self.service.as_millis_f64()).clamp(0.0, 1.0)
    }

    /// What it gives to do without `saved`.
    pub(crate) fn gain(&self, saved: Demand) -> Gain {
        self.demands.gain(saved, self.service.as_millis_f64())
    }

    /// Share of the time in which a worker's GVL is held, where that is what all wait for.
    pub(crate) fn gvl_is_scarce(&self) -> Option<f64> {
        self.demands.gvl_is_scarce()
    }

    /// What one request of a route demands in the mean.
    pub(crate) fn request_demand(&self, route: &str) -> Demand {
        self.demands.of_request(&self.joined, route)
    }

    /// What `ms` in SQL calls of a route demand; waiting for the GVL is left out of `ms`.
    pub(crate) fn sql_demand(&self, route: &str, ms: f64) -> Demand {
        self.demands.of_sql(&self.joined, route, ms)
    }

    /// What a share of a statement's executions demands, on all its routes.
    pub(crate) fn statement_demand(&self, sql: &SqlSummary, share: f64) -> Demand {
        let ms = (sql.time_ms - sql.gvl_wait_ms).max(0.0) * share;
        let issued = |(name, each): &(String, f64)| {
            let requests = self.route(name).map_or(0, |route| route.requests);
            (name.clone(), each * requests as f64)
        };
        let routes: Vec<(String, f64)> = sql.routes.iter().map(issued).collect();
        let all: f64 = routes.iter().map(|(_, count)| count).sum();
        let parts = routes
            .iter()
            .filter(|_| all > 0.0)
            .map(|(route, count)| self.sql_demand(route, ms * count / all));
        parts.fold(Demand::default(), Demand::plus)
    }

    /// The balance of a route.
    pub(crate) fn route(&self, name: &str) -> Option<&'a RouteBalance> {
        self.breakdown
            .routes
            .iter()
            .find(|route| route.route == name)
    }

    /// The text of that name, empty when it was lost.
    pub(crate) fn text(&self, id: recording::TextId) -> &'a str {
        self.recording.texts.get(id).unwrap_or("")
    }
}

//! Costs of statements and other calls, in the driver and below the issuing lines; and the paying
//! requests.

use std::collections::HashMap;

use breakdown::SqlSummary;
use recording::{BurstKind, Handled, Nanos, TextId};

use crate::context::Context;
use crate::demand::Demand;

/// Time in calls without waits for the GVL, by route and by line as recorded.
pub(crate) type LineTimes = HashMap<(usize, TextId), Nanos>;

pub(crate) fn line_times(context: &Context<'_>) -> LineTimes {
    let mut times = LineTimes::new();
    for request in &context.joined.requests {
        for used in request.handled.iter().flat_map(|handled| &handled.sql) {
            let time = times.entry((request.route, used.site)).or_default();
            *time += used.time - used.gvl_wait;
        }
    }
    times
}

impl Context<'_> {
    /// Returns the cost on a route of `own_ms` in calls of one line: the `driver`'s, and by
    /// samples, if there are any, all below the line but making objects of rows, needed in any
    /// case. Calls of one line share the line's cost by their time.
    pub(crate) fn line_cost(
        &self,
        (route, site): (usize, TextId),
        own_ms: f64,
        driver: Demand,
    ) -> Demand {
        match (self.shares_below(route, site), self.line_ms(route, site)) {
            (Some(shares), of_line) if of_line > 0.0 => {
                let (held, _) = self.held_of(route);
                let share = (own_ms / of_line).min(1.0);
                driver.at_least_held(route, shares.issuing * held * share)
            }
            _ => driver,
        }
    }

    /// Returns the demand of a share of a statement's executions, on all routes of the statement,
    /// from each request by the request's time in the statement.
    pub(crate) fn statement_demand(&self, sql: &SqlSummary, share: f64) -> Demand {
        let demand = self.by_route(sql, |name, ms| self.sql_demand(name, ms * share));
        self.placed_by(demand, time_in(sql))
    }

    /// Returns the demand of the other end of outgoing calls, on all routes with such calls, from
    /// each request by the request's time in calls.
    pub(crate) fn call_demand(&self, call: &SqlSummary) -> Demand {
        let demand = self.by_route(call, |name, ms| {
            let route = self.joined.route_named(name);
            route.map_or(Demand::default(), |route| {
                Demand::on(route, BurstKind::Http, ms)
            })
        });
        self.placed_by(demand, time_in(call))
    }

    /// Returns the demand of the time in calls without waits for the GVL, on each route in
    /// proportion to the number of calls.
    fn by_route(&self, calls: &SqlSummary, demand: impl Fn(&str, f64) -> Demand) -> Demand {
        let ms = (calls.time_ms - calls.gvl_wait_ms).max(0.0);
        let made = |(name, each): &(String, f64)| {
            each * self.route(name).map_or(0.0, |route| route.requests as f64)
        };
        let all: f64 = calls.routes.iter().map(made).sum();
        let routes = calls.routes.iter().filter(|_| all > 0.0);
        let parts = routes.map(|route| demand(&route.0, ms * made(route) / all));
        parts.sum()
    }

    /// Places a demand on a route in the route's requests, by a weight of each.
    pub(crate) fn placed(
        &self,
        demand: Demand,
        route: usize,
        weight: impl Fn(&Handled) -> f64,
    ) -> Demand {
        let requests = self.joined.requests.iter();
        let of_route = requests.filter(|request| request.route == route);
        let handled = of_route.filter_map(|request| request.handled);
        let weights: Vec<(&Handled, f64)> =
            handled.map(|handled| (handled, weight(handled))).collect();
        demand.placed_in(route, &weights, self.joined.weight)
    }

    /// Places a demand in the requests of all routes with a part, by a weight of each request: on a
    /// route without any weight, in all requests alike.
    pub(crate) fn placed_by(&self, demand: Demand, weight: impl Fn(&Handled) -> f64) -> Demand {
        let routes: Vec<usize> = demand.by_route().map(|(route, _)| route).collect();
        let placed = |demand, route| self.placed(demand, route, &weight);
        routes.into_iter().fold(demand, placed)
    }
}

/// Returns a request's time in calls of one kind without waits for the GVL, milliseconds.
fn time_in(calls: &SqlSummary) -> impl Fn(&Handled) -> f64 + use<> {
    let id = calls.id;
    move |handled| {
        let uses = handled.sql.iter().filter(|used| used.digest == id);
        uses.map(|used| (used.time - used.gvl_wait).as_millis_f64())
            .sum()
    }
}

//! Which costs are worth a finding: a considerable part of the run, or most of one route.
//!
//! A route that few users take, or that is cheap beside others, never reaches a share of the whole
//! run. What takes most of its time is still the first thing to know about it, so it is a hint: the
//! gain for the run is stated as it is.

use recording::BurstKind;
use words::{Text, text};

use crate::context::Context;
use crate::demand::Demand;
use crate::text::ms;
use crate::types::Confidence;

/// Share of a route's own time from which a cost dominates the route: more than all the rest.
const DOMINATES: f64 = 0.5;
/// Milliseconds per request below which nobody notices a dominating cost: a statement on a near
/// database takes less.
const EACH_MS_MIN: f64 = 2.0;
/// Requests of a route from which a mean says something.
const REQUESTS_MIN: f64 = 20.0;

/// The reason why a cost is worth a finding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Worth {
    /// A considerable part of the run.
    Run,
    /// Most of one route, and little of the run.
    Route(Dominated),
}

/// A route most of whose time goes into one cost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dominated {
    name: String,
    /// Milliseconds of the cost per request, and of all the route's own time.
    each_ms: f64,
    own_ms: f64,
}

impl Worth {
    /// Returns the confidence of a finding: of a cost of one route, a hint.
    pub(crate) fn confidence(&self, of_run: Confidence) -> Confidence {
        match self {
            Worth::Run => of_run,
            Worth::Route(_) => Confidence::Low,
        }
    }

    /// Returns the evidence of a dominated route.
    pub(crate) fn evidence(&self) -> Option<Text> {
        let Worth::Route(of) = self else {
            return None;
        };
        Some(text!(
            "{each} of {own} per request on {route}, waits for a thread and the GVL left out: little of this run, most \
             of that route",
            each = ms(of.each_ms),
            own = ms(of.own_ms),
            route = of.name
        ))
    }
}

impl Context<'_> {
    /// Returns why a cost is worth a finding: considerable in the run by the rule's own limit, or
    /// most of a route's time; `None` where neither holds.
    pub(crate) fn worth(&self, saved: &Demand, is_considerable: bool) -> Option<Worth> {
        match is_considerable {
            true => Some(Worth::Run),
            false => self.dominated(saved).map(Worth::Route),
        }
    }

    /// Returns the route dominated by a cost, the one with most of the cost if there are several.
    fn dominated(&self, saved: &Demand) -> Option<Dominated> {
        let dominated = saved.by_route().filter(|(route, cost_ms)| {
            let (_, requests) = self.held_of(*route);
            let is_much = *cost_ms >= DOMINATES * self.own_ms(*route);
            is_much && requests >= REQUESTS_MIN && *cost_ms >= EACH_MS_MIN * requests
        });
        let (route, cost_ms) = dominated.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (_, requests) = self.held_of(route);
        Some(Dominated {
            name: self.joined.routes[route].clone(),
            each_ms: cost_ms / requests,
            own_ms: self.own_ms(route) / requests,
        })
    }

    /// All handlers' time of a route in milliseconds, without waits for the GVL: these follow from
    /// what other requests do.
    fn own_ms(&self, route: usize) -> f64 {
        BurstKind::ALL
            .map(|kind| self.time_of(route, kind))
            .iter()
            .sum()
    }
}

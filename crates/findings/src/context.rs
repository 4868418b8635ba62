//! What several rules need of the facts, made once.

use breakdown::{Breakdown, Joined, RouteBalance};
use recording::{Nanos, Recording};

use crate::Facts;

/// The facts, and requests joined with their routes.
pub(crate) struct Context<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) breakdown: &'a Breakdown,
    pub(crate) joined: Joined<'a>,
    /// Sent → answered time of all answered requests.
    pub(crate) service: Nanos,
}

impl<'a> Context<'a> {
    pub(crate) fn new(facts: Facts<'a>) -> Self {
        Context {
            recording: facts.recording,
            breakdown: facts.breakdown,
            joined: breakdown::join(facts.recording),
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

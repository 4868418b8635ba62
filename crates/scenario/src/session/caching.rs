//! What a user with `cache = true` does not ask for, or asks for on condition.

use std::sync::Arc;

use super::{Position, Session, User};
use crate::answer::Answer;
use crate::cache::Stored;
use crate::follow::Hop;
use crate::judge::{Verdict, judge};
use crate::render::{has_header, render};
use crate::step::{Action, Step};

impl Session<'_> {
    /// Whether the answer to the user's current entry may be kept.
    pub(super) fn is_cached(&self, user: &mut User, step: &Step) -> bool {
        // A flow that states conditions itself means the answer to them.
        let conditional = ["if-none-match", "if-modified-since"];
        let own = || conditional.iter().any(|name| has_header(step, name));
        let asks = step.action == Action::Request && step.entry.method == "GET";
        self.flow(user).cache && asks && !own()
    }

    /// Notes path and query of the user's next request; returns whether the response may be stored.
    pub(super) fn note_target(
        &self,
        user: &mut User,
        step: &Step,
        hop: Option<&Hop>,
        target: &str,
    ) -> bool {
        let method = hop.map_or(step.entry.method.as_str(), |hop| hop.method.as_str());
        let may_store = hop.is_none() && self.is_cached(user, step);
        let is_safe = matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE");
        user.is_changing = !is_safe && self.flow(user).cache;
        user.target.clear();
        if may_store || user.is_changing {
            user.target.push_str(target);
        }
        may_store
    }

    /// Stores the response to the user's last request, if cacheable; for "not modified" returns the
    /// stored response. One to a request that changes the target removes what is stored of it.
    pub(super) fn take_into_cache(
        &self,
        user: &mut User,
        answer: &Answer<'_>,
    ) -> Option<Arc<Stored>> {
        if user.target.is_empty() {
            return None;
        }
        if user.is_changing {
            // RFC 9111, section 4.4.
            if matches!(answer.status, 200..=399) {
                user.cache.forget(&user.target);
            }
            return None;
        }
        let now_ns = self.now_ns();
        user.cache.take(&user.target, answer, now_ns)
    }

    /// Returns whether the entry at `position` is served from the user's cache, without a request.
    /// The captures are taken then. The first request of an iteration is always made, as of a
    /// reloaded page, so every iteration has one.
    pub(super) fn is_fresh(&self, user: &mut User, position: Position) -> bool {
        let flow = &self.scenario.flows[position.flow];
        let step = &flow.steps[position.entry];
        let asks = step.action == Action::Request && step.entry.method == "GET";
        if !flow.cache || !position.has_sent || !asks {
            return false;
        }
        let rendered;
        let fixed = match &step.fixed {
            Some(fixed) => fixed,
            None => match render(step, &self.scenario.base, None, &mut user.variables) {
                Ok(made) => {
                    rendered = made;
                    &rendered
                }
                // The request says what is wrong with it when its turn comes.
                Err(_) => return false,
            },
        };
        let Some(kept) = user.cache.fresh(fixed.target(), self.now_ns()) else {
            return false;
        };
        user.trail.clear();
        if step.watches_url {
            user.trail.url = self.scenario.base.origin() + fixed.target();
        }
        let mut no_points = Vec::new();
        let (trail, variables) = (&user.trail, &mut user.variables);
        judge(step, &kept.answer(0), trail, variables, &mut no_points) == Verdict::Passed
    }

    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
}

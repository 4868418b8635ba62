//! The agent recorded nothing of the app, or only a part.

use crate::rule_id::RuleId;
use words::{Text, text};

use crate::context::Context;
use crate::doubt::Doubt;
use crate::text::percent;
use crate::types::{Confidence, Finding};

/// Share of dropped records up to which means are not doubted: drops come in bursts, at the busiest
/// moments.
const DROPPED_MAX: f64 = 0.01;
/// Share of a route's requests missing in the agent's records up to which nothing is said, with
/// other requests of the route recorded.
const UNSEEN_MAX: f64 = 0.05;
/// Requests below which a share means nothing.
const REQUESTS_MIN: u64 = 100;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let overall = &context.breakdown.overall;
    if overall.answered == 0 {
        return Vec::new();
    }
    let agents = &context.recording.agents;
    let dropped: u64 = agents.iter().map(|agent| agent.dropped).sum();
    let Some((rule, what, remedy)) = trouble(context, dropped) else {
        return Vec::new();
    };
    let ruby = agents
        .first()
        .map_or_else(|| text!("no agent"), |agent| agent.ruby.as_str().into());
    let seen = overall.answered - overall.unseen;
    let doubt = Doubt {
        rule,
        what,
        why: text!("the breakdown covers only the requests that were seen inside the app"),
        evidence: vec![
            text!(
                "{answered} answered, {seen} of them seen inside",
                answered = overall.answered,
                seen
            ),
            text!("{dropped} records lost; {ruby}", dropped, ruby),
        ],
        remedy,
        confidence: Confidence::High,
    };
    vec![doubt.into()]
}

/// Returns the rule, the missing part, and the remedy.
fn trouble(context: &Context<'_>, dropped: u64) -> Option<(RuleId, Text, Text)> {
    let agents = &context.recording.agents;
    let overall = &context.breakdown.overall;
    let recorded: u64 = agents.iter().map(|agent| agent.requests).sum();
    let lost = dropped as f64 / (recorded + dropped).max(1) as f64;
    let partly = context
        .breakdown
        .routes
        .iter()
        .filter(|r| r.unseen < r.answered);
    let (unseen, answered) = partly.fold((0, 0), |sum, r| (sum.0 + r.unseen, sum.1 + r.answered));
    let missing = unseen as f64 / answered.max(1) as f64;
    let is_blind = overall.unseen == overall.answered;
    if is_blind && lost <= DROPPED_MAX {
        Some((
            RuleId::AgentMissing,
            text!("the app was not seen inside: no balance, no SQL, no thread advice"),
            match agents.is_empty() {
                true => {
                    text!(
                        "let hakaru start the app (hakaru run -- COMMAND), on Ruby 3.1 or later with Puma"
                    )
                }
                false => text!("follow what HOW SURE says about the agent"),
            },
        ))
    } else if lost > DROPPED_MAX {
        Some((
            RuleId::AgentDropped,
            text!(
                "{share} of the app's records were lost ({dropped})",
                share = percent(lost),
                dropped
            ),
            text!(
                "set HAKARU_RING_KIB = \"4096\" under [target.env] for larger rings, or lower the load"
            ),
        ))
    } else if missing > UNSEEN_MAX && answered >= REQUESTS_MIN {
        Some((
            RuleId::AgentMissing,
            text!(
                "{share} of the requests were not seen inside the app ({unseen})",
                share = percent(missing),
                unseen
            ),
            text!("check whether a worker was killed, or whether a proxy answers some of them"),
        ))
    } else if !agents.is_empty() && agents.iter().all(|agent| !agent.gvl) {
        Some((
            RuleId::AgentNoGvl,
            text!("this Ruby does not report who waits for the GVL"),
            text!("use Ruby 3.2 or later to see GVL waits and to get advice on threads"),
        ))
    } else {
        None
    }
}

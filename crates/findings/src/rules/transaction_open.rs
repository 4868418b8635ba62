//! A transaction, or a connection of a pool, held by a request while waiting for something else.

use crate::rule_id::RuleId;
use std::collections::BTreeSet;

use recording::{ActKind, BurstKind};

use words::{Text, text};

use crate::context::Context;
use crate::costs::{HeldWait, Holds};
use crate::demand::Demand;
use crate::rules::row_lock::RowWait;
use crate::text::{fit, ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Mean wait of a request inside, from which others notice: a statement on a near database takes
/// less.
const EACH_MS_MIN: f64 = 2.0;
/// Share of the handlers' time waited inside from which a change is worthwhile.
const SHARE_MIN: f64 = 0.05;
/// Share of the route's own time waited inside from which a change is worthwhile although the route
/// is rare beside others, as of a sleep. Chosen by judgement.
const SHARE_OF_ROUTE_MIN: f64 = 0.25;
/// Share of the time gained below which nobody waits for the transaction or connection: a hint.
const GAIN_MIN: f64 = 0.02;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let waits = context.held_waits().iter();
    let mut long: Vec<Wait<'_>> = waits.filter_map(|wait| Wait::of(context, wait)).collect();
    long.sort_by(|a, b| b.all_ms.total_cmp(&a.all_ms));
    let mut lines = BTreeSet::new();
    // One line is one change, whatever it waits for besides.
    long.retain(|wait| lines.insert(wait.wait.held.line.clone()));
    long.iter().map(|wait| finding(context, wait)).collect()
}

/// The routes on which a transaction stays open while a request waits for something else.
pub(crate) fn routes(context: &Context<'_>) -> BTreeSet<String> {
    let waits = context.held_waits().iter();
    let open = waits.filter(|wait| wait.held.holds == Holds::Transaction);
    let long = open.filter_map(|wait| Wait::of(context, wait));
    long.map(|wait| context.joined.routes[wait.wait.held.route].clone())
        .collect()
}

struct Wait<'a> {
    wait: &'a HeldWait,
    /// Milliseconds in one request, and over all of the route's.
    each_ms: f64,
    all_ms: f64,
}

impl<'a> Wait<'a> {
    /// Returns the wait; `None` for a short one.
    fn of(context: &Context<'_>, wait: &'a HeldWait) -> Option<Wait<'a>> {
        let route = wait.held.route;
        let all_ms = wait.share * context.time_of(route, wait.kind);
        let (_, requests) = context.held_of(route);
        let each_ms = all_ms / requests.max(1.0);
        let is_large = context.share_inside(all_ms) >= SHARE_MIN
            || context.share_of_handlers(route, all_ms) >= SHARE_OF_ROUTE_MIN;
        (each_ms >= EACH_MS_MIN && is_large).then_some(Wait {
            wait,
            each_ms,
            all_ms,
        })
    }

    fn does(&self) -> Text {
        match self.wait.kind {
            BurstKind::Http => text!("an outgoing call"),
            BurstKind::Sleep => text!("a sleep"),
            _ => text!("another wait"),
        }
    }
}

/// Requests waiting for the transaction or connection.
struct Victims {
    demand: Demand,
    evidence: Vec<Text>,
}

fn victims(context: &Context<'_>, holds: Holds) -> Victims {
    let mut victims = Victims {
        demand: Demand::default(),
        evidence: Vec::new(),
    };
    if holds == Holds::Transaction {
        for sql in &context.breakdown.sql {
            if let Some(wait) = RowWait::of(context, sql) {
                victims.evidence.push(text!(
                    "on average {each} is spent waiting for locked rows: {statement}",
                    each = ms(wait.each_ms()),
                    statement = fit(&sql.digest, 120)
                ));
                victims.demand = victims.demand.plus(wait.demand);
            }
        }
    }
    let pool = context
        .acts
        .iter()
        .filter(|act| act.kind == ActKind::Lock && act.what == "connection pool");
    for act in pool {
        victims.evidence.push(text!(
            "{each} is waited for a connection of the pool, in the requests that wait",
            each = ms(act.each_ms())
        ));
        victims.demand = victims
            .demand
            .plus(context.act_demand(act, BurstKind::Lock));
    }
    victims
}

fn finding(context: &Context<'_>, wait: &Wait<'_>) -> Finding {
    let held = &wait.wait.held;
    let route = &context.joined.routes[held.route];
    let each = ms(wait.each_ms);
    let Victims { demand, evidence } = victims(context, held.holds);
    let gain = context.gain(&demand);
    let words = Words::of(held.holds);
    let mut all = vec![text!(
        "{each} per request of {route} is {wait} at {waits_at}, below {what} of {line} ({share} of such waits, by samples of \
         the run)",
        each,
        route,
        wait = wait.does(),
        waits_at = held.waits_at,
        what = words.what,
        line = held.line,
        share = percent(wait.wait.share)
    )];
    all.extend(evidence);
    Finding {
        rule: words.rule,
        title: title(text!(
            "{what} stays open during {wait} of {each} at {line}",
            what = words.what,
            wait = wait.does(),
            each,
            line = held.line
        )),
        route: route.clone(),
        why: words.why,
        evidence: all,
        remedy: Remedy {
            text: words.remedy,
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!("{gain}, if nobody waits for it", gain = gain.text),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: if gain.share >= GAIN_MIN {
            Confidence::High
        } else {
            Confidence::Low
        },
    }
}

struct Words {
    rule: RuleId,
    what: Text,
    why: Text,
    remedy: Text,
}

impl Words {
    fn of(holds: Holds) -> Words {
        match holds {
            Holds::Transaction => Words {
                rule: RuleId::TransactionOpen,
                what: text!("a transaction"),
                why: text!(
                    "until the transaction ends, the rows that it has locked stay locked and its connection stays taken, so \
                     others wait as long as this wait takes"
                ),
                remedy: text!(
                    "do what is slow before the transaction begins or after it has ended (`after_commit`), and lock rows last"
                ),
            },
            Holds::Connection => Words {
                rule: RuleId::ConnectionHeld,
                what: text!("a pooled connection"),
                why: text!(
                    "while it is held, other threads have one connection less, however idle the database is"
                ),
                remedy: text!(
                    "take the connection only for the statements, and give it back before anything slow"
                ),
            },
        }
    }
}

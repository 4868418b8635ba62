//! One statement again and again in one request, from one source line.

mod remedy;
mod store;

use crate::rule_id::RuleId;
use std::collections::{BTreeMap, HashMap};

use figures::numbers;
use recording::{BurstKind, Handled, Nanos, RequestId, SqlUse, TextId};
use words::{Text, text};

use crate::context::Context;
use crate::demand::Demand;
use crate::query;
use crate::rules::slow_http;
use crate::text::{called_from, file_of, fit, ms, place, times, title};
use crate::types::{Confidence, Finding};
use remedy::{loading, remedy};
use store::Store;

/// Executions per request from which repetition is a finding: the usual rule for production (bullet
/// and prosopite flag 2, in development, where a false alarm costs less).
const REPEATS_MIN: f64 = 5.0;
/// Executions per request from which nobody loops on purpose. Chosen by judgement.
const REPEATS_SURE: f64 = 10.0;
/// Requests needed with the repetition: fewer may be a retry or a cache filling up.
const REQUESTS_MIN: u64 = 3;
/// Relative difference in repetitions up to which two statements are repeated equally often: a
/// request failing in the middle of a loop has one less.
const EQUALLY_OFTEN: f64 = 0.02;
/// Statements of one loop shown in evidence.
const SHOWN: usize = 4;

#[derive(Default)]
struct Repeat {
    /// The request counted last: different helpers may lead from one line to one statement.
    last: Option<RequestId>,
    requests: u64,
    count: u64,
    time: Nanos,
    gvl_wait: Nanos,
    rows: u64,
    /// One of the lines issuing the statement.
    site: TextId,
}

/// A statement repeated on one route.
struct Repeated<'a> {
    route: &'a str,
    digest: &'a str,
    site: Option<&'a str>,
    repeat: Repeat,
    saved: Demand,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut places: BTreeMap<(&str, bool), Vec<Repeated<'_>>> = BTreeMap::new();
    for repeated in repeated(context) {
        let place = repeated.site.map_or(repeated.digest, looping);
        let place = (place, repeated.store().is_some());
        places.entry(place).or_default().push(repeated);
    }
    let mut loops: Vec<Vec<Repeated<'_>>> = Vec::new();
    for found in places.into_values() {
        let same = loops.iter_mut().find(|other| are_one_loop(other, &found));
        match same {
            Some(same) => same.extend(found),
            None => loops.push(found),
        }
    }
    let found = loops.into_iter().filter_map(|mut found| {
        found.sort_by(|a, b| {
            let named = a.goes_along().cmp(&b.goes_along());
            let by_cost = b.saved.sum().total_cmp(&a.saved.sum());
            named
                .then(by_cost)
                .then_with(|| (a.route, a.digest).cmp(&(b.route, b.digest)))
        });
        finding(context, &found)
    });
    found.collect()
}

/// Whether statements are repeated by one loop: on one route, equally often below a common line, or
/// by one call of a method. A loop over orders that asks for each one's customer in a template and
/// for its total in a model is one. Calls of a store have another remedy than statements.
fn are_one_loop(a: &[Repeated<'_>], b: &[Repeated<'_>]) -> bool {
    let alike = |a: &Repeated<'_>, b: &Repeated<'_>| {
        let times = a.repeat.per_request() / b.repeat.per_request();
        let equally = (times - 1.0).abs() <= EQUALLY_OFTEN && share_a_line(a.site, b.site);
        a.route == b.route
            && a.store().is_some() == b.store().is_some()
            && (equally || are_of_one_call(a.site, b.site))
    };
    a.iter().any(|a| b.iter().any(|b| alike(a, b)))
}

/// Whether two lines stand in one method, called from one place: a query cache answers one of them
/// from memory, or a condition leaves it out, so the counts differ. Two loops of one method have
/// lines of their own between their blocks and the method's caller.
fn are_of_one_call(a: Option<&str>, b: Option<&str>) -> bool {
    call(a).is_some_and(|a| Some(a) == call(b))
}

/// Returns file and name of the innermost method, and the frames of its callers.
fn call(site: Option<&str>) -> Option<(&str, &str, Vec<&str>)> {
    let mut frames = breakdown::frames(site?);
    let (line, method) = frames.next()?.split_once(" in ")?;
    let callers: Vec<&str> = frames.collect();
    (!callers.is_empty()).then_some((file_of(line)?, method, callers))
}

fn share_a_line(a: Option<&str>, b: Option<&str>) -> bool {
    let mut lines = breakdown::lines_of(a.unwrap_or(""));
    lines.any(|line| {
        !line.is_empty() && breakdown::lines_of(b.unwrap_or("")).any(|of_b| of_b == line)
    })
}

/// Returns the line of the loop around a line: the caller in the same file, as with a block. What
/// several statements of one loop and its routes cost is saved by one change.
fn looping(site: &str) -> &str {
    let line = breakdown::line_of(site);
    let caller = breakdown::lines_of(site).nth(1);
    caller
        .filter(|caller| file_of(caller) == file_of(line))
        .unwrap_or(line)
}

fn repeated<'a>(context: &'a Context<'_>) -> Vec<Repeated<'a>> {
    let mut repeats: HashMap<(usize, TextId, Option<&str>), Repeat> = HashMap::new();
    let mut calls: HashMap<(usize, BurstKind), u64> = HashMap::new();
    for request in &context.joined.requests {
        for used in request.handled.iter().flat_map(|handled| &handled.sql) {
            let kind = waits_as(context.text(used.digest));
            *calls.entry((request.route, kind)).or_default() += u64::from(used.count);
            let key = (request.route, used.digest, context.joined.site(used.site));
            repeats
                .entry(key)
                .or_default()
                .add(request.exchange.id, used);
        }
    }
    let often =
        |repeat: &Repeat| repeat.requests >= REQUESTS_MIN && repeat.per_request() >= REPEATS_MIN;
    let often = repeats.into_iter().filter(|(_, repeat)| often(repeat));
    often
        .map(|((route, digest, site), repeat)| {
            let text = context.text(digest);
            let kind = waits_as(text);
            let all = calls.get(&(route, kind)).copied().unwrap_or_default();
            let cost = repeat.cost(context, route, text).in_calls(
                route,
                kind,
                repeat.count as f64 / all.max(1) as f64,
            );
            let saved = cost.times(1.0 - 1.0 / repeat.per_request());
            // One execution a request is left.
            let more = |handled: &Handled| {
                let same = handled
                    .sql
                    .iter()
                    .filter(|used| used.digest == digest && context.joined.site(used.site) == site);
                same.map(|used| f64::from(used.count.saturating_sub(1)))
                    .sum()
            };
            Repeated {
                route: &context.joined.routes[route],
                digest: text,
                site,
                saved: context.placed(saved, route, more),
                repeat: repeat.of_all(context),
            }
        })
        .filter(|repeated| repeated.counts() || repeated.goes_along())
        .collect()
}

/// Returns the kind recorded for a call's waits.
pub(super) fn waits_as(digest: &str) -> BurstKind {
    let is_http = Store::of(digest).is_some() || digest.starts_with(slow_http::MARK);
    if is_http {
        BurstKind::Http
    } else {
        BurstKind::Sql
    }
}

impl Repeated<'_> {
    fn counts(&self) -> bool {
        const VERBS: [&str; 6] = ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "REPLACE"];
        let is_statement = VERBS.contains(&query::verb(self.digest).as_str());
        (is_statement && !is_batch(self.digest)) || self.store().is_some()
    }

    fn store(&self) -> Option<Store> {
        Store::of(self.digest)
    }

    /// Whether the statement is part of what others in a loop cost: a transaction around them, or
    /// an empty statement, by which ActiveRecord checks a connection before another statement.
    fn goes_along(&self) -> bool {
        self.digest.is_empty() || self.is_transaction()
    }

    /// Whether the statement begins or ends a transaction: around statements of a loop,
    /// transactions are part of the loop's cost.
    fn is_transaction(&self) -> bool {
        const VERBS: [&str; 6] = [
            "BEGIN",
            "START",
            "COMMIT",
            "ROLLBACK",
            "SAVEPOINT",
            "RELEASE",
        ];
        VERBS.contains(&query::verb(self.digest).as_str())
    }

    fn reads(&self) -> bool {
        matches!(query::verb(self.digest).as_str(), "SELECT" | "WITH")
    }

    fn is_sure(&self) -> bool {
        (self.reads() || self.store().is_some()) && self.repeat.per_request() >= REPEATS_SURE
    }

    fn evidence(&self, names_route: bool) -> [Text; 2] {
        let repeat = &self.repeat;
        let count = times(repeat.per_request());
        let each = ms(repeat.time.as_millis_f64() / repeat.count as f64);
        // Some drivers report no rows, and statements that write have none.
        let rows = match repeat.rows {
            0 => Text::default(),
            rows => text!(", {rows} rows in all", rows = numbers::count(rows)),
        };
        let requests = numbers::count(repeat.requests);
        let of = if names_route {
            text!(" of {route}", route = self.route)
        } else {
            Text::default()
        };
        [
            text!(
                "{count} executions per request in {requests} requests{of}, {each} each{rows}",
                count,
                requests,
                of,
                each,
                rows
            ),
            match self.digest {
                "" => text!("an empty statement, by which the driver checks its connection"),
                digest => fit(digest, 200).into(),
            },
        ]
    }
}

/// Whether a statement reads the next rows of a whole table, as `find_each` does: a few large reads
/// in place of a larger one, not one per row.
fn is_batch(digest: &str) -> bool {
    query::read(digest).is_some_and(|query| {
        let by = query.order.first();
        let goes_on = by.is_some_and(|by| query.range.contains(by));
        query.limited && query.equal.is_empty() && goes_on
    })
}

impl Repeat {
    fn add(&mut self, request: RequestId, used: &SqlUse) {
        if self.last != Some(request) {
            self.last = Some(request);
            self.requests += 1;
        }
        self.count += u64::from(used.count);
        self.time += used.time;
        self.gvl_wait += used.gvl_wait;
        self.rows += used.rows;
        self.site = used.site;
    }

    /// Returns the counts over all requests of the run, where only some carried a number.
    fn of_all(&self, context: &Context<'_>) -> Repeat {
        let all = |count| context.joined.in_all(count);
        Repeat {
            last: self.last,
            requests: all(self.requests),
            count: all(self.count),
            time: Nanos(all(self.time.0)),
            gvl_wait: Nanos(all(self.gvl_wait.0)),
            rows: all(self.rows),
            site: self.site,
        }
    }

    fn per_request(&self) -> f64 {
        self.count as f64 / self.requests as f64
    }

    /// Returns the cost of all executions in all requests, by the line.
    fn cost(&self, context: &Context<'_>, route: usize, digest: &str) -> Demand {
        let own = (self.time - self.gvl_wait).as_millis_f64();
        let all = own * context.joined.weight;
        let driver = match Store::of(digest) {
            Some(_) => context.service_demand(route, all),
            None => context.sql_demand(&context.joined.routes[route], all),
        };
        context.line_cost((route, self.site), own, driver)
    }
}

/// Returns the title: the repeated statement, and how many besides.
fn what(most: &Repeated<'_>, more: usize) -> Text {
    let room = if more == 0 { 36 } else { 26 };
    text!(
        "{kind} on {route}: {times} × {statement}{more} at {place}",
        kind = if most.store().is_some() {
            text!("many calls")
        } else {
            text!("N+1")
        },
        route = most.route,
        times = times(most.repeat.per_request()),
        statement = fit(&query::brief(most.digest), room),
        more = match more {
            0 => Text::default(),
            more => text!(" and {more} more", more),
        },
        place = place(most.site)
    )
}

/// Returns one finding for everything repeated by one loop, the costliest first.
fn finding(context: &Context<'_>, found: &[Repeated<'_>]) -> Option<Finding> {
    let most = found.first().filter(|most| most.counts())?;
    let along = found.iter().filter(|each| each.goes_along()).count();
    let in_transactions = found.iter().any(Repeated::is_transaction);
    let saved = found.iter().map(|each| each.saved.clone()).sum::<Demand>();
    let gain = context.gain(&saved);
    let of_route = found.iter().filter(|each| each.route == most.route);
    let saved_each: f64 = of_route
        .map(|each| each.saved.sum() / each.repeat.requests as f64)
        .sum();
    let mean = context
        .route(most.route)
        .map_or(0.0, |route| route.seen_mean_ms);
    let what = what(most, found.len() - 1 - along);
    let several = found.iter().any(|each| each.route != most.route);
    let mut evidence: Vec<Text> = most.evidence(several).into();
    evidence.extend(most.site.map(called_from));
    evidence.extend(helper(context, most).map(|line| text!("issued at {line}", line)));
    for each in found.iter().skip(1).take(SHOWN - 1) {
        evidence.extend(each.evidence(several));
    }
    let store = most.store();
    Some(Finding {
        rule: if store.is_some() {
            RuleId::StoreCalls
        } else {
            RuleId::NPlusOne
        },
        route: most.route.to_owned(),
        title: title(what),
        why: text!(
            "each execution is a round trip and work in the driver, and their number grows with the data"
        ),
        evidence,
        remedy: match store {
            Some(store) => store.remedy(),
            None => loading(context, found)
                .unwrap_or_else(|| remedy(most.digest, most.reads(), in_transactions)),
        },
        estimated_gain: text!(
            "{gain}: −{saved} of {mean} per request on {route}",
            gain = gain.text,
            saved = ms(saved_each),
            mean = ms(mean),
            route = most.route
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: if found.iter().any(Repeated::is_sure) {
            Confidence::High
        } else {
            Confidence::Medium
        },
    })
}

/// Returns the app's line issuing a statement for callers, if the finding names a caller.
fn helper<'a>(context: &Context<'a>, repeated: &Repeated<'_>) -> Option<&'a str> {
    let issues = breakdown::line_of(context.text(repeated.repeat.site));
    let told = repeated.site.map(breakdown::line_of);
    let is_own = !issues.is_empty() && !issues.starts_with("vendor/");
    (is_own && told.is_some_and(|told| told != issues)).then_some(issues)
}

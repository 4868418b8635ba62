//! Responses equal for everyone and without headers for caching.

use crate::exact::Exact;
use crate::rule_id::RuleId;
use breakdown::{Answers, RouteBalance};
use figures::numbers;
use words::{Text, text};

use super::static_files::is_static;
use crate::context::Context;
use crate::demand::Demand;
use crate::text::{ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Beginnings of the content types of files.
const FILES: [&str; 6] = [
    "image/",
    "font/",
    "video/",
    "audio/",
    "text/css",
    "text/javascript",
];

/// Comparisons between users from which chance is unlikely. Chosen by judgement.
const REPEATED_MIN: u64 = 10;
/// Share of the requests below which a route is not worth a cache.
const REQUESTS_SHARE_MIN: f64 = 0.02;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let all = context.breakdown.overall.requests.max(1) as f64;
    let mut kept: Vec<Vec<Equal<'_>>> = Vec::new();
    for route in &context.breakdown.routes {
        let Some(equal) = Equal::of(context, route, all) else {
            continue;
        };
        // One sentence advises all routes of a kind: a finding each would say the same.
        match kept
            .iter_mut()
            .find(|same| same[0].keeping == equal.keeping)
        {
            Some(same) => same.push(equal),
            None => kept.push(vec![equal]),
        }
    }
    for same in &mut kept {
        same.sort_by(|a, b| b.saved.sum().total_cmp(&a.saved.sum()));
    }
    let findings = kept.iter().filter_map(|same| finding(context, same));
    findings.collect()
}

/// A route with equal responses and without headers for caching.
struct Equal<'a> {
    route: &'a RouteBalance,
    answers: &'a Answers,
    saved: Demand,
    keeping: Keeping,
}

impl<'a> Equal<'a> {
    /// `all` is the number of the run's requests.
    fn of(context: &Context<'_>, route: &'a RouteBalance, all: f64) -> Option<Equal<'a>> {
        let answers = route.answers.as_ref()?;
        let said = answers.with_cache_control + answers.with_etag + answers.with_last_modified;
        let equal = answers.repeated >= REPEATED_MIN && answers.repeated_equal == answers.repeated;
        let often = route.requests as f64 >= REQUESTS_SHARE_MIN * all;
        if !equal || said > 0 || !often || is_static(&route.route) || route.body_bytes == 0.0 {
            return None;
        }
        // The first response to each line is needed in any case.
        let again = 1.0 - (answers.lines as f64 / route.requests.max(1) as f64).min(1.0);
        let each = context.request_demand(&route.route);
        Some(Equal {
            route,
            answers,
            saved: each.times(route.answered as f64 * again),
            keeping: keeping(answers, route.body_bytes),
        })
    }

    fn evidence(&self) -> [Text; 3] {
        let Equal { route, answers, .. } = self;
        [
            text!(
                "{answers} answers to a URL that another user had fetched: all had the same body",
                answers = numbers::count(answers.repeated)
            ),
            text!(
                "none of {answers} answers had Cache-Control, Expires, ETag or Last-Modified",
                answers = numbers::count(answers.seen)
            ),
            text!(
                "{requests} requests, {size} each",
                requests = numbers::count(route.requests),
                size = numbers::bytes(route.body_bytes as u64)
            ),
        ]
    }

    /// Returns the line for a route beside the first.
    fn told(&self) -> Text {
        text!(
            "{route}: {answers} such answers, {requests} requests, {size} each",
            route = self.route.route,
            answers = numbers::count(self.answers.repeated),
            requests = numbers::count(self.route.requests),
            size = numbers::bytes(self.route.body_bytes as u64)
        )
    }
}

/// Returns one finding for routes with the same advice, the costliest first.
fn finding(context: &Context<'_>, same: &[Equal<'_>]) -> Option<Finding> {
    let (most, others) = same.split_first()?;
    let route = &most.route.route;
    let saved = same.iter().map(|each| each.saved.clone()).sum::<Demand>();
    let gain = context.gain(&saved);
    let mut evidence: Vec<Text> = most.evidence().into();
    evidence.extend(others.iter().map(Equal::told));
    Some(Finding {
        rule: RuleId::AnswersEqual,
        route: route.clone(),
        title: title(match others.len() {
            0 => text!("no Cache-Control on {route}: the same for everyone", route),
            more => text!(
                "no Cache-Control on {route} and {more} more: the same for everyone",
                route,
                more
            ),
        }),
        why: text!("every client fetches again what it already has, and the app builds it again"),
        evidence,
        remedy: Remedy {
            text: most.keeping.text.clone(),
            exact: most.keeping.exact.map(Exact::from),
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "up to {gain}: −{saved} of thread time in all, if clients or a proxy keep each answer",
            gain = gain.text,
            saved = ms(saved.sum())
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: most.keeping.confidence,
    })
}

/// Advice on caching responses.
#[derive(PartialEq)]
struct Keeping {
    text: Text,
    exact: Option<&'static str>,
    confidence: Confidence,
}

/// Bytes of a body below which equality between users with sessions may be chance: an empty list, a
/// counter at zero.
const CHANCE_BYTES: f64 = 1024.0;

/// Returns the advice on caching, with a confidence. A page equal for all users of a run may still
/// depend on who asks or on the hour, and a public cache would then show one user's page to others.
/// Only files by their nature get a long lifetime; a page needs users with sessions of their own
/// behind it to be more than a hint. Where requests carry credentials, nothing is for a public
/// cache, which would not ask for them.
fn keeping(answers: &Answers, body_bytes: f64) -> Keeping {
    let cookie = match answers.with_set_cookie {
        0 => Text::default(),
        _ => text!("; leave Set-Cookie out of them, or shared caches will not keep them"),
    };
    let had_sessions = answers.with_credentials > 0;
    let with_sessions = match body_bytes >= CHANCE_BYTES {
        true => Confidence::Medium,
        false => Confidence::Low,
    };
    let kind = answers.content_type.as_deref().unwrap_or_default();
    let is_file = FILES.iter().any(|begins| kind.starts_with(begins));
    if is_file && had_sessions {
        return Keeping {
            text: text!(
                "say how long a browser may keep them, for itself: the requests carried cookies or authorization, and a \
                 public cache asks for neither"
            ),
            exact: Some("Cache-Control: private, max-age=86400"),
            confidence: with_sessions,
        };
    }
    if is_file {
        return Keeping {
            text: text!(
                "say how long they may be cached; choose a long time only where a URL's content never changes{cookie}",
                cookie
            ),
            exact: Some("Cache-Control: public, max-age=86400"),
            confidence: Confidence::High,
        };
    }
    Keeping {
        text: text!(
            "if nothing in it depends on who asks, let a cache keep it for as long as it may be stale; else answer 304 by ETag (fresh_when, etag), which saves sending the body{cookie}",
            cookie
        ),
        exact: None,
        confidence: match had_sessions {
            true => with_sessions,
            false => Confidence::Low,
        },
    }
}

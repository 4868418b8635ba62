//! Responses equal for everyone and without headers for caching.

use crate::exact::Exact;
use crate::rule_id::RuleId;
use breakdown::{Answers, RouteAskedAgain, RouteBalance};
use figures::numbers;
use recording::Sameness;
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

/// Whether responses of a route are candidates for a cache: equal for all users in the load,
/// without a header on caching, and no files by name.
pub fn may_be_cached(route: &str, answers: &Answers) -> bool {
    let said = answers.with_cache_control + answers.with_etag + answers.with_last_modified;
    let equal = answers.repeated >= REPEATED_MIN && answers.repeated_equal == answers.repeated;
    equal && said == 0 && !is_static(route)
}

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
        let often = route.requests as f64 >= REQUESTS_SHARE_MIN * all;
        if !may_be_cached(&route.route, answers) || !often || route.body_bytes == 0.0 {
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

    fn evidence(&self) -> [Text; 4] {
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
            proof(answers),
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
    // A browser's own copy, or a 304, spares some of the requests' work; how much is not counted.
    let gain = most.keeping.is_public.then(|| context.gain(&saved));
    let whom = match most.keeping.is_public {
        true => text!("the same for everyone"),
        false => text!("the same for all users of the run"),
    };
    let mut evidence: Vec<Text> = most.evidence().into();
    evidence.extend(others.iter().map(Equal::told));
    Some(Finding {
        rule: RuleId::AnswersEqual,
        route: route.clone(),
        title: title(match others.len() {
            0 => text!("no Cache-Control on {route}: {whom}", route, whom),
            more => text!(
                "no Cache-Control on {route} and {more} more: {whom}",
                route,
                more,
                whom
            ),
        }),
        why: text!("every client fetches again what it already has, and the app builds it again"),
        evidence,
        remedy: Remedy {
            text: most.keeping.text.clone(),
            exact: most.keeping.exact.map(Exact::from),
            safety: Safety::Code,
        },
        estimated_gain: match &gain {
            Some(gain) => text!(
                "up to {gain}: −{saved} of thread time in all, if clients or a proxy keep each answer",
                gain = gain.text,
                saved = ms(saved.sum())
            ),
            None => text!("unknown: how often one user asks for the same again is not counted"),
        },
        gain_share: gain.as_ref().map_or(0.0, |gain| gain.share),
        gain: gain.and_then(|gain| gain.replayed),
        confidence: most.keeping.confidence,
    })
}

/// Whether a cache shared by all may be advised: nobody was observed to get something else, neither
/// in the load nor by the requests of new visitors and users afterwards.
fn is_public(answers: &Answers) -> bool {
    let asked = answers.asked_again;
    let is_same = asked.is_some_and(|asked| asked.least.sameness == Sameness::Same);
    is_same && answers.with_set_cookie == 0
}

/// Returns the evidence for a cache shared by all, or the reason against one.
fn proof(answers: &Answers) -> Text {
    let Some(RouteAskedAgain { urls, least }) = answers.asked_again else {
        return text!(
            "no public cache: whether new visitors get the same was not asked after the load"
        );
    };
    match least.sameness {
        Sameness::Same if answers.with_set_cookie > 0 => text!(
            "no public cache: {answers} answers of the load set a cookie",
            answers = numbers::count(answers.with_set_cookie)
        ),
        Sameness::Same => text!(
            "asked again after the load ({urls} URLs), by {visitors} visitors without a session and {sessions} users with theirs, twice within {time}: the same body each time",
            urls = numbers::count(urls),
            visitors = least.visitors,
            sessions = least.sessions,
            time = numbers::duration_ms(least.apart.as_millis_f64())
        ),
        Sameness::Authorization => {
            text!("no public cache: the requests carry an Authorization")
        }
        Sameness::Refused => text!(
            "no public cache: asked again after the load without a session and with the users', not all got the page"
        ),
        Sameness::SetsCookie => {
            text!("no public cache: asked again after the load, the app set a cookie")
        }
        Sameness::Varies => text!(
            "no public cache: its Vary says that the answer depends on the cookie, the authorization, or everything"
        ),
        Sameness::Private => {
            text!("no public cache: asked again after the load, it said private or no-store")
        }
        Sameness::BodiesDiffer => text!(
            "no public cache: asked again after the load by visitors without a session and by users, the bodies differed"
        ),
        Sameness::BodiesChange => text!(
            "no public cache: asked twice after the load within {time}, the body had changed",
            time = numbers::duration_ms(least.apart.as_millis_f64())
        ),
        Sameness::HeadersDiffer => text!(
            "no public cache: asked again after the load, a header differed from visitor to visitor"
        ),
        Sameness::NotAsInLoad => text!(
            "no public cache: asked again after the load, the body was not the one that its users got"
        ),
    }
}

/// Advice on caching responses.
#[derive(PartialEq)]
struct Keeping {
    text: Text,
    exact: Option<&'static str>,
    confidence: Confidence,
    /// Whether a cache shared by all users may keep the responses.
    is_public: bool,
}

/// Bytes of a body below which equality between users with sessions may be chance: an empty list, a
/// counter at zero.
const CHANCE_BYTES: f64 = 1024.0;

/// Returns the advice on caching, with a confidence. A page equal for all users of a run may still
/// depend on who asks or on the hour, and a public cache would then show one user's page to others:
/// without the proof, at most a browser's own copy is advised. Only files by their nature get a
/// long lifetime; a page needs users with sessions of their own behind it to be more than a hint.
fn keeping(answers: &Answers, body_bytes: f64) -> Keeping {
    let is_public = is_public(answers);
    let had_sessions = answers.with_credentials > 0;
    let with_sessions = match body_bytes >= CHANCE_BYTES {
        true => Confidence::Medium,
        false => Confidence::Low,
    };
    let kind = answers.content_type.as_deref().unwrap_or_default();
    let is_file = FILES.iter().any(|begins| kind.starts_with(begins));
    let (text, exact) = match (is_file, is_public) {
        (true, true) => (
            text!(
                "say how long they may be cached; choose a long time only where a URL's content never changes"
            ),
            Some("Cache-Control: public, max-age=86400"),
        ),
        (true, false) => (
            text!(
                "say how long a browser may keep them, for itself: that everyone gets the same is not proven, and a \
                 public cache would not ask"
            ),
            Some("Cache-Control: private, max-age=86400"),
        ),
        (false, true) => (
            text!(
                "let a cache for all keep it (Cache-Control: public, max-age=…) for as long as it may be stale, if nothing in it depends on who asks"
            ),
            None,
        ),
        (false, false) => (
            text!(
                "answer 304 by ETag (fresh_when, etag), which saves sending the body; no cache for all, since that everyone gets the same is not proven"
            ),
            None,
        ),
    };
    Keeping {
        text,
        exact,
        confidence: match (had_sessions, is_file, is_public) {
            (false, true, true) => Confidence::High,
            (false, true, false) | (true, ..) => with_sessions,
            (false, false, _) => Confidence::Low,
        },
        is_public,
    }
}

//! Adds up the facts from the heads of responses by route.

use std::cmp::Reverse;
use std::collections::HashMap;

use recording::{AnswerFacts, AskedAgain, Recording, Sameness, TextId};

use crate::join::{Joined, join};
use crate::types::{Answers, RouteAskedAgain, RouteBalance};

/// Statuses of successful responses.
const SUCCESS: std::ops::Range<u16> = 200..300;
/// Status of a response with a page.
const OK: u16 = 200;

/// Facts from the heads of a route's successful responses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteAnswers {
    /// Such as `GET /channel/:id`.
    pub route: String,
    /// Facts of all lines together.
    pub answers: Answers,
    /// Lines with a response of status 200, the one with most sampled responses first.
    pub lines: Vec<TextId>,
}

/// Returns the facts from the heads of successful responses by route, the route with most sampled
/// responses first.
pub fn answers(recording: &Recording) -> Vec<RouteAnswers> {
    let joined = join(recording);
    let by_route = by_route(recording, &joined).into_iter();
    let mut all: Vec<RouteAnswers> = by_route
        .map(|(route, mut facts)| {
            facts.sort_by_key(|facts| (Reverse(facts.seen), facts.line));
            let pages = facts.iter().filter(|facts| facts.status == OK);
            RouteAnswers {
                route: route.to_owned(),
                answers: sum(recording, &facts),
                lines: pages.map(|facts| facts.line).collect(),
            }
        })
        .collect();
    all.sort_by(|a, b| {
        let seen = b.answers.seen.cmp(&a.answers.seen);
        seen.then_with(|| a.route.cmp(&b.route))
    });
    all
}

/// Fills in the response facts of each route.
pub(crate) fn add(recording: &Recording, joined: &Joined<'_>, routes: &mut [RouteBalance]) {
    let by_route = by_route(recording, joined);
    for route in routes {
        if let Some(facts) = by_route.get(route.route.as_str()) {
            route.answers = Some(sum(recording, facts));
        }
    }
}

fn by_route<'a>(
    recording: &'a Recording,
    joined: &'a Joined<'_>,
) -> HashMap<&'a str, Vec<&'a AnswerFacts>> {
    let mut by_route: HashMap<&str, Vec<&AnswerFacts>> = HashMap::new();
    for facts in &recording.answers {
        if let Some(route) = joined.route_of_line(facts.line)
            && SUCCESS.contains(&facts.status)
        {
            by_route.entry(route).or_default().push(facts);
        }
    }
    by_route
}

fn sum(recording: &Recording, facts: &[&AnswerFacts]) -> Answers {
    let total = |count: fn(&AnswerFacts) -> u64| facts.iter().map(|facts| count(facts)).sum();
    let most = |value: fn(&AnswerFacts) -> TextId| commonest(recording, facts, value);
    Answers {
        seen: total(|facts| facts.seen),
        lines: facts.len() as u64,
        content_type: most(|facts| facts.content_type),
        content_encoding: most(|facts| facts.content_encoding),
        cache_control: most(|facts| facts.cache_control),
        with_cache_control: total(|facts| facts.with_cache_control),
        with_etag: total(|facts| facts.with_etag),
        with_last_modified: total(|facts| facts.with_last_modified),
        with_set_cookie: total(|facts| facts.with_set_cookie),
        closed: total(|facts| facts.closed),
        offered_compression: total(|facts| facts.offered_compression),
        with_credentials: total(|facts| facts.with_credentials),
        repeated: total(|facts| facts.repeated),
        repeated_equal: total(|facts| facts.repeated_equal),
        asked_again: asked_again(facts),
    }
}

/// Returns the result for all repeatedly requested URLs of a route. A URL against a shared cache
/// counts more than all in favour.
fn asked_again(facts: &[&AnswerFacts]) -> Option<RouteAskedAgain> {
    let results = facts.iter().filter_map(|facts| facts.asked_again);
    let urls = results.clone().count() as u64;
    let against = |asked: &AskedAgain| asked.sameness != Sameness::Same;
    let least = results.min_by_key(|asked| (!against(asked), asked.sessions, asked.apart))?;
    Some(RouteAskedAgain { urls, least })
}

/// Returns the most frequent value among the responses; `None` when most had none.
fn commonest(
    recording: &Recording,
    facts: &[&AnswerFacts],
    value: fn(&AnswerFacts) -> TextId,
) -> Option<String> {
    let mut counts: HashMap<TextId, u64> = HashMap::new();
    for facts in facts {
        *counts.entry(value(facts)).or_default() += facts.seen;
    }
    let (most, _) = counts.into_iter().max_by_key(|(id, count)| (*count, *id))?;
    recording.texts.get(most).map(str::to_owned)
}

//! Adds up the facts from the heads of responses by route.

use std::collections::HashMap;

use recording::{AnswerFacts, Recording, TextId};

use crate::join::Joined;
use crate::types::{Answers, RouteBalance};

/// Statuses of successful responses.
const SUCCESS: std::ops::Range<u16> = 200..300;

/// Fills in the response facts of each route.
pub(crate) fn add(recording: &Recording, joined: &Joined<'_>, routes: &mut [RouteBalance]) {
    let mut by_route: HashMap<&str, Vec<&AnswerFacts>> = HashMap::new();
    for facts in &recording.answers {
        if let Some(route) = joined.route_of_line(facts.line)
            && SUCCESS.contains(&facts.status)
        {
            by_route.entry(route).or_default().push(facts);
        }
    }
    for route in routes {
        if let Some(facts) = by_route.get(route.route.as_str()) {
            route.answers = Some(sum(recording, facts));
        }
    }
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
    }
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

//! A method of the app in which a route's requests run for long.

use crate::rule_id::RuleId;
use recording::BurstKind;
use words::text;

use crate::context::Context;
use crate::costs::{Hot, is_template};
use crate::demand::Demand;
use crate::rules::works;
use crate::text::{ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the route's time with the GVL from which a method is the first place to look at.
const SHARE_MIN: f64 = 0.25;
/// Share of a route's time from which a method is most of the route's work.
const SHARE_SURE: f64 = 0.5;
/// Gain without the whole method from which a search is worth the effort.
const GAIN_MIN: f64 = 0.1;
/// Share of the method's samples from which the innermost method is named.
const INNERMOST_MIN: f64 = 0.4;
/// Share of a method's samples collecting garbage from which collecting is the method's main work.
const COLLECTING_MIN: f64 = 0.5;
/// Share of a method's samples making JSON from which JSON is the method's main work.
const JSON_MIN: f64 = 0.5;
/// Methods shown: the cost of further ones is below the noise.
const SHOWN: usize = 3;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let hot = context.hot_methods();
    let allocator = context.allocator().map(|site| site.line);
    // What a page's templates take is `template-share`; a line that mostly sets off the collector
    // is `gc-share`.
    let collects =
        |hot: &Hot| hot.collecting >= COLLECTING_MIN && allocator == Some(hot.line.as_str());
    // So is a line that mostly makes JSON, where that is `json-share`.
    let json_is_found = works::finds_json(context);
    let makes_json = |hot: &Hot| {
        let json = context.json_share(hot.route).filter(|_| json_is_found);
        json.is_some_and(|(line, share)| line == hot.line && share >= JSON_MIN * hot.share)
    };
    let long = hot.into_iter().filter(|hot| {
        let computes = hot.share - hot.spawning >= SHARE_MIN && !is_template(&hot.line);
        computes && !collects(hot) && !makes_json(hot)
    });
    long.take(SHOWN)
        .filter_map(|hot| finding(context, hot))
        .collect()
}

/// The method and the reading of files and sockets below.
fn demand(context: &Context<'_>, hot: &Hot) -> Demand {
    let reading_ms = hot.reading * context.time_of(hot.route, BurstKind::OtherIo);
    let reading = Demand::on(hot.route, BurstKind::OtherIo, reading_ms);
    context
        .held_demand(hot.route, hot.share)
        .plus(reading.in_calls(hot.route, BurstKind::OtherIo, hot.reading))
}

fn finding(context: &Context<'_>, hot: &Hot) -> Option<Finding> {
    let (held_ms, requests) = context.held_of(hot.route);
    let spent = hot.share * held_ms;
    let each = spent / requests.max(1.0);
    let gain = context.gain(&demand(context, hot));
    if gain.share < GAIN_MIN {
        return None;
    }
    let route = &context.joined.routes[hot.route];
    let mut evidence = vec![text!(
        "{time} of {held} per request with the GVL held, by the run's samples",
        time = ms(each),
        held = ms(held_ms / requests.max(1.0))
    )];
    let (innermost, share) = &hot.innermost;
    if *share >= INNERMOST_MIN && *innermost != hot.method {
        evidence.push(text!(
            "{share} of it in {innermost}",
            share = percent(*share),
            innermost
        ));
    }
    Some(Finding {
        rule: RuleId::HotMethod,
        route: route.clone(),
        title: title(text!(
            "{route} runs {share} of its time in {line}",
            route,
            share = percent(hot.share),
            line = hot.line
        )),
        why: text!(
            "{method} computes there while it holds the GVL, so the worker's other threads stand still",
            method = hot.method
        ),
        evidence,
        remedy: Remedy {
            text: text!(
                "do it once and keep the result, look values up in a Hash instead of searching a list, or leave out \
                 what the answer does not need; the flame graph of this run shows what is below"
            ),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}, if all of it goes away: −{time} per request on {route}",
            gain = gain.text,
            time = ms(each),
            route
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: if hot.share >= SHARE_SURE {
            Confidence::Medium
        } else {
            Confidence::Low
        },
    })
}

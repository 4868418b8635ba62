//! A method of the app in which a route's requests run for long.

use crate::rule_id::RuleId;
use figures::counted;
use recording::BurstKind;
use words::{Text, text};

use crate::context::Context;
use crate::costs::{Hot, is_template};
use crate::demand::Demand;
use crate::rules::works;
use crate::text::{file_of, ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};
use crate::worth::Worth;

/// Share of the route's time with the GVL from which a method, or a template's line, is the first
/// place to look at.
const SHARE_MIN: f64 = 0.25;
/// Share of a route's time from which a method is most of the route's work.
const SHARE_SURE: f64 = 0.5;
/// Gain without the whole method from which a search is worth the effort, unless the method takes
/// most of a route.
const GAIN_MIN: f64 = 0.05;
/// Gain without the whole method from which the finding is no mere hint: the change leaves a part
/// of the method.
const GAIN_SURE: f64 = 0.1;
/// Share of a method's or line's samples from which a method below is named.
const BELOW_MIN: f64 = 0.4;
/// Share of a method's samples collecting garbage from which collecting is the method's main work.
const COLLECTING_MIN: f64 = 0.5;
/// Share of a method's samples making JSON from which JSON is the method's main work.
const JSON_MIN: f64 = 0.5;
/// Methods shown: the cost of further ones is below the noise.
const SHOWN: usize = 3;
/// Routes of one method in the evidence.
const ROUTES_SHOWN: usize = 3;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let hot = context.hot_methods();
    let allocator = context.allocator().map(|site| site.line);
    // A line that mostly sets off the collector is `gc-share`.
    let collects =
        |hot: &Hot| hot.collecting >= COLLECTING_MIN && allocator == Some(hot.line.as_str());
    // So is a line that mostly makes JSON, where that is `json-share`.
    let json_is_found = works::finds(context, RuleId::JsonShare);
    let makes_json = |hot: &Hot| {
        let json = context.json_share(hot.route).filter(|_| json_is_found);
        json.is_some_and(|(line, share)| line == hot.line && share >= JSON_MIN * hot.share)
    };
    // So is a template's line, where that is evidence of `template-share`.
    let templates_are_found = works::finds(context, RuleId::TemplateShare);
    let long = hot.into_iter().filter(|hot| {
        let is_long = share(hot) - hot.spawning >= SHARE_MIN && !hot.line.is_empty();
        let is_found = is_template(&hot.line) && templates_are_found;
        is_long && !is_found && !collects(hot) && !makes_json(hot)
    });
    let mut methods: Vec<Vec<&Hot>> = Vec::new();
    for hot in long {
        let same = |group: &&mut Vec<&Hot>| is_same(group[0], hot);
        match methods.iter_mut().find(same) {
            Some(group) => group.push(hot),
            None => methods.push(vec![hot]),
        }
    }
    let found = methods.into_iter();
    found
        .filter_map(|method| finding(context, method))
        .take(SHOWN)
        .collect()
}

/// Whether two routes run in the same method.
fn is_same(a: &Hot, b: &Hot) -> bool {
    a.method == b.method && file_of(&a.line) == file_of(&b.line)
}

/// Share of the route's time with the GVL, 0 to 1: of a template only the busiest line, since
/// pages are what most apps are for.
fn share(hot: &Hot) -> f64 {
    match is_template(&hot.line) {
        true => hot.line_share,
        false => hot.share,
    }
}

/// The method and the reading of files and sockets below.
fn demand(context: &Context<'_>, hot: &Hot) -> Demand {
    let reading_ms = hot.reading * context.time_of(hot.route, BurstKind::OtherIo);
    let reading = Demand::on(hot.route, BurstKind::OtherIo, reading_ms);
    context
        .method_demand(hot, share(hot))
        .plus(reading.in_calls(hot.route, BurstKind::OtherIo, hot.reading))
}

/// Milliseconds in the method, and all with the GVL held, per request of the route.
fn each(context: &Context<'_>, hot: &Hot) -> (f64, f64) {
    let (held_ms, requests) = context.held_of(hot.route);
    let held = held_ms / requests.max(1.0);
    (share(hot) * held, held)
}

fn finding(context: &Context<'_>, mut routes: Vec<&Hot>) -> Option<Finding> {
    let in_all = |hot: &Hot| share(hot) * context.held_of(hot.route).0;
    routes.sort_by(|a, b| in_all(b).total_cmp(&in_all(a)));
    let saved: Demand = routes.iter().map(|hot| demand(context, hot)).sum();
    let gain = context.gain(&saved);
    let hot = routes[0];
    let worth = context.worth(&saved, gain.share >= GAIN_MIN)?;
    // Pages are what most apps are for.
    if worth != Worth::Run && is_template(&hot.line) {
        return None;
    }
    let (spent, _) = each(context, hot);
    let route = context.joined.routes[hot.route].clone();
    let is_sure = share(hot) >= SHARE_SURE && gain.share >= GAIN_SURE && !is_template(&hot.line);
    Some(Finding {
        rule: RuleId::HotMethod,
        title: title(text!(
            "{route} runs {share} of its time in {line}{more}",
            route,
            share = percent(share(hot)),
            line = hot.line,
            more = match routes.len() as u64 - 1 {
                0 => Text::default(),
                more => text!(" (and {routes})", routes = counted!(more, "other route")),
            }
        )),
        why: why(hot),
        evidence: evidence(context, &routes)
            .into_iter()
            .chain(worth.evidence())
            .collect(),
        remedy: Remedy {
            text: remedy(hot),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}, if all of it goes away: −{time} per request on {route}",
            gain = gain.text,
            time = ms(spent),
            route
        ),
        route,
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: match is_sure {
            true => Confidence::Medium,
            false => Confidence::Low,
        },
    })
}

fn why(hot: &Hot) -> Text {
    match is_template(&hot.line) {
        true => text!(
            "the line computes there while it holds the GVL, so the worker's other threads stand still"
        ),
        false => text!(
            "{method} computes there while it holds the GVL, so the worker's other threads stand still",
            method = hot.method
        ),
    }
}

fn remedy(hot: &Hot) -> Text {
    match is_template(&hot.line) {
        true => text!(
            "format each value once, with less general helpers where the format is fixed, or cache the fragment; the \
             flame graph of this run shows what is below"
        ),
        false => text!(
            "do it once and keep the result, look values up in a Hash instead of searching a list, or leave out \
             what the answer does not need; the flame graph of this run shows what is below"
        ),
    }
}

fn evidence(context: &Context<'_>, routes: &[&Hot]) -> Vec<Text> {
    let of_route = |hot: &&Hot| {
        let (spent, held) = each(context, hot);
        match routes.len() {
            1 => text!(
                "{time} of {held} per request with the GVL held, by the run's samples",
                time = ms(spent),
                held = ms(held)
            ),
            _ => text!(
                "{time} of {held} per request of {route} with the GVL held, by the run's samples",
                time = ms(spent),
                held = ms(held),
                route = context.joined.routes[hot.route]
            ),
        }
    };
    let mut evidence: Vec<Text> = routes.iter().take(ROUTES_SHOWN).map(of_route).collect();
    let hot = routes[0];
    let (called, of_line) = &hot.called;
    if *of_line >= BELOW_MIN && *called != hot.method {
        evidence.push(text!(
            "{share} of {line} in {called}, called there",
            share = percent(*of_line),
            line = hot.line,
            called
        ));
    }
    let (innermost, of_method) = &hot.innermost;
    let is_named = *innermost != hot.method && innermost != called && !is_template(&hot.line);
    if *of_method >= BELOW_MIN && is_named {
        evidence.push(text!(
            "{share} of it in {innermost}",
            share = percent(*of_method),
            innermost
        ));
    }
    evidence
}

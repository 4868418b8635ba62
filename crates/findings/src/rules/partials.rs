//! A template rendering many others, and the work around each.

use crate::rule_id::RuleId;
use std::collections::BTreeMap;

use recording::{ActKind, Handled, TextId};
use words::{Text, text};

use crate::app;
use crate::context::Context;
use crate::demand::Demand;
use crate::text::{ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of a route's time with the GVL spent around rendered templates from which templates are
/// rendered in a loop: one template costs some tens of microseconds.
const AROUND_MIN: f64 = 0.1;
/// Lines shown.
const SHOWN: usize = 3;
/// Smallest gain worth a change.
const GAIN_MIN: f64 = 0.05;

/// The agent's name for the rendering of a template.
const TEMPLATE: &str = "template";

/// A rendering line, with the share of each route's time with the GVL around the rendered
/// templates.
type Renders<'a> = (&'a str, BTreeMap<usize, f64>);

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut routes: BTreeMap<usize, Vec<Renders<'_>>> = BTreeMap::new();
    for (line, around) in context.renders() {
        let most = around.iter().max_by(|a, b| a.1.total_cmp(b.1));
        if let Some(route) = most.map(|(route, _)| *route) {
            routes.entry(route).or_default().push((line, around));
        }
    }
    let found = routes.into_iter();
    found
        .filter_map(|(route, lines)| finding(context, route, lines))
        .collect()
}

/// Returns one finding for all rendering lines of a route: partials render partials.
fn finding(context: &Context<'_>, route: usize, mut lines: Vec<Renders<'_>>) -> Option<Finding> {
    let of_route = |(_, around): &Renders<'_>| around[&route];
    lines.sort_by(|a, b| of_route(b).total_cmp(&of_route(a)));
    let share: f64 = lines.iter().map(of_route).sum();
    if share < AROUND_MIN {
        return None;
    }
    let parts = lines
        .iter()
        .flat_map(|(_, around)| around)
        .map(|(route, share)| context.held_demand(*route, *share));
    let saved: Demand = parts.sum();
    // What goes on around a template goes on around each.
    let gain = context.gain(&context.placed_by(saved, rendered()));
    if gain.share < GAIN_MIN {
        return None;
    }
    let name = &context.joined.routes[route];
    let (held, requests) = context.held_of(route);
    let of_line = lines.iter().take(SHOWN).map(|line| {
        let share = of_route(line);
        text!(
            "{share} around what {place} renders",
            share = percent(share),
            place = line.0
        )
    });
    let each = ms(share * held / requests.max(1.0));
    Some(Finding {
        rule: RuleId::PartialsInLoop,
        route: name.clone(),
        title: title(text!("{share} of {name} is spent on calling the partials that {place} renders", share = percent(share), name, place = lines[0].0)),
        why: text!("finding a template, handing it its variables and reporting that it was rendered takes longer than a \
             small template itself"),
        evidence: std::iter::once(text!("{each} of {held} per request with the GVL held, by the run's samples; the partials' own work is not included", each, held = ms(held / requests.max(1.0))))
        .chain(of_line)
        .collect(),
        remedy: Remedy {
            text: at_once(context),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!("{gain}: −{each} per request on {name}", gain = gain.at_most(), each, name),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::Medium,
    })
}

/// Returns the words for fewer renderings. Outside of Rails nothing renders a collection at once.
fn at_once(context: &Context<'_>) -> Text {
    match app::is_rails(context) {
        true => text!(
            "render the collection at once (`render partial: \"row\", collection: @rows`), or write a partial of a line or two \
             into the template that uses it; cache what many requests share"
        ),
        false => text!(
            "loop over the rows within one template instead of rendering one for each, and write a template of a line or two \
             into the one that uses it; cache what many requests share"
        ),
    }
}

/// Returns the number of templates rendered in a request.
fn rendered() -> impl Fn(&Handled) -> f64 {
    let template = TextId::of(TEMPLATE.as_bytes());
    move |handled| {
        let acts = handled.acts.iter();
        let acts = acts.filter(|act| act.kind == ActKind::Work && act.what == template);
        acts.map(|act| f64::from(act.count)).sum()
    }
}

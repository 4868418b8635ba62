//! Files served by the app without need of the app.

use crate::rule_id::RuleId;
use breakdown::RouteBalance;
use figures::numbers;
use words::{Text, text};

use crate::context::Context;
use crate::demand::Demand;
use crate::text::{ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Endings of files with the same content for everyone.
const ENDINGS: [&str; 16] = [
    ".css", ".js", ".mjs", ".map", ".svg", ".ico", ".woff", ".woff2", ".ttf", ".otf", ".eot",
    ".png", ".jpg", ".jpeg", ".gif", ".webp",
];
/// Share of the requests below which serving such files does not matter.
const REQUESTS_SHARE_MIN: f64 = 0.02;

/// Whether a route is a GET of one file by name.
pub(crate) fn is_static(route: &str) -> bool {
    let path = route
        .strip_prefix("GET ")
        .unwrap_or("")
        .to_ascii_lowercase();
    ENDINGS.iter().any(|ending| path.ends_with(ending))
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    // A file that takes statements is no file.
    let served: Vec<_> = context
        .breakdown
        .routes
        .iter()
        .filter(|route| is_static(&route.route) && route.statements == 0.0)
        .filter(|route| route.answered > route.unseen)
        .collect();
    let requests: u64 = served.iter().map(|route| route.requests).sum();
    let all = context.breakdown.overall.requests.max(1);
    if requests == 0 || (requests as f64) < REQUESTS_SHARE_MIN * all as f64 {
        return Vec::new();
    }
    let saved = served
        .iter()
        .map(|route| {
            let requests = (route.answered - route.unseen) as f64;
            context.request_demand(&route.route).times(requests)
        })
        .sum::<Demand>();
    let gain = context.gain(&saved);
    let finding = Finding {
        rule: RuleId::StaticFiles,
        route: String::new(),
        title: title(text!(
            "the app serves {files} static files: {share} of the requests",
            files = served.len(),
            share = percent(requests as f64 / all as f64)
        )),
        why: text!("each takes a thread of the app that could work, to copy a file"),
        evidence: evidence(&served, requests),
        remedy: Remedy {
            text: text!(
                "let the proxy in front serve the public folder, with Cache-Control; change names when contents \
                 change"
            ),
            exact: Some(
                "location ~ \\.(css|js|svg|ico|woff2?)$ { root /path/to/public; expires 1d; }"
                    .into(),
            ),
            safety: Safety::Careful,
        },
        estimated_gain: text!(
            "{gain}: −{saved} of thread time in all",
            gain = gain.text,
            saved = ms(saved.sum())
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::High,
    };
    vec![finding]
}

fn evidence(served: &[&RouteBalance], requests: u64) -> Vec<Text> {
    let unsaid = served
        .iter()
        .filter_map(|route| route.answers.as_ref())
        .filter(|answers| answers.with_cache_control == 0)
        .count();
    let names: Vec<&str> = served
        .iter()
        .take(4)
        .map(|route| route.route.as_str())
        .collect();
    vec![
        text!(
            "{requests} requests, such as {names}",
            requests = numbers::count(requests),
            names = names.join(", ")
        ),
        text!(
            "{unsaid} of the {files} carry no Cache-Control, so clients ask again",
            unsaid,
            files = served.len()
        ),
    ]
}

//! Transfer of responses: connections closed after each response, compression missing or expensive.

use crate::rule_id::RuleId;
use breakdown::{Answers, RouteBalance};
use figures::numbers;
use words::{Phrase, Text, phrase, text};

use crate::context::Context;
use crate::text::{ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Responses below which nothing is said.
const ANSWERS_MIN: u64 = 50;
/// Share of responses with the connection closed afterwards. Puma closes some by itself when others
/// wait.
const CLOSED_MIN: f64 = 0.9;
/// Bytes of a body below which one packet is enough anyway.
const BODY_BYTES_MIN: f64 = 1_400.0;
/// Share of a route's time after the handler from which compression is the cause.
const RESPOND_SHARE_MIN: f64 = 0.2;
/// … and so long.
const RESPOND_MS_MIN: f64 = 0.5;
const COMPRESS: Phrase =
    phrase!("let the proxy in front compress, at a low level; files beforehand (gzip_static)");
/// Advice to see whether the app compresses already.
const OFFER: Phrase =
    phrase!("offer it in the flows (Accept-Encoding: gzip; checks see bodies decompressed)");
/// Share of a text's bytes left by compression: between a third and a tenth.
const LEFT: f64 = 0.3;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let routes = &context.breakdown.routes;
    let answered: Vec<(&RouteBalance, &Answers)> = routes
        .iter()
        .filter_map(|route| Some((route, route.answers.as_ref()?)))
        .collect();
    let found = [
        closed(&answered),
        plain(&answered),
        dear(context, &answered),
    ];
    found.into_iter().flatten().collect()
}

fn closed(answered: &[(&RouteBalance, &Answers)]) -> Option<Finding> {
    let sum = |count: fn(&Answers) -> u64| answered.iter().map(|(_, answers)| count(answers)).sum();
    let (seen, closed): (u64, u64) = (sum(|answers| answers.seen), sum(|answers| answers.closed));
    (seen >= ANSWERS_MIN && closed as f64 >= CLOSED_MIN * seen as f64).then(|| Finding {
        rule: RuleId::KeepAliveOff,
        route: String::new(),
        title: title(text!("the connection is closed after {share} of the answers", share = percent(closed as f64 / seen as f64))),
        why: text!("each request begins with a new connection: one more round trip (with TLS two), and work on both ends"),
        evidence: vec![text!("{closed} of the {seen} answers that were examined, without being asked to", closed = numbers::count(closed), seen = numbers::count(seen))],
        remedy: Remedy {
            text: text!("let the server keep connections open (puma.rb: enable_keep_alives true, queue_requests true), and send \
                 no Connection: close; a proxy in front needs keep-alive to the app too"),
            exact: Some("enable_keep_alives true".into()),
            safety: Safety::Careful,
        },
        estimated_gain: text!("unknown: it is the network's round trips, which are short on one host"),
        gain_share: 0.0,
        gain: None,
        confidence: Confidence::High,
    })
}

fn is_text(answers: &Answers) -> bool {
    const TEXTS: [&str; 5] = ["text/", "json", "javascript", "xml", "svg"];
    let kind = answers.content_type.as_deref().unwrap_or_default();
    TEXTS.iter().any(|text| kind.contains(text))
}

fn plain(answered: &[(&RouteBalance, &Answers)]) -> Option<Finding> {
    let large: Vec<_> = answered
        .iter()
        .filter(|(route, answers)| {
            answers.content_encoding.is_none()
                && is_text(answers)
                && route.body_bytes >= BODY_BYTES_MIN
        })
        .collect();
    let offered =
        |(_, answers): &(&RouteBalance, &Answers)| answers.offered_compression * 2 > answers.seen;
    // What was offered and not taken is known; of the rest it is not known what the app would do.
    let known = large.iter().any(|one| offered(one));
    let large = large.into_iter().filter(|one| offered(one) == known);
    let bytes = |route: &RouteBalance| route.body_bytes * route.answered as f64;
    let total: f64 = large.clone().map(|(route, _)| bytes(route)).sum();
    let (most, answers) = large.max_by(|a, b| bytes(a.0).total_cmp(&bytes(b.0)))?;
    Some(Finding {
        rule: RuleId::CompressionMissing,
        route: most.route.clone(),
        title: title(text!("{route} answers {size} of text uncompressed", route = most.route, size = numbers::bytes(most.body_bytes as u64))),
        why: text!("text shrinks to a third or less, and outside of this host the network is what most clients wait for"),
        evidence: vec![
            text!("{kind}; {offered}", kind = answers.content_type.as_deref().map_or_else(|| text!("no type"), Text::from), offered = if known {
                    text!("clients offered to take it compressed")
                } else {
                    text!("no flow offered to take it compressed, as browsers do: whether the app would is not known")
                }),
            text!("{size} of such text in all", size = numbers::bytes(total as u64)),
        ],
        remedy: Remedy {
            text: if known { COMPRESS.into() } else { text!("{offer}; then {compress}", offer = OFFER, compress = COMPRESS) },
            exact: Some("gzip on; gzip_comp_level 1; gzip_proxied any; gzip_types text/css application/json application/javascript image/svg+xml;".into()),
            safety: Safety::Careful,
        },
        estimated_gain: text!("about {size} less over the network; no time on this host", size = numbers::bytes((total * (1.0 - LEFT)) as u64)),
        gain_share: 0.0,
        gain: None,
        confidence: if known { Confidence::Medium } else { Confidence::Low },
    })
}

fn dear(context: &Context<'_>, answered: &[(&RouteBalance, &Answers)]) -> Option<Finding> {
    let compressed = answered.iter().filter(|(route, answers)| {
        answers.content_encoding.is_some()
            && route.balance.respond >= RESPOND_MS_MIN
            && route.balance.respond >= RESPOND_SHARE_MIN * route.seen_mean_ms
    });
    let spent =
        |route: &RouteBalance| route.balance.respond * (route.answered - route.unseen) as f64;
    let total: f64 = compressed.clone().map(|(route, _)| spent(route)).sum();
    let (most, answers) = compressed.max_by(|a, b| spent(a.0).total_cmp(&spent(b.0)))?;
    let share = context.share(total);
    Some(Finding {
        rule: RuleId::CompressionCpu,
        route: most.route.clone(),
        title: title(text!(
            "compressing takes {time} of {all} after each {route}",
            time = ms(most.balance.respond),
            all = ms(most.seen_mean_ms),
            route = most.route
        )),
        why: text!("the app's own process compresses while it sends, and holds a thread for it"),
        evidence: vec![text!(
            "Content-Encoding {encoding}; {time} per request pass between the end of the handler and the last byte",
            encoding = answers.content_encoding.as_deref().unwrap_or_default(),
            time = ms(most.balance.respond)
        )],
        remedy: Remedy {
            text: text!(
                "leave Rack::Deflater out and let the proxy in front compress, at a low level; keep what does not \
                 change compressed"
            ),
            exact: Some("gzip on; gzip_comp_level 1; gzip_proxied any;".into()),
            safety: Safety::Careful,
        },
        estimated_gain: text!("up to {share} of all time", share = percent(share)),
        gain_share: share,
        gain: None,
        confidence: Confidence::Medium,
    })
}

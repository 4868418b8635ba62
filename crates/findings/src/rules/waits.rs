//! Requests that sleep, or wait for something that is neither SQL, HTTP, nor a lock.

use recording::{ActKind, BurstKind};

use crate::acts::ActSum;
use crate::context::Context;
use crate::numbers;
use crate::text::{called_from, ms, place, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the handlers' time from which it is worth a change. Found by weighing.
const SLEEP_SHARE_MIN: f64 = 0.05;
/// Waits of other kinds have more innocent causes, a busy disk among them.
const OTHER_SHARE_MIN: f64 = 0.1;
/// Requests from which a mean says something.
const REQUESTS_MIN: u64 = 5;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let worth = |act: &&ActSum<'_>| {
        let share_min = match act.kind {
            ActKind::Sleep => SLEEP_SHARE_MIN,
            ActKind::OtherIo => OTHER_SHARE_MIN,
            _ => return false,
        };
        act.requests() >= REQUESTS_MIN && context.share_inside(act.time_ms) >= share_min
    };
    let acts = context.acts.iter().filter(worth);
    acts.map(|act| finding(context, act)).collect()
}

fn finding(context: &Context<'_>, act: &ActSum<'_>) -> Finding {
    let sleeps = act.kind == ActKind::Sleep;
    let route = context.route_of(act);
    let each = ms(act.each_ms());
    let does = match (sleeps, act.what) {
        (true, _) => format!("sleeps {each} a request"),
        (false, "") => format!("waits {each} a request"),
        (false, what) => format!("waits {each} a request for {what}"),
    };
    let mut evidence = vec![format!(
        "{} in {} requests, {} in all, while the thread served nobody",
        numbers::counted(act.count, if sleeps { "sleep" } else { "wait" }),
        numbers::count(act.requests()),
        ms(act.time_ms),
    )];
    if !act.site.is_empty() {
        evidence.push(called_from(act.site));
    }
    let gain = context.gain(&context.act_demand(
        act,
        if sleeps {
            BurstKind::Sleep
        } else {
            BurstKind::OtherIo
        },
    ));
    Finding {
        rule: if sleeps { "sleep" } else { "wait" },
        title: title(&format!("{route} {does} at {}", place(Some(act.site)))),
        route: route.to_owned(),
        why: "a thread that waits holds its place, its memory and often its database connection, and others \
              queue behind it"
            .to_owned(),
        evidence,
        remedy: Remedy {
            text: remedy(sleeps, act.what).to_owned(),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: format!(
            "{}: −{each} a request on {route}, and the thread is free for others meanwhile",
            gain.text
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        // What a sleeping thread waits for is beyond doubt; other waits are also a busy host's.
        confidence: match () {
            () if sleeps => Confidence::High,
            () if context.host_is_shared() => Confidence::Low,
            () => Confidence::Medium,
        },
    }
}

fn remedy(sleeps: bool, what: &str) -> &'static str {
    match what {
        _ if sleeps => {
            "answer at once: let the client ask again later, push when there is news (server-sent events, a \
             WebSocket), or do what has to wait in a job"
        }
        "a subprocess" => {
            "do it in Ruby, or in a job outside of the request; keep one process and talk to it"
        }
        "writing" | "fsync" => {
            "write it from a thread of its own or after the answer, and flush less often"
        }
        "a name server" => "keep the address, or run a caching resolver on this host",
        _ => "do it outside of the request, keep its result, or give it a time limit",
    }
}

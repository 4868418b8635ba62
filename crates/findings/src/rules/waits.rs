//! Requests sleeping, or waiting for something other than SQL, HTTP, or a lock.

use crate::rule_id::RuleId;
use figures::counted;
use recording::{ActKind, BurstKind};
use words::{Text, text};

use crate::acts::ActSum;
use crate::context::Context;
use crate::rules::subprocess::SUBPROCESS;
use crate::text::{called_from, ms, percent, place, title};
use crate::types::{Confidence, Finding, Remedy, Safety};
use crate::worth::Worth;
use figures::numbers;

/// Share of the handlers' time from which a sleep is worth a change. Chosen by judgement.
const SLEEP_SHARE_MIN: f64 = 0.05;
/// Share of the route's own time from which a sleep is worth a change although the route is rare or
/// cheap beside others. Chosen by judgement.
const SLEEP_SHARE_OF_ROUTE_MIN: f64 = 0.25;
/// Share of the handlers' time for waits of other kinds, unless most of a route is waiting: a busy
/// disk may be among the causes.
const OTHER_SHARE_MIN: f64 = 0.1;
/// Share of a route's time off the GVL spent computing, or waiting for a core to compute, from
/// which computing is the cause.
const COMPUTES_MIN: f64 = 0.5;
/// Value of `COMPUTES_MIN` when other programs take the cores: most of the rest is then waiting for
/// one. A call that waits for something else uses next to no CPU.
const COMPUTES_MIN_SHARED: f64 = 0.25;
/// Beginnings of the names of native methods for hashing passwords, deriving keys and compressing,
/// all without the GVL and for long.
const COMPUTING: [&str; 8] = [
    "BCrypt::",
    "SCrypt::",
    "Argon2::",
    "OpenSSL::KDF",
    "OpenSSL::PKCS5",
    "Zlib",
    "Zstd",
    "Brotli",
];
/// Share of a line's waits in one method from which the method is the cause.
const INSIDE_MIN: f64 = 0.5;
/// Requests from which a mean says something.
const REQUESTS_MIN: u64 = 5;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let acts = context.acts.iter();
    let often = acts.filter(|act| act.requests() >= REQUESTS_MIN);
    often
        .filter_map(|act| Some(finding(context, act, &worth(context, act)?)))
        .collect()
}

/// Returns why a wait is worth a finding; `None` for a short one, and for calls and locks.
fn worth(context: &Context<'_>, act: &ActSum<'_>) -> Option<Worth> {
    let share = context.share_inside(act.time_ms);
    match act.kind {
        ActKind::Sleep => {
            let of_route = context.share_of_route(act);
            let is_long = share >= SLEEP_SHARE_MIN || of_route >= SLEEP_SHARE_OF_ROUTE_MIN;
            is_long.then_some(Worth::Run)
        }
        ActKind::OtherIo if act.what == SUBPROCESS => None,
        ActKind::OtherIo => {
            let demand = context.act_demand(act, BurstKind::OtherIo);
            context.worth(&demand, share >= OTHER_SHARE_MIN)
        }
        _ => None,
    }
}

/// Activity of a thread off the GVL outside of calls.
#[derive(Clone, Copy)]
enum Kind {
    Sleeps,
    /// Computes, or waits for a core, in the given share of the time off the GVL; without a share
    /// where the method's name alone says so: of a rare route too few requests have their CPU read.
    Computes(Option<f64>),
    Waits,
}

impl Kind {
    fn of(context: &Context<'_>, act: &ActSum<'_>) -> Kind {
        let route = act.routes.first().map(|(route, ..)| *route);
        let share = route.map_or(0.0, |route| context.computing_share(route));
        let share_min = match context.host_is_shared() {
            true => COMPUTES_MIN_SHARED,
            false => COMPUTES_MIN,
        };
        match act.kind {
            ActKind::Sleep => Kind::Sleeps,
            _ if share >= share_min => Kind::Computes(Some(share)),
            _ if waits_in(context, act).is_some_and(|(method, _)| computes(method)) => {
                Kind::Computes(None)
            }
            _ => Kind::Waits,
        }
    }

    fn rule(self) -> RuleId {
        match self {
            Kind::Sleeps => RuleId::Sleep,
            Kind::Computes(_) => RuleId::CpuOffGvl,
            Kind::Waits => RuleId::Wait,
        }
    }

    fn does(self, each: &str, what: &str) -> Text {
        match (self, what) {
            (Kind::Sleeps, _) => text!("sleeps {each} per request", each),
            (Kind::Computes(_), _) => text!("computes {each} per request off the GVL", each),
            (Kind::Waits, "") => text!("waits {each} per request", each),
            (Kind::Waits, what) => text!(
                "waits {each} per request for {what}",
                each,
                what = Text::named(what)
            ),
        }
    }

    fn why(self) -> Text {
        match self {
            Kind::Computes(_) => {
                text!(
                    "native code without the GVL runs beside Ruby, but it needs a core: with all cores in use, neither \
                       more threads nor more workers serve more"
                )
            }
            Kind::Sleeps | Kind::Waits => {
                text!(
                    "a waiting thread keeps its memory and often its database connection, and other requests queue behind it"
                )
            }
        }
    }

    /// Returns the confidence in the cause of the wait: a sleep is beyond doubt, and so is the CPU
    /// clock of a computing thread; other waits are also a busy host's.
    fn confidence(self, context: &Context<'_>) -> Confidence {
        match self {
            Kind::Sleeps | Kind::Computes(Some(_)) => Confidence::High,
            Kind::Computes(None) => Confidence::Medium,
            Kind::Waits if context.host_is_shared() => Confidence::Low,
            Kind::Waits => Confidence::Medium,
        }
    }

    fn burst(self) -> BurstKind {
        match self {
            Kind::Sleeps => BurstKind::Sleep,
            Kind::Computes(_) | Kind::Waits => BurstKind::OtherIo,
        }
    }
}

fn finding(context: &Context<'_>, act: &ActSum<'_>, worth: &Worth) -> Finding {
    let kind = Kind::of(context, act);
    let route = context.route_of(act);
    let each = ms(act.each_ms());
    let waits = match kind {
        Kind::Sleeps => counted!(act.count, "sleep"),
        Kind::Computes(_) => counted!(act.count, "turn"),
        Kind::Waits => counted!(act.count, "wait"),
    };
    let served = match kind {
        Kind::Computes(_) => Text::default(),
        _ => text!(", while the thread served nobody"),
    };
    let mut evidence = vec![text!(
        "{waits} in {requests} requests, {time} in all{served}",
        waits,
        requests = numbers::count(act.requests()),
        time = ms(act.time_ms),
        served
    )];
    if let Kind::Computes(Some(share)) = kind {
        evidence.push(text!("for {share} of its time off the GVL it computes or waits for a core, by the threads' clocks and replay", share = percent(share)));
    }
    if !act.site.is_empty() {
        evidence.push(called_from(act.site));
    }
    if let Some((method, share)) = waits_in(context, act) {
        evidence.push(text!(
            "{share} of it in {innermost}",
            share = percent(share),
            innermost = method
        ));
    }
    evidence.extend(worth.evidence());
    let gain = context.gain(&context.act_demand(act, kind.burst()));
    let place = place(Some(act.site));
    Finding {
        rule: kind.rule(),
        title: title(text!(
            "{route} {does} at {place}",
            route,
            does = kind.does(&each, act.what),
            place
        )),
        route: route.to_owned(),
        why: kind.why(),
        evidence,
        remedy: Remedy {
            text: remedy(kind, act.what),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}: −{each} per request on {route}, if all of it goes away",
            gain = gain.text,
            each,
            route
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: worth.confidence(kind.confidence(context)),
    }
}

/// Returns the method in which an act mostly waits, with a share of the waits, by samples.
fn waits_in<'c>(context: &'c Context<'_>, act: &ActSum<'_>) -> Option<(&'c str, f64)> {
    let (route, ..) = act.routes.first()?;
    let (method, share) = context.waits_in(*route, breakdown::line_of(act.site))?;
    (act.kind == ActKind::OtherIo && share >= INSIDE_MIN).then_some((method, share))
}

/// Whether a native method computes instead of waiting.
fn computes(method: &str) -> bool {
    COMPUTING.iter().any(|begins| method.starts_with(begins))
}

fn remedy(kind: Kind, what: &str) -> Text {
    match (kind, what) {
        (Kind::Computes(_), _) => {
            text!(
                "do it once and keep the result: hash a password at login only and keep a session, compress once or \
                 at the proxy; else choose a cheaper cost, or do it in a job outside of the request"
            )
        }
        (Kind::Sleeps, _) => {
            text!(
                "answer at once: let the client ask again later, push when there is news (server-sent events, a \
                 WebSocket), or do what has to wait in a job"
            )
        }
        (_, "writing" | "fsync") => {
            text!("write it from a thread of its own or after the answer, and flush less often")
        }
        (_, "a name server") => text!("keep the address, or run a caching resolver on this host"),
        _ => text!("do it outside of the request, keep its result, or give it a time limit"),
    }
}

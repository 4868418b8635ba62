//! Requests waiting for each other: a Mutex around slow work, a pool smaller than the threads.

use std::collections::BTreeMap;

use crate::exact::Exact;
use crate::rule_id::RuleId;
use figures::counted;
use recording::{ActKind, BurstKind};
use words::{Text, text};

use crate::acts::ActSum;
use crate::app;
use crate::associations::Mapper;
use crate::context::Context;
use crate::text::{called_from, ms, place, title};
use crate::types::{Confidence, Finding, Remedy, Safety};
use figures::numbers;

/// Share of the handlers' time from which a change is worth the effort. Chosen by judgement.
const SHARE_MIN: f64 = 0.05;
/// Requests from which a mean says something.
const REQUESTS_MIN: u64 = 10;

/// The resource waited for by the threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// A connection of the database's pool.
    Connection,
    /// An object of another pool: the database's has one for each thread.
    Pooled,
    /// Something another thread hands over: a pool's object, or a result.
    Taken,
    /// A lock.
    Lock,
    /// The end of another thread.
    Thread,
}

/// Smallest gain when no line of the app says whose the lock is: often the logger's, waited for
/// only because the holder waits for the GVL.
const GAIN_MIN_PLACELESS: f64 = 0.1;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let locks = context.acts.iter().filter(|act| act.kind == ActKind::Lock);
    let worth = |act: &&ActSum<'_>| {
        act.requests() >= REQUESTS_MIN && context.share_inside(act.time_ms) >= SHARE_MIN
    };
    let locks = by_lock(locks);
    let acts = locks.iter().filter(worth);
    let findings = acts.map(|act| (act.site, finding(context, act)));
    // Without a place to look at, and with little to win, there is nothing to do about it.
    let is_useful = |(site, finding): &(&str, Finding)| {
        !site.is_empty() || finding.gain_share >= GAIN_MIN_PLACELESS
    };
    findings
        .filter(is_useful)
        .map(|(_, finding)| finding)
        .collect()
}

/// All waits for one lock as one, the longest first.
fn by_lock<'s, 'a: 's>(acts: impl Iterator<Item = &'s ActSum<'a>>) -> Vec<ActSum<'a>> {
    let mut locks: BTreeMap<(&str, &str), Vec<&ActSum<'a>>> = BTreeMap::new();
    for act in acts {
        let lock = whatif::lock_identity(act.what, act.site);
        locks.entry(lock).or_default().push(act);
    }
    let mut sums: Vec<ActSum<'a>> = locks
        .values()
        .filter_map(|same| ActSum::together(same))
        .collect();
    sums.sort_by(|a, b| b.time_ms.total_cmp(&a.time_ms));
    sums
}

/// Returns what is waited for. The agent knows a pool by its file, and the gem connection_pool is
/// behind clients of Redis and HTTP too.
fn held(context: &Context<'_>, what: &str) -> Held {
    let target = &context.recording.meta.target;
    let has_all = |pool: u32| target.threads > 0 && pool >= target.threads;
    match what {
        "connection pool" if target.database_pool.is_some_and(has_all) => Held::Pooled,
        "connection pool" => Held::Connection,
        "Queue#pop" | "SizedQueue#push" | "ConditionVariable#wait" => Held::Taken,
        "Thread#join" => Held::Thread,
        _ => Held::Lock,
    }
}

/// Returns the title: the wait, with its object and line.
fn what(act: &ActSum<'_>, held: Held) -> Text {
    let (each, at) = (ms(act.each_ms()), place(Some(act.site)));
    match held {
        Held::Connection => text!(
            "requests wait {each} for a database connection at {at}",
            each,
            at
        ),
        Held::Pooled => text!(
            "requests wait {each} for a connection of a pool at {at}",
            each,
            at
        ),
        Held::Taken => text!(
            "requests wait {each} in {lock} at {at}, for something that another thread hands over (a pool's object, a \
             result)",
            each,
            lock = Text::named(act.what),
            at
        ),
        Held::Thread => text!(
            "requests wait {each} for threads that they started, at {at}",
            each,
            at
        ),
        Held::Lock => text!(
            "requests wait {each} for a {lock} at {at}",
            each,
            lock = Text::named(act.what),
            at
        ),
    }
}

fn finding(context: &Context<'_>, act: &ActSum<'_>) -> Finding {
    let held = held(context, act.what);
    let route = context.route_of(act);
    let each = ms(act.each_ms());
    let mut evidence = vec![text!(
        "{waits} in {requests} requests, {time} in all; most of it in {route}",
        waits = counted!(act.count, "wait"),
        requests = numbers::count(act.requests()),
        time = ms(act.time_ms),
        route
    )];
    evidence.extend(sizes(context, held));
    if !act.site.is_empty() {
        evidence.push(called_from(act.site));
    }
    let gain = context.gain(&context.act_demand(act, BurstKind::Lock));
    Finding {
        rule: match held {
            Held::Connection | Held::Pooled | Held::Taken => RuleId::PoolWait,
            Held::Thread | Held::Lock => RuleId::LockWait,
        },
        title: title(what(act, held)),
        route: route.to_owned(),
        why: why(held),
        evidence,
        remedy: remedy(context, held),
        estimated_gain: text!(
            "{gain}: each request waits {each} for others",
            gain = gain.at_most(),
            each
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: match held {
            // Whose lock it is nobody can look up.
            Held::Lock if act.site.is_empty() => Confidence::Low,
            Held::Connection | Held::Lock => Confidence::High,
            Held::Pooled | Held::Taken | Held::Thread => Confidence::Medium,
        },
    }
}

/// Returns the numbers of threads and of the connections shared, if known.
fn sizes(context: &Context<'_>, held: Held) -> Option<Text> {
    let target = &context.recording.meta.target;
    let threads = target.threads;
    match (held, target.database_pool) {
        (Held::Connection, Some(pool)) => Some(text!(
            "{threads} threads share {pool} connections",
            threads,
            pool
        )),
        (Held::Pooled, Some(pool)) => Some(text!(
            "the database's pool has {pool} connections for {threads} threads: another pool is waited for",
            pool,
            threads
        )),
        (Held::Connection, _) if threads > 0 => Some(text!(
            "up to {threads} threads of a worker may want one at the same time",
            threads
        )),
        _ => None,
    }
}

fn why(held: Held) -> Text {
    match held {
        Held::Connection | Held::Pooled => {
            text!(
                "threads beyond the pool's size stand still with their requests, however idle the database or \
                 service is"
            )
        }
        Held::Taken => {
            text!("the request stands still until another thread hands over what it waits for")
        }
        Held::Thread => text!("the request is as slow as the slowest thread that it started"),
        Held::Lock => {
            text!(
                "only one thread of the process gets through at a time; the more threads there are, the longer the \
                 line"
            )
        }
    }
}

fn remedy(context: &Context<'_>, held: Held) -> Remedy {
    let threads = context.recording.meta.target.threads;
    let (text, exact, safety) = match held {
        Held::Connection => (
            text!(
                "give the pool a connection for each thread of a worker (`pool` in database.yml, `max_connections` of \
                 Sequel.connect); the server must allow workers × pool connections"
            ),
            (threads > 0).then(|| format!("{}: {threads}", pool_size(context))),
            Safety::Careful,
        ),
        Held::Pooled => (
            text!(
                "make the pool as large as the threads of a worker, or hold what was taken for a shorter time"
            ),
            None,
            Safety::Code,
        ),
        Held::Taken => (
            text!(
                "where it is a pool's object, make the pool as large as the threads of a worker, or hold the object for a \
                 shorter time; where it is a result, let the other thread begin earlier or do less"
            ),
            None,
            Safety::Code,
        ),
        Held::Thread => (
            text!("give the threads less to do, or move what the answer does not need into a job"),
            None,
            Safety::Code,
        ),
        Held::Lock => (
            text!(
                "keep I/O and slow work out of the lock: prepare before, publish inside; take a lock for each key \
                 instead of one for all, or a structure that needs none (Concurrent::Map)"
            ),
            None,
            Safety::Code,
        ),
    };
    Remedy {
        text: text.to_owned(),
        exact: exact.map(Exact::Text),
        safety,
    }
}

/// Returns the name of the pool's option, in the words of the app's object mapper.
fn pool_size(context: &Context<'_>) -> &'static str {
    app::mapper(context)
        .unwrap_or(Mapper::ActiveRecord)
        .pool_size()
}

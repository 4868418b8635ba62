//! The lock most waited for by requests: which one, and how long requests hold the lock.
//!
//! A recorded wait for a lock is as long as it is because others held the lock meanwhile. With
//! other threads, or with less to do while the lock is held, it is another wait. So the lock is
//! replayed and its waits follow. What a request does after it has waited bounds what it may hold
//! the lock for; the share of that time in which it does is found by replay.

use std::collections::{BTreeMap, BTreeSet};

use breakdown::Joined;
use recording::{ActKind, Handled, Nanos, Recording, TextId};

/// Name of a wait for a pooled connection.
const POOL: &str = "connection pool";
/// Share of the handlers' time in waits for one lock below which no lock is replayed.
const SHARE_MIN: f64 = 0.03;

/// Name and site of a wait.
type Wait = (TextId, TextId);

/// A lock shared by requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lock {
    /// Names and sites of the waits for the lock: call paths through the app to the one line taking
    /// the lock.
    waits: BTreeSet<Wait>,
    /// Threads of a worker able to hold the lock at once.
    pub(super) places: u32,
    /// Mean wait over all requests, including the ones without a wait.
    pub(super) wait_mean: Nanos,
    /// Share of the time after a wait spent holding the lock, 0 to 1; found by replay.
    pub(super) held: f64,
}

impl Lock {
    /// The lock with the longest waits; `None` where no lock matters, or none whose places are
    /// known.
    pub(super) fn of(recording: &Recording, joined: &Joined<'_>) -> Option<Lock> {
        let mut waits: BTreeMap<Wait, Nanos> = BTreeMap::new();
        let (mut requests, mut all) = (0_u64, Nanos::ZERO);
        for handled in joined.requests.iter().filter_map(|seen| seen.handled) {
            requests += 1;
            all += handled.parts.total();
            let locks = handled.acts.iter().filter(|act| act.kind == ActKind::Lock);
            for act in locks {
                *waits.entry((act.what, act.site)).or_default() += act.time;
            }
        }
        let mut locks: BTreeMap<(&str, &str), (Nanos, BTreeSet<Wait>)> = BTreeMap::new();
        let text = |id| recording.texts.get(id).unwrap_or("");
        for (wait, time) in waits {
            let identity = lock_identity(text(wait.0), text(wait.1));
            let (all, same) = locks.entry(identity).or_default();
            *all += time;
            same.insert(wait);
        }
        let ((name, _), (wait, waits)) = locks.into_iter().max_by_key(|(_, (time, _))| *time)?;
        let places = places(name, recording.meta.target.database_pool)?;
        let matters = wait.0 as f64 >= SHARE_MIN * all.0 as f64;
        matters.then(|| Lock {
            waits,
            places,
            wait_mean: Nanos(wait.0 / requests.max(1)),
            held: 0.0,
        })
    }

    /// Whether the request waited for the lock.
    pub(super) fn is_waited_for(&self, handled: &Handled) -> bool {
        let same = |act: &recording::Act| {
            act.kind == ActKind::Lock && self.waits.contains(&(act.what, act.site))
        };
        handled.acts.iter().any(same)
    }
}

/// Returns the identity of a lock from the name and the site of a wait: the name, and the line
/// taking the lock, whoever calls the line. Lines that wait for a pool wait for the same one.
pub fn lock_identity<'t>(name: &'t str, site: &'t str) -> (&'t str, &'t str) {
    let line = match name {
        POOL => "",
        _ => breakdown::line_of(site),
    };
    (name, line)
}

/// Returns how many threads may hold a lock of a name at once; `None` if unknown. A queue or a
/// condition is waited for until somebody signals it, and a thread until it ends: nothing is held.
fn places(name: &str, pool: Option<u32>) -> Option<u32> {
    match name {
        "Mutex" | "Monitor" => Some(1),
        POOL => pool.filter(|pool| *pool > 0),
        _ => None,
    }
}

//! Waits of a request with a transaction or a pooled connection in hand, by the stacks of samples.

use std::collections::BTreeMap;

use recording::BurstKind;
use stacks::{Location, Profile, Sample, State};

use super::seen::{method, own};

/// Library methods running a block in a transaction: ActiveRecord's, Sequel's, the drivers' own.
const TRANSACTION: [&str; 2] = ["transaction", "within_new_transaction"];
/// Methods of ActiveRecord running callbacks of an ended transaction (`after_commit`,
/// `after_rollback`), below the method running the transaction.
const ENDED: [&str; 2] = ["commit_records", "rollback_records"];
/// Library methods running a block with a pooled connection: connection_pool's, ActiveRecord's,
/// Sequel's.
const CONNECTION: [&str; 5] = ["with", "with_connection", "hold", "synchronize", "checkout"];
/// Part of the names of the classes with [`CONNECTION`] methods.
const POOL: &str = "Pool";
const SEQUEL: &str = "Sequel::Database";

/// A resource held by a waiting request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holds {
    /// An open transaction, with the locked rows.
    Transaction,
    /// A connection of a pool.
    Connection,
}

/// A line where a waiting request holds a transaction or a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Held {
    /// The resource.
    pub(crate) holds: Holds,
    /// The line of the app opening the transaction or taking the connection, such as
    /// `app/models/order.rb:12`.
    pub(crate) line: String,
    /// The innermost line of the app, which waits.
    pub(crate) waits_at: String,
    /// Index of the route.
    pub(crate) route: usize,
}

/// Weights of waiting samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// Weight of all waits by route and kind.
    all: BTreeMap<(usize, u8), u64>,
    held: BTreeMap<(Held, u8), u64>,
}

/// Waits with something held: where, of which kind, and the share of the route's waits of the same
/// kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeldWait {
    /// The line and the resource.
    pub(crate) held: Held,
    /// The kind of stretch.
    pub(crate) kind: BurstKind,
    /// 0 to 1.
    pub(crate) share: f64,
}

impl Waiting {
    pub(super) fn add(&mut self, profile: &Profile, root: &str, route: usize, sample: &Sample) {
        let kind = match sample.state {
            State::Http => BurstKind::Http,
            State::Sleep => BurstKind::Sleep,
            State::Io => BurstKind::OtherIo,
            _ => return,
        } as u8;
        *self.all.entry((route, kind)).or_default() += sample.weight;
        if let Some(held) = held(profile, profile.stack(sample.stack), root, route) {
            *self.held.entry((held, kind)).or_default() += sample.weight;
        }
    }

    pub(super) fn held(&self) -> Vec<HeldWait> {
        let waits = self.held.iter().filter_map(|((held, kind), weight)| {
            let all = self.all.get(&(held.route, *kind))?;
            Some(HeldWait {
                held: held.clone(),
                kind: BurstKind::ALL[usize::from(*kind)],
                share: *weight as f64 / (*all).max(1) as f64,
            })
        });
        waits.collect()
    }
}

/// Returns the resource held in a stack, innermost first: a transaction before the transaction's
/// connection.
fn held(profile: &Profile, locations: &[Location], root: &str, route: usize) -> Option<Held> {
    let line = |location: &Location| {
        let file = own(root, &profile.frame(location.frame).file)?;
        Some(format!("{file}:{}", location.line))
    };
    let waits_at = locations.iter().find_map(line)?;
    let of = |holds: Holds| {
        let at = locations.iter().position(|location| {
            let frame = profile.frame(location.frame);
            own(root, &frame.file).is_none() && is_holder(&frame.name, holds)
        })?;
        let line = locations[at + 1..].iter().find_map(line)?;
        // The statement's own wait for its connection is no wait besides.
        let below = &locations[..at];
        let waits = below
            .iter()
            .any(|inner| own(root, &profile.frame(inner.frame).file).is_some());
        let ends = |inner: &Location| ENDED.contains(&method(&profile.frame(inner.frame).name));
        let has_ended = holds == Holds::Transaction && below.iter().any(ends);
        (waits && !has_ended).then_some((holds, line))
    };
    let (holds, line) = of(Holds::Transaction).or_else(|| of(Holds::Connection))?;
    Some(Held {
        holds,
        line,
        waits_at,
        route,
    })
}

fn is_holder(name: &str, holds: Holds) -> bool {
    let called = method(name);
    match holds {
        Holds::Transaction => TRANSACTION.contains(&called),
        Holds::Connection => {
            CONNECTION.contains(&called) && (name.contains(POOL) || name.contains(SEQUEL))
        }
    }
}

//! Named work by the stacks of samples: JSON, Marshal, sessions and templates, with what libraries
//! and the app do below.

use std::collections::BTreeMap;

use recording::BurstKind;
use stacks::{Frame, Location, Profile, Sample, State};

use super::seen::{Seen, makes_json, method};

/// Beginning of the names of Marshal's methods.
const MARSHAL: &str = "Marshal.";
/// Methods of Rack's sessions, of which stores override one or the other, and a part of the names
/// of all classes of stores.
const SESSION: [&str; 2] = ["load_session", "commit_session"];
const SESSIONS: &str = "Session";
/// Methods for rendering a template: ActionView's, Tilt's and ERB's own.
const TEMPLATE: [&str; 3] = [
    "ActionView::Template#render",
    "Tilt::Template#render",
    "ERB#result",
];

/// A kind of work with a name, for whichever line of the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    Json,
    Marshal,
    Session,
    Template,
}

impl Named {
    /// Returns the innermost named work of a stack: work within other work is counted once, as by
    /// the agent.
    pub(super) fn innermost(profile: &Profile, locations: &[Location]) -> Option<Named> {
        let mut frames = locations.iter().map(|at| profile.frame(at.frame));
        frames.find_map(Named::of)
    }

    fn of(frame: &Frame) -> Option<Named> {
        let name = &frame.name;
        if makes_json(frame) {
            Some(Named::Json)
        } else if name.starts_with(MARSHAL) {
            Some(Named::Marshal)
        } else if SESSION.contains(&method(name)) && name.contains(SESSIONS) {
            Some(Named::Session)
        } else if TEMPLATE.contains(&name.as_str()) {
            Some(Named::Template)
        } else {
            None
        }
    }

    /// Whether statements below are a part of the work: a session is a row of a store. What a
    /// template asks for is shown.
    fn asks(self) -> bool {
        self == Named::Session
    }
}

/// Shares of a route's time, 0 to 1, by [`BurstKind`].
pub(crate) type ByKind = [f64; BurstKind::ALL.len()];

/// The named work of a route, in weights of samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Works {
    /// All samples of the route.
    all: [u64; BurstKind::ALL.len()],
    named: BTreeMap<Named, [u64; BurstKind::ALL.len()]>,
}

impl Works {
    pub(super) fn add(&mut self, stack: &Seen<'_>, sample: &Sample) {
        let Some(kind) = kind(sample.state) else {
            return;
        };
        self.all[kind as usize] += sample.weight;
        let counts = |named: &Named| named.asks() || !stack.queries();
        if let Some(named) = stack.named.filter(counts) {
            self.named.entry(named).or_default()[kind as usize] += sample.weight;
        }
    }

    /// Shares of a kind of work in the route's time of each kind; `None` without a sample of
    /// the work.
    pub(super) fn shares(&self, named: Named) -> Option<ByKind> {
        let weights = self.named.get(&named)?;
        let share = |kind: usize| weights[kind] as f64 / self.all[kind].max(1) as f64;
        Some(std::array::from_fn(share))
    }
}

/// Returns the kind of the stretch around a sample; `None` while a thread waits for the GVL.
fn kind(state: State) -> Option<BurstKind> {
    match state {
        State::Running | State::Gc => Some(BurstKind::Running),
        State::Sql => Some(BurstKind::Sql),
        State::Http => Some(BurstKind::Http),
        State::Lock | State::Pool => Some(BurstKind::Lock),
        State::Sleep => Some(BurstKind::Sleep),
        State::Io => Some(BurstKind::OtherIo),
        State::GvlWait => None,
    }
}

//! Activities and waits of a request besides calls: waits by source line, named work, connections
//! and prepared statements. At most [`ACTS_MAX`] are distinguished; none of it costs a request
//! without.

use ring::{ActRecord, TextKind};

use super::ThreadState;
use crate::api::{Api, Value};
use crate::clock::monotonic_ns;
use crate::timeline::Part;

/// Most distinct activities recorded in one request.
pub(super) const ACTS_MAX: usize = 16;

/// Shortest wait recorded with a source line, ns: shorter ones count in the request's parts only,
/// without a walk of the stack.
pub(crate) const WAIT_TOLD_NS: u64 = 1_000_000;

/// Shortest work recorded with a source line, ns: for shorter work a line would cost as much as the
/// work.
const LINE_TOLD_NS: u64 = 20_000;

/// Levels of nested work recorded; deeper work counts as the surrounding one.
const WORKS_MAX: usize = 8;

/// Kinds of acts, numbered as in `recording::ActKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActKind {
    Lock = 0,
    Sleep = 1,
    OtherIo = 2,
    Work = 3,
    Connect = 4,
    Prepare = 5,
    Close = 6,
}

/// Result of beginning named work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkEntry {
    /// To be recorded: [`ThreadState::end_work`] must follow.
    Counted,
    /// Not to be recorded.
    Passed,
    /// Again on the same object: call the original method.
    Same,
}

/// Work in progress, by level.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Works {
    depth: usize,
    open: [Work; WORKS_MAX],
}

#[derive(Clone, Copy, Default)]
struct Work {
    code: i64,
    receiver: Value,
    start: u64,
    /// Nanoseconds since the request's begin not counted as work, as of the start.
    away: u64,
    /// Nanoseconds of other work within.
    inner: u64,
}

impl Works {
    pub(super) fn clear(&mut self) {
        self.depth = 0;
    }
}

impl ThreadState {
    /// Adds one act to the request.
    pub(super) fn add_act(&mut self, kind: ActKind, what: u64, site: u64, time: u64) {
        let acts = &mut self.told.acts;
        let kind = kind as u8;
        let same = |act: &&mut ActRecord| act.kind == kind && act.what == what && act.site == site;
        if let Some(act) = acts.iter_mut().find(same) {
            act.count = act.count.saturating_add(1);
            act.time += time;
        } else if acts.len() < ACTS_MAX {
            acts.push(ActRecord {
                kind,
                what,
                site,
                count: 1,
                time,
            });
        }
    }

    /// A wait outside of calls has ended. Called from a hook: what is written has its place
    /// already.
    #[inline(never)]
    pub(crate) fn add_wait(&mut self, api: &Api, part: Part, what: &[u8], off_ns: u64) {
        let kind = match part {
            Part::Lock => ActKind::Lock,
            Part::Sleep => ActKind::Sleep,
            Part::OtherIo => ActKind::OtherIo,
            _ => return,
        };
        let what = self.tell(TextKind::Name, what);
        let site = self.site(api);
        self.add_act(kind, what, site, off_ns);
    }

    /// Returns the hash of the thread's current source line of the app, recorded once; 0 without
    /// one.
    pub(crate) fn site(&mut self, api: &Api) -> u64 {
        let callers = self.sites.callers(api);
        if callers.is_empty() {
            return 0;
        }
        if let Some(known) = self.sites.known(&callers) {
            return known;
        }
        let text = callers.text(api);
        let told = self.tell(TextKind::Site, text.bytes());
        self.sites.remember(&callers, told);
        told
    }

    /// Work of a known name begins.
    pub(crate) fn begin_work(&mut self, code: i64, receiver: Value) -> WorkEntry {
        let Works { open, depth } = &mut self.works;
        let same = |work: &Work| work.code == code && work.receiver == receiver;
        if open[..*depth].iter().any(same) {
            return WorkEntry::Same;
        }
        if *depth == WORKS_MAX || self.timeline.in_call() {
            return WorkEntry::Passed;
        }
        open[*depth] = Work {
            code,
            receiver,
            start: monotonic_ns(),
            away: self.timeline.away(),
            inner: 0,
        };
        *depth += 1;
        WorkEntry::Counted
    }

    /// Ends the innermost work. Its time is without calls, waits for the GVL, and work within it.
    pub(crate) fn end_work(&mut self, api: &Api, name: &[u8]) {
        let now = monotonic_ns();
        let away = self.timeline.away();
        let Works { open, depth } = &mut self.works;
        // A request that began within work has forgotten it.
        let Some(last) = depth.checked_sub(1) else {
            return;
        };
        *depth = last;
        let work = open[last];
        let whole = now
            .saturating_sub(work.start)
            .saturating_sub(away.saturating_sub(work.away));
        if let Some(around) = last.checked_sub(1) {
            open[around].inner += whole;
        }
        let own = whole.saturating_sub(work.inner);
        let what = self.tell(TextKind::Name, name);
        let site = if own >= LINE_TOLD_NS {
            self.site(api)
        } else {
            0
        };
        self.add_act(ActKind::Work, what, site, own);
    }
}

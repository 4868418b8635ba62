//! One thread's way through a request: every instant gets one name. Pure: time is handed in.
//!
//! Order of names: GVL wait; else GC on this thread; else the SQL or HTTP call it is in (with and
//! without the GVL apart); else, off the GVL, what it waits for; else running.

use ring::BURSTS_MAX;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Index of a part, in the order of `ring::RequestRecord::parts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    GvlWait = 0,
    Gc = 1,
    SqlRunning = 2,
    SqlWaiting = 3,
    HttpRunning = 4,
    HttpWaiting = 5,
    Lock = 6,
    Sleep = 7,
    OtherIo = 8,
    Running = 9,
}

/// The call around the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Span {
    #[default]
    None,
    Sql,
    Http,
}

/// Readings too expensive for every request.
pub(crate) trait Costly {
    /// Returns the CPU nanoseconds of the calling thread.
    fn thread_cpu_ns(&self) -> u64;
    /// Objects ever allocated by the process.
    fn allocated(&self) -> u64;
}

/// Value of `ready_at` while no request is handled, and the time of becoming ready is not needed.
const NOT_ASKED: u64 = u64::MAX;

/// Leaves the time in a timeline's `ready_at`, unless one is there already or none is needed. The
/// clock is read only when its value is wanted: threads become ready far more often between
/// requests than in them.
pub(crate) fn mark_ready(ready_at: &AtomicU64, clock: impl FnOnce() -> u64) {
    if ready_at.load(Relaxed) == 0 {
        let _ = ready_at.compare_exchange(0, clock(), Relaxed, Relaxed);
    }
}

/// Sums over the stretches of a sampled request.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    begun_cpu: u64,
    stretch_cpu: u64,
    stretch_allocated: u64,
    running_wall: u64,
    running_cpu: u64,
    allocated: u64,
}

/// The state of one request on one thread. In this order: the first fields fill one cache line,
/// which with the parts is all that an event outside of samples touches.
#[repr(C)]
pub(crate) struct Timeline {
    pub(crate) start: u64,
    /// Start of the present stretch.
    last: u64,
    pub(crate) events: u64,
    span: Span,
    in_gc: bool,
    /// Whether the thread has left the GVL, at `last`.
    suspended: bool,
    is_sampled: bool,
    /// Time of the thread's becoming ready again, monotonic nanoseconds, 0 before. Written by the
    /// waking thread, read by this one after it was resumed; the GVL's own lock orders the two, so
    /// `Relaxed` is enough. Apart from the rest, so that another thread touches nothing that this
    /// one borrows.
    ready_at: &'static AtomicU64,
    /// Kind as in `recording::BurstKind`, and nanoseconds.
    pub(crate) bursts: Vec<(u8, u64)>,
    pub(crate) parts: [u64; 10],
    /// Meaningful while `is_sampled`.
    sample: Sample,
}

impl Timeline {
    pub(crate) fn new(ready_at: &'static AtomicU64) -> Timeline {
        ready_at.store(NOT_ASKED, Relaxed);
        Timeline {
            start: 0,
            last: 0,
            events: 0,
            span: Span::None,
            in_gc: false,
            suspended: false,
            is_sampled: false,
            ready_at,
            bursts: Vec::with_capacity(BURSTS_MAX),
            parts: [0; 10],
            sample: Sample::default(),
        }
    }

    /// A request begins. `costly` is given for sampled requests.
    pub(crate) fn begin(&mut self, now: u64, costly: Option<&dyn Costly>) {
        self.start = now;
        self.last = now;
        self.parts = [0; 10];
        self.bursts.clear();
        self.events = 0;
        self.span = Span::None;
        self.in_gc = false;
        self.suspended = false;
        self.ready_at.store(0, Relaxed);
        self.is_sampled = costly.is_some();
        if let Some(costly) = costly {
            let cpu = costly.thread_cpu_ns();
            self.sample = Sample {
                begun_cpu: cpu,
                stretch_cpu: cpu,
                stretch_allocated: costly.allocated(),
                ..Sample::default()
            };
        }
    }

    /// Ends the request; returns `running_wall, running_cpu, total_cpu, allocated` of a sampled
    /// one.
    pub(crate) fn end(&mut self, now: u64, costly: &dyn Costly) -> Option<[u64; 4]> {
        self.close_running(now, costly);
        self.ready_at.store(NOT_ASKED, Relaxed);
        let sample = &self.sample;
        std::mem::take(&mut self.is_sampled).then(|| {
            [
                sample.running_wall,
                sample.running_cpu,
                sample.stretch_cpu - sample.begun_cpu,
                sample.allocated,
            ]
        })
    }

    /// The thread leaves the GVL.
    pub(crate) fn suspend(&mut self, now: u64, costly: &dyn Costly) {
        self.events += 1;
        // Ruby 3.2 reports it twice for a native sleep.
        if !self.suspended {
            self.close_running(now, costly);
            self.ready_at.store(0, Relaxed);
            self.suspended = true;
        }
    }

    /// Returns the place for the time when the thread could run again, set by any native thread
    /// with [`mark_ready`].
    pub(crate) fn ready_at(&self) -> &'static AtomicU64 {
        self.ready_at
    }

    /// The thread has the GVL again. `reason` is asked what a wait outside a call was for.
    pub(crate) fn resume(
        &mut self,
        now: u64,
        costly: &dyn Costly,
        reason: impl FnOnce(u64) -> Part,
    ) {
        self.events += 2;
        let ready = match self.ready_at.swap(0, Relaxed) {
            0 => now,
            ready => ready.clamp(self.last, now),
        };
        if self.suspended {
            self.suspended = false;
            let off = ready - self.last;
            let part = match self.span {
                Span::Sql => Part::SqlWaiting,
                Span::Http => Part::HttpWaiting,
                Span::None => reason(off),
            };
            self.add(part, off);
            self.burst(part, off);
        } else {
            // Ruby 3.2 yields its time slice with READY and RESUMED alone.
            self.close_running(ready, costly);
        }
        self.add(Part::GvlWait, now - ready);
        self.last = now;
        self.open_stretch(costly);
    }

    /// Starts or stops a collection of garbage on the thread.
    pub(crate) fn set_gc(&mut self, in_gc: bool, now: u64, costly: &dyn Costly) {
        self.close_running(now, costly);
        self.in_gc = in_gc;
    }

    /// A call starts or stops.
    pub(crate) fn set_span(&mut self, span: Span, now: u64, costly: &dyn Costly) {
        self.close_running(now, costly);
        self.span = span;
    }

    /// GVL wait so far, for the share of one call.
    pub(crate) fn gvl_wait(&self) -> u64 {
        self.parts[Part::GvlWait as usize]
    }

    /// Whether the thread is in an SQL or HTTP call.
    pub(crate) fn in_call(&self) -> bool {
        self.span != Span::None
    }

    /// Time so far in calls, and waiting for the GVL or a lock. Exact outside of calls, while the
    /// thread runs.
    ///
    /// A lock's wait belongs to whoever holds the lock: the log's own lock, say, is waited for most
    /// where threads are preempted while they write, and a line that is not written would not
    /// shorten that.
    pub(crate) fn away(&self) -> u64 {
        const AWAY: [Part; 6] = [
            Part::GvlWait,
            Part::Lock,
            Part::SqlRunning,
            Part::SqlWaiting,
            Part::HttpRunning,
            Part::HttpWaiting,
        ];
        AWAY.iter().map(|part| self.parts[*part as usize]).sum()
    }

    /// Gives the stretch up to `now` to what the thread did with the GVL. Also after SUSPENDED
    /// without RESUMED: Ruby 3.3 reports SUSPENDED before it finds that an interrupt is pending and
    /// runs on.
    fn close_running(&mut self, now: u64, costly: &dyn Costly) {
        self.suspended = false;
        let length = now.saturating_sub(self.last);
        let part = match (self.in_gc, self.span) {
            (true, _) => Part::Gc,
            (false, Span::Sql) => Part::SqlRunning,
            (false, Span::Http) => Part::HttpRunning,
            (false, Span::None) => Part::Running,
        };
        self.add(part, length);
        self.burst(Part::Running, length);
        self.last = now;
        if self.is_sampled {
            self.sample_running(part, length, costly);
        }
    }

    #[cold]
    fn sample_running(&mut self, part: Part, length: u64, costly: &dyn Costly) {
        let sample = &mut self.sample;
        let cpu = costly.thread_cpu_ns();
        let allocated = costly.allocated();
        if part == Part::Running {
            sample.running_wall += length;
            sample.running_cpu += cpu - sample.stretch_cpu;
        }
        sample.allocated += allocated.saturating_sub(sample.stretch_allocated);
        sample.stretch_cpu = cpu;
        sample.stretch_allocated = allocated;
    }

    /// Begins a stretch with the GVL: CPU and objects so far belong to other threads or were
    /// counted.
    fn open_stretch(&mut self, costly: &dyn Costly) {
        if self.is_sampled {
            self.sample.stretch_cpu = costly.thread_cpu_ns();
            self.sample.stretch_allocated = costly.allocated();
        }
    }

    fn add(&mut self, part: Part, length: u64) {
        self.parts[part as usize] += length;
    }

    fn burst(&mut self, part: Part, length: u64) {
        let kind = match part {
            Part::SqlWaiting => 1,
            Part::HttpWaiting => 2,
            Part::Lock => 3,
            Part::Sleep => 4,
            Part::OtherIo => 5,
            _ => 0,
        };
        let full = self.bursts.len() == BURSTS_MAX;
        match self.bursts.last_mut() {
            Some((last, sum)) if *last == kind => *sum += length,
            _ if length == 0 => {}
            _ if !full => self.bursts.push((kind, length)),
            _ => {
                if let Some((_, sum)) = self.bursts.iter_mut().rev().find(|(k, _)| *k == kind) {
                    *sum += length;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// CPU time runs at half the speed of wall time; an object is allocated every nanosecond.
    struct Fake(u64);

    impl Costly for Fake {
        fn thread_cpu_ns(&self) -> u64 {
            self.0 / 2
        }
        fn allocated(&self) -> u64 {
            self.0
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Event {
        Suspend,
        Ready,
        Resume,
        Gc(bool),
        Span(Span),
    }

    fn play(events: &[(u64, Event)], end: u64) -> (Timeline, Option<[u64; 4]>) {
        let mut timeline = Timeline::new(Box::leak(Box::new(AtomicU64::new(0))));
        timeline.begin(1000, Some(&Fake(1000)));
        for (at, event) in events {
            let now = 1000 + at;
            let fake = Fake(now);
            match event {
                Suspend => timeline.suspend(now, &fake),
                Ready => mark_ready(timeline.ready_at(), || now),
                Resume => timeline.resume(now, &fake, |_| Part::Sleep),
                Gc(on) => timeline.set_gc(*on, now, &fake),
                Event::Span(span) => timeline.set_span(*span, now, &fake),
            }
        }
        let sample = timeline.end(1000 + end, &Fake(1000 + end));
        (timeline, sample)
    }

    #[track_caller]
    fn check(events: &[(u64, Event)], end: u64, expected: &[(Part, u64)]) {
        let (timeline, _) = play(events, end);
        let mut parts = [0; 10];
        for (part, length) in expected {
            parts[*part as usize] = *length;
        }
        assert_eq!(timeline.parts, parts);
    }

    use Event::{Gc, Ready, Resume, Suspend};

    #[test]
    fn a_sleep_then_a_wait_for_the_gvl() {
        check(
            &[(10, Suspend), (50, Ready), (57, Resume)],
            60,
            &[(Part::Running, 13), (Part::Sleep, 40), (Part::GvlWait, 7)],
        );
    }

    #[test]
    fn waiting_for_others_is_away_and_sleeping_is_not() {
        let check = |reason: Part, expected: u64| {
            let mut timeline = Timeline::new(Box::leak(Box::new(AtomicU64::new(0))));
            timeline.begin(1000, None);
            timeline.suspend(1010, &Fake(1010));
            mark_ready(timeline.ready_at(), || 1060);
            timeline.resume(1067, &Fake(1067), |_| reason);
            assert_eq!(timeline.away(), expected, "{reason:?}");
        };
        check(Part::Lock, 57);
        check(Part::Sleep, 7);
    }

    #[test]
    fn a_statement_is_split_into_running_waiting_and_gvl_wait() {
        check(
            &[
                (5, Event::Span(Span::Sql)),
                (8, Suspend),
                (20, Ready),
                (21, Resume),
                (30, Event::Span(Span::None)),
            ],
            31,
            &[
                (Part::Running, 6),
                (Part::SqlRunning, 12),
                (Part::SqlWaiting, 12),
                (Part::GvlWait, 1),
            ],
        );
    }

    #[test]
    fn collection_comes_before_the_call_it_happens_in() {
        check(
            &[
                (2, Event::Span(Span::Sql)),
                (4, Gc(true)),
                (9, Gc(false)),
                (10, Event::Span(Span::None)),
            ],
            12,
            &[(Part::Running, 4), (Part::SqlRunning, 3), (Part::Gc, 5)],
        );
    }

    #[test]
    fn preemption_is_all_gvl_wait() {
        check(
            &[(100, Suspend), (100, Ready), (400, Resume)],
            500,
            &[(Part::Running, 200), (Part::GvlWait, 300)],
        );
    }

    #[test]
    fn ruby_3_2_yields_without_suspended_and_suspends_twice() {
        check(
            &[(100, Ready), (150, Resume)],
            200,
            &[(Part::Running, 150), (Part::GvlWait, 50)],
        );
        check(
            &[(10, Suspend), (11, Suspend), (50, Ready), (50, Resume)],
            60,
            &[(Part::Running, 20), (Part::Sleep, 40)],
        );
    }

    #[test]
    fn a_suspension_that_never_was_counts_as_running() {
        check(&[(10, Suspend)], 60, &[(Part::Running, 60)]);
    }

    #[test]
    fn a_sample_counts_only_the_own_stretches() {
        let (_, sample) = play(&[(100, Suspend), (300, Ready), (400, Resume)], 500);
        // Running 0–100 and 400–500: half of it CPU, all of it allocating.
        assert_eq!(sample, Some([200, 100, 250, 200]));
    }

    #[test]
    fn bursts_alternate_and_leave_out_gvl_wait() {
        let (timeline, _) = play(&[(10, Suspend), (50, Ready), (57, Resume)], 60);
        assert_eq!(timeline.bursts, [(0, 10), (4, 40), (0, 3)]);
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            Just(Suspend),
            Just(Ready),
            Just(Resume),
            any::<bool>().prop_map(Gc),
            prop_oneof![Just(Span::None), Just(Span::Sql), Just(Span::Http)].prop_map(Event::Span),
        ]
    }

    proptest! {
        /// Whatever the order of the VM's events, each instant has exactly one name.
        #[test]
        fn parts_always_add_up(steps in prop::collection::vec((0u64..50, event()), 0..400)) {
            let mut at = 0;
            let events: Vec<_> = steps
                .into_iter()
                .map(|(step, event)| {
                    at += step;
                    (at, event)
                })
                .collect();
            let (timeline, sample) = play(&events, at + 5);
            prop_assert_eq!(timeline.parts.iter().sum::<u64>(), at + 5);
            prop_assert!(timeline.bursts.len() <= BURSTS_MAX);
            let burst_sum: u64 = timeline.bursts.iter().map(|(_, length)| length).sum();
            let gvl_wait = timeline.parts[Part::GvlWait as usize];
            prop_assert_eq!(burst_sum + gvl_wait, at + 5);
            let [wall, cpu, ..] = sample.expect("it was sampled");
            prop_assert!(wall <= at + 5);
            // The fake clock's half of the time, also where the thread waited for its turn.
            prop_assert!(cpu <= (at + 5).div_ceil(2));
        }
    }
}

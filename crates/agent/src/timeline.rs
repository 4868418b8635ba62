//! One thread's way through a request: every instant gets one name. Pure: time is handed in.
//!
//! Order of names: GVL wait; else GC on this thread; else the SQL or HTTP call it is in (with and without
//! the GVL apart); else, off the GVL, what it waits for; else running.

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

/// What the thread is calling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Span {
    #[default]
    None,
    Sql,
    Http,
}

/// Readings that are too dear for every request.
pub(crate) trait Costly {
    /// CPU nanoseconds of this thread.
    fn thread_cpu_ns(&self) -> u64;
    /// Objects ever allocated by the process.
    fn allocated(&self) -> u64;
}

/// Leaves the time in a timeline's `ready_at`, unless one is there already.
pub(crate) fn mark_ready(ready_at: &AtomicU64, now: u64) {
    let _ = ready_at.compare_exchange(0, now, Relaxed, Relaxed);
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

/// Longest list of bursts kept; later ones are added to the last of their kind.
pub(crate) const BURSTS_MAX: usize = 96;

/// The state of one request on one thread.
pub(crate) struct Timeline {
    pub(crate) start: u64,
    pub(crate) parts: [u64; 10],
    /// Kind as in `recording::BurstKind`, and nanoseconds.
    pub(crate) bursts: Vec<(u8, u64)>,
    pub(crate) events: u64,
    span: Span,
    in_gc: bool,
    /// Start of the present stretch.
    last: u64,
    /// When it left the GVL; meaningful while `suspended`.
    suspended: bool,
    /// When it became ready again, 0 before. Written by the waking thread, read by this one after it
    /// was resumed; the GVL's own lock orders the two, so `Relaxed` is enough. Apart from the rest, so
    /// that another thread touches nothing that this one borrows.
    ready_at: &'static AtomicU64,
    sample: Option<Sample>,
}

impl Timeline {
    pub(crate) fn new() -> Timeline {
        Timeline {
            start: 0,
            parts: [0; 10],
            bursts: Vec::with_capacity(BURSTS_MAX),
            events: 0,
            span: Span::None,
            in_gc: false,
            last: 0,
            suspended: false,
            ready_at: Box::leak(Box::new(AtomicU64::new(0))),
            sample: None,
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
        self.sample = costly.map(|costly| {
            let cpu = costly.thread_cpu_ns();
            Sample {
                begun_cpu: cpu,
                stretch_cpu: cpu,
                stretch_allocated: costly.allocated(),
                ..Sample::default()
            }
        });
    }

    /// The request ends; answers `running_wall, running_cpu, total_cpu, allocated` if it was sampled.
    pub(crate) fn end(&mut self, now: u64, costly: &dyn Costly) -> Option<[u64; 4]> {
        self.close_running(now, costly);
        self.sample.take().map(|sample| {
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
        // Ruby 3.2 tells it twice for a native sleep.
        if !self.suspended {
            self.close_running(now, costly);
            self.ready_at.store(0, Relaxed);
            self.suspended = true;
        }
    }

    /// Where to leave the time when the thread could run again; from any native thread, by [`mark_ready`].
    pub(crate) fn ready_at(&self) -> &'static AtomicU64 {
        self.ready_at
    }

    /// The thread has the GVL again. `reason` is asked what a wait outside a call was for.
    pub(crate) fn resume(&mut self, now: u64, costly: &dyn Costly, reason: impl FnOnce(u64) -> Part) {
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

    /// Collection of garbage starts or stops on this thread.
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

    /// Gives the stretch up to `now` to what the thread did with the GVL. Also after SUSPENDED without
    /// RESUMED: Ruby 3.3 tells SUSPENDED before it sees that an interrupt is pending and runs on.
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
        if let Some(sample) = &mut self.sample {
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
    }

    /// What passed while off the GVL belongs to other threads.
    fn open_stretch(&mut self, costly: &dyn Costly) {
        if let Some(sample) = &mut self.sample {
            sample.stretch_cpu = costly.thread_cpu_ns();
            sample.stretch_allocated = costly.allocated();
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

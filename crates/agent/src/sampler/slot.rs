//! The sampler's state of one thread, and a shelf for the thread's pending stacks.
//!
//! A slot has three writers: the thread's own hooks, a signal handler that may interrupt them
//! anywhere, and the job that empties the slot at a safe point. All that more than one of them
//! touches is atomic, but for the [`Shelf`]: who wants it takes `busy` by one swap, and who finds
//! it taken goes on without. So nobody ever waits. `Relaxed` is enough for the counters; `busy`
//! pairs `Acquire` with `Release`.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use ring::Seen;

use crate::api::{Api, Value};

/// Most threads sampled at once; more are counted.
pub(crate) const SLOTS_MAX: usize = 256;
/// Slots created ahead, so as to serve a new thread without an allocation.
const SLOTS_SPARE: usize = 8;
/// Most frames of a stack; deeper ones lose the outermost frames.
pub(crate) const DEPTH_MAX: usize = 512;
/// Frames pending in one slot: ten milliseconds of deep stacks at the highest rate within the
/// budget.
const FRAMES_MAX: usize = 2048;
const ENTRIES_MAX: usize = 128;

// What a slot's thread does.
pub(crate) const FREE: u32 = 0;
pub(crate) const OFF: u32 = 1;
pub(crate) const RUNNING: u32 = 2;
pub(crate) const ENDED: u32 = 3;

/// The state of one sampled thread; the head of the file has the rules of access.
pub(crate) struct Slot {
    pub(crate) state: AtomicU32,
    pub(crate) tid: AtomicI32,
    /// The Ruby thread; only used to read a stack during the thread's life.
    pub(crate) thread: AtomicUsize,
    /// Nanoseconds of the thread's ticks without a sample so far, and the number of ticks.
    pub(crate) owed: AtomicU64,
    pub(crate) ticks: AtomicU32,
    /// Nanoseconds of ticks while collecting garbage, and the number of ticks.
    pub(crate) gc_owed: AtomicU64,
    pub(crate) in_gc: AtomicBool,
    /// Whether a signal is on the way.
    pub(crate) signalled: AtomicBool,
    /// Whether the thread has passed a safe point, with the stack set up.
    pub(crate) settled: AtomicBool,
    pub(crate) suspended_at: AtomicU64,
    pub(crate) ready_at: AtomicU64,
    /// Waits too short to be walked one by one.
    pub(crate) off_owed: AtomicU64,
    pub(crate) gvl_owed: AtomicU64,
    /// CPU clock of the thread at the last sample.
    pub(crate) cpu_at: AtomicU64,
    /// CPU clock of the thread at the last release of the GVL; only set when sampling CPU time.
    pub(crate) cpu_left: AtomicU64,
    /// Objects until the next sample, and the number of objects represented by the sample.
    pub(crate) objects_left: AtomicU64,
    pub(crate) objects_gap: AtomicU64,
    pub(crate) request: AtomicU64,
    busy: AtomicBool,
    shelf: UnsafeCell<Shelf>,
}

// SAFETY: `shelf` is touched only by who has taken `busy`; the rest is atomic.
unsafe impl Sync for Slot {}

/// Pending stacks.
pub(crate) struct Shelf {
    pub(crate) frames: [Value; FRAMES_MAX],
    pub(crate) lines: [c_int; FRAMES_MAX],
    pub(crate) used: usize,
    pub(crate) entries: [Entry; ENTRIES_MAX],
    pub(crate) count: usize,
}

/// An observation with one stack.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) start: usize,
    pub(crate) depth: usize,
    pub(crate) seen: Seen,
    pub(crate) weight: u64,
    pub(crate) bytes: u64,
    pub(crate) ticks: u32,
    pub(crate) at: u64,
    pub(crate) request: u64,
}

impl Entry {
    /// Creates an observation; [`Slot::note`] adds the stack.
    pub(crate) fn of(seen: Seen, weight: u64, at: u64) -> Entry {
        Entry {
            start: 0,
            depth: 0,
            seen,
            weight,
            bytes: 0,
            ticks: 1,
            at,
            request: 0,
        }
    }
}

static TABLE: [AtomicPtr<Slot>; SLOTS_MAX] = [const { AtomicPtr::new(null_mut()) }; SLOTS_MAX];
static MADE: AtomicUsize = AtomicUsize::new(0);

/// Returns all slots ever created.
pub(crate) fn all() -> impl Iterator<Item = &'static Slot> {
    let made = MADE.load(Acquire);
    TABLE[..made].iter().filter_map(|slot| {
        // SAFETY: leaked boxes, never freed.
        unsafe { slot.load(Relaxed).as_ref() }
    })
}

/// Makes slots until enough are free. Allocates: at a safe point only.
pub(crate) fn make_spare() {
    let free = all()
        .filter(|slot| slot.state.load(Relaxed) == FREE)
        .count();
    for _ in free..SLOTS_SPARE {
        let made = MADE.load(Relaxed);
        if made == SLOTS_MAX {
            return;
        }
        TABLE[made].store(Box::into_raw(Slot::boxed()), Relaxed);
        MADE.store(made + 1, Release);
    }
}

/// A free slot, taken for the calling thread.
pub(crate) fn take() -> Option<&'static Slot> {
    let slot = all().find(|slot| {
        slot.state
            .compare_exchange(FREE, OFF, Acquire, Relaxed)
            .is_ok()
    })?;
    slot.reset();
    Some(slot)
}

impl Slot {
    fn boxed() -> Box<Slot> {
        let zero = || AtomicU64::new(0);
        Box::new(Slot {
            state: AtomicU32::new(FREE),
            tid: AtomicI32::new(0),
            thread: AtomicUsize::new(0),
            owed: zero(),
            ticks: AtomicU32::new(0),
            gc_owed: zero(),
            in_gc: AtomicBool::new(false),
            signalled: AtomicBool::new(false),
            settled: AtomicBool::new(false),
            suspended_at: zero(),
            ready_at: zero(),
            off_owed: zero(),
            gvl_owed: zero(),
            cpu_at: zero(),
            cpu_left: zero(),
            objects_left: zero(),
            objects_gap: zero(),
            request: zero(),
            busy: AtomicBool::new(false),
            shelf: UnsafeCell::new(Shelf {
                frames: [0; FRAMES_MAX],
                lines: [0; FRAMES_MAX],
                used: 0,
                entries: [Entry::of(Seen::Running, 0, 0); ENTRIES_MAX],
                count: 0,
            }),
        })
    }

    /// Assigns the slot to the calling thread, in an initial state.
    fn reset(&self) {
        self.forget();
        self.settled.store(false, Relaxed);
        self.request.store(0, Relaxed);
        self.cpu_at.store(crate::clock::thread_cpu_ns(), Relaxed);
        // SAFETY: takes nothing and cannot fail.
        self.tid.store(unsafe { libc::gettid() }, Relaxed);
    }

    /// Forgets what is owed: at a start, and in a forked child.
    pub(crate) fn forget(&self) {
        for counter in [
            &self.owed,
            &self.gc_owed,
            &self.suspended_at,
            &self.ready_at,
            &self.off_owed,
            &self.gvl_owed,
        ] {
            counter.store(0, Relaxed);
        }
        self.ticks.store(0, Relaxed);
        self.in_gc.store(false, Relaxed);
        self.signalled.store(false, Relaxed);
    }

    /// Frees the slot after `fork`, on the child's only thread: the shelf's holder is gone.
    pub(crate) fn unlock_after_fork(&self) {
        // SAFETY: there is one thread, and it is not in here.
        unsafe {
            (*self.shelf.get()).used = 0;
            (*self.shelf.get()).count = 0;
        }
        self.busy.store(false, Relaxed);
    }

    /// Runs `work` on the shelf; `None` with the shelf in use elsewhere.
    pub(crate) fn with_shelf<T>(&self, work: impl FnOnce(&mut Shelf) -> T) -> Option<T> {
        if self.busy.swap(true, Acquire) {
            return None;
        }
        // SAFETY: `busy` was free, so this is the only reference.
        let result = work(unsafe { &mut *self.shelf.get() });
        self.busy.store(false, Release);
        Some(result)
    }

    /// Walks the calling thread's stack and shelves a sample; `false` without room, or with the
    /// shelf in use. Allocates nothing and calls no Ruby; for hooks and the signal handler.
    pub(crate) fn note(&self, api: &Api, mut entry: Entry) -> bool {
        entry.request = self.request.load(Relaxed);
        self.with_shelf(|shelf| shelf.walk(api, entry))
            .unwrap_or(false)
    }

    /// Adds an observation of the same moment as the entry before.
    pub(crate) fn note_same(&self, entry: Entry) -> bool {
        self.with_shelf(|shelf| shelf.add_same(entry))
            .unwrap_or(false)
    }

    /// Whether the shelf should be emptied soon. Read without `busy`: an old value is good enough.
    pub(crate) fn is_filling(&self) -> bool {
        // SAFETY: plain words that are only compared.
        unsafe {
            let shelf = self.shelf.get();
            (&raw const (*shelf).used).read_volatile() > FRAMES_MAX / 2
                || (&raw const (*shelf).count).read_volatile() > ENTRIES_MAX / 2
        }
    }

    /// Hands every waiting frame to `mark`, for the collector.
    pub(crate) fn mark(&self, mark: extern "C" fn(Value)) {
        let shelf = self.shelf.get();
        // SAFETY: collection runs on the thread that holds the GVL, outside of any walk; words
        // beyond `used` are not read.
        unsafe {
            let used = (&raw const (*shelf).used).read_volatile().min(FRAMES_MAX);
            for index in 0..used {
                mark((&raw const (*shelf).frames[index]).read());
            }
        }
    }
}

impl Shelf {
    fn walk(&mut self, api: &Api, entry: Entry) -> bool {
        let room = FRAMES_MAX - self.used;
        if room < DEPTH_MAX / 4 || self.count == ENTRIES_MAX {
            return false;
        }
        let start = self.used;
        let walked = (api.rb_profile_frames)(
            0,
            room.min(DEPTH_MAX) as c_int,
            self.frames[start..].as_mut_ptr(),
            self.lines[start..].as_mut_ptr(),
        );
        self.shelve(entry, walked.max(0) as usize)
    }

    /// Stores a stack with frames already behind the ones in use.
    pub(crate) fn shelve(&mut self, entry: Entry, depth: usize) -> bool {
        let start = self.used;
        if let Some(last) = self.entries[..self.count].last_mut()
            && last.seen == entry.seen
            && last.request == entry.request
            && last.depth == depth
            && self.frames[last.start..last.start + depth] == self.frames[start..start + depth]
            && self.lines[last.start..last.start + depth] == self.lines[start..start + depth]
        {
            last.weight += entry.weight;
            last.bytes += entry.bytes;
            last.ticks += entry.ticks;
            last.at = entry.at;
            return true;
        }
        self.entries[self.count] = Entry {
            start,
            depth,
            ..entry
        };
        self.count += 1;
        self.used += depth;
        true
    }

    fn add_same(&mut self, entry: Entry) -> bool {
        let Some(last) = self.entries[..self.count].last().copied() else {
            return false;
        };
        if self.count == ENTRIES_MAX {
            return false;
        }
        self.entries[self.count] = Entry {
            start: last.start,
            depth: last.depth,
            request: last.request,
            ..entry
        };
        self.count += 1;
        true
    }
}

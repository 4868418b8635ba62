//! Names the frames of samples at a safe point, and writes frames, stacks and samples into the
//! ring.
//!
//! The job holds the GVL, so no other thread of the main Ractor is in here. It may allocate, so
//! collections may happen in its midst: what it reads of frames is marked (`mark`), and no
//! reference into [`Desk`] is held while Ruby is called.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize};

use ring::{Place, ProfileRecord, ProfileTotals, SampleRecord, Seen, Writer};

use super::desk::Desk;
use super::slot::{self, DEPTH_MAX, ENDED, Entry, FREE, OFF, RUNNING, Slot};
use super::{DROPPED, INTERVAL, Mode, UNSEEN, Wanted, account, facts, hooks, is_on, mode, timer};
use crate::api::{Api, DataType, Value, api, c_string, from_fixnum};
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::{guarded, process};

/// Bytes of a ring: one second of a thousand samples, with room for a late reader.
const RING_BYTES: usize = 1 << 20;
/// Most frames known by name; beyond, all are forgotten and named again.
const FRAMES_KNOWN_MAX: usize = 1 << 16;
const TOTALS_EVERY: u64 = 1_000_000_000;

struct Guarded(UnsafeCell<Option<Box<Desk>>>);

// SAFETY: `RUNNING_NOW` lets one thread in; collections happen on that thread or while it is out.
unsafe impl Sync for Guarded {}

static DESK: Guarded = Guarded(UnsafeCell::new(None));
static RUNNING_NOW: AtomicBool = AtomicBool::new(false);
static HANDLE: AtomicI64 = AtomicI64::new(-1);
static NIL: AtomicUsize = AtomicUsize::new(0);
static MARKER: AtomicUsize = AtomicUsize::new(0);
static COMMAND: AtomicU8 = AtomicU8::new(0);
static COMMANDED: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

const COMMAND_START: u8 = 1;
const COMMAND_STOP: u8 = 2;

static TYPE: DataType = DataType {
    name: c"hakaru/frames".as_ptr(),
    mark: Some(mark),
    free: null(),
    size: null(),
    compact: null(),
    reserved: null(),
    parent: null(),
    data: null(),
    flags: 0,
};

/// Registers the job and the object by which the collector finds our frames.
pub(super) fn prepare(api: &Api) {
    if let Some(register) = api.rb_postponed_job_preregister {
        HANDLE.store(i64::from(register(0, run, null_mut())), Relaxed);
    }
    let mut failed = 0;
    NIL.store(
        (api.rb_eval_string_protect)(c"nil".as_ptr(), &raw mut failed),
        Relaxed,
    );
    // Some address: without one the collector does not ask.
    let address = (&raw const TYPE).cast_mut().cast();
    let marker = (api.rb_data_typed_object_wrap)(0, address, &raw const TYPE);
    (api.rb_gc_register_mark_object)(marker);
    MARKER.store(marker, Relaxed);
}

/// Asks the VM to run the job at the next safe point. From any thread.
pub(super) fn request() {
    let Some(api) = api() else { return };
    let handle = HANDLE.load(Relaxed);
    match (
        api.rb_postponed_job_trigger,
        api.rb_postponed_job_register_one,
    ) {
        (Some(trigger), _) if handle >= 0 => trigger(handle as u32),
        (_, Some(register)) => {
            register(0, run, null_mut());
        }
        _ => {}
    }
}

/// Asks for a sampling of so many nanoseconds to be started by the job.
pub(super) fn request_start(wanted: Wanted, length: u64) {
    COMMANDED[2].store(length, Relaxed);
    COMMANDED[0].store(wanted.mode as u64, Relaxed);
    COMMANDED[1].store(wanted.interval, Relaxed);
    COMMAND.store(COMMAND_START, SeqCst);
    request();
}

/// Asks for the sampling to be ended by the job.
pub(super) fn request_stop() {
    COMMAND.store(COMMAND_STOP, SeqCst);
    request();
}

/// Whether the job is running; the job's allocations are not the app's.
pub(super) fn is_running() -> bool {
    RUNNING_NOW.load(Relaxed)
}

/// On the child's only thread after a fork: the ring is the parent's.
pub(super) fn forget() {
    RUNNING_NOW.store(false, SeqCst);
    COMMAND.store(0, SeqCst);
    // SAFETY: one thread, and the parent's job was not in the midst: it holds the GVL, as the fork
    // did.
    let desk = unsafe { &mut *DESK.0.get() };
    // Closing the parent's ring here would end it there.
    std::mem::forget(desk.take());
}

/// Opens the ring of the process, or continues with the present one; `false` without room for one.
pub(super) fn open_ring() -> bool {
    let Some(settings) = process::settings() else {
        return false;
    };
    let now = monotonic_ns();
    if let Some(desk) = desk() {
        (desk.started, desk.totals_at) = (now, now);
        return true;
    }
    let place = Place {
        folder: settings.folder.clone(),
        pid: std::process::id(),
        // SAFETY: takes nothing and cannot fail.
        tid: unsafe { libc::gettid() } as u32,
        // A program that replaces itself by `exec` keeps its process id: the number must be
        // another.
        number: (now / 1_000_000) as u32 | 1 << 31,
        capacity_bytes: RING_BYTES.max(settings.ring_bytes),
    };
    match Writer::create(&place) {
        Ok(ring) => {
            set_desk(Desk::new(ring, now));
            true
        }
        Err(error) => {
            let folder = settings.folder.display();
            process::complain(&format!(
                "trouble: no place for samples in {folder}: {error}; make room there or set TMPDIR"
            ));
            false
        }
    }
}

fn set_desk(desk: Desk) {
    // SAFETY: called under the GVL while no job runs.
    unsafe { *DESK.0.get() = Some(Box::new(desk)) };
}

/// The desk, for a short moment: no Ruby may be called while the reference lives.
fn desk() -> Option<&'static mut Desk> {
    // SAFETY: see `Guarded`; callers drop it before they call Ruby.
    unsafe { (*DESK.0.get()).as_deref_mut() }
}

/// Sends all pending samples at the end of a sampling. With `close` the ring is closed, as nobody
/// may be left to read it: whoever orders the next sampling opens the next ring.
pub(super) fn last(api: &Api, close: bool) {
    if RUNNING_NOW.swap(true, SeqCst) {
        return;
    }
    end_waits(api);
    // Twice: the second time for waits that found no room the first time.
    for _ in 0..2 {
        empty_all(api);
        end_waits(api);
    }
    empty_all(api);
    tell_totals(api, monotonic_ns(), true);
    if close {
        // SAFETY: no reference is held; dropping the writer closes the ring.
        unsafe { *DESK.0.get() = None };
    }
    RUNNING_NOW.store(false, SeqCst);
}

extern "C" fn run(_data: *mut c_void) {
    guarded((), || {
        let Some(api) = api() else { return };
        match COMMAND.swap(0, SeqCst) {
            COMMAND_START => super::start_told(api, [0, 1, 2].map(|i| COMMANDED[i].load(Relaxed))),
            COMMAND_STOP => super::stop_told(api),
            _ => {}
        }
        if !is_on() || RUNNING_NOW.swap(true, SeqCst) {
            return;
        }
        let started = thread_cpu_ns();
        settle(api);
        empty_all(api);
        slot::make_spare();
        account::add(thread_cpu_ns().saturating_sub(started));
        tell_totals(api, monotonic_ns(), false);
        RUNNING_NOW.store(false, SeqCst);
    });
}

/// Marks the calling thread as running at a safe point, whatever the events said, and as readable.
fn settle(api: &Api) {
    let Some(slot) = hooks::mine() else { return };
    slot.settled.store(true, Relaxed);
    if slot.state.load(Relaxed) == OFF {
        // SUSPENDED without RESUMED: an interrupt was pending.
        slot.suspended_at.store(0, Relaxed);
        slot.state.store(RUNNING, Relaxed);
    }
    if !slot.signalled.load(Relaxed) {
        hooks::sample(api, slot);
    }
}

/// Counts waits in progress up to now; waiting stacks stand still while the GVL is held here.
fn end_waits(api: &Api) {
    let (Some(walk), Mode::Wall) = (api.rb_profile_thread_frames, mode()) else {
        return;
    };
    let now = monotonic_ns();
    for slot in slot::all().filter(|slot| slot.state.load(Relaxed) == OFF) {
        let (since, thread) = (slot.suspended_at.load(Relaxed), slot.thread.load(Relaxed));
        if since == 0 || thread == 0 {
            continue;
        }
        let ready = match slot.ready_at.load(Relaxed) {
            0 => now,
            ready => ready.clamp(since, now),
        };
        let kept = slot.with_shelf(|shelf| {
            let start = shelf.used;
            let room = shelf.frames.len() - start;
            if room < DEPTH_MAX {
                return false;
            }
            let depth = walk(
                thread,
                0,
                DEPTH_MAX as c_int,
                shelf.frames[start..].as_mut_ptr(),
                shelf.lines[start..].as_mut_ptr(),
            );
            let mut entry = Entry::of(Seen::Off, ready - since, now);
            entry.request = slot.request.load(Relaxed);
            shelf.shelve(entry, depth.max(0) as usize)
        });
        if kept == Some(true) {
            slot.note_same(Entry::of(Seen::GvlWait, now - ready, now));
            slot.suspended_at.store(0, Relaxed);
        }
    }
}

fn empty_all(api: &Api) {
    for slot in slot::all() {
        empty(api, slot);
        let _ = slot.state.compare_exchange(ENDED, FREE, Relaxed, Relaxed);
    }
}

fn empty(api: &Api, slot: &Slot) {
    let taken = slot.with_shelf(|shelf| {
        let Some(desk) = desk() else { return 0 };
        desk.frames.clear();
        desk.lines.clear();
        desk.entries.clear();
        desk.frames.extend_from_slice(&shelf.frames[..shelf.used]);
        desk.lines.extend_from_slice(&shelf.lines[..shelf.used]);
        desk.entries
            .extend_from_slice(&shelf.entries[..shelf.count]);
        (shelf.used, shelf.count) = (0, 0);
        desk.entries.len()
    });
    let tid = slot.tid.load(Relaxed) as u32;
    for index in 0..taken.unwrap_or(0) {
        tell(api, index, tid);
    }
    if let Some(desk) = desk() {
        desk.frames.clear();
    }
}

/// Records one entry of the desk.
fn tell(api: &Api, index: usize, tid: u32) {
    let Some(entry) = desk().and_then(|desk| desk.entries.get(index).copied()) else {
        return;
    };
    if entry.weight == 0 {
        return;
    }
    if let Some(desk) = desk() {
        desk.stack.clear();
    }
    for place in entry.start..entry.start + entry.depth {
        let Some((frame, line)) = desk().map(|desk| (desk.frames[place], desk.lines[place])) else {
            return;
        };
        let id = frame_id(api, frame);
        if let Some(desk) = desk() {
            desk.stack.push((id, line.max(0) as u32));
        }
    }
    let Some(desk) = desk() else { return };
    if entry.depth >= DEPTH_MAX {
        let id = desk.tell_frame("(deeper)".to_owned(), String::new(), 0);
        desk.stack.push((id, 0));
    }
    let stack = desk.tell_stack();
    desk.push(&ProfileRecord::Sample(SampleRecord {
        stack,
        seen: entry.seen,
        tid,
        weight: entry.weight,
        bytes: entry.bytes,
        count: entry.ticks,
        at: entry.at,
        request: entry.request,
    }));
}

/// Returns the id of a frame; a new frame is named by the VM.
fn frame_id(api: &Api, frame: Value) -> u64 {
    let known = desk().and_then(|desk| desk.known.get(&frame).copied());
    if let Some(id) = known {
        return id;
    }
    let mut named = Named {
        frame,
        name: NIL.load(Relaxed),
        path: NIL.load(Relaxed),
        line: 0,
    };
    let mut failed = 0;
    (api.rb_protect)(name_frame, (&raw mut named) as Value, &raw mut failed);
    if failed != 0 {
        (api.rb_set_errinfo)(NIL.load(Relaxed));
    }
    let text = |value| c_string(value).map(|text| text.to_string_lossy().into_owned());
    let name = text(named.name).unwrap_or_else(|| "(unknown)".to_owned());
    let path = text(named.path)
        .filter(|path| path != "<cfunc>")
        .unwrap_or_default();
    let line = from_fixnum(named.line).unwrap_or(0).max(0) as u32;
    let Some(desk) = desk() else { return 0 };
    let id = desk.tell_frame(name, path, line);
    if desk.known.len() >= FRAMES_KNOWN_MAX {
        desk.known.clear();
    }
    desk.known.insert(frame, id);
    id
}

/// A query to the VM with results, on the stack, where the collector finds the objects.
struct Named {
    frame: Value,
    name: Value,
    path: Value,
    line: Value,
}

extern "C-unwind" fn name_frame(data: Value) -> Value {
    // SAFETY: `frame_id` passes its own `named`, which outlives `rb_protect`.
    let named = unsafe { &mut *(data as *mut Named) };
    if let Some(api) = api() {
        named.name = (api.rb_profile_frame_full_label)(named.frame);
        named.line = (api.rb_profile_frame_first_lineno)(named.frame);
        named.path = (api.rb_profile_frame_absolute_path)(named.frame);
        if c_string(named.path).is_none() {
            named.path = (api.rb_profile_frame_path)(named.frame);
        }
    }
    data
}

fn tell_totals(api: &Api, now: u64, at_the_end: bool) {
    let due = desk().is_some_and(|desk| at_the_end || now >= desk.totals_at + TOTALS_EVERY);
    if !due {
        return;
    }
    let facts = facts::lines(api);
    let Some(desk) = desk() else { return };
    desk.totals_at = now;
    let totals = ProfileTotals {
        started: desk.started,
        now,
        cost: account::cost() + timer::own_cost(),
        dropped: DROPPED.load(Relaxed),
        interval: INTERVAL.load(Relaxed),
        unseen: UNSEEN.load(Relaxed),
    };
    desk.push(&ProfileRecord::Totals(totals));
    for line in facts {
        desk.push(&ProfileRecord::Fact(line));
    }
}

/// `nil`, whose bits differ between versions.
pub(super) fn nil() -> Value {
    NIL.load(Relaxed)
}

/// Sends a record of another thread, possibly of another Ractor.
pub(super) fn tell_record(record: &ProfileRecord) {
    if RUNNING_NOW.swap(true, SeqCst) {
        return;
    }
    if let Some(desk) = desk() {
        desk.push(record);
    }
    RUNNING_NOW.store(false, SeqCst);
}

/// The collector asks which frames we hold.
extern "C" fn mark(_data: *mut c_void) {
    let Some(api) = api() else { return };
    slot::all().for_each(|slot| slot.mark(api.rb_gc_mark));
    // SAFETY: the thread that collects holds the GVL; a job in its midst holds no reference now.
    if let Some(desk) = unsafe { (*DESK.0.get()).as_deref() } {
        desk.frames
            .iter()
            .for_each(|frame| (api.rb_gc_mark)(*frame));
        desk.known.keys().for_each(|frame| (api.rb_gc_mark)(*frame));
    }
}

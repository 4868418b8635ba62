//! Events of the VM and the kernel for the sampler: GVL events, collections, allocations, and the
//! tick's signal.
//!
//! All of it allocates nothing, locks nothing and calls no Ruby.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize};

use ring::Seen;

use super::slot::{ENDED, Entry, FREE, OFF, RUNNING, Slot, all, take};
use super::{
    DROPPED, INTERVAL, Mode, OBJECTS_EVERY, UNSEEN, account, facts, is_on, job, mode, random,
};
use crate::api::{Api, ThreadEvent, Value, api};
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::guarded;

// include/ruby/thread.h, the same from 3.2 on.
const READY: u32 = 1 << 1;
const RESUMED: u32 = 1 << 2;
const SUSPENDED: u32 = 1 << 3;
const EXITED: u32 = 1 << 4;

// include/ruby/internal/event.h, the same from 3.1 on.
const NEWOBJ: u32 = 0x0010_0000;
const GC_START: u32 = 0x0040_0000;
const GC_ENTER: u32 = 0x0200_0000;
const GC_EXIT: u32 = 0x0400_0000;

/// Cost of one GVL event in the agent's hook, ns: a clock and a few words. Found by experiment.
const EVENT_NS: u64 = 60;

/// The tick's signal. By default it is ignored, so one that is on its way while a program calls
/// `exec` does no harm; the timers' signals would end it. Where an app wants it for itself, it gets
/// it.
const SIGNAL: c_int = libc::SIGURG;

thread_local! {
    static MINE: Cell<*const Slot> = const { Cell::new(null()) };
}

/// Key of the slot among a Ruby thread's own data, −1 without (3.2).
static KEY: AtomicI32 = AtomicI32::new(-1);
static TRACEPOINT: AtomicUsize = AtomicUsize::new(0);
static HANDLED: AtomicBool = AtomicBool::new(false);

/// Asks for the key; before any Ractor.
pub(super) fn prepare(api: &Api) {
    const KEYS_MAX: i32 = 8;
    if let Some(create) = api.rb_internal_thread_specific_key_create {
        let key = create();
        // Ruby gives out a ninth of eight (its check is off by one), which would overrun.
        if key < KEYS_MAX {
            KEY.store(key, Relaxed);
        }
    }
}

/// Adds the hooks, once for a process and all children.
pub(super) fn install(api: &Api) {
    if let Some(add) = api.rb_internal_thread_add_event_hook {
        add(on_thread, READY | RESUMED | SUSPENDED | EXITED, null_mut());
    }
    (api.rb_add_event_hook)(on_gc, GC_START | GC_ENTER | GC_EXIT, 0);
}

/// Begins a sampling on the thread with the GVL.
pub(super) fn begin(api: &Api, mode: Mode) {
    catch_signal();
    let slot = mine().or_else(|| take().inspect(|slot| own(api, slot, (api.rb_thread_current)())));
    for other in all() {
        // What they do now shows with their next event.
        let _ = other.state.compare_exchange(RUNNING, OFF, Relaxed, Relaxed);
        other.suspended_at.store(0, Relaxed);
    }
    if let Some(slot) = slot {
        slot.cpu_at.store(thread_cpu_ns(), Relaxed);
        slot.settled.store(true, Relaxed);
        slot.state.store(RUNNING, Relaxed);
    }
    if mode == Mode::Alloc {
        if TRACEPOINT.load(Relaxed) == 0 {
            let point = (api.rb_tracepoint_new)(0, NEWOBJ, on_object, null_mut());
            (api.rb_gc_register_mark_object)(point);
            TRACEPOINT.store(point, Relaxed);
        }
        (api.rb_tracepoint_enable)(TRACEPOINT.load(Relaxed));
    }
}

/// Ends a sampling: removes the tracepoints of `mode`.
pub(super) fn end(api: &Api, mode: Mode) {
    let point = TRACEPOINT.load(Relaxed);
    if mode == Mode::Alloc && point != 0 {
        (api.rb_tracepoint_disable)(point);
    }
}

/// On the child's only thread.
pub(super) fn after_fork() {
    let own = MINE.get();
    for slot in all() {
        slot.unlock_after_fork();
        slot.forget();
        if std::ptr::eq(slot, own) {
            // SAFETY: takes nothing and cannot fail.
            slot.tid.store(unsafe { libc::gettid() }, Relaxed);
        } else {
            slot.state.store(FREE, Relaxed);
        }
    }
}

/// The calling thread's slot.
pub(super) fn mine() -> Option<&'static Slot> {
    // SAFETY: null or a leaked box.
    unsafe { MINE.get().as_ref() }
}

/// Attributes the calling thread's samples to request `id` from now on.
pub(crate) fn request_begins(id: u64) {
    if let Some(slot) = mine() {
        slot.request.store(id, Relaxed);
    }
}

/// Attributes the calling thread's samples to no request from now on.
pub(crate) fn request_ends() {
    request_begins(0);
}

fn own(api: &Api, slot: &'static Slot, thread: Value) {
    MINE.set(slot);
    slot.thread.store(thread, Relaxed);
    let key = KEY.load(Relaxed);
    if let (true, Some(set)) = (key >= 0, api.rb_internal_thread_specific_set) {
        let slot: *const Slot = slot;
        set(thread, key, slot.cast_mut().cast());
    }
}

extern "C" fn on_thread(event: u32, data: *const ThreadEvent, _user: *mut c_void) {
    guarded((), || match event {
        EXITED => {
            if let Some(slot) = mine() {
                MINE.set(null());
                slot.thread.store(0, Relaxed);
                slot.state.store(ENDED, Relaxed);
            }
        }
        _ if !is_on() => {}
        READY => {
            if let Some(slot) = ready_slot(data) {
                let _ = slot
                    .ready_at
                    .compare_exchange(0, monotonic_ns(), Relaxed, Relaxed);
            }
        }
        SUSPENDED => {
            if let Some(slot) = mine() {
                slot.state.store(OFF, Relaxed);
                slot.ready_at.store(0, Relaxed);
                if mode() == Mode::Cpu {
                    slot.cpu_left.store(thread_cpu_ns(), Relaxed);
                    account::add_clock();
                }
                slot.suspended_at.store(monotonic_ns(), Relaxed);
            }
        }
        RESUMED => resumed(data),
        _ => {}
    });
}

/// Returns the slot of the thread now ready: named by the event since 3.3, the calling one before.
fn ready_slot(data: *const ThreadEvent) -> Option<&'static Slot> {
    let key = KEY.load(Relaxed);
    let get = api()?.rb_internal_thread_specific_get.filter(|_| key >= 0);
    let Some(get) = get else {
        return mine();
    };
    // SAFETY: the VM passes a valid event, or null before 3.3.
    let thread = unsafe { data.as_ref() }?.thread;
    // SAFETY: what `own` stored there: a slot, which is never freed.
    unsafe { get(thread, key).cast::<Slot>().as_ref() }
}

fn resumed(data: *const ThreadEvent) {
    let Some(api) = api() else { return };
    let slot = mine().or_else(|| {
        // SAFETY: the VM passes a valid event, or null before 3.3.
        let thread = unsafe { data.as_ref() }.map_or(0, |event| event.thread);
        let slot = take();
        match slot {
            Some(slot) if thread != 0 => own(api, slot, thread),
            Some(slot) => MINE.set(slot),
            None => {
                UNSEEN.fetch_add(1, Relaxed);
            }
        }
        slot
    });
    let Some(slot) = slot else { return };
    let now = monotonic_ns();
    let since = slot.suspended_at.swap(0, Relaxed);
    if slot.state.load(Relaxed) == OFF && since > 0 {
        let ready = match slot.ready_at.load(Relaxed) {
            0 => now,
            ready => ready.clamp(since, now),
        };
        match mode() {
            Mode::Wall => waited(api, slot, [since, ready, now]),
            Mode::Cpu => burned(api, slot, ready - since, now),
            Mode::Alloc => {}
        }
    }
    slot.state.store(RUNNING, Relaxed);
    account::add(EVENT_NS);
}

/// Records a wait: off the GVL from `since` to `ready`, waiting for the GVL from `ready` to `now`.
fn waited(api: &Api, slot: &Slot, [since, ready, now]: [u64; 3]) {
    let interval = INTERVAL.load(Relaxed);
    let off = due_weight(&slot.off_owed, ready - since, interval, now);
    let gvl = due_weight(&slot.gvl_owed, now - ready, interval, now.rotate_left(17));
    if off == 0 && gvl == 0 {
        return;
    }
    let look = account::look();
    let mut kept = true;
    if off > 0 {
        kept &= slot.note(api, Entry::of(Seen::Off, off, now));
    }
    if gvl > 0 {
        let entry = Entry::of(Seen::GvlWait, gvl, now);
        // One walk is enough for both.
        kept &= if off > 0 && kept {
            slot.note_same(entry)
        } else {
            slot.note(api, entry)
        };
    }
    if !kept {
        DROPPED.fetch_add(1, Relaxed);
    }
    look.ends();
}

/// Returns the weight of a wait, ns: of a long one the length. Short ones are laid end to end and
/// cut into intervals; the one that holds a random point of an interval stands for all of it, so
/// each is chosen in proportion to its length, in whatever order they come. `place` holds how far
/// the present interval is filled, and its point.
fn due_weight(place: &AtomicU64, length: u64, interval: u64, entropy: u64) -> u64 {
    if length >= interval {
        return length;
    }
    let packed = place.load(Relaxed);
    let (mut filled, mut point) = (packed >> 32, packed & 0xffff_ffff);
    if packed == 0 {
        point = random(entropy) % interval + 1;
    }
    let mut weight = 0;
    let mut reached = filled + length;
    if filled < point && point <= reached {
        weight += interval;
    }
    if reached >= interval {
        reached -= interval;
        filled = 0;
        point = random(entropy.rotate_left(31)) % interval + 1;
        if filled < point && point <= reached {
            weight += interval;
        }
    }
    place.store(reached << 32 | point, Relaxed);
    weight
}

/// Attributes CPU time used without the GVL, as by a compressing library, to the call just left.
/// What was used before, and is not sampled yet where the timer was late, stays for the next
/// sample.
fn burned(api: &Api, slot: &Slot, off: u64, now: u64) {
    let interval = INTERVAL.load(Relaxed);
    if off < interval {
        return;
    }
    let look = account::look();
    let used = thread_cpu_ns().saturating_sub(slot.cpu_left.load(Relaxed));
    if used > interval && slot.note(api, Entry::of(Seen::Running, used, now)) {
        slot.cpu_at.fetch_add(used, Relaxed);
    }
    look.ends();
}

extern "C" fn on_gc(event: u32, _data: Value, _receiver: Value, _id: usize, _class: Value) {
    if !is_on() {
        return;
    }
    guarded((), || match (event, mine(), api()) {
        (GC_START, _, Some(api)) => facts::collection_begins(api),
        (GC_ENTER, Some(slot), _) => slot.in_gc.store(true, SeqCst),
        (GC_EXIT, Some(slot), Some(api)) => collected(api, slot),
        _ => {}
    });
}

/// Ends a collection; attributes the collection's ticks to the allocating stack.
fn collected(api: &Api, slot: &Slot) {
    slot.in_gc.store(false, SeqCst);
    let owed = slot.gc_owed.swap(0, Relaxed);
    if owed == 0 {
        return;
    }
    let look = account::look();
    let weight = match mode() {
        Mode::Cpu => {
            let before = slot.cpu_at.load(Relaxed);
            let weight = owed.min(thread_cpu_ns().saturating_sub(before));
            slot.cpu_at.store(before + weight, Relaxed);
            weight
        }
        _ => owed,
    };
    if weight > 0 && !slot.note(api, Entry::of(Seen::Gc, weight, monotonic_ns())) {
        DROPPED.fetch_add(1, Relaxed);
    }
    look.ends();
}

extern "C" fn on_object(point: Value, _data: *mut c_void) {
    /// A heap slot before slots had several sizes.
    const SLOT_BYTES: u64 = 40;
    guarded((), || {
        let Some(slot) = mine().filter(|_| is_on() && !job::is_running()) else {
            return;
        };
        let left = slot.objects_left.load(Relaxed);
        if left > 1 {
            slot.objects_left.store(left - 1, Relaxed);
            return;
        }
        // The gap that ends here is what this object stands for; the next is random with the same
        // mean.
        let now = monotonic_ns();
        let next = 1 + random(now) % (2 * OBJECTS_EVERY - 1);
        let gap = slot.objects_gap.swap(next, Relaxed);
        slot.objects_left.store(next, Relaxed);
        let (Some(api), true) = (api(), gap > 0) else {
            return;
        };
        let look = account::look();
        let object = (api.rb_tracearg_object)((api.rb_tracearg_from_tracepoint)(point));
        let size = api
            .rb_gc_obj_slot_size
            .map_or(SLOT_BYTES, |size| size(object) as u64);
        let mut entry = Entry::of(Seen::Allocating, gap, now);
        entry.bytes = gap * size;
        if !slot.note(api, entry) {
            DROPPED.fetch_add(1, Relaxed);
        }
        look.ends();
    });
}

/// Reads the stack of the calling thread, holder of the GVL, for all ticks owed.
pub(super) fn sample(api: &Api, slot: &Slot) {
    let (owed, ticks) = (slot.owed.swap(0, Relaxed), slot.ticks.swap(0, Relaxed));
    if owed == 0 {
        return;
    }
    if slot.in_gc.load(SeqCst) {
        slot.gc_owed.fetch_add(owed, Relaxed);
        return;
    }
    let look = account::look();
    let now = monotonic_ns();
    let (weight, cpu) = match mode() {
        Mode::Cpu => {
            let cpu = thread_cpu_ns();
            (cpu.saturating_sub(slot.cpu_at.load(Relaxed)), cpu)
        }
        _ => (owed, 0),
    };
    let mut entry = Entry::of(Seen::Running, weight, now);
    entry.ticks = ticks.max(1);
    if slot.note(api, entry) {
        slot.cpu_at.store(cpu, Relaxed);
    } else {
        // The time goes to the next sample; what is lost is the look.
        slot.owed.fetch_add(owed, Relaxed);
        DROPPED.fetch_add(1, Relaxed);
    }
    look.ends();
}

/// Installs our handler where the signal is free.
fn catch_signal() {
    if HANDLED.swap(true, SeqCst) {
        return;
    }
    // SAFETY: plain structures; the handler keeps to what handlers may do.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(SIGNAL, null(), &raw mut old);
        if old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN {
            return;
        }
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = on_signal as *const () as usize;
        // On the alternate stack: the app's own may be all but used up by recursion.
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut new.sa_mask);
        libc::sigaction(SIGNAL, &raw const new, null_mut());
    }
}

/// Whether the signal's handler is still the agent's: an app may have trapped the signal since.
pub(super) fn signals_are_ours() -> bool {
    // SAFETY: reads the present action into a plain structure.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(SIGNAL, null(), &raw mut now);
        now.sa_sigaction == on_signal as *const () as usize
    }
}

/// The beginning of `siginfo_t` on 64-bit Linux, as taken by `rt_tgsigqueueinfo`.
#[repr(C)]
struct SignalInfo {
    signo: c_int,
    errno: c_int,
    code: c_int,
    _pad: c_int,
    pid: c_int,
    uid: libc::uid_t,
    value: *const Slot,
    _rest: [u64; 12],
}

const _: () = assert!(size_of::<SignalInfo>() == size_of::<libc::siginfo_t>());

/// Sends the tick to the slot's thread.
pub(super) fn signal(slot: &'static Slot) {
    let pid = std::process::id() as c_int;
    let info = SignalInfo {
        signo: SIGNAL,
        errno: 0,
        code: libc::SI_QUEUE,
        _pad: 0,
        pid,
        uid: 0,
        value: slot,
        _rest: [0; 12],
    };
    // SAFETY: a valid structure; a thread that has ended gives an error that does not matter.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            pid,
            slot.tid.load(Relaxed),
            SIGNAL,
            &raw const info,
        ) != 0
    };
    if failed {
        slot.signalled.store(false, Relaxed);
    }
}

extern "C" fn on_signal(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: errno belongs to this thread; the handler leaves it as it was.
    let errno = unsafe { *libc::__errno_location() };
    guarded((), || {
        // SAFETY: the kernel passes a valid structure.
        let info = unsafe { &*info.cast::<SignalInfo>() };
        // Others may send this signal too; only ours carries a slot.
        let slot = all().find(|slot| std::ptr::eq(*slot, info.value));
        let Some(slot) = slot.filter(|_| info.code == libc::SI_QUEUE) else {
            return;
        };
        slot.signalled.store(false, Relaxed);
        // Off the GVL frames may be moved under our eyes: the next sample takes the time.
        if let (true, RUNNING, Some(api)) = (is_on(), slot.state.load(SeqCst), api()) {
            sample(api, slot);
        }
    });
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::due_weight;

    /// Waits of two kinds in turn, with a sum of one interval: a counter emptied when full would
    /// always choose the second.
    #[test]
    fn short_waits_are_chosen_in_proportion_to_their_length() {
        const INTERVAL: u64 = 1_000_000;
        const ROUNDS: u64 = 20_000;
        let place = AtomicU64::new(0);
        let (mut short, mut long) = (0, 0);
        for round in 0..ROUNDS {
            short += due_weight(&place, 300_000, INTERVAL, round * 2_654_435);
            long += due_weight(&place, 700_000, INTERVAL, round * 40_503 + 1);
        }
        let total = (short + long) as f64;
        assert!(
            (short as f64 / total - 0.3).abs() < 0.01,
            "{}",
            short as f64 / total
        );
        assert!((total / (ROUNDS * INTERVAL) as f64 - 1.0).abs() < 0.001);
    }

    #[test]
    fn a_long_wait_stands_for_itself() {
        let place = AtomicU64::new(0);
        assert_eq!(due_weight(&place, 5_000, 1_000, 1), 5_000);
        assert_eq!(place.load(super::Relaxed), 0);
    }
}

//! Hooks for the VM's events: threads leaving and entering the GVL, garbage collection.
//!
//! These run with the scheduler's lock and the lock of the hook list held. They read a clock, touch
//! memory that exists already, and in `RESUMED` look at the topmost frames; nothing else is
//! allowed.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::AtomicU64;

use crate::api::{Api, ThreadEvent, Value, api, c_string};
use crate::clock::monotonic_ns;
use crate::thread::{Live, ThreadState, WAIT_TOLD_NS, active};
use crate::timeline::{Part, mark_ready};
use crate::{guarded, process};

// include/ruby/thread.h, the same from 3.2 on.
const READY: u32 = 1 << 1;
const RESUMED: u32 = 1 << 2;
const SUSPENDED: u32 = 1 << 3;

// include/ruby/internal/event.h and internal.h, the same from 3.1 on.
const GC_START: u32 = 0x0040_0000;
const GC_ENTER: u32 = 0x0200_0000;
const GC_EXIT: u32 = 0x0400_0000;

/// Shortest wait worth a look at the stack, ns: shorter ones are uncontended reads and writes.
const LOOK_AT_NS: u64 = 20_000;

/// Installs all hooks. To be called under the GVL from a Ruby method, once per process and never in
/// a child of a process that did.
pub(crate) fn install(api: &Api) {
    if !process::may_hook() {
        return;
    }
    (api.rb_add_event_hook)(on_gc, GC_START | GC_ENTER | GC_EXIT, 0);
    if let Some(add) = api.rb_internal_thread_add_event_hook {
        add(on_thread, READY | RESUMED | SUSPENDED, null_mut());
    }
}

extern "C" fn on_thread(event: u32, data: *const ThreadEvent, _user: *mut c_void) {
    guarded((), || match event {
        READY => {
            if let Some(ready_at) = ready_at(data) {
                mark_ready(ready_at, monotonic_ns);
            }
        }
        SUSPENDED => {
            if let Some(state) = active() {
                state.timeline.suspend(monotonic_ns(), &Live);
            }
        }
        RESUMED => {
            if let Some(state) = active() {
                resumed(state);
            }
        }
        _ => {}
    });
}

/// Returns the state of the thread now ready: named by the event since 3.3, the calling one before.
fn ready_at(data: *const ThreadEvent) -> Option<&'static AtomicU64> {
    let (Some(key), Some(get)) = (
        process::key(),
        api().and_then(|api| api.rb_internal_thread_specific_get),
    ) else {
        return active().map(|state| state.timeline.ready_at());
    };
    // SAFETY: the VM passes a valid event, or null before 3.3.
    let thread = unsafe { data.as_ref() }?.thread;
    // SAFETY: what `ThreadState::belong_to` stored there: an atomic that is never freed.
    unsafe { get(thread, key).cast::<AtomicU64>().as_ref() }
}

extern "C" fn on_gc(event: u32, _data: Value, _receiver: Value, _id: usize, _class: Value) {
    guarded((), || {
        if event == GC_START {
            process::count_collection();
        } else if let Some(state) = active() {
            state
                .timeline
                .set_gc(event == GC_ENTER, monotonic_ns(), &Live);
        }
    });
}

/// Handles the thread's return to the GVL. A long wait outside of calls is recorded with its source
/// line.
fn resumed(state: &mut ThreadState) {
    let mut waited = None;
    state.timeline.resume(monotonic_ns(), &Live, |off_ns| {
        let reason = reason(off_ns);
        waited = Some((off_ns, reason));
        reason.part
    });
    if let (Some((off_ns, reason)), Some(api)) = (waited, api())
        && off_ns >= WAIT_TOLD_NS
    {
        state.add_wait(api, reason.part, reason.what, off_ns);
    }
}

/// Reason of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reason {
    part: Part,
    /// Name of one or two words, such as `Mutex`.
    what: &'static [u8],
}

const UNKNOWN: Reason = Reason {
    part: Part::OtherIo,
    what: b"",
};

/// Returns the reason of a wait outside any call.
fn reason(off_ns: u64) -> Reason {
    if off_ns < LOOK_AT_NS {
        UNKNOWN
    } else {
        reason_of_long(off_ns)
    }
}

/// Returns the reason of a long wait by the methods the thread is still inside of.
#[inline(never)]
fn reason_of_long(off_ns: u64) -> Reason {
    let Some(api) = api() else {
        return UNKNOWN;
    };
    let mut frames = [0 as Value; FRAMES_MAX];
    let mut lines = [0 as c_int; FRAMES_MAX];
    let wanted = if off_ns < WAIT_TOLD_NS { 2 } else { FRAMES_MAX };
    let count =
        (api.rb_profile_frames)(0, wanted as c_int, frames.as_mut_ptr(), lines.as_mut_ptr());
    let name = |index: usize| {
        (count > index as c_int)
            .then(|| c_string((api.rb_profile_frame_method_name)(frames[index])))
            .flatten()
            .map_or(&b""[..], |name| name.to_bytes())
    };
    let path = |index: usize| {
        (count > index as c_int)
            .then(|| c_string((api.rb_profile_frame_path)(frames[index])))
            .flatten()
            .map(|path| path.to_bytes())
    };
    // An app may call a method of its own `wait`, and sleep in it. Methods in C have no path,
    // builtin ones such as `<internal:thread_sync>`.
    let built_in = |index: usize| {
        count > index as c_int && path(index).is_none_or(|path| path.starts_with(b"<"))
    };
    let reason = match (name(0), name(1)) {
        // ConditionVariable#wait sleeps on its Mutex; Monitor waits through it.
        (b"sleep", b"wait") if built_in(1) => Reason {
            part: Part::Lock,
            what: b"ConditionVariable#wait",
        },
        (inner, _) => by_method(inner),
    };
    let in_pool = (0..count.max(0) as usize).any(|index| path(index).is_some_and(is_pool));
    if reason.part == Part::Lock && in_pool {
        return Reason {
            what: b"connection pool",
            ..reason
        };
    }
    reason
}

/// Frames looked at for a connection pool around a lock: ActiveRecord's has five between.
const FRAMES_MAX: usize = 8;

/// Whether a file is part of a connection pool: ActiveRecord's, Sequel's, or the gem's called
/// connection_pool.
fn is_pool(path: &[u8]) -> bool {
    const MARK: &[u8] = b"connection_pool";
    path.windows(MARK.len()).any(|window| window == MARK)
}

/// Returns the reason of a wait inside the method `inner`.
fn by_method(inner: &[u8]) -> Reason {
    let (part, what): (Part, &[u8]) = match inner {
        b"sleep" => (Part::Sleep, b"sleep"),
        b"lock" | b"synchronize" => (Part::Lock, b"Mutex"),
        b"enter" | b"mon_enter" | b"mon_synchronize" => (Part::Lock, b"Monitor"),
        b"pop" | b"shift" | b"deq" => (Part::Lock, b"Queue#pop"),
        b"push" | b"enq" | b"<<" => (Part::Lock, b"SizedQueue#push"),
        // For another thread's end.
        b"join" | b"value" => (Part::Lock, b"Thread#join"),
        b"`" | b"system" | b"waitpid" | b"wait2" | b"waitpid2" => (Part::OtherIo, b"a subprocess"),
        b"read" | b"sysread" | b"read_nonblock" | b"readpartial" | b"gets" => {
            (Part::OtherIo, b"reading")
        }
        b"write" | b"syswrite" | b"print" | b"puts" | b"flush" => (Part::OtherIo, b"writing"),
        b"fsync" | b"fdatasync" => (Part::OtherIo, b"fsync"),
        b"wait_readable" | b"wait_writable" | b"wait" | b"select" => {
            (Part::OtherIo, b"another end")
        }
        b"flock" => (Part::Lock, b"flock"),
        b"getaddrinfo" | b"getaddress" => (Part::OtherIo, b"a name server"),
        b"initialize" | b"open" | b"connect" => (Part::OtherIo, b"opening"),
        _ => (Part::OtherIo, b""),
    };
    Reason { part, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_named_by_the_methods_they_are_in() {
        let check = |inner: &str, part: Part, what: &str| {
            let reason = by_method(inner.as_bytes());
            assert_eq!((reason.part, reason.what), (part, what.as_bytes()));
        };
        check("sleep", Part::Sleep, "sleep");
        check("synchronize", Part::Lock, "Mutex");
        check("pop", Part::Lock, "Queue#pop");
        check("read_nonblock", Part::OtherIo, "reading");
        check("", Part::OtherIo, "");
    }

    #[test]
    fn pools_are_known_by_their_files() {
        assert!(is_pool(
            b"/gems/activerecord/connection_adapters/abstract/connection_pool/queue.rb"
        ));
        assert!(is_pool(
            b"/gems/connection_pool-2.4.1/lib/connection_pool/timed_stack.rb"
        ));
        assert!(!is_pool(b"app/pool.rb"));
    }
}

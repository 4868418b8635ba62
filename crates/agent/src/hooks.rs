//! What the VM tells: threads leaving and entering the GVL, garbage collection.
//!
//! These run with the scheduler's lock and the lock of the hook list held. They read a clock, touch
//! memory that exists already, and in `RESUMED` look at the topmost frames; nothing else is allowed.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::AtomicU64;

use crate::api::{Api, ThreadEvent, Value, api, c_string};
use crate::clock::monotonic_ns;
use crate::thread::{Live, active};
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

/// Waits shorter than that are not worth a look at the stack: an uncontended read or write.
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
                state.timeline.resume(monotonic_ns(), &Live, reason);
            }
        }
        _ => {}
    });
}

/// Of the thread that became ready: told by the event since 3.3, this thread before.
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

/// What a wait outside any call was for, by the methods that the thread is still inside of.
fn reason(off_ns: u64) -> Part {
    if off_ns < LOOK_AT_NS {
        return Part::OtherIo;
    }
    let Some(api) = api() else {
        return Part::OtherIo;
    };
    let mut frames = [0 as Value; 2];
    let mut lines = [0 as c_int; 2];
    let count = (api.rb_profile_frames)(
        0,
        frames.len() as c_int,
        frames.as_mut_ptr(),
        lines.as_mut_ptr(),
    );
    let name = |index: usize| {
        (count > index as c_int)
            .then(|| c_string((api.rb_profile_frame_method_name)(frames[index])))
            .flatten()
            .map_or(&b""[..], |name| name.to_bytes())
    };
    // An app may call a method of its own `wait`, and sleep in it. Methods in C tell no path, builtin ones
    // such as `<internal:thread_sync>`.
    let built_in = |index: usize| {
        count > index as c_int
            && c_string((api.rb_profile_frame_path)(frames[index]))
                .is_none_or(|path| path.to_bytes().starts_with(b"<"))
    };
    match (name(0), name(1)) {
        // ConditionVariable#wait sleeps on its Mutex; Monitor waits through it.
        (b"sleep", b"wait") if built_in(1) => Part::Lock,
        (inner, _) => by_method(inner),
    }
}

/// Names the wait inside that method.
fn by_method(inner: &[u8]) -> Part {
    match inner {
        b"sleep" => Part::Sleep,
        // Mutex, Monitor.
        b"lock" | b"synchronize" | b"enter" | b"mon_enter" | b"mon_synchronize" => Part::Lock,
        // Queue, SizedQueue.
        b"pop" | b"shift" | b"deq" | b"push" | b"enq" | b"<<" => Part::Lock,
        // Thread#join and #value wait for another thread's end.
        b"join" | b"value" => Part::Lock,
        _ => Part::OtherIo,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_named_by_the_methods_they_are_in() {
        let check = |inner: &str, part: Part| assert_eq!(by_method(inner.as_bytes()), part);
        check("sleep", Part::Sleep);
        check("synchronize", Part::Lock);
        check("pop", Part::Lock);
        check("read_nonblock", Part::OtherIo);
        check("", Part::OtherIo);
    }
}

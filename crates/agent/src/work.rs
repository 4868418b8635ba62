//! Named work: JSON, Marshal, sessions, templates, logging. The Ruby half wraps the methods and
//! calls here; outside of a request nothing is recorded.

use crate::abi::{PASS, RECURSION, STARTED};
use crate::api::{Value, api, from_fixnum, string_bytes};
use crate::guarded;
use crate::thread::{self, WorkEntry};

/// `work_begin(code, receiver)` → STARTED (then `work_end` must follow), PASS, or RECURSION.
pub(crate) extern "C" fn begin(_self: Value, code: Value, receiver: Value) -> Value {
    guarded(PASS, || {
        let Some(state) = thread::active() else {
            return PASS;
        };
        match state.begin_work(from_fixnum(code).unwrap_or_default(), receiver) {
            WorkEntry::Counted => STARTED,
            WorkEntry::Passed => PASS,
            WorkEntry::Same => RECURSION,
        }
    })
}

/// `work_end(name, bytes)`.
pub(crate) extern "C" fn end(_self: Value, name: Value, bytes: Value) -> Value {
    guarded(PASS, || {
        if let (Some(api), Some(state)) = (api(), thread::active()) {
            // SAFETY: the Ruby half passes a string with its own bytesize.
            let name = unsafe { string_bytes(name, bytes) }.unwrap_or_default();
            state.end_work(api, name);
        }
        PASS
    })
}

//! Exact calls of one method, counted by the Ruby half.

use super::job;
use crate::api::{Value, string_bytes};
use crate::guarded;
use crate::native::PASS;

/// `profile_counted(lines, bytes)`.
pub(super) extern "C" fn counted(_self: Value, lines: Value, bytes: Value) -> Value {
    guarded(PASS, || {
        // SAFETY: the Ruby half passes a string with its own bytesize.
        if let Some(lines) = unsafe { string_bytes(lines, bytes) } {
            job::tell_counted(String::from_utf8_lossy(lines).into_owned());
        }
        PASS
    })
}

//! What the Ruby half tells: exact calls of one method, and facts of the runtime at the end.

use ring::ProfileRecord;

use super::job;
use crate::api::{Value, string_bytes};
use crate::guarded;
use crate::native::PASS;

/// `profile_counted(lines, bytes)`.
pub(super) extern "C" fn counted(_self: Value, lines: Value, bytes: Value) -> Value {
    told(lines, bytes, ProfileRecord::Counted)
}

/// `profile_fact(line, bytes)`.
pub(super) extern "C" fn fact(_self: Value, line: Value, bytes: Value) -> Value {
    told(line, bytes, ProfileRecord::Fact)
}

fn told(text: Value, bytes: Value, record: fn(String) -> ProfileRecord) -> Value {
    guarded(PASS, || {
        // SAFETY: the Ruby half passes a string with its own bytesize.
        if let Some(text) = unsafe { string_bytes(text, bytes) } {
            job::tell_record(&record(String::from_utf8_lossy(text).into_owned()));
        }
        PASS
    })
}

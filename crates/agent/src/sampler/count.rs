//! Reports of the Ruby half: exact calls of one method, and facts of the runtime at the end.

use ring::ProfileRecord;

use super::job;
use crate::abi::PASS;
use crate::api::{Api, Value, api, string_bytes};
use crate::guarded;

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

/// Makes the Ruby half report the facts available to Ruby code only. From the job, before the end
/// of a sampling.
pub(super) fn ask_the_compiler(api: &Api) {
    let mut failed = 0;
    (api.rb_protect)(tell_facts, job::nil(), &raw mut failed);
    if failed != 0 {
        (api.rb_set_errinfo)(job::nil());
    }
}

extern "C-unwind" fn tell_facts(nil: Value) -> Value {
    let Some(api) = api() else { return nil };
    let module = (api.rb_define_module)(c"HakaruAgent".as_ptr());
    let name = (api.rb_intern)(c"tell_compiler".as_ptr());
    (api.rb_funcallv)(module, name, 0, std::ptr::null())
}

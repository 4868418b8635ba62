//! A process's own reports: settings once, Ruby's counters about once a second.
//!
//! There is no thread of our own for that: the request that ends first after a second has passed
//! asks the Ruby half, which may allocate and is outside of all hooks. A process that serves
//! nothing reports nothing.

use ring::{Record, RuntimeRecord};

use crate::abi::PASS;
use crate::api::{HeapType, Value, api, from_fixnum, is, string_bytes};
use crate::clock::monotonic_ns;
use crate::{guarded, thread};

/// `settings(lines, bytes)`: a line each, name and value with a tab between.
pub(crate) extern "C" fn settings(_self: Value, lines: Value, bytes: Value) -> Value {
    guarded(PASS, || {
        // SAFETY: the Ruby half passes a string with its own bytesize.
        let lines = unsafe { string_bytes(lines, bytes) }.unwrap_or_default();
        if let Some(state) = api().and_then(thread::current) {
            state.send(|out| Record::encode_settings(lines, out));
        }
        PASS
    })
}

/// Length of the array taken by `counters`: four numbers of the collector, four of the compiler,
/// two of the server.
const NUMBERS: usize = 10;

/// `counters(numbers, cause, bytes)`: the compiler's and the server's are −1 where there is none.
pub(crate) extern "C" fn counters(
    _self: Value,
    numbers: Value,
    cause: Value,
    bytes: Value,
) -> Value {
    guarded(PASS, || {
        let Some(api) = api().filter(|_| is(numbers, HeapType::Array)) else {
            return PASS;
        };
        let number = |index: usize| {
            let entry = (api.rb_ary_entry)(numbers, index as i64);
            u64::try_from(from_fixnum(entry)?).ok()
        };
        let all: [Option<u64>; NUMBERS] = std::array::from_fn(number);
        let [gc_count, gc_major, gc_time, live, ..] = all.map(Option::unwrap_or_default);
        let [.., compiled, code, spent, dropped, busy, backlog] = all;
        // SAFETY: the Ruby half passes a string with its own bytesize.
        let cause = unsafe { string_bytes(cause, bytes) }.unwrap_or_default();
        let record = RuntimeRecord {
            at: monotonic_ns(),
            gc: [gc_count, gc_major, gc_time, live],
            gc_cause: String::from_utf8_lossy(cause).into_owned(),
            jit: compiled.map(|compiled| {
                [
                    compiled,
                    code.unwrap_or(0),
                    spent.unwrap_or(0),
                    dropped.unwrap_or(0),
                ]
            }),
            server: busy
                .zip(backlog)
                .map(|(busy, backlog)| [busy as u32, backlog as u32]),
        };
        if let Some(state) = thread::current(api) {
            state.send(|out| record.encode(out));
        }
        PASS
    })
}

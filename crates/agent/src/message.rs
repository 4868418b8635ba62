//! Requests without an HTTP server: messages of a WebSocket, and units of work the app itself calls
//! requests.
//!
//! In a run they are recorded as all requests are; under `hakaru profile`, where requests are left
//! alone, only their samples know them. They get numbers of their own, and do not begin within
//! another request of the same thread.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use ring::ToldRequest;

use crate::abi::{FIRST, PASS, STARTED};
use crate::api::{Value, api, from_fixnum, string_bytes};
use crate::clock::monotonic_ns;
use crate::request::{self, Begun};
use crate::{guarded, process, sampler, thread};

/// A message in progress: the number and the begin.
#[derive(Clone, Copy)]
struct Current {
    id: u64,
    start: u64,
}

thread_local! {
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
}

static COUNT: AtomicU64 = AtomicU64::new(0);

/// `message_begin` → STARTED, then `message_end` must follow; or FIRST.
pub(crate) extern "C" fn begin(_self: Value) -> Value {
    guarded(PASS, || {
        let Some(api) = api().filter(|_| CURRENT.get().is_none()) else {
            return PASS;
        };
        let id = next_id();
        let begun = if process::is_on() {
            request::begin(api, id)
        } else if sampler::is_on() {
            sampler::request_begins(id);
            Begun::Started
        } else {
            Begun::Pass
        };
        match begun {
            Begun::Pass => return PASS,
            Begun::First => return FIRST,
            Begun::Started => {}
        }
        let start = monotonic_ns();
        CURRENT.set(Some(Current { id, start }));
        STARTED
    })
}

/// `message_end(route, bytes, status)` → STARTED when the counters are due.
pub(crate) extern "C" fn end(_self: Value, route: Value, bytes: Value, status: Value) -> Value {
    guarded(PASS, || {
        let Some(current) = CURRENT.take() else {
            return PASS;
        };
        sampler::request_ends();
        // SAFETY: the Ruby half passes a string with its own bytesize.
        let route = unsafe { string_bytes(route, bytes) }.unwrap_or_default();
        let status = from_fixnum(status).map_or(0, |status| status as u32);
        let recorded = thread::active().filter(|_| process::is_on());
        let end = match recorded {
            Some(state) => state.end(status, Some(route)),
            None => monotonic_ns(),
        };
        sampler::tell_request(ToldRequest {
            id: current.id,
            start: current.start,
            end,
            route: String::from_utf8_lossy(route).into_owned(),
        });
        if process::is_on() && process::counters_are_due(end) {
            STARTED
        } else {
            PASS
        }
    })
}

/// Spread over all bits, as a load generator's numbers are; no two processes give the same.
fn next_id() -> u64 {
    let count = COUNT.fetch_add(1, Relaxed);
    sampler::random(u64::from(std::process::id()) << 40 | count).max(1)
}

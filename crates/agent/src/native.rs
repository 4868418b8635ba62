//! The table of the functions called by `ruby/agent.rb`, and the start of the agent.
//!
//! Every function takes and gives plain integers or strings and never raises. The module is
//! `HakaruAgent::Native`; the Ruby file says when to call what.

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::AtomicU64;

use ring::{Hello, TextKind};

use crate::abi::{PASS, RECURSION, STARTED};
use crate::api::{
    Api, Value, api, fixnum, from_fixnum, ruby_description, ruby_version, string_bytes,
};
use crate::clock::monotonic_ns;
use crate::nesting::{self, Entry};
use crate::thread::{self, ActKind, Live};
use crate::timeline::{Part, Span, Timeline, mark_ready};
use crate::{guarded, message, process, puma, request, route, runtime, sampler, work};

const RUBY_HALF: &str = concat!(
    include_str!("../../../ruby/agent.rb"),
    include_str!("../../../ruby/facts.rb"),
    include_str!("../../../ruby/messages.rb")
);

/// The Ruby half for changing threads at run time, evaluated only with `HAKARU_LIVE` set.
const LIVE_HALF: &str = include_str!("../../../ruby/live.rb");

/// Oldest Ruby with GVL events, and the oldest supported by the Ruby half.
const GVL_SINCE: [c_int; 2] = [3, 2];
const RUBY_SINCE: [c_int; 2] = [3, 1];

/// First Ruby with M:N threads, in which several threads share one of the system's.
const MANY_TO_MANY_SINCE: [c_int; 2] = [3, 3];

/// Defines the functions and evaluates the Ruby half. Leaves everything as it was in an unknown
/// Ruby, with M:N threads, or without a request for the agent.
pub(crate) fn start() {
    let Some([major, minor, _]) = ruby_version() else {
        return;
    };
    if !process::read_settings([major, minor] >= GVL_SINCE) {
        return;
    }
    process::complain(&format!("loaded: {}", ruby_description()));
    let Some(api) = api().filter(|_| [major, minor] >= RUBY_SINCE) else {
        process::complain("trouble: this Ruby is not supported; 3.1 or later is needed");
        return;
    };
    let variable = std::env::var("RUBY_MN_THREADS").unwrap_or_default();
    if [major, minor] >= MANY_TO_MANY_SINCE && asks_for_many_to_many(&variable) {
        process::complain(
            "trouble: RUBY_MN_THREADS is set: several of Ruby's threads share one of the \
             system's, by which the agent tells requests apart; unset it to see the app from inside",
        );
        return;
    }
    thread::prepare(api);
    route::prepare(api);
    if let Some(create) = api.rb_internal_thread_specific_key_create {
        process::set_key(create());
    }
    // SAFETY: the handler only touches atomics.
    unsafe { libc::pthread_atfork(None, None, Some(process::after_fork_in_child)) };
    let module = define(api);
    evaluate(api, RUBY_HALF);
    if std::env::var_os("HAKARU_LIVE").is_some() {
        evaluate(api, LIVE_HALF);
    }
    sampler::prepare(api, module, |ruby_half| evaluate(api, ruby_half));
}

/// Whether Ruby runs its threads M:N by this value of `RUBY_MN_THREADS`: a number above 0 at the
/// beginning, as read by `atoi` in `thread_pthread.c`.
fn asks_for_many_to_many(value: &str) -> bool {
    let number = value.trim_start();
    let number = number.strip_prefix('+').unwrap_or(number);
    let digits = number.bytes().take_while(u8::is_ascii_digit);
    digits.map(|digit| digit - b'0').any(|digit| digit > 0)
}

/// Evaluates the Ruby half under a file name of the half's own, to keep the app's backtraces
/// readable.
fn evaluate(api: &Api, ruby_half: &str) {
    let source = format!(
        "begin\neval(<<'HAKARU_AGENT_SOURCE', TOPLEVEL_BINDING, 'hakaru_agent.rb', 1)\n\
         {ruby_half}\nHAKARU_AGENT_SOURCE\n0\n\
         rescue Exception => error\n\
         text = error.full_message(highlight: false)[0, 500].b\n\
         HakaruAgent::Native.trouble(text, text.bytesize)\nend"
    );
    let mut failed: c_int = 0;
    match CString::new(source) {
        Ok(source) => (api.rb_eval_string_protect)(source.as_ptr(), &raw mut failed),
        Err(_) => return,
    };
    if failed != 0 {
        process::complain("trouble: the agent's Ruby half did not load");
    }
}

/// Defines the functions; returns the module.
fn define(api: &Api) -> Value {
    if let Some(ractor_safe) = api.rb_ext_ractor_safe {
        ractor_safe(true);
    }
    let agent = (api.rb_define_module)(c"HakaruAgent".as_ptr());
    request::set_module(agent);
    puma::define(api, agent);
    let module = (api.rb_define_module_under)(agent, c"Native".as_ptr());
    let functions: [(&CStr, *const c_void, c_int); 16] = [
        (c"wanted", wanted as *const c_void, 1),
        (c"now", now as *const c_void, 0),
        (c"call_begin", call_begin as *const c_void, 4),
        (c"call_end", call_end as *const c_void, 1),
        (c"hello", hello as *const c_void, 8),
        (
            c"expect_route_names",
            expect_route_names as *const c_void,
            0,
        ),
        (c"database", database as *const c_void, 2),
        (c"trouble", trouble as *const c_void, 2),
        (c"dry", dry as *const c_void, 1),
        (c"event_cost", event_cost as *const c_void, 0),
        (c"work_begin", work::begin as *const c_void, 2),
        (c"work_end", work::end as *const c_void, 2),
        (c"settings", runtime::settings as *const c_void, 2),
        (c"counters", runtime::counters as *const c_void, 3),
        (c"message_begin", message::begin as *const c_void, 0),
        (c"message_end", message::end as *const c_void, 3),
    ];
    for (name, function, arguments) in functions {
        (api.rb_define_singleton_method)(module, name.as_ptr(), function, arguments);
    }
    module
}

/// `now` → monotonic nanoseconds.
extern "C" fn now(_self: Value) -> Value {
    fixnum(monotonic_ns() as i64)
}

/// Ruby's `false`, in all versions.
const FALSE: Value = 0;

/// `wanted(env)` → a true value if the request is to be recorded, else `false`.
extern "C" fn wanted(_self: Value, env: Value) -> Value {
    let wanted = |api| process::is_wanted(route::request_id(api, env));
    match guarded(true, || api().is_none_or(wanted)) {
        true => env,
        false => FALSE,
    }
}

// The code's low bits say what is called, as in the Ruby half; the rest names the method.
const KIND_MASK: i64 = 7;
const KIND_SQL: i64 = 0;
const KIND_HTTP: i64 = 1;
const KIND_CONNECT: i64 = 3;
const KIND_PREPARE: i64 = 4;
const KIND_CLOSE: i64 = 5;

/// `call_begin(code, receiver, text, bytes)` → STARTED (then `call_end` must follow) or RECURSION.
extern "C" fn call_begin(
    _self: Value,
    code: Value,
    receiver: Value,
    text: Value,
    bytes: Value,
) -> Value {
    guarded(PASS, || {
        let code = from_fixnum(code).unwrap_or_default();
        match nesting::enter(code, receiver) {
            Entry::Same => return RECURSION,
            Entry::Inner => return STARTED,
            Entry::Outer => {}
        }
        if let (Some(api), Some(state)) = (api(), thread::active()) {
            // SAFETY: the Ruby half passes a string with its own bytesize.
            let text = unsafe { string_bytes(text, bytes) }.unwrap_or_default();
            match code & KIND_MASK {
                KIND_SQL => {
                    let digest = state.tell_sql(text);
                    let site = state.site(api);
                    state.begin_call(Span::Sql, digest, site);
                }
                KIND_HTTP => {
                    let digest = state.tell(TextKind::Digest, text);
                    let site = state.site(api);
                    state.begin_call(Span::Http, digest, site);
                }
                kind => {
                    let act = act_of(kind).map(|act| (act, text));
                    let site = act.map_or(0, |_| state.site(api));
                    state.begin_setup(act, site);
                }
            }
        }
        STARTED
    })
}

fn act_of(kind: i64) -> Option<ActKind> {
    match kind {
        KIND_CONNECT => Some(ActKind::Connect),
        KIND_PREPARE => Some(ActKind::Prepare),
        KIND_CLOSE => Some(ActKind::Close),
        _ => None,
    }
}

/// `call_end(rows)`.
extern "C" fn call_end(_self: Value, rows: Value) -> Value {
    guarded(PASS, || {
        if let (true, Some(state)) = (nesting::leave(), thread::active()) {
            state.end_call(from_fixnum(rows).map_or(0, |rows| rows.max(0) as u64));
        }
        PASS
    })
}

/// `hello(server, bytes, workers, threads, pool, request cost, event cost, call cost)`.
extern "C" fn hello(
    _self: Value,
    server: Value,
    bytes: Value,
    workers: Value,
    threads: Value,
    pool: Value,
    cost_request: Value,
    cost_event: Value,
    cost_call: Value,
) -> Value {
    guarded(PASS, || {
        let number = |value| from_fixnum(value).map_or(0, |number| number.max(0) as u32);
        // SAFETY: the Ruby half passes a string with its own bytesize.
        let server = unsafe { string_bytes(server, bytes) }.unwrap_or_default();
        let hello = Hello {
            ruby: ruby_description(),
            server: String::from_utf8_lossy(server).into_owned(),
            gvl: process::settings().is_some_and(|settings| settings.gvl),
            workers: number(workers),
            threads: number(threads),
            database_pool: number(pool),
            cost_request_ns: number(cost_request),
            cost_event_ns: number(cost_event),
            cost_statement_ns: number(cost_call),
        };
        if let Some(state) = api().and_then(thread::current) {
            state.send(|out| hello.encode(out));
        }
        PASS
    })
}

/// `expect_route_names`: a framework with names for routes is loaded.
extern "C" fn expect_route_names(_self: Value) -> Value {
    route::expect_names();
    PASS
}

/// `database(url, bytes)`.
extern "C" fn database(_self: Value, url: Value, bytes: Value) -> Value {
    guarded(PASS, || {
        // SAFETY: the Ruby half passes a string with its own bytesize.
        let url = unsafe { string_bytes(url, bytes) };
        if let (Some(url), Some(state)) = (url, thread::active()) {
            state.tell(TextKind::Database, url);
        }
        PASS
    })
}

/// `trouble(text, bytes)`: records an error of the Ruby half.
extern "C" fn trouble(_self: Value, text: Value, bytes: Value) -> Value {
    guarded(PASS, || {
        // SAFETY: the Ruby half passes a string with its own bytesize.
        let text = unsafe { string_bytes(text, bytes) }.unwrap_or_default();
        process::complain(&format!("trouble: {}", String::from_utf8_lossy(text)));
        PASS
    })
}

/// `dry(1)` before and `dry(0)` after the agent measures itself.
extern "C" fn dry(_self: Value, on: Value) -> Value {
    process::set_dry(on == STARTED);
    PASS
}

/// `event_cost` → nanoseconds of one GVL event in the agent's hook, by the median batch: a pause of
/// the host in some batches does not count.
extern "C" fn event_cost(_self: Value) -> Value {
    static READY_AT: AtomicU64 = AtomicU64::new(0);
    const BATCHES: usize = 30;
    const ROUNDS: u64 = 10;
    const EVENTS_A_ROUND: u64 = 3;
    guarded(PASS, || {
        let mut timeline = Timeline::new(&READY_AT);
        timeline.begin(monotonic_ns(), None);
        let mut batches: [u64; BATCHES] = std::array::from_fn(|_| {
            let started = monotonic_ns();
            for _ in 0..ROUNDS {
                timeline.suspend(monotonic_ns(), &Live);
                mark_ready(timeline.ready_at(), monotonic_ns);
                timeline.resume(monotonic_ns(), &Live, |_| Part::OtherIo);
            }
            monotonic_ns() - started
        });
        batches.sort_unstable();
        fixnum((batches[BATCHES / 2] / (ROUNDS * EVENTS_A_ROUND)) as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_to_many_threads_are_asked_for_as_ruby_reads_it() {
        for value in ["1", "2", " 10", "+1", "1x", "01"] {
            assert!(asks_for_many_to_many(value), "{value:?}");
        }
        for value in ["", "0", "00", "-1", "yes", "x1"] {
            assert!(!asks_for_many_to_many(value), "{value:?}");
        }
    }
}

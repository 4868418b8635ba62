//! The life of a request on the calling thread.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::api::{Api, HeapType, Value, api, from_fixnum, is};
use crate::{hooks, nesting, process, reader, ready, route, sampler, thread};

/// The module `HakaruAgent`.
static AGENT: AtomicUsize = AtomicUsize::new(0);

/// Sets the module `HakaruAgent`, whose methods are called.
pub(crate) fn set_module(agent: Value) {
    AGENT.store(agent, Relaxed);
}

/// Start of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun {
    /// Nothing: the agent is off, nobody reads, or the thread is in a request already.
    Pass,
    /// The record of a request.
    Started,
    /// Nothing yet: the process's first request for a reader, with drivers to be hooked and
    /// facts to be reported first.
    First,
}

/// Begins a request on the calling thread.
pub(crate) fn begin(api: &Api, id: u64) -> Begun {
    if !process::is_on() {
        return Begun::Pass;
    }
    if !reader::is_there() {
        thread::let_go();
        return Begun::Pass;
    }
    if process::arm() {
        watch(api);
        return Begun::First;
    }
    let Some(state) = thread::current(api).filter(|state| !state.active) else {
        return Begun::Pass;
    };
    nesting::reset();
    state.begin(id, ready::take(id));
    sampler::request_begins(id);
    Begun::Started
}

/// Installs missing hooks: from now on the VM reports events.
#[cold]
fn watch(api: &Api) {
    hooks::install(api);
    sampler::first_request(api);
}

/// Calls `HakaruAgent.arm(config)`, which lets nothing out.
pub(crate) fn arm(api: &Api, middleware: Value) {
    let config = (api.rb_ivar_get)(middleware, (api.rb_intern)(c"@config".as_ptr()));
    let name = (api.rb_intern)(c"arm".as_ptr());
    (api.rb_funcallv)(AGENT.load(Relaxed), name, 1, &raw const config);
}

/// Calls `HakaruAgent.tell_counters`, which lets nothing out.
pub(crate) fn tell_counters(api: &Api) {
    let name = (api.rb_intern)(c"tell_counters".as_ptr());
    (api.rb_funcallv)(AGENT.load(Relaxed), name, 0, std::ptr::null());
}

/// Ends the calling thread's request; returns whether the counters are due.
pub(crate) fn end(env: Value, response: Value) -> bool {
    sampler::request_ends();
    if let (Some(api), Some(state)) = (api(), thread::active()) {
        let status = if is(response, HeapType::Array) {
            from_fixnum((api.rb_ary_entry)(response, 0)).map_or(0, |status| status as u32)
        } else {
            0
        };
        let now = state.end(status, route::of(api, env).as_deref());
        return process::counters_are_due(now);
    }
    false
}

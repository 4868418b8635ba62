//! The two wrapped methods of Puma, as native methods of modules prepended by the Ruby half: a
//! frame of Ruby code around every request would cost more than all the rest.
//!
//! Ruby raises and throws by `longjmp`, which goes straight over the frames here. So between the
//! call of `super` and its return they hold nothing that would have to be dropped.

use crate::abi::NO_RESPONSE;
use crate::api::{Api, Value, api};
use crate::request::{self, Begun};
use crate::{guarded, process, ready, route};

/// A request on the way through the app, on the stack, where the VM's collector finds the objects.
struct Passing {
    env: Value,
    response: Value,
}

/// Defines `HakaruAgent::PumaCall#call` and `HakaruAgent::PumaReady#<<`.
pub(crate) fn define(api: &Api, agent: Value) {
    let module = |name: &std::ffi::CStr| (api.rb_define_module_under)(agent, name.as_ptr());
    (api.rb_define_method)(
        module(c"PumaCall"),
        c"call".as_ptr(),
        call as *const std::ffi::c_void,
        1,
    );
    (api.rb_define_method)(
        module(c"PumaReady"),
        c"<<".as_ptr(),
        hand_over as *const std::ffi::c_void,
        1,
    );
}

/// `Puma::Configuration::ConfigMiddleware#call(env)`: the outermost app of Puma, from 5.6 to 8.
extern "C-unwind" fn call(this: Value, env: Value) -> Value {
    let Some(api) = api() else {
        return env;
    };
    let mut passing = Passing {
        env,
        response: NO_RESPONSE,
    };
    let id = guarded(0, || route::take_request_id(api, env));
    if !process::is_wanted(id) {
        return (api.rb_call_super)(1, &raw const passing.env);
    }
    let mut begun = guarded(Begun::Pass, || request::begin(api, id));
    if begun == Begun::First {
        request::arm(api, this);
        begun = guarded(Begun::Pass, || request::begin(api, id));
    }
    if begun != Begun::Started {
        return (api.rb_call_super)(1, &raw const passing.env);
    }
    let data = (&raw mut passing) as Value;
    (api.rb_ensure)(go_on, data, finish, data)
}

extern "C-unwind" fn go_on(data: Value) -> Value {
    // SAFETY: `call` passes its own `passing`, which outlives `rb_ensure`.
    let passing = unsafe { &mut *(data as *mut Passing) };
    if let Some(api) = api() {
        passing.response = (api.rb_call_super)(1, &raw const passing.env);
    }
    passing.response
}

extern "C-unwind" fn finish(data: Value) -> Value {
    // SAFETY: as in `go_on`.
    let passing = unsafe { &*(data as *const Passing) };
    let due = guarded(false, || request::end(passing.env, passing.response));
    if let Some(api) = api().filter(|_| due) {
        request::tell_counters(api);
    }
    NO_RESPONSE
}

/// `Puma::ThreadPool#<<(client)`: the reactor has read the whole request and passes the client on
/// to the threads. A thread that reads a request itself does not come by, and a connection that was
/// just accepted has no number yet.
extern "C-unwind" fn hand_over(this: Value, client: Value) -> Value {
    let Some(api) = api() else {
        return this;
    };
    guarded((), || {
        let id = route::request_id_of_client(api, client);
        if id != 0 {
            ready::note(id, crate::clock::monotonic_ns());
        }
    });
    (api.rb_call_super)(1, &raw const client)
}

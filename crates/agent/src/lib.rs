//! The shared object inside the Ruby process: GVL, GC, SQL and HTTP of every request, into a ring
//! in shared memory.
//!
//! Loaded by way of `RUBYOPT` and `ruby/boot.rb` into every Ruby the run starts, it stays inert
//! until a process handles its first request; in an app started by somebody else, until somebody
//! reads (`reader`). Constraints that shape everything here:
//!
//! 1. The app is sacred: nothing raises into it, nothing changes its responses. Every entry
//!    catches panics and turns the agent off.
//! 2. Event hooks run with the scheduler's lock held: no allocation, no Ruby call, no lock in them.
//! 3. `READY` is fired by whichever thread wakes the sleeper (Ruby ≥ 3.3), so it writes one atomic
//!    of the sleeper's state and nothing else; all other state belongs to the thread it describes.
//! 4. Hooks are added once per process at its first recorded request, and never in a child of a
//!    process that had them: the lock of Ruby's hook list is not recreated after `fork`.
//! 5. No Ruby header and no link to libruby: every function is looked up by name when the agent
//!    starts, and a missing one leaves the agent inert instead of the app unbootable.
//!
//! What flows: `native` (called from `ruby/agent.rb`) and `hooks` (called by the VM) stamp the
//! clock and drive one [`timeline::Timeline`] a thread; at the end of a request `thread` packs it
//! into a record.
#![expect(unsafe_code, reason = "talks to the Ruby VM through its C interface")]

mod abi;
mod api;
mod clock;
mod hooks;
mod message;
mod native;
mod nesting;
mod process;
mod puma;
mod reader;
mod ready;
mod request;
mod route;
mod runtime;
mod sampler;
mod site;
mod storage;
mod thread;
mod timeline;
mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The entry point, called by Ruby after loading the file; named by the file's name.
#[unsafe(no_mangle)]
pub extern "C" fn Init_hakaru_agent() {
    storage::fix();
    guarded((), native::start);
}

/// Runs an entry from Ruby. A panic must not unwind into C: it turns the agent off and returns
/// `fallback`.
fn guarded<T>(fallback: T, entry: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(entry)).unwrap_or_else(|_| {
        process::turn_off();
        fallback
    })
}

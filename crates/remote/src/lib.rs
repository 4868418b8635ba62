//! Starts a copy of the running program on other hosts over OpenSSH, exchanges frames with the
//! copy, and measures the offset of each host's clock.
//!
//! [`Session::open`] runs the system's `ssh` once, so `~/.ssh/config` holds and one login a host is
//! all. Over that one channel go, in this order:
//!
//! 1. a shell's line that names the host's system and architecture (`script.rs`),
//! 2. the program's own file, which the shell writes into a file that has lost its name before its
//!    first byte is written, and whose hash it compares,
//! 3. the program's greeting with the version of the frames, then frames in both directions
//!    (`frame.rs`).
//!
//! There is no control socket beside it, so no file is left on either side however a process ends.
//! The far side ends when its input does, and when nothing was heard for [`SILENCE_MAX`]; the near
//! side sends a sign of life more often than that. Frames go through pipes and queues of fixed
//! length: a reader that is slow stops the writer, and nothing piles up.
//!
//! Invariant: knows nothing of what is said in the frames. No secret and no path of the near side
//! is on a command line.
//!
//! Start reading at [`Session`], then [`Far`], which is its other end.

pub mod clock;
mod error;
mod far;
pub mod frame;
mod host;
mod queue;
mod script;
mod session;

use std::time::Duration;

pub use error::{RemoteError, Why};
pub use far::{Far, Shift, Speaker};
pub use frame::Frame;
pub use host::{Host, Program};
pub use session::{Session, Trip, open_all};

/// The version of the greeting and the frames; both sides must have the same.
pub const VERSION: u32 = 1;
/// Silence after which a far side ends itself.
pub const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Longest silence of a host for commands waiting on people, in reading and writing.
pub const PATIENCE: Duration = Duration::from_secs(15);
/// Greatest interval between frames sent by the near side.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// Capacity of the queue of frames, in each direction.
const QUEUE_FRAMES: usize = 16;

/// Returns `CLOCK_MONOTONIC` of the local host, nanoseconds.
pub fn monotonic_ns() -> i64 {
    nanos(rustix::time::ClockId::Monotonic)
}

/// Returns the wall clock of the local host, nanoseconds since 1970.
pub fn wall_ns() -> i64 {
    nanos(rustix::time::ClockId::Realtime)
}

fn nanos(clock: rustix::time::ClockId) -> i64 {
    let now = rustix::time::clock_gettime(clock);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

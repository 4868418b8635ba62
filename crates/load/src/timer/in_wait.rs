//! A wake-up at an instant by the system's own wait: kqueue takes nanoseconds.

use std::io;
use std::time::Duration;

use mio::{Registry, Token};
use recording::Timestamp;

use crate::clock;

/// Remembers the instant for the next wait.
#[derive(Debug)]
pub(crate) struct Timer {
    at: Option<Timestamp>,
}

impl Timer {
    pub(crate) fn new(_: &Registry, _: Token) -> io::Result<Timer> {
        Ok(Timer { at: None })
    }

    /// Wakes at `at`.
    pub(crate) fn wake_at(&mut self, at: Timestamp) -> io::Result<()> {
        self.at = Some(at);
        Ok(())
    }

    /// Returns the longest duration of the next wait, `longest` at most.
    pub(crate) fn wait_max(&mut self, longest: Duration) -> Duration {
        let left = self.at.take().map(|at| at.since(clock::now()).0);
        left.map_or(longest, Duration::from_nanos).min(longest)
    }
}

//! A wake-up at an instant, precise to microseconds where epoll's own timeout counts milliseconds.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use recording::Timestamp;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// A timer to wake a poll.
#[derive(Debug)]
pub(crate) struct Timer {
    fd: OwnedFd,
    armed: Option<Timestamp>,
}

impl Timer {
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Timer { fd, armed: None })
    }

    /// Returns the longest duration of the next wait. The timer ends the wait by itself.
    pub(crate) fn wait_max(&mut self, longest: Duration) -> Duration {
        longest
    }

    /// Wakes at `at`. It is never read: registered edge-triggered, each setting makes one new edge.
    pub(crate) fn wake_at(&mut self, at: Timestamp) -> io::Result<()> {
        if self.armed == Some(at) {
            return Ok(());
        }
        let nanos = at.monotonic_nanos();
        let setting = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: (nanos / 1_000_000_000) as i64,
                tv_nsec: (nanos % 1_000_000_000) as i64,
            },
        };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &setting)?;
        self.armed = Some(at);
        Ok(())
    }
}

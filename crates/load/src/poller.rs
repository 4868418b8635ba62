//! What a worker waits with: edge-triggered epoll (kqueue outside of Linux), or io_uring. Both tell
//! of sockets in the same words, so that the worker does not know which.

use std::io;
use std::time::Duration;

use mio::{Events, Poll, Token};
use recording::Timestamp;

use crate::LoadError;
use crate::address::Address;
use crate::clock;
use crate::engine::Engine;
use crate::stream::Channel;
use crate::timer::Timer;
use crate::uring::{self, Uring};

/// Events handled in one turn of the loop.
const EVENTS: usize = 256;
/// Longest sleep of the loop, so a stop is noticed soon.
const SLEEP_MAX: Duration = Duration::from_millis(20);
const TIMER: Token = Token(usize::MAX);

impl Engine {
    /// Returns the engine for the running kernel, never `Auto`.
    ///
    /// # Errors
    /// [`LoadError::Plan`] when io_uring is asked for and cannot be used.
    pub fn resolve(self) -> Result<Engine, LoadError> {
        match (self, self == Engine::Epoll || uring::try_out().is_ok()) {
            (Engine::Epoll, _) | (Engine::Auto, false) => Ok(Engine::Epoll),
            (_, true) => Ok(Engine::IoUring),
            (Engine::IoUring, false) => Err(LoadError::Plan(format!(
                "io_uring cannot be used here ({}); it needs Linux 6.1, and a container may forbid it; \
                 try --engine epoll",
                uring::try_out()
                    .err()
                    .map_or_else(String::new, |error| error.to_string())
            ))),
        }
    }
}

/// Something happened to a connection's socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// Number under which the connection was opened.
    pub(crate) index: usize,
    /// There is something to read: bytes, the end, or an error.
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// Nothing comes behind what is there to read.
    pub(crate) ended: bool,
}

/// How many events are waited for together, and for how long at most. Being woken costs the most of
/// all that a generator does beside the kernel's TCP, and the server's core pays for it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gather {
    pub(crate) count: usize,
    pub(crate) micros: u32,
}

/// Ends waits of the thread in time; Linux may be 50 µs late by default.
#[cfg(target_os = "linux")]
fn wake_in_time() -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(
        std::num::NonZeroU64::new(1),
    )?)
}

/// Does nothing: outside of Linux there is no such setting.
#[cfg(not(target_os = "linux"))]
fn wake_in_time() -> io::Result<()> {
    Ok(())
}

/// Waits for sockets and for instants.
pub(crate) enum Poller {
    Epoll {
        poll: Poll,
        events: Events,
        timer: Timer,
    },
    Uring(Uring),
    /// Fails when as many waits as are left are over.
    #[cfg(test)]
    Failing {
        poller: Box<Poller>,
        left: u32,
    },
}

impl Poller {
    /// One for the calling thread.
    pub(crate) fn new(engine: Engine) -> io::Result<Poller> {
        wake_in_time()?;
        if engine == Engine::IoUring {
            return Uring::new().map(Poller::Uring);
        }
        let poll = Poll::new()?;
        let timer = Timer::new(poll.registry(), TIMER)?;
        Ok(Poller::Epoll {
            poll,
            events: Events::with_capacity(EVENTS),
            timer,
        })
    }

    /// Begins to connect; events are reported under `index`.
    pub(crate) fn connect(&self, address: &Address, index: usize) -> io::Result<Channel> {
        match self {
            Poller::Epoll { poll, .. } => Channel::epoll(address, poll.registry(), Token(index)),
            Poller::Uring(uring) => Channel::uring(address, uring, index),
            #[cfg(test)]
            Poller::Failing { poller, .. } => poller.connect(address, index),
        }
    }

    /// Waits until something happens, until `at`, or for a short time, and adds what happened to
    /// `ready`. With `gather` several things are waited for: io_uring counts them, epoll can only
    /// sleep for the whole time.
    pub(crate) fn wait(
        &mut self,
        at: Option<Timestamp>,
        gather: Option<Gather>,
        ready: &mut Vec<Ready>,
    ) -> io::Result<()> {
        match self {
            Poller::Epoll {
                poll,
                events,
                timer,
            } => {
                if let Some(at) = at {
                    timer.wake_at(at)?;
                }
                if let Some(gather) = gather {
                    std::thread::sleep(Duration::from_micros(u64::from(gather.micros)));
                }
                match poll.poll(events, Some(timer.wait_max(SLEEP_MAX))) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
                    other => other?,
                }
                let told = events.iter().filter(|event| event.token() != TIMER);
                ready.extend(told.map(|event| Ready {
                    index: event.token().0,
                    readable: event.is_readable() || event.is_read_closed() || event.is_error(),
                    writable: event.is_writable(),
                    ended: event.is_read_closed(),
                }));
                Ok(())
            }
            Poller::Uring(uring) => {
                let left = at.map(|at| Duration::from_nanos(at.since(clock::now()).0));
                uring.wait(left.unwrap_or(SLEEP_MAX).min(SLEEP_MAX), gather, ready)
            }
            #[cfg(test)]
            Poller::Failing { poller, left } => {
                let over = || io::Error::other("no more events");
                *left = left.checked_sub(1).ok_or_else(over)?;
                poller.wait(at, gather, ready)
            }
        }
    }
}

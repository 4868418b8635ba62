//! When is the app ready?
//!
//! 1. Puma (5.1 and later) says `READY=1` on `NOTIFY_SOCKET`, in a cluster after all workers have
//!    booted. Then the port must take a connection, no more: the app is not asked anything.
//! 2. Anything else is ready when the URL answers a plain GET with any HTTP status. An accepted
//!    connection alone proves nothing: the kernel accepts for a listener that never reads.
//!
//! In a Puma cluster the first worker answers long before the last has booted, so where a Puma runs
//! the URL is asked only after [`PUMA_SILENCE_LIMIT`] without a word on the socket.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::address::Endpoint;
use crate::error::{Seen, TargetError};
use crate::procfs;
use crate::tree::Tree;

/// Evidence of an app's readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyBy {
    /// The app reported readiness on `NOTIFY_SOCKET`.
    Notify,
    /// The URL responded with the given HTTP status.
    Answer(u16),
}

/// Requests an `https` URL within a time limit, whatever the server's certificate; returns the
/// status of a response. This crate speaks no TLS.
pub type Ask = fn(&str, Duration) -> Option<u16>;

/// How often everything is looked at again.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// Time limit of one connection attempt; within one host connecting takes microseconds, so the
/// limit is for a target elsewhere.
const CONNECT_LIMIT: Duration = Duration::from_millis(500);

/// Time limit of one response: a first request may load much code, but after a lost connection the
/// app must be asked again.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// Silence, counted from the opening of Puma's port, after which Puma is taken not to notify: a
/// running Puma writes a status every second, unless `PUMA_SKIP_SYSTEMD` is set or a 5.x lacks the
/// gem for notifications.
const PUMA_SILENCE_LIMIT: Duration = Duration::from_secs(3);

/// Longest time from `READY=1` until the URL's port takes connections; beyond, the url names
/// another port.
const OPEN_AFTER_READY_LIMIT: Duration = Duration::from_secs(3);

/// Asks one URL until a response comes, never blocking longer than a connection attempt.
pub(crate) struct Probe {
    url: Endpoint,
    ask: Ask,
    addresses: Vec<SocketAddr>,
    pending: Option<Pending>,
    /// The response to a request over TLS, under way on a thread.
    asked: Option<Receiver<Option<u16>>>,
}

struct Pending {
    stream: TcpStream,
    since: Instant,
    answer: Vec<u8>,
}

/// What is known while waiting.
struct Waiting<'a> {
    tree: &'a Tree,
    probe: Probe,
    begin: Instant,
    open_since: Option<Instant>,
    ready_since: Option<Instant>,
    is_puma: bool,
}

/// Waits until the app is ready; returns early when the app ends or the flag is raised.
///
/// # Errors
/// `Ok(None)` means that the app exited; the caller knows how to tell that.
/// [`TargetError::Interrupted`], [`TargetError::NeverReady`], [`TargetError::Unresolved`].
pub(crate) fn wait(
    tree: &Tree,
    (url, ask): (&Endpoint, Ask),
    limit: Duration,
    command: &str,
    stop: &AtomicBool,
) -> Result<Option<ReadyBy>, TargetError> {
    let mut waiting = Waiting {
        tree,
        probe: Probe::new(url, ask)?,
        begin: Instant::now(),
        open_since: None,
        ready_since: None,
        is_puma: false,
    };
    loop {
        // Relaxed: the flag carries no other data.
        if stop.load(Ordering::Relaxed) {
            return Err(TargetError::Interrupted);
        }
        if tree.exited().is_some() {
            return Ok(None);
        }
        if let Some(ready_by) = waiting.look() {
            return Ok(Some(ready_by));
        }
        let elsewhere = waiting
            .ready_since
            .is_some_and(|since| since.elapsed() > OPEN_AFTER_READY_LIMIT);
        if elsewhere || waiting.begin.elapsed() > limit {
            return Err(TargetError::NeverReady {
                command: command.to_owned(),
                url: url.to_string(),
                waited: waiting.begin.elapsed(),
                seen: Box::new(waiting.seen()),
                tail: tree.log().tail(),
            });
        }
        thread::sleep(TICK);
    }
}

impl Waiting<'_> {
    fn look(&mut self) -> Option<ReadyBy> {
        let notes = self.tree.notes();
        let open = self.open_since.is_some() || self.probe.port_open();
        if notes.ready {
            self.ready_since.get_or_insert_with(Instant::now);
            return open.then_some(ReadyBy::Notify);
        }
        if !open {
            return None;
        }
        if self.open_since.is_none() {
            self.open_since = Some(Instant::now());
            self.is_puma = self
                .tree
                .living()
                .iter()
                .any(|pid| procfs::command_line(*pid).contains("puma"));
        }
        let speaking = notes.status.is_some();
        let silent_for = self
            .open_since
            .map(|since| since.elapsed())
            .unwrap_or_default();
        if speaking || (self.is_puma && silent_for < PUMA_SILENCE_LIMIT) {
            return None;
        }
        self.probe.answer().map(ReadyBy::Answer)
    }

    fn seen(&self) -> Seen {
        let living = self.tree.living();
        let notes = self.tree.notes();
        Seen {
            processes: living.len(),
            port_open: self.probe.port_open(),
            listening: procfs::listening_addresses(&living),
            notified: notes.ready,
            status: notes.status,
        }
    }
}

impl Probe {
    /// # Errors
    /// [`TargetError::Unresolved`] when the host has no address.
    pub(crate) fn new(url: &Endpoint, ask: Ask) -> Result<Self, TargetError> {
        let addresses = url.resolve().map_err(|source| TargetError::Unresolved {
            url: url.clone(),
            source,
        })?;
        Ok(Self {
            url: url.clone(),
            ask,
            addresses,
            pending: None,
            asked: None,
        })
    }

    /// Returns the first of the URL's addresses with a listener.
    pub(crate) fn open_address(&self) -> Option<SocketAddr> {
        self.connect().and_then(|stream| stream.peer_addr().ok())
    }

    pub(crate) fn port_open(&self) -> bool {
        self.connect().is_some()
    }

    /// Sends the request, or checks for a response; returns the HTTP status of a response.
    pub(crate) fn answer(&mut self) -> Option<u16> {
        if self.url.tls {
            return self.answer_over_tls();
        }
        let pending = match self
            .pending
            .take()
            .filter(|pending| pending.since.elapsed() < ANSWER_LIMIT)
        {
            Some(pending) => pending,
            None => self.ask()?,
        };
        match pending.read() {
            Progress::Status(status) => return Some(status),
            Progress::Waiting(pending) => self.pending = Some(pending),
            Progress::Broken => {}
        }
        None
    }

    fn answer_over_tls(&mut self) -> Option<u16> {
        let asked = match &self.asked {
            Some(asked) => asked,
            None => {
                self.connect()?;
                let (tell, asked) = channel();
                let (url, ask) = (self.url.to_string(), self.ask);
                // Nobody listens any more when the app ended in between.
                thread::spawn(move || tell.send(ask(&url, ANSWER_LIMIT)));
                self.asked.insert(asked)
            }
        };
        match asked.try_recv() {
            Err(TryRecvError::Empty) => None,
            told => {
                self.asked = None;
                told.ok().flatten()
            }
        }
    }

    fn ask(&self) -> Option<Pending> {
        let mut stream = self.connect()?;
        stream.set_write_timeout(Some(CONNECT_LIMIT)).ok()?;
        stream.set_read_timeout(Some(TICK)).ok()?;
        let (path, host) = (&self.url.path, self.url.authority());
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: hakaru\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).ok()?;
        Some(Pending {
            stream,
            since: Instant::now(),
            answer: Vec::new(),
        })
    }

    fn connect(&self) -> Option<TcpStream> {
        self.addresses
            .iter()
            .find_map(|address| TcpStream::connect_timeout(address, CONNECT_LIMIT).ok())
    }
}

enum Progress {
    Status(u16),
    Waiting(Pending),
    Broken,
}

impl Pending {
    fn read(mut self) -> Progress {
        let mut buffer = [0; 64];
        match self.stream.read(&mut buffer) {
            Ok(0) => Progress::Broken,
            Ok(count) => {
                self.answer.extend_from_slice(&buffer[..count]);
                match parse_status(&self.answer) {
                    Some(status) => Progress::Status(status),
                    None if self.answer.len() < STATUS_BYTES => Progress::Waiting(self),
                    None => Progress::Broken,
                }
            }
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                Progress::Waiting(self)
            }
            Err(_) => Progress::Broken,
        }
    }
}

/// Length of `HTTP/1.1 200`.
const STATUS_BYTES: usize = 12;

fn parse_status(answer: &[u8]) -> Option<u16> {
    let head = answer.get(..STATUS_BYTES)?;
    let text = std::str::from_utf8(head).ok()?;
    let status = text.strip_prefix("HTTP/1.")?.get(2..)?.parse().ok()?;
    (100..1000).contains(&status).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: Option<u16>) {
        assert_eq!(parse_status(answer.as_bytes()), expected, "{answer:?}");
    }

    #[test]
    fn any_status_counts_and_nothing_else() {
        check("HTTP/1.1 200 OK\r\n", Some(200));
        check("HTTP/1.0 503", Some(503));
        check("HTTP/1.1 50", None);
        check("HTTP/1.1 0007", None);
        check("SSH-2.0-OpenSSH_9", None);
        check("HTTP/1.é 200 OK", None);
    }
}

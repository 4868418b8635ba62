//! The three threads of a session: one writes, one reads, one keeps what is said on standard error.
//! They end with `ssh`.

use std::io::{self, ErrorKind, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Event, Outgoing, Shared, Trip};
use crate::clock::RoundTrip;
use crate::frame::{self, Decoder, Frame};
use crate::queue::Nothing;
use crate::script::{self, Line};
use crate::{SIGN_OF_LIFE, monotonic_ns, wall_ns};

/// Bytes read and written at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Bytes of standard error to store.
const SAID_BYTES_MAX: usize = 8 * 1024;
/// Bytes which a user's start-up files may print before the far shell's first line.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Round trips to store: a day of signs of life.
const TRIPS_MAX: usize = 20_000;
/// Wait of the reader for a consumer of frames; a slow consumer slows down a fast host.
const FOR_EVER: Duration = Duration::MAX;

pub(super) fn start(ssh: &mut Child, shared: &Arc<Shared>) {
    if let Some(stdin) = ssh.stdin.take() {
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // An error means that `ssh` has ended, which the reader sees as well.
            let _ = write(stdin, &shared);
            shared.to.close();
        });
    }
    if let Some(stdout) = ssh.stdout.take() {
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            read(stdout, &shared);
            shared.from.close();
            shared.to.close();
        });
    }
    if let Some(stderr) = ssh.stderr.take() {
        let shared = Arc::clone(shared);
        thread::spawn(move || shared.said.keep(stderr));
    }
}

fn write(mut stdin: ChildStdin, shared: &Shared) -> io::Result<()> {
    loop {
        match shared.to.pop(SIGN_OF_LIFE) {
            Ok(Outgoing::Bytes(bytes)) => stdin.write_all(&bytes)?,
            Ok(Outgoing::Program(program)) => {
                for piece in program.chunks(PIECE_BYTES) {
                    stdin.write_all(piece)?;
                    // Relaxed: a count that only has to grow some time.
                    (shared.written).fetch_add(piece.len() as u64, Ordering::Relaxed);
                }
            }
            Ok(Outgoing::Ping) => ping(&mut stdin)?,
            // Relaxed: the next sign of life is as good.
            Err(Nothing::Late) if shared.is_greeted.load(Ordering::Relaxed) => ping(&mut stdin)?,
            Err(Nothing::Late) => {}
            Err(Nothing::Closed) => return Ok(()),
        }
        stdin.flush()?;
    }
}

fn ping(stdin: &mut ChildStdin) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(32);
    let sent = [monotonic_ns().to_le_bytes(), wall_ns().to_le_bytes()].concat();
    frame::encode(frame::PING, &sent, &mut bytes).map_err(io::Error::other)?;
    stdin.write_all(&bytes)
}

fn read(mut stdout: ChildStdout, shared: &Shared) {
    let mut piece = vec![0; PIECE_BYTES];
    let (mut line, mut decoder) = (Vec::new(), Decoder::default());
    let mut is_greeted = false;
    loop {
        let count = match stdout.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let mut rest = &piece[..count];
        while !is_greeted && let Some((first, others)) = rest.split_first() {
            rest = others;
            match first {
                b'\n' => {
                    is_greeted = hear(&line, shared);
                    line.clear();
                }
                _ if line.len() < LINE_BYTES_MAX => line.push(*first),
                _ => {}
            }
        }
        decoder.push(rest);
        loop {
            let event = match decoder.next_frame() {
                Ok(Some(frame)) if frame.kind == frame::PONG => {
                    shared.clocks.add(&frame);
                    continue;
                }
                Ok(Some(frame)) => Event::Frame(frame),
                Ok(None) => break,
                Err(error) => {
                    let _ = shared.from.push(Event::Broken(error), FOR_EVER);
                    return;
                }
            };
            // Nobody takes frames any more once the queue is closed; reading on lets the far side
            // end.
            let _ = shared.from.push(event, FOR_EVER);
        }
    }
}

/// Whether frames follow the line.
fn hear(line: &[u8], shared: &Shared) -> bool {
    let Some(line) = script::understand(String::from_utf8_lossy(line).trim_end()) else {
        return false;
    };
    let is_greeting = matches!(line, Line::Greeting(_));
    let _ = shared.from.push(Event::Line(line), FOR_EVER);
    is_greeting
}

/// Round trips, and a condition variable for threads waiting for a new one.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    trips: Mutex<Vec<Trip>>,
    came: Condvar,
}

impl Clocks {
    fn add(&self, pong: &Frame) {
        let ours = (monotonic_ns(), wall_ns());
        let Some(trip) = trip(&pong.body, ours) else {
            return;
        };
        let mut trips = self.lock();
        if trips.len() < TRIPS_MAX {
            trips.push(trip);
        }
        self.came.notify_all();
    }

    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn all(&self) -> Vec<Trip> {
        self.lock().clone()
    }

    /// Whether there are more than `known` before the deadline.
    pub(super) fn wait_for_more(&self, known: usize, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self
            .came
            .wait_timeout_while(self.lock(), left, |trips| trips.len() <= known);
        waited.unwrap_or_else(PoisonError::into_inner).0.len() > known
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Trip>> {
        self.trips.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the body of a pong: our clocks when we asked, then the far ones.
fn trip(body: &[u8], (monotonic, wall): (i64, i64)) -> Option<Trip> {
    let (numbers, []) = body.as_chunks::<8>() else {
        return None;
    };
    let [sent, sent_wall, far, far_wall] = *numbers else {
        return None;
    };
    let trip = |sent, received_ns, far| RoundTrip {
        sent_ns: i64::from_le_bytes(sent),
        received_ns,
        far_ns: i64::from_le_bytes(far),
    };
    Some(Trip {
        monotonic: trip(sent, monotonic, far),
        wall: trip(sent_wall, wall, far_wall),
    })
}

/// The last part of what was said on standard error.
#[derive(Debug, Default)]
pub(super) struct Said {
    state: Mutex<(Vec<u8>, bool)>,
    ended: Condvar,
}

impl Said {
    fn keep(&self, mut stderr: ChildStderr) {
        let mut piece = [0; 1024];
        loop {
            match stderr.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => {
                    let mut state = self.lock();
                    state.0.extend_from_slice(&piece[..count]);
                    let surplus = state.0.len().saturating_sub(SAID_BYTES_MAX);
                    state.0.drain(..surplus);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.lock().1 = true;
        self.ended.notify_all();
    }

    /// Returns all stored output, once standard error has ended or the time is over.
    pub(super) fn all(&self, wait: Duration) -> String {
        self.wait_for_end(wait);
        String::from_utf8_lossy(&self.lock().0).into_owned()
    }

    /// Returns whether standard error, and so `ssh`, ends within the time.
    pub(super) fn wait_for_end(&self, wait: Duration) -> bool {
        let waited = self
            .ended
            .wait_timeout_while(self.lock(), wait, |state| !state.1);
        waited.unwrap_or_else(PoisonError::into_inner).0.1
    }

    fn lock(&self) -> MutexGuard<'_, (Vec<u8>, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The near side: from sessions on all hosts to a result of each.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use generators::{GeneratorResult, Given};
use load::Part;
use remote::clock::{RoundTrip, offset_at};
use remote::{Frame, PATIENCE, Session, monotonic_ns, wall_ns};

use crate::follow::follow;
use crate::message::{self, Failed, Ready, Stretch};

/// Interval of looking at the ends of a wait.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// Nanoseconds from the last host's readiness to the start of the load, more than the last messages
/// take.
const AFTER_NS: i64 = 1_000_000_000;
/// Round trips by which a clock is compared before the start.
const CLOCK_TRIPS: usize = 8;

/// A generator on a host.
pub struct Generator<'a> {
    /// Name of the host.
    pub host: &'a str,
    /// Part of the load.
    pub part: Part,
    /// Connection to the host.
    pub session: Session,
}

/// Returns all values.
///
/// # Errors
/// The texts of all failures in one.
pub fn all_of<T>(results: Vec<Result<T, String>>) -> Result<Vec<T>, String> {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(one) => all.push(one),
            Err(error) => errors.push(error),
        }
    }
    match errors.is_empty() {
        true => Ok(all),
        false => Err(format!(
            "{}; no generator is left out, so nothing was measured",
            errors.join("; ")
        )),
    }
}

/// Runs `work` for each generator on a thread.
fn on_each<T: Send>(
    generators: &[Generator<'_>],
    work: impl Fn(&Generator<'_>) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let results = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (generators.iter())
            .map(|generator| scope.spawn(move || work(generator)))
            .collect();
        joined(threads)
    });
    all_of(results)
}

/// Sends each generator the order, waits until all are ready, and compares the clocks. Returns what
/// each says of itself.
///
/// # Errors
/// The hosts that are lost, or cannot carry the order out.
pub fn prepare(generators: &[Generator<'_>], order: &str) -> Result<Vec<Ready>, String> {
    on_each(generators, |generator| generator.prepare(order))
}

/// Sends each generator a start time by the generator's clock; returns the instant on the wall
/// clock of the local host.
///
/// # Errors
/// The hosts that are lost.
pub fn start(generators: &[Generator<'_>]) -> Result<i64, String> {
    let (start_ns, started_ns) = (monotonic_ns() + AFTER_NS, wall_ns() + AFTER_NS);
    on_each(generators, |generator| {
        let trips: Vec<RoundTrip> = (generator.session.trips().iter())
            .map(|trip| trip.monotonic)
            .collect();
        let offset = offset_at(&trips, start_ns).map_or(0, |offset| offset.nanos);
        let far_ns = start_ns.saturating_add(offset).to_le_bytes();
        let sent = (generator.session).send(message::START, &far_ns, PATIENCE);
        sent.map_err(|error| generator.named(&error))
    })?;
    Ok(started_ns)
}

/// Follows all generators to the end. A lost generator ends the load of the others, and so does
/// `is_stopped`. `quiet` is how long a generator may be silent beside the usual; `show` gets the
/// sums of each interval that all have sent.
///
/// # Errors
/// The generators that are lost, or whose load failed.
pub fn follow_all(
    generators: &[Generator<'_>],
    quiet: Duration,
    is_stopped: &dyn Fn() -> bool,
    show: &mut dyn FnMut(&Stretch),
) -> Result<Vec<GeneratorResult>, String> {
    let silence = PATIENCE + quiet;
    let is_over = AtomicBool::new(false);
    let (stretches, happened) = mpsc::channel();
    thread::scope(|scope| {
        let threads: Vec<_> = (generators.iter())
            .map(|generator| {
                let (stretches, is_over) = (stretches.clone(), &is_over);
                scope.spawn(move || {
                    let followed = follow(&generator.session, silence, &stretches, is_over);
                    followed.map_err(|error| {
                        is_over.store(true, Ordering::Relaxed);
                        generator.named(&error)
                    })
                })
            })
            .collect();
        drop(stretches);
        add_up(
            &happened,
            generators.len(),
            &mut || {
                if is_stopped() {
                    is_over.store(true, Ordering::Relaxed);
                }
            },
            show,
        );
        all_of(joined(threads))
    })
}

/// Returns the threads' results; a panic in a thread continues here.
fn joined<T>(threads: Vec<ScopedJoinHandle<'_, T>>) -> Vec<T> {
    let ended = threads.into_iter().map(ScopedJoinHandle::join);
    ended
        .map(|ended| ended.unwrap_or_else(|panic| resume_unwind(panic)))
        .collect()
}

/// Adds up the intervals until the last generator has ended; `look` is called in between.
fn add_up(
    happened: &Receiver<Stretch>,
    generators: usize,
    look: &mut dyn FnMut(),
    show: &mut dyn FnMut(&Stretch),
) {
    // Of each interval: the sum, and how many generators are in it. One may be ahead of another.
    let mut open: BTreeMap<i64, (Stretch, usize)> = BTreeMap::new();
    loop {
        look();
        let stretch = match happened.recv_timeout(LOOK) {
            Ok(stretch) => stretch,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let (sum, came) = open.entry(stretch.number).or_default();
        *sum = Stretch {
            requests: sum.requests + stretch.requests,
            failed: sum.failed + stretch.failed,
            ..stretch
        };
        *came += 1;
        if *came == generators {
            show(sum);
            // What lies before is no news any more.
            open = open.split_off(&(stretch.number + 1));
        }
    }
}

/// Reads whether a generator is ready; any other message is an error.
fn ready(frame: &Frame) -> Result<Ready, String> {
    if let (message::ENDED, Ok(Failed { error })) =
        (frame.kind, serde_json::from_slice(&frame.body))
    {
        return Err(error);
    }
    match frame.kind {
        message::READY => serde_json::from_slice(&frame.body)
            .map_err(|error| format!("said in unknown words whether it is ready: {error}")),
        kind => Err(format!(
            "sent a frame of kind {kind} instead of being ready"
        )),
    }
}

impl Generator<'_> {
    fn named(&self, error: &impl std::fmt::Display) -> String {
        format!("generator {}: {error}", self.part)
    }

    fn prepare(&self, text: &str) -> Result<Ready, String> {
        let session = &self.session;
        let say = |kind, body: &[u8]| {
            let sent = session.send(kind, body, PATIENCE);
            sent.map_err(|error| self.named(&error))
        };
        for piece in text.as_bytes().chunks(message::PIECE_BYTES) {
            say(message::PIECE, piece)?;
        }
        say(message::ORDERED, self.part.to_string().as_bytes())?;
        let frame = match session.receive(PATIENCE) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Err(self.named(&session.silent(PATIENCE))),
            Err(error) => return Err(self.named(&error)),
        };
        let ready = ready(&frame).map_err(|error| self.named(&error))?;
        if let Some(error) = &ready.error {
            return Err(self.named(&format!("host {}: {error}", self.host)));
        }
        let asked = session.ask_clocks(CLOCK_TRIPS, PATIENCE);
        asked.map_err(|error| self.named(&error))?;
        Ok(ready)
    }

    /// Returns the result of this generator, with the start on the clock of this host.
    pub fn given(&self, mut result: GeneratorResult, started_ns: i64) -> Given {
        let walls: Vec<RoundTrip> = (self.session.trips().iter())
            .map(|trip| trip.wall)
            .collect();
        let offset = offset_at(&walls, started_ns);
        let nanos = offset.map_or(0, |offset| offset.nanos);
        result.started_unix_ns = result.started_unix_ns.saturating_add_signed(-nanos);
        Given {
            name: self.host.to_owned(),
            result,
            clock_bound: offset.map(|offset| recording::Nanos(offset.bound_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_shown_when_all_have_sent_them_in_any_order() {
        let (sender, receiver) = mpsc::channel();
        // The first generator is ahead of the second.
        for (number, requests) in [(0, 1), (1, 10), (0, 2), (1, 20), (2, 100)] {
            let stretch = Stretch {
                number,
                requests,
                seconds: 1.0,
                failed: 0,
            };
            sender.send(stretch).expect("somebody listens");
        }
        drop(sender);
        let mut shown = Vec::new();
        add_up(&receiver, 2, &mut || {}, &mut |sum| {
            shown.push((sum.number, sum.requests));
        });
        assert_eq!(shown, [(0, 3), (1, 30)]);
    }

    #[test]
    fn only_a_generator_that_says_so_is_ready() {
        let said = |kind, body: &[u8]| {
            ready(&Frame {
                kind,
                body: body.to_vec(),
            })
        };
        let whole = br#"{"error": null, "unreachable": "refused"}"#;
        let known = said(message::READY, whole).expect("it is ready");
        assert_eq!(known.unreachable.as_deref(), Some("refused"));
        assert!(said(message::READY, b"").is_err());
        let ended = said(message::ENDED, br#"{"error": "no memory"}"#);
        assert_eq!(ended.err().as_deref(), Some("no memory"));
        assert!(said(message::STRETCH, b"{}").is_err());
    }
}

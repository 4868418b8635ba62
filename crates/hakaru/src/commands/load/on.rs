//! `hakaru load --on`: one load from several hosts over SSH, from the copies of the program to one
//! report.
//!
//! All hosts are ready before any of them starts; a generator that is lost ends the load of all.

mod follow;
pub(super) mod message;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use figures::{counted, numbers};
use generators::{GeneratorResult, Given, Order};
use load::Part;
use remote::clock::{RoundTrip, offset_at};
use remote::{Session, monotonic_ns, wall_ns};
use words::{Text, text};

use super::merge;
use super::settings::Settings;
use super::show::Outputs;
use super::stretch_length;
use crate::cli::LoadArgs;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::hosts::{self, LOOK, PATIENCE};
use crate::output::{self, Progress};
use crate::settings::config::{Loaded, host::Host};
use follow::follow;
use message::{Ready, Stretch};

/// Nanoseconds from the last host's readiness to the start of the load, more than the last messages
/// take.
const AFTER_NS: i64 = 1_000_000_000;
/// Round trips by which a clock is compared before the start.
const CLOCK_TRIPS: usize = 8;

/// A generator on a host.
struct Generator<'a> {
    host: &'a str,
    part: Part,
    session: Session,
}

/// Sends the load from all hosts, prints the result, and returns the exit code.
///
/// # Errors
/// [`Exit::Failed`] with the names of hosts that could not be used or were lost.
pub(super) fn on(
    args: &LoadArgs,
    loaded: &Loaded,
    mut settings: Settings,
    order: &Order,
    outputs: &Outputs<'_>,
    stop: &AtomicBool,
) -> Result<Exit, Failure> {
    let chosen = chosen(&args.on, &loaded.config.hosts)?;
    check_parts(&mut settings, chosen.len() as u32)?;
    let text = order.to_text();
    if text.len() > message::TEXT_BYTES_MAX {
        let (bytes, most) = (text.len() >> 20, message::TEXT_BYTES_MAX >> 20);
        return Err(Failure::usage(format!(
            "the files of this load have {bytes} MiB, and {most} MiB at most are brought to other hosts; take shorter feeds"
        )));
    }
    let sessions = hosts::open(&chosen, &loaded.folder, &["generator"])?;
    let sessions = all_of(sessions)?;
    let generators: Vec<Generator<'_>> = (chosen.iter().zip(sessions))
        .zip(Part::all(chosen.len() as u32))
        .map(|((host, session), part)| Generator {
            host: &host.name,
            part,
            session,
        })
        .collect();
    prepare(&generators, &text)?;
    if context::raised(stop) {
        return Ok(Exit::Interrupted);
    }
    let started_ns = start(&generators)?;
    output::notice(text!(
        "hakaru: the load is sent from {hosts}",
        hosts = counted!(generators.len() as u64, "host")
    ));
    let followed = follow_all(&generators, &settings, stop)?;
    let given = generators.iter().zip(followed);
    let given = given.map(|(generator, result)| generator.given(result, started_ns));
    merge::finish(given.collect(), outputs)
}

/// Fails for a load with too many generators to share.
///
/// # Errors
/// [`Exit::Usage`] with what does not fit.
pub(super) fn check_parts(settings: &mut Settings, of: u32) -> Result<(), Failure> {
    for part in Part::all(of) {
        settings.plan.part = part;
        (settings.plan.check(&settings.scenario)).map_err(Failure::usage)?;
    }
    Ok(())
}

/// Returns the hosts by the config file; other names are resolved by `ssh`.
fn chosen(names: &[String], known: &[Host]) -> Result<Vec<Host>, Failure> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::usage(format!(
            "--on names {} twice; a host has one generator, and --threads says how many cores it uses",
            pair[0]
        )));
    }
    if let Some(wrong) = names
        .iter()
        .find(|name| name.is_empty() || name.starts_with('-'))
    {
        return Err(Failure::usage(format!(
            "--on: {wrong:?} is no host; separate hosts by commas, such as --on load1,load2"
        )));
    }
    let host = |name: &String| {
        let found = known.iter().find(|host| host.name == *name);
        found.cloned().unwrap_or_else(|| Host::new(name))
    };
    Ok(names.iter().map(host).collect())
}

/// Returns all values, or one error with the texts of all failures.
fn all_of<T>(results: Vec<Result<T, String>>) -> Result<Vec<T>, Failure> {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(one) => all.push(one),
            Err(error) => errors.push(error),
        }
    }
    match errors.is_empty() {
        true => Ok(all),
        false => Err(Failure::new(
            Exit::Failed,
            format!(
                "{}; no generator is left out, so nothing was measured",
                errors.join("; ")
            ),
        )),
    }
}

/// Runs `work` for each generator on its own thread.
fn on_each<T: Send>(
    generators: &[Generator<'_>],
    work: impl Fn(&Generator<'_>) -> Result<T, String> + Sync,
) -> Result<Vec<T>, Failure> {
    let results = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (generators.iter())
            .map(|generator| scope.spawn(move || work(generator)))
            .collect();
        joined(threads)
    });
    all_of(results)
}

/// Sends each its order, waits until all are ready, and compares the clocks.
fn prepare(generators: &[Generator<'_>], text: &str) -> Result<(), Failure> {
    let ready = on_each(generators, |generator| generator.prepare(text))?;
    for (generator, ready) in generators.iter().zip(ready) {
        if let Some(error) = ready.unreachable {
            output::notice(text!(
                "hakaru: host {host}: the target accepts no connection from there ({error})",
                host = generator.host,
                error = Text::named(&error)
            ));
        }
    }
    Ok(())
}

/// Sends each generator a start time by the generator's clock; returns the instant on the wall
/// clock of this host.
fn start(generators: &[Generator<'_>]) -> Result<i64, Failure> {
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

/// Follows all generators to their ends. A lost generator ends the load of the others, and so does
/// `stop`.
fn follow_all(
    generators: &[Generator<'_>],
    settings: &Settings,
    stop: &AtomicBool,
) -> Result<Vec<GeneratorResult>, Failure> {
    let plan = &settings.plan;
    // Between the last stretch and the result a generator waits for what is under way.
    let quiet = stretch_length(plan) + plan.drain + plan.answer_timeout + plan.connect_timeout;
    let silence = PATIENCE + Duration::from_nanos(quiet.0);
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
        show_progress(&happened, generators.len(), stop, &is_over);
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

/// Shows the common progress until the last generator has ended; sets `is_over` with `stop`.
fn show_progress(
    happened: &Receiver<Stretch>,
    generators: usize,
    stop: &AtomicBool,
    is_over: &AtomicBool,
) {
    let mut progress = Progress::new();
    let (mut sum, mut came) = (Stretch::default(), 0);
    loop {
        if context::raised(stop) {
            is_over.store(true, Ordering::Relaxed);
        }
        let stretch = match happened.recv_timeout(LOOK) {
            Ok(stretch) => stretch,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if stretch.number != sum.number {
            (sum, came) = (Stretch::default(), 0);
        }
        sum = Stretch {
            requests: sum.requests + stretch.requests,
            failed: sum.failed + stretch.failed,
            ..stretch
        };
        came += 1;
        if came == generators {
            progress.show(line_of(&sum));
        }
    }
    progress.clear();
}

fn line_of(sum: &Stretch) -> Text {
    text!(
        "  {seconds} s   {rate} requests/s   {failed} failed",
        seconds = format!("{:>4.0}", (sum.number + 1) as f64 * sum.seconds),
        rate = numbers::plain(sum.requests as f64 / sum.seconds),
        failed = numbers::count(sum.failed)
    )
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
        let ready: Ready = serde_json::from_slice(&frame.body).unwrap_or_default();
        if let Some(error) = &ready.error {
            return Err(self.named(&format!("host {}: {error}", self.host)));
        }
        let asked = session.ask_clocks(CLOCK_TRIPS, PATIENCE);
        asked.map_err(|error| self.named(&error))?;
        Ok(ready)
    }

    /// Returns the result with the start on the clock of this host.
    fn given(&self, mut result: GeneratorResult, started_ns: i64) -> Given {
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

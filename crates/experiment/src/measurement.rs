//! One measurement of a comparison or a race: an app is loaded and watched from outside.

mod cpu;
mod host;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use app_process::Running;
use capture::{HostSampler, Rings};
use guard::Refusal;
use load::{LoadError, LoadResult, Plan};
use recording::{Exchange, HostSample, Nanos, Outcome, Window};
use stats::baseline::Disturbance;

use crate::failure;
use crate::lifecycle::{self, Load, RunningApp, Subject};
use crate::observer::Context;
use crate::settings::nanos;
use ending::{Cause, Failure};

pub(crate) use host::cause;

/// Share of failed requests from which a comparison means nothing: failing is often fast.
const FAILED_SHARE_MAX: f64 = findings::FAILED_SHARE_LOUD;

/// How long and with which random choices to load.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// Duration of the load before the measured one.
    pub warmup: Duration,
    /// Duration of the measured load.
    pub measured: Duration,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Figures of one measurement.
pub(crate) struct Measurement {
    /// Time from start to readiness, seconds; `None` when the app was up already.
    pub(crate) start_s: Option<f64>,
    /// Answered in the window, per second.
    pub(crate) rps: f64,
    /// Due → answered times, ascending; of requests without a response, the wait until the end.
    /// Empty when nothing was answered in time, on a host that had no time for it, or by an app
    /// that takes longer.
    pub(crate) latency: Vec<Nanos>,
    /// Failed requests due in the window.
    pub(crate) failed: u64,
    /// All exchanges, warm-up included.
    pub(crate) exchanges: Vec<Exchange>,
    /// CPU time of the app's processes per answered request in the calm moments, milliseconds;
    /// `None` where unknown.
    pub(crate) cpu_ms: Option<f64>,
    /// Resident memory of the app at the begin and the end of the window, bytes.
    pub(crate) memory: Option<[u64; 2]>,
    pub(crate) disturbance: Disturbance,
    /// Mean duration of the calibration probe on a core; `None` where the cores cannot be watched.
    pub(crate) pace: Option<Nanos>,
    /// Windows with the cores at full speed, ascending.
    pub(crate) calm: Vec<Window>,
    /// Share of a thread used by the load generator.
    pub(crate) generator: f64,
}

/// Loads a running app. `rings` are emptied meanwhile.
pub(crate) fn measure(
    subject: &Subject<'_>,
    app: &mut RunningApp,
    length: Length,
    rings: Option<&mut Rings>,
    context: &Context,
) -> Result<Measurement, Failure> {
    let scenario = subject.settings.read_scenario()?;
    let plan = Plan {
        // Both sides get the same load.
        level_up: None,
        warmup: nanos(length.warmup),
        duration: nanos(length.measured),
        seed: length.seed,
        ..subject.settings.plan.clone()
    };
    let mut watched = Watched::new(&app.running, length.warmup, rings);
    let load = Load {
        plan: &plan,
        scenario: &scenario,
        allowed: &subject.settings.allowed,
    };
    let result = watched.load(load, &mut app.running, context)?;
    let died = app.running.exited().filter(|_| !app.running.is_attached());
    if let Some(status) = died {
        let tail = app.running.log_tail();
        return Err(Failure::new(
            Cause::TargetDied,
            format!(
                "{} died under load ({status}); its last words: {}",
                subject.in_words(),
                lifecycle::last_words(&tail)
            ),
        ));
    }
    if context.is_stopped() {
        return Err(failure::interrupted());
    }
    let result = result.map_err(Failure::failed)?;
    if let Some(fault) = &result.fault {
        // Half a measurement is not comparable with a whole one.
        return Err(Failure::failed(fault));
    }
    watched.measurement(subject, app.start_s, result)
}

/// A measurement in progress.
struct Watched<'a> {
    rings: Option<&'a mut Rings>,
    begin: Instant,
    warmup: Duration,
    sampler: HostSampler,
    first: Option<HostSample>,
    exchanges: Vec<Exchange>,
    cpu: cpu::CpuWatch,
}

impl<'a> Watched<'a> {
    fn new(running: &Running, warmup: Duration, rings: Option<&'a mut Rings>) -> Watched<'a> {
        let app = running.pids();
        let roles = lifecycle::roles(&app, &lifecycle::database_processes());
        Watched {
            rings,
            begin: Instant::now(),
            warmup,
            sampler: HostSampler::new(&roles),
            first: None,
            exchanges: Vec::new(),
            cpu: cpu::CpuWatch::new(app),
        }
    }

    fn load(
        &mut self,
        load: Load<'_>,
        running: &mut Running,
        context: &Context,
    ) -> Result<Result<LoadResult, LoadError>, Refusal> {
        if self.warmup.is_zero() {
            self.first = self.sampler.sample().ok();
            self.cpu.mark();
        }
        let result = lifecycle::load(load, running, context, &mut |batch| {
            self.exchanges.extend(batch.exchanges);
            if let Some(rings) = &mut self.rings {
                // They must not fill up, and the server's own description comes through them.
                rings.poll();
            }
            if self.first.is_none() && self.begin.elapsed() >= self.warmup {
                self.first = self.sampler.sample().ok();
            }
            if self.first.is_some() {
                self.cpu.mark();
            }
            ControlFlow::Continue(())
        });
        // A short load may end with its first batch.
        self.cpu.mark();
        result
    }

    fn measurement(
        mut self,
        subject: &Subject<'_>,
        start_s: Option<f64>,
        result: LoadResult,
    ) -> Result<Measurement, Failure> {
        let window = result.window;
        let responses = Responses::of(&self.exchanges, window);
        if responses.failed as f64 > FAILED_SHARE_MAX * responses.due as f64 {
            return Err(failing(subject, &responses, &result));
        }
        let answered_at = (self.exchanges.iter())
            .filter(|exchange| exchange.was_answered())
            .map(|exchange| exchange.answered)
            .collect();
        let seconds = window.length().as_secs_f64();
        let last = self.sampler.sample().ok();
        let samples = self.first.as_ref().zip(last.as_ref());
        let cpu = self.cpu.end(window, answered_at);
        Ok(Measurement {
            start_s,
            rps: responses.answered as f64 / seconds,
            latency: responses.latency,
            failed: responses.failed as u64,
            cpu_ms: cpu.each_ms,
            calm: cpu.calm,
            pace: cpu.pace_mean,
            memory: samples.map(|(first, last)| [first, last].map(host::memory)),
            disturbance: Disturbance {
                others: samples.map_or(0.0, |(first, last)| host::others(first, last)),
                pace: cpu.pace,
            },
            generator: result.generator.cpu.as_secs_f64()
                / (seconds * f64::from(result.generator.threads.max(1))),
            exchanges: self.exchanges,
        })
    }
}

/// Responses to the requests due in the window.
#[derive(Debug, PartialEq, Eq)]
struct Responses {
    due: usize,
    answered: usize,
    failed: usize,
    latency: Vec<Nanos>,
}

impl Responses {
    fn of(exchanges: &[Exchange], window: Window) -> Responses {
        let due: Vec<&Exchange> = (exchanges.iter())
            .filter(|exchange| window.contains(exchange.due))
            .collect();
        let count = |is: fn(&Exchange) -> bool| due.iter().filter(|one| is(one)).count();
        let answered = count(Exchange::was_answered);
        // Leaving out those that wait in vain would make an overloaded app look fast.
        let waits = |one: &Exchange| one.was_answered() || one.outcome == Outcome::Unanswered;
        let mut latency: Vec<Nanos> = (due.iter())
            .filter(|exchange| answered > 0 && waits(exchange))
            .map(|exchange| exchange.answered.since(exchange.due))
            .collect();
        latency.sort_unstable();
        Responses {
            due: due.len(),
            answered,
            failed: count(|one| !matches!(one.outcome, Outcome::Ok | Outcome::Unanswered)),
            latency,
        }
    }
}

fn failing(subject: &Subject<'_>, responses: &Responses, result: &LoadResult) -> Failure {
    let example = result.failures.first().map_or_else(
        || "no example was kept".to_owned(),
        |failure| {
            format!(
                "{} at {}: {}",
                failure.outcome.name(),
                failure.place,
                failure.reason
            )
        },
    );
    Failure::new(
        Cause::RequestsFailed,
        format!(
            "{} fails {} of {} requests ({example})",
            subject.in_words(),
            responses.failed,
            responses.due
        ),
    )
}

#[cfg(test)]
mod tests {
    use recording::{RequestId, TextId, Timestamp};

    use super::*;

    fn exchange(due_ms: u64, took_ms: u64, outcome: Outcome) -> Exchange {
        let at = |ms: u64| Timestamp::from_monotonic_nanos(ms * 1_000_000);
        Exchange {
            id: RequestId(1),
            due: at(due_ms),
            sent: at(due_ms),
            answered: at(due_ms + took_ms),
            line: TextId::of(b"GET /"),
            step: 0,
            connection: 0,
            status: 200,
            outcome,
            body_bytes: 0,
        }
    }

    #[test]
    fn requests_that_wait_in_vain_have_a_latency_unless_nothing_was_answered() {
        let window = Window {
            start: Timestamp::from_monotonic_nanos(1_000_000_000),
            end: Timestamp::from_monotonic_nanos(2_000_000_000),
        };
        let all = [
            exchange(900, 1, Outcome::Ok),
            exchange(1_000, 20, Outcome::Ok),
            exchange(1_100, 5_000, Outcome::Unanswered),
            exchange(1_200, 10, Outcome::CheckFailed),
            // Could not be made.
            Exchange {
                status: 0,
                ..exchange(1_300, 0, Outcome::CheckFailed)
            },
        ];
        let latency = |millis: &[u64]| millis.iter().map(|ms| Nanos(ms * 1_000_000)).collect();
        assert_eq!(
            Responses::of(&all, window),
            Responses {
                due: 4,
                answered: 2,
                failed: 2,
                latency: latency(&[10, 20, 5_000]),
            }
        );
        let silent = Responses::of(&all[2..3], window);
        assert_eq!((silent.answered, silent.latency.len()), (0, 0));
    }
}

//! Converts a result to the keys of the text form.

use std::collections::BTreeMap;

use load::{Arrivals, Figures, Interval, Outcomes, Pace, Schedule};
use recording::Outcome;
use scenario::ScoreSpec;

use super::GeneratorResult;
use crate::codec::text_of;
use crate::v1;

pub(super) fn result(result: &GeneratorResult) -> v1::Result1 {
    let measured = &result.measured;
    let (tally, checks_failed) = &measured.tally;
    let (rule_counts, capture_units) = tally.counts();
    v1::Result1 {
        format: v1::FORMAT.to_owned(),
        version: v1::VERSION,
        hakaru: env!("CARGO_PKG_VERSION").to_owned(),
        part: result.part.to_string(),
        host: result.host.clone(),
        started_unix_ns: result.started_unix_ns,
        shared: shared(result),
        threads: measured.generator.threads,
        engine: measured.engine.name().to_owned(),
        window_ns: measured.window.length().0,
        stopped: measured.stopped,
        fault: measured.fault.as_ref().map(|fault| v1::Fault {
            thread: fault.thread,
            error: fault.error.clone(),
            requests: fault.requests,
        }),
        users: measured.users,
        cpu_ns: measured.generator.cpu.0,
        unsent: measured.generator.unsent,
        figures: figures(&measured.figures),
        intervals: result.intervals.iter().map(interval).collect(),
        failures: measured.failures.iter().map(failure).collect(),
        rule_counts: rule_counts.to_vec(),
        capture_units: capture_units.iter().map(f64::to_string).collect(),
        checks_failed: *checks_failed,
    }
}

pub(super) fn shared(result: &GeneratorResult) -> v1::Shared {
    let plan = &result.plan;
    let steps = result.measured.figures.steps.iter().zip(&result.steps);
    v1::Shared {
        url: result.url.clone(),
        pace: pace(&plan.pace),
        connections: plan.connections,
        streams: plan.streams,
        duration_ns: plan.duration.0,
        warmup_ns: plan.warmup.0,
        seed: plan.seed,
        keep_alive: plan.keep_alive,
        every_ns: result.every.0,
        steps: steps
            .map(|(figures, label)| v1::Step {
                number: figures.step,
                line: label.line.clone(),
                place: label.place.clone(),
            })
            .collect(),
        expectations: result.expectations.clone(),
        score: result.score.as_ref().map(score),
    }
}

fn pace(pace: &Pace) -> v1::Pace {
    let schedule = match pace {
        Pace::Closed => return v1::Pace::Closed,
        Pace::Constant { per_second } => Schedule::constant(*per_second).ok(),
        Pace::Scheduled(schedule) => Some(schedule.clone()),
    };
    let stage = |stage: &load::Stage| v1::Stage {
        from: stage.from.to_string(),
        to: stage.to.to_string(),
        length_ns: stage.length.0,
    };
    v1::Pace::Open {
        // A rate that no schedule can have is refused before a load starts.
        stages: (schedule.iter())
            .flat_map(|schedule| schedule.stages().iter().map(stage))
            .collect(),
        arrivals: match schedule.map(|schedule| schedule.arrivals()) {
            None | Some(Arrivals::Even) => v1::Arrivals::Even,
            Some(Arrivals::Poisson) => v1::Arrivals::Poisson,
            Some(Arrivals::Bursts(size)) => v1::Arrivals::Bursts(size),
            Some(Arrivals::Recorded) => v1::Arrivals::Recorded,
        },
    }
}

fn score(spec: &ScoreSpec) -> v1::Score {
    let rules = spec.rules.iter().map(|rule| v1::Rule {
        pattern: rule.pattern.clone(),
        status: rule.status,
        points: rule.points.to_string(),
        per: rule.per,
    });
    let captures = spec.captures.iter().map(|capture| v1::Capture {
        name: capture.name.clone(),
        points: capture.points.to_string(),
    });
    v1::Score {
        rules: rules.collect(),
        captures: captures.collect(),
    }
}

fn figures(figures: &Figures) -> v1::Figures {
    let steps = figures.steps.iter().map(|step| v1::StepFigures {
        number: step.step,
        outcomes: outcomes(&step.outcomes),
        latency: text_of(&step.latency),
    });
    v1::Figures {
        latency: text_of(&figures.latency),
        service: text_of(&figures.service),
        lateness: text_of(&figures.lateness),
        connecting: text_of(&figures.connecting),
        handshakes: text_of(&figures.handshakes),
        outcomes: outcomes(&figures.outcomes),
        statuses: figures.statuses.sorted().into_iter().collect(),
        in_time: figures.in_time,
        body_bytes: figures.body_bytes,
        warmup: figures.warmup,
        steps: steps.collect(),
    }
}

fn interval(interval: &Interval) -> v1::Interval {
    v1::Interval {
        number: interval.number,
        latency: text_of(&interval.latency),
        lateness: text_of(&interval.lateness),
        outcomes: outcomes(&interval.outcomes),
        statuses: interval.statuses.sorted().into_iter().collect(),
        body_bytes: interval.body_bytes,
        cpu_ns: interval.cpu.0,
        in_flight: interval.in_flight,
    }
}

fn outcomes(outcomes: &Outcomes) -> BTreeMap<String, u64> {
    let counts = Outcome::ALL.map(|outcome| (outcome.name().to_owned(), outcomes.of(outcome)));
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn failure(failure: &recording::Failure) -> v1::Failure {
    v1::Failure {
        outcome: failure.outcome.name().to_owned(),
        place: failure.place.clone(),
        reason: failure.reason.clone(),
        request: failure.request.clone(),
        response: failure.response.clone(),
        count: failure.count,
    }
}

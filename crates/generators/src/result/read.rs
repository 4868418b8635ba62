//! From the keys of a text to the result. Errors are sentences' ends.

use std::collections::BTreeMap;

use load::{
    Arrivals, Engine, Figures, Interval, Measured, Outcomes, Pace, Part, Plan, Schedule, Stage,
    Statuses, ThreadFault, points,
};
use load_report::StepLabel;
use recording::{Generator, Nanos, Outcome, TextId, Timestamp, Window};
use scenario::{CapturePoints, ScoreRule, ScoreSpec, Tally};

use super::GeneratorResult;
use crate::codec::add_text;
use crate::v1;

pub(super) fn result(read: v1::Result1) -> Result<GeneratorResult, String> {
    let part = Part::parse(&read.part)?;
    let shared = &read.shared;
    let plan = plan(shared, part, read.threads)?;
    let score = shared.score.as_ref().map(score).transpose()?;
    let label = |step: &v1::Step| StepLabel {
        line: step.line.clone(),
        place: step.place.clone(),
    };
    Ok(GeneratorResult {
        part,
        host: read.host.clone(),
        started_unix_ns: read.started_unix_ns,
        url: shared.url.clone(),
        steps: shared.steps.iter().map(label).collect(),
        expectations: shared.expectations.clone(),
        every: Nanos(shared.every_ns.max(1)),
        intervals: (read.intervals.iter())
            .map(interval)
            .collect::<Result<_, _>>()?,
        measured: measured(&read, &plan, score.as_ref())?,
        plan,
        score,
    })
}

fn measured(
    read: &v1::Result1,
    plan: &Plan,
    score: Option<&ScoreSpec>,
) -> Result<Measured, String> {
    let units = read.capture_units.iter().map(|units| number(units));
    let tally = Tally::of_counts(read.rule_counts.clone(), units.collect::<Result<_, _>>()?);
    // Monotonic time of another host means nothing here; only lengths do.
    let start = Timestamp::from_monotonic_nanos(plan.warmup.0);
    Ok(Measured {
        window: Window {
            start,
            end: start + Nanos(read.window_ns),
        },
        engine: Engine::parse(&read.engine)?,
        figures: figures(&read.figures, &read.shared.steps)?,
        generator: Generator {
            cpu: Nanos(read.cpu_ns),
            threads: read.threads,
            unsent: read.unsent,
        },
        failures: (read.failures.iter())
            .map(failure)
            .collect::<Result<_, _>>()?,
        score: score.map(|spec| points(spec, &tally, read.checks_failed)),
        tally: (tally, read.checks_failed),
        users: read.users,
        stopped: read.stopped,
        fault: read.fault.as_ref().map(|fault| ThreadFault {
            thread: fault.thread,
            error: fault.error.clone(),
            requests: fault.requests,
        }),
    })
}

fn plan(shared: &v1::Shared, part: Part, threads: u32) -> Result<Plan, String> {
    Ok(Plan {
        connections: shared.connections,
        streams: shared.streams,
        pace: pace(&shared.pace)?,
        warmup: Nanos(shared.warmup_ns),
        duration: Nanos(shared.duration_ns),
        part,
        threads,
        seed: shared.seed,
        keep_alive: shared.keep_alive,
        ..Plan::default()
    })
}

fn pace(pace: &v1::Pace) -> Result<Pace, String> {
    let v1::Pace::Open { stages, arrivals } = pace else {
        return Ok(Pace::Closed);
    };
    let stages = stages.iter().map(|stage| {
        Ok::<_, String>(Stage {
            from: number(&stage.from)?,
            to: number(&stage.to)?,
            length: Nanos(stage.length_ns),
        })
    });
    let arrivals = match arrivals {
        v1::Arrivals::Even => Arrivals::Even,
        v1::Arrivals::Poisson => Arrivals::Poisson,
        v1::Arrivals::Bursts(size) => Arrivals::Bursts(*size),
        v1::Arrivals::Recorded => Arrivals::Recorded,
    };
    Schedule::new(stages.collect::<Result<_, _>>()?, arrivals).map(Pace::Scheduled)
}

fn score(score: &v1::Score) -> Result<ScoreSpec, String> {
    let rules = score.rules.iter().map(|rule| {
        Ok::<_, String>(ScoreRule {
            pattern: rule.pattern.clone(),
            status: rule.status,
            points: number(&rule.points)?,
            per: rule.per,
        })
    });
    let captures = score.captures.iter().map(|capture| {
        Ok::<_, String>(CapturePoints {
            name: capture.name.clone(),
            points: number(&capture.points)?,
        })
    });
    Ok(ScoreSpec {
        rules: rules.collect::<Result<_, _>>()?,
        captures: captures.collect::<Result<_, _>>()?,
    })
}

fn figures(read: &v1::Figures, steps: &[v1::Step]) -> Result<Figures, String> {
    let numbers: Vec<u32> = steps.iter().map(|step| step.number).collect();
    let mut figures = Figures::new(&numbers);
    for (own, text) in [
        (&mut figures.latency, &read.latency),
        (&mut figures.service, &read.service),
        (&mut figures.lateness, &read.lateness),
        (&mut figures.connecting, &read.connecting),
        (&mut figures.handshakes, &read.handshakes),
    ] {
        add_text(own, text)?;
    }
    if read.steps.len() != figures.steps.len() {
        return Err(format!(
            "figures of {} steps where there are {}",
            read.steps.len(),
            figures.steps.len()
        ));
    }
    for (own, read) in figures.steps.iter_mut().zip(&read.steps) {
        own.outcomes = outcomes(&read.outcomes)?;
        add_text(&mut own.latency, &read.latency)?;
    }
    figures.outcomes = outcomes(&read.outcomes)?;
    figures.statuses = statuses(&read.statuses);
    figures.in_time = read.in_time;
    figures.body_bytes = read.body_bytes;
    figures.warmup = read.warmup;
    Ok(figures)
}

fn interval(read: &v1::Interval) -> Result<Interval, String> {
    let mut interval = Interval::new(read.number);
    add_text(&mut interval.latency, &read.latency)?;
    add_text(&mut interval.lateness, &read.lateness)?;
    interval.outcomes = outcomes(&read.outcomes)?;
    interval.statuses = statuses(&read.statuses);
    interval.body_bytes = read.body_bytes;
    interval.cpu = Nanos(read.cpu_ns);
    interval.in_flight = read.in_flight;
    Ok(interval)
}

fn outcomes(counts: &BTreeMap<String, u64>) -> Result<Outcomes, String> {
    let mut outcomes = Outcomes::default();
    for (name, count) in counts {
        outcomes.add_many(outcome(name)?, *count);
    }
    Ok(outcomes)
}

fn outcome(name: &str) -> Result<Outcome, String> {
    let known = Outcome::ALL.into_iter().find(|known| known.name() == name);
    known.ok_or_else(|| format!("`{name}` is no outcome of a request"))
}

fn statuses(counts: &BTreeMap<u16, u64>) -> Statuses {
    let mut statuses = Statuses::default();
    for (status, count) in counts {
        statuses.add_many(*status, *count);
    }
    statuses
}

fn failure(read: &v1::Failure) -> Result<recording::Failure, String> {
    Ok(recording::Failure {
        outcome: outcome(&read.outcome)?,
        // Its name stands in the request.
        line: TextId::NONE,
        place: read.place.clone(),
        reason: read.reason.clone(),
        request: read.request.clone(),
        response: read.response.clone(),
        count: read.count,
    })
}

fn number(text: &str) -> Result<f64, String> {
    (text.parse()).map_err(|_| format!("`{text}` is not a number"))
}

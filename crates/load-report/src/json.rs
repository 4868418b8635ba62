//! A load as JSON, version 1.

use hdrhistogram::Histogram;
use load::{GoalVerdict, Outcomes, Pace};
use recording::Outcome;
use words::Language;

use crate::{View, distribution, doubts, quantile_ms, v1};

/// Returns indented JSON with a line feed at the end; sentences are in the given language.
pub fn document(view: &View<'_>, language: Language) -> String {
    let mut text = serde_json::to_string_pretty(&load(view, language))
        .expect("maps have text keys and nothing else can fail");
    text.push('\n');
    text
}

fn load<'a>(view: &View<'a>, language: Language) -> v1::Load<'a> {
    let measured = view.measured;
    let figures = &measured.figures;
    let outcomes = &figures.outcomes;
    let at_least = outcomes.of(Outcome::TimedOut) + outcomes.of(Outcome::Unanswered);
    v1::Load {
        format: "hakaru-load",
        version: 1,
        hakaru: env!("CARGO_PKG_VERSION"),
        started_at_unix_ms: view.started_at_unix_ms,
        url: view.url,
        load: plan(view),
        stopped: measured.stopped,
        fault: measured.fault.as_ref().map(|fault| v1::Fault {
            thread: fault.thread,
            error: &fault.error,
            requests: fault.requests,
        }),
        seconds: measured.window.length().as_secs_f64(),
        requests: outcomes.all(),
        warmup_requests: figures.warmup,
        answered: figures.answered(),
        users: measured.users,
        rps: measured.rps(),
        failed: outcomes.failed(),
        errors: errors(outcomes).collect(),
        statuses: figures.statuses.sorted().into_iter().collect(),
        body_bytes: figures.body_bytes,
        latency_ms: times(&figures.latency, at_least),
        sent_latency_ms: times(&figures.service, at_least),
        latency_curve: distribution::curve(&figures.latency, &figures.service),
        latency_classes: distribution::classes(&figures.latency),
        connect_ms: times(&figures.connecting, 0),
        tls_handshake_ms: times(&figures.handshakes, 0),
        generator: v1::Generator {
            engine: measured.engine.name(),
            threads: measured.generator.threads,
            cpu_s: measured.generator.cpu.as_secs_f64(),
            cpu_share: measured.generator_share(),
            lateness_ms: times(&figures.lateness, 0),
            unsent: measured.generator.unsent,
        },
        generators: view.generators.iter().map(generator_line).collect(),
        score: measured.score.as_ref().and_then(|score| score.points),
        expectations: expectations(view),
        doubts: (doubts::all(view).iter())
            .map(|doubt| doubt.written_in(language))
            .collect(),
        steps: steps(view),
        failures: failures(view),
        series: series(view),
    }
}

fn plan(view: &View<'_>) -> v1::Plan {
    let plan = view.plan;
    v1::Plan {
        pace: match &plan.pace {
            Pace::Closed => "closed".to_owned(),
            Pace::Constant { per_second } => per_second.to_string(),
            Pace::Scheduled(schedule) => schedule.to_string(),
        },
        connections: plan.sockets(),
        streams: Some(plan.streams).filter(|streams| *streams > 0),
        level_up: plan.level_up.map(|level| v1::LevelUp {
            users: level.users,
            max: level.users_max,
            slow_s: level.slow.as_secs_f64(),
            calm_s: level.calm.as_secs_f64(),
        }),
        threads: plan.threads,
        duration_s: plan.duration.as_secs_f64(),
        warmup_s: plan.warmup.as_secs_f64(),
        seed: plan.seed,
        keep_alive: plan.keep_alive,
    }
}

/// Errors by name; requests still in flight at the end are included.
pub(crate) fn errors(outcomes: &Outcomes) -> impl Iterator<Item = (&'static str, u64)> {
    let bad = Outcome::ALL
        .into_iter()
        .filter(|outcome| *outcome != Outcome::Ok);
    bad.map(|outcome| (outcome.name(), outcomes.of(outcome)))
        .filter(|(_, count)| *count > 0)
}

fn times(histogram: &Histogram<u64>, at_least: u64) -> v1::Times {
    let some = !histogram.is_empty();
    let at = |quantile| quantile_ms(histogram, quantile);
    v1::Times {
        count: histogram.len(),
        at_least,
        mean: some.then(|| histogram.mean() / 1e6),
        min: some.then(|| histogram.min() as f64 / 1e6),
        p50: at(0.5),
        p75: at(0.75),
        p90: at(0.9),
        p95: at(0.95),
        p99: at(0.99),
        p99_9: at(0.999),
        p99_99: at(0.9999),
        max: at(1.0),
    }
}

fn generator_line(line: &crate::GeneratorLine) -> v1::GeneratorLine<'_> {
    v1::GeneratorLine {
        part: &line.part,
        name: &line.name,
        host: &line.host,
        engine: line.engine.name(),
        started_after_ms: line.started_after.as_millis_f64(),
        clock_bound_ms: line.clock_bound.map(|bound| bound.as_millis_f64()),
        requests: line.requests,
        failed: line.failed,
        unsent: line.unsent,
        cpu_share: line.share,
        lateness_ms: times(&line.lateness, 0),
        stopped: line.stopped,
    }
}

fn expectations<'a>(view: &View<'a>) -> Vec<v1::Expectation<'a>> {
    let goals = view.goals.iter().map(|goal| v1::Expectation {
        expected: &goal.text,
        came: goal.came.as_deref(),
        held: goal.verdict == GoalVerdict::Held,
        needs_requests: match goal.verdict {
            GoalVerdict::TooFew { needed, .. } => Some(needed),
            GoalVerdict::Held | GoalVerdict::Missed => None,
        },
    });
    goals.collect()
}

fn steps<'a>(view: &View<'a>) -> Vec<v1::Step<'a>> {
    let figures = &view.measured.figures.steps;
    let named = view.steps.iter().zip(figures).map(|(name, figures)| {
        let outcomes = &figures.outcomes;
        let at_least = outcomes.of(Outcome::TimedOut) + outcomes.of(Outcome::Unanswered);
        v1::Step {
            line: &name.line,
            place: &name.place,
            requests: outcomes.all(),
            failed: outcomes.failed(),
            latency_ms: times(&figures.latency, at_least),
        }
    });
    named.collect()
}

fn failures<'a>(view: &View<'a>) -> Vec<v1::Failure<'a>> {
    let failures = view.measured.failures.iter().map(|failure| v1::Failure {
        outcome: failure.outcome.name(),
        place: &failure.place,
        reason: &failure.reason,
        count: failure.count,
        request: &failure.request,
        response: &failure.response,
    });
    failures.collect()
}

fn series(view: &View<'_>) -> Vec<v1::Second> {
    let rows = view.rows.iter().map(|row| v1::Second {
        at_s: row.at_s,
        rps: row.rps(),
        failed: row.failed,
        p50_ms: row.latency_ms[0],
        p90_ms: row.latency_ms[1],
        p99_ms: row.latency_ms[2],
        max_ms: row.latency_ms[3],
        generator_cores: row.generator_cores,
    });
    rows.collect()
}

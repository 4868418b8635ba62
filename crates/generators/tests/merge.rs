//! What is merged is what one process would have measured.

use generators::{GeneratorResult, Given, MergeError, ResultError, merge};
use load::{
    Arrivals, Engine, Figures, Goal, Interval, LoadEnd, Measured, Pace, Part, Plan, Schedule,
    ThreadFault,
};
use load_report::StepLabel;
use proptest::prelude::*;
use recording::{Failure, Generator, Nanos, Outcome, TextId, Timestamp, Window};
use scenario::{CapturePoints, ScoreRule, ScoreSpec, Tally};

/// A request as recorded in a generator's figures.
#[derive(Clone, Debug)]
struct Sample {
    latency: u64,
    lateness: u64,
    step: usize,
    second: i64,
    outcome: Outcome,
    status: u16,
}

fn sample() -> impl Strategy<Value = Sample> {
    let latency = prop_oneof![
        0_u64..2_000,
        1_000_u64..5_000_000,
        1_000_000_u64..40_000_000_000
    ];
    let outcome = prop_oneof![
        Just((Outcome::Ok, 200)),
        Just((Outcome::ServerError, 503)),
        Just((Outcome::TimedOut, 0))
    ];
    (latency, 0_u64..90_000, 0_usize..2, -1_i64..4, outcome).prop_map(
        |(latency, lateness, step, second, (outcome, status))| Sample {
            latency,
            lateness,
            step,
            second,
            outcome,
            status,
        },
    )
}

const STEPS: [u32; 2] = [0, 1 << 16];

/// Returns the measurement of a process with the given samples.
fn measured(samples: &[Sample]) -> (Measured, Vec<Interval>) {
    let mut figures = Figures::new(&STEPS);
    let mut intervals: Vec<Interval> = (-1..4).map(Interval::new).collect();
    for sample in samples {
        let interval = &mut intervals[(sample.second + 1) as usize];
        for histogram in [
            &mut interval.latency,
            &mut figures.latency,
            &mut figures.service,
        ] {
            histogram.record(sample.latency).expect("it grows");
        }
        for histogram in [&mut interval.lateness, &mut figures.lateness] {
            histogram.record(sample.lateness).expect("it grows");
        }
        let step = &mut figures.steps[sample.step];
        step.latency.record(sample.latency).expect("it grows");
        for outcomes in [
            &mut step.outcomes,
            &mut figures.outcomes,
            &mut interval.outcomes,
        ] {
            outcomes.add(sample.outcome);
        }
        figures.statuses.add(sample.status);
        interval.statuses.add(sample.status);
        figures.in_time += u64::from(sample.status > 0);
        interval.in_flight += 1;
    }
    let start = Timestamp::from_monotonic_nanos(7);
    let count = samples.len() as u64;
    let measured = Measured {
        window: Window {
            start,
            end: start + Nanos(4_000_000_000),
        },
        engine: Engine::Epoll,
        figures,
        generator: Generator {
            cpu: Nanos(count * 1_000),
            threads: 1,
            unsent: count,
        },
        failures: vec![Failure {
            outcome: Outcome::ServerError,
            line: TextId::NONE,
            place: "a.hurl:1".to_owned(),
            reason: format!("line 3: came {count}"),
            request: "GET / HTTP/1.1".to_owned(),
            response: String::new(),
            count,
        }],
        score: None,
        tally: (Tally::of_counts(vec![count], vec![0.1 * count as f64]), 0),
        users: 1,
        stopped: false,
        fault: None,
    };
    (measured, intervals)
}

fn result(part: Part, samples: &[Sample]) -> GeneratorResult {
    let (measured, intervals) = measured(samples);
    let schedule = Schedule::parse("0.1..300/2s,7", Arrivals::Bursts(3)).expect("a schedule");
    let label = |line: &str| StepLabel {
        line: line.to_owned(),
        place: "a.hurl:1".to_owned(),
    };
    GeneratorResult {
        part,
        host: format!("host{}", part.number()),
        started_unix_ns: 1_764_090_000_000_000_000 + u64::from(part.number()) * 1_000,
        url: "http://app/".to_owned(),
        plan: Plan {
            pace: Pace::Scheduled(schedule),
            part,
            seed: u64::MAX,
            ..Plan::default()
        },
        steps: vec![label("GET /a"), label("GET /b")],
        expectations: vec!["p99 < 200ms".to_owned()],
        score: Some(ScoreSpec {
            rules: vec![ScoreRule {
                pattern: "GET *".to_owned(),
                status: None,
                points: 2.5,
                per: 10,
            }],
            captures: vec![CapturePoints {
                name: "messages".to_owned(),
                points: 1.0,
            }],
        }),
        measured,
        intervals,
        every: Nanos(1_000_000_000),
    }
}

fn given(part: &str, samples: &[Sample]) -> Given {
    let part = Part::parse(part).expect("a part");
    let text = result(part, samples).to_text();
    Given {
        name: format!("{}.result", part.number()),
        result: GeneratorResult::of_text(&text).expect("its own text is read"),
        clock_bound: None,
    }
}

/// Returns every non-empty bucket, with the count.
fn buckets(histogram: &hdrhistogram::Histogram<u64>) -> Vec<(u64, u64)> {
    let recorded = histogram.iter_recorded();
    recorded
        .map(|value| (value.value_iterated_to(), value.count_at_value()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The same samples, dealt out to generators in any way, make the same figures as in one
    /// process: bucket by bucket.
    #[test]
    fn merged_is_what_one_process_measures(
        dealt in proptest::collection::vec((sample(), 0_u32..5), 0..300),
        of in 1_u32..6,
    ) {
        let samples: Vec<Sample> = dealt.iter().map(|(sample, _)| sample.clone()).collect();
        let parts = (0..of).map(|number| {
            let own: Vec<Sample> = dealt.iter()
                .filter(|(_, to)| to % of == number)
                .map(|(sample, _)| sample.clone())
                .collect();
            given(&format!("{number}/{of}"), &own)
        });
        let merged = merge(parts.rev().collect()).expect("all parts are there");
        let (one, one_intervals) = measured(&samples);
        let (all, figures) = (&merged.measured, &one.figures);
        for (merged, one) in [
            (&all.figures.latency, &figures.latency),
            (&all.figures.service, &figures.service),
            (&all.figures.lateness, &figures.lateness),
            (&all.figures.steps[0].latency, &figures.steps[0].latency),
            (&all.figures.steps[1].latency, &figures.steps[1].latency),
        ] {
            prop_assert_eq!(buckets(merged), buckets(one));
            prop_assert_eq!((merged.len(), merged.min(), merged.max()), (one.len(), one.min(), one.max()));
        }
        prop_assert_eq!(all.figures.outcomes, figures.outcomes);
        prop_assert_eq!(all.figures.statuses.sorted(), figures.statuses.sorted());
        prop_assert_eq!(all.figures.in_time, figures.in_time);
        prop_assert_eq!(all.generator.unsent, one.generator.unsent);
        prop_assert_eq!(all.rps(), one.rps());
        for (merged, one) in merged.intervals.iter().zip(&one_intervals) {
            prop_assert_eq!(merged.number, one.number);
            prop_assert_eq!(buckets(&merged.latency), buckets(&one.latency));
            prop_assert_eq!(merged.in_flight, one.in_flight);
            prop_assert_eq!(merged.outcomes, one.outcomes);
        }
        for goal in ["p99 < 1ms", "errors < 40%", "rps > 20", "sent p50 < 1ms"] {
            let goal = Goal::parse(goal).expect(goal);
            prop_assert_eq!(goal.check(all), goal.check(&one));
        }
        // Groups of ten count over all generators: none is lost where each has less than ten.
        let points = all.score.as_ref().and_then(|score| score.points);
        let wanted = (samples.len() / 10) as f64 * 2.5 + 0.1 * samples.len() as f64;
        prop_assert!(points.is_some_and(|points| (points - wanted).abs() < 1e-6), "{points:?} {wanted}");
        prop_assert_eq!(all.failures.len(), 1);
        prop_assert_eq!(all.failures[0].count, samples.len() as u64);
        prop_assert_eq!(merged.generators.len(), of as usize);
    }
}

#[test]
fn a_text_says_the_same_plan_again() {
    let part = Part::parse("2/5").expect("a part");
    let before = result(part, &[]);
    let after = GeneratorResult::of_text(&before.to_text()).expect("its own text is read");
    assert_eq!(after.plan.pace, before.plan.pace);
    assert_eq!(after.plan.seed, before.plan.seed);
    assert_eq!(after.score, before.score);
    assert_eq!(after.part, part);
    assert_eq!(after.to_text(), before.to_text());
}

#[test]
fn a_generator_that_left_nothing_fails_the_run_by_name() {
    let error = merge(vec![given("0/4", &[]), given("2/4", &[])]).expect_err("two are missing");
    assert!(matches!(error, MergeError::Missing { .. }));
    assert_eq!(
        error.to_string(),
        "generator 1/4, 3/4 left no result, so the run has failed; what the others left is in 0.result, 2.result"
    );
}

#[test]
fn a_thread_that_failed_on_one_generator_fails_the_load_of_all() {
    let mut other = given("1/2", &[]);
    other.result.measured.stopped = true;
    other.result.measured.fault = Some(ThreadFault {
        thread: 3,
        error: "why".to_owned(),
        requests: 7,
    });
    // Through the text form.
    other.result = GeneratorResult::of_text(&other.result.to_text()).expect("a result");
    let merged = merge(vec![given("0/2", &[]), other]).expect("both are there");
    let fault = merged.measured.fault.as_ref().expect("a fault");
    assert_eq!((fault.thread, fault.requests), (3, 7));
    assert_eq!(fault.error, "1.result: why");
    assert_eq!(LoadEnd::of(&merged.measured, &[], &[]), LoadEnd::Failed);
}

#[test]
fn results_of_two_loads_are_refused() {
    let check = |change: &dyn Fn(&mut GeneratorResult), part: &str| {
        let mut other = given("1/2", &[]);
        change(&mut other.result);
        let error = merge(vec![given("0/2", &[]), other]).expect_err(part);
        assert!(error.to_string().contains(part), "{error}");
    };
    check(&|other| other.url.push('x'), "(URL)");
    check(&|other| other.plan.pace = Pace::Closed, "(rate)");
    check(&|other| other.plan.seed = 3, "(seed)");
    check(&|other| other.expectations.clear(), "(expectations)");
    check(&|other| other.steps.clear(), "(flows)");
    check(&|other| other.part = Part::WHOLE, "(generators)");
    check(
        &|other| other.part = Part::parse("0/2").expect("a part"),
        "are both of generator 0/2",
    );
    assert_eq!(merge(Vec::new()).expect_err("nothing"), MergeError::Nothing);
}

#[test]
fn a_text_of_another_version_is_told_apart() {
    let text = result(Part::WHOLE, &[]).to_text();
    assert!(matches!(
        GeneratorResult::of_text(&text[..text.len() / 2]),
        Err(ResultError::Frame(_))
    ));
}

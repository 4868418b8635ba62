//! Several generators' results as one, without loss.

use std::collections::BTreeMap;
use std::fmt;

use load::{Figures, Interval, Measured, Part, Plan, ThreadFault, points};
use load_report::{GeneratorLine, StepLabel};
use recording::{Generator, Nanos, Window};
use scenario::Tally;

use crate::result::GeneratorResult;
use crate::v1::Shared;

/// A result and the source's name for errors and reports: a file, a host, a pod.
#[derive(Clone, Debug)]
pub struct Given {
    /// Name of the source.
    pub name: String,
    /// The generator's result.
    pub result: GeneratorResult,
    /// How sure the start of `result` is, where the host's clock was compared with others.
    pub clock_bound: Option<Nanos>,
}

/// What the generators did together.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The target as typed.
    pub url: String,
    /// The whole plan.
    pub plan: Plan,
    /// The steps of the figures, in order.
    pub steps: Vec<StepLabel>,
    /// What was expected, as typed.
    pub expectations: Vec<String>,
    /// All figures, added up.
    pub measured: Measured,
    /// The load stretch by stretch.
    pub intervals: Vec<Interval>,
    /// Length of a stretch.
    pub every: Nanos,
    /// Each generator by itself, by part.
    pub generators: Vec<GeneratorLine>,
    /// Start of the first generator, milliseconds since 1970.
    pub started_at_unix_ms: i64,
}

/// Reasons why results do not form one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// There is none.
    Nothing,
    /// Generators without a result: the run has failed.
    Missing {
        /// Parts without a result.
        parts: Vec<Part>,
        /// Generators with a result.
        came: Vec<String>,
    },
    /// Two results of one part.
    Twice {
        /// The part.
        part: Part,
        /// Where both came from.
        names: [String; 2],
    },
    /// Results of two plans.
    Differs {
        /// What differs.
        what: &'static str,
        /// Where both came from.
        names: [String; 2],
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Nothing => {
                f.write_str("no result of a generator; name the files that --result wrote")
            }
            MergeError::Missing { parts, came } => {
                let parts: Vec<String> = parts.iter().map(Part::to_string).collect();
                write!(
                    f,
                    "generator {} left no result, so the run has failed; what the others left is in {}",
                    parts.join(", "),
                    came.join(", ")
                )
            }
            MergeError::Twice {
                part,
                names: [a, b],
            } => write!(
                f,
                "{a} and {b} are both of generator {part}; give one result of each generator"
            ),
            MergeError::Differs {
                what,
                names: [a, b],
            } => write!(
                f,
                "{a} and {b} are of different loads ({what}); give the results of one plan"
            ),
        }
    }
}

impl std::error::Error for MergeError {}

/// Adds up the results of one run, given in any order.
///
/// # Errors
/// A part is missing or there twice, or the results are of different plans.
pub fn merge(mut given: Vec<Given>) -> Result<Merged, MergeError> {
    given.sort_by_key(|given| given.result.part.number());
    check(&given)?;
    let first = given.first().ok_or(MergeError::Nothing)?;
    let began = (given.iter().map(|given| given.result.started_unix_ns).min()).unwrap_or(0);
    let Given { result, .. } = first;
    let merged = Merged {
        url: result.url.clone(),
        plan: Plan {
            part: Part::WHOLE,
            ..result.plan.clone()
        },
        steps: result.steps.clone(),
        expectations: result.expectations.clone(),
        every: result.every,
        measured: measured(&given, result),
        intervals: intervals(&given),
        generators: given.iter().map(|given| line(given, began)).collect(),
        started_at_unix_ms: (began / 1_000_000) as i64,
    };
    Ok(merged)
}

fn check(given: &[Given]) -> Result<(), MergeError> {
    let first = given.first().ok_or(MergeError::Nothing)?;
    let names = |a: &Given, b: &Given| [a.name.clone(), b.name.clone()];
    let shared = first.result.shared();
    for other in &given[1..] {
        let of = (other.result.part.of() != first.result.part.of()).then_some("generators");
        if let Some(what) = of.or_else(|| difference(&shared, &other.result.shared())) {
            let names = names(first, other);
            return Err(MergeError::Differs { what, names });
        }
    }
    for pair in given.windows(2) {
        let part = pair[0].result.part;
        if part == pair[1].result.part {
            let names = names(&pair[0], &pair[1]);
            return Err(MergeError::Twice { part, names });
        }
    }
    let is_there = |part: &Part| given.iter().any(|given| given.result.part == *part);
    let parts: Vec<Part> = Part::all(first.result.part.of())
        .filter(|part| !is_there(part))
        .collect();
    match parts.is_empty() {
        true => Ok(()),
        false => Err(MergeError::Missing {
            parts,
            came: given.iter().map(|given| given.name.clone()).collect(),
        }),
    }
}

/// What differs between two plans, if anything does.
fn difference(a: &Shared, b: &Shared) -> Option<&'static str> {
    let differs = [
        ("URL", a.url != b.url),
        ("rate", a.pace != b.pace),
        ("connections", a.connections != b.connections),
        ("streams", a.streams != b.streams),
        ("duration", a.duration_ns != b.duration_ns),
        ("warm-up", a.warmup_ns != b.warmup_ns),
        ("seed", a.seed != b.seed),
        ("flows", a.steps != b.steps),
        ("expectations", a.expectations != b.expectations),
        ("score", a.score != b.score),
    ];
    let rest = (a != b).then_some("settings");
    let found = differs.into_iter().find(|(_, differs)| *differs);
    found.map(|(what, _)| what).or(rest)
}

fn measured(given: &[Given], first: &GeneratorResult) -> Measured {
    let steps: Vec<u32> = first
        .measured
        .figures
        .steps
        .iter()
        .map(|s| s.step)
        .collect();
    let mut figures = Figures::new(&steps);
    let mut generator = Generator::default();
    let (mut tally, mut checks_failed) = (Tally::default(), 0);
    let mut length = Nanos::ZERO;
    for Given { result, .. } in given {
        let own = &result.measured;
        figures.merge(&own.figures);
        generator.cpu += own.generator.cpu;
        generator.threads += own.generator.threads;
        generator.unsent += own.generator.unsent;
        tally.merge(&own.tally.0);
        checks_failed += own.tally.1;
        length = length.max(own.window.length());
    }
    let start = first.measured.window.start;
    Measured {
        window: Window {
            start,
            end: start + length,
        },
        engine: first.measured.engine,
        figures,
        generator,
        failures: load::merged_failures(
            (given.iter()).flat_map(|given| given.result.measured.failures.iter().cloned()),
        ),
        score: (first.score.as_ref()).map(|spec| points(spec, &tally, checks_failed)),
        tally: (tally, checks_failed),
        users: given.iter().map(|given| given.result.measured.users).sum(),
        stopped: given.iter().any(|given| given.result.measured.stopped),
        fault: given.iter().find_map(fault),
    }
}

/// Returns the error at the end of a generator's load, with the generator's name.
fn fault(given: &Given) -> Option<ThreadFault> {
    let fault = given.result.measured.fault.as_ref()?;
    Some(ThreadFault {
        error: format!("{}: {}", given.name, fault.error),
        ..fault.clone()
    })
}

/// Stretches count from each generator's own start, never from a wall clock.
fn intervals(given: &[Given]) -> Vec<Interval> {
    let mut all: BTreeMap<i64, Interval> = BTreeMap::new();
    for interval in given.iter().flat_map(|given| &given.result.intervals) {
        let sum = all.entry(interval.number);
        sum.or_insert_with(|| Interval::new(interval.number))
            .merge(interval);
    }
    all.into_values().collect()
}

fn line(given: &Given, began: u64) -> GeneratorLine {
    let Given {
        name,
        result,
        clock_bound,
    } = given;
    let measured = &result.measured;
    GeneratorLine {
        part: result.part.to_string(),
        name: name.clone(),
        host: result.host.clone(),
        engine: measured.engine,
        started_after: Nanos(result.started_unix_ns - began),
        clock_bound: *clock_bound,
        requests: measured.figures.outcomes.all(),
        failed: measured.figures.outcomes.failed(),
        unsent: measured.generator.unsent,
        share: measured.generator_share(),
        lateness: measured.figures.lateness.clone(),
        stopped: measured.stopped,
    }
}

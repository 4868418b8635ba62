//! Comparison of two variants in interleaved blocks: a trial boot of each side, then blocks of four
//! measurements, A B B A and B A A B in turn, each with a fresh boot, until `stats::comparison` has
//! a decision.

mod learn;
mod results;
mod schemas;
mod settle;
mod sides;

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use comparison::{Decision, Ending, MeasuredBlock};
use figures::counted;
use recording::Nanos;
use stats::baseline::{Baseline, Relative};
use stats::comparison::{BLOCKS_MIN, Block, Comparison, Measured, Next};
use stats::design::{Design, Limits, Refusal, Trial};
use words::{Text, text};

use crate::failure;
use crate::lifecycle::{self, RunningApp};
use crate::measurement::{self, Length, Measurement};
use crate::observer::Context;
use ending::{Cause, Failure};

pub use schemas::Schemas;
pub use sides::{Label, Side, Sides, Variants};
pub use stats::design::Request;

/// The measured part of the trial boots, where none is asked for.
const TRIAL: Duration = Duration::from_secs(5);
/// How often a measurement is repeated while the host is disturbed. Most such episodes are over
/// by then; of the rest the calmest measurement counts.
const AGAIN_MAX: usize = 3;

/// A measured comparison.
pub struct Compared {
    /// Figures of the comparison, and the claims allowed.
    pub comparison: comparison::Comparison,
    /// Cause of a cut-off; `None` after a regular end, also an undecided one.
    pub cause: Option<Cause>,
}

impl Compared {
    /// Returns whether the comparison ended without a claim, for two variants which may differ.
    pub fn is_undecided(&self) -> bool {
        let is_unclear = self.comparison.decision() == Decision::Unclear;
        self.cause.is_none() && is_unclear && !self.comparison.is_noise
    }
}

/// Checks what was asked for, before anything outside the process is touched.
///
/// # Errors
/// [`Cause::Usage`]: nothing could be measured, or no verdict could come of it.
pub fn limits(request: Request) -> Result<Limits, Failure> {
    request.limits().map_err(refused)
}

/// Measures the sides until a decision, a limit, or the user's interruption.
pub fn measure(
    sides: &Sides,
    limits: Limits,
    schemas: &mut Schemas,
    context: &Context,
) -> Compared {
    let (comparison, cause) = Experiment::new(sides, limits, schemas, context).run();
    let cause = cause.or_else(|| context.is_stopped().then_some(Cause::Interrupted));
    Compared { comparison, cause }
}

/// A comparison at work.
struct Experiment<'a> {
    sides: &'a Sides,
    limits: Limits,
    schemas: &'a mut Schemas,
    context: &'a Context,
    begin: Instant,
    /// Apps kept running between measurements, by side.
    up: [Option<RunningApp>; 2],
    seen: [Seen; 2],
    measured: Vec<MeasuredBlock>,
    /// Baseline of each side: with more cores busy, each core may be slower.
    usual: [Baseline; 2],
    /// Number of repeated measurements, of measurements counted on a disturbed host, and the last
    /// disturbance.
    redone: usize,
    disturbed: usize,
    disturbance: Option<Relative>,
    /// Number of measurements of each side repeated since nothing was answered.
    silent: [u64; 2],
    generator: f64,
    notes: Vec<Text>,
}

/// What all measurements of a side gave.
#[derive(Default)]
struct Seen {
    starts_s: Vec<f64>,
    warmup_s: Option<f64>,
    latency: Vec<Nanos>,
    failed: u64,
    memory: Vec<f64>,
    growth: Vec<f64>,
    /// Responses by status.
    statuses: BTreeMap<u16, u64>,
}

impl<'a> Experiment<'a> {
    fn new(
        sides: &'a Sides,
        limits: Limits,
        schemas: &'a mut Schemas,
        context: &'a Context,
    ) -> Experiment<'a> {
        Experiment {
            sides,
            limits,
            schemas,
            context,
            begin: Instant::now(),
            up: [None, None],
            seen: [Seen::default(), Seen::default()],
            measured: Vec::new(),
            usual: [Baseline::default(), Baseline::default()],
            redone: 0,
            disturbed: 0,
            disturbance: None,
            silent: [0, 0],
            generator: 0.0,
            notes: Vec::new(),
        }
    }

    /// Measures until the comparison is decided or cannot be; returns the cause of a failure.
    fn run(mut self) -> (comparison::Comparison, Option<Cause>) {
        let started_at_unix_ms = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as i64);
        let mut cause = None;
        let mut blocks = None;
        let ending = self.trial().and_then(|design| {
            let (comparison, design) = blocks.insert((design.comparison(), design));
            self.blocks(comparison, design)
        });
        let ending = ending.unwrap_or_else(|failure| {
            cause = Some(failure.cause);
            failure::ending_of(failure)
        });
        self.up = [None, None];
        self.context.observer.clear_status();
        let comparison = comparison::Comparison {
            is_noise: self.sides.is_noise,
            started_at_unix_ms,
            ending,
            ..self.results(blocks.as_ref())
        };
        (comparison, cause)
    }

    /// Boots each side once, and returns a design from warm-up time and cost of a measurement.
    fn trial(&mut self) -> Result<Design, Failure> {
        let plan = &self.sides.a.settings.plan;
        let configured = Duration::from_nanos(plan.warmup.0);
        let length = Length {
            warmup: Duration::ZERO,
            measured: configured + self.limits.segment.unwrap_or(TRIAL),
            seed: plan.seed,
        };
        let begin = Instant::now();
        let mut segments = Vec::new();
        for label in [Label::A, Label::B] {
            self.context.notice(text!(
                "trial of {label}: {name}",
                label = label.to_string(),
                name = Text::named(&self.sides.side(label).name)
            ));
            let segment = self.measure(label, length)?;
            if segment.latency.is_empty() {
                return Err(self.silence(label, length.measured));
            }
            segments.push(segment);
        }
        let overhead = (begin.elapsed() / 2).saturating_sub(length.measured);
        let is_saturating = self.is_saturating();
        let settled = |segment| settle::after(segment, is_saturating);
        let settled: Vec<Option<f64>> = segments.iter().map(settled).collect();
        for (seen, settled) in self.seen.iter_mut().zip(&settled) {
            seen.warmup_s = *settled;
        }
        let warmup =
            (self.limits.warmup).unwrap_or_else(|| stats::settle::warmup(&settled, configured));
        if self.limits.warmup.is_none() && settled.contains(&None) {
            self.notes.push(text!(
                "whether {seconds} s of warm-up are enough is not known: the first boots had not settled, or were too \
                 short to tell",
                seconds = format!("{:.1}", warmup.as_secs_f64())
            ));
        }
        for (usual, segment) in self.usual.iter_mut().zip(&segments) {
            usual.judge(segment.disturbance);
        }
        let trial = Trial {
            rps: segments.iter().map(|one| one.rps).fold(f64::MAX, f64::min),
            warmup,
            overhead,
            took: self.begin.elapsed(),
            cpu_ms: (segments.iter())
                .map(|segment| segment.cpu_ms)
                .try_fold(f64::MAX, |least, cpu_ms| Some(least.min(cpu_ms?))),
        };
        let design = Design::of(&mut self.limits, &trial).map_err(refused)?;
        self.context.notice(announcement(&design));
        Ok(design)
    }

    fn blocks(&mut self, comparison: &mut Comparison, design: &Design) -> Result<Ending, Failure> {
        let seed = self.sides.a.settings.plan.seed;
        loop {
            let late = |budget| self.begin.elapsed() + design.block > budget;
            if comparison.blocks() > 0 && self.limits.budget.is_some_and(late) {
                return Ok(Ending::Budget);
            }
            let number = comparison.blocks();
            let length = Length {
                warmup: design.warmup,
                measured: design.segment,
                seed: seed.wrapping_add(1 + number as u64),
            };
            let segments = self.block(number, design, length)?;
            let silent = segments.iter().find(|(_, one)| one.latency.is_empty());
            if let Some((label, _)) = silent {
                return Err(self.silence(*label, design.segment));
            }
            let (block, measured) = self.take(number, design, segments);
            self.measured.push(measured);
            match comparison.add(block) {
                Next::More => {}
                Next::Decided => return Ok(Ending::Decided),
                Next::Hopeless => return Ok(Ending::Hopeless),
                Next::Full => return Ok(Ending::Full),
            }
        }
    }

    /// Four measurements in a row.
    fn block(
        &mut self,
        number: usize,
        design: &Design,
        length: Length,
    ) -> Result<Vec<(Label, Measurement)>, Failure> {
        let mut segments = Vec::new();
        for (place, label) in order(number).1.into_iter().enumerate() {
            self.context.observer.status(text!(
                "  block {number} of at most {most}, {label} ({place} of 4)   {seconds} s",
                number = number + 1,
                most = design.blocks_max,
                label = label.to_string(),
                place = place + 1,
                seconds = format!("{:.0}", self.begin.elapsed().as_secs_f64())
            ));
            segments.push((label, self.calm_measurement(label, design, length)?));
        }
        Ok(segments)
    }

    /// Returns one measurement, repeated when no request was answered or the host was disturbed:
    /// one measurement alone, since a block takes long.
    fn calm_measurement(
        &mut self,
        label: Label,
        design: &Design,
        length: Length,
    ) -> Result<Measurement, Failure> {
        let mut best: Option<(Relative, Measurement)> = None;
        for _ in 0..=AGAIN_MAX {
            let segment = self.measure(label, length)?;
            let judged = self.usual[label.index()].judge(segment.disturbance);
            let is_silent = segment.latency.is_empty();
            let is_better = match &best {
                Some((known, kept)) => {
                    kept.latency.is_empty() || (!is_silent && judged.excess < known.excess)
                }
                None => true,
            };
            if is_better {
                best = Some((judged, segment));
            }
            if !(is_silent || judged.is_disturbed()) || !self.has_time_to_redo(design) {
                break;
            }
            self.redone += 1;
            self.silent[label.index()] += u64::from(is_silent);
        }
        let (judged, segment) = best.expect("at least one was made");
        if judged.is_disturbed() {
            self.disturbed += 1;
            self.disturbance = Some(judged);
        }
        Ok(segment)
    }

    /// A budget must hold enough blocks for a claim. Without one, a quarter of the measurements may
    /// be repeated.
    fn has_time_to_redo(&self, design: &Design) -> bool {
        let Some(budget) = self.limits.budget else {
            return self.redone < design.blocks_max;
        };
        let missing = BLOCKS_MIN.saturating_sub(self.measured.len()).max(1) as u32;
        self.begin.elapsed() + design.block * missing + design.block / 4 < budget
    }

    /// One measurement: with a fresh boot on fresh data, unless both sides stay up.
    fn measure(&mut self, label: Label, length: Length) -> Result<Measurement, Failure> {
        if self.context.is_stopped() {
            return Err(failure::interrupted());
        }
        if self.sides.is_live {
            return self.measure_live(label, length);
        }
        let side = self.sides.side(label).subject();
        lifecycle::reset(&side, self.context)?;
        self.schemas.prepare(label, self.context)?;
        let mut up = lifecycle::start(&side, self.context)?;
        self.sides.side(label).check_library(&up.running.pids())?;
        let measured = measurement::measure(&side, &mut up, length, None, self.context);
        let left = up.running.stop().left;
        self.notes
            .extend(lifecycle::left_over(&label.to_string(), &left));
        measured
    }

    fn measure_live(&mut self, label: Label, length: Length) -> Result<Measurement, Failure> {
        let side = self.sides.side(label).subject();
        let index = label.index();
        let mut up = match self.up[index].take() {
            Some(up) => up,
            None => {
                lifecycle::reset(&side, self.context)?;
                lifecycle::start(&side, self.context)?
            }
        };
        let measured = measurement::measure(&side, &mut up, length, None, self.context);
        self.up[index] = Some(up);
        measured
    }

    /// Whether all connections are always in use.
    fn is_saturating(&self) -> bool {
        let settings = &self.sides.a.settings;
        let mut flows = settings.scenario.flows.iter();
        settings.plan.pace == load::Pace::Closed && flows.all(|flow| flow.think.is_none())
    }

    fn silence(&self, label: Label, length: Duration) -> Failure {
        let name = &self.sides.side(label).name;
        Failure::new(
            Cause::RequestsFailed,
            format!(
                "{label} ({name}) answered nothing within {:.1} s; give a longer --segment",
                length.as_secs_f64()
            ),
        )
    }

    /// Adds a block: values for the statistics and for the page.
    fn take(
        &mut self,
        number: usize,
        design: &Design,
        segments: Vec<(Label, Measurement)>,
    ) -> (Block, MeasuredBlock) {
        let mut figures: [Vec<Vec<f64>>; 2] = [Vec::new(), Vec::new()];
        let mut paces: [Vec<Option<Nanos>>; 2] = [Vec::new(), Vec::new()];
        for (label, segment) in segments {
            figures[label.index()].push(figures_of(design, &segment));
            paces[label.index()].push(segment.pace);
            self.generator = self.generator.max(segment.generator);
            self.seen[label.index()].add(segment);
        }
        let pairs = |side: &Vec<Vec<f64>>| -> Vec<[f64; 2]> {
            (0..design.rows())
                .map(|row| [side[0][row], side[1][row]])
                .collect()
        };
        let [a, b] = [pairs(&figures[0]), pairs(&figures[1])];
        let rows = a.iter().zip(&b).map(|(a, b)| Measured { a: *a, b: *b });
        let block = Block::of(&rows.collect::<Vec<_>>());
        let measured = MeasuredBlock {
            order: order(number).0,
            a,
            b,
            core_pace: paces.map(|side| [side[0], side[1]]),
        };
        (block, measured)
    }
}

/// The rows' values in one measurement; one without any response was refused.
fn figures_of(design: &Design, measurement: &Measurement) -> Vec<f64> {
    let latency: Vec<f64> = (measurement.latency.iter())
        .map(|latency| latency.as_millis_f64())
        .collect();
    design.figures(measurement.rps, &latency, measurement.cpu_ms)
}

/// Returns the failure for a refused design, with a request within the limits.
fn refused(refusal: Refusal) -> Failure {
    Failure::usage(match refusal {
        Refusal::Nothing => {
            "nothing can be measured in no time or no block; give --budget, --segment and --blocks above zero"
                .to_owned()
        }
        Refusal::TooShort { budget, needed } => format!(
            "a verdict needs {BLOCKS_MIN} blocks, and a budget of {:.0} s does not hold them; give --budget {:.0}m, a shorter \
             --segment, or --blocks for a measurement without a verdict",
            budget.as_secs_f64(),
            (needed.as_secs_f64() / 60.0).ceil()
        ),
    })
}

/// The design in words.
fn announcement(design: &Design) -> Text {
    let shown = |length: Duration| format!("{:.1}", length.as_secs_f64());
    text!(
        "at most {blocks} of 4 × {segment} s after {warmup} s of warm-up, about {block} s per block; \
         Ctrl-C ends it with what was measured",
        blocks = counted!(design.blocks_max as u64, "block"),
        segment = shown(design.segment),
        warmup = shown(design.warmup),
        block = format!("{:.0}", design.block.as_secs_f64())
    )
}

/// Returns the order of a block; sides take turns in going first, so neither always follows the
/// other's end.
fn order(number: usize) -> (&'static str, [Label; 4]) {
    use Label::{A, B};
    if number.is_multiple_of(2) {
        ("ABBA", [A, B, B, A])
    } else {
        ("BAAB", [B, A, A, B])
    }
}

impl Seen {
    fn add(&mut self, segment: Measurement) {
        self.starts_s.extend(segment.start_s);
        self.failed += segment.failed;
        for exchange in segment.exchanges.iter().filter(|one| one.status > 0) {
            *self.statuses.entry(exchange.status).or_default() += 1;
        }
        self.latency.extend(segment.latency);
        if let Some([first, last]) = segment.memory {
            self.memory.push(first.max(last) as f64);
            self.growth.push(last as f64 - first as f64);
        }
    }
}

//! The blocks: how many, how long, in which order, and what is made of them.

mod results;
mod settle;
mod shape;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use recording::Nanos;
use report::comparison::{self as page, Ending, MeasuredBlock};
use stats::comparison::{BLOCKS_MIN, Block, Comparison, Measured, Next};

use super::scratch::Schemas;
use super::sides::{Label, Sides};
use crate::exit::Exit;
use crate::segment::{self, Judged, Length, Segment, Trouble, Up, Usual};
use crate::signals;
use crate::talk::{self, Progress};

pub(crate) use shape::How;
use shape::{Shape, Trial};
use words::{Text, text};

/// The measured part of the trial boots, where none is asked for.
const TRIAL: Duration = Duration::from_secs(5);
/// How often a measurement is made again while the host is disturbed. Most such episodes are over by then; of the rest the calmest
/// measurement counts.
const AGAIN_MAX: usize = 3;

/// A comparison at work.
pub(crate) struct Experiment<'a> {
    sides: &'a Sides,
    how: How,
    schemas: &'a mut Schemas,
    stop: &'a Arc<AtomicBool>,
    begin: Instant,
    /// Apps that stay up, by side.
    up: [Option<Up>; 2],
    progress: Progress,
    seen: [Seen; 2],
    measured: Vec<MeasuredBlock>,
    /// Of each side: one that keeps more cores busy may find each of them slower.
    usual: [Usual; 2],
    /// Measurements that were made again, those that count although the host was disturbed, and what disturbed the last of these.
    redone: usize,
    disturbed: usize,
    disturbance: Option<Judged>,
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
    /// Answers by status.
    statuses: BTreeMap<u16, u64>,
}

impl<'a> Experiment<'a> {
    pub(crate) fn new(
        sides: &'a Sides,
        how: How,
        schemas: &'a mut Schemas,
        stop: &'a Arc<AtomicBool>,
    ) -> Experiment<'a> {
        Experiment {
            sides,
            how,
            schemas,
            stop,
            begin: Instant::now(),
            up: [None, None],
            progress: Progress::new(),
            seen: [Seen::default(), Seen::default()],
            measured: Vec::new(),
            usual: [Usual::default(), Usual::default()],
            redone: 0,
            disturbed: 0,
            disturbance: None,
            generator: 0.0,
            notes: Vec::new(),
        }
    }

    /// Measures until it is decided, or cannot be. With the exit code, when it is not the verdict's.
    pub(crate) fn run(mut self) -> (page::Comparison, Option<Exit>) {
        let started_at_unix_ms = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as i64);
        let mut exit = None;
        let mut blocks = None;
        let ending = self.trial().and_then(|shape| {
            let (comparison, shape) = blocks.insert((shape.comparison(), shape));
            self.blocks(comparison, shape)
        });
        let ending = ending.unwrap_or_else(|trouble| {
            exit = Some(trouble.exit);
            trouble.ending
        });
        self.up = [None, None];
        self.progress.clear();
        let page = page::Comparison {
            is_noise: self.sides.is_noise,
            started_at_unix_ms,
            ending,
            ..self.results(blocks.as_ref())
        };
        (page, exit)
    }

    /// Boots each side once: does it work, when does it settle, what does a measurement cost?
    fn trial(&mut self) -> Result<Shape, Trouble> {
        let plan = &self.sides.a.settings.plan;
        let configured = Duration::from_nanos(plan.warmup.0);
        let length = Length {
            warmup: Duration::ZERO,
            measured: configured + self.how.segment.unwrap_or(TRIAL),
            seed: plan.seed,
        };
        let begin = Instant::now();
        let mut segments = Vec::new();
        for label in [Label::A, Label::B] {
            talk::say(text!(
                "trial of {label}: {name}",
                label = label.to_string(),
                name = Text::named(&self.sides.side(label).name)
            ));
            let segment = self.segment(label, length)?;
            if segment.latency.is_empty() {
                return Err(self.is_silent(label, length.measured));
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
        let warmup = (self.how.warmup).unwrap_or_else(|| settle::warmup(&settled, configured));
        if self.how.warmup.is_none() && settled.contains(&None) {
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
        let shape =
            Shape::of(&mut self.how, &trial).map_err(|why| Trouble::failed(Exit::Usage, why))?;
        talk::say(shape.announcement());
        Ok(shape)
    }

    fn blocks(&mut self, comparison: &mut Comparison, shape: &Shape) -> Result<Ending, Trouble> {
        let seed = self.sides.a.settings.plan.seed;
        loop {
            let late = |budget| self.begin.elapsed() + shape.block > budget;
            if comparison.blocks() > 0 && self.how.budget.is_some_and(late) {
                return Ok(Ending::Budget);
            }
            let number = comparison.blocks();
            let length = Length {
                warmup: shape.warmup,
                measured: shape.segment,
                seed: seed.wrapping_add(1 + number as u64),
            };
            let segments = self.block(number, shape, length)?;
            let silent = segments.iter().find(|(_, one)| one.latency.is_empty());
            if let Some((label, _)) = silent {
                return Err(self.is_silent(*label, shape.segment));
            }
            let (block, measured) = self.take(number, shape, segments);
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
        shape: &Shape,
        length: Length,
    ) -> Result<Vec<(Label, Segment)>, Trouble> {
        let mut segments = Vec::new();
        for (place, label) in order(number).1.into_iter().enumerate() {
            self.progress.show(text!(
                "  block {number} of at most {most}, {label} ({place} of 4)   {seconds} s",
                number = number + 1,
                most = shape.blocks_max,
                label = label.to_string(),
                place = place + 1,
                seconds = format!("{:.0}", self.begin.elapsed().as_secs_f64())
            ));
            segments.push((label, self.calm_segment(label, shape, length)?));
        }
        Ok(segments)
    }

    /// One measurement, made again when nothing was answered or the host was disturbed: those alone, since a block takes long.
    fn calm_segment(
        &mut self,
        label: Label,
        shape: &Shape,
        length: Length,
    ) -> Result<Segment, Trouble> {
        let mut best: Option<(Judged, Segment)> = None;
        for _ in 0..=AGAIN_MAX {
            let segment = self.segment(label, length)?;
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
            if !(is_silent || judged.is_disturbed()) || !self.has_time_to_redo(shape) {
                break;
            }
            self.redone += 1;
        }
        let (judged, segment) = best.expect("at least one was made");
        if judged.is_disturbed() {
            self.disturbed += 1;
            self.disturbance = Some(judged);
        }
        Ok(segment)
    }

    /// A budget must hold enough blocks for a claim. Without one, a quarter of the measurements may be made again.
    fn has_time_to_redo(&self, shape: &Shape) -> bool {
        let Some(budget) = self.how.budget else {
            return self.redone < shape.blocks_max;
        };
        let missing = BLOCKS_MIN.saturating_sub(self.measured.len()).max(1) as u32;
        self.begin.elapsed() + shape.block * missing + shape.block / 4 < budget
    }

    /// One measurement: with a fresh boot on fresh data, unless both sides stay up.
    fn segment(&mut self, label: Label, length: Length) -> Result<Segment, Trouble> {
        if signals::raised(self.stop) {
            return Err(Trouble::interrupted());
        }
        if self.sides.is_live {
            return self.live_segment(label, length);
        }
        let side = self.sides.side(label).subject();
        segment::reset(&side, self.stop)?;
        (self.schemas.prepare(label)).map_err(|why| Trouble::failed(Exit::Failed, why))?;
        let mut up = segment::start(&side, self.stop)?;
        let measured = segment::load(&side, &mut up, length, None, self.stop);
        let left = up.running.stop().left;
        if !left.is_empty() {
            self.notes.push(text!(
                "processes of {label} could not be ended: {left}; end them by hand",
                label = label.to_string(),
                left = format!("{left:?}")
            ));
        }
        measured
    }

    fn live_segment(&mut self, label: Label, length: Length) -> Result<Segment, Trouble> {
        let side = self.sides.side(label).subject();
        let index = label.index();
        let mut up = match self.up[index].take() {
            Some(up) => up,
            None => {
                segment::reset(&side, self.stop)?;
                segment::start(&side, self.stop)?
            }
        };
        let measured = segment::load(&side, &mut up, length, None, self.stop);
        self.up[index] = Some(up);
        measured
    }

    /// Whether all connections are always in use.
    fn is_saturating(&self) -> bool {
        let settings = &self.sides.a.settings;
        let mut flows = settings.scenario.flows.iter();
        settings.plan.pace == load::Pace::Closed && flows.all(|flow| flow.think.is_none())
    }

    fn is_silent(&self, label: Label, length: Duration) -> Trouble {
        let name = &self.sides.side(label).name;
        Trouble::failed(
            Exit::RequestsFailed,
            format!(
                "{label} ({name}) answered nothing within {:.1} s; give a longer --segment",
                length.as_secs_f64()
            ),
        )
    }

    /// From a block's measurements to what statistics and the page need of them.
    fn take(
        &mut self,
        number: usize,
        shape: &Shape,
        segments: Vec<(Label, Segment)>,
    ) -> (Block, MeasuredBlock) {
        let mut figures: [Vec<Vec<f64>>; 2] = [Vec::new(), Vec::new()];
        let mut paces: [Vec<Option<Nanos>>; 2] = [Vec::new(), Vec::new()];
        for (label, segment) in segments {
            figures[label.index()].push(shape.figures(&segment));
            paces[label.index()].push(segment.pace);
            self.generator = self.generator.max(segment.generator);
            self.seen[label.index()].add(segment);
        }
        let pairs = |side: &Vec<Vec<f64>>| -> Vec<[f64; 2]> {
            (0..shape.rows())
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

/// Which side goes first takes turns, so that neither always comes after the other's end.
fn order(number: usize) -> (&'static str, [Label; 4]) {
    use Label::{A, B};
    if number.is_multiple_of(2) {
        ("ABBA", [A, B, B, A])
    } else {
        ("BAAB", [B, A, A, B])
    }
}

impl Seen {
    fn add(&mut self, segment: Segment) {
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

//! A bench: first looks, blocks, and the end; over a [`Subject`], which is the machine or a
//! simulation of one.

use std::time::Duration;

use stats::comparison::Verdict;
use stats::contest::{Contest, Pair, Round, Setup, order};
use stats::{Interval, mean, simultaneous_intervals};

use crate::calm::Calm;
use crate::model::{Contender, Job, Metric, Runner, Work};
use crate::plan::{self, Shape};
use crate::process::Failure;
use crate::sample::{Clock, Sample, Trial};

/// Resamples behind the interval of a single figure.
const RESAMPLES: usize = 2_000;

/// A job by a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Index of the job.
    pub job: usize,
    /// Index of the contender.
    pub contender: usize,
}

/// Why a cell has no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The job asks for a newer Ruby.
    Skipped(String),
    /// The program failed, with the last words printed.
    Failed(String),
    /// The program did not end within the given time.
    Hung(Duration),
    /// The script costs less than a tenth of the enclosing loop.
    TooSmall,
    /// Ctrl-C came before the first figure.
    Interrupted,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Missing::Skipped(why) => write!(formatter, "skipped: {why}"),
            Missing::Failed(why) => write!(formatter, "failed: {why}"),
            Missing::Hung(limit) => write!(
                formatter,
                "did not end within {} s; a longer --timeout lets it",
                limit.as_secs_f64()
            ),
            Missing::TooSmall => formatter.write_str("too small to tell from the loop around it"),
            Missing::Interrupted => formatter.write_str("not measured before the end"),
        }
    }
}

impl From<Failure> for Missing {
    fn from(failure: Failure) -> Missing {
        match failure {
            Failure::Start(why) | Failure::Failed(why) => Missing::Failed(why),
            Failure::Hung(limit) => Missing::Hung(limit),
            Failure::Interrupted => Missing::Interrupted,
        }
    }
}

/// What is shown while a bench is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The first look at a cell.
    First(Cell),
    /// A measurement: which block, of how many at most.
    Block(Cell, usize, usize),
}

/// The programs of a bench and the clock, real or simulated.
pub trait Subject {
    /// Runs a cell's first process.
    fn first(&mut self, cell: Cell) -> Result<Trial, Missing>;
    /// Runs one process of a cell, counted in the figures.
    fn measure(&mut self, cell: Cell, shape: Shape) -> Result<Sample, Missing>;
    /// Time since the bench began.
    fn elapsed(&self) -> Duration;
    /// Says how far the work is.
    fn show(&mut self, progress: Progress);
}

/// How to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct How {
    /// What the scripts are measured for.
    pub runner: Runner,
    /// The time to plan for: how long processes run, and how many blocks there are.
    pub plan: Duration,
    /// When to stop at the latest; at least one block is measured.
    pub budget: Duration,
    /// The equivalence bound, as a share.
    pub margin: f64,
    /// The clock.
    pub clock: Clock,
    /// Decides the order within blocks.
    pub seed: u64,
    /// Whether the jobs of a single contender are compared with each other.
    pub compares_jobs: bool,
    /// Greatest number of blocks; `None` limits by the budget alone.
    pub blocks_max: Option<usize>,
}

/// Why a bench ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All pairs are decided.
    Decided,
    /// All blocks are there.
    Full,
    /// The budget is used up.
    Budget,
    /// Ctrl-C.
    Interrupted,
}

/// Everything known of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Which.
    pub cell: Cell,
    /// The first process.
    pub trial: Option<Trial>,
    /// The counted processes, in order of time.
    pub samples: Vec<Sample>,
    /// Why there are none, or no more.
    pub missing: Option<Missing>,
    /// Shape of the cell's processes.
    pub shape: Shape,
}

/// A row: cells to be compared with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The job's name; empty when the row compares jobs.
    pub name: String,
    /// The cells.
    pub cells: Vec<Measured>,
    /// The clock used for the verdict.
    pub clock: Clock,
    /// What the figures are.
    pub metric: Metric,
    /// All pairs.
    pub pairs: Vec<Pair>,
    /// Blocks.
    pub blocks: usize,
}

/// A finished bench.
#[derive(Clone, Debug, PartialEq)]
pub struct Bench {
    /// The rows.
    pub rows: Vec<Row>,
    /// The geometric mean over several rows, for each pair; empty for one row.
    pub overall: Vec<Pair>,
    /// Settings of the measurement.
    pub how: How,
    /// Reason of the end.
    pub ending: Ending,
    /// Duration, seconds.
    pub seconds: f64,
}

/// Measures until all is decided, the budget is used up, or Ctrl-C.
pub fn run(jobs: &[Job], contenders: &[Contender], how: How, subject: &mut dyn Subject) -> Bench {
    let mut rows = rows(jobs, contenders.len(), how);
    let mut ending = firsts(&mut rows, subject);
    shape(&mut rows, jobs, how);
    for row in &mut rows {
        row.clock = clock(row, how.clock);
    }
    let cells = rows.first().map_or(0, |row| row.cells.len());
    let cost: f64 = rows.iter().flat_map(|row| &row.cells).map(seconds).sum();
    let left = how.plan.saturating_sub(subject.elapsed());
    let blocks_max =
        (how.blocks_max).unwrap_or_else(|| plan::blocks(left, Duration::from_secs_f64(2.0 * cost)));
    let mut contest = Contest::new(Setup {
        contenders: cells,
        rows: rows.len(),
        // Figures that are compared with none need no claim.
        blocks_max: if cells > 1 {
            blocks_max
        } else {
            blocks_max.min(12)
        },
        margin: how.margin,
    });
    if ending.is_none() {
        ending = Some(blocks(&mut rows, &mut contest, how, subject, blocks_max));
    }
    contest.end();
    for (index, row) in rows.iter_mut().enumerate() {
        for cell in row.cells.iter_mut().filter(|cell| cell.samples.is_empty()) {
            cell.missing.get_or_insert(Missing::Interrupted);
        }
        row.pairs = contest.pairs(index).to_vec();
        row.blocks = contest.blocks_of(index);
    }
    Bench {
        overall: if rows.len() > 1 {
            contest.overall()
        } else {
            Vec::new()
        },
        rows,
        how,
        ending: ending.unwrap_or(Ending::Interrupted),
        seconds: subject.elapsed().as_secs_f64(),
    }
}

/// Returns one row a job; but jobs are compared with each other under a single contender.
fn rows(jobs: &[Job], contenders: usize, how: How) -> Vec<Row> {
    let row = |name: &str, first: usize, cells: Vec<Cell>| {
        let measured = |cell| Measured {
            cell,
            trial: None,
            samples: Vec::new(),
            missing: None,
            shape: Shape::default(),
        };
        Row {
            name: name.to_owned(),
            cells: cells.into_iter().map(measured).collect(),
            clock: how.clock,
            metric: match &jobs[first].work {
                Work::Printed(printed) => printed.metric.clone(),
                Work::Script(_) => how.runner.metric(),
                Work::Command => Runner::Time.metric(),
            },
            pairs: Vec::new(),
            blocks: 0,
        }
    };
    if contenders == 1 && jobs.len() > 1 && how.compares_jobs {
        let cells = (0..jobs.len()).map(|job| Cell { job, contender: 0 });
        return vec![row("", 0, cells.collect())];
    }
    let each = jobs.iter().enumerate().map(|(job, named)| {
        let cells = (0..contenders).map(|contender| Cell { job, contender });
        row(&named.name, job, cells.collect())
    });
    each.collect()
}

fn firsts(rows: &mut [Row], subject: &mut dyn Subject) -> Option<Ending> {
    for row in rows {
        for measured in &mut row.cells {
            subject.show(Progress::First(measured.cell));
            match subject.first(measured.cell) {
                Ok(trial) => measured.trial = Some(trial),
                Err(missing) => {
                    let is_interrupted = missing == Missing::Interrupted;
                    measured.missing = Some(missing);
                    if is_interrupted {
                        return Some(Ending::Interrupted);
                    }
                }
            }
        }
    }
    None
}

fn shape(rows: &mut [Row], jobs: &[Job], how: How) {
    let cells: usize = rows.iter().map(|row| row.cells.len()).sum();
    let seconds = plan::seconds_per_process(how.plan, cells);
    for row in rows {
        let names: Vec<usize> = row.cells.iter().map(|measured| measured.cell.job).collect();
        for (job, one) in jobs.iter().enumerate() {
            let Work::Script(script) = &one.work else {
                continue;
            };
            let of_job = || row.cells.iter().filter(|measured| measured.cell.job == job);
            let trials: Vec<Option<&Trial>> =
                of_job().map(|measured| measured.trial.as_ref()).collect();
            let mut shapes = plan::shapes(script, how.runner, &trials, seconds).into_iter();
            for (index, _) in names.iter().enumerate().filter(|(_, named)| **named == job) {
                row.cells[index].shape = shapes.next().unwrap_or_default();
            }
        }
    }
}

/// Returns the clock of a row: CPU time by default where every cell computes, since other programs
/// on the machine disturb CPU time least.
fn clock(row: &Row, asked: Clock) -> Clock {
    let mut trials = row
        .cells
        .iter()
        .filter_map(|measured| measured.trial.as_ref());
    match asked {
        Clock::Auto if trials.all(|trial| trial.computes) => Clock::Cpu,
        Clock::Auto => Clock::Wall,
        asked => asked,
    }
}

/// Returns the seconds for one process of a cell, estimated from the first one.
fn seconds(measured: &Measured) -> f64 {
    let Some(trial) = &measured.trial else {
        return 0.0;
    };
    let shape = measured.shape;
    let turns = shape.turns as f64 * (shape.warm as f64 + 1.3 * shape.batches as f64);
    trial.startup + turns * trial.turn
}

fn blocks(
    rows: &mut [Row],
    contest: &mut Contest,
    how: How,
    subject: &mut dyn Subject,
    most: usize,
) -> Ending {
    let mut calm = Calm::default();
    loop {
        let begin = subject.elapsed();
        let block = contest.blocks();
        let mut rounds = Vec::new();
        for index in contest.open() {
            let at = (block, most);
            let Some(round) = round(&mut rows[index], how, subject, (at, &mut calm)) else {
                return Ending::Interrupted;
            };
            rounds.push((index, round));
        }
        let is_open = contest.add(rounds);
        let is_alive = |row: &Row| row.cells.iter().any(|measured| measured.missing.is_none());
        if !is_open || !rows.iter().any(is_alive) {
            let is_decided = contest.open().is_empty();
            return if is_decided {
                Ending::Decided
            } else {
                Ending::Full
            };
        }
        let took = subject.elapsed().saturating_sub(begin);
        if subject.elapsed() + took > how.budget {
            return Ending::Budget;
        }
    }
}

/// A row's measurements in a block; `None` after Ctrl-C.
fn round(
    row: &mut Row,
    how: How,
    subject: &mut dyn Subject,
    ((block, most), calm): ((usize, usize), &mut Calm),
) -> Option<Round> {
    let count = row.cells.len();
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); count];
    let mut paces: Vec<Vec<f64>> = vec![Vec::new(); count];
    for index in order(count, block, how.seed) {
        let measured = &mut row.cells[index];
        if measured.missing.is_some() {
            continue;
        }
        subject.show(Progress::Block(measured.cell, block + 1, most));
        match calm.measure(|| subject.measure(measured.cell, measured.shape)) {
            Ok(sample) => {
                values[index].push(figure(&sample, how.runner, row.clock));
                paces[index].extend(sample.pace);
                measured.samples.push(sample);
            }
            Err(Missing::Interrupted) => return None,
            Err(missing) => measured.missing = Some(missing),
        }
    }
    let twice = |values: Vec<f64>| <[f64; 2]>::try_from(values).ok();
    let paces: Option<Vec<[f64; 2]>> = paces.into_iter().map(twice).collect();
    Some(Round {
        values: values.into_iter().map(twice).collect(),
        paces: paces.unwrap_or_default(),
    })
}

/// Returns the figure to compare; above zero.
pub fn figure(sample: &Sample, runner: Runner, clock: Clock) -> f64 {
    let figure = match (sample.printed, runner) {
        (Some(printed), _) => printed,
        (None, Runner::Memory) => sample.memory,
        (None, _) => sample.seconds(clock),
    };
    figure.max(f64::MIN_POSITIVE)
}

impl Row {
    /// Returns the pair of two cells, and whether the stored order is reversed.
    pub fn pair(&self, a: usize, b: usize) -> Option<(Pair, bool)> {
        let (low, high) = (a.min(b), a.max(b));
        let found = self
            .pairs
            .iter()
            .find(|pair| (pair.a, pair.b) == (low, high))?;
        Some((*found, a > b))
    }

    /// Returns a cell's displayed figure in the metric's unit, with an interval; `None` without
    /// figures.
    pub fn value(&self, index: usize, how: How) -> Option<(f64, Option<Interval>)> {
        let measured = &self.cells[index];
        let logs: Vec<f64> = measured
            .samples
            .iter()
            .map(|sample| figure(sample, how.runner, self.clock).ln())
            .collect();
        if measured.missing.is_some() {
            return None;
        }
        let center = mean(&logs)?;
        let units: Vec<Vec<f64>> = logs.iter().map(|log| vec![*log]).collect();
        let interval = simultaneous_intervals(&units, 0.05, RESAMPLES).map(|all| all[0]);
        let scale = |log: f64| self.in_unit(measured, how.runner, log.exp());
        let interval = interval.map(|interval| {
            let ends = [scale(interval.low), scale(interval.high)];
            Interval {
                low: ends[0].min(ends[1]),
                high: ends[0].max(ends[1]),
            }
        });
        Some((scale(center), interval))
    }

    /// From what is compared to what is shown.
    pub fn in_unit(&self, measured: &Measured, runner: Runner, figure: f64) -> f64 {
        let is_printed = measured
            .samples
            .iter()
            .any(|sample| sample.printed.is_some());
        match runner {
            _ if is_printed => figure,
            Runner::Ips | Runner::Block if self.metric.unit == "i/s" => 1.0 / figure,
            Runner::Time => figure * (measured.shape.turns * measured.shape.batches).max(1) as f64,
            _ => figure,
        }
    }

    /// Whether more of what is compared (not of what is shown) is better.
    pub fn is_more_better(&self, runner: Runner) -> bool {
        let is_rate = matches!(runner, Runner::Ips | Runner::Block) && self.metric.unit == "i/s";
        !is_rate && self.metric.is_larger_better
    }

    /// Index of the best cell; `None` when no cell has a figure.
    pub fn best(&self, how: How) -> Option<usize> {
        let known =
            (0..self.cells.len()).filter_map(|index| Some((self.value(index, how)?.0, index)));
        let better = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0);
        if self.metric.is_larger_better {
            known.max_by(better).map(|(_, index)| index)
        } else {
            known.min_by(better).map(|(_, index)| index)
        }
    }
}

impl Bench {
    /// Whether any pair of any row is undecided.
    pub fn is_undecided(&self) -> bool {
        let pairs = self.rows.iter().flat_map(|row| &row.pairs);
        pairs
            .filter(|pair| pair.ratio.is_some())
            .any(|pair| pair.verdict == Verdict::Unclear)
    }

    /// Returns whether any cell failed, and so has no figure.
    pub fn has_failed(&self) -> bool {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let failed = |measured: &Measured| {
            matches!(
                measured.missing,
                Some(Missing::Failed(_) | Missing::Hung(_))
            )
        };
        cells.into_iter().any(failed)
    }
}

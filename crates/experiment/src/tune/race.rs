//! Measures the blocks of a search until a decision, the end of the budget, or Ctrl-C.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use figures::numbers;
use stats::baseline::Baseline;
use whatif::search::{Cell, Extras, RaceEnd, Search, Step};
use words::{Text, text};

use super::block::{self, App, Block, BlockError, BlockRequest};
use super::knobs::Server;
use super::runtime;
use crate::measurement::{Length, cause};
use crate::observer::Context;
use crate::settings::Settings;
use ending::Failure;

/// Greatest number of repeated blocks, as a base and per counted block: on a host disturbed all the
/// time, the budget is better spent otherwise.
const REDONE_MAX: (usize, f64) = (3, 0.3);
/// Factor from the longest block so far, or stop of the app, to the time reserved for the next: a
/// host may become slower.
const SLACK: f64 = 1.2;

/// A race at work.
pub struct Race<'a> {
    settings: &'a Settings,
    server: Server,
    length: Length,
    /// Greatest number of threads reachable while the app runs; `None` for a boot in each block.
    live: Option<u32>,
    /// App of the block before, and the round in which the app was started.
    kept: Option<App>,
    round: usize,
    /// By the number of workers: several may find each core slower.
    usual: BTreeMap<u32, Baseline>,
    /// Number of repeated blocks.
    pub redone: usize,
    /// Number of counted blocks.
    measured: usize,
    /// Starts of the app for blocks.
    pub boots: usize,
    /// What the longest block has taken.
    longest: Duration,
    /// What stopping an app has taken at most.
    stopping: Duration,
    deadline: Instant,
    context: &'a Context,
}

/// What became of a block.
enum BlockResult {
    Block(Block),
    /// The setting does not work, and why.
    Broken(String),
    /// No more blocks.
    Over(RaceEnd),
}

impl<'a> Race<'a> {
    /// Returns a race without blocks. `threads_max` is the most that any cell has.
    pub fn new(
        settings: &'a Settings,
        server: Server,
        length: Length,
        threads_max: u32,
        deadline: Instant,
        context: &'a Context,
    ) -> Race<'a> {
        // Data is brought into its known state while no app uses it.
        let can_stay = server == Server::Puma && settings.before.is_none();
        Race {
            settings,
            server,
            length,
            live: can_stay.then_some(threads_max),
            kept: None,
            round: 0,
            usual: BTreeMap::new(),
            redone: 0,
            measured: 0,
            boots: 0,
            longest: length.warmup + length.measured,
            stopping: Duration::ZERO,
            deadline,
            context,
        }
    }

    /// Races cells until the best is known. Returns why it ended, with the cells that do not work.
    ///
    /// # Errors
    /// No block can be measured at all.
    pub fn cells(
        &mut self,
        search: &mut Search,
    ) -> Result<(RaceEnd, Vec<(Cell, String)>), Failure> {
        let mut broken = Vec::new();
        loop {
            let cell = match search.step() {
                Step::Done(ending) => return Ok((RaceEnd::Search(ending), broken)),
                Step::Measure(cell) => cell,
            };
            let name = text!(
                "round {round}: {workers} × {threads}",
                round = search.rounds(),
                workers = cell.workers,
                threads = cell.threads
            );
            match self.measure(cell, None, search.rounds(), name)? {
                BlockResult::Block(block) => search.add(Some(block.figures), block.memory_bytes),
                BlockResult::Broken(why) => {
                    broken.push((cell, why));
                    search.add(None, 0);
                }
                BlockResult::Over(ended) => return Ok((ended, broken)),
            }
        }
    }

    /// Stops the app left running by the last block.
    pub fn stop_app(&mut self) {
        let begin = Instant::now();
        if self.kept.take().is_some() {
            self.stopping = self.stopping.max(begin.elapsed());
        }
    }

    /// Returns the runtime settings to try with the app.
    pub fn runtime_settings(&self) -> Vec<String> {
        let start = self.settings.start.as_ref();
        start.map_or_else(Vec::new, runtime::settings)
    }

    /// Races settings of the runtime on one cell. Returns what ended it early.
    ///
    /// # Errors
    /// No block can be measured at all.
    pub fn extras(
        &mut self,
        cell: Cell,
        names: &[String],
    ) -> Result<(Extras, Option<RaceEnd>), Failure> {
        // What is compared here is chosen at the start of a process.
        self.live = None;
        self.stop_app();
        let mut extras = Extras::new(cell, names.to_vec());
        let mut blocks = 0;
        while let Some(setting) = extras.step() {
            let setting = setting.map(|index| names[index].as_str());
            let name = setting.map_or_else(|| text!("as it is"), Text::from);
            match self.measure(cell, setting, blocks / (names.len() + 1), name)? {
                BlockResult::Block(block) => extras.add(Some(block.figures), block.memory_bytes),
                BlockResult::Broken(_) => extras.add(None, 0),
                BlockResult::Over(ended) => return Ok((extras, Some(ended))),
            }
            blocks += 1;
        }
        Ok((extras, None))
    }

    /// One block; what others disturbed is measured again. An app that can be changed stays up for
    /// the rest of its round: the next one then meets a process that lies elsewhere in memory.
    fn measure(
        &mut self,
        cell: Cell,
        runtime: Option<&str>,
        round: usize,
        name: Text,
    ) -> Result<BlockResult, Failure> {
        if self.round != round {
            self.round = round;
            self.stop_app();
        }
        loop {
            let begin = Instant::now();
            let needed = (self.longest + self.stopping).mul_f64(SLACK);
            if begin + needed > self.deadline {
                return Ok(BlockResult::Over(RaceEnd::Budget));
            }
            let wanted = BlockRequest {
                server: self.server,
                cell,
                runtime,
                live: self.live,
                // All settings of a round meet the same random choices.
                length: Length {
                    seed: self.length.seed.wrapping_add(round as u64),
                    ..self.length
                },
            };
            let block = match block::measure(self.settings, wanted, &mut self.kept, self.context) {
                Ok(block) => block,
                Err(BlockError::Interrupted) => return Ok(BlockResult::Over(RaceEnd::Interrupted)),
                Err(BlockError::Failed(failure)) => return Err(failure),
                Err(BlockError::Broken(why)) => {
                    self.say(name, text!("does not work: {why}", why));
                    return Ok(BlockResult::Broken(why));
                }
            };
            self.boots += usize::from(block.booted);
            self.longest = self.longest.max(begin.elapsed());
            let usual = self.usual.entry(cell.workers).or_default();
            let judged = usual.judge(block.disturbance);
            if judged.is_disturbed() && self.redone < self.redone_max() {
                self.redone += 1;
                self.say(
                    name.clone(),
                    text!("{judged}; measured again", judged = cause(&judged)),
                );
                continue;
            }
            self.measured += 1;
            let (rps, p95) = (block.figures.rps, block.figures.p95);
            let said = text!(
                "{rate} requests/s, p95 {p95}",
                rate = format!("{rps:.1}"),
                p95 = numbers::duration_ms(p95)
            );
            self.say(name, said);
            return Ok(BlockResult::Block(block));
        }
    }

    fn redone_max(&self) -> usize {
        let (first, each) = REDONE_MAX;
        first + (each * self.measured as f64) as usize
    }

    fn say(&self, name: Text, what: Text) {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.context.notice(text!(
            "{name}: {what}; {seconds} s of the budget left",
            name,
            what,
            seconds = format!("{:.0}", left.as_secs_f64())
        ));
    }
}

//! A bench as a page for the terminal, as JSON and as one HTML file.

mod history;
mod html;
mod hyperfine;
mod json;
mod page;

use microbench::bench::{Bench, Ending};
use microbench::model::{Contender, Job, Runner};
use stats::comparison::Verdict;
use stats::contest::Pair;
use words::{Text, text};

/// A bench with the names and doubts shown beside the figures.
#[derive(Clone, Copy, Debug)]
pub struct BenchView<'a> {
    /// Figures of the bench.
    pub bench: &'a Bench,
    /// Jobs, indexed by the cells of the bench.
    pub jobs: &'a [Job],
    /// Contenders, indexed by the cells of the bench.
    pub contenders: &'a [Contender],
    /// Reasons to distrust the figures.
    pub doubts: &'a [Text],
    /// Wall-clock time of the start, milliseconds since 1970.
    pub started_at_unix_ms: i64,
}

pub use history::{History, HistoryPoint, history_html};
pub use html::{Flames, html};
pub use hyperfine::{json as hyperfine_json, markdown as hyperfine_markdown};
pub use json::json;
pub use page::page;

/// A cell compared with the best cell of the same row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Beside {
    /// How many times as good the best is, above or below 1.
    ratio: f64,
    /// 95 % interval of the ratio.
    interval: Option<[f64; 2]>,
    verdict: Verdict,
}

impl BenchView<'_> {
    /// Name of a row's cell: the contender's, or the job's where jobs are compared.
    fn cell_name(&self, row: usize, index: usize) -> &str {
        let cell = self.bench.rows[row].cells[index].cell;
        let is_of_jobs = self.bench.rows[row].name.is_empty();
        let name = if is_of_jobs {
            &self.jobs[cell.job].name
        } else {
            &self.contenders[cell.contender].name
        };
        name.lines().next().unwrap_or_default()
    }

    /// How much better the row's cell `best` is than `index`.
    fn beside(&self, row: usize, best: usize, index: usize) -> Option<Beside> {
        let row = &self.bench.rows[row];
        let (pair, is_turned) = row.pair(best, index)?;
        let is_more_better = row.is_more_better(self.bench.how.runner);
        beside(pair, is_turned, is_more_better)
    }

    fn runner(&self) -> Runner {
        self.bench.how.runner
    }

    /// Indexes of a row's cells, the best first and cells without a figure last.
    fn ranked(&self, row: usize) -> Vec<usize> {
        let row = &self.bench.rows[row];
        let worth = |index: &usize| {
            let value = row.value(*index, self.bench.how).map(|(value, _)| value);
            match value {
                Some(value) if row.metric.is_larger_better => -value,
                Some(value) => value,
                None => f64::INFINITY,
            }
        };
        let mut ranked: Vec<usize> = (0..row.cells.len()).collect();
        ranked.sort_by(|a, b| worth(a).total_cmp(&worth(b)));
        ranked
    }

    fn ending(&self) -> Text {
        let seconds = format!("{:.0}", self.bench.seconds);
        match self.bench.ending {
            Ending::Decided => text!("all decided after {seconds} s", seconds),
            Ending::Full => text!("all blocks measured after {seconds} s", seconds),
            Ending::Budget => text!(
                "the time given was used up after {seconds} s; a longer --budget decides more",
                seconds
            ),
            Ending::Interrupted => text!("interrupted after {seconds} s", seconds),
        }
    }
}

/// Compares a pair (a, b): how many times as good a is, or b when `is_turned`.
fn beside(pair: Pair, is_turned: bool, is_more_better: bool) -> Option<Beside> {
    // ratio is b/a of what is compared; a is better by that where less is better.
    let is_inverse = is_turned != is_more_better;
    let turn = |value: f64| if is_inverse { 1.0 / value } else { value };
    let interval = pair.interval.map(|interval| {
        let ends = [turn(interval.low), turn(interval.high)];
        [ends[0].min(ends[1]), ends[0].max(ends[1])]
    });
    Some(Beside {
        ratio: turn(pair.ratio?),
        interval,
        verdict: pair.verdict,
    })
}

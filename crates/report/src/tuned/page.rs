//! The page of `hakaru tune`.

use whatif::goal::{Figures, Metric};
use whatif::search::{Candidate, Cell, Effect, Ending, Outcome};

use super::{Ended, Tuned};
use crate::forecast::{load_words, memory};
use crate::numbers;
use crate::text::{Column, fold, table};

const HEADS: [Column<'static>; 9] = [
    Column::words("", 0),
    Column::figure("predicted/s", 5),
    Column::figure("predicted p95", 6),
    Column::figure("measured/s", 0),
    Column::figure("p50", 4),
    Column::figure("p95", 0),
    Column::figure("memory", 2),
    Column::figure("blocks", 3),
    Column::words("", 1),
];

impl Tuned<'_> {
    /// For people, at most `columns` wide.
    pub fn text(&self, columns: usize) -> String {
        let mut text = self.table(columns);
        for (cell, why) in self.broken {
            text.push_str(&format!("  {} does not work: {why}\n", times(*cell)));
        }
        text.push_str(&format!("\n{}\n", self.verdict()));
        if let Some(outcome) = self.search.outcome() {
            for line in self.changes(&outcome) {
                text.push_str(&format!("{line}\n"));
            }
        }
        text.push_str(&self.runtime());
        fold(&text, columns)
    }

    fn table(&self, columns: usize) -> String {
        let goal = self
            .aim
            .goal
            .map_or("no goal".to_owned(), |goal| goal.to_string());
        let mut text = format!(
            "{}\n{goal} under {}; predicted from {}, {} settings, replay {:.0}% off\n\n",
            self.command,
            load_words(&self.model.recorded.load),
            self.run
                .map_or("a run that is not kept".to_owned(), |run| format!(
                    "run {run}"
                )),
            self.search.candidates().len(),
            self.model.error() * 100.0
        );
        let rows: Vec<Vec<String>> = self.measured().map(|known| self.row(known)).collect();
        for line in table(&HEADS, &rows, columns.saturating_sub(2)) {
            text.push_str(&format!("  {line}\n"));
        }
        text
    }

    fn row(&self, known: &Candidate) -> Vec<String> {
        let seen = self.search.expected(known.cell).unwrap_or_default();
        let is_present = known.cell == self.present;
        let cells = [
            times(known.cell),
            numbers::plain(known.predicted.rps),
            numbers::duration_ms(known.predicted.p95),
            numbers::plain(seen.rps),
            numbers::duration_ms(seen.p50),
            numbers::duration_ms(seen.p95),
            memory(known.memory_bytes),
            known.measured.len().to_string(),
            if is_present { "now" } else { "" }.to_owned(),
        ];
        cells.to_vec()
    }

    /// What was found, in a sentence or two.
    fn verdict(&self) -> String {
        let Some(outcome) = self.search.outcome() else {
            return "no setting works; the reasons are above".to_owned();
        };
        let cell = times(outcome.best.cell);
        let figures = said(&outcome.figures) + &self.goal_interval(&outcome);
        let found = match (self.aim.goal, outcome.best.measured.is_empty()) {
            (_, true) => format!("nothing was measured; predicted best is {cell}: {figures}"),
            (None, _) => format!("best is {cell}: {figures}"),
            (Some(goal), _) if outcome.goal_met => format!("{cell} holds {goal}: {figures}"),
            (Some(goal), _) => format!("nothing holds {goal}; nearest is {cell}: {figures}"),
        };
        format!("{found}; {}", self.how_it_ended())
    }

    /// Where the goal's figure lies, behind the figures.
    fn goal_interval(&self, outcome: &Outcome) -> String {
        let (Some(goal), Some(spread)) = (self.aim.goal, outcome.goal_figure) else {
            return String::new();
        };
        let shown = |value: f64| match (value.is_finite(), goal.metric) {
            (false, _) => "?".to_owned(),
            (true, Metric::Rps) => numbers::plain(value),
            (true, _) => numbers::duration_ms(value),
        };
        format!(
            " ({} with 95% between {} and {})",
            goal.metric,
            shown(spread.low),
            shown(spread.high)
        )
    }

    fn how_it_ended(&self) -> String {
        let took = format!("{:.0} s of measuring", self.measuring.as_secs_f64());
        match self.ended {
            Ended::Search(Ending::Known) => {
                format!("no other setting tried can be better by 3% ({took})")
            }
            Ended::Search(Ending::Noise) => {
                format!("others may be as good: this host's noise hides the difference ({took})")
            }
            Ended::Search(Ending::GoalMissed) => {
                format!("no setting is predicted to hold it either ({took})")
            }
            Ended::Budget => {
                format!("the budget is out ({took}), so another may be better; --budget gives more")
            }
            Ended::Interrupted => format!("interrupted after {took}, so another may be better"),
        }
    }

    /// The lines to change, and what they give.
    fn changes(&self, outcome: &Outcome) -> Vec<String> {
        let cell = outcome.best.cell;
        if cell == self.present {
            return vec!["change nothing: that is the present setting".to_owned()];
        }
        let mut lines = vec!["to change (nothing was changed)".to_owned()];
        lines.extend(match self.is_unicorn() {
            true => vec![format!(
                "  unicorn.rb     worker_processes {}",
                cell.workers
            )],
            false => puma_lines(cell),
        });
        if let Some(effect) = outcome.effect {
            lines.push(format!(
                "expected: {:.2}× the requests/s of now (95% interval {})",
                effect.ratio,
                between(effect)
            ));
        }
        lines.extend(self.memory_change(outcome));
        lines
    }

    /// Settings of the runtime, each beside the best cell without it.
    fn runtime(&self) -> String {
        if self.extras.is_empty() {
            return String::new();
        }
        let mut text = "\nof the runtime, each alone beside it\n".to_owned();
        for extra in self.extras {
            let said = extra.effect.map_or("does not work".to_owned(), |effect| {
                format!(
                    "{:.2}× the requests/s (95% interval {})",
                    effect.ratio,
                    between(effect)
                )
            });
            let memory = extra
                .memory_ratio
                .map_or(String::new(), |ratio| format!("; {ratio:.2}× the memory"));
            let mark = if extra.is_better() { "; set it" } else { "" };
            text.push_str(&format!("  {}\n    {said}{memory}{mark}\n", extra.name));
        }
        text
    }

    fn memory_change(&self, outcome: &Outcome) -> Option<String> {
        let present = (self.search.candidates().iter()).find(|known| known.cell == self.present)?;
        let (now, then) = (present.memory_bytes, outcome.best.memory_bytes);
        (now > 0 && then > 0).then(|| format!("memory: {} → {}", memory(now), memory(then)))
    }
}

fn between(effect: Effect) -> String {
    let end = |ratio: f64| match ratio.is_finite() {
        true => format!("{ratio:.2}"),
        false => "?".to_owned(),
    };
    format!("{}–{}", end(effect.low), end(effect.high))
}

fn puma_lines(cell: Cell) -> Vec<String> {
    let (workers, threads) = (web_concurrency(cell), cell.threads);
    vec![
        format!("  command        puma {}", flags(cell)),
        format!("  or puma.rb     workers {workers}; threads {threads}, {threads}"),
        format!("  or variables   WEB_CONCURRENCY={workers} RAILS_MAX_THREADS={threads}"),
        format!("  database.yml   pool: {threads} or more, for each worker"),
    ]
}

fn said(figures: &Figures) -> String {
    format!(
        "{} requests/s, p50 {}, p95 {}",
        numbers::plain(figures.rps),
        numbers::duration_ms(figures.p50),
        numbers::duration_ms(figures.p95)
    )
}

fn times(cell: Cell) -> String {
    format!("{} × {}", cell.workers, cell.threads)
}

/// What Puma calls one worker without a master above it.
pub(super) fn web_concurrency(cell: Cell) -> u32 {
    if cell.workers > 1 { cell.workers } else { 0 }
}

/// Puma's flags for it.
pub(super) fn flags(cell: Cell) -> String {
    let threads = cell.threads;
    format!("-w {} -t {threads}:{threads}", web_concurrency(cell))
}

//! The page of `hakaru tune`.

use figures::counted;
use whatif::goal::{Figures, Metric};
use whatif::search::{Candidate, Cell, Effect, Ending, Extra, Outcome, RaceEnd};
use words::{Language, Phrase, Text, phrase, text};

use super::Tuned;
use crate::forecast::{load_words, memory};
use figures::numbers;
use figures::text::{Column, fold, table};

/// Heads of the figures, with the order in which columns are left out.
const HEADS: [(Phrase, u8); 7] = [
    (phrase!("predicted/s"), 5),
    (phrase!("predicted p95"), 6),
    (phrase!("measured/s"), 0),
    (phrase!("p50"), 4),
    (phrase!("p95"), 0),
    (phrase!("memory"), 2),
    (phrase!("blocks"), 3),
];

impl Tuned<'_> {
    /// For people, at most `columns` wide.
    pub fn text(&self, columns: usize, language: Language) -> String {
        let mut texts = vec![self.command.into(), self.origin(), Text::default()];
        texts.extend(self.table(columns, language).into_iter().map(Text::from));
        texts.extend(
            self.broken.iter().map(|(cell, why)| {
                text!("  {cell} does not work: {why}", cell = times(*cell), why)
            }),
        );
        texts.extend([Text::default(), self.verdict()]);
        if let Some(outcome) = self.search.outcome() {
            texts.extend(self.changes(&outcome));
        }
        texts.extend(self.runtime());
        let lines = texts.iter().map(|text| text.written_in(language) + "\n");
        fold(&lines.collect::<String>(), columns)
    }

    /// The goal of the race, and the source of the predictions.
    fn origin(&self) -> Text {
        let goal = self.aim.goal.map(|goal| Text::from(goal.to_string()));
        let run = self.run.map(|run| text!("run {run}", run));
        text!(
            "{goal} under {load}; predicted from {run}, {settings}, replay {share} off",
            goal = goal.unwrap_or_else(|| text!("no goal")),
            load = load_words(&self.model.recorded.load),
            run = run.unwrap_or_else(|| text!("a run that is not kept")),
            settings = counted!(self.search.candidates().len() as u64, "setting"),
            share = numbers::share(self.model.error())
        )
    }

    fn table(&self, columns: usize, language: Language) -> Vec<String> {
        let names = HEADS.map(|(name, _)| name.written_in(language));
        let figures = names.iter().zip(HEADS);
        let mut heads = vec![Column::words("", 0)];
        heads.extend(figures.map(|(name, (_, drop))| Column::figure(name, drop)));
        heads.push(Column::words("", 1));
        let now = phrase!("now").written_in(language);
        let rows: Vec<Vec<String>> = (self.measured())
            .map(|known| self.row(known, &now))
            .collect();
        let lines = table(&heads, &rows, columns.saturating_sub(2)).into_iter();
        lines.map(|line| format!("  {line}")).collect()
    }

    fn row(&self, known: &Candidate, now: &str) -> Vec<String> {
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
            if is_present { now } else { "" }.to_owned(),
        ];
        cells.to_vec()
    }

    /// The result, in a sentence or two.
    fn verdict(&self) -> Text {
        let Some(outcome) = self.search.outcome() else {
            return text!("no setting works; the reasons are above");
        };
        let cell = times(outcome.best.cell);
        let figures = said(&outcome.figures, self.goal_interval(&outcome));
        let goal = self.aim.goal.map(|goal| goal.to_string());
        let found = match (goal, outcome.best.measured.is_empty()) {
            (_, true) => text!(
                "nothing was measured; predicted best is {cell}: {figures}",
                cell,
                figures
            ),
            (None, _) => text!("best is {cell}: {figures}", cell, figures),
            (Some(goal), _) if outcome.goal_met => {
                text!("{cell} holds {goal}: {figures}", cell, goal, figures)
            }
            (Some(goal), _) => text!(
                "nothing holds {goal}; nearest is {cell}: {figures}",
                goal,
                cell,
                figures
            ),
        };
        text!("{found}; {ending}", found, ending = self.how_it_ended())
    }

    /// Interval of the goal's figure, after the figures.
    fn goal_interval(&self, outcome: &Outcome) -> Text {
        let (Some(goal), Some(spread)) = (self.aim.goal, outcome.goal_figure) else {
            return Text::default();
        };
        let shown = |value: f64| match (value.is_finite(), goal.metric) {
            (false, _) => "?".to_owned(),
            (true, Metric::Rps) => numbers::plain(value),
            (true, _) => numbers::duration_ms(value),
        };
        text!(
            " ({metric} with 95% between {low} and {high})",
            metric = goal.metric.to_string(),
            low = shown(spread.low),
            high = shown(spread.high)
        )
    }

    pub(super) fn how_it_ended(&self) -> Text {
        let seconds = format!("{:.0}", self.measuring.as_secs_f64());
        let took = text!("{seconds} s of measuring", seconds);
        match self.ended {
            RaceEnd::Search(Ending::Known) => {
                text!("no other setting tried can be better by 3% ({took})", took)
            }
            RaceEnd::Search(Ending::Noise) => text!(
                "others may be as good: this host's noise hides the difference ({took})",
                took
            ),
            RaceEnd::Search(Ending::GoalMissed) => {
                text!("no setting is predicted to hold it either ({took})", took)
            }
            RaceEnd::Budget => text!(
                "the budget is used up ({took}), so another may be better; --budget gives more",
                took
            ),
            RaceEnd::Interrupted => {
                text!("interrupted after {took}, so another may be better", took)
            }
        }
    }

    /// The lines to change, with the gain.
    fn changes(&self, outcome: &Outcome) -> Vec<Text> {
        let cell = outcome.best.cell;
        if cell == self.present {
            return vec![text!("change nothing: that is the present setting")];
        }
        let mut lines = vec![text!("to change (nothing was changed)")];
        lines.extend(match self.is_unicorn() {
            true => vec![format!("  unicorn.rb     worker_processes {}", cell.workers).into()],
            false => puma_lines(cell),
        });
        if let Some(effect) = outcome.effect {
            lines.push(text!(
                "expected: {ratio}× the requests/s of now (95% interval {interval})",
                ratio = format!("{:.2}", effect.ratio),
                interval = between(effect)
            ));
        }
        lines.extend(self.memory_change(outcome));
        lines
    }

    /// Settings of the runtime, each beside the best cell without the setting.
    fn runtime(&self) -> Vec<Text> {
        if self.extras.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![
            Text::default(),
            text!("of the runtime, each alone beside it"),
        ];
        for extra in self.extras {
            lines.push(format!("  {}", extra.name).into());
            lines.push(text!("    {effect}", effect = effect_of(extra)));
        }
        lines
    }

    fn memory_change(&self, outcome: &Outcome) -> Option<Text> {
        let present = (self.search.candidates().iter()).find(|known| known.cell == self.present)?;
        let (now, then) = (present.memory_bytes, outcome.best.memory_bytes);
        (now > 0 && then > 0).then(|| {
            text!(
                "memory: {now} → {then}",
                now = memory(now),
                then = memory(then)
            )
        })
    }
}

/// Effect of one setting of the runtime.
fn effect_of(extra: &Extra) -> Text {
    let mut parts = vec![match extra.effect {
        Some(effect) => text!(
            "{ratio}× the requests/s (95% interval {interval})",
            ratio = format!("{:.2}", effect.ratio),
            interval = between(effect)
        ),
        None => text!("does not work"),
    }];
    let memory = extra.memory_ratio.map(|ratio| format!("{ratio:.2}"));
    parts.extend(memory.map(|ratio| text!("{ratio}× the memory", ratio)));
    parts.extend(extra.is_better().then(|| text!("set it")));
    Text::list(parts, text!("; "))
}

fn between(effect: Effect) -> String {
    let end = |ratio: f64| match ratio.is_finite() {
        true => format!("{ratio:.2}"),
        false => "?".to_owned(),
    };
    format!("{}–{}", end(effect.low), end(effect.high))
}

fn puma_lines(cell: Cell) -> Vec<Text> {
    let (workers, threads) = (web_concurrency(cell), cell.threads);
    vec![
        text!("  command        puma {flags}", flags = flags(cell)),
        text!(
            "  or puma.rb     workers {workers}; threads {threads}, {threads}",
            workers,
            threads
        ),
        text!(
            "  or variables   WEB_CONCURRENCY={workers} RAILS_MAX_THREADS={threads}",
            workers,
            threads
        ),
        text!(
            "  database.yml   pool: {threads} or more, for each worker",
            threads
        ),
    ]
}

fn said(figures: &Figures, interval: Text) -> Text {
    text!(
        "{rate} requests/s, p50 {p50}, p95 {p95}{interval}",
        rate = numbers::plain(figures.rps),
        p50 = numbers::duration_ms(figures.p50),
        p95 = numbers::duration_ms(figures.p95),
        interval
    )
}

fn times(cell: Cell) -> String {
    format!("{} × {}", cell.workers, cell.threads)
}

/// Puma's `WEB_CONCURRENCY` for the cell: a single worker without a master is 0.
pub(super) fn web_concurrency(cell: Cell) -> u32 {
    if cell.workers > 1 { cell.workers } else { 0 }
}

/// Puma's flags for the cell.
pub(super) fn flags(cell: Cell) -> String {
    let threads = cell.threads;
    format!("-w {} -t {threads}:{threads}", web_concurrency(cell))
}

//! Result of `hakaru tune`: the setting, the evidence, and the lines to change.

mod demand;
mod page;

use std::time::Duration;

use serde_json::{Value, json};
use whatif::goal::{Figures, Goal};
use whatif::search::{
    Aim, Candidate, Cell, Effect, Ending, Extra, Outcome, RaceEnd, Search, Spread,
};
use whatif::{HandOut, Model};

pub use demand::Demand;

/// A finished race.
#[derive(Clone, Debug)]
pub struct Tuned<'a> {
    /// Number of the run behind all predictions; `None` for a run not stored.
    pub run: Option<i64>,
    /// The present command.
    pub command: &'a str,
    /// Model behind the predictions.
    pub model: &'a Model,
    /// Goal of the race.
    pub aim: Aim,
    /// The present setting.
    pub present: Cell,
    /// Predictions and measurements.
    pub search: &'a Search,
    /// Settings with which the app fails, each with the reason.
    pub broken: &'a [(Cell, String)],
    /// Settings of the runtime, each raced on the best cell.
    pub extras: &'a [Extra],
    /// Blocks measured again because the host was disturbed.
    pub redone: usize,
    /// Starts of the app for the blocks; fewer than blocks where threads were changed in a running
    /// one.
    pub boots: usize,
    /// Reason of the race's end.
    pub ended: RaceEnd,
    /// Time from the start to the end, recording, boots and warm-ups included.
    pub measuring: Duration,
    /// Time limit of the race.
    pub budget: Duration,
}

impl Tuned<'_> {
    /// Whether the goal is held by what was measured; without a goal, whether anything was.
    pub fn goal_met(&self) -> bool {
        let outcome = self.search.outcome();
        outcome.is_some_and(|outcome| outcome.goal_met && !outcome.best.measured.is_empty())
    }

    /// Measured cells, in the order of the grid.
    fn measured(&self) -> impl Iterator<Item = &Candidate> {
        let candidates = self.search.candidates().iter();
        candidates.filter(|candidate| !candidate.measured.is_empty())
    }

    /// Returns the result as JSON, with a line feed at the end.
    pub fn json(&self) -> String {
        let outcome = self.search.outcome();
        let predicted: Vec<Value> = (self.search.candidates().iter())
            .map(|known| cell_json(known, &known.predicted))
            .collect();
        let measured: Vec<Value> = self
            .measured()
            .map(|known| self.measured_json(known))
            .collect();
        let broken: Vec<Value> = (self.broken.iter())
            .map(|(cell, why)| {
                json!({ "workers": cell.workers, "threads": cell.threads, "why": why })
            })
            .collect();
        let document = json!({
            "format": "hakaru-tune",
            "version": 1,
            "run": self.run,
            "command": self.command,
            "goal": self.aim.goal.map(|goal| goal.to_string()),
            "goal_met": self.goal_met(),
            "ended": self.ended_word(),
            "present": { "workers": self.present.workers, "threads": self.present.threads },
            "recommended": outcome.as_ref().map(|outcome| self.recommended_json(outcome)),
            "effect": outcome.and_then(|outcome| outcome.effect).map(effect_json),
            "predicted": predicted,
            "measured": measured,
            "broken": broken,
            "runtime": self.extras.iter().map(extra_json).collect::<Vec<_>>(),
            "blocks_redone": self.redone,
            "boots": self.boots,
            "replay_error": self.model.error(),
            "measuring_s": self.measuring.as_secs_f64(),
            "budget_s": self.budget.as_secs_f64(),
        });
        format!("{document:#}\n")
    }

    fn measured_json(&self, known: &Candidate) -> Value {
        let mean = self.search.expected(known.cell).unwrap_or_default();
        let mut value = cell_json(known, &mean);
        let blocks: Vec<Value> = known.measured.iter().map(figures_json).collect();
        value["blocks"] = Value::Array(blocks);
        value
    }

    fn recommended_json(&self, outcome: &Outcome) -> Value {
        let cell = outcome.best.cell;
        let mut value = cell_json(&outcome.best, &outcome.figures);
        value["measured"] = (!outcome.best.measured.is_empty()).into();
        value["goal_figure"] = (self.aim.goal.zip(outcome.goal_figure))
            .map(|(goal, spread)| goal_json(goal, spread))
            .into();
        value["flags"] = (!self.is_unicorn()).then(|| page::flags(cell)).into();
        value["env"] = json!({
            "WEB_CONCURRENCY": if self.is_unicorn() { cell.workers } else { page::web_concurrency(cell) },
            "RAILS_MAX_THREADS": cell.threads,
        });
        value["database_pool_min"] = cell.threads.into();
        value
    }

    /// Whether the server is Unicorn, with one thread per worker and no flag for workers.
    fn is_unicorn(&self) -> bool {
        self.model.recorded.hand_out == HandOut::Shared
    }

    fn ended_word(&self) -> &'static str {
        match self.ended {
            RaceEnd::Search(Ending::Known) => "known",
            RaceEnd::Search(Ending::Noise) => "noise",
            RaceEnd::Search(Ending::GoalMissed) => "goal missed",
            RaceEnd::Budget => "budget",
            RaceEnd::Interrupted => "interrupted",
        }
    }
}

fn figures_json(figures: &Figures) -> Value {
    json!({
        "rps": figures.rps,
        "latency_ms": {
            "p50": figures.p50,
            "p95": figures.p95,
            "p99": figures.p99,
            "mean": figures.mean,
        },
    })
}

fn cell_json(known: &Candidate, figures: &Figures) -> Value {
    let mut value = figures_json(figures);
    value["workers"] = known.cell.workers.into();
    value["threads"] = known.cell.threads.into();
    value["memory_bytes"] = (known.memory_bytes > 0)
        .then_some(known.memory_bytes)
        .into();
    value
}

/// Milliseconds, or requests a second.
fn goal_json(goal: Goal, spread: Spread) -> Value {
    json!({
        "metric": goal.metric.to_string(),
        "value": spread.mean,
        "low": finite(spread.low),
        "high": finite(spread.high),
    })
}

fn effect_json(effect: Effect) -> Value {
    json!({
        "rps_ratio": effect.ratio,
        "low": finite(effect.low),
        "high": finite(effect.high),
    })
}

fn extra_json(extra: &Extra) -> Value {
    json!({
        "setting": extra.name,
        "effect": extra.effect.map(effect_json),
        "memory_ratio": extra.memory_ratio,
        "blocks": extra.blocks,
        "better": extra.is_better(),
    })
}

/// An interval may have no end where too little was measured.
fn finite(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

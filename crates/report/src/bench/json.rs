//! The JSON `hakaru-bench`; `docs/json.md` says what each key means.

use std::collections::BTreeMap;

use microbench::bench::{Ending, Measured, Missing, Row};
use microbench::child::Jit;
use microbench::sample::{Clock, Sample, Trial};
use serde_json::{Value, json};
use stats::comparison::Verdict;
use stats::contest::Pair;
use words::Language;

use super::BenchView;

/// Returns the bench in the format `hakaru-bench`, version 1, with a line feed at the end.
pub fn json(view: &BenchView) -> String {
    format!("{:#}\n", value(view))
}

fn value(view: &BenchView) -> Value {
    let bench = view.bench;
    let names = |pair: &Pair, row: usize| {
        [view.cell_name(row, pair.a), view.cell_name(row, pair.b)].map(str::to_owned)
    };
    let rows = bench.rows.iter().enumerate().map(|(index, row)| {
        let cells = (0..row.cells.len()).map(|cell| self::cell(view, index, cell));
        json!({
            "name": row.name,
            "metric": {"name": row.metric.name, "unit": row.metric.unit, "larger_is_better": row.metric.is_larger_better},
            "clock": clock(row.clock),
            "blocks": row.blocks,
            "contenders": cells.collect::<Vec<_>>(),
            "pairs": row.pairs.iter().map(|one| of_row(row, one, names(one, index))).collect::<Vec<_>>(),
        })
    });
    json!({
        "format": "hakaru-bench",
        "version": 1,
        "started_at_unix_ms": view.started_at_unix_ms,
        "runner": view.runner().name(),
        "ended": match bench.ending {
            Ending::Decided => "decided",
            Ending::Full => "full",
            Ending::Budget => "budget",
            Ending::Interrupted => "interrupted",
        },
        "measuring_s": bench.seconds,
        "margin": bench.how.margin,
        "rows": rows.collect::<Vec<_>>(),
        "overall": bench.overall.iter().map(|one| pair(one, names(one, 0))).collect::<Vec<_>>(),
        "doubts": view.doubts.iter().map(|doubt| doubt.written_in(Language::English)).collect::<Vec<_>>(),
    })
}

fn cell(view: &BenchView, row: usize, index: usize) -> Value {
    let found = &view.bench.rows[row];
    let measured = &found.cells[index];
    let value = found.value(index, view.bench.how);
    json!({
        "name": view.cell_name(row, index),
        "command": view.contenders[measured.cell.contender].command,
        "value": value.map(|(value, _)| value),
        "low": value.and_then(|(_, interval)| interval).map(|interval| finite(interval.low)),
        "high": value.and_then(|(_, interval)| interval).map(|interval| finite(interval.high)),
        "missing": measured.missing.as_ref().map(missing),
        "turns": measured.shape.turns,
        "batches": measured.shape.batches,
        "trial": measured.trial.as_ref().map(trial),
        "processes": measured.samples.iter().map(sample).collect::<Vec<_>>(),
        "median_s": median(measured, found.clock),
    })
}

fn median(measured: &Measured, clock: Clock) -> Option<f64> {
    let seconds: Vec<f64> = measured
        .samples
        .iter()
        .map(|sample| sample.seconds(clock))
        .collect();
    stats::median(&seconds)
}

fn missing(missing: &Missing) -> Value {
    let kind = match missing {
        Missing::Skipped(_) => "skipped",
        Missing::Failed(_) => "failed",
        Missing::Hung(_) => "hung",
        Missing::TooSmall => "too_small",
        Missing::Interrupted => "interrupted",
    };
    json!({"kind": kind, "why": missing.to_string()})
}

fn trial(trial: &Trial) -> Value {
    let jit = |jit: &Jit| json!({"name": jit.name, "compiled": jit.compiled, "code_bytes": jit.code_bytes, "compile_ns": jit.compile_ns});
    json!({
        "ruby": trial.ruby,
        "startup_s": trial.startup,
        "first_turn_s": trial.first,
        "warmup_s": trial.warmup,
        "settled": trial.has_settled(),
        "curve_s": trial.curve,
        "curve_turns": trial.turns,
        "allocated_per_turn": trial.allocated,
        "live_objects": trial.live,
        "retained_per_turn": trial.retained_per_turn(),
        "environment": trial.environment.iter().cloned().collect::<BTreeMap<_, _>>(),
        "value": trial.value,
        "jit_before": jit(&trial.jit[0]),
        "jit_after": jit(&trial.jit[1]),
    })
}

fn sample(sample: &Sample) -> Value {
    json!({
        "wall_s": sample.wall,
        "cpu_s": sample.cpu,
        "loop_s": sample.overhead,
        "printed": sample.printed,
        "turns": sample.turns,
        "memory_bytes": sample.memory,
        "gc_share": sample.gc_share,
        "gc_count": sample.gc_count,
        "startup_s": sample.startup,
        "core_pace_ns": sample.pace,
        "exit_code": sample.exit_code,
    })
}

/// Returns a pair of a row: with the objects retained by b beyond a's.
fn of_row(row: &Row, pair: &Pair, names: [String; 2]) -> Value {
    let retained = |cell: usize| row.cells[cell].trial.as_ref()?.retained_per_turn();
    let more = retained(pair.b).zip(retained(pair.a)).map(|(b, a)| b - a);
    let mut value = self::pair(pair, names);
    value["retained_more_per_turn"] = json!(more);
    value
}

fn pair(pair: &Pair, [a, b]: [String; 2]) -> Value {
    json!({
        "a": a,
        "b": b,
        "ratio": pair.ratio,
        "low": pair.interval.map(|interval| finite(interval.low)),
        "high": pair.interval.map(|interval| finite(interval.high)),
        "verdict": match pair.verdict {
            Verdict::Lower => "lower",
            Verdict::Higher => "higher",
            Verdict::Same => "same",
            Verdict::Unclear => "undecided",
        },
    })
}

fn clock(clock: Clock) -> &'static str {
    match clock {
        Clock::Cpu => "cpu",
        Clock::Auto | Clock::Wall => "wall",
    }
}

/// JSON has no infinity.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

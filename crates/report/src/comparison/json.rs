//! The JSON `hakaru-compare`; `docs/json.md` says what each key means.

use comparison::{Comparison, Ending, MeasuredBlock, Row, Variant};
use serde_json::{Value, json};
use words::{Language, Text};

use super::sentence;

/// Returns the comparison as indented JSON, with a line feed at the end.
pub fn json(comparison: &Comparison) -> String {
    format!("{:#}\n", value(comparison, Language::English))
}

/// In one line, for the HTML page, whose sentences are in the reader's language.
pub fn compact(comparison: &Comparison, language: Language) -> String {
    value(comparison, language).to_string()
}

fn value(comparison: &Comparison, language: Language) -> Value {
    let say = |text: &Text| text.written_in(language);
    json!({
        "format": "hakaru-compare",
        "version": 1,
        "started_at_unix_ms": comparison.started_at_unix_ms,
        "a": variant(&comparison.a),
        "b": variant(&comparison.b),
        "is_noise": comparison.is_noise,
        "load": comparison.load,
        "rows": comparison.rows.iter().map(row).collect::<Vec<_>>(),
        "blocks": comparison.blocks,
        "redone": comparison.redone,
        "disturbed": comparison.disturbed,
        "noise_floor": comparison.noise_floor,
        "noise_claims": comparison.noise_claims,
        "decision": comparison.decision().name(),
        "verdict": sentence(comparison).written_in(language),
        "ended": ended(&comparison.ending),
        "measuring_s": comparison.measuring_s,
        "latency_curve": comparison.curve.iter().map(|point| json!({
            "share": point.share, "a_ms": point.a_ms, "b_ms": point.b_ms,
        })).collect::<Vec<_>>(),
        "measured": comparison.measured.iter()
            .map(|block| measured(&comparison.rows, block)).collect::<Vec<_>>(),
        "notes": comparison.notes.iter().map(say).collect::<Vec<_>>(),
        "tried": comparison.tried.as_ref().map(|tried| json!({
            "run": tried.run,
            "number": tried.number,
            "title": say(&tried.title),
            "remedy": say(&tried.remedy),
            "is_kept": tried.is_kept,
            "afterwards": say(&tried.afterwards),
        })),
    })
}

fn variant(variant: &Variant) -> Value {
    json!({
        "name": variant.name,
        "start_s": variant.start_s,
        "warmup_s": variant.warmup_s,
        "requests": variant.requests,
        "failed": variant.failed,
        "memory_bytes": variant.memory_bytes,
    })
}

fn row(row: &Row) -> Value {
    let end = |end: Option<f64>| end.filter(|end| end.is_finite());
    json!({
        "metric": row.metric,
        "a": row.a,
        "b": row.b,
        "ratio": row.seen.ratio,
        "low": end(row.seen.interval.map(|interval| interval.low)),
        "high": end(row.seen.interval.map(|interval| interval.high)),
        "noise": row.seen.noise,
        "verdict": row.word(),
    })
}

fn ended(ending: &Ending) -> &'static str {
    match ending {
        Ending::Decided => "decided",
        Ending::Full => "all blocks",
        Ending::Budget => "budget",
        Ending::Hopeless => "hopeless",
        Ending::Interrupted => "interrupted",
        Ending::Failed(_) => "failed",
    }
}

fn measured(rows: &[Row], block: &MeasuredBlock) -> Value {
    let figures: serde_json::Map<String, Value> = rows
        .iter()
        .zip(block.a.iter().zip(&block.b))
        .map(|(row, (a, b))| (row.metric.clone(), json!({ "a": a, "b": b })))
        .collect();
    let [a, b] =
        (block.core_pace).map(|side| side.map(|pace| pace.map(|pace| pace.0 as f64 / 1e3)));
    json!({ "order": block.order, "rows": figures, "core_pace_us": { "a": a, "b": b } })
}

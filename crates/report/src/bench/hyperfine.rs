//! A bench of commands in hyperfine's export formats, for scripts written for hyperfine.

use std::fmt::Write;

use microbench::bench::Measured;
use serde_json::{Value, json};

use super::BenchView;

/// Returns `results` with hyperfine's keys; seconds and bytes.
pub fn json(view: &BenchView) -> String {
    let cells = view.bench.rows.iter().enumerate().flat_map(|(row, found)| {
        found
            .cells
            .iter()
            .enumerate()
            .map(move |(index, cell)| result(view.cell_name(row, index), cell))
    });
    format!("{:#}\n", json!({"results": cells.collect::<Vec<_>>()}))
}

fn result(name: &str, cell: &Measured) -> Value {
    let times: Vec<f64> = cell.samples.iter().map(|sample| sample.wall).collect();
    let part = |index: usize| {
        let values: Vec<f64> = cell
            .samples
            .iter()
            .map(|sample| sample.user_system[index])
            .collect();
        stats::mean(&values)
    };
    let spread = Spread::of(&times);
    json!({
        "command": name,
        "mean": spread.as_ref().map(|spread| spread.mean),
        "stddev": spread.as_ref().and_then(|spread| spread.deviation),
        "median": stats::median(&times),
        "user": part(0),
        "system": part(1),
        "min": times.iter().copied().reduce(f64::min),
        "max": times.iter().copied().reduce(f64::max),
        "times": times,
        "memory_usage_byte": cell.samples.iter().map(|sample| sample.memory as u64).collect::<Vec<_>>(),
        "exit_codes": cell.samples.iter().map(|sample| sample.exit_code).collect::<Vec<_>>(),
    })
}

/// Mean and standard deviation.
struct Spread {
    mean: f64,
    deviation: Option<f64>,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Spread> {
        let mean = stats::mean(values)?;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt());
        Some(Spread { mean, deviation })
    }
}

/// Returns a Markdown table with hyperfine's columns, in milliseconds.
pub fn markdown(view: &BenchView) -> String {
    let mut out =
        "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|---:|---:|---:|\n"
            .to_owned();
    let spreads = |cell: &Measured| {
        Spread::of(
            &cell
                .samples
                .iter()
                .map(|sample| sample.wall)
                .collect::<Vec<_>>(),
        )
    };
    let cells = || {
        view.bench.rows.iter().enumerate().flat_map(|(row, found)| {
            found
                .cells
                .iter()
                .enumerate()
                .map(move |(index, cell)| (row, index, cell))
        })
    };
    let best = cells()
        .filter_map(|(_, _, cell)| spreads(cell))
        .min_by(|a, b| a.mean.total_cmp(&b.mean));
    for (row, index, cell) in cells() {
        let (Some(spread), Some(best)) = (spreads(cell), &best) else {
            continue;
        };
        let times = || cell.samples.iter().map(|sample| sample.wall * 1e3);
        let of = |spread: &Spread| spread.deviation.unwrap_or(0.0) / spread.mean;
        let ratio = spread.mean / best.mean;
        let relative = if ratio == 1.0 {
            "1.00".to_owned()
        } else {
            format!("{ratio:.2} ± {:.2}", ratio * of(&spread).hypot(of(best)))
        };
        let _ = writeln!(
            out,
            "| `{}` | {:.1} ± {:.1} | {:.1} | {:.1} | {relative} |",
            view.cell_name(row, index).replace('|', "\\|"),
            spread.mean * 1e3,
            spread.deviation.unwrap_or(0.0) * 1e3,
            times().fold(f64::INFINITY, f64::min),
            times().fold(0.0, f64::max)
        );
    }
    out
}

//! `hakaru load merge`: what several generators left, as one load.

use generators::{GeneratorResult, Given, MergeError, Merged};
use load::{Goal, GoalResult, LoadEnd};
use load_report::View;
use load_report::rows::Row;

use super::show::{self, Outputs};
use crate::cli::MergeArgs;
use crate::exit::{Exit, Failure};

/// Merges the files, prints the result, and returns the exit code.
pub(super) fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let outputs = Outputs {
        json: args.form.json,
        html: args.html.as_deref(),
        series: args.series.as_deref(),
        prometheus: args.prometheus.as_deref(),
        otlp: show::receiver(args.otlp.as_deref())?,
    };
    outputs.check()?;
    let read = |path: &std::path::PathBuf| {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
        let result = GeneratorResult::of_text(&text)
            .map_err(|error| Failure::new(Exit::Failed, format!("{name} {error}")))?;
        Ok(Given {
            name,
            result,
            clock_bound: None,
        })
    };
    let given = args
        .files
        .iter()
        .map(read)
        .collect::<Result<_, Failure>>()?;
    finish(given, &outputs)
}

/// Adds up, judges, shows; how the program ends.
pub(super) fn finish(given: Vec<Given>, outputs: &Outputs<'_>) -> Result<Exit, Failure> {
    let merged = generators::merge(given).map_err(|error| {
        let exit = match error {
            MergeError::Missing { .. } => Exit::Failed,
            _ => Exit::Usage,
        };
        Failure::new(exit, error)
    })?;
    let expected: Vec<Goal> = (merged.expectations.iter())
        .map(|text| Goal::parse(text))
        .collect::<Result<_, _>>()
        .map_err(Failure::usage)?;
    let goals: Vec<GoalResult> = (expected.iter())
        .map(|goal| goal.check(&merged.measured))
        .collect();
    show::show(&view(&merged, &goals, &rows(&merged)), outputs)?;
    let end = LoadEnd::of(&merged.measured, &expected, &goals);
    Ok(super::exit(end))
}

fn rows(merged: &Merged) -> Vec<Row> {
    let measured = merged
        .intervals
        .iter()
        .filter(|interval| interval.number >= 0);
    measured
        .map(|interval| Row::of(interval, merged.every))
        .collect()
}

fn view<'a>(merged: &'a Merged, goals: &'a [GoalResult], rows: &'a [Row]) -> View<'a> {
    View {
        url: &merged.url,
        started_at_unix_ms: merged.started_at_unix_ms,
        plan: &merged.plan,
        steps: &merged.steps,
        measured: &merged.measured,
        goals,
        rows,
        generators: &merged.generators,
    }
}

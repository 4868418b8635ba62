//! benchmark_driver's output forms: `simple`, `compare`, `markdown`, `record`, `all`, and `gruff`
//! as an SVG of our own.
//!
//! All are pure functions of [`Table`]s, which a bench or a record file becomes.

mod compare;
mod gruff;
mod simple;

use crate::bench::{Bench, Missing, figure};
use crate::model::{Contender, Job, Metric};
use crate::record::Recorded;

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As benchmark-ips prints: figures, then who is slower.
    Compare,
    /// One line a job.
    Simple,
    /// A Markdown table.
    Markdown,
    /// A file to be shown in another form later.
    Record,
    /// Every repeated measurement.
    All,
    /// A picture of bars.
    Gruff,
}

impl Form {
    /// All forms with names.
    pub const ALL: [(&str, Form); 6] = [
        ("compare", Form::Compare),
        ("simple", Form::Simple),
        ("markdown", Form::Markdown),
        ("record", Form::Record),
        ("all", Form::All),
        ("gruff", Form::Gruff),
    ];

    /// The form of a name.
    pub fn of(name: &str) -> Option<Form> {
        Form::ALL
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, form)| form)
    }

    /// Returns the name of the output file; `None` for printed forms.
    pub fn file(self) -> Option<&'static str> {
        match self {
            Form::Record => Some("benchmark_driver.record.yml"),
            Form::Gruff => Some("graph.svg"),
            _ => None,
        }
    }
}

/// How repeated measurements become one figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// The geometric mean, which is what the claims are about.
    #[default]
    Mean,
    /// The best.
    Best,
    /// The worst.
    Worst,
    /// The arithmetic mean.
    Average,
    /// The median.
    Median,
}

/// Choices of the forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether large numbers get k, M, G (simple).
    pub humanize: bool,
    /// Whether the comparison follows the table (markdown).
    pub compare: bool,
    /// Whether values are sorted (all).
    pub sort: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            humanize: true,
            compare: false,
            sort: true,
        }
    }
}

/// A result of a job by a contender; `value` is `None` when measuring failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// The figure.
    pub value: Option<f64>,
    /// Every repeated measurement, in order of time.
    pub all: Vec<f64>,
    /// Turns.
    pub loop_count: Option<f64>,
    /// Seconds for all turns.
    pub duration: Option<f64>,
    /// Why there is none.
    pub missing: String,
}

/// All results in a metric: a line a job, a column a contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The metric.
    pub metric: Metric,
    /// Names of the columns.
    pub contenders: Vec<String>,
    /// Names of the lines, with a figure for each column.
    pub jobs: Vec<(String, Vec<Figure>)>,
    /// Rates of the first look at each job by the first contender, turns, and seconds.
    pub warmup: Vec<(String, Figure)>,
}

/// The tables of a bench, one for each metric.
pub fn tables(bench: &Bench, jobs: &[Job], contenders: &[Contender], repeat: Repeat) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for row in &bench.rows {
        for (index, measured) in row.cells.iter().enumerate() {
            let cell = measured.cell;
            let table = match tables.iter().position(|table| table.metric == row.metric) {
                Some(known) => &mut tables[known],
                None => {
                    tables.push(Table {
                        metric: row.metric.clone(),
                        contenders: contenders.iter().map(|one| one.name.clone()).collect(),
                        jobs: Vec::new(),
                        warmup: Vec::new(),
                    });
                    tables.last_mut().expect("just pushed")
                }
            };
            let name = &jobs[cell.job].name;
            if table.jobs.last().is_none_or(|_| cell.contender == 0) {
                table
                    .jobs
                    .push((name.clone(), vec![Figure::default(); contenders.len()]));
            }
            let unit = |value| row.in_unit(measured, bench.how.runner, value);
            let all: Vec<f64> = (measured.samples.iter())
                .map(|sample| unit(figure(sample, bench.how.runner, row.clock)))
                .collect();
            let turns: f64 = measured
                .samples
                .iter()
                .map(|sample| sample.turns as f64)
                .sum();
            let seconds = measured
                .samples
                .iter()
                .map(|sample| sample.seconds(row.clock) * sample.turns as f64);
            let found = Figure {
                value: row
                    .value(index, bench.how)
                    .map(|(value, _)| repeat.of(value, &all, &row.metric)),
                all,
                loop_count: (turns > 0.0).then_some(turns),
                duration: (turns > 0.0).then(|| seconds.sum()),
                missing: measured
                    .missing
                    .as_ref()
                    .map(Missing::to_string)
                    .unwrap_or_default(),
            };
            if let Some(trial) = measured
                .trial
                .as_ref()
                .filter(|trial| cell.contender == 0 && trial.turn > 0.0)
            {
                let figure = Figure {
                    value: Some(unit(trial.turn)),
                    loop_count: Some(trial.turns as f64),
                    duration: Some(trial.turns as f64 * trial.turn),
                    ..Figure::default()
                };
                table.warmup.push((name.clone(), figure));
            }
            table.jobs.last_mut().expect("pushed above").1[cell.contender] = found;
        }
    }
    tables
}

impl Repeat {
    fn of(self, mean: f64, all: &[f64], metric: &Metric) -> f64 {
        let mut sorted = all.to_vec();
        sorted.sort_by(f64::total_cmp);
        let ends = (
            sorted.first().copied().unwrap_or(mean),
            sorted.last().copied().unwrap_or(mean),
        );
        let (best, worst) = if metric.is_larger_better {
            (ends.1, ends.0)
        } else {
            ends
        };
        match self {
            Repeat::Mean => mean,
            Repeat::Best => best,
            Repeat::Worst => worst,
            Repeat::Average => stats::mean(all).unwrap_or(mean),
            Repeat::Median => stats::median(all).unwrap_or(mean),
        }
    }
}

/// The tables of record files, one for each metric.
pub fn tables_of_record(all: &[Recorded]) -> Vec<Table> {
    let mut metrics: Vec<&Metric> = Vec::new();
    for one in all {
        if !metrics.contains(&&one.metric) {
            metrics.push(&one.metric);
        }
    }
    let table = |metric: &Metric| {
        let of_metric = || {
            all.iter()
                .filter(|one| one.metric == *metric && !one.is_warmup)
        };
        let distinct = |name: fn(&Recorded) -> &str| {
            let mut names: Vec<String> = Vec::new();
            for one in of_metric() {
                if !names.iter().any(|known| known == name(one)) {
                    names.push(name(one).to_owned());
                }
            }
            names
        };
        let contenders = distinct(|one| &one.contender);
        let found = |job: &str, contender: &str| {
            let one = of_metric().find(|one| one.job == job && one.contender == contender);
            one.map_or_else(Figure::default, |one| Figure {
                value: (one.value > 0.0).then_some(one.value),
                all: one.all.clone(),
                loop_count: one.loop_count,
                duration: one.duration,
                missing: String::new(),
            })
        };
        let jobs = distinct(|one| &one.job).into_iter().map(|job| {
            let figures = contenders
                .iter()
                .map(|contender| found(&job, contender))
                .collect();
            (job, figures)
        });
        Table {
            metric: metric.clone(),
            jobs: jobs.collect(),
            contenders: contenders.clone(),
            warmup: Vec::new(),
        }
    };
    metrics.into_iter().map(table).collect()
}

/// A table as records.
pub fn records(table: &Table) -> Vec<Recorded> {
    let each = table.jobs.iter().flat_map(|(job, figures)| {
        figures
            .iter()
            .zip(&table.contenders)
            .map(|(figure, contender)| Recorded {
                job: job.clone(),
                contender: contender.clone(),
                metric: table.metric.clone(),
                value: figure.value.unwrap_or(0.0),
                all: figure.all.clone(),
                loop_count: figure.loop_count,
                duration: figure.duration,
                is_warmup: false,
            })
    });
    each.collect()
}

/// Writes a table in a form.
pub fn write(table: &Table, form: Form, options: Options) -> String {
    match form {
        Form::Compare => compare::write(table),
        Form::Simple => simple::simple(table, options),
        Form::Markdown => simple::markdown(table, options),
        Form::Record => crate::record::write(&records(table)),
        Form::All => simple::all(table, options),
        Form::Gruff => gruff::write(table),
    }
}

/// Letters for powers of 1000.
const LETTERS: [&str; 6] = ["", "k", "M", "G", "T", "Q"];

/// A figure with three decimals and k, M, G, T or Q, one column wider than asked; `ERROR` for none.
fn humanized(value: Option<f64>, width: usize) -> String {
    let Some(value) = value else {
        return format!(" {:>width$}", "ERROR");
    };
    let scale = if value > 0.0 {
        (value.log10() / 3.0) as i32
    } else {
        0
    };
    if scale < 0 {
        return format!("{:>width$}", format!("{value:.2e}"));
    }
    match LETTERS.get(scale as usize) {
        Some(letter) if scale > 0 => format!("{:>width$.3}{letter}", value / 1000_f64.powi(scale)),
        _ => format!(" {value:>width$.3}"),
    }
}

#[cfg(test)]
mod tests;

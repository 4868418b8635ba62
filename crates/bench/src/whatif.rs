//! How far predictions are from what is then measured.
//!
//! Each app is recorded once with one worker and five threads under a closed load. Every other setting is predicted from
//! that and measured: closed for throughput, p50 and p95, and open at 60 % of the predicted capacity for p50 and
//! p95. The bounds are for all of these errors together, and for each app.

use std::error::Error;

use stats::median;

use crate::options::{list, value};
use crate::program::{Figures, Load, Project};

/// Asked of the median of the absolute errors, and of the worst.
const MEDIAN_MAX: f64 = 0.10;
const WORST_MAX: f64 = 0.25;
/// Share of the predicted capacity that an open load asks for.
const OPEN_SHARE: f64 = 0.6;
/// The recorded setting.
const RECORDED: (u32, u32) = (1, 5);

struct Row {
    what: &'static str,
    predicted: f64,
    measured: f64,
}

impl Row {
    fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

/// Runs it; whether the bounds are held.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let apps: Vec<String> = list(arguments, "apps", "io,cpu,mixed,chat")?;
    let threads: Vec<u32> = list(arguments, "threads", "1,2,3,5,8,16")?;
    let workers: Vec<u32> = list(arguments, "workers", "1,2")?;
    let load = Load {
        rate: None,
        seconds: value(arguments, "seconds", 10.0)?,
        warmup: value(arguments, "warmup", 2.0)?,
    };
    let mut all = Vec::new();
    println!("app    W × T  load     figure  predicted   measured   error");
    for app in &apps {
        let project = Project::new(app)?;
        let longer = Load {
            seconds: 2.0 * load.seconds,
            ..load
        };
        let (recorded, _) = project.run(RECORDED.0, RECORDED.1, longer)?;
        let mut errors = Vec::new();
        for workers in &workers {
            for threads in &threads {
                let cell = Cell {
                    app,
                    project: &project,
                    recorded,
                    workers: *workers,
                    threads: *threads,
                };
                errors.extend(cell.compare(load)?);
            }
        }
        say(app, &errors);
        all.extend(errors);
    }
    say("all", &all);
    Ok(summary(&all).is_some_and(|(median, worst)| median <= MEDIAN_MAX && worst <= WORST_MAX))
}

struct Cell<'a> {
    app: &'a str,
    project: &'a Project,
    recorded: i64,
    workers: u32,
    threads: u32,
}

impl Cell<'_> {
    fn compare(&self, load: Load) -> Result<Vec<f64>, Box<dyn Error>> {
        let closed = self.predict(None)?;
        let (_, measured) = self.project.run(self.workers, self.threads, load)?;
        let mut errors = self.show("closed", rows(&closed, &measured, true));
        let rate = OPEN_SHARE * closed.rps;
        let open = self.predict(Some(rate))?;
        let load = Load {
            rate: Some(rate),
            ..load
        };
        let (_, measured) = self.project.run(self.workers, self.threads, load)?;
        errors.extend(self.show("open", rows(&open, &measured, false)));
        Ok(errors)
    }

    fn predict(&self, rate: Option<f64>) -> Result<Figures, Box<dyn Error>> {
        self.project
            .predict(self.recorded, self.workers, self.threads, rate)
    }

    fn show(&self, load: &str, rows: Vec<Row>) -> Vec<f64> {
        for row in &rows {
            println!(
                "{:<6} {} × {:<2} {load:<8} {:<6}{:>11.2}{:>11.2}{:>+7.1}%",
                self.app,
                self.workers,
                self.threads,
                row.what,
                row.predicted,
                row.measured,
                row.error() * 100.0
            );
        }
        rows.iter().map(|row| row.error().abs()).collect()
    }
}

/// Throughput is a result of a closed load only; an open one has it from its rate.
fn rows(predicted: &Figures, measured: &Figures, closed: bool) -> Vec<Row> {
    let row = |what, predicted, measured| Row {
        what,
        predicted,
        measured,
    };
    let mut rows = vec![
        row("p50", predicted.p50, measured.p50),
        row("p95", predicted.p95, measured.p95),
    ];
    if closed {
        rows.insert(0, row("rps", predicted.rps, measured.rps));
    }
    rows
}

fn summary(errors: &[f64]) -> Option<(f64, f64)> {
    let worst = errors.iter().copied().fold(0.0, f64::max);
    Some((median(errors)?, worst))
}

fn say(name: &str, errors: &[f64]) {
    if let Some((median, worst)) = summary(errors) {
        println!(
            "{name}: median error {:.1}% (asked: {:.0}%), worst {:.1}% (asked: {:.0}%), {} figures",
            median * 100.0,
            MEDIAN_MAX * 100.0,
            worst * 100.0,
            WORST_MAX * 100.0,
            errors.len()
        );
    }
}

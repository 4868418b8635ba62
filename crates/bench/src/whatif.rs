//! How far predictions are from what is then measured.
//!
//! Each app is recorded once with one worker and five threads under a closed load. Every other
//! setting is predicted from that and measured: closed for throughput, p50 and p95, and open at 60
//! % of the predicted capacity for p50 and p95. The bounds are for all of these errors together,
//! and for each app. What was measured is kept ([`Steps`]), so that a changed model can be judged
//! by it without measuring again. The simulation's speed is timed beside it ([`replay`]).

use std::error::Error;

use serde_json::{Value, json};
use stats::median;

use crate::options::{list, value};
use crate::program::{Figures, Load, Project, figures};
use crate::replay;
use crate::steps::Steps;

/// Asked of the median of the absolute errors, and of the worst.
const MEDIAN_MAX: f64 = 0.10;
const WORST_MAX: f64 = 0.25;
/// Share of the predicted capacity used as the rate of an open load.
const OPEN_SHARE: f64 = 0.6;
/// The recorded setting.
const RECORDED: (u32, u32) = (1, 5);
/// So many times the predicted p95 is measured, at most so many seconds.
const P95S: f64 = 4.0;
const SECONDS_MAX: f64 = 60.0;
/// Approximate seconds of boot and end of a run beside the load.
const BESIDE: f64 = 4.0;

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

/// Runs the benchmark; returns whether the bounds hold.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let mut steps = Steps::open("whatif", arguments)?;
    let apps: Vec<String> = list(arguments, "app", "io,cpu,mixed,lock,native,pauses,chat")?;
    let threads: Vec<u32> = list(arguments, "threads", "1,2,3,5,8,16")?;
    let workers: Vec<u32> = list(arguments, "workers", "1,2")?;
    let load = Load {
        rate: None,
        seconds: value(arguments, "seconds", 10.0)?,
        warmup: value(arguments, "warmup", 2.0)?,
    };
    let cells: Vec<(u32, u32)> = workers
        .iter()
        .flat_map(|workers| threads.iter().map(|threads| (*workers, *threads)))
        .collect();
    let mut all = Vec::new();
    let mut fast = true;
    println!("app    W × T  load     figure  predicted   measured   error");
    for app in &apps {
        let mut measured = App::new(app, load, &mut steps)?;
        let mut errors = Vec::new();
        for cell in &cells {
            errors.extend(measured.compare(*cell)?);
        }
        say(app, &errors);
        all.extend(errors);
        fast &= replay::is_fast(app, measured.project.folder(), measured.recorded, &cells)?;
    }
    say("all", &all);
    let again: String = value(arguments, "again", "no".to_owned())?;
    if again == "yes" {
        repeat(&apps, &cells, load, &mut steps)?;
    }
    let close = |(median, worst)| median <= MEDIAN_MAX && worst <= WORST_MAX;
    Ok(fast && summary(&all).is_some_and(close))
}

/// Measures every setting a second time. What the first measurement is off by as a prediction of
/// the second is what no model can be better than.
fn repeat(
    apps: &[String],
    cells: &[(u32, u32)],
    load: Load,
    steps: &mut Steps,
) -> Result<(), Box<dyn Error>> {
    println!("app    W × T  load     figure      first     second   error");
    let mut all = Vec::new();
    for name in apps {
        let mut app = App::new(name, load, steps)?;
        let mut errors = Vec::new();
        for cell in cells {
            errors.extend(app.repeat(*cell)?);
        }
        say(&format!("{name}, measured twice"), &errors);
        all.extend(errors);
    }
    say("all, measured twice", &all);
    Ok(())
}

struct App<'a> {
    name: &'a str,
    project: Project,
    /// The run from which all is predicted.
    recorded: i64,
    load: Load,
    steps: &'a mut Steps,
}

impl<'a> App<'a> {
    fn new(name: &'a str, load: Load, steps: &'a mut Steps) -> Result<App<'a>, Box<dyn Error>> {
        let project = Project::new(name, steps.folder())?;
        let longer = Load {
            seconds: 2.0 * load.seconds,
            ..load
        };
        let key = format!("{name} recorded {longer:?}");
        let recorded = steps.take(&key, longer.whole() + BESIDE, || {
            let seen = project.run(RECORDED.0, RECORDED.1, longer)?;
            Ok(json!({"run": seen.number, "figures": seen.figures.kept()}))
        })?;
        Ok(App {
            name,
            project,
            recorded: recorded["run"].as_i64().ok_or("no run is kept")?,
            load,
            steps,
        })
    }

    /// The errors of one setting.
    fn compare(&mut self, cell: (u32, u32)) -> Result<Vec<f64>, Box<dyn Error>> {
        let closed = self.predict(cell, None)?;
        let measured = figures(&self.measure(cell, "closed", self.long_enough(&closed))?)?;
        let mut errors = self.show(cell, "closed", rows(&closed, &measured, true));
        let load = Load {
            rate: Some(OPEN_SHARE * closed.rps),
            ..self.load
        };
        let kept = self.measure(cell, "open", load)?;
        // A better model has another capacity; what was measured had this rate.
        let open = self.predict(cell, kept["rate"].as_f64())?;
        errors.extend(self.show(cell, "open", rows(&open, &figures(&kept)?, false)));
        Ok(errors)
    }

    /// The errors of one setting's measurement, taken for a prediction of a second one.
    fn repeat(&mut self, cell: (u32, u32)) -> Result<Vec<f64>, Box<dyn Error>> {
        let closed = self.long_enough(&self.predict(cell, None)?);
        let mut errors = Vec::new();
        for (what, twice, load) in [
            ("closed", "closed again", closed),
            ("open", "open again", self.load),
        ] {
            let first = self.measure(cell, what, load)?;
            let rate = first["rate"].as_f64();
            let second = self.measure(cell, twice, Load { rate, ..load })?;
            let (first, second) = (figures(&first)?, figures(&second)?);
            errors.extend(self.show(cell, what, rows(&first, &second, rate.is_none())));
        }
        Ok(errors)
    }

    /// Returns the load, lengthened for slow requests: a run hardly longer than a request has no
    /// steady state, since with Puma 6 each connection waits for all others once in ten requests,
    /// and not before the first time.
    fn long_enough(&self, predicted: &Figures) -> Load {
        // Whole seconds, so that a model that is changed a little finds what was measured.
        let p95 = (predicted.p95 / 1e3).round();
        Load {
            warmup: self.load.warmup.max(p95),
            seconds: self.load.seconds.max(P95S * p95).min(SECONDS_MAX),
            ..self.load
        }
    }

    fn measure(
        &mut self,
        (workers, threads): (u32, u32),
        what: &str,
        load: Load,
    ) -> Result<Value, Box<dyn Error>> {
        let key = format!(
            "{} {workers} × {threads} {what} {} s after {} s",
            self.name, load.seconds, load.warmup
        );
        let project = &self.project;
        self.steps.take(&key, load.whole() + BESIDE, || {
            let mut kept = project.run(workers, threads, load)?.figures.kept();
            kept["rate"] = json!(load.rate);
            Ok(kept)
        })
    }

    fn predict(&self, cell: (u32, u32), rate: Option<f64>) -> Result<Figures, Box<dyn Error>> {
        self.project.predict(self.recorded, cell.0, cell.1, rate)
    }

    fn show(&self, (workers, threads): (u32, u32), load: &str, rows: Vec<Row>) -> Vec<f64> {
        for row in &rows {
            println!(
                "{:<6} {workers} × {threads:<2} {load:<8} {:<6}{:>11.2}{:>11.2}{:>+7.1}%",
                self.name,
                row.what,
                row.predicted,
                row.measured,
                row.error() * 100.0
            );
        }
        rows.iter().map(|row| row.error().abs()).collect()
    }
}

/// Returns the rows; throughput is a result of a closed load only, since an open load's follows
/// from the rate.
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
            "{name}: median error {:.1}% (asked: {:.0}%), worst {:.1}% (asked: {:.0}%; {} of {} figures above)",
            median * 100.0,
            MEDIAN_MAX * 100.0,
            worst * 100.0,
            WORST_MAX * 100.0,
            errors.iter().filter(|error| **error > WORST_MAX).count(),
            errors.len()
        );
    }
}

//! What a simulation says about one setting, beside what was recorded.

use serde_json::{Value, json};
use whatif::goal::Goal;
use whatif::{Load, Model, Prediction, Setup, bound};

use crate::numbers;

/// A replay farther from its own run is not to be trusted much. The project's aim is 10 % in the median.
const REPLAY_ERROR_MAX: f64 = 0.1;
/// How close nine of ten predictions came to what was then measured, as shares of it (benchmarks/whatif, 240 figures of
/// four apps on 2026-11-23).
const CLOSE: [(&str, f64); 3] = [("requests/s", 0.16), ("p50", 0.20), ("p95", 0.40)];
/// Less of an open load's rate than this means that it could not be served.
const SERVED_MIN: f64 = 0.98;

/// A setting and what the simulation saw of it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The setting.
    pub setup: Setup,
    /// What it would give.
    pub prediction: Prediction,
    /// Memory of the app's processes, bytes; 0 when the run did not tell.
    pub memory_bytes: u64,
}

impl Row {
    /// Simulates it.
    pub fn of(model: &Model, setup: &Setup) -> Row {
        Row {
            setup: *setup,
            prediction: model.predict(setup),
            memory_bytes: model.memory_of(setup.workers),
        }
    }

    /// Whether an open load's rate was above what can be served.
    pub fn overloaded(&self) -> bool {
        match self.setup.load {
            Load::Open { rate, .. } => self.prediction.rps < SERVED_MIN * rate,
            Load::Closed { .. } => false,
        }
    }

    /// As an object of JSON.
    pub fn json(&self) -> Value {
        let seen = &self.prediction;
        json!({
            "workers": self.setup.workers,
            "threads": self.setup.threads,
            "cores": self.setup.cores,
            "load": load_json(&self.setup.load),
            "rps": seen.rps,
            "latency_ms": {
                "p50": seen.latency_p50.as_millis_f64(),
                "p95": seen.latency_p95.as_millis_f64(),
                "p99": seen.latency_p99.as_millis_f64(),
                "mean": seen.latency_mean.as_millis_f64(),
            },
            "queue_ms": seen.queue_mean.as_millis_f64(),
            "gvl_wait_ms": seen.gvl_wait_mean.as_millis_f64(),
            "gvl_busy_share": seen.gvl_busy,
            "cores_busy_share": seen.cores_busy,
            "threads_busy_share": seen.threads_busy,
            "memory_bytes": (self.memory_bytes > 0).then_some(self.memory_bytes),
            "overloaded": self.overloaded(),
        })
    }
}

fn load_json(load: &Load) -> Value {
    match *load {
        Load::Closed { clients, .. } => json!({ "mode": "closed", "connections": clients }),
        Load::Open {
            rate, connections, ..
        } => json!({ "mode": "open", "rate": rate, "connections": connections }),
    }
}

/// A load in a few words.
pub fn load_words(load: &Load) -> String {
    match *load {
        Load::Closed { clients, .. } => format!("{clients} conn."),
        Load::Open { rate, .. } => format!("{}/s due", numbers::plain(rate)),
    }
}

/// One prediction with what it was made from.
#[derive(Clone, Debug)]
pub struct Forecast<'a> {
    /// The run's number.
    pub run: i64,
    /// Its command.
    pub command: &'a str,
    /// What it says.
    pub model: &'a Model,
    /// The setting asked for.
    pub row: Row,
    /// How far the replay of the run is from the run, in throughput.
    pub replay_error: f64,
    /// The goal for which workers were counted, and whether it is held.
    pub goal: Option<(Goal, bool)>,
}

impl Forecast<'_> {
    /// A page for people, at most `columns` wide.
    pub fn text(&self, columns: usize) -> String {
        let (was, is) = (&self.model.recorded, &self.row.setup);
        let (measured, seen) = (&self.model.measured, &self.row.prediction);
        let ms = |nanos: recording::Nanos| numbers::duration_ms(nanos.as_millis_f64());
        let share = numbers::share;
        let none = String::new;
        let rows = [
            ("", format!("run {}", self.run), "predicted".to_owned()),
            (
                "workers × threads",
                format!("{} × {}", was.workers, was.threads),
                format!("{} × {}", is.workers, is.threads),
            ),
            ("cores", was.cores.to_string(), is.cores.to_string()),
            ("load", load_words(&was.load), load_words(&is.load)),
            (
                "requests/s",
                numbers::plain(measured.rps),
                numbers::plain(seen.rps),
            ),
            ("p50", ms(measured.latency_p50), ms(seen.latency_p50)),
            ("p95", ms(measured.latency_p95), ms(seen.latency_p95)),
            ("p99", none(), ms(seen.latency_p99)),
            (
                "GVL wait",
                ms(measured.gvl_wait_mean),
                ms(seen.gvl_wait_mean),
            ),
            ("GVL held", none(), share(seen.gvl_busy)),
            ("cores busy", none(), share(seen.cores_busy)),
            ("threads busy", none(), share(seen.threads_busy)),
            (
                "memory",
                memory(self.model.memory_of(was.workers)),
                memory(self.row.memory_bytes),
            ),
        ];
        let mut text = String::new();
        for (name, recorded, predicted) in rows {
            text.push_str(format!("  {name:<18}{recorded:>14}{predicted:>14}").trim_end());
            text.push('\n');
        }
        for note in self.notes() {
            text.push_str(&format!("\n  {note}"));
        }
        text.push('\n');
        crate::text::fold(&text, columns)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "from {} recorded requests; the replay of run {} is {:.0}% off its throughput",
            self.model.sampled,
            self.run,
            self.replay_error * 100.0
        )];
        if self.replay_error > REPLAY_ERROR_MAX {
            notes.push(
                "! that is much: something that is not simulated takes time; trust the prediction less".to_owned(),
            );
        }
        let close = CLOSE.map(|(figure, share)| format!("{:.0}% ({figure})", share * 100.0));
        notes.push(format!(
            "how sure: nine of ten predictions of the benchmark came within {}; `hakaru tune` measures",
            close.join(", ")
        ));
        if let Some((goal, held)) = &self.goal {
            notes.push(self.capacity(goal, *held));
        }
        if self.row.overloaded() {
            notes.push(format!(
                "! more is due than can be served: about {} requests/s; the queue grows as long as the load lasts",
                numbers::plain(self.row.prediction.rps)
            ));
        }
        notes
    }

    fn capacity(&self, goal: &Goal, held: bool) -> String {
        let setup = &self.row.setup;
        let load = load_words(&setup.load);
        let shape = format!(
            "{} of {} on {}",
            numbers::counted(u64::from(setup.workers), "worker"),
            numbers::counted(u64::from(setup.threads), "thread"),
            numbers::counted(u64::from(setup.cores), "core")
        );
        if held {
            format!("{load} with {goal} needs {shape}")
        } else {
            format!("! {load} with {goal} is not held by {shape}, nor by any fewer")
        }
    }

    /// As JSON, with a line feed at its end.
    pub fn json(&self) -> String {
        let measured = &self.model.measured;
        let document = json!({
            "format": "hakaru-prediction",
            "version": 1,
            "run": self.run,
            "command": self.command,
            "recorded": {
                "workers": self.model.recorded.workers,
                "threads": self.model.recorded.threads,
                "cores": self.model.recorded.cores,
                "load": load_json(&self.model.recorded.load),
                "rps": measured.rps,
                "latency_ms": {
                    "p50": measured.latency_p50.as_millis_f64(),
                    "p95": measured.latency_p95.as_millis_f64(),
                },
                "gvl_wait_ms": measured.gvl_wait_mean.as_millis_f64(),
            },
            "predicted": self.row.json(),
            "goal": self.goal.map(|(goal, held)| json!({ "text": goal.to_string(), "met": held })),
            "bound_rps": bound::rps_max(self.model.workload(), &self.row.setup),
            "replayed_requests": self.model.sampled,
            "replay_error": self.replay_error,
            "costs_ms": costs(self.model),
        });
        format!("{document:#}\n")
    }
}

/// What a request needs, for those who want to check the prediction by hand.
fn costs(model: &Model) -> Value {
    let means = model.workload().means();
    let costs = &model.recorded.costs;
    json!({
        "gvl": means.run / 1e6,
        "waiting": means.wait / 1e6,
        "database_cpu": means.sql_cpu / 1e6,
        "generator_cpu": costs.generator.as_millis_f64(),
        "background_cpu": costs.background.as_millis_f64(),
        "turnaround": costs.turnaround.as_millis_f64(),
        "sql_stretch": costs.sql_stretch,
        "foreign_jobs": costs.foreign,
        "stolen": costs.stolen,
        "wake": costs.wake.as_millis_f64(),
        "switch": costs.switch.as_millis_f64(),
        "release": costs.release.as_millis_f64(),
    })
}

/// Bytes; a dash when they are not known.
pub fn memory(bytes: u64) -> String {
    match bytes {
        0 => numbers::UNKNOWN.to_owned(),
        bytes => numbers::bytes(bytes),
    }
}

//! Predictions of a simulation for settings, beside the recorded figures.

use figures::counted;
use serde_json::{Value, json};
use whatif::goal::Goal;
use whatif::{Load, Model, Prediction, Setup, bound};
use words::{Language, Text, text};

use figures::numbers;
use figures::text::{left, right};

/// Columns of the table.
const NAME_COLUMNS: usize = 18;
const FIGURE_COLUMNS: usize = 14;
/// Greatest error of a replay against the replayed run for a trusted prediction, as a share. The
/// project's aim is 10 % in the median.
const REPLAY_ERROR_MAX: f64 = 0.1;
/// Error of nine of ten predictions against later measurements, as shares of the measured figure
/// (benchmarks/whatif, 240 figures of four apps on 2026-11-23).
const CLOSE: [(&str, f64); 3] = [("requests/s", 0.16), ("p50", 0.20), ("p95", 0.40)];
/// Share of an open load's rate below which the rate counts as not served.
const SERVED_MIN: f64 = 0.98;

/// A setting with the predicted figures.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The setting.
    pub setup: Setup,
    /// Predicted figures of the setting.
    pub prediction: Prediction,
    /// Memory of the app's processes, bytes; 0 when unknown.
    pub memory_bytes: u64,
}

impl Row {
    /// Simulates the setup.
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

    /// Returns the row as an object of JSON.
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
pub fn load_words(load: &Load) -> Text {
    match *load {
        Load::Closed { clients, .. } => text!("{clients} conn.", clients),
        Load::Open { rate, .. } => text!("{rate}/s due", rate = numbers::plain(rate)),
    }
}

/// A prediction with the underlying model and setting.
#[derive(Clone, Debug)]
pub struct Forecast<'a> {
    /// The run's number.
    pub run: i64,
    /// Start command of the app.
    pub command: &'a str,
    /// Model of the app.
    pub model: &'a Model,
    /// The setting asked for.
    pub row: Row,
    /// Error of the replay in throughput, as a share of the run's throughput.
    pub replay_error: f64,
    /// The goal for which workers were counted, and whether the goal is met.
    pub goal: Option<(Goal, bool)>,
}

impl Forecast<'_> {
    /// A page for people, at most `columns` wide.
    pub fn text(&self, columns: usize, language: Language) -> String {
        let mut text = String::new();
        for (name, recorded, predicted) in self.rows() {
            let [name, recorded, predicted] =
                [name, recorded, predicted].map(|cell| cell.written_in(language));
            let cells = [
                left(&name, NAME_COLUMNS),
                right(&recorded, FIGURE_COLUMNS),
                right(&predicted, FIGURE_COLUMNS),
            ];
            text.push_str(format!("  {}", cells.concat()).trim_end());
            text.push('\n');
        }
        for note in self.notes() {
            text.push_str(&format!("\n  {}", note.written_in(language)));
        }
        text.push('\n');
        figures::text::fold(&text, columns)
    }

    /// A name, what was recorded, and what is predicted.
    fn rows(&self) -> [(Text, Text, Text); 13] {
        let (was, is) = (&self.model.recorded, &self.row.setup);
        let (measured, seen) = (&self.model.measured, &self.row.prediction);
        let ms = |nanos: recording::Nanos| Text::from(numbers::duration_ms(nanos.as_millis_f64()));
        let share = |part| Text::from(numbers::share(part));
        let none = Text::default;
        [
            (
                none(),
                text!("run {run}", run = self.run),
                text!("predicted"),
            ),
            (
                text!("workers × threads"),
                format!("{} × {}", was.workers, was.threads).into(),
                format!("{} × {}", is.workers, is.threads).into(),
            ),
            (
                text!("cores"),
                was.cores.to_string().into(),
                is.cores.to_string().into(),
            ),
            (text!("load"), load_words(&was.load), load_words(&is.load)),
            (
                text!("requests/s"),
                numbers::plain(measured.rps).into(),
                numbers::plain(seen.rps).into(),
            ),
            (text!("p50"), ms(measured.latency_p50), ms(seen.latency_p50)),
            (text!("p95"), ms(measured.latency_p95), ms(seen.latency_p95)),
            (text!("p99"), none(), ms(seen.latency_p99)),
            (
                text!("GVL wait"),
                ms(measured.gvl_wait_mean),
                ms(seen.gvl_wait_mean),
            ),
            (text!("GVL held"), none(), share(seen.gvl_busy)),
            (text!("cores busy"), none(), share(seen.cores_busy)),
            (text!("threads busy"), none(), share(seen.threads_busy)),
            (
                text!("memory"),
                memory(self.model.memory_of(was.workers)).into(),
                memory(self.row.memory_bytes).into(),
            ),
        ]
    }

    fn notes(&self) -> Vec<Text> {
        let mut notes = vec![text!(
            "from {count} recorded requests; the replay of run {run} is {share} off its throughput",
            count = self.model.sampled.to_string(),
            run = self.run,
            share = numbers::share(self.replay_error)
        )];
        if self.replay_error > REPLAY_ERROR_MAX {
            notes.push(text!(
                "! that is much: something that is not simulated takes time; trust the prediction less"
            ));
        }
        let close = CLOSE.map(|(figure, share)| {
            text!(
                "{share} ({figure})",
                share = numbers::share(share),
                figure = Text::named(figure)
            )
        });
        notes.push(text!(
            "how sure: nine of ten predictions of the benchmark came within {close}; `hakaru tune` measures",
            close = Text::list(close, text!(", "))
        ));
        if let Some((goal, held)) = &self.goal {
            notes.push(self.capacity(goal, *held));
        }
        if self.row.overloaded() {
            notes.push(text!(
                "! more is due than can be served: about {rate} requests/s; the queue grows as long as the load lasts",
                rate = numbers::plain(self.row.prediction.rps)
            ));
        }
        notes
    }

    fn capacity(&self, goal: &Goal, held: bool) -> Text {
        let setup = &self.row.setup;
        let load = load_words(&setup.load);
        let shape = text!(
            "{workers} of {threads} on {cores}",
            workers = counted!(u64::from(setup.workers), "worker"),
            threads = counted!(u64::from(setup.threads), "thread"),
            cores = counted!(u64::from(setup.cores), "core")
        );
        let goal = goal.to_string();
        if held {
            text!("{load} with {goal} needs {shape}", load, goal, shape)
        } else {
            text!(
                "! {load} with {goal} is not held by {shape}, nor by any fewer",
                load,
                goal,
                shape
            )
        }
    }

    /// Returns the forecast as JSON, with a line feed at the end.
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

/// Costs of a request, for people who check the prediction by hand.
fn costs(model: &Model) -> Value {
    let means = model.workload().means();
    let costs = &model.recorded.costs;
    json!({
        "gvl": means.run / 1e6,
        "waiting": means.wait / 1e6,
        "database_cpu": means.sql_cpu / 1e6,
        "generator_cpu": costs.generator.as_millis_f64(),
        "asked_cpu": costs.asked.as_millis_f64(),
        "turnaround": costs.turnaround.as_millis_f64(),
        "sql_stretch": costs.sql_stretch,
        "foreign_jobs": costs.foreign,
        "stolen": costs.stolen,
        "wake": costs.wake.as_millis_f64(),
        "switch": costs.switch.as_millis_f64(),
        "release": costs.release.as_millis_f64(),
    })
}

/// Bytes for people; a dash for an unknown size.
pub fn memory(bytes: u64) -> String {
    match bytes {
        0 => numbers::UNKNOWN.to_owned(),
        bytes => numbers::bytes(bytes),
    }
}

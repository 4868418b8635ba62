//! One app under more and more connections: how throughput, latency, CPU and memory follow.

use breakdown::Breakdown;
use figures::counted;
use recording::{ProcessRole, Recording};
use serde_json::{Value, json};
use words::{Language, Phrase, Text, phrase, text};

use crate::facts::{self, Percentiles};

use crate::{View, html};
use figures::numbers;
use figures::text::{COLUMNS, Column, fold, left, table, width};

/// Throughput must grow by so much from the best so far, or connections only wait longer. Above the
/// scatter of two short runs on a quiet host.
const GROWTH_MIN: f64 = 0.05;
/// So many steps without growth end a sweep: one alone may be chance.
const FLAT_STEPS: usize = 2;
/// Width of the longest bar, in columns.
const BAR_COLUMNS: usize = 24;

/// One number of connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Connections of the closed load.
    pub connections: u32,
    /// Number of the run, when stored.
    pub run: Option<i64>,
    /// Requests answered a second.
    pub rps: Option<f64>,
    /// Due → answered, milliseconds: p50, p95, p99.
    pub latency_ms: [Option<f64>; 3],
    /// Errors and failed checks.
    pub failed: u64,
    /// Cores used by app, database, and generator; `None` for one not observed on the host.
    pub cores: [Option<f64>; 3],
    /// Most memory of the app's processes together, bytes; shared pages count once where the kernel
    /// reports shares.
    pub memory_bytes: Option<u64>,
}

/// Why a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All steps were measured.
    Complete,
    /// Throughput no longer grew.
    Saturated,
    /// Ctrl-C.
    Interrupted,
}

/// The steps, in order of the number of connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Command of the app; empty for an app running already.
    pub command: String,
    /// Results of the steps.
    pub steps: Vec<Step>,
    /// Reason of the sweep's end.
    pub ended: Ended,
    /// Numbers of connections planned and not measured.
    pub left_out: Vec<u32>,
    /// Reasons to distrust the numbers, one sentence each.
    pub notes: Vec<Text>,
}

impl Step {
    /// Returns the step of one run.
    pub fn of(recording: &Recording, breakdown: &Breakdown, run: Option<i64>) -> Step {
        let overall = &breakdown.overall;
        let percentiles = Percentiles::of(&overall.latency);
        let view = View {
            number: run,
            recording,
            breakdown,
            findings: &[],
            revision: None,
        };
        let used = facts::host_use(recording);
        let cores = |role: ProcessRole| {
            let of_role = used.as_ref()?.roles.iter().find(|one| one.role == role);
            of_role.map(|one| one.cores)
        };
        Step {
            connections: recording.meta.load.connections,
            run,
            rps: facts::answered_per_second(&view),
            latency_ms: [percentiles.p50, percentiles.p95, percentiles.p99],
            failed: overall.errors + overall.checks_failed,
            cores: [
                ProcessRole::App,
                ProcessRole::Database,
                ProcessRole::Generator,
            ]
            .map(cores),
            memory_bytes: memory(recording),
        }
    }
}

fn memory(recording: &Recording) -> Option<u64> {
    let samples = recording.host.iter();
    let inside = samples.filter(|sample| recording.window.contains(sample.at));
    let of_app = inside.map(|sample| {
        let app = sample
            .processes
            .iter()
            .filter(|process| process.role == ProcessRole::App);
        app.map(|process| process.pss.unwrap_or(process.rss)).sum()
    });
    of_app.max().filter(|bytes| *bytes > 0)
}

/// Whether the last steps brought no more throughput than the steps before.
pub fn is_saturated(steps: &[Step]) -> bool {
    let Some(flat_from) = steps.len().checked_sub(FLAT_STEPS).filter(|from| *from > 0) else {
        return false;
    };
    let (before, last) = steps.split_at(flat_from);
    let best = before
        .iter()
        .filter_map(|step| step.rps)
        .fold(0.0, f64::max);
    last.iter()
        .all(|step| step.rps.unwrap_or(0.0) < best * (1.0 + GROWTH_MIN))
}

impl Sweep {
    /// Returns the step with the fewest connections at the best throughput, up to chance.
    pub fn knee(&self) -> Option<&Step> {
        let best = self
            .steps
            .iter()
            .filter_map(|step| step.rps)
            .fold(0.0, f64::max);
        let enough = |step: &&Step| step.rps.is_some_and(|rps| rps * (1.0 + GROWTH_MIN) >= best);
        self.steps.iter().find(enough).filter(|_| best > 0.0)
    }

    /// In a sentence or two.
    fn verdict(&self) -> Text {
        let Some(knee) = self.knee() else {
            return text!("nothing was answered");
        };
        let rps = knee
            .rps
            .map_or_else(|| numbers::UNKNOWN.to_owned(), numbers::plain);
        let more = match self.ended {
            Ended::Saturated => phrase!("more connections only wait longer"),
            Ended::Complete if self.steps.last() == Some(knee) => {
                phrase!("it was still growing; try more connections")
            }
            Ended::Complete => phrase!("more connections brought no more"),
            Ended::Interrupted => phrase!("interrupted; more connections were not tried"),
        };
        text!(
            "{rps} requests/s from {connections} on; {more}",
            rps,
            connections = counted!(u64::from(knee.connections), "connection"),
            more
        )
    }

    /// Returns the sweep as JSON, format `hakaru-sweep`, version 1, with a line feed at the end.
    pub fn json(&self) -> String {
        format!("{:#}\n", self.document(Language::English))
    }

    fn document(&self, language: Language) -> Value {
        let steps: Vec<Value> = self.steps.iter().map(Step::json).collect();
        let knee = self.knee().map(|step| step.connections);
        json!({
            "format": "hakaru-sweep",
            "version": 1,
            "command": self.command,
            "verdict": self.verdict().written_in(language),
            "ended": match self.ended {
                Ended::Complete => "complete",
                Ended::Saturated => "saturated",
                Ended::Interrupted => "interrupted",
            },
            "knee_connections": knee,
            "left_out": self.left_out,
            "notes": self.notes.iter().map(|note| note.written_in(language)).collect::<Vec<_>>(),
            "steps": steps,
        })
    }

    /// Returns the sweep as one HTML file, complete without a network.
    pub fn html(&self, language: Language) -> String {
        html::page(
            &self.document(language).to_string(),
            &self.text(COLUMNS, language),
            language,
        )
    }

    /// A table with a curve for a terminal, at most `columns` wide.
    pub fn text(&self, columns: usize, language: Language) -> String {
        let names = HEADS.map(|(name, _)| name.written_in(language));
        let heads: Vec<Column<'_>> = (names.iter().zip(HEADS))
            .map(|(name, (_, drop))| Column::figure(name, drop))
            .collect();
        let bar_head = BAR_HEAD.written_in(language);
        let rows: Vec<Vec<String>> = (self.steps.iter())
            .map(|step| step.cells().to_vec())
            .collect();
        let lines = table(&heads, &rows, columns);
        let widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
        let room = columns.saturating_sub(widest + 2).min(BAR_COLUMNS);
        let rates = self.steps.iter().filter_map(|step| step.rps);
        let best = rates.fold(f64::MIN_POSITIVE, f64::max);
        let shares = (self.steps.iter()).map(|step| step.rps.unwrap_or(0.0) / best);
        let bars = [bar_head.clone()].into_iter();
        let bars = bars.chain(shares.map(|share| bar(share, room)));
        let mut text = String::new();
        for (line, bar) in lines.iter().zip(bars) {
            let bar = if room < width(&bar_head) { "" } else { &bar };
            text += format!("{}  {bar}", left(line, widest)).trim_end();
            text.push('\n');
        }
        let verdict = text!(
            "{verdict}; app, db and gen are cores in use",
            verdict = self.verdict()
        );
        text += &format!("\n{}\n", verdict.written_in(language));
        if self.ended == Ended::Saturated && !self.left_out.is_empty() {
            let left_out: Vec<String> = self.left_out.iter().map(u32::to_string).collect();
            let left_out = text!(
                "{connections} connections were left out, since throughput had stopped growing; --all measures them",
                connections = left_out.join(", ")
            );
            text += &(left_out.written_in(language) + "\n");
        }
        let notes = self.notes.iter().map(|note| note.written_in(language));
        text.extend(notes.map(|note| format!("! {note}\n")));
        fold(&text, columns)
    }
}

/// Heads of the columns, with the order in which columns are left out.
const HEADS: [(Phrase, u8); 10] = [
    (phrase!("connections"), 0),
    (phrase!("rps"), 0),
    (phrase!("p50"), 0),
    (phrase!("p95"), 0),
    (phrase!("p99"), 1),
    (phrase!("failed"), 0),
    (phrase!("app"), 2),
    (phrase!("db"), 3),
    (phrase!("gen"), 5),
    (phrase!("memory"), 4),
];
const BAR_HEAD: Phrase = phrase!("requests/s");

/// Bar in eighths of a column, so that small steps are visible.
fn bar(share: f64, columns: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

impl Step {
    fn cells(&self) -> [String; 10] {
        let known =
            |value: Option<f64>| value.map_or_else(|| numbers::UNKNOWN.to_owned(), numbers::plain);
        let [p50, p95, p99] = self.latency_ms.map(numbers::duration_ms_or_unknown);
        let [app, database, generator] = self.cores.map(known);
        let memory = self
            .memory_bytes
            .map_or_else(|| numbers::UNKNOWN.to_owned(), numbers::bytes);
        [
            self.connections.to_string(),
            known(self.rps),
            p50,
            p95,
            p99,
            numbers::count(self.failed),
            app,
            database,
            generator,
            memory,
        ]
    }

    fn json(&self) -> Value {
        let [p50, p95, p99] = self.latency_ms;
        let [app, database, generator] = self.cores;
        json!({
            "connections": self.connections,
            "run": self.run,
            "rps": self.rps,
            "latency_ms": { "p50": p50, "p95": p95, "p99": p99 },
            "failed": self.failed,
            "cores": { "app": app, "database": database, "generator": generator },
            "memory_bytes": self.memory_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(connections: u32, rps: f64) -> Step {
        Step {
            connections,
            rps: Some(rps),
            latency_ms: [Some(1_000.0 * f64::from(connections) / rps), None, None],
            cores: [Some(0.5), Some(0.0), None],
            memory_bytes: Some(50 << 20),
            ..Step::default()
        }
    }

    fn sweep(steps: &[(u32, f64)], ended: Ended) -> Sweep {
        Sweep {
            command: "puma".to_owned(),
            steps: steps
                .iter()
                .map(|(connections, rps)| step(*connections, *rps))
                .collect(),
            ended,
            left_out: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn two_flat_steps_are_saturation() {
        let check = |rps: &[f64], expected: bool| {
            let steps: Vec<Step> = rps.iter().map(|rps| step(1, *rps)).collect();
            assert_eq!(is_saturated(&steps), expected, "{rps:?}");
        };
        check(&[], false);
        check(&[100.0, 100.0], false);
        check(&[100.0, 200.0, 204.0], false);
        check(&[100.0, 200.0, 204.0, 190.0], true);
        check(&[100.0, 200.0, 204.0, 240.0], false);
        check(&[100.0, 0.0, 0.0], true);
    }

    #[test]
    fn the_knee_is_the_first_that_is_good_enough() {
        let steps = [(1, 100.0), (10, 580.0), (20, 600.0), (50, 590.0)];
        let found = sweep(&steps, Ended::Saturated);
        assert_eq!(found.knee().map(|step| step.connections), Some(10));
        assert_eq!(
            found.verdict(),
            "580 requests/s from 10 connections on; more connections only wait longer"
        );
        let growing = sweep(&[(1, 100.0), (10, 900.0)], Ended::Complete);
        assert!(
            growing
                .verdict()
                .to_string()
                .ends_with("try more connections")
        );
        assert_eq!(
            sweep(&[], Ended::Interrupted).verdict(),
            "nothing was answered"
        );
    }

    #[test]
    fn the_table_has_a_curve() {
        let text =
            sweep(&[(1, 100.0), (10, 800.0)], Ended::Complete).text(COLUMNS, Language::English);
        let lines: Vec<&str> = text.lines().collect();
        let expected = [
            "connections  rps      p50  p95  p99  failed   app    db  gen    memory  requests/s",
            "          1  100  10.0 ms    –    –       0  0.50  0.00    –  50.0 MiB  ███",
            "         10  800  12.5 ms    –    –       0  0.50  0.00    –  50.0 MiB  ████████████████████████",
        ];
        assert_eq!(lines[..3], expected);
    }

    #[test]
    fn the_table_fits_every_terminal() {
        let mut sweep = sweep(&[(1, 100.0), (10_000, 12_345.0)], Ended::Complete);
        for step in &mut sweep.steps {
            step.latency_ms = [Some(999.0), Some(35_999.0), Some(59_999.0)];
            step.cores = [Some(99.5); 3];
            step.failed = u64::MAX;
        }
        crate::samples::check_widths(|columns| sweep.text(columns, Language::English));
        assert!(sweep.text(80, Language::English).contains("p95"));
    }

    #[test]
    fn what_was_left_out_is_said() {
        let steps = [(1, 100.0), (2, 100.0), (5, 100.0)];
        let mut sweep = sweep(&steps, Ended::Saturated);
        assert!(!sweep.text(COLUMNS, Language::English).contains("left out"));
        sweep.left_out = vec![10, 20];
        sweep.notes = vec!["all of them are redirects".into()];
        let text = sweep.text(COLUMNS, Language::English);
        assert!(text.contains("10, 20 connections were left out"), "{text}");
        assert!(text.ends_with("! all of them are redirects\n"), "{text}");
        assert!(text.contains("from 1 connection on;"), "{text}");
    }

    #[test]
    fn the_page_holds_the_document() {
        let sweep = sweep(&[(1, 100.0), (10, 800.0)], Ended::Complete);
        assert!(
            sweep
                .html(Language::English)
                .contains("\"format\":\"hakaru-sweep\"")
        );
        let json: Value = serde_json::from_str(&sweep.json()).expect("JSON");
        assert_eq!(json["steps"][1]["cores"]["app"], 0.5);
        assert_eq!(json["knee_connections"], 10);
    }
}

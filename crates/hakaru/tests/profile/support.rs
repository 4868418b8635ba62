//! Runs a Ruby program under `hakaru profile` and reads the JSON, and the program's own
//! measurements.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tempfile::TempDir;

/// One at a time: shares of time are measured, and there may be but two cores.
static ALONE: Mutex<()> = Mutex::new(());

/// Ruby lines before every program: `timed(name) { … }` adds up the time of the block under a name,
/// and all sums are written when the program ends.
const PRELUDE: &str = r#"
require "json"
TRUTH = Hash.new(0.0)
TRUTH_LOCK = Mutex.new
def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
def told(name, amount) = TRUTH_LOCK.synchronize { TRUTH[name] += amount }
def timed(name)
  begun = now
  yield
ensure
  told(name, (now - begun) * 1000)
end
def spin(seconds)
  ends = now + seconds
  x = 0
  100.times { x += 1 } while now < ends
end
PARENT = Process.pid
at_exit { File.write("truth.json", JSON.generate(TRUTH)) if Process.pid == PARENT }
"#;

/// A program's folder, and the lock for running alone.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// Profile and output of a program.
pub(crate) struct Seen {
    pub(crate) json: Value,
    truth: Value,
}

impl Place {
    pub(crate) fn new(program: &str) -> Place {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = format!("{PRELUDE}{program}");
        std::fs::write(folder.path().join("program.rb"), text).expect("the program is written");
        Place {
            folder,
            _alone: alone,
        }
    }

    /// A copy of an example app.
    pub(crate) fn of_app(name: &str) -> Place {
        let place = Place::new("");
        let apps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps");
        let copied = Command::new("cp")
            .arg("-r")
            .args([&apps.join(name).join("."), place.folder.path()])
            .status();
        assert!(copied.expect("cp runs").success());
        place
    }

    /// Runs `hakaru` with the arguments in the program's folder.
    pub(crate) fn hakaru(&self, arguments: &[&str]) -> Output {
        hakaru(self.folder.path(), arguments)
    }

    /// Profiles the program, which must end well.
    pub(crate) fn profile(&self, options: &[&str]) -> Seen {
        let mut arguments = vec!["profile", "--json"];
        arguments.extend(options);
        arguments.extend(["--", "ruby", "program.rb"]);
        let output = self.hakaru(&arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let truth = std::fs::read(self.folder.path().join("truth.json")).unwrap_or_default();
        let json: Value =
            serde_json::from_slice(&output.stdout).expect("JSON and nothing after it");
        check_valid(&json);
        Seen {
            json,
            truth: serde_json::from_slice(&truth).unwrap_or_default(),
        }
    }
}

pub(crate) fn hakaru(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("hakaru runs")
}

/// Asserts the invariants of every profile.
fn check_valid(json: &Value) {
    let sum = |rows: &Value, key: &str| -> f64 {
        let rows = rows.as_array().expect("a table").iter();
        rows.map(|row| row[key].as_f64().unwrap_or_default()).sum()
    };
    let own = sum(&json["self"], "share");
    assert!((0.99..=1.001).contains(&own), "self shares add up to {own}");
    let states: f64 = json["states"]
        .as_object()
        .expect("states")
        .values()
        .map(|state| state["share"].as_f64().unwrap_or_default())
        .sum();
    assert!((states - 1.0).abs() < 1e-6, "states add up to {states}");
    for row in json["inclusive"].as_array().expect("a table") {
        assert!(row["share"].as_f64().unwrap_or(2.0) <= 1.0 + 1e-9, "{row}");
        assert_ne!(row["frame"], "(unknown)", "a frame was lost");
    }
    // A tick that meets the job at work is lost; its time goes to the next.
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    let (dropped, samples) = (number(&json["cost"]["dropped"]), number(&json["samples"]));
    assert!(
        dropped <= 1 + samples / 100,
        "{dropped} of {samples} were lost"
    );
}

impl Seen {
    /// Milliseconds measured by the program under the name.
    #[track_caller]
    pub(crate) fn truth(&self, name: &str) -> f64 {
        self.truth[name]
            .as_f64()
            .unwrap_or_else(|| panic!("the program told no {name}: {}", self.truth))
    }

    /// Milliseconds of the method with all callees.
    pub(crate) fn inclusive(&self, method: &str) -> f64 {
        self.row("inclusive", method, "ms")
    }

    /// Milliseconds of the method's own.
    pub(crate) fn own(&self, method: &str) -> f64 {
        self.row("self", method, "ms")
    }

    pub(crate) fn row(&self, table: &str, method: &str, key: &str) -> f64 {
        let rows = self.json[table].as_array().expect("a table").iter();
        rows.filter(|row| row["frame"] == method)
            .map(|row| row[key].as_f64().unwrap_or_default())
            .sum()
    }

    /// Milliseconds in the state.
    pub(crate) fn state(&self, name: &str) -> f64 {
        self.json["states"][name]["ms"].as_f64().unwrap_or_default()
    }

    /// Asserts the methods' shares of the methods' sum as measured by the program, within two
    /// points at the full rate.
    #[track_caller]
    #[expect(
        clippy::print_stdout,
        reason = "what was measured stands beside what is known"
    )]
    pub(crate) fn check_shares(&self, methods: &[&str]) {
        let seen: Vec<f64> = methods
            .iter()
            .map(|method| self.inclusive(method))
            .collect();
        let true_ones: Vec<f64> = methods.iter().map(|method| self.truth(method)).collect();
        let (seen_sum, true_sum): (f64, f64) = (seen.iter().sum(), true_ones.iter().sum());
        let number = |key: &str| self.json[key].as_f64().unwrap_or_default();
        let wanted = number("duration_s") * 1e6 / number("interval_us").max(1.0);
        // Where the host held back a tenth of the ticks, each that came late stands for much time
        // at once.
        let bound = if number("samples") > 0.9 * wanted {
            0.02
        } else {
            0.05
        };
        for (index, method) in methods.iter().enumerate() {
            let (seen, truth) = (seen[index] / seen_sum, true_ones[index] / true_sum);
            println!("{method}: share {seen:.4}, known {truth:.4}");
            assert!(
                (seen - truth).abs() <= bound,
                "{method}: seen {seen:.3}, in truth {truth:.3}; {} samples",
                self.json["samples"]
            );
        }
        assert!(
            (seen_sum / true_sum - 1.0).abs() <= 0.05,
            "seen {seen_sum} ms of {true_sum} ms"
        );
    }

    /// A state's time is what the program measured, within five parts in a hundred and a few ticks.
    #[track_caller]
    pub(crate) fn check_state(&self, state: &str, truth: f64) {
        const FEW_TICKS_MS: f64 = 20.0;
        let seen = self.state(state);
        assert!(
            (seen - truth).abs() <= truth * 0.05 + FEW_TICKS_MS,
            "{state}: seen {seen} ms, in truth {truth} ms; {}",
            self.json["states"]
        );
    }
}

//! What is run on a row: the tests of what happens inside Ruby, with the row's programs first in
//! `PATH`, and the cost.

use std::env;
use std::ffi::OsString;
use std::process::Command;
use std::time::Instant;

use super::names::Server;
use super::rows::Row;
use crate::run::{Outcome, cargo, run as run_command, target_folder};
use crate::tally::result;

/// One kind of check: the name in the table, and the tests.
struct Check {
    column: usize,
    package: &'static str,
    program: &'static str,
    tests: &'static [&'static str],
    /// Needs a Ruby with events of threads waiting for the GVL.
    needs_events: bool,
    needs_mysql2: bool,
    /// Is about Puma's own methods, or about threads beside each other.
    needs_puma: bool,
}

/// Columns of the table between mode and cost.
pub(super) const COLUMNS: [&str; 7] = [
    "known parts",
    "GVL wait",
    "SQL",
    "profile",
    "threads, live",
    "fork, cluster",
    "requests",
];

const INSIDE: Check = Check {
    column: 0,
    package: "hakaru-capture",
    program: "inside",
    tests: &[],
    needs_events: false,
    needs_mysql2: false,
    needs_puma: false,
};

const CHECKS: [Check; 9] = [
    Check {
        program: "parts",
        tests: &["each_known_part_is_shown"],
        needs_events: true,
        ..INSIDE
    },
    Check {
        column: 1,
        program: "parts",
        tests: &["gvl_wait_is_what_queueing_theory_says"],
        needs_events: true,
        needs_puma: true,
        ..INSIDE
    },
    Check {
        column: 2,
        tests: &["calls::sqlite_calls", "calls::prepared_sqlite"],
        ..INSIDE
    },
    Check {
        column: 2,
        tests: &["calls::mysql_calls"],
        needs_events: true,
        needs_mysql2: true,
        ..INSIDE
    },
    Check {
        column: 3,
        package: "hakaru",
        program: "profile",
        tests: &[
            "known::two_methods_share_the_time",
            "known::methods_in_c_are_seen",
            "known::waits_are_named_and_measured",
        ],
        needs_events: true,
        ..INSIDE
    },
    Check {
        column: 4,
        tests: &["live::a_single_puma", "live::a_worker_of_a_cluster"],
        needs_puma: true,
        ..INSIDE
    },
    Check {
        column: 5,
        tests: &["agent::a_cluster_survives_fork"],
        ..INSIDE
    },
    Check {
        column: 6,
        tests: &[
            "agent::requests_that_a_client_leaves_out",
            "agent::the_app_sees_nothing",
            "agent::pauses_of_the_host",
            "agent::threads_that_share_native_ones",
        ],
        ..INSIDE
    },
    Check {
        column: 6,
        tests: &[
            "agent::a_thousand_requests",
            "agent::another_gem_may_replace",
        ],
        needs_events: true,
        needs_puma: true,
        ..INSIDE
    },
];

/// What came of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// Largest relative deviation of a figure from the known value.
    pub(super) deviation: Option<f64>,
    /// Largest deviation of a share of the whole from the known share.
    pub(super) share_off: Option<f64>,
    /// Undecided tests, without a core to themselves; measurements made before giving up are in
    /// `deviation`.
    pub(super) undecided: u64,
    /// Number of runs until the tests held.
    pub(super) tries: u32,
}

/// What came of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RowResult {
    pub(super) cells: [Cell; COLUMNS.len()],
    /// CPU added to a request by the agent, microseconds: median, and the ends of the interval.
    pub(super) cost_us: Option<[f64; 3]>,
    /// Seconds until all of the row was known, the building of the tests not included.
    pub(super) took_s: f64,
}

/// Greatest allowed cost of the agent per request, microseconds of CPU.
const COST_US_MAX: f64 = 2.0;

impl RowResult {
    /// Whether no check failed. A cost counts as too high only where its whole interval is.
    pub(super) fn held(&self) -> bool {
        let is_cheap = self.cost_us.is_none_or(|[_, low, _]| low <= COST_US_MAX);
        is_cheap && self.cells.iter().all(|cell| cell.failed == 0)
    }
}

/// Runs all checks supported by the row's Ruby; output of failed ones goes to stderr.
pub(super) fn run(
    row: &Row,
    boots: u32,
    name_servers: &dyn Fn(&mut Command),
) -> Outcome<RowResult> {
    let begun = Instant::now();
    let folder = row.write_programs()?;
    let mut folders = vec![folder.clone()];
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let path = env::join_paths(folders).map_err(|error| error.to_string())?;
    let prepare = |command: &mut Command| {
        name_servers(command);
        command
            .env("PATH", &path)
            .env("HAKARU_TEST_PUMA", folder.join("puma"));
        if !row.has_mysql2 {
            command.env("HAKARU_TEST_DRIVER", "sqlite3");
        }
    };
    let mut found = RowResult::default();
    for check in &CHECKS {
        let can = [
            row.has_events || !check.needs_events,
            row.has_mysql2 || !check.needs_mysql2,
            row.server == Server::Puma || !check.needs_puma,
        ];
        if !can.contains(&false) {
            add(&mut found.cells[check.column], &tried(check, &prepare)?);
        }
    }
    if row.server == Server::Puma {
        found.cost_us = cost(boots, &path)?;
    }
    found.took_s = begun.elapsed().as_secs_f64();
    Ok(found)
}

/// Most runs of a check. The tests measure time, and the machine may be shared: as `bin/test`
/// does, what failed is run again.
const TRIES_MAX: u32 = 3;

fn tried(check: &Check, prepare: &dyn Fn(&mut Command)) -> Outcome<Cell> {
    let mut cell = Cell::default();
    for tries in 1..=TRIES_MAX {
        let output = output_of_test(check, prepare)?;
        cell = Cell {
            tries,
            ..read(&output)
        };
        if cell.failed == 0 && cell.passed + cell.undecided > 0 {
            break;
        }
        eprintln!("{output}");
    }
    Ok(cell)
}

fn add(cell: &mut Cell, more: &Cell) {
    cell.passed += more.passed;
    cell.undecided += more.undecided;
    cell.tries = cell.tries.max(more.tries);
    // A program that ends before its first result has failed too.
    let results = more.passed + more.undecided + more.failed;
    cell.failed += more.failed.max(u64::from(results == 0));
    cell.deviation = larger(cell.deviation, more.deviation);
    cell.share_off = larger(cell.share_off, more.share_off);
}

fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    [one, other].into_iter().flatten().reduce(f64::max)
}

fn output_of_test(check: &Check, prepare: &dyn Fn(&mut Command)) -> Outcome<String> {
    let mut command = cargo(&[
        "test",
        "--quiet",
        "--package",
        check.package,
        "--test",
        check.program,
    ]);
    command
        .args(["--", "--nocapture", "--test-threads", "1"])
        .args(check.tests);
    prepare(&mut command);
    both(&mut command)
}

/// Builds the checks' programs before the first row, whose time would include the building.
pub(super) fn build() -> Outcome<()> {
    for words in [
        &["test", "--no-run", "--package", "hakaru-capture"][..],
        &[
            "test",
            "--no-run",
            "--package",
            "hakaru",
            "--test",
            "profile",
        ],
        &["build", "--package", "hakaru-bench"],
    ] {
        run_command(&mut cargo(words))?;
    }
    Ok(())
}

fn both(command: &mut Command) -> Outcome<String> {
    let output = command
        .output()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(text(&output.stdout) + &text(&output.stderr))
}

/// Message of a test measuring waits against nominal figures on a busy machine.
const BUSY: &str = "this host gave no core to itself";

fn read(output: &str) -> Cell {
    let mut cell = Cell::default();
    let busy = output.lines().filter(|line| line.starts_with(BUSY)).count() as u64;
    for line in output.lines() {
        if let Some((passed, failed)) = result(line) {
            cell.passed += passed;
            cell.failed += failed;
        }
        cell.deviation = larger(cell.deviation, deviation(line));
        cell.share_off = larger(cell.share_off, share_off(line));
    }
    cell.undecided = busy.min(cell.failed);
    cell.failed -= cell.undecided;
    cell
}

/// Reads `sleep: 7.081 ms, known 7.079 ms`. Figures by nominal parts hold what the host took from
/// them.
fn deviation(line: &str) -> Option<f64> {
    let (name, rest) = line.split_once(": ")?;
    let (measured, known) = rest.split_once(" ms, known ")?;
    let (measured, known): (f64, f64) = (
        measured.parse().ok()?,
        known.strip_suffix(" ms")?.parse().ok()?,
    );
    (!name.ends_with("nominal parts")).then(|| (measured - known).abs() / known)
}

/// Reads `Object#seventy: share 0.7030, known 0.7001`.
fn share_off(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once(": share ")?;
    let (measured, known) = rest.split_once(", known ")?;
    let (measured, known): (f64, f64) = (measured.parse().ok()?, known.parse().ok()?);
    Some((measured - known).abs())
}

/// Runs the benchmark of the agent's cost, small. Its server's CPU is measured, which the pace of
/// the client does not change.
fn cost(boots: u32, path: &OsString) -> Outcome<Option<[f64; 3]>> {
    let mut command = cargo(&["run", "--quiet", "--package", "hakaru-bench", "--", "agent"]);
    command
        .args([
            "--case",
            "hello, puma -t 5:5",
            "--boots",
            &boots.to_string(),
        ])
        .env("PATH", path)
        .env("HAKARU_BENCH_KEPT", target_folder().join("bench"));
    let output = both(&mut command)?;
    let cost = output.lines().find_map(added_cpu);
    if cost.is_none() {
        eprintln!("{output}");
    }
    Ok(cost)
}

/// Reads `added CPU a request on side B, µs   0.553  95 % interval 0.401 – 0.702  asked …`.
fn added_cpu(line: &str) -> Option<[f64; 3]> {
    let rest = line
        .trim()
        .strip_prefix("added CPU a request on side B, µs")?;
    let (median, rest) = rest.split_once("95 % interval")?;
    let (low, rest) = rest.split_once('–')?;
    let high = rest.split_whitespace().next()?;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    Some([number(median)?, number(low)?, number(high)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_what_the_tests_print() {
        let output = "running 2 tests\nsleep: 7.0 ms, known 7.0 ms\nlock: 4.2 ms, known 4.0 ms\n\
            gvl_wait by its nominal parts: 9 ms, known 5 ms\ntest result: ok. 2 passed; 0 failed; 0 ignored\n";
        let cell = read(output);
        assert_eq!((cell.passed, cell.failed), (2, 0));
        assert!((cell.deviation.unwrap() - 0.05).abs() < 1e-9);
        let cell = read("Object#a: share 0.7030, known 0.7001\nObject#b: share 0.30, known 0.31");
        assert!((cell.share_off.unwrap() - 0.01).abs() < 1e-9);
        let line = "  added CPU a request on side B, µs         0.553  95 % interval 0.401 – 0.702  asked ≤ 2: met";
        assert_eq!(added_cpu(line), Some([0.553, 0.401, 0.702]));
    }

    #[test]
    fn a_busy_host_is_no_failure_and_its_measured_parts_count() {
        let output = "gvl_wait by its measured parts: 11 ms, known 10 ms\n\
            this host gave no core to itself in 5 tries; stop what else runs on it\n\
            test result: FAILED. 0 passed; 1 failed; 0 ignored\n";
        let cell = read(output);
        assert_eq!((cell.failed, cell.undecided), (0, 1));
        assert!((cell.deviation.unwrap() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn an_undecided_test_is_no_failure_of_its_column() {
        let mut cell = Cell::default();
        let undecided = Cell {
            undecided: 1,
            ..Cell::default()
        };
        add(&mut cell, &undecided);
        assert_eq!((cell.failed, cell.undecided), (0, 1));
    }

    #[test]
    fn a_program_that_ran_no_test_has_failed() {
        let mut cell = Cell::default();
        add(&mut cell, &read("error: could not compile"));
        assert_eq!(cell.failed, 1);
    }
}

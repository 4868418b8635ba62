//! Counting what test programs say: passed, failed, and what failed only once.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::run::{Outcome, show};

/// So many failed tests are tried once more: the host may have been busy with something else when they measured. More
/// of them is no accident.
const TRIED_AGAIN_MAX: usize = 3;

/// Passed and failed tests, and steps that failed without being tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    pub(crate) troubles: Vec<String>,
    /// Of the failed ones, as cargo names them.
    failures: Vec<String>,
    /// Programs that began to test, and those that told a result: who crashed is in the first only.
    begun: u64,
    ended: u64,
    /// Passed only when they were run again, alone.
    second: Vec<String>,
}

impl Tally {
    pub(crate) fn step(&mut self, name: &str, outcome: Outcome<()>) {
        match outcome {
            Ok(()) => eprintln!("test: {name}: ok"),
            Err(message) => self.troubles.push(format!("{name}: {message}")),
        }
    }

    /// Runs tests by the command for all of them, and what failed of them once more, by the command for these.
    pub(crate) fn watch_twice(&mut self, command: impl Fn(&[String]) -> Command) {
        let mut first = Tally::default();
        first.watch(&mut command(&[]));
        let failures = &first.failures;
        let told = failures.len() as u64 == first.failed && first.begun == first.ended;
        if told && (1..=TRIED_AGAIN_MAX).contains(&failures.len()) {
            eprintln!("test: once more, alone: {}", failures.join(", "));
            let mut again = Tally::default();
            again.watch(&mut command(failures));
            if again.troubles.is_empty() && again.passed >= first.failed {
                self.passed += first.passed + first.failed;
                self.second.append(&mut first.failures);
                return;
            }
        }
        self.passed += first.passed;
        self.failed += first.failed;
        self.troubles.append(&mut first.troubles);
    }

    /// Runs a test program, shows what it prints and counts its results.
    pub(crate) fn watch(&mut self, command: &mut Command) {
        let before = self.clone();
        if let Err(message) = self.follow(command) {
            self.troubles.push(message);
        } else if self.passed == before.passed && self.failed == before.failed {
            self.troubles
                .push(format!("`{}` ran no test", show(command)));
        }
    }

    fn follow(&mut self, command: &mut Command) -> Outcome<()> {
        let shown = show(command);
        let trouble = |error: io::Error| format!("`{shown}`: {error}");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(trouble)?;
        let output = child.stdout.take().map(BufReader::new);
        for line in output
            .into_iter()
            .flat_map(BufRead::lines)
            .map_while(Result::ok)
        {
            println!("{line}");
            self.failures.extend(cargo_failure(&line));
            self.begun += u64::from(is_beginning(&line));
            self.ended += u64::from(cargo_result(&line).is_some());
            if let Some((passed, failed)) = cargo_result(&line).or_else(|| minitest_result(&line)) {
                self.passed += passed;
                self.failed += failed;
            }
        }
        let status = child.wait().map_err(trouble)?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("`{shown}` ended with {status}"))
        }
    }

    pub(crate) fn verdict(&self) -> Outcome<()> {
        let _ = io::stdout().flush();
        self.troubles
            .iter()
            .for_each(|trouble| eprintln!("test: {trouble}"));
        // A step that is no test, or a test program that crashed, counts as one failure.
        let failed = self.failed.max(self.troubles.len() as u64);
        for name in &self.second {
            println!("failed, and passed when it was run again alone: {name}");
        }
        println!("{} passed, {failed} failed", self.passed);
        if failed == 0 {
            Ok(())
        } else {
            Err("something failed, see above".to_owned())
        }
    }
}

/// Reads `test name ... FAILED`.
fn cargo_failure(line: &str) -> Option<String> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(name.to_owned())
}

/// Whether it is `running 3 tests`.
fn is_beginning(line: &str) -> bool {
    line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test"))
}

/// Reads `test result: ok. 3 passed; 1 failed; 0 ignored; …`.
fn cargo_result(line: &str) -> Option<(u64, u64)> {
    let counts = line.strip_prefix("test result: ")?;
    let (_, counts) = counts.split_once(". ")?;
    let count = |name: &str| {
        counts
            .split(';')
            .find_map(|part| part.trim().strip_suffix(name)?.trim().parse().ok())
    };
    Some((count("passed")?, count("failed")?))
}

/// Reads `17 runs, 90 assertions, 1 failures, 0 errors, 0 skips`.
fn minitest_result(line: &str) -> Option<(u64, u64)> {
    let count = |name: &str| {
        line.split(',')
            .find_map(|part| part.trim().strip_suffix(name)?.trim().parse::<u64>().ok())
    };
    let (runs, failures, errors, skips) = (
        count("runs")?,
        count("failures")?,
        count("errors")?,
        count("skips")?,
    );
    let failed = failures + errors + skips;
    Some((runs.saturating_sub(failed), failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read() {
        let line = "test result: FAILED. 20 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.5s";
        assert_eq!(cargo_result(line), Some((20, 2)));
        assert_eq!(cargo_result("test x ... ok"), None);
        assert_eq!(
            minitest_result("17 runs, 90 assertions, 1 failures, 1 errors, 1 skips"),
            Some((14, 3))
        );
        assert_eq!(minitest_result("runs, of course"), None);
    }

    fn watched(script: &str) -> Tally {
        let mut tally = Tally::default();
        tally.watch(Command::new("/bin/sh").args(["-c", script]));
        tally
    }

    /// What is said of tests that fail at first with these lines, and then print the others.
    fn twice(first: &str, again: &str) -> Tally {
        let mut tally = Tally::default();
        tally.watch_twice(|failures| {
            let (lines, status) = if failures.is_empty() {
                (first, 1)
            } else {
                (again, i32::from(again.contains("FAILED")))
            };
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &format!("printf '{lines}'; exit {status}")]);
            command
        });
        tally
    }

    const ONE_OF_TWO: &str =
        "running 2 tests\ntest b::slow ... FAILED\ntest result: FAILED. 1 passed; 1 failed;\n";
    const ONE: &str = "running 1 test\ntest result: ok. 1 passed; 0 failed;\n";

    #[test]
    fn what_fails_once_is_run_again_and_told() {
        let tally = twice(ONE_OF_TWO, ONE);
        assert_eq!((tally.passed, tally.failed), (2, 0));
        assert_eq!(tally.second, ["b::slow"]);
        assert!(tally.verdict().is_ok());
    }

    #[test]
    fn what_fails_twice_or_crashes_or_fails_often_stays_failed() {
        let failed =
            "running 1 test\ntest b::slow ... FAILED\ntest result: FAILED. 0 passed; 1 failed;\n";
        assert!(twice(ONE_OF_TWO, failed).verdict().is_err());
        let crashed = format!("{ONE_OF_TWO}running 3 tests\n");
        assert!(twice(&crashed, ONE).verdict().is_err());
        assert!(twice(ONE_OF_TWO, "").verdict().is_err(), "no test was run");
        let often = ONE_OF_TWO.repeat(TRIED_AGAIN_MAX + 1);
        assert!(twice(&often, ONE).verdict().is_err());
    }

    #[test]
    fn a_crash_and_an_empty_run_are_failures() {
        let line = "test result: ok. 2 passed; 0 failed; 0 ignored";
        assert!(watched(&format!("echo '{line}'")).verdict().is_ok());
        assert!(
            watched(&format!("echo '{line}'; exit 1"))
                .verdict()
                .is_err()
        );
        assert!(watched("true").verdict().is_err());
    }
}

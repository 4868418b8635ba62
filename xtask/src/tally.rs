//! Counting what test programs say: passed, failed, and what failed only once.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::run::{Outcome, show};

/// Passed and failed tests, and failed steps other than tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    pub(crate) troubles: Vec<String>,
    /// Tests passed only in a second run, alone.
    second: Vec<String>,
}

impl Tally {
    pub(crate) fn step(&mut self, name: &str, outcome: Outcome<()>) {
        match outcome {
            Ok(()) => eprintln!("test: {name}: ok"),
            Err(message) => self.troubles.push(format!("{name}: {message}")),
        }
    }

    /// Adds what a test program reported.
    pub(crate) fn add(&mut self, passed: u64, failed: u64) {
        self.passed += passed;
        self.failed += failed;
    }

    /// Adds a program of which some tests passed only in a second run, alone.
    pub(crate) fn add_second(&mut self, passed: u64, second: &[String]) {
        self.passed += passed + second.len() as u64;
        self.second.extend_from_slice(second);
    }

    /// Runs a test program, shows the output and counts the results.
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
            if let Some((passed, failed)) = result(&line).or_else(|| minitest_result(&line)) {
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

/// Reads `test name ... FAILED`, with or without its time.
pub(crate) fn failed_test(line: &str) -> Option<String> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... FAILED")?;
    (rest.is_empty() || rest.starts_with(" <")).then(|| name.to_owned())
}

/// Returns whether a line reads like `running 3 tests`.
pub(crate) fn is_beginning(line: &str) -> bool {
    line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test"))
}

/// Reads `test result: ok. 3 passed; 1 failed; 0 ignored; …`.
pub(crate) fn result(line: &str) -> Option<(u64, u64)> {
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
        assert_eq!(result(line), Some((20, 2)));
        assert_eq!(result("test x ... ok"), None);
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

    #[test]
    fn what_passes_only_alone_is_named() {
        let mut tally = Tally::default();
        tally.add_second(1, &["b::slow".to_owned()]);
        assert_eq!((tally.passed, tally.failed), (2, 0));
        assert_eq!(tally.second, ["b::slow"]);
        tally.add(0, 1);
        assert!(tally.verdict().is_err());
    }

    #[test]
    fn failed_tests_are_read_with_and_without_time() {
        let name = Some("a::b".to_owned());
        assert_eq!(failed_test("test a::b ... FAILED"), name);
        assert_eq!(failed_test("test a::b ... FAILED <0.5s>"), name);
        assert_eq!(failed_test("test a::b ... ok <0.5s>"), None);
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

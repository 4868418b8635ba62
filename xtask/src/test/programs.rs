//! Test programs of the workspace: the list, and the report of each.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::arrivals::{Arrivals, has_binary};
use super::timed::{print, split, timed};
use crate::run::{Outcome, cargo};
use crate::tally::{failed_test, is_beginning, result};

/// Niceness of cargo, beside which tests run: what they wait for should be theirs at once.
pub(super) const NICE: u8 = 10;

/// A test program, as built by cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The package, such as `hakaru-stats`.
    pub(super) package: String,
    /// File with the program's `main`, below the package's folder.
    pub(super) source: String,
    /// Folder of the package, used by cargo as working directory.
    pub(super) folder: PathBuf,
    path: PathBuf,
    /// Which of the tests.
    pub(super) part: Part,
}

/// An executable file, as built by cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Artifact {
    Test(Program),
    /// The binary of the package in the folder.
    Binary {
        folder: PathBuf,
    },
}

/// A part of the tests of a program, by texts in their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// Tests with one of the texts in the name.
    With(&'static [&'static str]),
    /// All others.
    Without(&'static [&'static str]),
}

impl Part {
    /// Flags of the test harness, in which a filter without `--exact` is part of a name.
    fn flags(self) -> Vec<&'static str> {
        match self {
            Part::All => Vec::new(),
            Part::With(texts) => texts.to_vec(),
            Part::Without(texts) => texts.iter().flat_map(|text| ["--skip", text]).collect(),
        }
    }
}

/// What a program reported.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) output: String,
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// Names of the failed tests.
    pub(super) failures: Vec<String>,
    /// Seconds of each test.
    pub(super) times: Vec<(String, f64)>,
    pub(super) wall: Duration,
    /// CPU time of the program and all awaited children.
    pub(super) cpu: Duration,
    /// Whether the program ended in agreement with the results: not by a signal, and not before the
    /// last test.
    pub(super) has_ended: bool,
}

/// Builds all test programs and sends each as soon as cargo has what it runs.
pub(super) fn build(built: Sender<Program>) -> Outcome<()> {
    let format = "--message-format=json-render-diagnostics";
    let command = cargo(&["test", "--workspace", "--no-run", format]);
    let failed = |error: std::io::Error| format!("cargo, building the tests: {error}");
    let begin = Instant::now();
    let mut child = timed(&command, NICE)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (mut arrivals, mut count, mut rest) = (Arrivals::default(), 0_usize, String::new());
    for line in child
        .stdout
        .take()
        .into_iter()
        .flat_map(|pipe| BufReader::new(pipe).lines())
    {
        let line = line.map_err(failed)?;
        if let Some(artifact) = artifact(&line) {
            for program in arrivals.add(artifact, has_binary) {
                count += 1;
                // Nobody waits for programs where no server could be started.
                let _ = built.send(program);
            }
        } else if !line.starts_with('{') {
            rest += &format!("{line}\n");
        }
    }
    let is_success = child.wait().map_err(failed)?.success();
    print("the build", begin, &rest);
    match (is_success, count, arrivals.rest().first()) {
        (true, 0, _) => Err("cargo named no test program".to_owned()),
        (true, _, Some(waiting)) => Err(format!(
            "{} {} was not run: cargo named no binary of its package",
            waiting.package, waiting.source
        )),
        (true, _, None) => Ok(()),
        (false, ..) => Err("the tests did not build: see above".to_owned()),
    }
}

/// Parses one of cargo's messages; `None` for a message about anything but test programs and
/// binaries.
fn artifact(message: &str) -> Option<Artifact> {
    let path = field(message, "executable")?;
    let manifest = PathBuf::from(field(message, "manifest_path")?);
    let folder = manifest.parent()?.to_owned();
    if !message.contains("\"reason\":\"compiler-artifact\"") {
        return None;
    }
    if !message.contains("\"test\":true},\"features\"") {
        let is_binary = message.contains("\"kind\":[\"bin\"]");
        return is_binary.then_some(Artifact::Binary { folder });
    }
    let source = PathBuf::from(field(message, "src_path")?);
    let source = source.strip_prefix(&folder).unwrap_or(&source);
    // `path+file:///folder/crates/stats#hakaru-stats@0.1.0`, or without the name where it is the
    // folder's.
    let id = field(message, "package_id")?;
    let (before, version) = id.rsplit_once('#')?;
    let package = match version.split_once('@') {
        Some((name, _)) => name,
        None => before.rsplit('/').next()?,
    };
    Some(Artifact::Test(Program {
        package: package.to_owned(),
        source: source.to_string_lossy().into_owned(),
        folder,
        path: PathBuf::from(path),
        part: Part::All,
    }))
}

/// Returns a field of text of a message on one line. Paths and names here hold no escapes.
fn field<'a>(message: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = message.split_once(&format!("\"{name}\":\""))?;
    rest.split_once('"').map(|(text, _)| text)
}

impl Program {
    /// A program without a file.
    #[cfg(test)]
    pub(super) fn named(package: &str, source: &str) -> Program {
        Program {
            package: package.to_owned(),
            source: source.to_owned(),
            folder: PathBuf::new(),
            path: PathBuf::new(),
            part: Part::All,
        }
    }

    /// The program with a part of the tests.
    pub(super) fn with(&self, part: Part) -> Program {
        Program {
            part,
            ..self.clone()
        }
    }

    /// Runs the program with `threads` tests at once: the program's part, or only the named tests.
    pub(super) fn run(
        &self,
        threads: usize,
        only: &[String],
        name_servers: &dyn Fn(&mut Command),
    ) -> Report {
        let mut command = Command::new(&self.path);
        command
            .args(["--test-threads", &threads.to_string()])
            // Times of single tests are an unstable option of the test harness.
            .args(["-Z", "unstable-options", "--report-time"])
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .current_dir(&self.folder);
        match only {
            [] => command.args(self.part.flags()),
            only => command.arg("--exact").args(only),
        };
        name_servers(&mut command);
        let begin = Instant::now();
        let (output, is_success) = match output_of(&mut timed(&command, 0)) {
            Ok(done) => done,
            Err(error) => (format!("{}: {error}\n", self.path.display()), false),
        };
        let (own, cpu) = split(&output);
        let mut report = Report::of(own.to_owned(), is_success);
        report.wall = begin.elapsed();
        report.cpu = cpu.unwrap_or_default();
        report
    }
}

fn output_of(command: &mut Command) -> std::io::Result<(String, bool)> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut output = Vec::new();
    if let Some(pipe) = &mut child.stdout {
        pipe.read_to_end(&mut output)?;
    }
    let is_success = child.wait()?.success();
    Ok((String::from_utf8_lossy(&output).into_owned(), is_success))
}

impl Report {
    fn of(output: String, is_success: bool) -> Report {
        let mut report = Report::default();
        let (mut begun, mut ended) = (0, 0);
        for line in output.lines() {
            report.failures.extend(failed_test(line));
            report.times.extend(time_of_test(line));
            begun += u32::from(is_beginning(line));
            if let Some((passed, failed)) = result(line) {
                ended += 1;
                report.passed += passed;
                report.failed += failed;
            }
        }
        let told = report.failures.len() as u64 == report.failed;
        report.has_ended = begun == 1 && ended == 1 && told && is_success == (report.failed == 0);
        report.output = output;
        report
    }

    /// Prints the program's output as one piece.
    pub(super) fn show(&self, program: &Program) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(
            out,
            "{} {}: {} passed, {} failed in {:.1} s ({:.1} s of CPU)",
            program.package,
            program.source,
            self.passed,
            self.failed,
            self.wall.as_secs_f64(),
            self.cpu.as_secs_f64(),
        );
        if self.failed > 0 || !self.has_ended {
            let _ = out.write_all(self.output.as_bytes());
        }
    }
}

/// Reads `test name ... ok <1.234s>`.
fn time_of_test(line: &str) -> Option<(String, f64)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let (_, seconds) = rest.strip_suffix("s>")?.split_once('<')?;
    Some((name.to_owned(), seconds.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_messages_name_the_test_programs() {
        let message = |kind: &str, test: bool| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"package_id\":\"path+file:///r/crates/stats#hakaru-stats@0.1.0\",\
                 \"manifest_path\":\"/r/crates/stats/Cargo.toml\",\"target\":{{\"kind\":[\"{kind}\"],\"name\":\"honesty\",\
                 \"src_path\":\"/r/crates/stats/tests/honesty.rs\"}},\"profile\":{{\"opt_level\":\"0\",\"test\":{test}}},\
                 \"features\":[],\"executable\":\"/r/target/debug/deps/honesty-1\",\"fresh\":true}}"
            )
        };
        let Some(Artifact::Test(found)) = artifact(&message("test", true)) else {
            panic!("no test program");
        };
        assert_eq!(
            (found.package.as_str(), found.source.as_str()),
            ("hakaru-stats", "tests/honesty.rs")
        );
        assert_eq!(found.path, PathBuf::from("/r/target/debug/deps/honesty-1"));
        let folder = PathBuf::from("/r/crates/stats");
        assert_eq!(artifact(&message("example", false)), None);
        assert_eq!(
            artifact(&message("bin", false)),
            Some(Artifact::Binary { folder })
        );
        assert_eq!(
            artifact("{\"reason\":\"build-finished\",\"success\":true}"),
            None
        );
    }

    #[test]
    fn a_report_counts_names_and_times() {
        let output = "\nrunning 2 tests\ntest a::b ... ok <0.250s>\ntest c ... FAILED <1.5s>\n\n\
                      test result: FAILED. 1 passed; 1 failed; 0 ignored; finished in 1.50s\n";
        let report = Report::of(output.to_owned(), false);
        assert_eq!((report.passed, report.failed), (1, 1));
        assert_eq!(report.failures, ["c"]);
        assert_eq!(
            report.times,
            [("a::b".to_owned(), 0.25), ("c".to_owned(), 1.5)]
        );
        assert!(report.has_ended);
    }

    #[test]
    fn both_parts_of_a_program_are_all_of_it() {
        let texts = &["a::", "b::"];
        assert_eq!(Part::With(texts).flags(), ["a::", "b::"]);
        assert_eq!(
            Part::Without(texts).flags(),
            ["--skip", "a::", "--skip", "b::"]
        );
        assert!(Part::All.flags().is_empty());
    }

    #[test]
    fn a_crash_is_no_end() {
        let crashed = "running 2 tests\ntest a ... ok <0.1s>\n";
        assert!(!Report::of(crashed.to_owned(), false).has_ended);
        let all = "running 1 test\ntest result: ok. 1 passed; 0 failed;\n";
        assert!(Report::of(all.to_owned(), true).has_ended);
        assert!(
            !Report::of(all.to_owned(), false).has_ended,
            "it failed after its tests"
        );
    }
}

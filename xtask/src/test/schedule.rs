//! Which test programs run side by side, and what took how long.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use super::programs::{Part, Program, Report};
use crate::tally::Tally;

/// Packages whose integration tests judge times of real programs, which nothing else may disturb.
const ALONE: [&str; 4] = [
    "hakaru",
    "hakaru-capture",
    "hakaru-load",
    "hakaru-app-process",
];
/// Programs of the packages above without judgement of times.
const BESIDE: [&str; 12] = [
    "tests/check.rs",
    "tests/collect.rs",
    "tests/explain_servers.rs",
    "tests/generators.rs",
    "tests/http2.rs",
    "tests/init.rs",
    "tests/japanese.rs",
    "tests/kubernetes.rs",
    "tests/logs.rs",
    "tests/production.rs",
    "tests/schema/main.rs",
    "tests/terminal.rs",
];
/// Programs of the packages above with few tests that judge times, or that lose records on a busy
/// host: texts in the names of those.
const PARTLY: [(&str, &[&str]); 8] = [
    ("tests/bad_days/main.rs", &["agent::", "variants::"]),
    (
        "tests/bench.rs",
        &[
            "scripts_of_one_ruby",
            "doubts_are",
            "benchmark_drivers_forms",
            "programs_that_print",
            "every_runner",
            "commands_are",
            "objects_that",
            "what_was_kept",
            "the_log_says",
            "the_commit_that",
            "the_two_fastest",
        ],
    ),
    ("tests/doctor/main.rs", &["thousand_tables"]),
    ("tests/flows/main.rs", &["chat::", "replay::"]),
    ("tests/inside/main.rs", &["acts::", "pauses_of"]),
    ("tests/load.rs", &["highest_rate", "rises_while"]),
    ("tests/on.rs", &["start_together"]),
    (
        "tests/profile/main.rs",
        &[
            "clicker::",
            "known::",
            "messages::",
            "of_run::",
            "resolver::",
            "stackprof::",
        ],
    ),
];
/// Programs of the packages above whose assertions about measurements hold on half of the cores
/// too, the longest first, with texts in the names of tests in need of all cores.
const PAIRED: [(&str, &[&str]); 4] = [
    ("tests/remedies.rs", &["other_workers"]),
    ("tests/solutions.rs", &[]),
    ("tests/trials.rs", &[]),
    ("tests/tutorial.rs", &[]),
];
/// Number of concurrent programs where no time is judged; each runs two tests at once, since most
/// wait for servers and disks.
const LANES: usize = 2;
const THREADS: usize = 2;
/// Greatest number of failed tests to repeat once: the host may have been busy during a
/// measurement, but more failures are no accident.
const TRIED_AGAIN_MAX: usize = 6;
/// Number of slowest tests to list.
const SLOWEST: usize = 30;

/// Finished programs with reports.
#[derive(Default)]
pub(super) struct Done {
    reports: Vec<(Program, Report)>,
}

/// Programs waiting until nothing is built any more.
#[derive(Default)]
pub(super) struct Waiting {
    /// Run in pairs.
    paired: Vec<Program>,
    /// Run when nothing else runs.
    alone: Vec<Program>,
}

/// Runs side by side, as each arrives, what judges no time; returns the others when all have
/// arrived.
pub(super) fn side_by_side(
    arriving: Receiver<Program>,
    name_servers: &(dyn Fn(&mut Command) + Sync),
) -> (Done, Waiting) {
    let arriving = Mutex::new(arriving);
    let waiting = Mutex::new(Waiting::default());
    // A lane that waits for the next program has the lock; whoever is behind waits for the same.
    let next = || loop {
        let program = arriving.lock().ok()?.recv().ok()?;
        let split = split(program);
        if let Ok(mut waiting) = waiting.lock() {
            waiting.paired.extend(split.paired);
            waiting.alone.extend(split.alone);
        }
        if split.beside.is_some() {
            return split.beside;
        }
    };
    let reports = in_lanes(next, |program| shown(program, THREADS, name_servers));
    let mut waiting = waiting.into_inner().unwrap_or_default();
    // Cargo's order depends on what was there already.
    let of = |program: &Program| (program.package.clone(), program.source.clone());
    waiting.alone.sort_by_key(of);
    let place = |program: &Program| {
        PAIRED
            .iter()
            .position(|(paired, _)| *paired == program.source)
    };
    waiting.paired.sort_by_key(place);
    (Done { reports }, waiting)
}

/// Runs programs side by side until there is no next one.
fn in_lanes(
    next: impl Fn() -> Option<Program> + Sync,
    run: impl Fn(&Program) -> Report + Sync,
) -> Vec<(Program, Report)> {
    let reports = Mutex::new(Vec::new());
    let work = || {
        while let Some(program) = next() {
            let report = run(&program);
            if let Ok(mut reports) = reports.lock() {
                reports.push((program, report));
            }
        }
    };
    thread::scope(|scope| (0..LANES).for_each(|_| drop(scope.spawn(work))));
    reports.into_inner().unwrap_or_default()
}

/// Runs a program with `threads` tests at once, and prints the report.
fn shown(program: &Program, threads: usize, name_servers: &dyn Fn(&mut Command)) -> Report {
    let report = program.run(threads, &[], name_servers);
    report.show(program);
    report
}

/// A program's parts by what may run meanwhile.
#[derive(Debug, Default, PartialEq, Eq)]
struct Split {
    /// Anything, the build included.
    beside: Option<Program>,
    /// Another such program.
    paired: Option<Program>,
    /// Nothing.
    alone: Option<Program>,
}

fn split(program: Program) -> Split {
    let is_integration = program.source.starts_with("tests/");
    let judges = is_integration
        && ALONE.contains(&program.package.as_str())
        && !BESIDE.contains(&program.source.as_str());
    let of = |list: &[(&str, &'static [&'static str])]| {
        let found = list.iter().find(|(source, _)| *source == program.source);
        found.map(|(_, texts)| *texts)
    };
    let (partly, paired) = (of(&PARTLY), of(&PAIRED));
    let with = |part| Some(program.clone().with(part));
    match (judges, partly, paired) {
        (true, Some(texts), _) => Split {
            beside: with(Part::Without(texts)),
            alone: with(Part::With(texts)),
            ..Split::default()
        },
        (true, None, Some([])) => Split {
            paired: Some(program),
            ..Split::default()
        },
        (true, None, Some(texts)) => Split {
            paired: with(Part::Without(texts)),
            alone: with(Part::With(texts)),
            ..Split::default()
        },
        (true, None, None) => Split {
            alone: Some(program),
            ..Split::default()
        },
        (false, ..) => Split {
            beside: Some(program),
            ..Split::default()
        },
    }
}

impl Done {
    /// Runs what waited: in pairs, one test of each at a time, then one after another.
    pub(super) fn run(&mut self, waiting: Waiting, name_servers: &(dyn Fn(&mut Command) + Sync)) {
        let paired = Mutex::new(waiting.paired.into_iter());
        let next = || paired.lock().ok()?.next();
        let one = |program: &Program| shown(program, 1, name_servers);
        self.reports.extend(in_lanes(next, one));
        for program in waiting.alone {
            let report = shown(&program, THREADS, name_servers);
            self.reports.push((program, report));
        }
    }

    /// Tries failed tests once more, each alone, and adds all results to the tally.
    pub(super) fn count(self, tally: &mut Tally, name_servers: &dyn Fn(&mut Command)) {
        let failures: usize = self.reports.iter().map(|(_, r)| r.failures.len()).sum();
        let has_ended = self.reports.iter().all(|(_, report)| report.has_ended);
        let is_tried_again = has_ended && (1..=TRIED_AGAIN_MAX).contains(&failures);
        for (program, report) in &self.reports {
            let name = format!("{} {}", program.package, program.source);
            if is_tried_again && report.failed > 0 {
                eprintln!("test: once more, alone: {}", report.failures.join(", "));
                let again = program.run(1, &report.failures, name_servers);
                again.show(program);
                if again.has_ended && again.failed == 0 && again.passed == report.failed {
                    tally.add_second(report.passed, &report.failures);
                    continue;
                }
            }
            if let Part::With(texts) = program.part
                && report.passed + report.failed == 0
            {
                let texts = texts.join(", ");
                let message = format!("{name}: no test is named with {texts}");
                tally.troubles.push(message);
            }
            tally.add(report.passed, report.failed);
            if report.failed > 0 {
                let names = report.failures.join(", ");
                tally.troubles.push(format!("{name} failed: {names}"));
            } else if !report.has_ended {
                tally
                    .troubles
                    .push(format!("{name} did not end as a test program does"));
            }
        }
    }

    /// Prints the time by package, and the slowest tests.
    pub(super) fn print_times(&self) {
        let mut packages: BTreeMap<&str, (Duration, Duration)> = BTreeMap::new();
        for (program, report) in &self.reports {
            let sum = packages.entry(&program.package).or_default();
            sum.0 += report.wall;
            sum.1 += report.cpu;
        }
        let mut packages: Vec<_> = packages.into_iter().collect();
        packages.sort_by_key(|(_, (wall, _))| std::cmp::Reverse(*wall));
        println!("\ntime by package");
        for (package, (wall, cpu)) in packages {
            let (wall, cpu) = (wall.as_secs_f64(), cpu.as_secs_f64());
            println!("{wall:8.1} s {cpu:8.1} s of CPU  {package}");
        }
        let mut tests: Vec<_> = (self.reports.iter())
            .flat_map(|(program, report)| {
                let of = move |(name, seconds): &(String, f64)| {
                    (
                        *seconds,
                        format!("{} {} {name}", program.package, program.source),
                    )
                };
                report.times.iter().map(of)
            })
            .collect();
        tests.sort_by(|a, b| b.0.total_cmp(&a.0));
        println!("\nthe {SLOWEST} slowest tests");
        for (seconds, name) in tests.iter().take(SLOWEST) {
            println!("{seconds:8.1} s  {name}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_split_by_what_its_tests_judge() {
        let check = |package: &str, source: &str, expected: [Option<Part>; 3]| {
            let split = split(Program::named(package, source));
            let parts = [split.beside, split.paired, split.alone];
            let parts = parts.map(|one| one.map(|one| one.part));
            assert_eq!(parts, expected, "{package} {source}");
        };
        check("hakaru-stats", "src/lib.rs", [Some(Part::All), None, None]);
        check("hakaru", "src/main.rs", [Some(Part::All), None, None]);
        check("hakaru", "tests/check.rs", [Some(Part::All), None, None]);
        check("hakaru", "tests/tune.rs", [None, None, Some(Part::All)]);
        check("hakaru", "tests/trials.rs", [None, Some(Part::All), None]);
        let texts = PARTLY[0].1;
        let both = [Some(Part::Without(texts)), Some(Part::With(texts))];
        check("hakaru", PARTLY[0].0, [both[0], None, both[1]]);
        let texts = PAIRED[0].1;
        let both = [Some(Part::Without(texts)), Some(Part::With(texts))];
        check("hakaru", PAIRED[0].0, [None, both[0], both[1]]);
    }

    #[test]
    fn lanes_run_each_program_once() {
        let programs = (0..5).map(|number| Program::named("p", &format!("tests/{number}.rs")));
        let waiting = Mutex::new(programs.collect::<Vec<_>>().into_iter());
        let done = in_lanes(|| waiting.lock().ok()?.next(), |_| Report::default());
        let mut sources: Vec<&str> = done.iter().map(|(one, _)| one.source.as_str()).collect();
        sources.sort_unstable();
        let expected = ["0", "1", "2", "3", "4"].map(|number| format!("tests/{number}.rs"));
        assert_eq!(sources, expected);
    }
}

//! Which test programs run side by side, and what took how long.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::programs::{Program, Report};
use crate::tally::Tally;

/// Packages whose integration tests judge times of real programs, which nothing else may disturb.
const ALONE: [&str; 4] = [
    "hakaru",
    "hakaru-capture",
    "hakaru-load",
    "hakaru-app-process",
];
/// Programs of the packages above without judgement of times.
const BESIDE: [&str; 7] = [
    "tests/schema/main.rs",
    "tests/doctor/main.rs",
    "tests/check.rs",
    "tests/japanese.rs",
    "tests/init.rs",
    "tests/production.rs",
    "tests/terminal.rs",
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
pub(super) struct Done {
    reports: Vec<(Program, Report)>,
}

/// Runs the programs: first side by side what judges no time, then the others one after another.
pub(super) fn run(programs: Vec<Program>, name_servers: &(dyn Fn(&mut Command) + Sync)) -> Done {
    let (alone, beside): (Vec<_>, Vec<_>) = programs.into_iter().partition(is_alone);
    let mut reports = side_by_side(&beside, name_servers);
    for program in alone {
        let report = program.run(THREADS, &[], name_servers);
        report.show(&program);
        reports.push((program, report));
    }
    Done { reports }
}

fn is_alone(program: &Program) -> bool {
    let is_integration = program.source.starts_with("tests/");
    is_integration
        && ALONE.contains(&program.package.as_str())
        && !BESIDE.contains(&program.source.as_str())
}

fn side_by_side(
    programs: &[Program],
    name_servers: &(dyn Fn(&mut Command) + Sync),
) -> Vec<(Program, Report)> {
    let (next, reports) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let report = program.run(THREADS, &[], name_servers);
            report.show(program);
            if let Ok(mut reports) = reports.lock() {
                reports.push((program.clone(), report));
            }
        }
    };
    thread::scope(|scope| (0..LANES).for_each(|_| drop(scope.spawn(work))));
    reports.into_inner().unwrap_or_default()
}

impl Done {
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
        println!("\ntime by package (CPU of programs that ran side by side counts for both)");
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

//! Workloads of the program, each with a check of the result in every run.

use std::path::Path;

use crate::model::{Job, Metric, Printed, Script, Work};

/// A workload: name, file, unit of one turn, and expected result.
struct Workload {
    name: &'static str,
    file: &'static str,
    turn: &'static str,
    answer: &'static str,
}

const fn workload(
    name: &'static str,
    file: &'static str,
    turn: &'static str,
    answer: &'static str,
) -> Workload {
    Workload {
        name,
        file,
        turn,
        answer,
    }
}

const CONGRUENCE: &str = include_str!("workloads/congruence.rb");
const TARAI: &str = include_str!("workloads/tarai.rb");
const MANDELBROT: &str = include_str!("workloads/mandelbrot.rb");
const BODIES: &str = include_str!("workloads/bodies.rb");
const TREES: &str = include_str!("workloads/trees.rb");
/// The fluid, which can also be drawn.
pub const FLUID: &str = include_str!("workloads/fluid.rb");
/// The console, which can also be drawn.
pub const CONSOLE: &str = include_str!("workloads/console.rb");
const TEXTS: &str = include_str!("workloads/texts.rb");
const SERVING: &str = include_str!("workloads/serving.rb");

/// All workloads, with results from Ruby 3.3; all arithmetic is on integers, or on floats by
/// operations rounded exactly by IEEE 754.
const ALL: [Workload; 18] = [
    workload(
        "congruence",
        CONGRUENCE,
        "congruence(400_000)",
        "727_633_698",
    ),
    workload("tarai", TARAI, "tarai(9, 5, 0)", "9"),
    workload("mandelbrot", MANDELBROT, "mandelbrot(40, 50)", "633"),
    workload("bodies", BODIES, "bodies(500)", "11.548429"),
    workload("trees", TREES, "trees(10, 50)", "8_397"),
    workload("fluid, grid", FLUID, "fluid(300, 2)", "3254.856"),
    workload(
        "fluid, all pairs",
        FLUID,
        "fluid(300, 2, grid: false)",
        "3254.856",
    ),
    workload("console, 60 frames", CONSOLE, "console(60)", "2_799_178"),
    workload("json in", TEXTS, "json", "400"),
    workload("json out", TEXTS, "json_out", "6_753"),
    workload("erb", TEXTS, "erb", "1_051"),
    workload("templates", TEXTS, "templates", "790"),
    workload("patterns", TEXTS, "patterns", "59_700"),
    workload("strings", TEXTS, "strings", "9_292"),
    workload("hashes", TEXTS, "hashes", "200_400"),
    workload("fibers", SERVING, "fibers(100, 20)", "940_500"),
    workload("requests", SERVING, "requests(200)", "50_480"),
    workload("resolver", SERVING, "resolutions(500)", "2_932"),
];

/// All workloads as jobs.
pub fn jobs() -> Vec<Job> {
    ALL.iter().map(Workload::job).collect()
}

impl Workload {
    fn job(&self) -> Job {
        let Workload { turn, answer, .. } = self;
        Job {
            name: self.name.to_owned(),
            work: Work::Script(Script {
                prelude: self.file.to_owned(),
                body: format!(
                    "(given = {turn}) == {answer} or raise \"wrong answer: #{{given}}, not {answer}\""
                ),
                ..Script::default()
            }),
            ruby_min: None,
        }
    }
}

/// Returns Optcarrot, a third-party emulator, in a folder: frames per second as printed.
pub fn optcarrot(folder: &Path) -> Job {
    let command = [
        "-r./tools/shim",
        "bin/optcarrot",
        "--benchmark",
        "examples/Lan_Master.nes",
    ];
    Job {
        name: "optcarrot".to_owned(),
        work: Work::Printed(Printed {
            command: command.map(str::to_owned).to_vec(),
            has_ruby: true,
            folder: folder.to_owned(),
            metric: Metric::new("Number of frames", "fps", true, "slower"),
            figure: "stdout[/^fps: ([\\d.]+)/, 1].to_f".to_owned(),
            environment: Vec::new(),
        }),
        ruby_min: None,
    }
}

/// Returns a program drawing a workload on a terminal for some seconds.
pub fn show(file: &str, start: &str, step: &str, seconds: u64) -> String {
    format!(
        "{file}\nshown = {start}\nlast = Process.clock_gettime(Process::CLOCK_MONOTONIC) + {seconds}\n\
         print \"\\e[2J\"\nwhile Process.clock_gettime(Process::CLOCK_MONOTONIC) < last\n  {step}\n  \
         puts \"\\e[H\" + shown.draw(64, 20).lines.map {{ |line| line.chomp + \"\\e[K\\n\" }}.join + \"\\e[J\"\n  sleep 0.02\nend\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<&str> = ALL.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), ALL.len());
    }
}

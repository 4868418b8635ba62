//! What is measured: jobs, by contenders, in metrics.

use std::path::PathBuf;

/// A file of jobs, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Runner demanded by the file; `None` leaves the choice to the command line.
    pub runner: Option<Runner>,
    /// The jobs in the order of the file; a job's name may occur twice.
    pub jobs: Vec<Job>,
    /// Sets of gems, each of which the contenders run with in turn; empty for none.
    pub contexts: Vec<Context>,
    /// Figures contained in a `recorded` file instead of jobs.
    pub recorded: Vec<crate::record::Recorded>,
}

/// What to do with a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// Iterations per second.
    Ips,
    /// Seconds for all iterations.
    Time,
    /// Greatest resident memory.
    Memory,
    /// Seconds of a single iteration.
    Once,
    /// Iterations per second of the script as a block called each time.
    Block,
}

impl Runner {
    /// All runners of scripts.
    pub const ALL: [Runner; 5] = [
        Runner::Ips,
        Runner::Time,
        Runner::Memory,
        Runner::Once,
        Runner::Block,
    ];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Runner::Ips => "ips",
            Runner::Time => "time",
            Runner::Memory => "memory",
            Runner::Once => "once",
            Runner::Block => "block",
        }
    }

    /// The runner of a name.
    pub fn of(name: &str) -> Option<Runner> {
        Runner::ALL.into_iter().find(|one| one.name() == name)
    }

    /// What the runner reports.
    pub fn metric(self) -> Metric {
        match self {
            Runner::Ips | Runner::Block => {
                Metric::new("Iteration per second", "i/s", true, "slower")
            }
            Runner::Time | Runner::Once => Metric::new("Execution time", "s", false, "slower"),
            Runner::Memory => Metric::new("Max resident set size", "bytes", false, "larger"),
        }
    }
}

/// One thing to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// As shown.
    pub name: String,
    /// What is run.
    pub work: Work,
    /// The oldest Ruby able to run the job.
    pub ruby_min: Option<String>,
}

/// What a job runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Ruby code, in a loop.
    Script(Script),
    /// A program printing the figure.
    Printed(Printed),
    /// Whatever the contender's own command is.
    Command,
}

/// Ruby code to be measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Run once before.
    pub prelude: String,
    /// What is measured.
    pub body: String,
    /// Run once behind.
    pub teardown: String,
    /// Iterations, when the file says how many.
    pub loop_count: Option<u64>,
}

/// A program printing the figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    /// Words of the command line.
    pub command: Vec<String>,
    /// Whether the contender's Ruby is put before the words.
    pub has_ruby: bool,
    /// Working directory.
    pub folder: PathBuf,
    /// The figure.
    pub metric: Metric,
    /// Ruby code reading the figure from `stdout`.
    pub figure: String,
    /// Ruby code for each named remark on the environment.
    pub environment: Vec<(String, String)>,
}

/// What a figure means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name.
    pub name: String,
    /// The unit, empty for none.
    pub unit: String,
    /// Whether more is better.
    pub is_larger_better: bool,
    /// What the worse of two is called.
    pub worse: String,
}

impl Metric {
    /// Returns a metric with the given names.
    pub fn new(name: &str, unit: &str, is_larger_better: bool, worse: &str) -> Metric {
        Metric {
            name: name.to_owned(),
            unit: unit.to_owned(),
            is_larger_better,
            worse: worse.to_owned(),
        }
    }
}

/// A set of gems for a contender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// As shown; made of the gems when the file names none.
    pub name: String,
    /// Ruby code before every prelude: `gem`, `require`, then the context's own.
    pub prelude: String,
}

/// Who runs the jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// As shown.
    pub name: String,
    /// Program and arguments; a Ruby, or any command.
    pub command: Vec<String>,
    /// Ruby code before every prelude.
    pub prelude: String,
    /// Working directory; `None` for the current one.
    pub folder: Option<PathBuf>,
    /// What a shell runs around a command.
    pub around: Around,
}

/// What a shell runs around a command, never measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Once, before the first measurement.
    pub setup: Option<String>,
    /// Before every measurement.
    pub prepare: Option<String>,
    /// Behind every measurement.
    pub conclude: Option<String>,
    /// Once, behind the last measurement.
    pub cleanup: Option<String>,
}

impl Contender {
    /// Returns a Ruby with the given name.
    pub fn ruby(name: &str, command: &[&str]) -> Contender {
        Contender {
            name: name.to_owned(),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            prelude: String::new(),
            folder: None,
            around: Around::default(),
        }
    }
}

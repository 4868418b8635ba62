//! Flags of `hakaru predict` and `hakaru tune`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{ConfigArgs, JsonArgs, RateArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru predict --workers 4 --threads 3                 the recorded load
  hakaru predict --workers 4 --threads 3 --cores 8 --rate 900
  hakaru predict --threads 3 --connections 50 --json
  hakaru predict --rate 1200 --goal 'p95 < 100ms'        how many processes does that need?

What is not given is as it was recorded. `hakaru help tune` says what is simulated and what is not.")]
pub(crate) struct PredictArgs {
    /// Worker processes
    #[arg(long, short = 'w', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: Option<u32>,

    /// Threads per worker
    #[arg(long, short = 't', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,

    /// Cores for everything on the machine: the app, and a load generator and database that ran
    /// there
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) cores: Option<u32>,

    #[command(flatten)]
    pub(crate) open: RateArgs,

    /// When they are due
    #[arg(long, value_enum, default_value_t = ArrivalsArg::Even, requires = "rate")]
    pub(crate) arrivals: ArrivalsArg,

    /// Connections of a closed load, or at most so many of an open one
    #[arg(long, short = 'c', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,

    /// The recorded run: LAST, or its number
    #[arg(long, default_value = "LAST", value_name = "RUN")]
    pub(crate) run: String,

    /// A second run, under another load: how much slower the database gets with more to do is
    /// learned from both
    #[arg(long, value_name = "RUN")]
    pub(crate) second_run: Option<String>,

    /// Find the fewest workers that hold this at the rate, such as 'p95 < 100ms'; with as many
    /// cores as they need, unless --cores limits them
    #[arg(
        long,
        value_name = "GOAL",
        requires = "rate",
        conflicts_with = "workers"
    )]
    pub(crate) goal: Option<whatif::goal::Goal>,

    #[command(flatten)]
    pub(crate) form: JsonArgs,
}

/// When the requests of an open load are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsArg {
    /// Evenly, as `hakaru run --rate` sends them
    Even,
    /// Independently of each other, as those of many users are
    Poisson,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru tune --advise                                   no experiments: from the last recorded run
  hakaru tune --goal 'p95 < 200ms'                       most requests/s that hold it
  hakaru tune --goal 'p95 < 200ms' --rate 300            least memory that holds it at that rate
  hakaru tune --budget 5m -- puma -b tcp://127.0.0.1:9292 config.ru
  hakaru tune --kubernetes web/app > patch.yaml          pods, workers, threads, CPU and memory for a Deployment

Your files are never changed: the lines to change are printed.
Exit codes: 0 goal met, 2 wrong usage, 3 goal missed, 5 app did not start, 130 interrupted; `hakaru help exit-codes` says more.")]
pub(crate) struct TuneArgs {
    /// What must hold, such as 'p95 < 200ms', 'p99 < 1s' or 'rps > 900'
    #[arg(long, value_name = "GOAL")]
    pub(crate) goal: Option<whatif::goal::Goal>,

    /// Measure nothing: recommend threads from a recorded run
    #[arg(long, conflicts_with_all = ["goal", "rate", "budget", "command"])]
    pub(crate) advise: bool,

    /// Open load: send this many requests per second; the setting with the least memory is then
    /// looked for
    #[arg(long, value_name = "PER_SECOND", allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,

    /// Connections of a closed load, or at most so many of an open one
    #[arg(long, short = 'c', value_name = "N", allow_negative_numbers = true)]
    pub(crate) connections: Option<u32>,

    /// Longest time for all measurements together
    #[arg(long, default_value = "3m", value_name = "TIME", value_parser = super::parse_duration)]
    pub(crate) budget: Duration,

    /// Length of the measured part of a block
    #[arg(long, default_value = "5s", value_name = "TIME", value_parser = super::parse_duration)]
    pub(crate) block: Duration,

    /// Load before the measured part, not counted
    #[arg(long, default_value = "2s", value_name = "TIME", value_parser = super::parse_duration)]
    pub(crate) warmup: Duration,

    /// Most workers tried [default: the cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) workers_max: Option<u32>,

    /// Most threads per worker tried
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads_max: u32,

    /// Then also race settings of the runtime on the best number of workers and threads: malloc,
    /// garbage collection, JIT
    #[arg(long, conflicts_with = "advise")]
    pub(crate) knobs: bool,

    /// Start from this run instead of recording one: LAST, or its number
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Where the app answers
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// A flow and its weight, instead of those of the config file; may be repeated
    #[arg(long = "flow", value_name = "FILE.hurl[:WEIGHT]")]
    pub(crate) flows: Vec<String>,

    /// Print the recommendation as a patch of this Deployment instead of the page; unless said, the
    /// container has the Deployment's name
    #[arg(long, value_name = "DEPLOYMENT[/CONTAINER]", conflicts_with_all = ["json", "advise", "knobs"])]
    pub(crate) kubernetes: Option<String>,

    /// Most workers of a pod [default: 4]
    #[arg(long, value_name = "N", requires = "kubernetes", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) pod_workers: Option<u32>,

    #[command(flatten)]
    pub(crate) form: JsonArgs,

    /// The command to start the app under Puma, instead of the config file's
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

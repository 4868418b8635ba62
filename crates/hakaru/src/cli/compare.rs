//! `hakaru compare` and `hakaru try` as typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{AppArgs, ConfigArgs, PageArgs, RateArgs, parse_duration};

#[derive(Clone, Debug, Default, Args)]
#[command(after_help = "\
Examples:
  hakaru compare 'puma -t 5:5' 'puma -t 3:3'              two commands
  hakaru compare --a git:main --b git:faster-json         two revisions, each in a worktree of its own
  hakaru compare --env-b RUBYOPT=--yjit                   one setting of the configured app
  hakaru compare --patch-b faster.diff                    a patch, applied to a copy
  hakaru compare --schema-b new.sql                       a schema, applied to a copy of the database
  hakaru compare --url-a http://127.0.0.1:3000/ --url-b http://127.0.0.1:3001/
  hakaru compare --noise                                  A with itself: what does this host tell apart?

Exit codes: 0 decided, 2 wrong usage, 4 requests failed, 5 app did not start, 6 app died, 7 folder busy,
8 not kept, 12 undecided, 130 interrupted; `hakaru help compare` says more.")]
pub(crate) struct CompareArgs {
    /// The commands that start A and B; without any, both are started as the config file says
    #[arg(value_name = "COMMAND", num_args = 0..=2)]
    pub(crate) commands: Vec<String>,

    /// What A is, instead of the folder as it is
    #[arg(long, value_name = "git:REF")]
    pub(crate) a: Option<String>,

    /// What B is, instead of the folder as it is
    #[arg(long, value_name = "git:REF")]
    pub(crate) b: Option<String>,

    /// A shell line that is run once in each worktree before the app is started there
    #[arg(long, value_name = "COMMAND")]
    pub(crate) build: Option<String>,

    /// A variable of A's environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env_a: Vec<String>,

    /// A variable of B's environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env_b: Vec<String>,

    /// A patch (`git diff`) that is applied to a copy of the folder for B
    #[arg(long, value_name = "FILE")]
    pub(crate) patch_b: Option<PathBuf>,

    /// The schema that B's database is to have
    #[arg(long, value_name = "FILE")]
    pub(crate) schema_b: Option<PathBuf>,

    /// Compare A with itself
    #[arg(long)]
    pub(crate) noise: bool,

    /// Where A answers: an app that is already running, or that of A's command when both stay up
    #[arg(long, value_name = "URL", requires = "url_b", conflicts_with = "url")]
    pub(crate) url_a: Option<String>,

    /// Where B answers
    #[arg(long, value_name = "URL", requires = "url_a")]
    pub(crate) url_b: Option<String>,

    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// How a comparison is measured.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HowArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Longest time for all of it, such as 5m [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) budget: Option<Duration>,

    /// At most so many blocks of four measurements [default: as many as the budget holds]
    #[arg(long, value_name = "N")]
    pub(crate) blocks: Option<usize>,

    /// Length of one measurement [default: what the budget allows]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) segment: Option<Duration>,

    /// Load before each measurement, not counted [default: as long as the first boots needed to
    /// settle]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) warmup: Option<Duration>,

    /// Connections of a closed load [default: 10]
    #[arg(long, short = 'c', value_name = "N", allow_negative_numbers = true)]
    pub(crate) connections: Option<u32>,

    #[command(flatten)]
    pub(crate) open: RateArgs,

    #[command(flatten)]
    pub(crate) app: AppArgs,

    /// Decides the order of flows and all random values; each block adds one
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) page: PageArgs,
}

#[derive(Clone, Debug, Default, Args)]
#[command(after_help = "\
Examples:
  hakaru run && hakaru try 2          does the remedy of the page's finding 2 really help?
  hakaru try 3 --patch fix.diff       a remedy that needs code
  hakaru try 2 --keep                 leaves an index in place when it proved faster

Exit codes are those of `hakaru compare`; `hakaru help compare` says more.")]
pub(crate) struct TryArgs {
    /// The finding's number on the run's page
    #[arg(value_name = "FINDING")]
    pub(crate) finding: u32,

    /// LAST, or the number of the run whose finding it is
    #[arg(long, default_value = "LAST", value_name = "RUN")]
    pub(crate) run: String,

    /// The change of code that the remedy asks for
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,

    /// jemalloc by LD_PRELOAD, where the remedy is about the allocator
    #[arg(long, conflicts_with = "patch")]
    pub(crate) jemalloc: bool,

    /// Leave an index in place when it proved faster; of settings the line to change is printed
    /// anyway
    #[arg(long)]
    pub(crate) keep: bool,

    #[command(flatten)]
    pub(crate) how: HowArgs,
}

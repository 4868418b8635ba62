//! Flags of `hakaru predict` and `hakaru tune`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru predict --workers 4 --threads 3                 the recorded load
  hakaru predict --workers 4 --threads 3 --cores 8 --rate 900
  hakaru predict --threads 3 --connections 50 --json

What is not given is as it was recorded. docs/tune.md says what is simulated and what is not.")]
pub(crate) struct PredictArgs {
    /// Worker processes
    #[arg(long, short = 'w', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: Option<u32>,

    /// Threads a worker
    #[arg(long, short = 't', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,

    /// Cores for all that ran on the machine: the app, and a load generator and database that ran beside it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) cores: Option<u32>,

    /// Open load: this many requests a second are due
    #[arg(long, value_name = "PER_SECOND")]
    pub(crate) rate: Option<f64>,

    /// When they are due
    #[arg(long, value_enum, default_value_t = ArrivalsArg::Even, requires = "rate")]
    pub(crate) arrivals: ArrivalsArg,

    /// Connections of a closed load, or at most so many of an open one
    #[arg(long, short = 'c', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,

    /// The recorded run: LAST, or its number
    #[arg(long, default_value = "LAST", value_name = "RUN")]
    pub(crate) run: String,

    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub(crate) json: bool,
}

/// When the requests of an open load are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsArg {
    /// Evenly, as `hakaru run --rate` sends them
    Even,
    /// Independently of each other, as those of many users are
    Poisson,
}

//! The flags of `hakaru sweep`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{AppArgs, ConfigArgs, JsonArgs, RunArgs, parse_duration};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru sweep                                           in a folder with hakaru.toml
  hakaru sweep --connections 1,2,4,8 --html curve.html -- puma -t 5:5 config.ru

Each number of connections is a run of its own, with a fresh start of the app; hakaru log lists them.")]
pub(crate) struct SweepArgs {
    /// Numbers of connections, measured in this order
    #[arg(long, short = 'c', value_name = "N,N,…", value_delimiter = ',', default_value = "1,2,5,10,20,50,100,200",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: Vec<u32>,

    /// Measure all of them, also when throughput has stopped growing
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Length of the measured part of each run, such as 20s or 2m [default: 20s]
    #[arg(long, short = 'd', value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,

    /// Load before the measured part, not counted [default: 3s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) warmup: Option<Duration>,

    #[command(flatten)]
    pub(crate) app: AppArgs,

    /// Decides the order of flows and all random values
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) form: JsonArgs,

    /// Also write the curves as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// The command that starts the app, instead of the config file's
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

impl SweepArgs {
    /// The flags of one step's run.
    pub(crate) fn step(&self, connections: u32) -> RunArgs {
        RunArgs {
            config: self.config.clone(),
            connections: Some(connections),
            duration: self.duration,
            warmup: self.warmup,
            app: self.app.clone(),
            seed: self.seed,
            command: self.command.clone(),
            ..RunArgs::default()
        }
    }
}

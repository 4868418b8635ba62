//! The flags of `hakaru collect`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{PageArgs, parse_duration};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru collect --for 60s               while a contest's benchmark runs; Ctrl-C ends it earlier
  hakaru collect -- ./bench --target app1   for as long as a command runs
  hakaru collect --for 60s --json > before.json
  hakaru collect --for 60s --html page.html

The hosts stand in hakaru.toml, each as [[host]] with name, ssh, roles and logs; `hakaru help hosts` says more.
Exit codes: 0 all good, 1 a host or a log could not be read to the end, 2 wrong usage, 130 Ctrl-C.")]
pub(crate) struct CollectArgs {
    /// How long to collect
    #[arg(
        long = "for",
        value_name = "TIME",
        value_parser = parse_duration,
        required_unless_present = "command"
    )]
    pub(crate) duration: Option<Duration>,

    /// Collect while this command runs; with --for at most so long
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// The config file [default: hakaru.toml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// A regular expression whose paths are one group; may be repeated, the first to match counts
    #[arg(short = 'm', long = "match", value_name = "REGEX")]
    pub(crate) matching: Vec<String>,

    /// Routes and statements shown; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,

    #[command(flatten)]
    pub(crate) page: PageArgs,
}

//! The flags of `hakaru run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{AppArgs, ConfigArgs, PageArgs, RateArgs, parse_duration};

#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  hakaru run                                             in a folder with hakaru.toml
  hakaru run --connections 32 --duration 20s -- puma -t 5:5 config.ru
  hakaru run --url http://127.0.0.1:3000/ --attach       an app that is already running
  hakaru run --json > run.json

Exit codes: 0 all good, 2 wrong usage, 4 requests failed, 5 app did not start, 6 app died, 7 folder busy,
8 not kept, 130 interrupted; `hakaru help exit-codes` says more.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Connections of a closed load, each sending its next request when the last is answered
    /// [default: 10]
    #[arg(long, short = 'c', value_name = "N", allow_negative_numbers = true)]
    pub(crate) connections: Option<u32>,

    #[command(flatten)]
    pub(crate) open: RateArgs,

    /// Length of the measured part, such as 20s or 2m [default: 20s]
    #[arg(long, short = 'd', value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,

    /// Load before the measured part, not counted [default: 3s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) warmup: Option<Duration>,

    #[command(flatten)]
    pub(crate) app: AppArgs,

    /// Keep the bodies of failed requests as examples, which may hold secrets
    #[arg(long)]
    pub(crate) keep_bodies: bool,

    /// Threads of the load generator [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) generator_threads: Option<u32>,

    /// Decides the order of flows and all random values [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// Speak HTTP/2: over https by ALPN, over http with prior knowledge
    #[arg(long)]
    pub(crate) http2: bool,

    /// Trust the certificate authorities in this file instead of the system's, where the URL is
    /// https
    #[arg(long, value_name = "FILE.pem")]
    pub(crate) ca: Option<PathBuf>,

    /// Trust any certificate
    #[arg(long, conflicts_with = "ca")]
    pub(crate) insecure: bool,

    /// Use an app already running; a view from inside needs an agent there (`hakaru agent`)
    #[arg(long, conflicts_with = "command")]
    pub(crate) attach: bool,

    /// A host other than this machine that may be loaded; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) host_ok: Vec<String>,

    /// Start the app without the agent
    #[arg(long)]
    pub(crate) no_agent: bool,

    /// Do not look at the stacks of the app's threads (100 times per second)
    #[arg(long)]
    pub(crate) no_profile: bool,

    /// Send nothing after the load to compare pages between visitors, and advise no public cache
    #[arg(long)]
    pub(crate) no_ask_again: bool,

    /// Print all of the page: SQL, the findings' evidence and fixes, how sure the numbers are
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) page: PageArgs,

    /// The command that starts the app, instead of the config file's
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

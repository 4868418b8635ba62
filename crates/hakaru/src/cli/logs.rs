//! The flags of `hakaru logs`.

use std::path::PathBuf;

use clap::Args;

use super::JsonArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru logs /var/log/nginx/access.log
  hakaru logs access.log.2.gz access.log.1 access.log    several files are one log
  hakaru logs access.log -m '^/api/' -m '^/assets/'      groups of your own; the rest by routes
  hakaru logs --format '$remote_addr [$time_local] \"$request\" $status $body_bytes_sent $request_time' access.log
  ssh db cat /var/log/mysql/slow.log | hakaru logs -     statements by digest, most time first

Exit codes: 0 all good, 1 a file cannot be read, 2 wrong usage or a log of no known kind; `hakaru help logs` says more.")]
pub(crate) struct LogsArgs {
    /// Access logs, or slow logs of MySQL, MariaDB or PostgreSQL; packed by gzip or not; - is
    /// standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The access log's lines: ltsv, json, combined, common, or nginx's log_format or Apache's
    /// LogFormat [default: by the first line]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,

    /// A regular expression whose paths are one group; may be repeated, the first that matches
    /// counts
    #[arg(
        short = 'm',
        long = "match",
        value_name = "REGEX",
        conflicts_with = "paths"
    )]
    pub(crate) matching: Vec<String>,

    /// Paths as they are, instead of routes
    #[arg(long)]
    pub(crate) paths: bool,

    /// Routes or statements shown; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,

    #[command(flatten)]
    pub(crate) form: JsonArgs,
}

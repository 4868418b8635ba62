//! The flags of `hakaru flows`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct FlowsArgs {
    #[command(subcommand)]
    pub(crate) action: FlowsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowsAction {
    /// Write flows, weights and a load from a record of traffic
    From(FlowsFromArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru flows from /var/log/nginx/access.log    a flow for each route, by its share, at the log's rate
  hakaru flows from walk.har --writes            a browser's walk, with its forms
  hakaru flows from copied.txt                   lines that a browser copied as cURL
  hakaru flows from openapi.yaml                 a flow for each operation, with its examples
  hakaru flows from access.log --replay          each request of the log when it came, in its order
  hakaru flows from --run last                   the routes of a run of our own, by their shares
  hakaru run --config hakaru-access.toml         the load that was written

Exit codes: 0 all good, 1 a file cannot be read or written, 2 wrong usage or a record of no known kind; `hakaru help flows` says more.")]
pub(crate) struct FlowsFromArgs {
    /// An access log (several are one log; packed by gzip or not), a .har file, lines copied as
    /// cURL, or an OpenAPI 3 description; - is standard input
    #[arg(value_name = "FILE", required_unless_present = "run")]
    pub(crate) files: Vec<PathBuf>,

    /// A run of this folder instead of a file: its number, or last
    #[arg(long, value_name = "RUN", conflicts_with_all = ["files", "format"])]
    pub(crate) run: Option<String>,

    /// Make each request due as recorded, in the record's order, instead of the same mix and rate
    #[arg(long)]
    pub(crate) replay: bool,

    /// How many times as fast as recorded, such as 2 or 0.5 [default: 1]
    #[arg(
        long,
        value_name = "FACTOR",
        requires = "replay",
        allow_negative_numbers = true
    )]
    pub(crate) speed: Option<f64>,

    /// The access log's lines: ltsv, json, combined, common, or nginx's log_format or Apache's
    /// LogFormat [default: by the first line]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,

    /// Run requests that change data too: POST, PUT, PATCH, DELETE
    #[arg(long)]
    pub(crate) writes: bool,

    /// The name of the folder in flows/ and of the config file [default: the first file's name, or
    /// run-N]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Where the app responds, when there is no hakaru.toml that says so
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:9292")]
    pub(crate) url: String,
}

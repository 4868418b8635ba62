//! The flags of `hakaru check`.

use std::path::PathBuf;

use clap::Args;

use super::{JsonArgs, ReachArgs};

/// Flags as typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru check login.hurl
  hakaru check flows/*.hurl --url http://127.0.0.1:3000 --variable name=ana
  hakaru check                              # all flows of hakaru.toml

Exit codes: 0 every check held, 2 a flow cannot be used, 4 a check failed or an answer did not come,
130 Ctrl-C, or nobody reads on.")]
pub(crate) struct CheckArgs {
    /// The flows, run in this order [default: those of hakaru.toml]
    #[arg(value_name = "FILE.hurl")]
    pub(crate) flows: Vec<PathBuf>,

    /// The base URL [default: `url` in hakaru.toml, or http://127.0.0.1:9292/]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// A variable of the flows; may be repeated
    #[arg(long = "variable", value_name = "NAME=VALUE")]
    pub(crate) variables: Vec<String>,

    /// Variables from the first rows of a file; columns are {{NAME_column}}, or {{column}}
    #[arg(long, value_name = "[NAME=]FILE.csv")]
    pub(crate) csv: Option<String>,

    #[command(flatten)]
    pub(crate) reach: ReachArgs,

    /// Speak HTTP/2: over https by ALPN, over http with prior knowledge
    #[arg(long)]
    pub(crate) http2: bool,

    /// Show request and answer also where all is well
    #[arg(long, short = 'v')]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) form: JsonArgs,
}

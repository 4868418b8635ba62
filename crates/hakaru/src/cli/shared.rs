//! Flags that several commands have, with the same words in each: one flattened group each.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::parse_duration;

/// The app's address and the flows that are requested of it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AppArgs {
    /// Where the app answers; its path is requested when there is no flow
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// A flow and its weight, instead of those of the config file; may be repeated
    #[arg(long = "flow", value_name = "FILE.hurl[:WEIGHT]")]
    pub(crate) flows: Vec<String>,
}

/// The config file.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConfigArgs {
    /// The config file [default: hakaru.toml in this folder, if there is one]
    #[arg(id = "config", long = "config", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// The rate of an open load.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct RateArgs {
    /// Open load: send this many requests per second, however slowly the server answers
    #[arg(long, value_name = "PER_SECOND", allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,
}

/// The form of the result.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct JsonArgs {
    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub(crate) json: bool,
}

/// The form of the result, and the file of its page.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PageArgs {
    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub(crate) json: bool,

    /// Also write the page as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// The way to the server: address, trust and the longest wait.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReachArgs {
    /// Connect there instead of to the URL's host: HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) connect_to: Option<String>,

    /// Connect through this HTTP proxy, by CONNECT: http://HOST:PORT
    #[arg(long, value_name = "PROXY", conflicts_with = "connect_to")]
    pub(crate) proxy: Option<String>,

    /// Trust the certificate authorities in this file instead of the system's
    #[arg(long, value_name = "FILE.pem")]
    pub(crate) ca: Option<PathBuf>,

    /// Trust any certificate
    #[arg(long, conflicts_with = "ca")]
    pub(crate) insecure: bool,

    /// Longest wait for an answer
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

impl ReachArgs {
    /// Where connections go, when not to the URL's host. The error is a sentence.
    pub(crate) fn via(&self) -> Result<Option<load::Via>, String> {
        load::Via::of(self.connect_to.as_deref(), self.proxy.as_deref())
    }
}

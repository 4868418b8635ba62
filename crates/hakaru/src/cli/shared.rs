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

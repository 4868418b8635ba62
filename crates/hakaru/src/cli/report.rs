//! The flags of `hakaru report`, `hakaru log` and `hakaru note`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// LAST, or a run's number
    #[arg(default_value = "LAST", value_name = "RUN")]
    pub(crate) run: String,

    /// Print all of the page: SQL, the findings' evidence and fixes, how sure the numbers are
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,

    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the page as one self-contained HTML file, instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only the last N runs; the newest stands last
    #[arg(short = 'n', long = "last", value_name = "N")]
    pub(crate) last: Option<usize>,

    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub(crate) json: bool,

    /// Print a Markdown table
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,

    /// Write the journal as one self-contained HTML file, instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct NoteArgs {
    /// LAST, or a run's number
    #[arg(value_name = "RUN")]
    pub(crate) run: String,

    /// The remark
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

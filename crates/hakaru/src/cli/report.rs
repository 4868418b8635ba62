//! The flags of `hakaru report`, `hakaru log` and `hakaru note`.

use std::path::PathBuf;

use clap::Args;

use super::JsonArgs;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// LAST, or a run's number
    #[arg(default_value = "LAST", value_name = "RUN")]
    pub(crate) run: String,

    /// Print all of the page: SQL, the findings' evidence and fixes, how sure the numbers are
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) form: JsonArgs,

    /// Write the page as one self-contained HTML file, instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only the last N runs; the newest stands last
    #[arg(short = 'n', long = "last", value_name = "N")]
    pub(crate) last: Option<usize>,

    #[command(flatten)]
    pub(crate) form: JsonArgs,

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

//! The flags of `hakaru prune`.

use std::time::Duration;

use clap::{ArgGroup, Args};

use super::parse_duration;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).multiple(true))]
pub(crate) struct PruneArgs {
    /// Runs, by their numbers
    #[arg(value_name = "RUN", group = "which", conflicts_with_all = ["keep", "older_than"])]
    pub(crate) runs: Vec<i64>,

    /// All but the newest N
    #[arg(long, value_name = "N", group = "which")]
    pub(crate) keep: Option<usize>,

    /// Those that were begun longer ago than this, such as 30d; with --keep, those that are both
    #[arg(long, value_name = "TIME", value_parser = parse_duration, group = "which")]
    pub(crate) older_than: Option<Duration>,

    /// Remove them without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

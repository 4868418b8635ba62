//! The flags of `hakaru links`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct LinksArgs {
    /// A folder, best one of those in PATH
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// Replace files of these names that are something else
    #[arg(long)]
    pub(crate) force: bool,
}

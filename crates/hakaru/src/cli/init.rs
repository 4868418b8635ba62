//! The flags of `hakaru init`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The app's folder, the one with config.ru [default: this one]
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

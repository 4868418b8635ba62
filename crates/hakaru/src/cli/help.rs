//! The flags of `hakaru help`, `hakaru completions` and `hakaru man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// A command, or a topic such as config, findings, exit-codes; without one, all are listed
    #[arg(value_name = "COMMAND|TOPIC")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru completions bash > ~/.local/share/bash-completion/completions/hakaru
  hakaru completions zsh  > \"${fpath[1]}/_hakaru\"
  hakaru completions fish > ~/.config/fish/completions/hakaru.fish")]
pub(crate) struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  hakaru man ~/.local/share/man/man1 && man hakaru-run")]
pub(crate) struct ManArgs {
    /// An existing folder for hakaru.1, hakaru-run.1 and so on
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

//! The flags of `hakaru doctor`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use doctor::Area;

use super::PageArgs;

/// Whether the machine is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
    /// Yes, in up to 10 s
    #[default]
    Yes,
    /// No: facts only, in less than 1 s
    No,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru doctor                                   this machine, its Ruby, the app in this folder, its database
  hakaru doctor --only database --database mysql2://root@127.0.0.1/app
  hakaru doctor --pid 4242                        how that process is treated
  hakaru doctor --json > laptop.json              elsewhere: hakaru doctor --compare laptop.json
  hakaru doctor --list                            every check with its source

Nothing is changed. Exit codes: 0 whatever was found, 1 a file cannot be read or written, 2 wrong usage,
8 no room for the page, 130 Ctrl-C.")]
pub(crate) struct DoctorArgs {
    /// Only these areas: cpu, container, memory, limits, network, disk, ruby, app, database; may be
    /// repeated
    #[arg(long, value_name = "AREA", value_parser = area)]
    pub(crate) only: Vec<Area>,

    /// Whether to measure the machine, which takes up to 10 s: yes or no
    #[arg(
        long,
        value_enum,
        value_name = "yes|no",
        default_value = "yes",
        hide_possible_values = true
    )]
    pub(crate) measure: Measure,

    /// A running process, in place of what a process started here would get
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,

    /// The app's folder [default: the one of the process of --pid, else the current one]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,

    /// The address of a database; may be repeated [default: that of hakaru.toml, else of
    /// DATABASE_URL]
    #[arg(long = "database", value_name = "URL")]
    pub(crate) databases: Vec<String>,

    /// A database host other than this machine that may be asked; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) host_ok: Vec<String>,

    /// Compare with the facts in a document of `--json`, made on another machine
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "html"])]
    pub(crate) compare: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) page: PageArgs,

    /// List all checks with their sources
    #[arg(long, conflicts_with_all = ["json", "html", "compare", "pid"])]
    pub(crate) list: bool,

    /// The command that would start the app; its Ruby is looked at. It is not run
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

fn area(name: &str) -> Result<Area, String> {
    let names: Vec<&str> = Area::ALL.iter().map(|area| area.name()).collect();
    Area::named(name).ok_or_else(|| format!("not an area; there are {}", names.join(", ")))
}

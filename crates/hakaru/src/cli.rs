//! The command line as typed. Nothing outside the process is touched here.

mod compare;
mod sweep;
mod tune;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::check_command::CheckArgs;
use crate::load_command::args::LoadArgs;
use crate::profile::cli::ProfileArgs;
use crate::talk::look::Colour;
pub(crate) use compare::{CompareArgs, HowArgs, TryArgs};
pub(crate) use sweep::SweepArgs;
pub(crate) use tune::{ArrivalsArg, PredictArgs, TuneArgs};

/// Find out why a web application is slow, change one thing, and prove whether it helped.
#[derive(Debug, Parser)]
#[command(name = "hakaru", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    /// Language of the pages [default: that of LC_ALL, LC_MESSAGES or LANG]
    #[arg(long, global = true, value_name = "LANGUAGE")]
    pub(crate) lang: Option<crate::language::Typed>,
    /// When to use colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) color: Colour,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look at an app's folder, write hakaru.toml and a first flow
    Init(InitArgs),
    /// Start the app, load it, watch it from inside, and say where each request's time went
    Run(RunArgs),
    /// Run flows once and show each exchange with each failed check
    Check(CheckArgs),
    /// Send requests to a URL and say how much it can take and how late the answers are
    Load(Box<LoadArgs>),
    /// Which lines burn CPU, wait, allocate: run a Ruby program and look at all its threads' stacks
    Profile(ProfileArgs),
    /// Run the app under more and more connections until it takes no more
    Sweep(SweepArgs),
    /// Show a run that was kept
    Report(ReportArgs),
    /// Is B faster than A, and how sure is that? Two commands, revisions, settings, schemas, in interleaved blocks
    Compare(Box<CompareArgs>),
    /// Try the remedy of a finding: measure it beside the app as it is, say what it gives, take it back
    Try(Box<TryArgs>),
    /// List the runs that were kept: what changed since the one before, and what that gave
    Log(LogArgs),
    /// Remove runs that are not needed any more, after a question
    Prune(crate::prune::PruneArgs),
    /// Add a remark to a run in the journal
    Note(NoteArgs),
    /// Compare two schemas, or bring a database to the wanted one
    Schema(crate::schema::SchemaArgs),
    /// What would other numbers of workers and threads give? From a recorded run
    Predict(PredictArgs),
    /// Does this machine, container, Ruby or database slow the app down? Facts, what they cost here, what to change
    Doctor(crate::doctor_command::DoctorArgs),
    /// Make the names mysqldef, psqldef and sqlite3def for this program in a folder
    Links(crate::links::LinksArgs),
    /// How many workers and threads are best? Predicts, then measures what is promising
    Tune(TuneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The app's folder, the one with config.ru [default: this one]
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  hakaru run                                             in a folder with hakaru.toml
  hakaru run --connections 32 --duration 20s -- puma -t 5:5 config.ru
  hakaru run --url http://127.0.0.1:3000/ --attach       an app that is already running, from outside
  hakaru run --json > run.json

Exit codes: 0 all good, 2 wrong usage, 4 requests failed, 5 app did not start, 6 app died, 7 folder busy,
8 not kept, 130 interrupted; docs/exit-codes.md says more.")]
pub(crate) struct RunArgs {
    /// The config file [default: hakaru.toml in this folder, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Connections of a closed load, each sending its next request when the last is answered [default: 10]
    #[arg(long, short = 'c', value_name = "N", allow_negative_numbers = true)]
    pub(crate) connections: Option<u32>,

    /// Open load: send this many requests per second, however slowly the server answers
    #[arg(long, value_name = "PER_SECOND", allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,

    /// Length of the measured part, such as 20s or 2m [default: 20s]
    #[arg(long, short = 'd', value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,

    /// Load before the measured part, not counted [default: 3s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) warmup: Option<Duration>,

    /// Where the app answers; its path is requested when there is no flow
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// A flow and its weight, instead of those of the config file; may be repeated
    #[arg(long = "flow", value_name = "FILE.hurl[:WEIGHT]")]
    pub(crate) flows: Vec<String>,

    /// Threads of the load generator [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) generator_threads: Option<u32>,

    /// Decides the order of flows and all random values [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// Use an app that is already running; no view from inside in that case
    #[arg(long, conflicts_with = "command")]
    pub(crate) attach: bool,

    /// A host other than this machine that may be loaded; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) host_ok: Vec<String>,

    /// Start the app without the agent
    #[arg(long)]
    pub(crate) no_agent: bool,

    /// Do not look at the stacks of the app's threads (100 times per second)
    #[arg(long)]
    pub(crate) no_profile: bool,

    /// Print all of the page: SQL, the findings' evidence and fixes, how sure the numbers are
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,

    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub(crate) json: bool,

    /// Also write the page as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// The command that starts the app, instead of the config file's
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

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

/// Reads `500ms`, `20s`, `2m`, `1h`; a bare number is seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds_a_unit = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => {
            return Err(format!(
                "`{text}` is not a duration; use for example 500ms, 20s, 2m or 1h"
            ));
        }
    };
    number
        .parse::<f64>()
        .ok()
        .and_then(|number| Duration::try_from_secs_f64(number * seconds_a_unit).ok())
        .ok_or_else(|| format!("`{text}` is not a duration; use for example 500ms, 20s, 2m or 1h"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_are_read_with_their_unit() {
        let check = |text: &str, seconds: Option<f64>| {
            assert_eq!(
                parse_duration(text).ok(),
                seconds.map(Duration::from_secs_f64),
                "{text}"
            );
        };
        check("20s", Some(20.0));
        check("20", Some(20.0));
        check("1.5m", Some(90.0));
        check("500ms", Some(0.5));
        check("2h", Some(7200.0));
        check("30d", Some(2_592_000.0));
        check("", None);
        check("s", None);
        check("-1s", None);
        check("3 days", None);
    }
}

//! The command line as typed. Nothing outside the process is touched here.

mod check;
mod collect;
mod compare;
mod doctor;
mod flows;
mod help;
mod init;
mod links;
mod load;
mod logs;
mod prune;
mod report;
mod run;
mod shared;
mod sweep;
mod tune;
pub(crate) mod usage;

use clap::{Parser, Subcommand};

use crate::output::look::Colour;
pub(crate) use check::CheckArgs;
pub(crate) use collect::CollectArgs;
pub(crate) use compare::{CompareArgs, HowArgs, TryArgs};
pub(crate) use doctor::{DoctorArgs, Measure};
pub(crate) use figures::duration::parse as parse_duration;
pub(crate) use flows::{FlowsAction, FlowsArgs, FlowsFromArgs};
pub(crate) use help::{CompletionsArgs, HelpArgs, ManArgs};
pub(crate) use init::InitArgs;
pub(crate) use links::LinksArgs;
pub(crate) use load::{ClusterArgs, GeneratorArgs, LoadArgs, LoadCommand, MergeArgs};
pub(crate) use logs::LogsArgs;
pub(crate) use profile_commands::flags::{AgentArgs, ProfileArgs};
pub(crate) use prune::PruneArgs;
pub(crate) use report::{LogArgs, NoteArgs, ReportArgs};
pub(crate) use run::RunArgs;
pub(crate) use schema_commands::flags::SchemaArgs;
pub(crate) use shared::{AppArgs, ConfigArgs, JsonArgs, PageArgs, RateArgs, ReachArgs};
pub(crate) use sweep::SweepArgs;
pub(crate) use tune::{ArrivalsArg, PredictArgs, TuneArgs};

/// Find out why a web application is slow, change one thing, and prove whether it helped.
#[derive(Debug, Parser)]
#[command(
    name = "hakaru",
    version,
    about,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// Language of the pages [default: that of LC_ALL, LC_MESSAGES or LANG]
    #[arg(long, global = true, value_name = "LANGUAGE")]
    pub(crate) lang: Option<console::language::Typed>,
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
    /// Place the agent for an app started by somebody else, for a view from inside
    Agent(AgentArgs),
    /// Run the app under more and more connections until it takes no more
    Sweep(SweepArgs),
    /// Show a run that was kept
    Report(ReportArgs),
    /// Is B faster than A, and how sure is that? Two commands, revisions, settings, schemas, in
    /// interleaved blocks
    Compare(Box<CompareArgs>),
    /// Is this Ruby, this code or this command faster? benchmark_driver's files, in interleaved
    /// fresh processes
    Bench(Box<microbench_commands::flags::BenchArgs>),
    /// Try the remedy of a finding: measure it beside the app as it is, say what it gives, take it
    /// back
    Try(Box<TryArgs>),
    /// List the runs that were kept: what changed since the one before, and what that gave
    Log(LogArgs),
    /// Remove runs that are not needed any more, after a question
    Prune(PruneArgs),
    /// Add a remark to a run in the journal
    Note(NoteArgs),
    /// Compare two schemas, or bring a database to the wanted one
    Schema(SchemaArgs),
    /// What would other numbers of workers and threads give? From a recorded run
    Predict(PredictArgs),
    /// Does this machine, container, Ruby or database slow the app down? Facts, what they cost
    /// here, what to change
    Doctor(DoctorArgs),
    /// Where did the time go, by an access log or a database's slow log? By route, by statement
    Logs(LogsArgs),
    /// What did several hosts do in the same seconds? CPU, disks, access logs and slow logs over
    /// SSH
    Collect(CollectArgs),
    /// The far side of `collect`
    #[command(hide = true)]
    Collector,
    /// The far side of `load --on` and of `load --kubernetes`
    #[command(hide = true)]
    Generator(GeneratorArgs),
    /// Write flows and a load from a record of traffic: an access log, a browser's .har, copied
    /// cURL lines
    Flows(FlowsArgs),
    /// Make the names mysqldef, psqldef, sqlite3def and benchmark-driver for this program in a
    /// folder
    Links(LinksArgs),
    /// How many workers and threads are best? Predicts, then measures what is promising
    Tune(TuneArgs),
    /// Show the flags of a command, or a page on a topic: config, findings, exit-codes and others
    Help(HelpArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write man pages into a folder
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}

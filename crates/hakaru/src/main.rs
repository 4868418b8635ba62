//! The program: flags, config file, wiring, exit codes. It computes nothing itself.
//!
//! Start reading at [`run::run`], which is `hakaru run` from top to bottom.

mod check_command;
mod cli;
mod compare;
mod config;
mod consent;
mod context;
mod def;
mod doctor_command;
mod exit;
mod init;
mod language;
mod links;
mod load_command;
mod log;
mod note;
mod page;
mod predict;
mod profile;
mod prune;
mod revision;
mod run;
mod schema;
mod settings;
mod sweep;
mod talk;
mod try_finding;
mod tune;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let called = std::env::args_os().next();
    if let Some(tool) = called.and_then(|name| def::Tool::of(&name)) {
        return def::main(tool);
    }
    let cli = match Cli::try_parse_from(usage::typed()) {
        Ok(cli) => cli,
        Err(error) => return usage::explain(error),
    };
    talk::look::choose(cli.color);
    language::choose(cli.lang);
    let ended = match cli.command {
        Command::Init(args) => init::init(&args),
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check_command::check(&args),
        Command::Load(args) => load_command::load(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Report(args) => page::report(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Try(args) => try_finding::try_finding(&args),
        Command::Log(args) => log::log(&args),
        Command::Prune(args) => prune::prune(&args),
        Command::Note(args) => note::note(&args),
        Command::Links(args) => links::links(&args),
        Command::Schema(args) => return schema::run(&args),
        Command::Profile(args) => profile::profile(&args),
        Command::Predict(args) => predict::predict(&args),
        Command::Doctor(args) => doctor_command::doctor(&args),
        Command::Tune(args) => tune::tune(&args),
    };
    match ended {
        // Who pipes the page into a file on a full disk must not take it for written.
        Ok(exit::Exit::Ok) if talk::lost_data() => exit::Exit::Failed.into(),
        Ok(exit) => exit.into(),
        Err(failure) => {
            talk::say(format!("hakaru: {}", failure.message));
            failure.exit.into()
        }
    }
}

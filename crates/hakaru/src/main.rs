//! The program: flags, config file, wiring, exit codes. It computes nothing itself.
//!
//! Start reading at [`commands::run::run`], which is `hakaru run` from top to bottom.

mod cli;
mod commands;
mod consent;
mod context;
mod exit;
mod hosts;
mod output;
mod runs;
mod settings;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use console::language;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let called = std::env::args_os().next();
    if let Some(tool) = called.and_then(|name| sqldef::Tool::of(&name)) {
        return sqldef::main(tool);
    }
    let typed = match typed() {
        Ok(typed) => typed,
        Err(text) => {
            output::data(&text);
            return exit::Exit::Ok.into();
        }
    };
    let cli = match Cli::try_parse_from(typed) {
        Ok(cli) => cli,
        Err(error) => return cli::usage::explain(error),
    };
    output::look::choose(cli.color);
    language::choose(cli.lang);
    let ended = match cli.command {
        Command::Init(args) => commands::init::init(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Check(args) => commands::check::check(&args),
        Command::Load(args) => commands::load::load(&args),
        Command::Sweep(args) => commands::sweep::sweep(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Bench(args) => commands::bench::bench(&args),
        Command::Compare(args) => commands::compare::compare(&args),
        Command::Try(args) => commands::try_finding::try_finding(&args),
        Command::Logs(args) => commands::logs::logs(&args),
        Command::Collect(args) => commands::collect::collect(&args),
        Command::Collector => commands::collect::collector(),
        Command::Generator(args) => commands::load::generator::generator(&args),
        Command::Flows(args) => commands::flows::flows(&args),
        Command::Log(args) => commands::log::log(&args),
        Command::Prune(args) => commands::prune::prune(&args),
        Command::Note(args) => commands::note::note(&args),
        Command::Links(args) => commands::links::links(&args),
        Command::Schema(args) => return commands::schema::run(args),
        Command::Agent(args) => commands::profile::agent(&args),
        Command::Profile(args) => commands::profile::profile(&args),
        Command::Predict(args) => commands::predict::predict(&args),
        Command::Doctor(args) => commands::doctor::doctor(&args),
        Command::Tune(args) => commands::tune::tune(&args),
        Command::Help(args) => commands::help::help(&args),
        Command::Completions(args) => commands::help::completions(&args),
        Command::Man(args) => commands::help::man(&args),
    };
    match ended {
        // Who pipes the page into a file on a full disk must not take it for written.
        Ok(exit::Exit::Ok) if output::lost_data() => exit::Exit::Failed.into(),
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::notice(format!("hakaru: {}", failure.message));
            failure.exit.into()
        }
    }
}

/// The command line, by whatever name the program was called; `Err` is a text to print instead.
fn typed() -> Result<Vec<OsString>, String> {
    let mut arguments = std::env::args_os();
    match arguments.next() {
        Some(name) if microbench_commands::is_called(&name) => {
            microbench_commands::typed(arguments)
        }
        _ => Ok(cli::usage::typed()),
    }
}

//! Demo: the chat app under load, and a page of the result.

use std::env;
use std::process::Command;

use crate::run::{Outcome, cargo, root, run, target_folder};
use crate::servers::{self, Server};
use crate::setup::{self, Options, Purpose};

const USAGE: &str = "usage: bin/demo [--db mariadb] [--yes] [COMMAND] [FLAGS]

  Builds Hakaru, fills the example app's database, and runs `hakaru run` on it. The page goes to
  standard output, everything else to standard error. Nothing is installed: what is missing is
  listed, and unpacked into the build folder when you agree.

  --db mariadb   the app uses a MariaDB that lives as long as the demo, not SQLite
  --yes          do not ask
  COMMAND        another command of hakaru, such as `try 3`, `report` or `log`; `run` by default
  FLAGS          flags of that command, such as `--duration 5s`; `bin/demo run --help` lists them";

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let (options, rest) = setup::read_options(arguments, Some(Purpose::Demo))?;
    if matches!(rest.first().map(String::as_str), Some("--help" | "-h")) {
        eprintln!("{USAGE}");
        return Ok(());
    }
    setup::prepare(&options)?;
    run(&mut cargo(&["build", "--release", "--package", "hakaru"]))?;
    let server = start_database(&options)?;
    let words = command_of(&rest);
    if !asks_for_help(&words) {
        eprintln!("demo: filling the chat's database");
        let mut seed = Command::new("ruby");
        seed.args(["seed.rb", "--reset"]).stdout(std::io::stderr());
        run(&mut in_chat(seed, server.as_ref()))?;
    }
    let mut hakaru = Command::new(target_folder().join("release/hakaru"));
    hakaru.args(&words);
    run(&mut in_chat(hakaru, server.as_ref()))?;
    eprintln!("\n{}", last_words(&door(&options)));
    Ok(())
}

/// Returns the next steps for the reader: neither `hakaru` nor Ruby is in the reader's `PATH`, and
/// the app is in another folder.
fn last_words(door: &str) -> String {
    format!(
        "demo: where the page says `hakaru`, type `{door}` here. It runs hakaru in apps/chat:\n  \
         {door} try N               what NEXT names: measure the fix of finding N beside the app as it is\n  \
         {door} report --html page.html\n  \
         {door} --help"
    )
}

/// Returns the words for `hakaru`: flags alone belong to `run`.
fn command_of(rest: &[String]) -> Vec<String> {
    let is_command = rest.first().is_some_and(|word| !word.starts_with('-'));
    let run = (!is_command).then(|| "run".to_owned());
    run.into_iter().chain(rest.iter().cloned()).collect()
}

fn asks_for_help(words: &[String]) -> bool {
    words.iter().any(|word| word == "--help" || word == "-h")
}

/// Returns the command typed by the reader, as passed on by `bin/demo`.
fn door(options: &Options) -> String {
    let typed = env::var("HAKARU_DOOR").unwrap_or_else(|_| "bin/demo".to_owned());
    let database = if options.mariadb { " --db mariadb" } else { "" };
    typed + database
}

fn in_chat(mut command: Command, server: Option<&Server>) -> Command {
    command.current_dir(root().join("apps/chat"));
    match server {
        Some(server) => command.env("DATABASE_URL", &server.url),
        None => command.env_remove("DATABASE_URL"),
    };
    command
}

fn start_database(options: &Options) -> Outcome<Option<Server>> {
    if !options.mariadb {
        return Ok(None);
    }
    eprintln!("demo: starting a MariaDB that stops when the demo ends");
    servers::mariadb().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_alone_are_those_of_run() {
        let check = |rest: &str, expected: &str| {
            let rest: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            assert_eq!(command_of(&rest).join(" "), expected);
        };
        check("", "run");
        check("--duration 5s", "run --duration 5s");
        check("try 1 --budget 3m", "try 1 --budget 3m");
    }
}

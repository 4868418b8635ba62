//! Flags and variables for numbers of workers and threads.

use app_process::{CommandLine, Spec};
use whatif::HandOut;
use whatif::search::Cell;

use crate::puma;
use crate::settings::set_variable;

/// Servers with adjustable workers and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// Configured by flags and variables.
    Puma,
    /// One thread a worker, whose number is set by signals after the start.
    Unicorn,
}

impl Server {
    /// Returns the server, by the dispatch of requests in the recording.
    pub fn of(hand_out: HandOut) -> Server {
        match hand_out {
            HandOut::Shared => Server::Unicorn,
            HandOut::PumaInline | HandOut::PumaReactor => Server::Puma,
        }
    }
}

/// Returns the spec with the given cell: flags where the command names Puma, as flags win over
/// Puma's config file; and the variables read by Puma, Rails' `config/puma.rb` and `database.yml`.
pub(crate) fn with_cell(spec: &Spec, server: Server, cell: Cell) -> Spec {
    let mut spec = spec.clone();
    if server == Server::Puma {
        spec.command = command(&spec.command, cell);
    }
    set(&mut spec, environment(server, cell));
    spec
}

/// Returns the spec as [`with_cell`] does, for a Puma with threads changed at run time, up to
/// `threads_max`: the variables allow for as many database connections. `None` where the command
/// takes no flags, so that the variables are all it has.
pub(crate) fn live(spec: &Spec, cell: Cell, threads_max: u32) -> Option<Spec> {
    let mut spec = with_cell(spec, Server::Puma, cell);
    if !puma::is_named_in(&spec.command) {
        return None;
    }
    let most = Cell {
        threads: threads_max.max(cell.threads),
        ..cell
    };
    set(&mut spec, environment(Server::Puma, most));
    spec.env.push(("HAKARU_LIVE".to_owned(), "1".to_owned()));
    Some(spec)
}

fn set<const N: usize>(spec: &mut Spec, variables: [(&'static str, String); N]) {
    for (name, value) in variables {
        set_variable(&mut spec.env, name, &value);
    }
}

/// Flags of Puma. One worker is single mode: a master above it would only take memory.
pub(crate) fn flags(cell: Cell) -> [String; 4] {
    let Cell { workers, threads } = cell;
    let workers = if workers > 1 { workers } else { 0 };
    [
        "-w",
        &workers.to_string(),
        "-t",
        &format!("{threads}:{threads}"),
    ]
    .map(str::to_owned)
}

/// Returns variables for commands without flags, and for the size of the connection pool.
pub(crate) fn environment(server: Server, cell: Cell) -> [(&'static str, String); 4] {
    // To Puma none is a worker without a master; Unicorn's configurations want at least one.
    let is_single = server == Server::Puma && cell.workers <= 1;
    let workers = if is_single { 0 } else { cell.workers };
    [
        ("RAILS_MAX_THREADS", cell.threads.to_string()),
        ("PUMA_MAX_THREADS", cell.threads.to_string()),
        ("PUMA_MIN_THREADS", cell.threads.to_string()),
        ("WEB_CONCURRENCY", workers.to_string()),
    ]
}

fn command(command: &CommandLine, cell: Cell) -> CommandLine {
    let flags = flags(cell);
    match command {
        other if !puma::is_named_in(other) => other.clone(),
        CommandLine::Argv(words) => CommandLine::Argv(words.iter().cloned().chain(flags).collect()),
        CommandLine::Shell(line) => {
            CommandLine::Shell(format!("{} {}", line.trim(), flags.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use app_process::Endpoint;

    use super::*;

    fn check(command: CommandLine, cell: (u32, u32), expected: &str) {
        let url = Endpoint::parse("http://127.0.0.1:9292").expect("an address");
        let mut spec = Spec::new(command, url);
        spec.env = vec![("RAILS_MAX_THREADS".into(), "5".into())];
        let (workers, threads) = cell;
        let spec = with_cell(&spec, Server::Puma, Cell { workers, threads });
        assert_eq!(spec.command.to_string(), expected);
        let told: Vec<&String> = (spec.env.iter())
            .filter(|(name, _)| name == "RAILS_MAX_THREADS")
            .map(|(_, value)| value)
            .collect();
        assert_eq!(told, [&threads.to_string()]);
    }

    #[test]
    fn puma_is_told_by_flags_and_others_by_variables() {
        let shell = |line: &str| CommandLine::Shell(line.to_owned());
        check(
            shell("puma -t 5:5 config.ru"),
            (1, 3),
            "puma -t 5:5 config.ru -w 0 -t 3:3",
        );
        check(
            shell("cd app && bundle exec puma"),
            (2, 3),
            "cd app && bundle exec puma -w 2 -t 3:3",
        );
        let argv = CommandLine::Argv(["bin/puma", "-C", "a b"].map(str::to_owned).to_vec());
        check(argv, (2, 1), "bin/puma -C 'a b' -w 2 -t 1:1");
        check(shell("bin/rails server"), (2, 3), "bin/rails server");
    }

    #[test]
    fn a_running_puma_has_connections_for_all_threads_to_come() {
        let url = Endpoint::parse("http://127.0.0.1:9292").expect("an address");
        let live_of = |line: &str| {
            let spec = Spec::new(CommandLine::Shell(line.to_owned()), url.clone());
            let cell = Cell {
                workers: 1,
                threads: 3,
            };
            live(&spec, cell, 16)
        };
        let spec = live_of("puma").expect("it takes flags");
        assert_eq!(spec.command.to_string(), "puma -w 0 -t 3:3");
        let told =
            |name: &str, value: &str| spec.env.contains(&(name.to_owned(), value.to_owned()));
        assert!(told("RAILS_MAX_THREADS", "16") && told("HAKARU_LIVE", "1"));
        assert!(live_of("bin/rails server").is_none());
    }

    #[test]
    fn unicorn_is_told_by_a_variable_and_signals() {
        let url = Endpoint::parse("http://127.0.0.1:9292").expect("an address");
        let line = "unicorn -c puma/unicorn.rb";
        let spec = Spec::new(CommandLine::Shell(line.to_owned()), url);
        let cell = Cell {
            workers: 1,
            threads: 1,
        };
        let spec = with_cell(&spec, Server::Unicorn, cell);
        assert_eq!(spec.command.to_string(), line);
        assert!(
            spec.env
                .contains(&("WEB_CONCURRENCY".to_owned(), "1".to_owned()))
        );
    }
}

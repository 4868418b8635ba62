//! How a command is told its numbers of workers and threads.

use target::{CommandLine, Spec};
use whatif::search::Cell;

/// The spec with that cell: flags where the command names Puma, whose flags win over its config file; and the
/// variables that Puma, Rails' `config/puma.rb` and its `database.yml` read.
pub(crate) fn with_cell(spec: &Spec, cell: Cell) -> Spec {
    let mut spec = spec.clone();
    spec.command = command(&spec.command, cell);
    for (name, value) in environment(cell) {
        spec.env.retain(|(known, _)| known != name);
        spec.env.push((name.to_owned(), value));
    }
    spec
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

/// Variables, for commands that take no flags, and for the pool of connections to the database.
pub(crate) fn environment(cell: Cell) -> [(&'static str, String); 4] {
    let workers = if cell.workers > 1 { cell.workers } else { 0 };
    [
        ("RAILS_MAX_THREADS", cell.threads.to_string()),
        ("PUMA_MAX_THREADS", cell.threads.to_string()),
        ("PUMA_MIN_THREADS", cell.threads.to_string()),
        ("WEB_CONCURRENCY", workers.to_string()),
    ]
}

fn command(command: &CommandLine, cell: Cell) -> CommandLine {
    let is_puma = |word: &str| word == "puma" || word.ends_with("/puma");
    let flags = flags(cell);
    match command {
        CommandLine::Argv(words) if words.iter().any(|word| is_puma(word)) => {
            CommandLine::Argv(words.iter().cloned().chain(flags).collect())
        }
        CommandLine::Shell(line) if line.split_whitespace().any(is_puma) => {
            CommandLine::Shell(format!("{} {}", line.trim(), flags.join(" ")))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use target::Endpoint;

    use super::*;

    fn check(command: CommandLine, cell: (u32, u32), expected: &str) {
        let url = Endpoint::parse("http://127.0.0.1:9292").expect("an address");
        let mut spec = Spec::new(command, url);
        spec.env = vec![("RAILS_MAX_THREADS".into(), "5".into())];
        let (workers, threads) = cell;
        let spec = with_cell(&spec, Cell { workers, threads });
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
        check(argv, (2, 1), "bin/puma -C a b -w 2 -t 1:1");
        check(shell("bin/rails server"), (2, 3), "bin/rails server");
    }
}

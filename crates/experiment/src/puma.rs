//! Command lines of Puma.

use app_process::CommandLine;

/// Whether flags at the end of a command are Puma's.
pub(crate) fn is_named_in(command: &CommandLine) -> bool {
    match command {
        CommandLine::Argv(words) => words.iter().any(|word| is_puma(word)),
        CommandLine::Shell(line) => line.split_whitespace().any(is_puma),
    }
}

fn is_puma(word: &str) -> bool {
    word == "puma" || word.ends_with("/puma")
}

/// Returns Puma's command line with the given flags, each with a value, replacing old ones; `None`
/// for a command without Puma.
pub fn with_flags(command: &str, flags: &[Vec<String>]) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let mut old = command.split_whitespace().peekable();
    let mut found = false;
    while let Some(word) = old.next() {
        let long = match word {
            "--threads" => "-t",
            "--workers" => "-w",
            short => short,
        };
        let replaced = flags.iter().find(|flag| flag[0] == long);
        if let Some(flag) = replaced.filter(|_| found) {
            for _ in 1..flag.len() {
                old.next();
            }
            continue;
        }
        words.push(word.to_owned());
        if is_puma(word) && !found && old.peek().is_none_or(|next| !next.starts_with('=')) {
            found = true;
            words.extend(flags.concat());
        }
    }
    found.then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use findings::PumaFlags;

    use super::*;

    #[test]
    fn flags_take_the_place_of_those_that_are_there() {
        let flags = |workers, threads, preload| PumaFlags {
            workers,
            threads: Some(threads).filter(|threads| *threads > 0),
            preload,
        };
        let check = |command: &str, flags: PumaFlags, expected: Option<&str>| {
            let changed = with_flags(command, &flags.words());
            assert_eq!(changed.as_deref(), expected, "{command}");
        };
        let three = flags(None, 3, false);
        check(
            "puma -t 5:5 config.ru",
            three,
            Some("puma -t 3:3 config.ru"),
        );
        check("puma config.ru", three, Some("puma -t 3:3 config.ru"));
        check(
            "RACK_ENV=production bundle exec puma --threads 5:5 -w 2",
            flags(Some(1), 2, false),
            Some("RACK_ENV=production bundle exec puma -w 1 -t 2:2"),
        );
        check(
            "puma --preload -w 1 -t 5:5 config.ru",
            flags(Some(2), 0, true),
            Some("puma -w 2 --preload -t 5:5 config.ru"),
        );
        check("rails server -t 3", three, None);
    }
}

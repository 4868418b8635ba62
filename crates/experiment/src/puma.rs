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
        if found && let Some(behind) = values_behind(word, flags) {
            for _ in 0..behind {
                old.next();
            }
            continue;
        }
        // A folder may have the server's name.
        let is_folder = words.last().is_some_and(|last| last == "cd");
        words.push(word.to_owned());
        let is_first = is_puma(word) && !is_folder && !found;
        if is_first && old.peek().is_none_or(|next| !next.starts_with('=')) {
            found = true;
            words.extend(flags.concat());
        }
    }
    found.then(|| words.join(" "))
}

/// Returns how many words after `word` are the value, where `word` is one of the flags in any form
/// (`-t 5:5`, `-t5:5`, `--threads 5:5`, `--threads=5:5`); `None` for another word.
fn values_behind(word: &str, flags: &[Vec<String>]) -> Option<usize> {
    flags.iter().find_map(|flag| {
        let (short, values) = (flag[0].as_str(), flag.len() - 1);
        let long = match short {
            "-t" => "--threads",
            "-w" => "--workers",
            other => other,
        };
        if word == short || word == long {
            return Some(values);
        }
        let is_joined = |name: &str, between: &str| {
            let rest = word.strip_prefix(name);
            values > 0 && rest.is_some_and(|rest| rest.starts_with(between))
        };
        // `-t` begins no other flag of Puma's, and long ones begin with two dashes.
        (is_joined(long, "=") || is_joined(short, "")).then_some(0)
    })
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
        check("puma -t5:5 -w2", three, Some("puma -t 3:3 -w2"));
        check(
            "puma --threads=5:5 --tag one",
            three,
            Some("puma -t 3:3 --tag one"),
        );
        check(
            "cd /srv/puma && puma -w2 --workers=3 -p 1",
            flags(Some(1), 0, false),
            Some("cd /srv/puma && puma -w 1 -p 1"),
        );
    }
}

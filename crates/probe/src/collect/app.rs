//! An app's folder, read as text: nothing of the app is run.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::file;
use super::process::is_read;
use doctor::snapshot::{App, Origin};

/// Most files looked at.
const SOURCES_MAX: usize = 500;
/// Bytes read of each: comments at the head are shorter.
const HEAD_BYTES: u64 = 512;
/// Settings of `production.rb` examined by checks.
const PRODUCTION: [&str; 5] = [
    "config.eager_load",
    "config.log_level",
    "config.enable_reloading",
    "config.cache_classes",
    "config.active_record.verbose_query_logs",
];

/// Reads the folder; `None` for a folder without a Ruby app.
pub fn read(folder: &Path) -> Option<App> {
    let lock = file(folder.join("Gemfile.lock"));
    let puma = file(folder.join("config/puma.rb")).or_else(|| file(folder.join("puma.rb")));
    if lock.is_none() && puma.is_none() && !folder.join("config.ru").exists() {
        return None;
    }
    let puma = puma.unwrap_or_default();
    let production = file(folder.join("config/environments/production.rb")).unwrap_or_default();
    let boot = file(folder.join("config/boot.rb")).unwrap_or_default();
    let gems = gems(&lock.unwrap_or_default());
    let sources = sources(folder);
    let frozen = sources.iter().filter(|path| is_frozen(path)).count();
    let (workers, workers_origin) = setting(&puma, "workers", |text| text);
    let (threads, threads_origin) = setting(&puma, "threads", last_argument);
    let yaml = file(folder.join("config/database.yml")).unwrap_or_default();
    let (pool, pool_origin) = pool(&yaml);
    Some(App {
        sources: sources.len() as u32,
        sources_unfrozen: (sources.len() - frozen) as u32,
        workers,
        workers_origin,
        threads,
        threads_origin,
        preload: (!puma.is_empty())
            .then(|| argument(&puma, "preload_app!").is_some_and(|text| text != "false")),
        pool,
        pool_origin,
        production: PRODUCTION
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), assigned(&production, name)?)))
            .collect(),
        boots_snap: boot.contains("bootsnap"),
        is_rails: gems.contains_key("rails") || gems.contains_key("railties"),
        gems,
    })
}

/// Returns Ruby files of `app` and `lib`, as many as are looked at in a moment.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.join("app"), folder.join("lib")], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path();
            // A link may lead back up.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "rb") => {
                    files.push(path);
                }
                _ => {}
            }
        }
        if files.len() >= SOURCES_MAX || folders.len() >= SOURCES_MAX {
            break;
        }
    }
    files.truncate(SOURCES_MAX);
    files
}

/// Whether the comments at the head of a file freeze the file's string literals.
fn is_frozen(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let mut comments = head.lines().take_while(|line| line.starts_with('#'));
    read.is_ok()
        && comments.any(|line| {
            let words = line.replace('-', "_");
            words.contains("frozen_string_literal: true")
        })
}

/// Names and versions of a lock file: lines of four blanks, a name, and a version in brackets.
fn gems(lock: &str) -> BTreeMap<String, String> {
    let gem = |line: &str| {
        let line = line.strip_prefix("    ")?;
        let (name, version) = line.strip_suffix(')')?.split_once(" (")?;
        (!name.starts_with(' ')).then(|| (name.to_owned(), version.to_owned()))
    };
    lock.lines().filter_map(gem).collect()
}

/// Returns the line of Ruby or YAML without the comment at the end.
fn without_comment(line: &str) -> &str {
    let line = line.trim();
    let begins = |at: &usize| {
        let rest = &line[*at + 1..];
        // `#{` is part of a string.
        !rest.starts_with('{') && (*at == 0 || line[..*at].ends_with([' ', '\t']))
    };
    let end = line.match_indices('#').map(|(at, _)| at).find(begins);
    line[..end.unwrap_or(line.len())].trim_end()
}

/// Returns the arguments of the first line beginning with `word`, without brackets around all, a
/// comment or a condition.
fn argument<'a>(source: &'a str, word: &str) -> Option<&'a str> {
    source.lines().find_map(|line| {
        let rest = without_comment(line).strip_prefix(word)?;
        let is_whole = rest.is_empty() || rest.starts_with([' ', '(']);
        let rest = is_whole.then(|| rest.trim())?;
        let bare = rest.split(" if ").next().unwrap_or(rest);
        let bare = bare.split(" unless ").next().unwrap_or(bare).trim();
        let inside = bare.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        Some(inside.unwrap_or(bare).trim())
    })
}

/// Returns the number in the part of the arguments of `word` picked by `part`.
fn setting(source: &str, word: &str, part: fn(&str) -> &str) -> (Option<u32>, Origin) {
    match argument(source, word) {
        Some(arguments) => counted(source, part(arguments), 0),
        None => (None, Origin::Unset),
    }
}

/// Returns the last of several arguments: commas inside of brackets separate others.
fn last_argument(arguments: &str) -> &str {
    let (mut depth, mut begin) = (0_i32, 0);
    for (at, letter) in arguments.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => begin = at + 1,
            _ => {}
        }
    }
    arguments[begin..].trim()
}

/// Returns number and origin of an expression: `5`, `ENV.fetch("X", 5)`, `ENV["X"] || 5`, or the
/// name of a variable with such a value.
fn counted(source: &str, expression: &str, depth: u32) -> (Option<u32>, Origin) {
    const DEPTH_MAX: u32 = 4;
    let computed = (None, Origin::Computed);
    if let Ok(number) = expression.parse() {
        return (Some(number), Origin::Literal);
    }
    if let Some((_, rest)) = expression.split_once("ENV") {
        let Some((name, rest)) = quoted(rest).filter(|(_, rest)| !rest.contains("ENV")) else {
            return computed;
        };
        // The value of another variable stays unread, as a secret would.
        return match is_read(name) {
            true => (number(rest), Origin::Variable(name.to_owned())),
            false => computed,
        };
    }
    let is_name = |text: &str| {
        let fits = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        text.chars()
            .all(|letter| fits(letter) || letter.is_ascii_digit())
    };
    if depth < DEPTH_MAX && !expression.is_empty() && is_name(expression) {
        let value = assigned(source, expression);
        return value.map_or(computed, |value| counted(source, &value, depth + 1));
    }
    computed
}

/// The first quoted text, and what stands behind the text.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let begin = text.find(['"', '\''])?;
    let quote = text[begin..].chars().next()?;
    text[begin + 1..].split_once(quote)
}

/// The number of `, 5)`, of `) { 5 }` and of `] || "5"`; `None` where more than a number stands.
fn number(text: &str) -> Option<u32> {
    let mut words = text
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty() && *word != "to_i");
    let number = words.next()?.parse().ok()?;
    words.next().is_none().then_some(number)
}

fn pool(yaml: &str) -> (Option<u32>, Origin) {
    let value = yaml.lines().find_map(|line| {
        let line = without_comment(line);
        line.strip_prefix("pool:")
            .or_else(|| line.strip_prefix("max_connections:"))
    });
    let Some(value) = value.map(|value| value.trim().trim_matches(['"', '\''])) else {
        return (None, Origin::Unset);
    };
    let inside = value.strip_prefix("<%=");
    let inside = inside.and_then(|value| value.strip_suffix("%>"));
    counted("", inside.unwrap_or(value).trim(), 0)
}

/// Returns the value of `name = value`, without a comment.
fn assigned(source: &str, name: &str) -> Option<String> {
    source.lines().find_map(|line| {
        let value = line.trim().strip_prefix(name)?.trim_start();
        let value = value.strip_prefix('=')?;
        let value = value.split('#').next().unwrap_or_default();
        Some(value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_sources() {
        let workers = |puma: &str| setting(puma, "workers", |text| text);
        let threads = |puma: &str| setting(puma, "threads", last_argument);
        let variable = |name: &str| Origin::Variable(name.to_owned());
        let puma = "# workers 9\nworkers ENV.fetch(\"WEB_CONCURRENCY\") { 2 }\nthreads 1, 16\npreload_app!\n";
        assert_eq!(workers(puma), (Some(2), variable("WEB_CONCURRENCY")));
        assert_eq!(threads(puma), (Some(16), Origin::Literal));
        assert!(argument(puma, "preload_app!").is_some());
        assert_eq!(
            argument("preload_app! false", "preload_app!"),
            Some("false")
        );
        let named = "count = ENV.fetch(\"RAILS_MAX_THREADS\", 3)\nthreads count, count\n";
        assert_eq!(threads(named), (Some(3), variable("RAILS_MAX_THREADS")));
        let two = "threads ENV.fetch('MIN_THREADS', 1), Integer(ENV['MAX_THREADS'] || \"7\")";
        assert_eq!(threads(two), (Some(7), variable("MAX_THREADS")));
        // Numbers of comments and conditions are none of the setting.
        assert_eq!(
            threads("threads 5, 5 # was 16, 16"),
            (Some(5), Origin::Literal)
        );
        assert_eq!(
            workers("workers(2) # issue 3678"),
            (Some(2), Origin::Literal)
        );
        let rails = "worker_count = Integer(ENV.fetch(\"WEB_CONCURRENCY\") { Concurrent.physical_processor_count })
                     workers worker_count if worker_count > 1";
        assert_eq!(workers(rails), (None, variable("WEB_CONCURRENCY")));
        assert_eq!(
            workers("workers Etc.nprocessors * 2"),
            (None, Origin::Computed)
        );
        assert_eq!(workers("workers :auto"), (None, Origin::Computed));
        assert_eq!(workers("a = a\nworkers a"), (None, Origin::Computed));
        assert_eq!(
            workers("workers ENV.fetch('OF_US', 4)"),
            (None, Origin::Computed)
        );
        assert_eq!(workers("worker_timeout 60"), (None, Origin::Unset));
        let erb = "  pool: <%= ENV.fetch(\"RAILS_MAX_THREADS\") { 5 } %> # 10 in docs";
        assert_eq!(pool(erb), (Some(5), variable("RAILS_MAX_THREADS")));
        assert_eq!(pool("pool: \"5\" # not 10"), (Some(5), Origin::Literal));
        let lock = "GEM\n  specs:\n    puma (6.4.2)\n      nio4r (~> 2.0)\n";
        assert_eq!(gems(lock).get("puma").map(String::as_str), Some("6.4.2"));
        assert_eq!(gems(lock).len(), 1);
        let value = assigned("  config.log_level = :debug # all\n", "config.log_level");
        assert_eq!(value.as_deref(), Some(":debug"));
    }

    #[test]
    fn files_with_frozen_strings_are_told_from_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let models = folder.path().join("app/models");
        fs::create_dir_all(&models).expect("folders");
        let write = |name: &str, text: &str| fs::write(models.join(name), text).expect("written");
        write(
            "a.rb",
            "#!/usr/bin/ruby\n# Frozen-String-Literal: true\nclass A; end\n",
        );
        write("b.rb", "class B; end\n# frozen_string_literal: true\n");
        write("c.rb", "# frozen_string_literal: false\n");
        write("d.txt", "# frozen_string_literal: true\n");
        std::os::unix::fs::symlink(folder.path(), models.join("up")).expect("a link");
        let found = sources(folder.path());
        assert_eq!(found.len(), 3, "{found:?}");
        let frozen: Vec<_> = found.iter().filter(|path| is_frozen(path)).collect();
        assert_eq!(frozen, [&models.join("a.rb")]);
    }
}

//! An app's folder, read as text: nothing of the app is run.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::file;
use doctor::snapshot::App;

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
    Some(App {
        sources: sources.len() as u32,
        sources_unfrozen: (sources.len() - frozen) as u32,
        workers: argument(&puma, "workers").and_then(number),
        threads: argument(&puma, "threads").and_then(|text| threads(&puma, text)),
        preload: (!puma.is_empty()).then(|| argument(&puma, "preload_app!").is_some()),
        pool: file(folder.join("config/database.yml")).and_then(|text| pool(&text)),
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

/// Returns the arguments of the first line beginning with `word`, without brackets.
fn argument<'a>(source: &'a str, word: &str) -> Option<&'a str> {
    source.lines().find_map(|line| {
        let rest = line.trim().strip_prefix(word)?;
        let is_whole = rest.is_empty() || rest.starts_with([' ', '(']);
        is_whole.then(|| rest.trim_matches([' ', '(', ')']))
    })
}

/// The number of `5`, of `ENV.fetch("X", 5)` and of `ENV.fetch("X") { 5 }`: the last one of the
/// text.
fn number(text: &str) -> Option<u32> {
    let digits = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .rfind(|word| !word.is_empty() && digits(word))?
        .parse()
        .ok()
}

/// Returns the larger number of `threads least, most`; a name stands for the number assigned to the
/// name.
fn threads(source: &str, arguments: &str) -> Option<u32> {
    let most = arguments
        .rsplit_once(", ")
        .map_or(arguments, |(_, most)| most);
    number(most).or_else(|| number(&assigned(source, most)?))
}

fn pool(yaml: &str) -> Option<u32> {
    let value = yaml.lines().find_map(|line| {
        let line = line.trim();
        line.strip_prefix("pool:")
            .or_else(|| line.strip_prefix("max_connections:"))
    })?;
    number(value)
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
        let puma = "# workers 9\nworkers ENV.fetch(\"WEB_CONCURRENCY\") { 2 }\nthreads 1, 16\npreload_app!\n";
        assert_eq!(argument(puma, "workers").and_then(number), Some(2));
        assert_eq!(
            argument(puma, "threads").and_then(|text| threads(puma, text)),
            Some(16)
        );
        assert!(argument(puma, "preload_app!").is_some());
        let named = "count = ENV.fetch(\"RAILS_MAX_THREADS\", 3)\nthreads count, count\n";
        assert_eq!(threads(named, "count, count"), Some(3));
        assert_eq!(number("threads_count"), None);
        assert_eq!(pool("  pool: <%= ENV.fetch(\"T\") { 5 } %>"), Some(5));
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

//! An app's folder, read as text: nothing of the app is run.

use std::collections::BTreeMap;
use std::path::Path;

use super::file;
use doctor::snapshot::App;

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
    Some(App {
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
}

//! Which crate may see which, which do no I/O, and what no code may do with our own texts.

use super::File;

/// Allowed dependencies of each crate inside the workspace. An arrow that is missing here is a
/// decision: write down why in ARCHITECTURE.md, and see that none of them leads back.
const ARROWS: &[(&str, &str)] = &[
    ("agent", "ring sql-digest"),
    ("app-process", "secrets"),
    (
        "bench",
        "app-process breakdown capture load microbench recording scenario schema schema-db stacks stats store whatif",
    ),
    ("breakdown", "recording routes"),
    (
        "capture",
        "database database-client recording ring sql-digest stacks",
    ),
    ("chromium", ""),
    ("collect", "capture logs recording remote"),
    ("collector", "collect remote"),
    ("comparison", "recording secrets stats words"),
    ("console", "ending figures words"),
    ("database", ""),
    ("database-client", ""),
    ("doctor", "figures words"),
    ("ending", ""),
    (
        "experiment",
        "app-process breakdown capture comparison database doctor ending figures findings guard load probe recording scenario schema schema-db \
         stats store whatif words",
    ),
    ("figures", "words"),
    (
        "findings",
        "breakdown database doctor figures recording stacks stats whatif words",
    ),
    ("flows", "logs recording routes secrets"),
    ("generators", "load load-report recording scenario"),
    ("guard", "app-process ending words"),
    ("kubernetes", ""),
    ("load", "figures recording scenario secrets"),
    ("load-hosts", "generators load recording remote"),
    ("load-report", "figures load recording scenario words"),
    ("logs", "routes sql-digest"),
    ("logs-report", "collect console figures logs remote words"),
    ("microbench", "stats words"),
    (
        "microbench-commands",
        "capture console ending figures microbench report stats store words",
    ),
    ("otlp", "load load-report recording scenario"),
    ("probe", "capture database doctor stats"),
    (
        "profile-commands",
        "breakdown capture console ending experiment figures report stacks store words",
    ),
    ("rails-schema", "schema"),
    ("recording", ""),
    ("remote", ""),
    (
        "report",
        "breakdown comparison figures findings microbench recording stacks stats whatif words",
    ),
    ("ring", ""),
    ("routes", ""),
    ("scenario", "figures xpath"),
    ("schema", ""),
    (
        "schema-commands",
        "console database database-client ending figures rails-schema schema schema-db schema-lint words",
    ),
    ("schema-db", "database database-client schema schema-lint"),
    ("schema-lint", "schema"),
    ("secrets", ""),
    ("sql-digest", ""),
    (
        "sqldef",
        "console database-client schema schema-commands schema-db",
    ),
    ("stacks", ""),
    ("starter", "console guard load scenario words"),
    ("stats", ""),
    ("store", "recording"),
    ("whatif", "breakdown recording stats"),
    ("words", ""),
    ("xpath", ""),
];

/// Crate of the program, which may use every crate; no crate may use the program or the benchmarks.
const PROGRAM: &str = "hakaru";

/// Crates with purity as an invariant.
const PURE: [&str; 18] = [
    "breakdown",
    "comparison",
    "database",
    "doctor",
    "ending",
    "figures",
    "findings",
    "generators",
    "recording",
    "report",
    "schema",
    "secrets",
    "sql-digest",
    "stacks",
    "stats",
    "whatif",
    "words",
    "xpath",
];

/// Modules never named by a pure crate outside of tests.
const IMPURE: [&str; 7] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "Instant::now",
    "SystemTime::now",
    "rustix::",
];

/// Code reading back a text of hakaru's own, where the value looked for should be passed on.
const READ_BACK: [&str; 8] = [
    ".what.starts_with(",
    ".what.contains(",
    "exact.starts_with(",
    "exact.strip_prefix(",
    "exact.contains(",
    "reason.starts_with(",
    "ended_early.as_deref()",
    "remedy.text.to_string().contains(",
];

/// Returns the dependencies between crates missing in the table.
pub(super) fn unknown_arrows(files: &[File]) -> Vec<String> {
    let manifests = files.iter().filter_map(|file| {
        let name = file.path.strip_prefix("crates/")?;
        Some((name.strip_suffix("/Cargo.toml")?, file))
    });
    let (names, manifests): (Vec<&str>, Vec<&File>) = manifests.unzip();
    let mut wrong = Vec::new();
    for (name, file) in names.iter().zip(manifests) {
        if *name == PROGRAM {
            continue;
        }
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == name) else {
            wrong.push(format!(
                "{}: the crate has no line among the arrows of xtask/src/tidy/arrows.rs",
                file.path
            ));
            continue;
        };
        let used = used_by(&file.text, &names);
        wrong.extend(
            (used.iter())
                .filter(|used| !allowed.split_whitespace().any(|known| known == **used))
                .map(|used| format!("{}: {name} may not use {used}", file.path)),
        );
    }
    wrong
}

/// Returns the crates of the workspace named by a manifest, except for tests.
fn used_by<'a>(manifest: &str, names: &[&'a str]) -> Vec<&'a str> {
    let mut is_for_tests = false;
    let mut used = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_for_tests = line == "[dev-dependencies]";
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        let known = names
            .iter()
            .find(|known| !is_for_tests && (**known == name || format!("hakaru-{known}") == name));
        used.extend(known.filter(|_| line.contains("workspace")));
    }
    used
}

/// Returns the I/O in a pure crate.
pub(super) fn impure(file: &File) -> Vec<String> {
    let is_pure = PURE
        .iter()
        .any(|name| file.path.starts_with(&format!("crates/{name}/src/")));
    match is_pure {
        true => lines_with(file, &IMPURE, "this crate is pure, and"),
        false => Vec::new(),
    }
}

/// Returns the code reading back texts of hakaru's own; the benchmarks read the program's JSON, as
/// any user does.
pub(super) fn read_back(file: &File) -> Vec<String> {
    let is_ours = file.path.starts_with("crates/") && file.path.contains("/src/");
    match is_ours && !file.path.starts_with("crates/bench/") {
        true => lines_with(
            file,
            &READ_BACK,
            "our own text is read back; pass the value:",
        ),
        false => Vec::new(),
    }
}

fn lines_with(file: &File, words: &[&str], complaint: &str) -> Vec<String> {
    if is_of_tests(&file.path) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate();
    let code = lines
        .take_while(|(_, line)| *line != "#[cfg(test)]")
        .filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.filter_map(|(index, line)| {
        let word = words.iter().find(|word| line.contains(*word))?;
        Some(format!("{}:{}: {complaint} `{word}`", file.path, index + 1))
    })
    .collect()
}

/// Returns whether a file is only compiled for tests, by name.
fn is_of_tests(path: &str) -> bool {
    path.split('/')
        .any(|part| part == "tests" || part.ends_with("tests.rs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn an_arrow_back_is_found() {
        let recording = "[dependencies]\nfigures.workspace = true\n[dev-dependencies]\nwords.workspace = true\n";
        let files = [
            file("crates/recording/Cargo.toml", recording),
            file(
                "crates/figures/Cargo.toml",
                "[dependencies]\nwords.workspace = true\n",
            ),
            file("crates/words/Cargo.toml", "[package]\n"),
            file("crates/brand-new/Cargo.toml", "[package]\n"),
        ];
        let wrong = unknown_arrows(&files);
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong[0].ends_with("recording may not use figures"));
        assert!(wrong[1].contains("brand-new"));
    }

    #[test]
    fn no_arrow_leads_back() {
        fn reaches(from: &str, to: &str) -> bool {
            let (_, next) = ARROWS
                .iter()
                .find(|(name, _)| *name == from)
                .expect("a line");
            next.split_whitespace()
                .any(|next| next == to || reaches(next, to))
        }
        for (name, _) in ARROWS {
            assert!(!reaches(name, name), "{name}");
        }
    }

    #[test]
    fn io_in_a_pure_crate_is_found_outside_of_its_tests() {
        let text =
            "use std::fs;\n// std::net is only named\n#[cfg(test)]\nmod tests { use std::env; }\n";
        assert_eq!(impure(&file("crates/stats/src/lib.rs", text)).len(), 1);
        assert!(impure(&file("crates/stats/src/tests.rs", text)).is_empty());
        assert!(impure(&file("crates/store/src/lib.rs", text)).is_empty());
    }

    #[test]
    fn a_text_that_is_read_back_is_found() {
        let text = format!("    if trouble.what{}\"x\") {{\n", ".starts_with(");
        assert_eq!(read_back(&file("crates/report/src/lib.rs", &text)).len(), 1);
        assert!(read_back(&file("crates/report/tests/a.rs", &text)).is_empty());
    }
}

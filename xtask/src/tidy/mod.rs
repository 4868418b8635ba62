//! Rules of the repository beyond the compiler's. Each looks at text and returns what is wrong.

mod arrows;
mod circles;
mod commits;
mod language;
mod names;
mod shape;

use std::fs;
use std::process::Command;

use crate::run::{Outcome, capture, root};

/// A file known to git, or about to be added.
pub(crate) struct File {
    /// Relative to the top folder.
    pub(crate) path: String,
    pub(crate) text: String,
}

pub(crate) fn task() -> Outcome<()> {
    let files = repository_files()?;
    let mut wrong: Vec<String> = files.iter().flat_map(check_file).collect();
    let text_of = |path: &str| {
        files
            .iter()
            .find(|file| file.path == path)
            .map_or("", |file| file.text.as_str())
    };
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    wrong.extend(names::stale_paths(text_of("ARCHITECTURE.md"), &paths));
    wrong.extend(names::unmentioned_crates(
        text_of("ARCHITECTURE.md"),
        &paths,
    ));
    wrong.extend(names::unexplained_dependencies(
        text_of("Cargo.toml"),
        text_of("docs/dependencies.md"),
    ));
    let members: Vec<&str> = files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"))
        .map(|file| file.text.as_str())
        .collect();
    wrong.extend(arrows::unknown_arrows(&files));
    wrong.extend(circles::long(&files));
    wrong.extend(shape::long_program(&files));
    wrong.extend(commits::unclear()?);
    wrong.extend(language::unclear(&files));
    wrong.extend(crate::web::stale(&files));
    wrong.extend(names::unused_dependencies(text_of("Cargo.toml"), &members));
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} rules are broken:\n  {}",
        wrong.len(),
        wrong.join("\n  ")
    ))
}

fn check_file(file: &File) -> Vec<String> {
    let mut wrong = names::forbidden_words(file);
    if file.path.ends_with(".rs") {
        wrong.extend(shape::long_rust(file));
        wrong.extend(shape::ignored_tests(file));
        wrong.extend(arrows::impure(file));
        wrong.extend(arrows::read_back(file));
    } else if file.path.ends_with(".rb") {
        wrong.extend(shape::long_ruby(file));
    }
    wrong
}

/// Every text file of the repository, by path.
pub(crate) fn repository_files() -> Outcome<Vec<File>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root());
    let mut paths: Vec<String> = capture(&mut git)?.lines().map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    // Pictures and other binary files are no UTF-8 and have no rules; deleted files are still
    // listed.
    let read = |path: String| {
        Some(File {
            text: fs::read_to_string(root().join(&path)).ok()?,
            path,
        })
    };
    Ok(paths.into_iter().filter_map(read).collect())
}

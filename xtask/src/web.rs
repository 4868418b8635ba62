//! The HTML page: built from `web/` with Node, committed, and compared with what the sources give.
//!
//! Two comparisons. `tidy` needs no Node: the built page carries a mark made of its sources. `test`
//! builds the page again and compares every byte, which also shows that the build is deterministic.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::{Outcome, capture, root, run, write};
use crate::tidy::File;

/// The built page, relative to the top folder.
pub(crate) const BUILT: &str = "crates/report/assets/report.html";
/// Where the build leaves a place for the mark.
const MARK_PLACE: &str = "HAKARU_SOURCES";
/// What Vite asks for.
const NODE_MIN: (u32, u32) = (20, 19);

/// Builds the page, and writes the file embedded into the program.
pub(crate) fn task() -> Outcome<()> {
    let page = build()?;
    write(&root().join(BUILT), &page)?;
    eprintln!("web: wrote {BUILT}, {} KiB", page.len() / 1024);
    Ok(())
}

/// Whether the committed page is what the sources give.
pub(crate) fn check() -> Outcome<()> {
    let committed = fs::read_to_string(root().join(BUILT)).unwrap_or_default();
    if build()? == committed {
        Ok(())
    } else {
        Err(format!(
            "{BUILT} is not what `web/` gives; run `cargo xtask web` and commit it"
        ))
    }
}

/// Returns an error for a committed page without the mark of the sources; nothing is built.
pub(crate) fn stale(files: &[File]) -> Vec<String> {
    let built = files.iter().find(|file| file.path == BUILT);
    let mark = mark_of(files);
    match built {
        Some(built) if built.text.contains(&mark) => Vec::new(),
        _ => vec![format!(
            "{BUILT} was built from other sources than `web/` now holds; run `cargo xtask web`"
        )],
    }
}

/// Returns whether a Node of the given version can build the page.
pub(crate) fn is_new_enough(version: &str) -> bool {
    parse_version(version).is_some_and(|version| version >= NODE_MIN)
}

fn build() -> Outcome<String> {
    let folder = root().join("web");
    let installed = folder.join("node_modules/.package-lock.json");
    if modified(&installed) <= modified(&folder.join("package-lock.json")) {
        run(&mut npm(&[
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
        ]))?;
    }
    for script in ["check", "test", "build"] {
        // For its output only when it fails: tests of another runner are not counted as ours.
        capture(&mut npm(&["run", "--silent", script]))?;
    }
    let built = folder.join("dist/index.html");
    let page = fs::read_to_string(&built)
        .map_err(|error| format!("cannot read {}: {error}", built.display()))?;
    let files = crate::tidy::repository_files()?;
    Ok(page.replace(MARK_PLACE, &mark_of(&files)))
}

fn npm(arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(root().join("web"));
    command
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// Returns a hash of all sources of the page (FNV-1a, 64 bits): a guard against slips, not attacks.
fn mark_of(files: &[File]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let sources = files.iter().filter(|file| is_source(&file.path));
    for file in sources {
        for byte in [file.path.as_bytes(), b"\0", file.text.as_bytes(), b"\0"].concat() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

fn is_source(path: &str) -> bool {
    path.starts_with("web/") && !path.ends_with(".md") && !path.starts_with("web/test/")
}

/// Reads `v20.19.2`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix('v')?.split('.');
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
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
    fn a_page_of_other_sources_is_stale() {
        let sources = [file("web/a.ts", "1"), file("web/b.ts", "2")];
        let mark = mark_of(&sources);
        let with = |built: &str, changed: &str| {
            stale(&[
                file("web/a.ts", changed),
                file("web/b.ts", "2"),
                file(BUILT, built),
            ])
        };
        assert_eq!(with(&mark, "1"), [""; 0]);
        assert_eq!(with(&mark, "2").len(), 1);
        assert_eq!(with("another page", "1").len(), 1);
        assert_eq!(stale(&sources).len(), 1);
        let moved = [file("web/a.ts", ""), file("web/b.ts", "12")];
        assert_ne!(mark_of(&moved), mark);
    }

    #[test]
    fn what_does_not_change_the_page_does_not_count() {
        let mark = mark_of(&[]);
        assert_eq!(mark_of(&[file("web/README.md", "1")]), mark);
        assert_eq!(mark_of(&[file("web/test/all.ts", "1")]), mark);
    }

    #[test]
    fn versions_of_node_are_read() {
        assert_eq!(parse_version("v20.19.2\n"), Some((20, 19)));
        assert_eq!(parse_version("20"), None);
        assert!(parse_version("v18.20.4").unwrap() < NODE_MIN);
    }
}

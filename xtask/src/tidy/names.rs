//! Required names, and forbidden ones.

use super::File;

/// Folders of one machine, and hosts of package registries: neither belongs into a repository built
/// elsewhere. Put together here so that this file does not break its own rule.
const FORBIDDEN: [&str; 9] = [
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/tmp/", "briefs"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("rubygems", ".org"),
    concat!("deb.debian", ".org"),
    concat!("registry.npmjs", ".org"),
    concat!("proxy.golang", ".org"),
];

/// Returns the forbidden words of a file; the lock file names a registry by necessity.
pub(super) fn forbidden_words(file: &File) -> Vec<String> {
    if file.path.ends_with(".lock") || file.path.ends_with("-lock.json") {
        return Vec::new();
    }
    let numbered = file.text.lines().enumerate();
    let found = numbered.flat_map(|(index, line)| {
        let words = FORBIDDEN.iter().filter(move |word| holds(line, word));
        words.map(move |word| {
            format!(
                "{}:{}: {word:?} names a machine or a registry",
                file.path,
                index + 1
            )
        })
    });
    found.collect()
}

/// Returns whether a line contains a word, paths only from the begin: `crates/work/` is nobody's
/// machine.
fn holds(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !word.starts_with('/')
            || !before.is_some_and(|c| c.is_alphanumeric() || "_-./}".contains(c))
    })
}

/// Returns the paths named by the map and missing in the repository.
pub(super) fn stale_paths(map: &str, paths: &[&str]) -> Vec<String> {
    let exists = |named: &str| {
        let folder = format!("{}/", named.trim_end_matches('/'));
        paths
            .iter()
            .any(|path| *path == named || path.starts_with(&folder))
    };
    let named = code_spans(map)
        .into_iter()
        .filter(|span| is_path(span, paths));
    named
        .filter(|span| !exists(span))
        .map(|span| format!("ARCHITECTURE.md: `{span}` does not exist"))
        .collect()
}

/// Returns the crates missing in the map.
pub(super) fn unmentioned_crates(map: &str, paths: &[&str]) -> Vec<String> {
    if map.is_empty() {
        return vec!["ARCHITECTURE.md does not exist".to_owned()];
    }
    let spans = code_spans(map);
    let crates = paths
        .iter()
        .filter_map(|path| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"));
    let mentioned = |name: &str| {
        spans
            .iter()
            .any(|span| *span == name || span.starts_with(&format!("crates/{name}")))
    };
    crates
        .filter(|name| !mentioned(name))
        .map(|name| format!("ARCHITECTURE.md: the crate {name} is not mentioned"))
        .collect()
}

/// Dependencies of the workspace without a line in `docs/dependencies.md`.
pub(super) fn unexplained_dependencies(manifest: &str, explained: &str) -> Vec<String> {
    let spans = code_spans(explained);
    let missing = dependencies(manifest).filter(|name| !spans.contains(name));
    missing
        .map(|name| format!("docs/dependencies.md: the dependency `{name}` is not explained"))
        .collect()
}

/// Returns the dependencies of the workspace unused by any member.
pub(super) fn unused_dependencies(manifest: &str, members: &[&str]) -> Vec<String> {
    let takes = |member: &str, name: &str| {
        let rest_of = |line: &str| {
            line.trim_start()
                .strip_prefix(name)
                .map(|rest| rest.trim_start().to_owned())
        };
        member
            .lines()
            .filter_map(rest_of)
            .any(|rest| rest.starts_with(".workspace") || rest.starts_with("= {"))
    };
    let unused =
        dependencies(manifest).filter(|name| !members.iter().any(|member| takes(member, name)));
    unused
        .map(|name| format!("Cargo.toml: no crate uses the dependency `{name}`; remove it"))
        .collect()
}

/// Names of the external dependencies.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let section = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1);
    let lines = section.take_while(|line| !line.starts_with('['));
    let external = lines.filter(|line| !line.starts_with('#') && !line.contains("path = "));
    external
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim())
}

/// What stands between single backquotes, outside fenced blocks.
fn code_spans(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut spans = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            spans.extend(line.split('`').skip(1).step_by(2));
        }
    }
    spans
}

/// Returns whether a code span means a file or folder of the repository: the first part, or the
/// whole span, is a top-level name.
fn is_path(span: &str, paths: &[&str]) -> bool {
    let ordinary = !span.is_empty()
        && span
            .chars()
            .all(|c| c.is_alphanumeric() || "._-/".contains(c));
    let Some((first, _)) = span.split_once('/') else {
        return false;
    };
    ordinary
        && paths
            .iter()
            .any(|path| path.split('/').next() == Some(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> usize {
        forbidden_words(&File {
            path: "a.md".into(),
            text: text.into(),
        })
        .len()
    }

    #[test]
    fn machine_paths_are_found_where_they_begin() {
        assert_eq!(words(concat!("see /ro", "ot/x")), 1);
        assert_eq!(words(concat!("(/wo", "rk/main)\n`/wo", "rk/b`")), 2);
        assert_eq!(words(concat!("crates/wo", "rk/src")), 0);
        assert_eq!(words(concat!("http://deb.debian", ".org/debian")), 1);
        assert_eq!(words("/roots /worker"), 0);
    }

    const PATHS: [&str; 3] = [
        "crates/ring/Cargo.toml",
        "crates/ring/src/lib.rs",
        "docs/a.md",
    ];

    #[test]
    fn the_map_must_be_true() {
        let map = "`crates/ring/src/lib.rs`, `docs/`, `docs/b.md`, `crates/old`, `GET /x`, `other/thing`\n```\n`crates/fenced`\n```\n";
        assert_eq!(
            stale_paths(map, &PATHS),
            [
                "ARCHITECTURE.md: `docs/b.md` does not exist",
                "ARCHITECTURE.md: `crates/old` does not exist"
            ]
        );
        assert_eq!(unmentioned_crates(map, &PATHS), [""; 0]);
        assert_eq!(
            unmentioned_crates("nothing", &PATHS),
            ["ARCHITECTURE.md: the crate ring is not mentioned"]
        );
        assert_eq!(unmentioned_crates("the `ring`", &PATHS), [""; 0]);
        assert_eq!(unmentioned_crates("", &PATHS).len(), 1);
    }

    #[test]
    fn every_dependency_is_explained_and_used() {
        let manifest = "[workspace.dependencies]\nring = { path = \"crates/ring\" }\n\nmio = \"1\"\nlibc = { version = \"0.2\" }\n\n[lints]\nx = 1\n";
        assert_eq!(
            unexplained_dependencies(manifest, "| `mio` | epoll |"),
            ["docs/dependencies.md: the dependency `libc` is not explained"]
        );
        assert_eq!(
            unused_dependencies(
                manifest,
                &[
                    "[dependencies]\nmio.workspace = true\n",
                    "libc-extra.workspace = true"
                ]
            ),
            ["Cargo.toml: no crate uses the dependency `libc`; remove it"]
        );
        assert_eq!(
            unused_dependencies(
                manifest,
                &["mio = { workspace = true }", "libc.workspace = true"]
            ),
            [""; 0]
        );
    }
}

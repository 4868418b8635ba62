//! The names of the rows: which server runs on which Ruby in which modes. Nothing is unpacked,
//! fetched or built for a name.

use std::path::Path;

use super::build;
use crate::run::Outcome;
use crate::setup::matrix::{self, Versions};

/// How Ruby and Puma are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) name: &'static str,
    /// Of Ruby.
    pub(super) ruby: &'static str,
    /// Of Puma, where a test does not ask for a cluster itself.
    pub(super) puma: &'static str,
}

const SINGLE: Mode = Mode {
    name: "single",
    ruby: "",
    puma: "",
};
const CLUSTER: Mode = Mode {
    name: "cluster",
    puma: "-w 1",
    ..SINGLE
};
const YJIT: Mode = Mode {
    name: "YJIT",
    ruby: "--yjit",
    ..SINGLE
};
pub(super) const YJIT_CLUSTER: Mode = Mode {
    name: "YJIT, cluster",
    puma: "-w 1",
    ..YJIT
};
pub(super) const ZJIT: Mode = Mode {
    name: "ZJIT",
    ruby: "--zjit",
    ..SINGLE
};

/// The modes in the order of the table.
const MODES: [Mode; 5] = [SINGLE, CLUSTER, YJIT, YJIT_CLUSTER, ZJIT];

/// What answers requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Server {
    Puma,
    /// Answers one request at a time in each worker.
    Unicorn,
}

/// Returns the name of a row for `--only`: `3.3.8 × Puma 6.6.0 single`.
pub(super) fn name(ruby: &str, server: &str, mode: &str) -> String {
    format!("{ruby} × {server} {mode}")
}

/// Returns the names of all rows, or of the rows chosen by `only`, in the order of the table.
pub(super) fn listed(archives: Option<&Path>, only: &str) -> Outcome<Vec<String>> {
    let pumas = build::puma_versions(archives)?;
    let archived = archives.map_or(Ok(Vec::new()), build::rubies)?;
    let archived: Vec<&str> = archived.iter().map(|one| one.version.as_str()).collect();
    let names = of_all(&matrix::versions(), &archived, &pumas);
    Ok(match names.iter().any(|name| name == only) {
        true => vec![only.to_owned()],
        false => names
            .into_iter()
            .filter(|name| name.contains(only))
            .collect(),
    })
}

/// The names of all rows on packaged Rubies and on those of archives.
fn of_all(packages: &[Versions], archived: &[&str], pumas: &[String]) -> Vec<String> {
    let mut rows: Vec<(String, String, &str)> = Vec::new();
    for found in packages {
        let own = packaged(found).into_iter();
        rows.extend(own.map(|(server, version, mode)| {
            let server = format!("{server:?} {version}");
            (found.ruby.clone(), server, mode.name)
        }));
        let others: Vec<&str> = pumas
            .iter()
            .map(String::as_str)
            .filter(|puma| is_built_for(found, puma))
            .collect();
        // Debian builds its Rubies without compilers.
        let modes = built(&others, found.puma.is_some(), &str::is_empty);
        let row = |(index, mode): (usize, Mode)| {
            let server = format!("Puma {}", others[index]);
            (found.ruby.clone(), server, mode.name)
        };
        rows.extend(modes.into_iter().map(row));
    }
    let pumas: Vec<&str> = pumas.iter().map(String::as_str).collect();
    for ruby in archived {
        let knows = |flag: &str| build::may_know(ruby, flag);
        let row = |(index, mode): (usize, Mode)| {
            let server = format!("Puma {}", pumas[index]);
            ((*ruby).to_owned(), server, mode.name)
        };
        rows.extend(built(&pumas, false, &knows).into_iter().map(row));
    }
    rows.sort_by_key(|(ruby, server, mode)| order(ruby, server, mode));
    let named = rows
        .iter()
        .map(|(ruby, server, mode)| name(ruby, server, mode));
    named.collect()
}

/// What no row can be had of, whatever is unpacked.
pub(super) fn missing(archives: Option<&Path>) -> Vec<String> {
    let mut missing = vec![
        "Ruby 3.2 (in no release of Debian's mirror)".to_owned(),
        "Falcon (in no release of Debian)".to_owned(),
    ];
    if archives.is_none() {
        missing.push("Ruby 4.0 and Puma 7.2 (name a folder of archives)".to_owned());
    }
    missing
}

/// Whether the Ruby has events of threads waiting for the GVL.
pub(super) fn has_events(found: &Versions) -> bool {
    !found.ruby.starts_with("3.1")
}

/// Servers packaged by a release, with the modes of each.
pub(super) fn packaged(found: &Versions) -> Vec<(Server, String, Mode)> {
    let mut rows = Vec::new();
    if let Some(puma) = &found.puma {
        let row = |mode: &Mode| (Server::Puma, puma.clone(), *mode);
        rows.extend([SINGLE, CLUSTER].iter().map(row));
    }
    if let Some(unicorn) = &found.unicorn {
        rows.push((Server::Unicorn, unicorn.clone(), SINGLE));
    }
    rows
}

/// Whether a Puma is built for a release's Ruby: with headers, and where no release has both.
pub(super) fn is_built_for(found: &Versions, puma: &str) -> bool {
    let is_packaged = ["6.6.", "8.0."].iter().any(|own| puma.starts_with(own));
    found.has_headers && (found.puma.is_none() || !is_packaged)
}

/// Modes of the Pumas built for a Ruby, by index: the newest in all known to the Ruby, the others
/// and those beside a packaged one in one.
pub(super) fn built(
    pumas: &[&str],
    is_beside_packaged: bool,
    knows: &dyn Fn(&str) -> bool,
) -> Vec<(usize, Mode)> {
    let mut rows = Vec::new();
    for index in 0..pumas.len() {
        let is_whole = index + 1 == pumas.len() && !is_beside_packaged;
        let modes = if is_whole { &MODES[..] } else { &[SINGLE] };
        let known = modes.iter().filter(|mode| knows(mode.ruby));
        rows.extend(known.map(|mode| (index, *mode)));
    }
    rows
}

/// Whether a row of a Ruby may have the text in the name, which begins with the Ruby's version.
pub(super) fn may_be(ruby: &str, only: &str) -> bool {
    let wanted = only.split('×').next().unwrap_or_default().trim();
    let is_version = wanted.starts_with(|c: char| c.is_ascii_digit());
    !is_version || wanted.starts_with(ruby) || ruby.starts_with(wanted)
}

/// What rows are sorted by: Ruby, then server, then mode.
pub(super) fn order(ruby: &str, server: &str, mode: &str) -> impl Ord + use<> {
    let is_other = !server.starts_with("Puma");
    let mode = MODES.iter().position(|known| known.name == mode);
    let [ruby, server] = [ruby, server].map(build::numbers);
    (ruby, is_other, server, mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rubies_that_a_name_may_mean_are_prepared() {
        for only in ["", "single", "3.3", "3.3.8", "3.3.8 × Puma 6.6.0 single"] {
            assert!(may_be("3.3", only), "{only}");
        }
        assert!(may_be("4.0.5", "4.0"));
        for only in ["3.4", "4.0.5 × Puma 8.0.2 YJIT", "3.1.2"] {
            assert!(!may_be("3.3", only), "{only}");
        }
    }

    #[test]
    fn rows_are_named_by_versions_alone() {
        let versions = |ruby: &str, puma: Option<&str>, has_headers| Versions {
            ruby: ruby.to_owned(),
            puma: puma.map(str::to_owned),
            unicorn: None,
            has_headers,
        };
        let packages = [
            versions("3.1.2", Some("5.6.5"), false),
            versions("3.3.8", Some("6.6.0"), true),
            versions("3.4.11", None, true),
        ];
        let pumas = ["5.6.5".to_owned(), "8.0.2".to_owned()];
        let expected = "3.1.2 × Puma 5.6.5 single
3.1.2 × Puma 5.6.5 cluster
3.3.8 × Puma 5.6.5 single
3.3.8 × Puma 6.6.0 single
3.3.8 × Puma 6.6.0 cluster
3.4.11 × Puma 5.6.5 single
3.4.11 × Puma 8.0.2 single
3.4.11 × Puma 8.0.2 cluster
4.0.5 × Puma 5.6.5 single
4.0.5 × Puma 8.0.2 single
4.0.5 × Puma 8.0.2 cluster
4.0.5 × Puma 8.0.2 YJIT
4.0.5 × Puma 8.0.2 YJIT, cluster
4.0.5 × Puma 8.0.2 ZJIT";
        assert_eq!(of_all(&packages, &["4.0.5"], &pumas).join("\n"), expected);
    }

    #[test]
    fn the_list_needs_no_file_of_an_archive() {
        let folder = std::env::temp_dir().join(format!("hakaru-names-{}", std::process::id()));
        for name in ["ruby-4.0.5.tar.xz", "puma-8.0.2.tar.xz"] {
            crate::run::write(&folder.join(name), "not an archive").expect("a file");
        }
        let names = listed(Some(&folder), "4.0.5 × Puma 8.0.2").expect("names");
        assert_eq!(names.len(), 5, "{names:?}");
        let only = "4.0.5 × Puma 8.0.2 YJIT";
        assert_eq!(listed(Some(&folder), only).expect("names"), [only]);
        std::fs::remove_dir_all(folder).expect("the folder goes");
    }
}

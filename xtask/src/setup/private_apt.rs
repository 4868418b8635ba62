//! A private apt: lists, cache and sources lie in one folder and the status is empty, so only one
//! release of the machine's own mirror is visible and the system is not touched. Needs no root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::{Source, source_text};
use crate::run::{Outcome, capture, write};

const FOLDERS: [&str; 3] = ["lists/partial", "cache/archives/partial", "none"];

/// Unpacks a package. `dpkg-deb -x` would replace the links of a merged `/usr` by folders, and
/// would keep the
/// set-user-id bit of programs that belong to root.
const UNPACK: &str = r#"umask 022; dpkg-deb --fsys-tarfile "$1" |
    tar -x --keep-directory-symlink --no-same-owner --no-same-permissions -C "$2" -f -"#;

/// Packages of one release, kept in one folder.
pub(super) struct PrivateApt {
    folder: PathBuf,
    /// Debian's name of a foreign machine.
    machine: Option<String>,
}

impl PrivateApt {
    /// Recreates the folder and fetches the release's lists.
    pub(super) fn open(folder: &Path, mirror: &Source, suite: &str) -> Outcome<PrivateApt> {
        PrivateApt::make(folder, mirror, suite, None)
    }

    /// The same for another machine, such as `arm64`.
    pub(super) fn open_for(
        folder: &Path,
        mirror: &Source,
        suite: &str,
        machine: &str,
    ) -> Outcome<PrivateApt> {
        PrivateApt::make(folder, mirror, suite, Some(machine.to_owned()))
    }

    fn make(
        folder: &Path,
        mirror: &Source,
        suite: &str,
        machine: Option<String>,
    ) -> Outcome<PrivateApt> {
        let _ = fs::remove_dir_all(folder);
        for made in FOLDERS {
            fs::create_dir_all(folder.join(made))
                .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        }
        // apt leaves out files of other names. `suite` may hold several, the later for what the
        // first lacks.
        let source = format!("sources.d/{}.sources", suite.replace(' ', "-"));
        write(&folder.join(source), &source_text(mirror, suite))?;
        write(&folder.join("dpkg/status"), "")?;
        let apt = PrivateApt {
            folder: folder.to_owned(),
            machine,
        };
        capture(apt.command().arg("update"))?;
        Ok(apt)
    }

    /// Unpacks packages and all dependencies into a folder.
    pub(super) fn unpack_with_dependencies(&self, packages: &[&str], root: &Path) -> Outcome<()> {
        let mut download = self.command();
        download
            .args([
                "install",
                "--download-only",
                "--no-install-recommends",
                "-y",
            ])
            .args(packages);
        capture(&mut download)?;
        unpack_all(&self.folder.join("cache/archives"), root)
    }

    /// Fetches a package's original source and unpacks the source into a folder. Debian's own
    /// changes are left out: some mirrors lack them, and they need more programs.
    pub(super) fn unpack_source(&self, package: &str, folder: &Path) -> Outcome<()> {
        let uris = capture(self.command().args(["source", "--print-uris", package]))?;
        let line = uris.lines().find(|line| is_release(line));
        let (uri, hash) = line
            .and_then(uri_and_hash)
            .ok_or(format!("apt knows no source of {package}"))?;
        let archive = self.folder.join("source.tar");
        let mut download = Command::new("/usr/lib/apt/apt-helper");
        download.args(["-o", "APT::Sandbox::User=root", "download-file", uri]);
        capture(download.arg(&archive).arg(hash))
            .map_err(|_| format!("the mirror does not give the source of {package}"))?;
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let mut tar = Command::new("tar");
        tar.arg("-xf").arg(archive).arg("-C").arg(folder);
        capture(tar.args(["--strip-components", "1"])).map(|_| ())
    }

    /// Removes what only the download needed.
    pub(super) fn close(self) {
        let _ = fs::remove_dir_all(&self.folder);
    }

    fn command(&self) -> Command {
        let mut apt = Command::new("apt-get");
        let place = |name: &str, path: &str| format!("{name}={}", self.folder.join(path).display());
        let options = [
            "Dir::Etc::sourcelist=/dev/null".to_owned(),
            place("Dir::Etc::sourceparts", "sources.d"),
            "Dir::Etc::preferences=/dev/null".to_owned(),
            place("Dir::Etc::preferencesparts", "none"),
            place("Dir::State::lists", "lists"),
            // Its locks lie beside it, so it must be a file of our own.
            place("Dir::State::status", "dpkg/status"),
            place("Dir::Cache", "cache"),
            // A mirror that is a few days behind is good enough for servers that live for a test.
            "Acquire::Check-Valid-Until=false".to_owned(),
            "Acquire::Languages=none".to_owned(),
            // Root's apt would change to a user who may not enter the folder.
            "APT::Sandbox::User=root".to_owned(),
        ];
        apt.arg("-q");
        options.iter().for_each(|option| {
            apt.args(["-o", option]);
        });
        if let Some(machine) = &self.machine {
            apt.arg("-o").arg(format!("APT::Architecture={machine}"));
            apt.arg("-o").arg(format!("APT::Architectures={machine}"));
        }
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    }
}

/// Whether a line of `--print-uris` names the archive of what the authors released, not Debian's
/// changes or a signature.
fn is_release(line: &str) -> bool {
    let name = line.split_whitespace().nth(1).unwrap_or_default();
    name.contains(".orig.tar.") && !name.ends_with(".asc")
}

/// Reads `'http://…/puma_6.6.0.orig.tar.gz' puma_6.6.0.orig.tar.gz 409011 SHA256:fb76…`.
fn uri_and_hash(line: &str) -> Option<(&str, &str)> {
    let (uri, rest) = line.strip_prefix('\'')?.split_once('\'')?;
    Some((uri, rest.split_whitespace().nth(2)?))
}

fn unpack_all(debs: &Path, root: &Path) -> Outcome<()> {
    let entries =
        fs::read_dir(debs).map_err(|error| format!("cannot read {}: {error}", debs.display()))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "deb"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("apt left no package in {}", debs.display()));
    }
    for deb in files {
        let mut unpack = Command::new("sh");
        unpack.args(["-c", UNPACK, "unpack"]).arg(deb).arg(root);
        capture(&mut unpack)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_archive_is_found_among_the_uris() {
        let line =
            "'http://m.example/p/puma_6.6.0.orig.tar.gz' puma_6.6.0.orig.tar.gz 409011 SHA256:fb76";
        assert!(is_release(line));
        assert!(!is_release(&line.replace(".gz", ".gz.asc")));
        assert!(!is_release(
            "'http://m.example/p/puma_6.6.0-4.dsc' puma_6.6.0-4.dsc 12 SHA256:ab"
        ));
        let expected = ("http://m.example/p/puma_6.6.0.orig.tar.gz", "SHA256:fb76");
        assert_eq!(uri_and_hash(line), Some(expected));
    }
}

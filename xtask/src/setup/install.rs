//! From what is missing to a plan that can be shown, and its execution.
//!
//! A Ruby from a newer Debian release needs one more package source. It is staged in the build folder
//! first, so that apt can simulate the installation and the lists are complete before anybody is asked;
//! only then it is copied to `/etc/apt`, pinned so low that nothing else comes from there by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::{self, Changes, Source};
use super::ruby::{self, Origin};
use super::{Missing, Root, ruby31};
use crate::run::{Outcome, capture, find_program, is_root, run, target_folder, write};

/// The release that has a new enough Ruby.
const NEWER_SUITE: &str = "trixie";
const SOURCE_NAME: &str = "hakaru-trixie.sources";
const PIN_NAME: &str = "hakaru-trixie";

/// With this file the scripts of packages start no service.
const SERVICE_POLICY: &str = "/usr/sbin/policy-rc.d";

/// What will be done.
pub(super) struct Plan {
    /// Where a staged source lies, when one is added.
    staged: Option<PathBuf>,
    /// Each an `apt-get install`: suite to take from, packages.
    installs: Vec<(Option<String>, Vec<String>)>,
    changes: Changes,
    gems: Vec<String>,
    /// What is only unpacked.
    unpacked: Unpacked,
}

/// Packages of other releases that are unpacked, not installed.
struct Unpacked {
    ruby31: bool,
    roots: Vec<Root>,
    /// Where they come from; there when anything is to be unpacked.
    mirror: Option<Source>,
}

pub(super) fn plan(missing: &Missing) -> Outcome<Plan> {
    let by_apt = !missing.packages.is_empty() || !newer_packages(missing).is_empty();
    let unpacks = missing.ruby31 || !missing.roots.is_empty();
    if (by_apt || unpacks) && find_program("apt-get").is_none() {
        return Err(by_hand(missing, "this machine has no apt-get"));
    }
    if by_apt && !is_root() {
        return Err(by_hand(missing, "only root can install packages"));
    }
    let mut plan = Plan {
        staged: None,
        installs: Vec::new(),
        changes: Changes::default(),
        gems: missing.gems.clone(),
        unpacked: Unpacked {
            ruby31: missing.ruby31,
            roots: missing.roots.clone(),
            mirror: if unpacks { Some(mirror()?) } else { None },
        },
    };
    if by_apt {
        plan.add_packages(missing)?;
    }
    Ok(plan)
}

impl Plan {
    fn add_packages(&mut self, missing: &Missing) -> Outcome<()> {
        eprintln!("setup: asking apt what is to be installed");
        run(apt_get(None).args(["-qq", "update"]))?;
        // Before Ruby's: those bring a newer libc6, and then the old release's `locales`, which
        // PostgreSQL wants, can no longer be installed.
        if !missing.packages.is_empty() {
            let simulated = simulate(None, None, &missing.packages);
            // Ruby's packages may have come in an earlier run: then the rest must be as new.
            let newer = || {
                Ok::<_, String>((
                    Some(NEWER_SUITE),
                    simulate(None, Some(NEWER_SUITE), &missing.packages)?,
                ))
            };
            let (suite, changes) = simulated
                .map(|changes| (None, changes))
                .or_else(|_| newer())?;
            self.add(suite.map(str::to_owned), &missing.packages, changes);
        }
        let newer = newer_packages(missing);
        if !newer.is_empty() {
            let suite = self.ruby_suite(missing)?;
            let changes = simulate(self.staged.as_deref(), suite.as_deref(), &newer)?;
            self.add(suite, &newer, changes);
        }
        Ok(())
    }

    fn add(&mut self, suite: Option<String>, packages: &[String], more: Changes) {
        self.installs.push((suite, packages.to_vec()));
        self.changes.install.extend(more.install);
        self.changes.upgrade.extend(more.upgrade);
        self.changes.remove.extend(more.remove);
    }

    /// The suite to name for Ruby's packages; stages the newer release when no configured one will do.
    fn ruby_suite(&mut self, missing: &Missing) -> Outcome<Option<String>> {
        match ruby_origin(None)? {
            Origin::Plain => return Ok(None),
            Origin::Suite(suite) => return Ok(Some(suite)),
            Origin::Nowhere => {}
        }
        let folder = stage(&mirror().map_err(|why| by_hand(missing, &why))?)?;
        run(apt_get(Some(&folder)).args(["-qq", "update"]))?;
        let origin = ruby_origin(Some(&folder))?;
        self.staged = Some(folder);
        match origin {
            Origin::Plain | Origin::Suite(_) => Ok(Some(NEWER_SUITE.to_owned())),
            Origin::Nowhere => Err(by_hand(
                missing,
                "the package mirror offers no Ruby 3.2 or later",
            )),
        }
    }

    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        if self.staged.is_some() {
            text += &format!(
                "  will add {NEWER_SUITE} of this machine's own mirror as a package source at low priority\n"
            );
        }
        text += &self.changes.describe();
        if !self.gems.is_empty() {
            text += &format!("  will run: gem install {}\n", self.gems.join(" "));
        }
        if self.unpacked.ruby31 {
            text += "  will unpack Ruby 3.1 and Puma 5.6 into the build folder (7 MB; the system is not touched)\n";
        }
        for root in &self.unpacked.roots {
            text += &format!(
                "  will unpack {} into {} (the system is not touched)\n",
                root.holds,
                root.folder().display()
            );
        }
        text
    }

    pub(super) fn carry_out(&self) -> Outcome<()> {
        if let Some(folder) = &self.staged {
            for (part, name) in [("sources.list.d", SOURCE_NAME), ("preferences.d", PIN_NAME)] {
                let place = Path::new("/etc/apt").join(part).join(name);
                fs::copy(folder.join(part).join(name), &place)
                    .map_err(|error| format!("cannot write {}: {error}", place.display()))?;
            }
        }
        let _policy = NoServices::begin()?;
        for (suite, packages) in &self.installs {
            run(apt_install(None, suite.as_deref(), packages).args([
                "-q",
                "-o",
                "Dpkg::Use-Pty=0",
            ]))?;
        }
        if !self.gems.is_empty() {
            run(Command::new("gem")
                .args(["install", "--no-document"])
                .args(&self.gems))?;
        }
        self.unpacked.carry_out()
    }
}

impl Unpacked {
    fn carry_out(&self) -> Outcome<()> {
        let Some(mirror) = &self.mirror else {
            return Ok(());
        };
        if self.ruby31 {
            ruby31::install(mirror)?;
        }
        self.roots.iter().try_for_each(|root| root.install(mirror))
    }
}

/// While it lives, the packages' scripts start no service: we run our own throw-away servers.
struct NoServices {
    ours: bool,
}

impl NoServices {
    fn begin() -> Outcome<Self> {
        let ours = is_root() && !Path::new(SERVICE_POLICY).exists();
        if ours {
            write(Path::new(SERVICE_POLICY), "#!/bin/sh\nexit 101\n")?;
            capture(Command::new("chmod").args(["755", SERVICE_POLICY]))?;
        }
        Ok(Self { ours })
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.ours {
            let _ = fs::remove_file(SERVICE_POLICY);
        }
    }
}

/// Packages that the release with a new enough Ruby has, and an older one may not.
fn newer_packages(missing: &Missing) -> Vec<String> {
    [missing.ruby_packages.clone(), missing.tool_packages.clone()].concat()
}

/// `apt-get`, seeing the staged source as well when one is given.
fn apt_get(staged: Option<&Path>) -> Command {
    apt_program("apt-get", staged)
}

fn apt_program(name: &str, staged: Option<&Path>) -> Command {
    let mut command = Command::new(name);
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("LC_ALL", "C");
    if let Some(folder) = staged {
        for part in [
            "sourceparts=sources.list.d",
            "preferencesparts=preferences.d",
        ] {
            let (option, sub) = part.split_once('=').unwrap_or_default();
            command.args([
                "-o",
                &format!("Dir::Etc::{option}={}", folder.join(sub).display()),
            ]);
        }
    }
    command
}

fn apt_install(staged: Option<&Path>, suite: Option<&str>, packages: &[String]) -> Command {
    let mut command = apt_get(staged);
    command.args(["install", "-y", "--no-install-recommends"]);
    if let Some(suite) = suite {
        command.args(["-t", suite]);
    }
    command.args(packages);
    command
}

fn simulate(staged: Option<&Path>, suite: Option<&str>, packages: &[String]) -> Outcome<Changes> {
    Ok(Changes::parse(&capture(
        apt_install(staged, suite, packages).arg("-s"),
    )?))
}

fn ruby_origin(staged: Option<&Path>) -> Outcome<Origin> {
    let text = capture(apt_program("apt-cache", staged).args(["policy", "ruby"]))?;
    Ok(ruby::origin(&apt::parse_policy(&text)))
}

/// Copies the machine's sources into the build folder and adds the newer release.
fn stage(mirror: &Source) -> Outcome<PathBuf> {
    let folder = target_folder().join("apt");
    let _ = fs::remove_dir_all(&folder);
    for part in ["sources.list.d", "preferences.d"] {
        let files = fs::read_dir(Path::new("/etc/apt").join(part))
            .into_iter()
            .flatten()
            .flatten();
        for file in files {
            let text = fs::read_to_string(file.path()).unwrap_or_default();
            write(&folder.join(part).join(file.file_name()), &text)?;
        }
    }
    write(
        &folder.join("sources.list.d").join(SOURCE_NAME),
        &apt::source_text(mirror, NEWER_SUITE),
    )?;
    let pin = format!("Package: *\nPin: release n={NEWER_SUITE}\nPin-Priority: 100\n");
    write(&folder.join("preferences.d").join(PIN_NAME), &pin)?;
    Ok(folder)
}

/// The mirror that this machine's own apt sources name.
fn mirror() -> Outcome<Source> {
    let mut sources =
        apt::parse_list(&fs::read_to_string("/etc/apt/sources.list").unwrap_or_default());
    let mut files: Vec<PathBuf> = fs::read_dir("/etc/apt/sources.list.d")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("list") => sources.extend(apt::parse_list(&text)),
            Some("sources") => sources.extend(apt::parse_deb822(&text)),
            _ => {}
        }
    }
    apt::debian_mirror(&sources)
        .cloned()
        .ok_or_else(|| "apt's sources name no Debian mirror".to_owned())
}

fn by_hand(missing: &Missing, why: &str) -> String {
    let mut wanted = missing.packages.clone();
    if !missing.ruby_packages.is_empty() {
        let gems = ruby::gems_of(&missing.ruby_packages).join(", ");
        wanted.push(format!("Ruby 3.2 or later with the gems {gems}"));
    }
    if !missing.tool_packages.is_empty() {
        wanted.push("Node 20.19 or later with npm, and Go 1.24 or later".to_owned());
    }
    if missing.ruby31 {
        wanted.push("Debian's apt-get and dpkg-deb, to unpack Ruby 3.1".to_owned());
    }
    let holds = missing.roots.iter().map(|root| root.holds);
    wanted.extend(holds.map(|holds| format!("Debian's apt-get and dpkg-deb, to unpack {holds}")));
    wanted.extend(missing.gems.iter().map(|gem| format!("the gem {gem}")));
    format!(
        "{why}; install by hand, then try again: {}",
        wanted.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_install_is_told_what_to_install() {
        let missing = Missing {
            packages: vec!["postgresql".into()],
            ruby_packages: ruby::packages(&ruby::CHAT),
            ..Missing::default()
        };
        assert_eq!(
            by_hand(&missing, "only root can install packages"),
            "only root can install packages; install by hand, then try again: postgresql; Ruby 3.2 or later with the \
             gems puma, sinatra, sqlite3"
        );
    }

    #[test]
    fn a_staged_source_is_seen_by_apt() {
        let shown = crate::run::show(&apt_install(
            Some(Path::new("/s")),
            Some("trixie"),
            &["ruby".to_owned()],
        ));
        assert_eq!(
            shown,
            "apt-get -o Dir::Etc::sourceparts=/s/sources.list.d -o Dir::Etc::preferencesparts=/s/preferences.d install \
             -y --no-install-recommends -t trixie ruby"
        );
    }
}

//! Reads the facts: `/proc`, `/sys`, the app's Ruby, folder and databases. Nothing is written but
//! the file whose writing is measured, which has no name.

pub mod app;
pub mod database;
mod disk;
mod group;
mod machine;
mod process;
mod ruby;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(crate) use ruby::{output as command_output, program as ruby_program};

use doctor::Area;
use doctor::snapshot::{Snapshot, Unseen};

/// Subjects of a reading.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The app's folder.
    pub folder: PathBuf,
    /// A running process; without one, what a process started here would get.
    pub pid: Option<u32>,
    /// The command starting the app, to find the Ruby to query. Not run.
    pub command: Vec<String>,
    /// Addresses of databases.
    pub databases: Vec<String>,
    /// Areas; all when empty.
    pub areas: Vec<Area>,
}

impl Wanted {
    /// Whether an area is looked at.
    pub fn has(&self, area: Area) -> bool {
        self.areas.is_empty() || self.areas.contains(&area)
    }
}

/// Reads all wanted facts. What cannot be read is listed in the snapshot, never an error.
pub fn collect(wanted: &Wanted) -> Snapshot {
    let mut unseen = Vec::new();
    let mut snapshot = Snapshot {
        machine: machine::read(&mut unseen),
        process: process::read(wanted.pid, &mut unseen),
        disk: disk::read(&wanted.folder, &mut unseen),
        app: app::read(&wanted.folder),
        ..Snapshot::default()
    };
    if wanted.has(Area::Ruby) {
        snapshot.ruby = ruby::read(wanted, &snapshot.process.env, &mut unseen);
    }
    if wanted.has(Area::Database) {
        let read = |url: &String| database::read(url, &mut unseen);
        snapshot.databases = wanted.databases.iter().filter_map(read).collect();
    }
    snapshot.unseen = unseen;
    snapshot
}

/// Returns the current control group of a process.
pub fn control_group(pid: u32) -> Option<doctor::snapshot::Group> {
    group::read(&format!("/proc/{pid}"), &mut Vec::new())
}

/// Returns the app's folder in which a process stands, by its path here; `None` where the folder
/// cannot be read, holds no app, or the path leads elsewhere, as from another root.
pub fn folder_of(pid: u32) -> Option<PathBuf> {
    let at = format!("/proc/{pid}/cwd");
    let folder = fs::read_link(&at).ok()?;
    let is_it = same_file(&folder, Path::new(&at)) && app::read(&folder).is_some();
    is_it.then_some(folder)
}

/// Whether two paths lead to the same file.
fn same_file(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| fs::metadata(path).map(|data| (data.dev(), data.ino())).ok();
    let numbers = number(one);
    numbers.is_some() && numbers == number(other)
}

/// Returns a small file's text without blanks at both ends; `None` if missing or not readable.
fn file(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// Returns the text of an expected file; without one the reason is listed.
fn wanted_file(path: &str, what: &str, unseen: &mut Vec<Unseen>) -> Option<String> {
    match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) => {
            unseen.push(Unseen {
                what: what.to_owned(),
                why: format!("{path}: {}", reason(&error)),
            });
            None
        }
    }
}

/// Returns an error's text without the number; the two usual ones in words from the catalogue of
/// names.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => return "it is not there".to_owned(),
        std::io::ErrorKind::PermissionDenied => return "permission denied".to_owned(),
        _ => {}
    }
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}

/// The value of a `Name:   value` line.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = |line: &'a str| line.strip_prefix(name)?.trim_start().strip_prefix(':');
    text.lines().find_map(rest).map(str::trim)
}

/// Returns the count of numbers in a list such as `0-3,8`.
fn count_of_list(list: &str) -> Option<u32> {
    let mut count = 0;
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count += last.checked_sub(first)? + 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(count_of_list("0-3,8"), Some(5));
        assert_eq!(count_of_list("0"), Some(1));
        assert_eq!(count_of_list("3-1"), None);
        assert_eq!(count_of_list("x"), None);
    }

    #[test]
    fn the_folder_of_a_process_is_its_own_where_it_holds_an_app() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("a path");
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .current_dir(&path)
            .spawn()
            .expect("a process");
        let without = folder_of(child.id());
        fs::write(path.join("config.ru"), "").expect("a file");
        let with = folder_of(child.id());
        child.kill().expect("its end");
        child.wait().expect("its end");
        assert_eq!((without, with), (None, Some(path)));
        assert_eq!(folder_of(u32::MAX), None);
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let status = "Seccomp:\t2\nSeccomp_filters:\t7\n";
        assert_eq!(field(status, "Seccomp_filters"), Some("7"));
        assert_eq!(field(status, "Seccomp"), Some("2"));
        assert_eq!(field(status, "Sec"), None);
    }
}

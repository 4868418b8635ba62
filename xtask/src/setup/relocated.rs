//! Packages of a Debian release, unpacked into a folder of ours and made runnable there. Nothing is
//! installed, and no root's rights are needed.
//!
//! A program of another release needs that release's C library. Each program is bound to the
//! unpacked one by `patchelf`: its interpreter becomes the unpacked `ld-linux`, and `DT_RPATH`
//! names the unpacked libraries. Unlike `LD_LIBRARY_PATH`, this does not reach the programs that it
//! starts, and `/proc/self/exe` stays the program itself.

use std::env::consts::ARCH;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::Source;
use super::private_apt::PrivateApt;
use super::roots::make_skeleton;
use crate::run::{Outcome, capture, is_program, write};

/// Version of the treatment of packages; a change replaces old folders.
const RECIPE: u32 = 2;
const RECORD: &str = "packages.txt";

/// Packages, and a folder for unpacking.
#[derive(Clone, Debug)]
pub(super) struct Relocated {
    pub(super) suite: &'static str,
    pub(super) packages: Vec<&'static str>,
    /// Programs to bind, relative to the root.
    pub(super) programs: Vec<&'static str>,
    /// The final folder, which must not move: the programs contain the path.
    pub(super) folder: PathBuf,
}

impl Relocated {
    /// Returns the folder used as `/`.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("debian")
    }

    /// Returns the folder of the release's shared libraries.
    pub(super) fn libraries(&self) -> PathBuf {
        libraries(&self.root())
    }

    /// Returns whether the folder holds at least the packages, unpacked for the very same path.
    pub(super) fn is_there(&self) -> bool {
        let record = fs::read_to_string(self.folder.join(RECORD)).unwrap_or_default();
        let mut lines = record.lines();
        lines.next() == Some(&self.header())
            && self
                .packages
                .iter()
                .all(|package| record.lines().skip(1).any(|line| line == *package))
    }

    /// Fetches, unpacks and binds the packages with all dependencies; replaces an older folder.
    pub(super) fn install(&self, mirror: &Source) -> Outcome<()> {
        let part = self
            .folder
            .with_extension(format!("{}.part", std::process::id()));
        let outcome = self.make(mirror, &part);
        let _ = fs::remove_dir_all(part.with_extension("apt"));
        let moved = outcome.and_then(|()| {
            let _ = fs::remove_dir_all(&self.folder);
            fs::rename(&part, &self.folder)
                .map_err(|error| format!("cannot make {}: {error}", self.folder.display()))
        });
        let _ = fs::remove_dir_all(&part);
        moved
    }

    fn make(&self, mirror: &Source, part: &Path) -> Outcome<()> {
        let apt = PrivateApt::open(&part.with_extension("apt"), mirror, self.suite)?;
        let root = part.join("debian");
        make_skeleton(&root)?;
        let packages = [&self.packages[..], &["patchelf"]].concat();
        apt.unpack_with_dependencies(&packages, &root)?;
        apt.close();
        make_links_relative(&root)?;
        link_debug_symbols(&root)?;
        self.bind(&root)?;
        let record = format!("{}\n{}\n", self.header(), self.packages.join("\n"));
        write(&part.join(RECORD), &record)
    }

    fn bind(&self, root: &Path) -> Outcome<()> {
        self.programs
            .iter()
            .try_for_each(|program| bind(root, &self.root(), &root.join(program), ""))
    }

    fn header(&self) -> String {
        format!("{RECIPE} {} {}", self.suite, self.folder.display())
    }
}

/// Binds a program to the C library and the shared libraries unpacked below `home`; those in the
/// folders of `first`, separated and ended by a colon, are found before. `root` has the tool for
/// this.
pub(crate) fn bind(root: &Path, home: &Path, program: &Path, first: &str) -> Outcome<()> {
    let loader = "usr/lib64/ld-linux-x86-64.so.2";
    let mut patchelf = Command::new(root.join(loader));
    patchelf.arg("--library-path").arg(libraries(root));
    patchelf.arg(root.join("usr/bin/patchelf"));
    patchelf.arg("--set-interpreter").arg(home.join(loader));
    patchelf.args(["--force-rpath", "--set-rpath"]);
    patchelf.arg(format!("{first}{}", libraries(home).display()));
    capture(patchelf.arg(program)).map(|_| ())
}

fn libraries(root: &Path) -> PathBuf {
    root.join("usr/lib").join(format!("{ARCH}-linux-gnu"))
}

/// Rewrites absolute links to something unpacked, such as a library's other name.
fn make_links_relative(root: &Path) -> Outcome<()> {
    for link in links_below(root) {
        let Ok(leads_to) = fs::read_link(&link) else {
            continue;
        };
        let Ok(inside) = leads_to.strip_prefix("/") else {
            continue;
        };
        let depth = link
            .strip_prefix(root)
            .map_or(0, |path| path.components().count());
        if root.join(inside).exists() && depth > 0 {
            let up: PathBuf = std::iter::repeat_n("..", depth - 1).collect();
            fs::remove_file(&link)
                .and_then(|()| symlink(up.join(inside), &link))
                .map_err(|error| format!("cannot change {}: {error}", link.display()))?;
        }
    }
    Ok(())
}

fn links_below(folder: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => links.push(entry.path()),
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => {}
            }
        }
    }
    links
}

/// Puts the C library's debug symbols where valgrind looks: `.debug` beside the library, under the
/// build id without the first two digits. The folder of the packages, `/usr/lib/debug`, is not at
/// its place here.
fn link_debug_symbols(root: &Path) -> Outcome<()> {
    let ids = root.join("usr/lib/debug/.build-id");
    let beside = libraries(root).join(".debug");
    for start in fs::read_dir(&ids).into_iter().flatten().flatten() {
        for file in fs::read_dir(start.path()).into_iter().flatten().flatten() {
            let leads_to = Path::new("../../debug/.build-id")
                .join(start.file_name())
                .join(file.file_name());
            fs::create_dir_all(&beside)
                .and_then(|()| symlink(leads_to, beside.join(file.file_name())))
                .map_err(|error| format!("cannot write to {}: {error}", beside.display()))?;
        }
    }
    Ok(())
}

/// Writes an executable script for a shell or Ruby.
pub(crate) fn write_script(path: &Path, text: &str) -> Outcome<()> {
    write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("cannot make {} a program: {error}", path.display()))
}

/// Returns the programs of a folder by name.
pub(super) fn programs_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut programs: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| is_program(path))
        .collect();
    programs.sort();
    programs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_links_are_rewritten_when_their_goal_was_unpacked() {
        let root = std::env::temp_dir().join(format!("hakaru-links-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        write(&root.join("usr/share/thing/file"), "here").unwrap();
        fs::create_dir_all(root.join("usr/lib/a")).unwrap();
        symlink("/usr/share/thing", root.join("usr/lib/a/thing")).unwrap();
        symlink("/etc/not-unpacked", root.join("usr/lib/other")).unwrap();
        make_links_relative(&root).unwrap();
        let thing = root.join("usr/lib/a/thing");
        assert_eq!(
            fs::read_link(&thing).unwrap(),
            Path::new("../../../usr/share/thing")
        );
        assert_eq!(fs::read_to_string(thing.join("file")).unwrap(), "here");
        let other = fs::read_link(root.join("usr/lib/other")).unwrap();
        assert_eq!(other, Path::new("/etc/not-unpacked"));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_folder_with_fewer_packages_or_of_another_place_does_not_count() {
        let folder = std::env::temp_dir().join(format!("hakaru-record-{}", std::process::id()));
        let with = |packages: &[&'static str], folder: &Path| Relocated {
            suite: "trixie",
            packages: packages.to_vec(),
            programs: Vec::new(),
            folder: folder.to_owned(),
        };
        let whole = with(&["ruby", "puma"], &folder);
        assert!(!whole.is_there());
        let record = format!("{}\nruby\npuma\n", whole.header());
        write(&folder.join(RECORD), &record).unwrap();
        assert!(whole.is_there());
        assert!(with(&["puma"], &folder).is_there());
        assert!(!with(&["puma", "ruby-pg"], &folder).is_there());
        let moved = folder.with_extension("moved");
        fs::rename(&folder, &moved).unwrap();
        assert!(!with(&["puma"], &moved).is_there());
        fs::remove_dir_all(moved).unwrap();
    }
}

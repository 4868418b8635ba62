//! A full disk.
//!
//! Best is a tiny file system in a mount namespace of the command's own, which root may make, and
//! others where the system lets them have user namespaces. Containers often allow neither: there a
//! limit on the size of files makes writes fail likewise, only with another error.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Going, Project};

/// Place and size of a full disk.
pub(crate) struct FullDisk<'a> {
    /// The folder on the small disk. The script does not see earlier contents of the folder.
    pub(crate) folder: &'a Path,
    /// Size of the disk.
    pub(crate) kib: u32,
    /// Size of the largest file, where only a limit is possible.
    pub(crate) file_kib: u32,
}

impl FullDisk<'_> {
    /// Starts a shell script in the project, with the program in `$HAKARU` and the folder on the
    /// small disk.
    pub(crate) fn start(&self, project: &Project, script: &str) -> Going {
        let kib = self.kib;
        let namespace = NAMESPACES.iter().find(|words| can_mount(words));
        let (wrapper, preparation) = match namespace {
            Some(words) => {
                let folder = self.folder.display();
                let mount = format!("mount -t tmpfs -o size={kib}k tmpfs '{folder}' || exit 99");
                (*words, mount)
            }
            // In blocks of 512 bytes. An ignored signal stays ignored in what is executed.
            None => (
                &[][..],
                format!("trap '' XFSZ; ulimit -f {} || exit 99", self.file_kib * 2),
            ),
        };
        let script = format!("{preparation}\n{script}");
        let mut command = project.command(&[wrapper, &["sh", "-c", &script]].concat());
        command.env("HAKARU", env!("CARGO_BIN_EXE_hakaru"));
        project.go(command)
    }
}

/// Commands for a mount namespace: as root, and as another user.
const NAMESPACES: [&[&str]; 2] = [
    &["unshare", "--mount"],
    &["unshare", "--mount", "--user", "--map-root-user"],
];

fn can_mount(namespace: &[&str]) -> bool {
    let words = [namespace, &["mount", "-t", "tmpfs", "tmpfs", "/mnt"]].concat();
    Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

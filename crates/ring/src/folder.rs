//! Folders of rings and the files there, of which another user may have planted some.

use std::fs::{Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Opens never through a link, and never waits for the other end of a pipe.
pub fn never_through_links(options: &mut OpenOptions) -> &mut OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed())
}

/// Whether a file is a regular one with a single name.
pub fn is_plain(file: &Metadata) -> bool {
    file.is_file() && file.nlink() <= 1
}

/// Refuses a folder of another user or writable by everybody. A folder
/// in `/dev/shm` may be removed while the app runs, and another user may then put one of the same
/// name there, with links in it.
///
/// # Errors
/// The folder is missing, a link, or somebody else's.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(folder)?;
    if !found.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let is_ours = found.uid() == rustix::process::geteuid().as_raw();
    if is_ours && found.mode() & 0o002 == 0 {
        return Ok(());
    }
    let why = "the folder belongs to another user or can be written by others";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_a_closed_folder_of_our_own_will_do() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, link) = (parent.path().join("rings"), parent.path().join("link"));
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        symlink(&folder, &link).unwrap();
        assert!(check_folder(&folder).is_ok());
        assert!(check_folder(&link).is_err());
        assert!(check_folder(&parent.path().join("missing")).is_err());
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert!(check_folder(&folder).is_err());
    }
}

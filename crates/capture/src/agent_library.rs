//! The agent's shared object, carried inside the program.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

static LIBRARY: &[u8] = include_bytes!(env!("HAKARU_AGENT_LIBRARY"));

/// The required name of the file: Ruby calls `Init_` and the name without the ending.
const LIBRARY_NAME: &str = "hakaru_agent.so";

/// Loads the library where possible, and otherwise reports the reason.
static BOOT: &str = include_str!("../../../ruby/boot.rb");
const BOOT_NAME: &str = "hakaru_boot.rb";

/// Writes the agent into `folder` (created if missing, mode 0700) and returns the path for
/// `RUBYOPT`.
///
/// # Errors
/// When the folder cannot be created, is not private or holds the files already, or the folder's
/// path has a space: `RUBYOPT`, which will name the file, is split at spaces.
pub fn unpack_agent(folder: &Path) -> io::Result<PathBuf> {
    if folder.to_string_lossy().contains(char::is_whitespace) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the folder's path holds a space, which RUBYOPT cannot carry",
        ));
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let found = fs::metadata(folder)?;
    let refused = |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refused("the folder belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return refused("the folder can be written by other users");
    }
    write_private(&folder.join(LIBRARY_NAME), LIBRARY)?;
    let boot = folder.join(BOOT_NAME);
    write_private(&boot, BOOT.as_bytes())?;
    Ok(boot)
}

/// Writes a new private file: a file or link already there is neither overwritten nor followed.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}

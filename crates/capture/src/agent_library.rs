//! The agent's shared object, carried inside the program.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::rings::STANDBY_VARIABLE;

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
    check_owned(folder)?;
    write_private(&folder.join(LIBRARY_NAME), LIBRARY)?;
    let boot = folder.join(BOOT_NAME);
    write_private(&boot, BOOT.as_bytes())?;
    Ok(boot)
}

/// An agent for apps started by somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandbyAgent {
    /// Absolute path of the folder with everything.
    pub folder: PathBuf,
    /// File in the folder with the variables, a line each.
    pub file: PathBuf,
    /// Folder of the rings, made by the agent.
    pub rings: PathBuf,
    /// Variables for the app: names and values.
    pub variables: [(&'static str, String); 2],
}

/// Names of the files of a [`StandbyAgent`].
const PLACED: [&str; 3] = [LIBRARY_NAME, BOOT_NAME, "env"];

/// Writes the agent into `folder` (created if missing, without parents), readable by every
/// user, for apps of other users. An agent there is replaced: apps that run have the old one
/// mapped, and keep it. Without `rings` they are in a folder in memory, named after `folder`.
///
/// # Errors
/// The folder cannot be created, is another user's, can be written by others, holds other files, or
/// has a path that variables of a unit of systemd cannot carry.
pub fn place_agent(folder: &Path, rings: Option<&Path>) -> io::Result<StandbyAgent> {
    let refused = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    let mode = |mode| fs::Permissions::from_mode(mode);
    match fs::create_dir(folder) {
        Ok(()) => fs::set_permissions(folder, mode(0o755))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let folder = folder.canonicalize()?;
    check_owned(&folder)?;
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name();
        let is_ours =
            |known: &&str| name == **known || name == *name_beside(Path::new(known)).as_os_str();
        if !PLACED.iter().any(is_ours) {
            let name = name.display();
            return refused(format!(
                "the folder holds {name}; name an empty or a new one, since it is deleted in the end"
            ));
        }
    }
    let rings = match rings {
        Some(rings) => std::path::absolute(rings)?,
        None => rings_of(&folder),
    };
    for path in [&folder, &rings] {
        let is_plain = |one: char| one.is_alphanumeric() || "/._-+@".contains(one);
        if !path.to_string_lossy().chars().all(is_plain) {
            return refused(format!(
                "{} has a character that variables of systemd or RUBYOPT cannot carry",
                path.display()
            ));
        }
    }
    let boot = folder.join(BOOT_NAME);
    let variables = [
        ("RUBYOPT", format!("-r{}", boot.display())),
        (STANDBY_VARIABLE, rings.display().to_string()),
    ];
    let lines: String = (variables.iter())
        .map(|(name, value)| format!("{name}={value}\n"))
        .collect();
    let [library, boot, file] = PLACED.map(|name| folder.join(name));
    for (path, bytes) in [
        (library, LIBRARY),
        (boot, BOOT.as_bytes()),
        (file.clone(), lines.as_bytes()),
    ] {
        // Written over, the file would change under apps that have it mapped.
        let beside = name_beside(&path);
        let _ = fs::remove_file(&beside);
        write_private(&beside, bytes)?;
        fs::set_permissions(&beside, mode(0o644))?;
        fs::rename(&beside, &path)?;
    }
    Ok(StandbyAgent {
        folder,
        file,
        rings,
        variables,
    })
}

fn name_beside(path: &Path) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    beside.into()
}

/// Returns a folder for rings, by another name for each folder of an agent.
fn rings_of(folder: &Path) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let parent = match memory.is_dir() {
        true => memory.to_owned(),
        false => std::env::temp_dir(),
    };
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    parent.join(format!("hakaru-{name}-{:08x}", hasher.finish() as u32))
}

/// Refuses a folder changeable by other users.
fn check_owned(folder: &Path) -> io::Result<()> {
    let found = fs::metadata(folder)?;
    let refused = |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refused("the folder belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return refused("the folder can be written by other users");
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_placed_for_every_user_and_replaced_without_a_change_in_place() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("agent");
        let agent = place_agent(&folder, None).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&agent.folder), 0o755);
        let library = agent.folder.join(LIBRARY_NAME);
        assert_eq!(mode(&library), 0o644);
        let lines = fs::read_to_string(&agent.file).unwrap();
        let boot = agent.folder.join(BOOT_NAME);
        assert!(lines.starts_with(&format!("RUBYOPT=-r{}\n", boot.display())));
        let rings = agent.rings.display();
        assert!(
            lines.ends_with(&format!("HAKARU_STANDBY={rings}\n")),
            "{lines}"
        );
        // The agent makes it.
        assert!(!agent.rings.exists());

        let before = fs::metadata(&library).unwrap().ino();
        assert_eq!(place_agent(&folder, None).unwrap(), agent);
        assert_ne!(fs::metadata(&library).unwrap().ino(), before);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), PLACED.len());
    }

    #[test]
    fn a_folder_that_cannot_be_deleted_later_or_named_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let refused = |folder: &Path, part: &str| {
            let error = place_agent(folder, None).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        fs::write(parent.path().join("app.rb"), "").unwrap();
        refused(parent.path(), "app.rb");
        refused(&parent.path().join("two words"), "cannot carry");
        refused(&parent.path().join("per%cent"), "cannot carry");
        refused(&parent.path().join("missing/agent"), "No such file");
        let open = parent.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        refused(&open, "other users");
    }
}

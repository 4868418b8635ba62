//! The sign of a reader, for agents in apps started by somebody else.
//!
//! One page of shared memory in the folder of the rings. The first agent makes the file, all agents
//! and the reader map the page. Agents record while the sign holds: the reader renews the sign
//! while it reads, so that a reader that was killed leaves agents that stop soon.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags, fallocate, flock};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::time::{ClockId, clock_gettime};

use crate::folder::{check_folder, is_plain, never_through_links};
use crate::layout::VERSION;

/// Name of the file with the page, beside the rings.
const FILE: &str = "reader";

const PAGE_BYTES: usize = 4096;

/// How long a sign holds without renewal: longer than a busy machine keeps a reader from working.
const SIGN_HOLDS: Duration = Duration::from_secs(5);

#[repr(C)]
struct Page {
    /// Written by agents: [`VERSION`].
    version: AtomicU32,
    /// Number of the reader, written by the reader before `until`; never 0 while one reads.
    epoch: AtomicU32,
    /// End of the sign, monotonic nanoseconds; 0 without a reader.
    until: AtomicU64,
}

/// A mapped page, together with device and inode of the file.
struct Mapped {
    page: NonNull<Page>,
    identity: (u64, u64),
}

// SAFETY: the page has nothing but atomics, and stays mapped as long as the value lives.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    fn of(file: &File) -> io::Result<Mapped> {
        let found = file.metadata()?;
        // SAFETY: a fresh shared mapping of a file with at least that length, which nobody shrinks.
        let page = unsafe {
            mmap(
                std::ptr::null_mut(),
                PAGE_BYTES,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                0,
            )?
        };
        let page = NonNull::new(page.cast::<Page>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapped {
            page,
            identity: (found.dev(), found.ino()),
        })
    }

    fn page(&self) -> &Page {
        // SAFETY: page-aligned, as long as a page, and mapped as long as self lives.
        unsafe { self.page.as_ref() }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped by `of` with this length and not used afterwards.
        let _ = unsafe { munmap(self.page.as_ptr().cast(), PAGE_BYTES) };
    }
}

/// The agent's side.
pub struct Standby {
    mapped: Mapped,
}

impl Standby {
    /// Maps the page; makes a missing folder (mode 0700, without parents) and file.
    ///
    /// # Errors
    /// What [`check_folder`] says of the folder; a file that is a link, no regular file or somebody
    /// else's; whatever the file system says.
    pub fn open(folder: &Path) -> io::Result<Standby> {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => check_folder(folder)?,
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        options.create(true).truncate(false).mode(0o600);
        let file = never_through_links(&mut options).open(folder.join(FILE))?;
        check_file(&file, rustix::process::geteuid().as_raw())?;
        fallocate(&file, FallocateFlags::empty(), 0, PAGE_BYTES as u64)?;
        let mapped = Mapped::of(&file)?;
        mapped.page().version.store(VERSION, Relaxed);
        Ok(Standby { mapped })
    }

    /// End of the sign, monotonic nanoseconds; 0 without a reader.
    pub fn until(&self) -> u64 {
        // Pairs with `Reading`: who reads the end reads the epoch.
        self.mapped.page().until.load(Acquire)
    }

    /// Number of the present or last reader.
    pub fn epoch(&self) -> u32 {
        self.mapped.page().epoch.load(Relaxed)
    }

    /// Whether the file in `folder` is still the mapped one: `/dev/shm` may be emptied meanwhile.
    pub fn is_in(&self, folder: &Path) -> bool {
        identity(&folder.join(FILE)) == Some(self.mapped.identity)
    }
}

/// The reader's side: agents record while the value lives and is renewed.
pub struct Reading {
    mapped: Mapped,
    /// Keeps other readers out.
    _lock: File,
    /// The folder itself, whatever the name stands for later.
    folder: OwnedFd,
    name: PathBuf,
    identity: (u64, u64),
}

/// Reason for the rings of a running app not being readable.
#[derive(Debug)]
pub enum StandbyError {
    /// No agent has served a request there yet.
    Missing,
    /// The folder belongs to the named user, or to one without a name, by id.
    Foreign(String),
    /// Another program reads the rings.
    Busy,
    /// Made by an agent of another version.
    Version(u32),
    /// The operating system refused.
    Io(io::Error),
}

impl Reading {
    /// Gives agents the sign, after leftovers of an earlier reader were removed.
    ///
    /// # Errors
    /// See [`StandbyError`].
    pub fn begin(folder: &Path) -> Result<Reading, StandbyError> {
        let missing = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => StandbyError::Missing,
            _ => StandbyError::Io(error),
        };
        let opened = File::from(
            rustix::fs::open(
                folder,
                OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                Mode::empty(),
            )
            .map_err(|errno| missing(errno.into()))?,
        );
        let found = opened.metadata()?;
        let us = rustix::process::geteuid().as_raw();
        if us != 0 && found.uid() != us {
            return Err(StandbyError::Foreign(user(found.uid())));
        }
        if found.mode() & 0o002 != 0 {
            let why = "the folder can be written by others";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why).into());
        }
        let name = folder.to_owned();
        let identity = (found.dev(), found.ino());
        let folder = OwnedFd::from(opened);
        let mut options = OpenOptions::new();
        let lock = never_through_links(options.read(true).write(true))
            .open(pinned(&folder).join(FILE))
            .map_err(missing)?;
        check_file(&lock, found.uid())?;
        if lock.metadata()?.len() < PAGE_BYTES as u64 {
            return Err(StandbyError::Missing);
        }
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|errno| {
            match io::Error::from(errno) {
                error if error.kind() == io::ErrorKind::WouldBlock => StandbyError::Busy,
                error => StandbyError::Io(error),
            }
        })?;
        let mapped = Mapped::of(&lock)?;
        let version = mapped.page().version.load(Relaxed);
        if version != VERSION {
            return Err(StandbyError::Version(version));
        }
        let reading = Reading {
            mapped,
            _lock: lock,
            folder,
            name,
            identity,
        };
        reading.remove_leftovers();
        // Unlike that of any other reader, also of one whose folder is gone.
        let page = reading.mapped.page();
        let number = (monotonic_ns() / 1_000) as u32;
        let number = number.wrapping_add(u32::from(number == page.epoch.load(Relaxed)));
        page.epoch.store(number.max(1), Relaxed);
        reading.renew();
        Ok(reading)
    }

    /// Renews the sign; to be called far more often than every five seconds.
    pub fn renew(&self) {
        let until = monotonic_ns().saturating_add(SIGN_HOLDS.as_nanos() as u64);
        self.mapped.page().until.store(until, Release);
    }

    /// The folder to look for rings in: the one found at the begin, by descriptor.
    pub fn folder(&self) -> PathBuf {
        pinned(&self.folder)
    }

    /// Whether the folder's name still stands for the folder read, with the same page.
    pub fn is_in_place(&self) -> bool {
        let folder = fs::symlink_metadata(&self.name).ok();
        folder.is_some_and(|found| (found.dev(), found.ino()) == self.identity)
            && identity(&self.folder().join(FILE)) == Some(self.mapped.identity)
    }

    fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(self.folder()) else {
            return;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if matches!(
                path.extension().and_then(|ending| ending.to_str()),
                Some("ring" | "agent")
            ) {
                // Agents have mapped theirs, and make others for the next reader.
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.mapped.page().until.store(0, Release);
        self.remove_leftovers();
    }
}

/// Refuses what is no regular file of `owner` with a single name.
fn check_file(file: &File, owner: u32) -> io::Result<()> {
    let found = file.metadata()?;
    match is_plain(&found) && found.uid() == owner {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("`{FILE}` in the folder is not a file of the agent's"),
        )),
    }
}

/// Returns the name of a user of the system; the id as text without a name.
fn user(id: u32) -> String {
    let id = id.to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    });
    name.unwrap_or(id)
}

fn pinned(folder: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

impl From<io::Error> for StandbyError {
    fn from(error: io::Error) -> Self {
        StandbyError::Io(error)
    }
}

impl fmt::Display for StandbyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StandbyError::Missing => f.write_str("no agent has served a request there"),
            StandbyError::Foreign(user) => write!(f, "they belong to the user {user}"),
            StandbyError::Busy => f.write_str("another hakaru reads them"),
            StandbyError::Version(version) => write!(
                f,
                "the agent in the app has format {version}, this program reads {VERSION}"
            ),
            StandbyError::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for StandbyError {}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn rings() -> (tempfile::TempDir, PathBuf) {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("rings");
        (parent, folder)
    }

    #[test]
    fn agents_see_a_reader_while_it_reads_and_each_under_its_own_number() {
        let (_parent, folder) = rings();
        let agent = Standby::open(&folder).unwrap();
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(agent.until(), 0);
        let reading = Reading::begin(&folder).unwrap();
        let first = agent.epoch();
        assert!(first != 0 && agent.until() > monotonic_ns());
        assert!(matches!(Reading::begin(&folder), Err(StandbyError::Busy)));
        drop(reading);
        assert_eq!(agent.until(), 0);
        let _reading = Reading::begin(&folder).unwrap();
        assert_ne!(agent.epoch(), first);
        // Another process of the app maps the same page.
        assert_eq!(Standby::open(&folder).unwrap().epoch(), agent.epoch());
    }

    #[test]
    fn leftovers_of_another_reader_are_removed_at_both_ends() {
        let (_parent, folder) = rings();
        let _agent = Standby::open(&folder).unwrap();
        let left = || {
            let names = ["7-0.ring", "7.agent"].map(|name| folder.join(name));
            for path in &names {
                fs::write(path, "x").unwrap();
            }
            names
        };
        let before = left();
        let reading = Reading::begin(&folder).unwrap();
        assert!(!before.iter().any(|path| path.exists()));
        let after = left();
        drop(reading);
        assert!(!after.iter().any(|path| path.exists()));
        assert!(folder.join(FILE).exists());
    }

    #[test]
    fn an_emptied_folder_is_noticed_on_both_sides() {
        let (_parent, folder) = rings();
        assert!(matches!(
            Reading::begin(&folder),
            Err(StandbyError::Missing)
        ));
        let agent = Standby::open(&folder).unwrap();
        let reading = Reading::begin(&folder).unwrap();
        assert!(agent.is_in(&folder) && reading.is_in_place());
        fs::remove_dir_all(&folder).unwrap();
        assert!(!agent.is_in(&folder) && !reading.is_in_place());
        let other = Standby::open(&folder).unwrap();
        assert!(other.is_in(&folder) && !reading.is_in_place());
    }

    #[test]
    fn users_are_named() {
        assert_eq!(user(0), "root");
        assert_eq!(user(4_294_967_000), "4294967000");
    }

    #[test]
    fn planted_links_and_open_folders_are_refused() {
        let (parent, folder) = rings();
        let precious = parent.path().join("precious");
        fs::write(&precious, vec![7; PAGE_BYTES]).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        symlink(&precious, folder.join(FILE)).unwrap();
        assert!(Standby::open(&folder).is_err());
        assert!(Reading::begin(&folder).is_err());
        fs::remove_file(folder.join(FILE)).unwrap();
        fs::hard_link(&precious, folder.join(FILE)).unwrap();
        assert!(Standby::open(&folder).is_err());
        assert!(Reading::begin(&folder).is_err());
        assert_eq!(fs::read(&precious).unwrap(), vec![7; PAGE_BYTES]);

        let link = parent.path().join("link");
        symlink(&folder, &link).unwrap();
        assert!(Standby::open(&link).is_err());
        assert!(Reading::begin(&link).is_err());
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Standby::open(&folder).is_err());
        assert!(Reading::begin(&folder).is_err());
    }
}

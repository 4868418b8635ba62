//! Reads pages at random from an unnamed file: from the kernel's cache, and directly from the disk.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::usual;

/// Larger than what a disk reads ahead, small enough to be written in a moment.
const BYTES: usize = 16 << 20;
/// A page of InnoDB and of PostgreSQL.
const UNCACHED: usize = 16 << 10;
const CACHED: usize = 8 << 10;
/// Alignment of buffers for direct reads, bytes.
const ALIGNED: usize = 4096;
const TIMES: u64 = 200;
/// Least free space: what a database needs at the same moment is not taken.
const FREE_MIN: u64 = 10 * BYTES as u64;
const DEADLINE: Duration = Duration::from_millis(500);

/// The file.
pub(super) struct File(fs::File);

impl File {
    /// Writes the file and syncs, so as not to wait for writes when reading past the cache.
    pub(super) fn make(folder: &Path) -> io::Result<File> {
        let space = rustix::fs::statvfs(folder)?;
        has_room(space.f_bavail.saturating_mul(space.f_frsize))?;
        let file = tempfile::tempfile_in(folder)?;
        let part = vec![1; 1 << 20];
        for at in 0..BYTES / part.len() {
            file.write_all_at(&part, (at * part.len()) as u64)?;
        }
        file.sync_all()?;
        Ok(File(file))
    }

    /// Nanoseconds for 8 KB from the cache.
    pub(super) fn cached(&self) -> io::Result<f64> {
        self.usual(CACHED)
    }

    /// Nanoseconds for 16 KB from the disk.
    pub(super) fn uncached(&self) -> io::Result<f64> {
        let flags = rustix::fs::fcntl_getfl(&self.0)?;
        rustix::fs::fcntl_setfl(&self.0, flags | OFlags::DIRECT)?;
        self.usual(UNCACHED)
    }

    fn usual(&self, bytes: usize) -> io::Result<f64> {
        let mut memory = vec![0; bytes + ALIGNED];
        let start = memory.as_ptr().align_offset(ALIGNED);
        let page = &mut memory[start..start + bytes];
        let begin_of_all = Instant::now();
        let mut times = Vec::new();
        let mut at = 1_u64;
        for _ in 0..TIMES {
            // A full period needs an odd increment and a multiplier of the form 4n + 1.
            at = (at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)) % (BYTES / bytes) as u64;
            let begin = Instant::now();
            self.0.read_exact_at(page, at * bytes as u64)?;
            times.push(begin.elapsed().as_nanos() as f64);
            if begin_of_all.elapsed() > DEADLINE {
                break;
            }
        }
        Ok(usual(&times))
    }
}

fn has_room(free_bytes: u64) -> io::Result<()> {
    match free_bytes >= FREE_MIN {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::StorageFull,
            format!("less than {} MB free", FREE_MIN >> 20),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_space_of_a_disk_is_not_taken() {
        let refused = has_room(100 << 20).expect_err("no room");
        assert_eq!(refused.to_string(), "less than 160 MB free");
        assert!(has_room(200 << 20).is_ok());
    }
}

//! The producer's side.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::folder::check_folder;
use crate::layout::{
    CAPACITY_BYTES_MAX, CAPACITY_BYTES_MIN, FRAME_BYTES, HEADER_BYTES, Header, MAGIC, VERSION,
    framed_bytes,
};

/// Path and size of a ring to create.
#[derive(Clone, Debug)]
pub struct Place {
    /// Folder watched by capture.
    pub folder: PathBuf,
    /// The producer's process.
    pub pid: u32,
    /// The producer's native thread.
    pub tid: u32,
    /// Makes the file name unique among the rings of a process.
    pub number: u32,
    /// Wanted size of the data area in bytes; rounded up to a power of two within the limits.
    pub capacity_bytes: usize,
}

/// The producer's end of a ring. Not `Sync`: one thread writes.
pub struct Writer {
    base: NonNull<u8>,
    capacity: usize,
    path: PathBuf,
    /// Copies of fields written only by the producer, and the last `tail` read.
    head: u64,
    tail_seen: u64,
}

// SAFETY: the mapping belongs to the value and stays where it is; moving the value to another
// thread keeps it the only producer.
unsafe impl Send for Writer {}

impl Writer {
    /// Creates the file (mode 0600), reserves space for the ring, and maps the file.
    ///
    /// # Errors
    /// Whatever the file system says; `StorageFull` when the folder has no room, which is found out
    /// here and not by a signal at the first write; what [`check_folder`] says of the folder.
    pub fn create(place: &Place) -> io::Result<Writer> {
        check_folder(&place.folder)?;
        let capacity = place
            .capacity_bytes
            .clamp(CAPACITY_BYTES_MIN, CAPACITY_BYTES_MAX)
            .next_power_of_two();
        let path = place
            .folder
            .join(format!("{}-{}.ring", place.pid, place.number));
        let length = (HEADER_BYTES + capacity) as u64;
        Self::create_at(&path, length, capacity, place).inspect_err(|_| {
            // A half-made ring would be taken for one that is about to be ready.
            let _ = std::fs::remove_file(&path);
        })
    }

    fn create_at(path: &Path, length: u64, capacity: usize, place: &Place) -> io::Result<Writer> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, length)?;
        // SAFETY: a fresh shared mapping of a file of that length; nothing else is mapped there.
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                length as usize,
                ProtFlags::READ | ProtFlags::WRITE,
                // The first time around, a page that is not there yet would be one of the app's
                // requests' to wait for.
                MapFlags::SHARED | MapFlags::POPULATE,
                &file,
                0,
            )?
        };
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let writer = Writer {
            base,
            capacity,
            path: path.to_owned(),
            head: 0,
            tail_seen: 0,
        };
        let header = writer.header();
        header.version.store(VERSION, Relaxed);
        header.pid.store(place.pid, Relaxed);
        header.tid.store(place.tid, Relaxed);
        header.capacity.store(capacity as u64, Relaxed);
        header.magic.store(MAGIC, Release);
        Ok(writer)
    }

    /// Ends the ring and removes the file: nobody is left to do so.
    pub fn discard(self) {
        // One that cannot be removed is left to the next reader.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Appends one record; without room, counts the record as dropped and returns `false`.
    pub fn push(&mut self, kind: u16, payload: &[u8]) -> bool {
        self.push_pieces(kind, payload, &[])
    }

    /// Appends one record with a payload in two pieces, as [`Writer::push`] does.
    pub(crate) fn push_pieces(&mut self, kind: u16, first: &[u8], second: &[u8]) -> bool {
        let length = first.len() + second.len();
        let needed = framed_bytes(length) as u64;
        if !self.has_room(needed) {
            self.drop_one();
            return false;
        }
        let mut frame = [0u8; FRAME_BYTES];
        frame[..4].copy_from_slice(&(length as u32).to_le_bytes());
        frame[4..6].copy_from_slice(&kind.to_le_bytes());
        let mut at = self.head;
        self.copy_in(at, &frame);
        at += FRAME_BYTES as u64;
        self.copy_in(at, first);
        if !second.is_empty() {
            self.copy_in(at + first.len() as u64, second);
        }
        self.head += needed;
        self.header().head.store(self.head, Release);
        true
    }

    #[cold]
    fn drop_one(&mut self) {
        let dropped = &self.header().dropped;
        dropped.store(dropped.load(Relaxed) + 1, Relaxed);
    }

    /// Adds to the thread's counters: requests, GVL events, statements.
    pub fn count(&mut self, requests: u64, events: u64, statements: u64) {
        let header = self.header();
        // Only this thread writes them, so load and store need not be one step.
        header
            .requests
            .store(header.requests.load(Relaxed) + requests, Relaxed);
        header
            .events
            .store(header.events.load(Relaxed) + events, Relaxed);
        header
            .statements
            .store(header.statements.load(Relaxed) + statements, Relaxed);
    }

    fn has_room(&mut self, needed: u64) -> bool {
        let capacity = self.capacity as u64;
        self.head + needed - self.tail_seen <= capacity || {
            self.tail_seen = self.header().tail.load(Acquire);
            self.head + needed - self.tail_seen <= capacity
        }
    }

    fn copy_in(&mut self, at: u64, bytes: &[u8]) {
        let offset = (at as usize) & (self.capacity - 1);
        let before_end = self.capacity - offset;
        if bytes.len() <= before_end {
            self.copy_to(offset, bytes);
        } else {
            self.copy_around(offset, bytes.split_at(before_end));
        }
    }

    /// Once in a whole round.
    #[cold]
    fn copy_around(&mut self, offset: usize, (first, second): (&[u8], &[u8])) {
        self.copy_to(offset, first);
        self.copy_to(0, second);
    }

    /// `bytes` must end before the data area does.
    fn copy_to(&mut self, offset: usize, bytes: &[u8]) {
        debug_assert!(offset + bytes.len() <= self.capacity);
        // SAFETY: within the mapping, as `copy_in` sees to. The consumer reads only below `head`,
        // which has not moved yet.
        unsafe {
            let data = self.base.as_ptr().add(HEADER_BYTES + offset);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
        }
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping starts with a header of atomics, is page-aligned, and lives as long
        // as self.
        unsafe { self.base.cast::<Header>().as_ref() }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.header().closed.store(1, Release);
        // SAFETY: the mapping was made by `create_at` with this length and is not used afterwards.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), HEADER_BYTES + self.capacity) };
    }
}

//! The consumer's side.

use std::fmt;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::folder::{is_plain, never_through_links};
use crate::layout::{
    CAPACITY_BYTES_MAX, CAPACITY_BYTES_MIN, FRAME_BYTES, HEADER_BYTES, Header, MAGIC, VERSION,
    framed_bytes,
};

/// The consumer's end of a ring.
pub struct Reader {
    base: NonNull<u8>,
    capacity: usize,
    tail: u64,
    scratch: Vec<u8>,
}

/// Reason for a ring not being readable.
#[derive(Debug)]
pub enum ReadError {
    /// The ring is still being created by the producer; try again later.
    NotReady,
    /// Made by an agent of another version.
    Version(u32),
    /// The ring has invalid contents.
    Corrupt(&'static str),
    /// The operating system refused.
    Io(io::Error),
}

// SAFETY: the mapping belongs to the value and stays where it is when the value moves.
unsafe impl Send for Reader {}

impl Reader {
    /// Maps the ring at `path`. Links and other names of a file are refused: the folder may be
    /// another user's, who planted them.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn open(path: &Path) -> Result<Reader, ReadError> {
        let mut options = OpenOptions::new();
        let file = never_through_links(options.read(true).write(true)).open(path)?;
        let found = file.metadata()?;
        if !is_plain(&found) {
            return Err(ReadError::Corrupt("not a file of its own"));
        }
        let length = found.len() as usize;
        if length < HEADER_BYTES + CAPACITY_BYTES_MIN {
            return Err(ReadError::NotReady);
        }
        if length > HEADER_BYTES + CAPACITY_BYTES_MAX {
            return Err(ReadError::Corrupt("larger than a ring can be"));
        }
        // SAFETY: a fresh shared mapping of a file of that length. The producer never shrinks it.
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )
            .map_err(io::Error::from)?
        };
        let base =
            NonNull::new(base.cast::<u8>()).ok_or(ReadError::Corrupt("mapped at address zero"))?;
        let reader = Reader {
            base,
            capacity: length - HEADER_BYTES,
            tail: 0,
            scratch: Vec::new(),
        };
        reader.check_header()?;
        Ok(reader)
    }

    fn check_header(&self) -> Result<(), ReadError> {
        let header = self.header();
        if header.magic.load(Acquire) != MAGIC {
            return Err(ReadError::NotReady);
        }
        let version = header.version.load(Relaxed);
        if version != VERSION {
            return Err(ReadError::Version(version));
        }
        let capacity = header.capacity.load(Relaxed) as usize;
        if capacity != self.capacity || !capacity.is_power_of_two() {
            return Err(ReadError::Corrupt(
                "capacity does not match the file's length",
            ));
        }
        Ok(())
    }

    /// Passes every complete record to `each` as kind and payload, frees the space, and returns the
    /// number of records.
    ///
    /// # Errors
    /// `Corrupt` when a frame makes no sense; what was there is then skipped.
    pub fn drain(&mut self, mut each: impl FnMut(u16, &[u8])) -> Result<usize, ReadError> {
        let head = self.header().head.load(Acquire);
        let mut count = 0;
        let result = loop {
            let available = head.wrapping_sub(self.tail);
            if available == 0 {
                break Ok(count);
            }
            if available > self.capacity as u64 || available < FRAME_BYTES as u64 {
                break Err(ReadError::Corrupt(
                    "more bytes announced than the ring holds",
                ));
            }
            let mut frame = [0u8; FRAME_BYTES];
            self.copy_out(self.tail, &mut frame);
            let length = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
            let kind = u16::from_le_bytes([frame[4], frame[5]]);
            if framed_bytes(length) as u64 > available {
                break Err(ReadError::Corrupt(
                    "a record is longer than what was written",
                ));
            }
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.resize(length, 0);
            self.copy_out(self.tail + FRAME_BYTES as u64, &mut scratch);
            each(kind, &scratch);
            self.scratch = scratch;
            self.tail += framed_bytes(length) as u64;
            count += 1;
        };
        self.tail = head;
        self.header().tail.store(head, Release);
        result
    }

    /// The producer's process.
    pub fn pid(&self) -> u32 {
        self.header().pid.load(Relaxed)
    }

    /// The producer's native thread.
    pub fn tid(&self) -> u32 {
        self.header().tid.load(Relaxed)
    }

    /// Whether the producer has announced the end of writing.
    pub fn is_closed(&self) -> bool {
        self.header().closed.load(Acquire) == 1
    }

    /// Records lost because the ring was full.
    pub fn dropped(&self) -> u64 {
        self.header().dropped.load(Relaxed)
    }

    /// Returns the producer's counts of requests, GVL events and statements.
    pub fn counts(&self) -> (u64, u64, u64) {
        let header = self.header();
        (
            header.requests.load(Relaxed),
            header.events.load(Relaxed),
            header.statements.load(Relaxed),
        )
    }

    fn copy_out(&self, at: u64, into: &mut [u8]) {
        let offset = (at as usize) & (self.capacity - 1);
        let first = into.len().min(self.capacity - offset);
        // SAFETY: the caller asks for bytes between `tail` and `head`, at most `capacity` of them;
        // the producer does not touch these until `tail` moves.
        unsafe {
            let data = self.base.as_ptr().add(HEADER_BYTES);
            std::ptr::copy_nonoverlapping(data.add(offset), into.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(data, into.as_mut_ptr().add(first), into.len() - first);
        }
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping is page-aligned, longer than a header, and lives as long as self.
        unsafe { self.base.cast::<Header>().as_ref() }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: mapped by `open` with this length and not used afterwards.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), HEADER_BYTES + self.capacity) };
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::NotReady => f.write_str("the ring is still being made"),
            ReadError::Version(version) => write!(
                f,
                "the ring has format {version}, this program reads {VERSION}; \
                 restart the app so that it loads this program's agent"
            ),
            ReadError::Corrupt(what) => write!(f, "the ring is damaged: {what}"),
            ReadError::Io(error) => write!(f, "cannot map the ring: {error}"),
        }
    }
}

impl std::error::Error for ReadError {}

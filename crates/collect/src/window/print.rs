//! Fingerprint of a file's content, by which copies are recognised: packed ones, and copies made by
//! `copytruncate`.

use std::hash::Hasher;
use std::io::{self, Read};

use fnv::FnvHasher;

/// Bytes stored verbatim from the beginning of the file, before the window and at the window's
/// beginning. A few lines, with their times.
const KEPT_BYTES: usize = 4096;
/// Bytes hashed to one value.
const BLOCK_BYTES: u64 = 64 * 1024;
/// Bytes stored from before the offset read last, for recognising the file.
const TAIL_BYTES: usize = 256;

/// Fingerprint of a file's content up to the offset read.
#[derive(Clone, Debug)]
pub(super) struct Print {
    /// Offset of the window's beginning.
    start: u64,
    /// Offset up to which the file was read.
    pub(super) at: u64,
    /// From 0 on, at most up to `start`.
    first: Vec<u8>,
    /// The last before `start`.
    before: Vec<u8>,
    /// From `start` on.
    head: Vec<u8>,
    /// The last before `at`.
    tail: Vec<u8>,
    /// Of each whole block from `start` on.
    blocks: Vec<u64>,
    /// Hash of the last, incomplete block.
    rest: Block,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Block {
    bytes: u64,
    hash: u64,
}

/// Relation of another content to a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    Other,
    /// All of the content was read already.
    Read,
    /// The content continues where reading ended.
    Longer,
}

impl Print {
    /// Returns the fingerprint of a file with the given first bytes and the last bytes before
    /// `start`.
    pub(super) fn new(start: u64, first: Vec<u8>, before: Vec<u8>) -> Print {
        let tail = before[before.len().saturating_sub(TAIL_BYTES)..].to_vec();
        Print {
            start,
            at: start,
            first,
            before,
            head: Vec::new(),
            tail,
            blocks: Vec::new(),
            rest: Block::default(),
        }
    }

    /// How many bytes [`Print::new`] wants of the beginning, and before the window.
    pub(super) fn wanted(start: u64) -> usize {
        start.min(KEPT_BYTES as u64) as usize
    }

    /// Returns whether nothing was read yet, in which case any content would match.
    pub(super) fn is_blank(&self) -> bool {
        self.at == 0
    }

    /// Returns the last bytes read.
    pub(super) fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// Adds what was read.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.at += bytes.len() as u64;
        let more = KEPT_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..more]);
        self.tail
            .extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..surplus);
        let blocks = &mut self.blocks;
        self.rest.add(bytes, |hash| blocks.push(hash));
    }

    /// Compares from the content's first byte on.
    pub(super) fn compare(
        &self,
        content: &mut dyn Content,
        ahead: &mut Vec<u8>,
    ) -> io::Result<Likeness> {
        for (offset, expected) in [
            (0, &self.first),
            (self.start - self.before.len() as u64, &self.before),
        ] {
            content.go_to(offset)?;
            let mut found = vec![0; expected.len()];
            let count = fill(content, &mut found)?;
            if found[..count] != expected[..count] {
                return Ok(Likeness::Other);
            }
            if count < found.len() {
                return Ok(Likeness::Read);
            }
        }
        content.go_to(self.start)?;
        self.compare_read(content, ahead)
    }

    /// Compares what was read of the window.
    fn compare_read(&self, content: &mut dyn Content, ahead: &mut Vec<u8>) -> io::Result<Likeness> {
        let (mut block, mut hashes) = (Block::default(), self.blocks.iter());
        let (mut left, mut is_first) = (self.at - self.start, true);
        let mut buffer = vec![0; BLOCK_BYTES as usize];
        while left > 0 {
            let wanted = left.min(BLOCK_BYTES) as usize;
            let count = fill(content, &mut buffer[..wanted])?;
            let found = &buffer[..count];
            let kept = self.head.len().min(count);
            if std::mem::take(&mut is_first) && found[..kept] != self.head[..kept] {
                return Ok(Likeness::Other);
            }
            let mut is_same = true;
            block.add(found, |hash| is_same &= hashes.next() == Some(&hash));
            if !is_same {
                return Ok(Likeness::Other);
            }
            if count < wanted {
                return Ok(Likeness::Read);
            }
            left -= count as u64;
        }
        if block.hash != self.rest.hash {
            return Ok(Likeness::Other);
        }
        let mut one = [0];
        let count = fill(content, &mut one)?;
        ahead.extend_from_slice(&one[..count]);
        Ok(match count {
            0 => Likeness::Read,
            _ => Likeness::Longer,
        })
    }
}

impl Block {
    fn add(&mut self, mut bytes: &[u8], mut whole: impl FnMut(u64)) {
        while !bytes.is_empty() {
            let room = (BLOCK_BYTES - self.bytes).min(bytes.len() as u64) as usize;
            let (these, others) = bytes.split_at(room);
            let mut hasher = FnvHasher::with_key(self.hash);
            hasher.write(these);
            self.hash = hasher.finish();
            self.bytes += room as u64;
            bytes = others;
            if self.bytes == BLOCK_BYTES {
                whole(std::mem::take(self).hash);
            }
        }
    }
}

/// Bytes readable onward.
pub(super) trait Content: Read {
    /// Moves to an offset behind the present one, or to the beginning.
    fn go_to(&mut self, offset: u64) -> io::Result<()>;
}

/// Reads until the buffer is full or the content ends.
pub(super) fn fill(source: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match source.read(&mut buffer[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

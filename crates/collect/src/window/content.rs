//! Content of a file, unpacked where packed.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::bufread::MultiGzDecoder;

use super::print::{Content, fill};

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Whether the file is packed by gzip.
pub(super) fn is_packed(file: &File) -> io::Result<bool> {
    let mut head = [0; 2];
    let mut plain = Plain::new(file)?;
    Ok(fill(&mut plain, &mut head)? == head.len() && head == GZIP)
}

/// A file read without unpacking.
pub(super) struct Plain(File);

/// A file packed by gzip.
pub(super) struct Packed {
    file: File,
    unpacked: MultiGzDecoder<BufReader<File>>,
    at: u64,
}

impl Plain {
    pub(super) fn new(file: &File) -> io::Result<Plain> {
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Plain(file))
    }
}

impl Read for Plain {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Content for Plain {
    fn go_to(&mut self, offset: u64) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(offset)).map(drop)
    }
}

impl Packed {
    pub(super) fn new(file: &File) -> io::Result<Packed> {
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        let unpacked = MultiGzDecoder::new(BufReader::new(file.try_clone()?));
        Ok(Packed {
            file,
            unpacked,
            at: 0,
        })
    }
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.unpacked.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Content for Packed {
    fn go_to(&mut self, offset: u64) -> io::Result<()> {
        if offset < self.at {
            *self = Packed::new(&self.file)?;
        }
        let skipped = offset - self.at;
        io::copy(&mut self.by_ref().take(skipped), &mut io::sink()).map(drop)
    }
}

//! Access logs of web servers and slow logs of databases in, figures by route and by statement out.
//!
//! Logs are read line by line and never kept whole: what grows is four bytes for each request, and
//! the list of routes, which [`routes`] keeps short. Lines that cannot be read are counted and the
//! first is named, never skipped silently.
//!
//! Start reading at [`read`].

pub mod access;
pub mod facts;
mod series;
pub mod slow;

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use access::{Access, Format, Grouping};
use slow::Slow;

pub use series::{Sizes, Times};

/// Bytes from the beginning of a file used for recognising the kind.
const HEAD_BYTES: usize = 64 * 1024;
/// Bytes read at once.
const BUFFER_BYTES: usize = 256 * 1024;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What a log holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Requests, one a line.
    Access(Format),
    /// The slow log of MySQL or MariaDB.
    MySql,
    /// Durations in PostgreSQL's log (`log_min_duration_statement`).
    Postgres,
}

/// What was read of one or several logs of a kind.
#[derive(Debug)]
pub enum Digest {
    /// Of access logs.
    Access(Box<Access>),
    /// Of slow logs.
    Slow(Slow),
}

impl Digest {
    /// Adds another log; `None` for logs of different kinds.
    #[must_use]
    pub fn merge(mut self, other: Digest) -> Option<Digest> {
        match (&mut self, other) {
            (Digest::Access(all), Digest::Access(other)) => all.merge(*other),
            (Digest::Slow(all), Digest::Slow(other)) => all.merge(other),
            _ => return None,
        }
        Some(self)
    }

    /// Returns the lines not read.
    pub fn unread(&self) -> &Unread {
        match self {
            Digest::Access(access) => &access.unread,
            Digest::Slow(slow) => &slow.unread,
        }
    }
}

/// Lines not read: the number, and the first as an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// How many there were.
    pub lines: u64,
    /// Number and beginning of the first, with what is wrong.
    pub first: Option<(u64, String)>,
}

impl Unread {
    fn merge(&mut self, other: Unread) {
        self.lines += other.lines;
        self.first = self.first.take().or(other.first);
    }

    fn add(&mut self, number: u64, line: &[u8]) {
        self.lines += 1;
        if self.first.is_none() {
            let shown = String::from_utf8_lossy(&line[..line.len().min(120)]).into_owned();
            self.first = Some((number, shown));
        }
    }
}

/// Reads a log, packed by gzip or not.
///
/// # Errors
/// What the source says; a packed file that is damaged; a log of no known kind, when `format` is
/// not given.
pub fn read(source: impl Read, format: Option<&Format>, grouping: &Grouping) -> io::Result<Digest> {
    read_with(source, format, |format| {
        Access::new(format, grouping.clone())
    })
}

/// Reads a log as [`read`] does, and also when each request ended ([`Access::stamps`]).
///
/// # Errors
/// Those of [`read`].
pub fn read_stamped(
    source: impl Read,
    format: Option<&Format>,
    grouping: &Grouping,
) -> io::Result<Digest> {
    read_with(source, format, |format| {
        Access::new(format, grouping.clone()).with_stamps()
    })
}

fn read_with(
    source: impl Read,
    format: Option<&Format>,
    access: impl FnOnce(Format) -> Access,
) -> io::Result<Digest> {
    let mut source = unpacked(source)?;
    let why = "neither an access log nor a slow log that is known by its looks";
    match kind(&mut source, format, why)? {
        Kind::Access(format) => {
            let mut access = access(format);
            each_line(source, |number, line| access.add(number, line))?;
            Ok(Digest::Access(Box::new(access)))
        }
        Kind::MySql => Ok(Digest::Slow(slow::mysql(source)?)),
        Kind::Postgres => Ok(Digest::Slow(slow::postgres(source)?)),
    }
}

/// Reads an access log, packed by gzip or not, and passes each request on.
///
/// # Errors
/// What the source says; a packed file that is damaged; what is no access log of a known kind, when
/// `format` is not given.
pub fn requests(
    source: impl Read,
    format: Option<&Format>,
    mut with: impl FnMut(access::Request),
) -> io::Result<Unread> {
    let mut source = unpacked(source)?;
    let why = "no access log that is known by its looks";
    let Kind::Access(format) = kind(&mut source, format, why)? else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    };
    let mut unread = Unread::default();
    each_line(source, |number, line| {
        match access::request(&format, number, line) {
            Some(request) => with(request),
            None if line.is_empty() => {}
            None => unread.add(number, line),
        }
    })?;
    Ok(unread)
}

/// Returns the bytes of a file, packed by gzip or not.
///
/// # Errors
/// What the source says.
pub fn unpacked<'a>(source: impl Read + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut source = BufReader::with_capacity(BUFFER_BYTES, source);
    Ok(match source.fill_buf()?.starts_with(&GZIP) {
        true => Box::new(BufReader::with_capacity(
            BUFFER_BYTES,
            MultiGzDecoder::new(source),
        )),
        false => Box::new(source),
    })
}

/// Returns the kind named, else the kind recognised by the first bytes; an error with `why` where
/// no kind fits.
fn kind(source: &mut impl BufRead, format: Option<&Format>, why: &str) -> io::Result<Kind> {
    if let Some(format) = format {
        return Ok(Kind::Access(format.clone()));
    }
    let head = source.fill_buf()?;
    kind_of(&head[..head.len().min(HEAD_BYTES)])
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Returns the kind of a log by the first lines; `None` for an unknown one.
pub fn kind_of(head: &[u8]) -> Option<Kind> {
    let text = String::from_utf8_lossy(head);
    if text.lines().any(slow::is_mysql) {
        return Some(Kind::MySql);
    }
    if text.lines().any(slow::is_postgres) {
        return Some(Kind::Postgres);
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .find_map(|line| Format::of_line(line.as_bytes()))
        .map(Kind::Access)
}

/// Calls `with` for each line, numbered from 1, without the end of line.
fn each_line(mut source: impl BufRead, mut with: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        if source.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        number += 1;
        with(number, line.trim_ascii_end());
    }
}

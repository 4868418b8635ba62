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

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use access::{Access, Format, Grouping};
use slow::Slow;

pub use series::{Sizes, Times};

/// Bytes from the beginning of a file searched for a slow log, which may begin with the rest of a
/// statement like a request.
const HEAD_BYTES: usize = 64 * 1024;
/// Greatest number of bytes read until the kind is known.
const HEAD_MAX: usize = 4 * 1024 * 1024;
/// Bytes read at once.
const BUFFER_BYTES: usize = 256 * 1024;
/// Bytes taken of a line; the rest is passed over. The longest in logs are statements, of which
/// MySQL takes 64 MiB, and the beginning names each.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
const GZIP: [u8; 2] = [0x1f, 0x8b];
const QUOTED: &str =
    "csvlog and jsonlog of PostgreSQL are not read; read the log of log_destination = 'stderr'";
const UNKNOWN: &str = "neither an access log nor a slow log that is known by its looks";

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

/// Reads a log, packed by gzip or not; `format` is for an access log without a known look. Slow
/// logs show by themselves what they are.
///
/// # Errors
/// What the source says; a packed file that is damaged; a log of no known kind, when `format` is
/// not given; [`io::ErrorKind::Unsupported`] for a log of PostgreSQL in another form.
pub fn read(source: impl Read, format: Option<&Format>, grouping: &Grouping) -> io::Result<Digest> {
    let digest = read_unless_empty(source, format, grouping)?;
    digest.ok_or_else(|| invalid(UNKNOWN))
}

/// Reads a log as [`read`] does; returns `None` for a log without a line.
///
/// # Errors
/// Those of [`read`].
pub fn read_unless_empty(
    source: impl Read,
    format: Option<&Format>,
    grouping: &Grouping,
) -> io::Result<Option<Digest>> {
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
    let digest = read_with(source, format, |format| {
        Access::new(format, grouping.clone()).with_stamps()
    })?;
    digest.ok_or_else(|| invalid(UNKNOWN))
}

fn read_with(
    source: impl Read,
    format: Option<&Format>,
    access: impl FnOnce(Format) -> Access,
) -> io::Result<Option<Digest>> {
    let (mut source, mut head) = (unpacked(source)?, Vec::new());
    if source.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let known = kind(&mut source, &mut head, format, UNKNOWN)?;
    let source = Cursor::new(head).chain(source);
    Ok(Some(match known {
        Kind::Access(format) => {
            let mut access = access(format);
            each_line(source, |number, line| access.add(number, line))?;
            Digest::Access(Box::new(access))
        }
        Kind::MySql => Digest::Slow(slow::mysql(source)?),
        Kind::Postgres => Digest::Slow(slow::postgres(source)?),
    }))
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
    let (mut source, mut head) = (unpacked(source)?, Vec::new());
    let why = "no access log that is known by its looks";
    let Kind::Access(format) = kind(&mut source, &mut head, format, why)? else {
        return Err(invalid(why));
    };
    let mut unread = Unread::default();
    let source = Cursor::new(head).chain(source);
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

/// Returns the kind recognised by the first lines, which are read into `head`; an error with `why`
/// where no kind fits. Lines that come one by one show no kind at first: a server's own head, a
/// probe that is no request. A format that is given makes an access log of what is no slow log.
fn kind(
    source: &mut impl BufRead,
    head: &mut Vec<u8>,
    format: Option<&Format>,
    why: &str,
) -> io::Result<Kind> {
    let mut access = format.cloned();
    while head.len() < access.as_ref().map_or(HEAD_MAX, |_| HEAD_BYTES) {
        let from = head.len();
        let left = (HEAD_MAX - from) as u64;
        if source.by_ref().take(left).read_until(b'\n', head)? == 0 {
            break;
        }
        let line = head[from..].trim_ascii_end();
        let text = String::from_utf8_lossy(line);
        if slow::is_mysql(&text) {
            return Ok(Kind::MySql);
        }
        if slow::is_postgres(&text) {
            return Ok(Kind::Postgres);
        }
        access = access.or_else(|| Format::of_line(line));
        if slow::is_postgres_quoted(&text) && access.as_ref().is_none_or(|one| !one.fits(line)) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, QUOTED));
        }
    }
    access.map(Kind::Access).ok_or_else(|| invalid(why))
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Calls `with` for each line, numbered from 1, without the end of line and what is too long.
fn each_line(mut source: impl BufRead, mut with: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        let mut most = source.by_ref().take(LINE_BYTES_MAX as u64);
        if most.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.len() == LINE_BYTES_MAX && line.last() != Some(&b'\n') {
            source.skip_until(b'\n')?;
        }
        number += 1;
        with(number, line.trim_ascii_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a log in two parts, of which the second comes later, as through a pipe.
    fn read_in_parts(first: &str, second: &str) -> Digest {
        let source = first.as_bytes().chain(second.as_bytes());
        read(source, None, &Grouping::Routes).expect("a log")
    }

    fn executions(digest: &Digest) -> u64 {
        let Digest::Slow(slow) = digest else {
            panic!("a slow log: {digest:?}")
        };
        slow.statements().iter().map(|one| one.times.count()).sum()
    }

    const MYSQL: &str = "# Time: 2026-11-25T01:02:03.456789Z\n# User@Host: a[a] @ localhost []  Id:     8\n\
        # Query_time: 0.250000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 900\nSELECT 1;\n";
    const POSTGRES: &str = "[42] LOG:  duration: 250.000 ms  statement: SELECT 1\n";
    const COMBINED: &str =
        "1.2.3.4 - - [10/Oct/2026:13:55:36 +0900] \"GET /a HTTP/1.1\" 200 5 \"-\" \"curl/8\"\n";

    #[test]
    fn a_kind_may_show_after_the_first_lines() {
        let head = "/usr/sbin/mysqld, Version: 8.0.39. started with:\n\
            Tcp port: 3306  Unix socket: /x\n\
            Time                 Id Command    Argument\n";
        assert_eq!(executions(&read_in_parts(head, MYSQL)), 1);
        let head = "[42] LOG:  checkpoint starting: time\n";
        assert_eq!(executions(&read_in_parts(head, POSTGRES)), 1);
        let probe = COMBINED.replacen("GET /a HTTP/1.1\" 200", "\\x16\\x03\\x01\\x00\" 400", 1);
        let Digest::Access(access) = read_in_parts(&probe, COMBINED) else {
            panic!("an access log")
        };
        assert_eq!((access.total().0, access.unread.lines), (1, 1));
    }

    #[test]
    fn a_format_is_that_of_access_logs_only() {
        let format = Format::parse("$remote_addr $request").expect("a format");
        let read = |log: &str| read(log.as_bytes(), Some(&format), &Grouping::Routes);
        for slow in [MYSQL, POSTGRES] {
            assert_eq!(executions(&read(slow).expect("a slow log")), 1);
        }
        let agent = "1.2.3.4 GET /a duration: 1 ms  statement: x\n";
        let Digest::Access(access) = read(agent).expect("an access log") else {
            panic!("an access log")
        };
        assert_eq!((access.total().0, access.unread.lines), (1, 0));
    }

    #[test]
    fn a_file_without_a_byte_is_no_log_and_no_error() {
        let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let packed = packed.finish().expect("gzip");
        for empty in [&b""[..], &packed] {
            let digest = read_unless_empty(empty, None, &Grouping::Routes);
            assert!(digest.expect("no error").is_none());
        }
    }

    #[test]
    fn logs_of_postgresql_in_other_forms_are_refused_by_name() {
        let refused = [
            "2026-11-25 01:02:03.456 UTC,\"a\",\"a\",42,,1.2,3,\"SELECT\",,3/7,0,LOG,00000,\
             \"duration: 250.000 ms  statement: SELECT 1\",,,,,,,,,\"psql\"\n",
            "{\"timestamp\":\"2026-11-25 01:02:03.456 UTC\",\"error_severity\":\"LOG\",\
             \"message\":\"duration: 250.000 ms  execute a1: SELECT 1\"}\n",
        ];
        let own = Format::parse("$msec \"$request\"").expect("a format");
        for (log, format) in refused.iter().zip([None, Some(&own)]) {
            let error = read(log.as_bytes(), format, &Grouping::Routes).expect_err("no log");
            assert!(error.to_string().contains("log_destination"), "{error}");
        }
        let agent = COMBINED.replace("curl/8", "duration: 1 ms  statement: x");
        let digest = read(agent.as_bytes(), None, &Grouping::Routes);
        assert!(matches!(digest, Ok(Digest::Access(_))), "{digest:?}");
    }

    #[test]
    fn what_is_no_log_is_refused_after_a_few_megabytes() {
        let source = io::repeat(b'x').take(3 * HEAD_MAX as u64);
        let error = read(source, None, &Grouping::Routes).expect_err("no log");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn of_a_line_without_end_only_the_beginning_is_kept() {
        let long = |letter: u8, bytes: usize| vec![letter; bytes];
        let log = [
            b"a".to_vec(),
            long(b'x', 3 * LINE_BYTES_MAX),
            long(b'y', LINE_BYTES_MAX),
            b"b\n".to_vec(),
        ]
        .join(&b'\n');
        let mut lines = Vec::new();
        let read = each_line(log.as_slice(), |number, line| {
            lines.push((number, line.first().copied(), line.len()));
        });
        read.expect("lines");
        let expected = [
            (1, Some(b'a'), 1),
            (2, Some(b'x'), LINE_BYTES_MAX),
            (3, Some(b'y'), LINE_BYTES_MAX),
            (4, Some(b'b'), 1),
        ];
        assert_eq!(lines, expected);
    }
}

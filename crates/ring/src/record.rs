//! Records as bytes and back. All numbers are little-endian.

use crate::profile::ProfileRecord;
use crate::request::{KIND_REQUEST, RequestRecord};

/// A record of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A request was handled.
    Request(RequestRecord),
    /// A text for other records to refer to by hash.
    Text {
        /// Use of the text.
        kind: TextKind,
        /// FNV-1a hash of the text.
        id: u64,
        /// The text.
        text: String,
    },
    /// Facts about the process; first record of a process's first ring.
    Hello(Hello),
    /// Something the agent could not do, one sentence.
    Trouble(String),
    /// Settings reported by the process.
    Settings(Vec<(String, String)>),
    /// Ruby's counters and the server's, about once a second.
    Runtime(RuntimeRecord),
    /// A record of the sampler of stacks.
    Profile(ProfileRecord),
}

/// Use of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// A route, such as `GET /channel/:id`.
    Route,
    /// An SQL digest, or `HTTP GET host`.
    Digest,
    /// A source line.
    Site,
    /// One statement with literals, identified by the digest's hash. For EXPLAIN; never stored.
    Sample,
    /// The URL of the app's database, password included. For EXPLAIN; never stored.
    Database,
    /// The name of an act, such as `JSON.generate`.
    Name,
}

/// Facts about a process and the agent's cost there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// `ruby_description`.
    pub ruby: String,
    /// Such as `puma 6.6.0`.
    pub server: String,
    /// Whether GVL events are recorded.
    pub gvl: bool,
    /// Worker processes and most threads of each, as configured; 0 when unknown.
    pub workers: u32,
    /// See `workers`.
    pub threads: u32,
    /// Connections the app's pool may hold, 0 when unknown.
    pub database_pool: u32,
    /// Calibrated cost of one request, one GVL event, one statement, in nanoseconds.
    pub cost_request_ns: u32,
    /// See `cost_request_ns`.
    pub cost_event_ns: u32,
    /// See `cost_request_ns`.
    pub cost_statement_ns: u32,
}

/// Counters of one process since the process's start; see `recording::RuntimeSample` for the
/// meaning of each field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeRecord {
    /// Monotonic nanoseconds.
    pub at: u64,
    /// Collections, major collections, nanoseconds spent, objects alive.
    pub gc: [u64; 4],
    /// Cause of the last collection.
    pub gc_cause: String,
    /// Methods compiled, bytes of code, nanoseconds spent, code thrown away; `None` without a
    /// compiler.
    pub jit: Option<[u64; 4]>,
    /// Threads of the server with a request, and requests waiting for a thread; `None` if not
    /// reported.
    pub server: Option<[u32; 2]>,
}

const KIND_TEXT: u16 = 2;
const KIND_HELLO: u16 = 3;
const KIND_TROUBLE: u16 = 4;
const KIND_SETTINGS: u16 = 5;
const KIND_RUNTIME: u16 = 6;

const TEXT_KINDS: [TextKind; 6] = [
    TextKind::Route,
    TextKind::Digest,
    TextKind::Site,
    TextKind::Sample,
    TextKind::Database,
    TextKind::Name,
];

impl Record {
    /// Reads a record; `None` when the bytes are not one.
    pub fn decode(kind: u16, payload: &[u8]) -> Option<Record> {
        let mut bytes = Bytes(payload);
        let record = match kind {
            KIND_REQUEST => Record::Request(RequestRecord::decode(&mut bytes)?),
            KIND_TEXT => Record::Text {
                kind: *TEXT_KINDS.get(bytes.u64()? as usize)?,
                id: bytes.u64()?,
                text: bytes.rest_as_text(),
            },
            KIND_HELLO => Record::Hello(Hello::decode(&mut bytes)?),
            KIND_TROUBLE => Record::Trouble(bytes.rest_as_text()),
            KIND_SETTINGS => Record::Settings(settings(&bytes.rest_as_text())),
            KIND_RUNTIME => Record::Runtime(RuntimeRecord::decode(&mut bytes)?),
            _ => Record::Profile(ProfileRecord::decode(kind, &mut bytes)?),
        };
        Some(record)
    }

    /// Writes a text record into `out`, emptied first, and returns the record's kind.
    pub fn encode_text(kind: TextKind, id: u64, text: &[u8], out: &mut Vec<u8>) -> u16 {
        out.clear();
        put(out, kind as u64);
        put(out, id);
        out.extend_from_slice(text);
        KIND_TEXT
    }

    /// Writes an error record into `out`, emptied first, and returns the record's kind.
    pub fn encode_trouble(text: &str, out: &mut Vec<u8>) -> u16 {
        out.clear();
        out.extend_from_slice(text.as_bytes());
        KIND_TROUBLE
    }

    /// Writes settings (a line each, name and value with a tab between) into `out`, emptied first,
    /// and returns the record's kind.
    pub fn encode_settings(lines: &[u8], out: &mut Vec<u8>) -> u16 {
        out.clear();
        out.extend_from_slice(lines);
        KIND_SETTINGS
    }
}

fn settings(lines: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (name, value) = line.split_once('\t')?;
        Some((name.to_owned(), value.to_owned()))
    };
    lines.lines().filter_map(pair).collect()
}

impl RuntimeRecord {
    /// Writes the record into `out`, emptied first, and returns the record's kind.
    pub fn encode(&self, out: &mut Vec<u8>) -> u16 {
        out.clear();
        put(out, self.at);
        put(
            out,
            u64::from(self.jit.is_some()) | u64::from(self.server.is_some()) << 1,
        );
        let [busy, backlog] = self.server.unwrap_or_default().map(u64::from);
        let numbers = self.gc.into_iter().chain(self.jit.unwrap_or_default());
        for number in numbers.chain([busy, backlog]) {
            put(out, number);
        }
        out.extend_from_slice(self.gc_cause.as_bytes());
        KIND_RUNTIME
    }

    fn decode(bytes: &mut Bytes<'_>) -> Option<RuntimeRecord> {
        let (at, present) = (bytes.u64()?, bytes.u64()?);
        let gc = bytes.numbers()?;
        let jit = bytes.numbers()?;
        let [busy, backlog] = bytes.numbers()?;
        Some(RuntimeRecord {
            at,
            gc,
            jit: (present & 1 == 1).then_some(jit),
            server: (present >> 1 & 1 == 1).then_some([busy as u32, backlog as u32]),
            gc_cause: bytes.rest_as_text(),
        })
    }
}

impl Hello {
    /// Writes the record into `out`, emptied first, and returns the record's kind.
    pub fn encode(&self, out: &mut Vec<u8>) -> u16 {
        out.clear();
        for number in [
            u32::from(self.gvl),
            self.workers,
            self.threads,
            self.database_pool,
            self.cost_request_ns,
            self.cost_event_ns,
            self.cost_statement_ns,
        ] {
            put(out, u64::from(number));
        }
        put(out, self.ruby.len() as u64);
        out.extend_from_slice(self.ruby.as_bytes());
        out.extend_from_slice(self.server.as_bytes());
        KIND_HELLO
    }

    fn decode(bytes: &mut Bytes<'_>) -> Option<Hello> {
        let mut number = || bytes.u64().map(|number| number as u32);
        let mut hello = Hello {
            gvl: number()? != 0,
            workers: number()?,
            threads: number()?,
            database_pool: number()?,
            cost_request_ns: number()?,
            cost_event_ns: number()?,
            cost_statement_ns: number()?,
            ..Hello::default()
        };
        let ruby_bytes = bytes.u64()? as usize;
        hello.ruby = String::from_utf8_lossy(bytes.take(ruby_bytes)?).into_owned();
        hello.server = bytes.rest_as_text();
        Some(hello)
    }
}

pub(crate) fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Bytes left to read.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take(8)
            .and_then(|taken| taken.try_into().ok())
            .map(u64::from_le_bytes)
    }

    pub(crate) fn numbers<const COUNT: usize>(&mut self) -> Option<[u64; COUNT]> {
        let mut numbers = [0; COUNT];
        for number in &mut numbers {
            *number = self.u64()?;
        }
        Some(numbers)
    }

    pub(crate) fn rest_as_text(&mut self) -> String {
        String::from_utf8_lossy(std::mem::take(&mut self.0)).into_owned()
    }
}

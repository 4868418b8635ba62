//! What the records say, as bytes and back. All numbers are little-endian.

use crate::profile::ProfileRecord;

/// A record of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A request was handled.
    Request(RequestRecord),
    /// A text that other records name by its hash.
    Text {
        /// What it is used for.
        kind: TextKind,
        /// Its FNV-1a hash.
        id: u64,
        /// The text.
        text: String,
    },
    /// The process introduces itself; first record of its first ring.
    Hello(Hello),
    /// Something the agent could not do, one sentence.
    Trouble(String),
    /// What the process says of its settings.
    Settings(Vec<(String, String)>),
    /// Ruby's counters and the server's, about once a second.
    Runtime(RuntimeRecord),
    /// What the sampler of stacks saw.
    Profile(ProfileRecord),
}

/// What a text is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// A route, such as `GET /channel/:id`.
    Route,
    /// An SQL digest, or `HTTP GET host`.
    Digest,
    /// A source line.
    Site,
    /// One statement with its literals, named by its digest's hash. For EXPLAIN; never stored.
    Sample,
    /// The URL of the app's database, password included. For EXPLAIN; never stored.
    Database,
    /// The name of an act, such as `JSON.generate`.
    Name,
}

/// What a process says of itself and of the agent's cost in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// `ruby_description`.
    pub ruby: String,
    /// Such as `puma 6.6.0`.
    pub server: String,
    /// Whether GVL events are seen.
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

/// Most bursts of one request; in a full list the last of each kind stands for all later ones too.
pub const BURSTS_MAX: usize = 96;

/// A handled request; see `recording::Handled` for the meaning of each field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestRecord {
    /// From the request header, 0 without one.
    pub id: u64,
    /// Monotonic nanoseconds; 0 when not told.
    pub ready: u64,
    /// Monotonic nanoseconds.
    pub start: u64,
    /// Monotonic nanoseconds.
    pub end: u64,
    /// Hash of the route's text, 0 when not told.
    pub route: u64,
    /// HTTP status, 0 when the handler raised.
    pub status: u32,
    /// SQL statements executed.
    pub statements: u32,
    /// `gvl_wait, gc, sql_running, sql_waiting, http_running, http_waiting, lock, sleep, other_io,
    /// running` in nanoseconds.
    pub parts: [u64; 10],
    /// `running_wall, running_cpu, total_cpu` in nanoseconds and objects allocated, on a sample.
    pub sample: Option<[u64; 4]>,
    /// Statements by digest and source line.
    pub sql: Vec<SqlRecord>,
    /// Kind (0 running, 1 SQL, 2 HTTP, 3 lock, 4 sleep, 5 other) and nanoseconds.
    pub bursts: Vec<(u8, u64)>,
    /// Waits outside of calls, named work, connections and statements made.
    pub acts: Vec<ActRecord>,
}

/// What one kind of act at one source line cost the request; see `recording::Act`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActRecord {
    /// As `recording::ActKind` numbers them.
    pub kind: u8,
    /// Hash of its name's text, 0 without one.
    pub what: u64,
    /// Hash of the source line's text, 0 when not told.
    pub site: u64,
    /// How often.
    pub count: u32,
    /// Nanoseconds.
    pub time: u64,
}

/// Counters of one process since it started; see `recording::RuntimeSample` for the meaning of each field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeRecord {
    /// Monotonic nanoseconds.
    pub at: u64,
    /// Collections, of these major, nanoseconds spent, objects alive.
    pub gc: [u64; 4],
    /// What the last collection was for.
    pub gc_cause: String,
    /// Methods compiled, bytes of code, nanoseconds spent, code thrown away; `None` without a compiler.
    pub jit: Option<[u64; 4]>,
    /// Threads of the server with a request, and requests that wait for one; `None` when it does not tell.
    pub server: Option<[u32; 2]>,
}

/// What one statement at one source line cost the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SqlRecord {
    /// Hash of the digest's text.
    pub digest: u64,
    /// Hash of the source line's text.
    pub site: u64,
    /// Executions.
    pub count: u64,
    /// Rows returned, where the driver tells.
    pub rows: u64,
    /// Nanoseconds inside the calls.
    pub time: u64,
    /// Of these, waiting for the GVL.
    pub gvl_wait: u64,
}

const KIND_REQUEST: u16 = 1;
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

    /// Writes a text record into `out`, emptied first, and answers its kind.
    pub fn encode_text(kind: TextKind, id: u64, text: &[u8], out: &mut Vec<u8>) -> u16 {
        out.clear();
        put(out, kind as u64);
        put(out, id);
        out.extend_from_slice(text);
        KIND_TEXT
    }

    /// Writes a trouble record into `out`, emptied first, and answers its kind.
    pub fn encode_trouble(text: &str, out: &mut Vec<u8>) -> u16 {
        out.clear();
        out.extend_from_slice(text.as_bytes());
        KIND_TROUBLE
    }

    /// Writes settings (a line each, name and value with a tab between) into `out`, emptied first, and
    /// answers their kind.
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
    /// Writes it into `out`, emptied first, and answers its kind.
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

impl RequestRecord {
    /// Empties it, keeping its memory.
    pub fn reset(&mut self) {
        let (sql, bursts, acts) = (
            std::mem::take(&mut self.sql),
            std::mem::take(&mut self.bursts),
            std::mem::take(&mut self.acts),
        );
        *self = RequestRecord {
            sql,
            bursts,
            acts,
            ..RequestRecord::default()
        };
        self.sql.clear();
        self.bursts.clear();
        self.acts.clear();
    }

    /// Writes it into `out`, emptied first, and answers its kind.
    pub fn encode(&self, out: &mut Vec<u8>) -> u16 {
        out.clear();
        let head = [
            self.id,
            self.ready,
            self.start,
            self.end,
            self.route,
            u64::from(self.status) | u64::from(self.statements) << 32,
            self.sql.len() as u64
                | (self.bursts.len() as u64) << 16
                | u64::from(self.sample.is_some()) << 32
                | (self.acts.len() as u64) << 40,
        ];
        put_all(out, &head);
        put_all(out, &self.parts);
        if let Some(sample) = &self.sample {
            put_all(out, sample);
        }
        for sql in &self.sql {
            let numbers = [
                sql.digest,
                sql.site,
                sql.count,
                sql.rows,
                sql.time,
                sql.gvl_wait,
            ];
            put_all(out, &numbers);
        }
        for (kind, nanos) in &self.bursts {
            put(out, u64::from(*kind) << 56 | (nanos & BURST_NANOS));
        }
        for act in &self.acts {
            let packed = u64::from(act.kind) << 32 | u64::from(act.count);
            put_all(out, &[packed, act.what, act.site, act.time]);
        }
        KIND_REQUEST
    }

    fn decode(bytes: &mut Bytes<'_>) -> Option<RequestRecord> {
        let mut record = RequestRecord {
            id: bytes.u64()?,
            ready: bytes.u64()?,
            start: bytes.u64()?,
            end: bytes.u64()?,
            route: bytes.u64()?,
            ..RequestRecord::default()
        };
        let packed = bytes.u64()?;
        record.status = packed as u32;
        record.statements = (packed >> 32) as u32;
        let counts = bytes.u64()?;
        for part in &mut record.parts {
            *part = bytes.u64()?;
        }
        if counts >> 32 & 1 == 1 {
            record.sample = Some([bytes.u64()?, bytes.u64()?, bytes.u64()?, bytes.u64()?]);
        }
        for _ in 0..counts & 0xffff {
            record.sql.push(SqlRecord {
                digest: bytes.u64()?,
                site: bytes.u64()?,
                count: bytes.u64()?,
                rows: bytes.u64()?,
                time: bytes.u64()?,
                gvl_wait: bytes.u64()?,
            });
        }
        for _ in 0..counts >> 16 & 0xffff {
            let packed = bytes.u64()?;
            record
                .bursts
                .push(((packed >> 56) as u8, packed & BURST_NANOS));
        }
        for _ in 0..counts >> 40 & 0xff {
            let [packed, what, site, time] = bytes.numbers()?;
            record.acts.push(ActRecord {
                kind: (packed >> 32) as u8,
                what,
                site,
                count: packed as u32,
                time,
            });
        }
        Some(record)
    }
}

/// A burst's length shares a word with its kind.
const BURST_NANOS: u64 = (1 << 56) - 1;

impl Hello {
    /// Writes it into `out`, emptied first, and answers its kind.
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

/// Writes them at once: a growing vector asks for room at each of its pieces, and this is in every request's way.
fn put_all<const N: usize>(out: &mut Vec<u8>, numbers: &[u64; N]) {
    let bytes = numbers.map(u64::to_le_bytes);
    out.extend_from_slice(bytes.as_flattened());
}

pub(crate) fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// What is left to read.
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

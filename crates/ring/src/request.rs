//! A handled request, as bytes and back.

use crate::record::{Bytes, put};
use crate::writer::Writer;

pub(crate) const KIND_REQUEST: u16 = 1;

/// Most bursts of one request; in a full list the last of each kind stands for all later ones too.
pub const BURSTS_MAX: usize = 96;

/// A handled request; see `recording::Handled` for the meaning of each field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestRecord {
    /// Number from the request header, 0 without one.
    pub id: u64,
    /// Monotonic nanoseconds; 0 if not recorded.
    pub ready: u64,
    /// Monotonic nanoseconds.
    pub start: u64,
    /// Monotonic nanoseconds.
    pub end: u64,
    /// Hash of the route's text, 0 if not recorded.
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

/// Cost of one kind of activity at one source line to the request; see `recording::Act`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActRecord {
    /// Number of the kind in `recording::ActKind`.
    pub kind: u8,
    /// Hash of the name's text, 0 without a name.
    pub what: u64,
    /// Hash of the source line's text, 0 if not recorded.
    pub site: u64,
    /// Number of times.
    pub count: u32,
    /// Nanoseconds.
    pub time: u64,
}

/// Cost of one statement at one source line to the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SqlRecord {
    /// Hash of the digest's text.
    pub digest: u64,
    /// Hash of the source line's text.
    pub site: u64,
    /// Executions.
    pub count: u64,
    /// Rows returned, if reported by the driver.
    pub rows: u64,
    /// Nanoseconds inside the calls.
    pub time: u64,
    /// Nanoseconds of `time` waiting for the GVL.
    pub gvl_wait: u64,
}

/// A handled request in the producer's memory, with borrowed lists; the fields are
/// [`RequestRecord`]'s.
///
/// It is written once for every request of the app: most of them have no lists, and then nothing is
/// touched but the stack and the ring.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "RequestRecord documents them")]
pub struct RequestView<'a> {
    pub id: u64,
    pub ready: u64,
    pub start: u64,
    pub end: u64,
    pub route: u64,
    pub status: u32,
    pub statements: u32,
    pub parts: &'a [u64; PARTS],
    pub sample: Option<[u64; SAMPLE]>,
    pub sql: &'a [SqlRecord],
    pub bursts: &'a [(u8, u64)],
    pub acts: &'a [ActRecord],
}

const PARTS: usize = 10;
const SAMPLE: usize = 4;
/// Numbers before the parts.
const FIXED: usize = 7;

/// Words of a record outside of lists, the optional sample included.
const HEAD: usize = FIXED + PARTS + SAMPLE;

// The last fixed number: lengths of the lists, and whether there is a sample.
const BURSTS_SHIFT: u32 = 16;
const SAMPLE_SHIFT: u32 = 32;
const ACTS_SHIFT: u32 = 40;

impl RequestView<'_> {
    /// Writes the request into the ring, lists by way of `scratch`; `false` without room.
    pub fn push(&self, ring: &mut Writer, scratch: &mut Vec<u8>) -> bool {
        scratch.clear();
        if self.has_lists() {
            self.put_lists(scratch);
        }
        let head = self.head();
        ring.push_pieces(KIND_REQUEST, self.used(&head), scratch)
    }

    /// Writes the request into `out`, emptied first, and returns the record's kind.
    pub fn encode(&self, out: &mut Vec<u8>) -> u16 {
        out.clear();
        out.extend_from_slice(self.used(&self.head()));
        self.put_lists(out);
        KIND_REQUEST
    }

    #[inline]
    fn head(&self) -> [[u8; 8]; HEAD] {
        let lengths = self.sql.len() as u64
            | (self.bursts.len() as u64) << BURSTS_SHIFT
            | u64::from(self.sample.is_some()) << SAMPLE_SHIFT
            | (self.acts.len() as u64) << ACTS_SHIFT;
        let fixed = [
            self.id,
            self.ready,
            self.start,
            self.end,
            self.route,
            u64::from(self.status) | u64::from(self.statements) << 32,
            lengths,
        ];
        let mut head = [[0; 8]; HEAD];
        head[..FIXED].copy_from_slice(&fixed.map(u64::to_le_bytes));
        head[FIXED..][..PARTS].copy_from_slice(&self.parts.map(u64::to_le_bytes));
        if let Some(sample) = self.sample {
            head[FIXED + PARTS..].copy_from_slice(&sample.map(u64::to_le_bytes));
        }
        head
    }

    #[inline]
    fn used<'h>(&self, head: &'h [[u8; 8]; HEAD]) -> &'h [u8] {
        match self.sample {
            Some(_) => head.as_flattened(),
            None => head[..FIXED + PARTS].as_flattened(),
        }
    }

    fn has_lists(&self) -> bool {
        !(self.sql.is_empty() && self.bursts.is_empty() && self.acts.is_empty())
    }

    #[inline(never)]
    fn put_lists(&self, out: &mut Vec<u8>) {
        for sql in self.sql {
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
        for (kind, nanos) in self.bursts {
            put(out, u64::from(*kind) << 56 | (nanos & BURST_NANOS));
        }
        for act in self.acts {
            let packed = u64::from(act.kind) << 32 | u64::from(act.count);
            put_all(out, &[packed, act.what, act.site, act.time]);
        }
    }
}

impl RequestRecord {
    /// Returns the view of the record, as in the producer's memory.
    pub fn view(&self) -> RequestView<'_> {
        RequestView {
            id: self.id,
            ready: self.ready,
            start: self.start,
            end: self.end,
            route: self.route,
            status: self.status,
            statements: self.statements,
            parts: &self.parts,
            sample: self.sample,
            sql: &self.sql,
            bursts: &self.bursts,
            acts: &self.acts,
        }
    }

    pub(crate) fn decode(bytes: &mut Bytes<'_>) -> Option<RequestRecord> {
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
        if counts >> SAMPLE_SHIFT & 1 == 1 {
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
        for _ in 0..counts >> BURSTS_SHIFT & 0xffff {
            let packed = bytes.u64()?;
            record
                .bursts
                .push(((packed >> 56) as u8, packed & BURST_NANOS));
        }
        for _ in 0..counts >> ACTS_SHIFT & 0xff {
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

/// Mask of a burst's length, in one word with the kind.
const BURST_NANOS: u64 = (1 << 56) - 1;

/// Appends numbers at once: a growing vector asks for room at each piece.
fn put_all<const N: usize>(out: &mut Vec<u8>, numbers: &[u64; N]) {
    let bytes = numbers.map(u64::to_le_bytes);
    out.extend_from_slice(bytes.as_flattened());
}

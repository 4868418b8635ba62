//! Records of the sampler: frames and stacks once by hash, then samples with references.

use crate::record::{Bytes, put};

/// A record of the sampler.
#[derive(Clone, Debug, PartialEq)]
pub enum ProfileRecord {
    /// A method.
    Frame {
        /// Hash of what follows.
        id: u64,
        /// Line of the definition, 0 when unknown.
        line: u32,
        /// Such as `Resolver::Spec#initialize`.
        name: String,
        /// Source file; empty for methods in C.
        file: String,
    },
    /// A stack: id and line of each frame, the innermost first.
    Stack {
        /// Hash of what follows.
        id: u64,
        /// Frames and lines.
        locations: Vec<(u64, u32)>,
    },
    /// An observation.
    Sample(SampleRecord),
    /// Counters of the sampler itself, about once a second and at the end.
    Totals(ProfileTotals),
    /// Calls of a counted method: lines with caller, calls and repeats, with tabs between.
    Counted(String),
    /// A fact about the runtime: name with unit, a tab, a number. A later one replaces an earlier
    /// one.
    Fact(String),
    /// A request without a load generator: a message of a WebSocket, or a unit of work the app
    /// itself calls a request.
    Request(ToldRequest),
}

/// A request reported by the app.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToldRequest {
    /// Id in the samples.
    pub id: u64,
    /// Monotonic nanoseconds.
    pub start: u64,
    /// Monotonic nanoseconds.
    pub end: u64,
    /// Such as `GET /cable speak`.
    pub route: String,
}

/// Activity of a sampled thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Seen {
    /// Running with the GVL.
    Running = 0,
    /// Waiting for the GVL.
    GvlWait = 1,
    /// Collecting garbage.
    Gc = 2,
    /// Off the GVL; the stack shows for what.
    Off = 3,
    /// Allocating; the weight is objects.
    Allocating = 4,
}

/// One or several observations of the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleRecord {
    /// Id of the stack.
    pub stack: u64,
    /// Doing what.
    pub seen: Seen,
    /// Native thread.
    pub tid: u32,
    /// Nanoseconds, or objects.
    pub weight: u64,
    /// Bytes of the objects.
    pub bytes: u64,
    /// Observations.
    pub count: u32,
    /// Monotonic nanoseconds of the last observation.
    pub at: u64,
    /// Request being handled, 0 outside of one.
    pub request: u64,
}

/// Counters of the sampler, summed since the start in the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileTotals {
    /// Monotonic nanoseconds of the start.
    pub started: u64,
    /// Monotonic nanoseconds now.
    pub now: u64,
    /// CPU nanoseconds the sampler took.
    pub cost: u64,
    /// Observations dropped.
    pub dropped: u64,
    /// Nanoseconds between two ticks now; more than requested if slowed down.
    pub interval: u64,
    /// Threads never sampled because too many lived at once.
    pub unseen: u64,
}

const KIND_FRAME: u16 = 100;
const KIND_STACK: u16 = 101;
const KIND_SAMPLE: u16 = 102;
const KIND_TOTALS: u16 = 103;
const KIND_COUNTED: u16 = 104;
const KIND_FACT: u16 = 105;
const KIND_REQUEST: u16 = 106;

impl ProfileRecord {
    /// Writes the record into `out`, emptied first, and returns the record's kind.
    pub fn encode(&self, out: &mut Vec<u8>) -> u16 {
        out.clear();
        match self {
            ProfileRecord::Frame {
                id,
                line,
                name,
                file,
            } => {
                put(out, *id);
                put(out, u64::from(*line));
                put(out, name.len() as u64);
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(file.as_bytes());
                KIND_FRAME
            }
            ProfileRecord::Stack { id, locations } => {
                put(out, *id);
                for (frame, line) in locations {
                    put(out, *frame);
                    put(out, u64::from(*line));
                }
                KIND_STACK
            }
            ProfileRecord::Sample(sample) => {
                put(out, sample.stack);
                put(out, sample.seen as u64 | u64::from(sample.tid) << 8);
                for number in [
                    sample.weight,
                    sample.bytes,
                    u64::from(sample.count),
                    sample.at,
                    sample.request,
                ] {
                    put(out, number);
                }
                KIND_SAMPLE
            }
            ProfileRecord::Totals(totals) => {
                for number in [
                    totals.started,
                    totals.now,
                    totals.cost,
                    totals.dropped,
                    totals.interval,
                    totals.unseen,
                ] {
                    put(out, number);
                }
                KIND_TOTALS
            }
            ProfileRecord::Counted(lines) => {
                out.extend_from_slice(lines.as_bytes());
                KIND_COUNTED
            }
            ProfileRecord::Fact(line) => {
                out.extend_from_slice(line.as_bytes());
                KIND_FACT
            }
            ProfileRecord::Request(request) => {
                for number in [request.id, request.start, request.end] {
                    put(out, number);
                }
                out.extend_from_slice(request.route.as_bytes());
                KIND_REQUEST
            }
        }
    }

    /// Reads one; `None` when the bytes are none.
    pub(crate) fn decode(kind: u16, bytes: &mut Bytes<'_>) -> Option<ProfileRecord> {
        match kind {
            KIND_FRAME => {
                let [id, line, name_bytes] = bytes.numbers()?;
                let name = bytes.take(name_bytes as usize)?;
                Some(ProfileRecord::Frame {
                    id,
                    line: line as u32,
                    name: String::from_utf8_lossy(name).into_owned(),
                    file: bytes.rest_as_text(),
                })
            }
            KIND_STACK => {
                let id = bytes.u64()?;
                let mut locations = Vec::new();
                while let Some([frame, line]) = bytes.numbers() {
                    locations.push((frame, line as u32));
                }
                Some(ProfileRecord::Stack { id, locations })
            }
            KIND_SAMPLE => sample(bytes).map(ProfileRecord::Sample),
            KIND_TOTALS => {
                let [started, now, cost, dropped, interval, unseen] = bytes.numbers()?;
                Some(ProfileRecord::Totals(ProfileTotals {
                    started,
                    now,
                    cost,
                    dropped,
                    interval,
                    unseen,
                }))
            }
            KIND_COUNTED => Some(ProfileRecord::Counted(bytes.rest_as_text())),
            KIND_FACT => Some(ProfileRecord::Fact(bytes.rest_as_text())),
            KIND_REQUEST => {
                let [id, start, end] = bytes.numbers()?;
                Some(ProfileRecord::Request(ToldRequest {
                    id,
                    start,
                    end,
                    route: bytes.rest_as_text(),
                }))
            }
            _ => None,
        }
    }
}

fn sample(bytes: &mut Bytes<'_>) -> Option<SampleRecord> {
    const SEEN: [Seen; 5] = [
        Seen::Running,
        Seen::GvlWait,
        Seen::Gc,
        Seen::Off,
        Seen::Allocating,
    ];
    let [stack, seen_and_tid, weight, size, count, at, request] = bytes.numbers()?;
    Some(SampleRecord {
        stack,
        seen: *SEEN.get(seen_and_tid as usize & 0xff)?,
        tid: (seen_and_tid >> 8) as u32,
        weight,
        bytes: size,
        count: count as u32,
        at,
        request,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;

    #[track_caller]
    fn check(record: ProfileRecord) {
        let mut bytes = Vec::new();
        let kind = record.encode(&mut bytes);
        assert_eq!(
            Record::decode(kind, &bytes),
            Some(Record::Profile(record.clone()))
        );
        if !matches!(record, ProfileRecord::Counted(_) | ProfileRecord::Fact(_)) {
            assert_eq!(Record::decode(kind, &bytes[..7]), None);
        }
    }

    #[test]
    fn every_record_survives_the_ring() {
        check(ProfileRecord::Frame {
            id: u64::MAX,
            line: 12,
            name: "Array#sort".to_owned(),
            file: String::new(),
        });
        check(ProfileRecord::Stack {
            id: 7,
            locations: vec![(u64::MAX, 3), (1, 0)],
        });
        check(ProfileRecord::Sample(SampleRecord {
            stack: 7,
            seen: Seen::Off,
            tid: u32::MAX,
            weight: 1_000_000,
            bytes: 40,
            count: 3,
            at: 99,
            request: u64::MAX,
        }));
        check(ProfileRecord::Totals(ProfileTotals {
            started: 1,
            now: 2,
            cost: 3,
            dropped: 4,
            interval: 5,
            unseen: 6,
        }));
        check(ProfileRecord::Fact("gc_major_count\t3".to_owned()));
        check(ProfileRecord::Request(ToldRequest {
            id: 1 << 63,
            start: 5,
            end: 6,
            route: "GET /cable speak".to_owned(),
        }));
        check(ProfileRecord::Counted("a.rb:3 in run\t5\t2".to_owned()));
    }
}

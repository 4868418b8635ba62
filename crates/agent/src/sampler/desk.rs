//! Working memory of the job: stacks taken from slots, and the ids sent to the ring.

use std::collections::{HashMap, HashSet};
use std::ffi::c_int;
use std::hash::Hasher;

use fnv::{FnvBuildHasher, FnvHasher};
use ring::{ProfileRecord, Writer};

use super::slot::{DEPTH_MAX, Entry};
use crate::api::Value;

/// Working memory of the job. Touched by the job alone, and read by `mark` during collections.
pub(super) struct Desk {
    pub(super) ring: Option<Writer>,
    pub(super) started: u64,
    pub(super) totals_at: u64,
    /// Stacks taken from a slot.
    pub(super) frames: Vec<Value>,
    pub(super) lines: Vec<c_int>,
    pub(super) entries: Vec<Entry>,
    /// Ids of frames by object, and of the texts already in the ring.
    pub(super) known: HashMap<Value, u64, FnvBuildHasher>,
    pub(super) told: HashSet<u64, FnvBuildHasher>,
    pub(super) scratch: Vec<u8>,
    pub(super) stack: Vec<(u64, u32)>,
}

impl Desk {
    pub(super) fn new(ring: Writer, started: u64) -> Desk {
        Desk {
            ring: Some(ring),
            started,
            totals_at: started,
            frames: Vec::new(),
            lines: Vec::new(),
            entries: Vec::new(),
            known: HashMap::default(),
            told: HashSet::default(),
            scratch: Vec::with_capacity(4096),
            stack: Vec::with_capacity(DEPTH_MAX),
        }
    }

    pub(super) fn tell_frame(&mut self, name: String, file: String, line: u32) -> u64 {
        let mut hasher = FnvHasher::default();
        hasher.write(name.as_bytes());
        hasher.write(&[0]);
        hasher.write(file.as_bytes());
        hasher.write_u32(line);
        let id = hasher.finish();
        if !self.told.contains(&id)
            && self.push(&ProfileRecord::Frame {
                id,
                line,
                name,
                file,
            })
        {
            self.told.insert(id);
        }
        id
    }

    /// Sends the assembled stack; returns the stack's id.
    pub(super) fn tell_stack(&mut self) -> u64 {
        let mut hasher = FnvHasher::default();
        for (frame, line) in &self.stack {
            hasher.write_u64(*frame);
            hasher.write_u32(*line);
        }
        let id = hasher.finish();
        if !self.told.contains(&id) {
            let record = ProfileRecord::Stack {
                id,
                locations: std::mem::take(&mut self.stack),
            };
            if self.push(&record) {
                self.told.insert(id);
            }
            if let ProfileRecord::Stack { locations, .. } = record {
                self.stack = locations;
            }
        }
        id
    }

    pub(super) fn push(&mut self, record: &ProfileRecord) -> bool {
        let kind = record.encode(&mut self.scratch);
        self.ring
            .as_mut()
            .is_some_and(|ring| ring.push(kind, &self.scratch))
    }
}

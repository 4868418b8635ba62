//! The protocol buffer of pprof, written by hand: a dozen fields need no generator.
//!
//! Field numbers are those of `profile.proto` in github.com/google/pprof.

use std::collections::HashMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::export::unit_names;
use crate::format::put;
use crate::profile::{Location, Profile, Unit};
use crate::table::by_stack;

// Fields of Profile.
const SAMPLE_TYPE: u64 = 1;
const SAMPLE: u64 = 2;
const LOCATION: u64 = 4;
const FUNCTION: u64 = 5;
const STRING_TABLE: u64 = 6;
const DURATION_NANOS: u64 = 10;
const PERIOD_TYPE: u64 = 11;
const PERIOD: u64 = 12;
const COMMENT: u64 = 13;

/// The gzipped message.
pub fn write(profile: &Profile) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing into memory does not fail.
    let written = encoder
        .write_all(&message(profile))
        .and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

fn message(profile: &Profile) -> Vec<u8> {
    let mut strings = Strings::new();
    let mut out = Vec::new();
    let (unit, name) = unit_names(profile);
    let objects = profile.unit == Unit::Objects;
    let kind = value_type(&mut strings, name, unit);
    bytes(&mut out, SAMPLE_TYPE, &kind);
    if objects {
        let space = value_type(&mut strings, "space", "bytes");
        bytes(&mut out, SAMPLE_TYPE, &space);
    }
    let mut locations: HashMap<Location, u64> = HashMap::new();
    let mut order: Vec<Location> = Vec::new();
    for (stack, weight, space) in by_stack(profile) {
        let ids: Vec<u64> = profile
            .stack(stack)
            .iter()
            .map(|location| {
                *locations.entry(*location).or_insert_with(|| {
                    order.push(*location);
                    order.len() as u64
                })
            })
            .collect();
        let mut sample = Vec::new();
        packed(&mut sample, 1, &ids);
        let values = [weight, space];
        packed(&mut sample, 2, &values[..if objects { 2 } else { 1 }]);
        bytes(&mut out, SAMPLE, &sample);
    }
    for (index, location) in order.iter().enumerate() {
        let mut line = Vec::new();
        number(&mut line, 1, u64::from(location.frame.0) + 1);
        number(&mut line, 2, u64::from(location.line));
        let mut message = Vec::new();
        number(&mut message, 1, index as u64 + 1);
        bytes(&mut message, 4, &line);
        bytes(&mut out, LOCATION, &message);
    }
    for (index, frame) in profile.frames().iter().enumerate() {
        let name = strings.id(&frame.name);
        let mut function = Vec::new();
        number(&mut function, 1, index as u64 + 1);
        number(&mut function, 2, name);
        number(&mut function, 3, name);
        number(&mut function, 4, strings.id(&frame.file));
        number(&mut function, 5, u64::from(frame.line));
        bytes(&mut out, FUNCTION, &function);
    }
    let comment = strings.id(&profile.command);
    for text in &strings.all {
        bytes(&mut out, STRING_TABLE, text.as_bytes());
    }
    number(&mut out, DURATION_NANOS, profile.duration);
    bytes(&mut out, PERIOD_TYPE, &kind);
    number(&mut out, PERIOD, profile.interval);
    number(&mut out, COMMENT, comment);
    out
}

fn value_type(strings: &mut Strings, name: &str, unit: &str) -> Vec<u8> {
    let mut out = Vec::new();
    number(&mut out, 1, strings.id(name));
    number(&mut out, 2, strings.id(unit));
    out
}

/// Texts by number; number 0 is the empty one.
struct Strings {
    all: Vec<String>,
    ids: HashMap<String, u64>,
}

impl Strings {
    fn new() -> Strings {
        Strings {
            all: vec![String::new()],
            ids: HashMap::from([(String::new(), 0)]),
        }
    }

    fn id(&mut self, text: &str) -> u64 {
        if let Some(known) = self.ids.get(text) {
            return *known;
        }
        let id = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    put(out, field << 3);
    put(out, value);
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    put(out, field << 3 | 2);
    put(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn packed(out: &mut Vec<u8>, field: u64, values: &[u64]) {
    let mut inner = Vec::new();
    for value in values {
        put(&mut inner, *value);
    }
    bytes(out, field, &inner);
}

//! The file format of a profile: a magic word, a version, then deflated numbers and texts.
//!
//! Later versions read older files too; the tests have one fixture of each.

use std::fmt;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use crate::profile::{
    Cost, Frame, FrameId, Location, Profile, Request, RouteId, Sample, StackId, State, ThreadId,
    ThreadOf, Unit,
};

/// The version written by [`Profile::encode`].
pub const VERSION: u32 = 3;

const MAGIC: &[u8; 8] = b"HAKARUPF";

/// A limit above the size of any real profile; a damaged length must not fill the memory.
const BYTES_MAX: u64 = 1 << 30;

/// Reason for bytes not being a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The bytes begin otherwise.
    NotAProfile,
    /// Written by a later program.
    Version(u32),
    /// The bytes end early or hold impossible values.
    Damaged(&'static str),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::NotAProfile => f.write_str("this is no profile of hakaru's"),
            FormatError::Version(version) => write!(
                f,
                "the profile has format {version}, this program reads up to {VERSION}; use a newer hakaru"
            ),
            FormatError::Damaged(what) => write!(f, "the profile is damaged: {what}"),
        }
    }
}

impl std::error::Error for FormatError {}

impl Profile {
    /// The profile as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let out = &mut body;
        put(out, self.unit as u64);
        put_text(out, &self.mode);
        put_text(out, &self.command);
        put(out, self.interval);
        put(out, self.duration);
        put(out, self.begun);
        put(out, self.cost.cpu_share.to_bits());
        put(out, self.cost.dropped);
        put_all(out, &self.notes, |out, note| put_text(out, note));
        put_all(out, &self.facts, |out, (name, value)| {
            put_text(out, name);
            put(out, value.to_bits());
        });
        put_all(out, self.frames(), |out, frame| {
            put_text(out, &frame.name);
            put_text(out, &frame.file);
            put(out, u64::from(frame.line));
        });
        let stacks: Vec<_> = self.stacks().collect();
        put_all(out, &stacks, |out, stack| {
            put_all(out, stack, |out, location| {
                put(out, u64::from(location.frame.0));
                put(out, u64::from(location.line));
            });
        });
        put_all(out, self.threads(), |out, thread| {
            put(out, u64::from(thread.pid));
            put(out, u64::from(thread.tid));
        });
        put_all(out, &self.samples, put_sample);
        put_all(out, self.routes(), |out, route| put_text(out, route));
        put_all(out, &self.requests, |out, request| {
            for number in [
                request.id,
                u64::from(request.route.0),
                request.at,
                request.length,
            ] {
                put(out, number);
            }
        });
        let mut whole = MAGIC.to_vec();
        whole.extend_from_slice(&VERSION.to_le_bytes());
        let mut encoder = DeflateEncoder::new(whole, Compression::fast());
        // Writing into memory does not fail.
        let written = encoder.write_all(&body).and_then(|()| encoder.finish());
        written.unwrap_or_default()
    }

    /// Reads what [`Profile::encode`] wrote.
    ///
    /// # Errors
    /// See [`FormatError`].
    pub fn decode(bytes: &[u8]) -> Result<Profile, FormatError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(FormatError::NotAProfile)?;
        let (version, rest) = rest.split_at_checked(4).ok_or(FormatError::NotAProfile)?;
        let version = version
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u32::from(*byte));
        if !(1..=VERSION).contains(&version) {
            return Err(FormatError::Version(version));
        }
        let mut body = Vec::new();
        DeflateDecoder::new(rest)
            .take(BYTES_MAX)
            .read_to_end(&mut body)
            .map_err(|_| FormatError::Damaged("it cannot be unpacked"))?;
        read(&mut Bytes(&body), version).ok_or(FormatError::Damaged(
            "it ends early or names what is not there",
        ))
    }
}

fn put_sample(out: &mut Vec<u8>, sample: &Sample) {
    put(out, u64::from(sample.stack.0));
    put(out, sample.state as u64);
    put(out, u64::from(sample.thread.0));
    put(out, sample.weight);
    put(out, sample.bytes);
    put(out, u64::from(sample.count));
    put(out, sample.at);
    put(out, sample.request);
}

fn read(bytes: &mut Bytes<'_>, version: u32) -> Option<Profile> {
    let mut profile = read_head(bytes, version)?;
    let mut frames = Vec::new();
    for _ in 0..bytes.count()? {
        frames.push(profile.frame_id(Frame {
            name: bytes.text()?,
            file: bytes.text()?,
            line: bytes.small()?,
        }));
    }
    let mut stacks: Vec<StackId> = Vec::new();
    for _ in 0..bytes.count()? {
        let mut stack = Vec::new();
        for _ in 0..bytes.count()? {
            let frame: FrameId = *frames.get(bytes.number()? as usize)?;
            stack.push(Location {
                frame,
                line: bytes.small()?,
            });
        }
        stacks.push(profile.stack_id(&stack));
    }
    let mut threads: Vec<ThreadId> = Vec::new();
    for _ in 0..bytes.count()? {
        threads.push(profile.thread_id(ThreadOf {
            pid: bytes.small()?,
            tid: bytes.small()?,
        }));
    }
    for _ in 0..bytes.count()? {
        profile.samples.push(Sample {
            stack: *stacks.get(bytes.number()? as usize)?,
            state: State::from_number(u8::try_from(bytes.number()?).ok()?)?,
            thread: *threads.get(bytes.number()? as usize)?,
            weight: bytes.number()?,
            bytes: bytes.number()?,
            count: bytes.small()?,
            at: bytes.number()?,
            request: bytes.number()?,
        });
    }
    // Earlier versions knew of none.
    if version > 2 {
        read_requests(bytes, &mut profile)?;
    }
    Some(profile)
}

fn read_requests(bytes: &mut Bytes<'_>, profile: &mut Profile) -> Option<()> {
    let mut routes: Vec<RouteId> = Vec::new();
    for _ in 0..bytes.count()? {
        routes.push(profile.route_id(&bytes.text()?));
    }
    for _ in 0..bytes.count()? {
        profile.requests.push(Request {
            id: bytes.number()?,
            route: *routes.get(bytes.number()? as usize)?,
            at: bytes.number()?,
            length: bytes.number()?,
        });
    }
    Some(())
}

/// Everything before the frames.
fn read_head(bytes: &mut Bytes<'_>, version: u32) -> Option<Profile> {
    const UNITS: [Unit; 3] = [Unit::Nanos, Unit::Objects, Unit::Samples];
    let mut profile = Profile {
        unit: *UNITS.get(bytes.number()? as usize)?,
        mode: bytes.text()?,
        command: bytes.text()?,
        interval: bytes.number()?,
        duration: bytes.number()?,
        // The first version did not record it.
        begun: if version > 1 { bytes.number()? } else { 0 },
        cost: Cost {
            cpu_share: f64::from_bits(bytes.number()?),
            dropped: bytes.number()?,
        },
        ..Profile::default()
    };
    for _ in 0..bytes.count()? {
        profile.notes.push(bytes.text()?);
    }
    if version > 1 {
        for _ in 0..bytes.count()? {
            let fact = (bytes.text()?, f64::from_bits(bytes.number()?));
            profile.facts.push(fact);
        }
    }
    Some(profile)
}

/// Writes seven bits a byte, the lowest first; the high bit is set when more follow.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_all<T>(out: &mut Vec<u8>, all: &[T], mut each: impl FnMut(&mut Vec<u8>, &T)) {
    put(out, all.len() as u64);
    for one in all {
        each(out, one);
    }
}

/// Bytes left to read.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// Reads the number of following items; never more than there are bytes.
    fn count(&mut self) -> Option<u64> {
        let count = self.number()?;
        (count <= self.0.len() as u64).then_some(count)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::tests::profile;

    /// Profiles of each version, each written once and never again.
    const FIXTURES: [&[u8]; 3] = [
        include_bytes!("../fixtures/v1.profile"),
        include_bytes!("../fixtures/v2.profile"),
        include_bytes!("../fixtures/v3.profile"),
    ];

    fn sample_profile() -> Profile {
        let mut sample = second_profile();
        let route = sample.route_id("GET /cable speak");
        sample.requests.push(Request {
            id: u64::MAX,
            route,
            at: 2_000_000,
            length: 1_500_000,
        });
        sample
    }

    /// Returns a profile with all facts possible in the second version.
    fn second_profile() -> Profile {
        let mut sample = profile("main;a;b 3\nmain;c 1");
        sample.mode = "wall".to_owned();
        sample.command = "ruby slow.rb".to_owned();
        sample.cost = Cost {
            cpu_share: 0.0042,
            dropped: 2,
        };
        sample.notes = vec!["slowed down to 500 Hz".to_owned()];
        sample.begun = 7_000_000_000;
        sample.facts = vec![("gc_major_count".to_owned(), 3.0)];
        sample.samples[1].state = State::Pool;
        sample.samples[2].request = u64::MAX;
        sample
    }

    #[test]
    fn a_profile_survives_its_file() {
        let profile = sample_profile();
        assert_eq!(Profile::decode(&profile.encode()), Ok(profile));
    }

    #[test]
    fn every_version_is_read() {
        let mut first = second_profile();
        (first.begun, first.facts) = (0, Vec::new());
        assert_eq!(Profile::decode(FIXTURES[0]), Ok(first));
        assert_eq!(Profile::decode(FIXTURES[1]), Ok(second_profile()));
        assert_eq!(Profile::decode(FIXTURES[2]), Ok(sample_profile()));
    }

    #[test]
    fn other_files_and_later_versions_are_refused_by_name() {
        assert_eq!(Profile::decode(b"PK"), Err(FormatError::NotAProfile));
        let mut later = sample_profile().encode();
        later[8] = 99;
        assert_eq!(Profile::decode(&later), Err(FormatError::Version(99)));
        let cut = sample_profile().encode();
        assert!(Profile::decode(&cut[..cut.len() - 4]).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut whole = MAGIC.to_vec();
            whole.extend_from_slice(&VERSION.to_le_bytes());
            let mut encoder = DeflateEncoder::new(whole, Compression::fast());
            encoder.write_all(&bytes).unwrap();
            let _ = Profile::decode(&encoder.finish().unwrap());
            let _ = Profile::decode(&bytes);
        }
    }
}

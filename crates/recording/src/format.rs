//! Recordings as bytes: chunks written while a run goes on, and a summary written at the end.
//!
//! Every piece stands alone: magic `HKRC`, version (u16, little endian), kind (one byte), then a
//! zlib stream, whose checksum reveals damage. Inside, long lists are columns of variable-length
//! integers, so that equal neighbours become small numbers and compress well; summary facts, which
//! are few, are rows. Readers of a later version upgrade the older ones; `fixtures/` keeps one of
//! each.
//!
//! Version 2 added the summary's response heads and database; version 3 the chunk's runtime samples
//! and acts, and much to the samples of host and processes; version 4 the server's threads and
//! queue to the runtime samples.

mod columns;
mod records;
mod wire;

use std::fmt;

use crate::{
    AgentProcess, AnswerFacts, DatabaseFacts, Exchange, ExplainedStatement, Failure, Generator,
    Handled, HostSample, Meta, Recording, RuntimeSample, Score, TextId, Trouble, Window,
};
use wire::{Reader, Wire, Writer};

/// First bytes of every piece.
pub const MAGIC: [u8; 4] = *b"HKRC";
/// The version written, and the newest readable.
pub const VERSION: u16 = 9;
/// The oldest readable version.
const VERSION_MIN: u16 = 1;

const HEADER_BYTES: usize = 7;
/// Largest ratio of inflated to deflated bytes: Deflate reaches 1032 : 1 at best (zlib's technical
/// notes), so a piece claiming more is damaged or foreign.
const INFLATE_RATIO_MAX: usize = 1032;
/// Most bytes of an inflated piece: a second of the heaviest recorded load is some 10 MB, so only
/// hostile bytes reach the limit.
const INFLATED_BYTES_MAX: usize = 1 << 30;

/// Facts recorded since the last chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// Requests as observed by the load generator.
    pub exchanges: Vec<Exchange>,
    /// Requests from the app's point of view.
    pub handled: Vec<Handled>,
    /// Texts not in an earlier chunk. A text that is there twice does no harm.
    pub texts: Vec<(TextId, String)>,
    /// Samples of the host.
    pub host: Vec<HostSample>,
    /// Ruby's counters. Since version 3.
    pub runtime: Vec<RuntimeSample>,
}

/// Facts of a run besides the chunks; complete only at the end of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Subject and conditions of the run.
    pub meta: Meta,
    /// The measured part; empty while unknown.
    pub window: Window,
    /// Facts reported by the agents.
    pub agents: Vec<AgentProcess>,
    /// Facts about the load generator.
    pub generator: Generator,
    /// The database's own plans.
    pub explained: Vec<ExplainedStatement>,
    /// Examples of failed requests.
    pub failures: Vec<Failure>,
    /// Points by the scenario's rule.
    pub score: Option<Score>,
    /// Errors in measuring.
    pub troubles: Vec<Trouble>,
    /// Facts from the heads of the responses. Since version 2.
    pub answers: Vec<AnswerFacts>,
    /// Facts reported by the database server. Since version 2.
    pub database: Option<DatabaseFacts>,
    /// Snapshot for `hakaru doctor`, as JSON. Since version 8.
    pub machine: String,
}

/// Reason for bytes not being a piece of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The bytes do not begin with the magic.
    NotARecording,
    /// The bytes are of an unknown version.
    Version(u16),
    /// The bytes are another kind of piece than requested.
    Kind(u8),
    /// The bytes are cut off or damaged; the text names the place.
    Damaged(&'static str),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::NotARecording => f.write_str("not a piece of a recording: no HKRC mark"),
            FormatError::Version(found) => write!(
                f,
                "recording format {found} is unknown to this program, which reads up to {VERSION}; use a newer hakaru"
            ),
            FormatError::Kind(found) => {
                write!(f, "another kind of piece than expected (kind {found})")
            }
            FormatError::Damaged(place) => {
                write!(f, "piece of a recording is damaged or cut off ({place})")
            }
        }
    }
}

impl std::error::Error for FormatError {}

/// The two kinds of pieces.
#[derive(Clone, Copy)]
enum Kind {
    Chunk = 1,
    Summary = 2,
}

impl Chunk {
    /// Whether the chunk has no facts.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
            && self.handled.is_empty()
            && self.texts.is_empty()
            && self.host.is_empty()
            && self.runtime.is_empty()
    }

    /// Returns the chunk as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        columns::put_chunk(&mut writer, self);
        seal(Kind::Chunk, &writer.bytes)
    }

    /// Reads a chunk from any bytes.
    pub fn decode(bytes: &[u8]) -> Result<Chunk, FormatError> {
        let (version, payload) = open(Kind::Chunk, bytes)?;
        let mut reader = Reader::new(version, &payload);
        let chunk = columns::get_chunk(&mut reader)?;
        reader.expect_end()?;
        Ok(chunk)
    }
}

impl Summary {
    /// The summary facts of a recording.
    pub fn of(recording: &Recording) -> Summary {
        Summary {
            meta: recording.meta.clone(),
            window: recording.window,
            agents: recording.agents.clone(),
            generator: recording.generator,
            explained: recording.explained.clone(),
            failures: recording.failures.clone(),
            score: recording.score.clone(),
            troubles: recording.troubles.clone(),
            answers: recording.answers.clone(),
            database: recording.database.clone(),
            machine: recording.machine.clone(),
        }
    }

    /// Texts named by the summary alone: too late for the chunks of the run.
    pub fn own_texts(&self) -> Vec<TextId> {
        let of_answers = self.answers.iter().flat_map(|facts| {
            [
                facts.content_type,
                facts.content_encoding,
                facts.cache_control,
            ]
        });
        let statements = self.database.iter().flat_map(|facts| &facts.statements);
        of_answers
            .chain(statements.map(|statement| statement.digest))
            .filter(|id| *id != TextId::NONE)
            .collect()
    }

    /// Returns the summary as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        self.put(&mut writer);
        seal(Kind::Summary, &writer.bytes)
    }

    /// Reads a summary from any bytes.
    pub fn decode(bytes: &[u8]) -> Result<Summary, FormatError> {
        let (version, payload) = open(Kind::Summary, bytes)?;
        let mut reader = Reader::new(version, &payload);
        let summary = Summary::get(&mut reader)?;
        reader.expect_end()?;
        Ok(summary)
    }
}

impl Recording {
    /// Adds the facts of a chunk.
    pub fn absorb(&mut self, chunk: Chunk) {
        self.exchanges.extend(chunk.exchanges);
        self.handled.extend(chunk.handled);
        self.host.extend(chunk.host);
        self.runtime.extend(chunk.runtime);
        for (id, text) in chunk.texts {
            self.texts.keep_as(id, &text);
        }
    }

    /// Replaces the summary facts.
    pub fn set_summary(&mut self, summary: Summary) {
        self.meta = summary.meta;
        self.window = summary.window;
        self.agents = summary.agents;
        self.generator = summary.generator;
        self.explained = summary.explained;
        self.failures = summary.failures;
        self.score = summary.score;
        self.troubles = summary.troubles;
        self.answers = summary.answers;
        self.database = summary.database;
        self.machine = summary.machine;
    }
}

fn seal(kind: Kind, payload: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut sealed = Vec::with_capacity(HEADER_BYTES + payload.len() / 3);
    sealed.extend_from_slice(&MAGIC);
    sealed.extend_from_slice(&VERSION.to_le_bytes());
    sealed.push(kind as u8);
    // Level 1: pieces are written while the load runs, and the generator needs the CPU more.
    let mut deflate = flate2::write::ZlibEncoder::new(sealed, flate2::Compression::fast());
    deflate
        .write_all(payload)
        .and_then(|()| deflate.finish())
        .expect("writing to memory does not fail")
}

/// Returns the version and the content of a piece.
fn open(wanted: Kind, bytes: &[u8]) -> Result<(u16, Vec<u8>), FormatError> {
    use std::io::Read as _;
    let rest = bytes
        .strip_prefix(&MAGIC)
        .ok_or(FormatError::NotARecording)?;
    let (header, packed) = rest
        .split_first_chunk::<3>()
        .ok_or(FormatError::Damaged("header"))?;
    let version = u16::from_le_bytes([header[0], header[1]]);
    if !(VERSION_MIN..=VERSION).contains(&version) {
        return Err(FormatError::Version(version));
    }
    if header[2] != wanted as u8 {
        return Err(FormatError::Kind(header[2]));
    }
    let limit = INFLATED_BYTES_MAX.min(packed.len().saturating_mul(INFLATE_RATIO_MAX));
    let mut payload = Vec::new();
    flate2::read::ZlibDecoder::new(packed)
        .take(limit as u64 + 1)
        .read_to_end(&mut payload)
        .map_err(|_| FormatError::Damaged("compressed data"))?;
    if payload.len() > limit {
        return Err(FormatError::Damaged("too large"));
    }
    Ok((version, payload))
}

#[cfg(test)]
mod tests;

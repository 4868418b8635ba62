//! One collected host, from start to end.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::sync::mpsc::Sender;
use std::thread::{self, Scope, ScopedJoinHandle};

use logs::Digest;
use logs::access::{Format, Grouping};
use remote::clock::{Offset, RoundTrip, offset_at};
use remote::frame::Frame;
use remote::{PATIENCE, RemoteError, Session, wall_ns};

use crate::message::{self, Begin, Begun, Ended, Sample};
use crate::usage::Usage;

/// Round trips before and after; signs of life are the ones in between.
const CLOCK_TRIPS: usize = 8;

/// Something for which others wait.
pub enum Moment {
    /// The host has begun to record.
    Begun,
    /// The host has ended, or is lost.
    Ended,
}

/// Facts collected of a host.
pub struct Followed {
    /// CPU cores of the host.
    pub cores: u32,
    /// Limit of cores of a container; `None` without a limit.
    pub core_limit: Option<f64>,
    /// Use of the host; `None` with fewer than two samples.
    pub usage: Option<Usage>,
    /// The host's wall clock beside ours.
    pub clock: Option<Offset>,
    /// Logs in the order of the paths.
    pub logs: Vec<Log>,
    /// Why what was collected is not all.
    pub lost: Option<String>,
}

/// A log of a host.
pub struct Log {
    /// Path on the host.
    pub path: String,
    /// Bytes of the log's lines in the window.
    pub bytes: u64,
    /// How often the file was truncated.
    pub truncations: u64,
    /// Lines cut off by the end of the window or a truncation.
    pub incomplete: u64,
    /// Why the log could not be read.
    pub error: Option<String>,
    /// Whether the log is a database's slow log.
    pub is_slow: bool,
    /// `None` without a line.
    pub digest: Option<Digest>,
}

/// A pipe from a log's lines to the log's reader.
struct Stream<'scope> {
    to: Option<PipeWriter>,
    bytes: u64,
    reader: ScopedJoinHandle<'scope, io::Result<Digest>>,
}

/// Follows a host, with logs at `paths`, until everything has been sent or the host is lost.
///
/// # Errors
/// The host is lost before it has begun.
pub fn follow(
    session: &Session,
    paths: &[String],
    format: Option<&Format>,
    grouping: &Grouping,
    moments: &Sender<Moment>,
) -> Result<Followed, RemoteError> {
    session.ask_clocks(CLOCK_TRIPS, PATIENCE)?;
    let begin = Begin {
        logs: paths.to_vec(),
    };
    session.send(
        message::BEGIN,
        &serde_json::to_vec(&begin).unwrap_or_default(),
        PATIENCE,
    )?;
    thread::scope(|scope| {
        let mut all = Receiving::new(scope, paths, format, grouping);
        let lost = loop {
            match session.receive(PATIENCE) {
                Ok(Some(frame)) if frame.kind == message::ENDED => {
                    all.ended = serde_json::from_slice(&frame.body).ok();
                    break None;
                }
                Ok(Some(frame)) => {
                    if frame.kind == message::BEGUN {
                        // Nobody listens any more once all is over.
                        let _ = moments.send(Moment::Begun);
                    }
                    all.take(&frame);
                }
                // Each second has its sample, so that this is a host that hangs.
                Ok(None) => break Some(session.silent(PATIENCE)),
                Err(error) => break Some(error),
            }
        };
        if lost.is_none() {
            // Those before it are enough where these fail.
            let _ = session.ask_clocks(CLOCK_TRIPS, PATIENCE);
        }
        let walls: Vec<RoundTrip> = session.trips().iter().map(|trip| trip.wall).collect();
        match (lost, all.begun.is_some()) {
            (Some(error), false) => Err(error),
            (lost, _) => Ok(all.end(
                offset_at(&walls, wall_ns()),
                lost.map(|error| error.to_string()),
            )),
        }
    })
}

struct Receiving<'scope, 'a> {
    paths: &'a [String],
    begun: Option<Begun>,
    samples: Vec<Sample>,
    streams: Vec<Stream<'scope>>,
    ended: Option<Ended>,
}

impl<'scope, 'a> Receiving<'scope, 'a> {
    fn new(
        scope: &'scope Scope<'scope, '_>,
        paths: &'a [String],
        format: Option<&'scope Format>,
        grouping: &'scope Grouping,
    ) -> Receiving<'scope, 'a> {
        let stream = |_| {
            let (from, to) = pipe();
            let reader = scope.spawn(move || match from {
                Some(from) => logs::read(from, format, grouping),
                None => Err(io::Error::other("no pipe could be made")),
            });
            Stream {
                to,
                bytes: 0,
                reader,
            }
        };
        Receiving {
            paths,
            begun: None,
            samples: Vec::new(),
            streams: paths.iter().map(stream).collect(),
            ended: None,
        }
    }

    /// Takes a frame; unknown kinds belong to later versions, which the greeting rules out.
    fn take(&mut self, frame: &Frame) {
        match frame.kind {
            message::BEGUN => self.begun = serde_json::from_slice(&frame.body).ok(),
            message::SAMPLE => self
                .samples
                .extend(serde_json::from_slice::<Sample>(&frame.body)),
            message::LINES => {
                let Some((index, lines)) = frame.body.split_first_chunk::<2>() else {
                    return;
                };
                let Some(stream) = self
                    .streams
                    .get_mut(usize::from(u16::from_le_bytes(*index)))
                else {
                    return;
                };
                stream.bytes += lines.len() as u64;
                // A reader that does not know this kind of log has ended, and says why.
                if stream
                    .to
                    .as_mut()
                    .is_some_and(|to| to.write_all(lines).is_err())
                {
                    stream.to = None;
                }
            }
            _ => {}
        }
    }

    fn end(self, clock: Option<Offset>, lost: Option<String>) -> Followed {
        let begun = self.begun.unwrap_or_default();
        let mut ends = self.ended.unwrap_or_default().logs.into_iter();
        let mut errors = begun.errors.into_iter();
        let logs = self.paths.iter().zip(self.streams).map(|(path, stream)| {
            drop(stream.to);
            let digest = stream
                .reader
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("its reader failed")));
            let end = ends.next().unwrap_or_default();
            let unread = match &digest {
                Err(error) if stream.bytes > 0 => Some(error.to_string()),
                _ => None,
            };
            Log {
                path: path.clone(),
                bytes: stream.bytes,
                truncations: end.truncations,
                incomplete: end.incomplete,
                error: errors.next().flatten().or(end.error).or(unread),
                is_slow: matches!(digest, Ok(Digest::Slow(_))),
                digest: digest.ok().filter(|_| stream.bytes > 0),
            }
        });
        Followed {
            logs: logs.collect(),
            cores: begun.cores,
            core_limit: begun.limit_millicores.map(|cores| f64::from(cores) / 1e3),
            usage: Usage::of(&self.samples),
            clock,
            lost,
        }
    }
}

fn pipe() -> (Option<PipeReader>, Option<PipeWriter>) {
    io::pipe().ok().unzip()
}

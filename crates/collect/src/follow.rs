//! One collected host, from start to end.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope, ScopedJoinHandle};

use logs::Digest;
use logs::access::{Format, Grouping};
use remote::clock::{Offset, RoundTrip, offset_at};
use remote::frame::Frame;
use remote::{PATIENCE, RemoteError, Session, wall_ns};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::message::{
    self, Begin, Begun, Counted, DatabaseEnd, Ended, InsideEnd, RouteTime, StatementTime, UnitEnd,
};
use crate::moments::Moment;
use crate::usage::{Sums, Usage};

/// Round trips before and after; signs of life are the ones in between.
const CLOCK_TRIPS: usize = 8;

/// Why something asked for has no end.
const OTHER_RELEASE: &str =
    "the program on the host does not collect it; use the same release for both";

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
    /// Counters of the host's database; `None` where none was asked for.
    pub database: Option<Database>,
    /// The inside of the host's app; `None` where none was asked for.
    pub inside: Option<Inside>,
    /// Journals in the order of the units.
    pub units: Vec<UnitEnd>,
    /// Beginning of the window, nanoseconds since 1970 of our wall clock.
    pub began_ns: Option<i64>,
    /// Why what was collected is not all.
    pub lost: Option<String>,
}

/// What a database server counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// Statements by time, the largest first.
    pub statements: Vec<Counted>,
    /// End of the readings.
    pub end: DatabaseEnd,
}

/// What the agents inside of an app recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inside {
    /// Routes by time, the largest first.
    pub routes: Vec<RouteTime>,
    /// Statements and other calls by time, the largest first.
    pub statements: Vec<StatementTime>,
    /// End of the reading.
    pub end: InsideEnd,
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

/// Follows each host on a separate thread, from a common start until `wait` returns; `wait` has the
/// number of hosts, and the moments of all. Begins, formats and sessions are in one order.
pub fn follow_all<T>(
    begins: &[Begin],
    formats: &[Option<Format>],
    grouping: &Grouping,
    sessions: &[Result<Session, String>],
    wait: impl FnOnce(usize, &Receiver<Moment>) -> T,
) -> (T, Vec<Result<Followed, String>>) {
    thread::scope(|scope| {
        let (moments, happened) = mpsc::channel();
        let mut threads = Vec::new();
        for ((begin, format), session) in begins.iter().zip(formats).zip(sessions) {
            let moments = moments.clone();
            threads.push(session.as_ref().map_err(Clone::clone).map(|session| {
                scope.spawn(move || {
                    let followed = follow(session, begin, format.as_ref(), grouping, &moments);
                    let has_begun = matches!(&followed, Ok(one) if one.began_ns.is_some());
                    // Nobody listens any more once all is over.
                    let _ = moments.send(Moment::Ended { has_begun });
                    followed
                })
            }));
        }
        drop(moments);
        let count = threads.iter().filter(|thread| thread.is_ok()).count();
        let waited = wait(count, &happened);
        for session in sessions.iter().flatten() {
            // A host that is lost is named by its own thread.
            let _ = session.send(message::END, &[], PATIENCE);
        }
        let followed = threads.into_iter().map(|thread| match thread?.join() {
            Ok(followed) => followed.map_err(|error| error.to_string()),
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (waited, followed.collect())
    })
}

/// Follows a host until everything wanted has been sent or the host is lost.
///
/// # Errors
/// The host is lost before it has begun.
fn follow(
    session: &Session,
    begin: &Begin,
    format: Option<&Format>,
    grouping: &Grouping,
    moments: &Sender<Moment>,
) -> Result<Followed, RemoteError> {
    session.ask_clocks(CLOCK_TRIPS, PATIENCE)?;
    let asked = serde_json::to_vec(begin).unwrap_or_default();
    session.send(message::BEGIN, &asked, PATIENCE)?;
    thread::scope(|scope| {
        let mut all = Receiving::new(scope, begin, format, grouping);
        let lost = loop {
            match session.receive(PATIENCE) {
                Ok(Some(frame)) if all.take(&frame).is_err() => {
                    break Some(session.not_understood(frame.kind));
                }
                Ok(Some(frame)) => match frame.kind {
                    message::BEGUN => {
                        all.began_ns = Some(wall_ns());
                        // Nobody listens any more once all is over.
                        let _ = moments.send(Moment::Begun);
                    }
                    message::ENDED => break None,
                    _ => {}
                },
                // Each second has its sample, and the end has signs of work, so that this is a host
                // that hangs.
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
    asked: &'a Begin,
    begun: Option<Begun>,
    began_ns: Option<i64>,
    statements: Vec<Counted>,
    inside: Inside,
    sums: Sums,
    streams: Vec<Stream<'scope>>,
    ended: Option<Ended>,
}

impl<'scope, 'a> Receiving<'scope, 'a> {
    fn new(
        scope: &'scope Scope<'scope, '_>,
        asked: &'a Begin,
        format: Option<&'scope Format>,
        grouping: &'scope Grouping,
    ) -> Receiving<'scope, 'a> {
        let stream = |_| {
            let (from, to) = pipe();
            let reader = scope.spawn(move || match from {
                Some(from) => logs::read_stamped(from, format, grouping),
                None => Err(io::Error::other("no pipe could be made")),
            });
            Stream {
                to,
                bytes: 0,
                reader,
            }
        };
        Receiving {
            asked,
            begun: None,
            began_ns: None,
            statements: Vec::new(),
            inside: Inside::default(),
            sums: Sums::default(),
            streams: asked.logs.iter().map(stream).collect(),
            ended: None,
        }
    }

    /// Takes a frame; one of an unknown kind says nothing asked for.
    ///
    /// # Errors
    /// The frame holds something else than its kind says: a program of another release sent it.
    fn take(&mut self, frame: &Frame) -> serde_json::Result<()> {
        match frame.kind {
            message::BEGUN => self.begun = Some(serde_json::from_slice(&frame.body)?),
            message::ENDED => self.ended = Some(serde_json::from_slice(&frame.body)?),
            message::SAMPLE => self.sums.add(serde_json::from_slice(&frame.body)?),
            message::PROCESSES => self
                .sums
                .add_processes(serde_json::from_slice(&frame.body)?),
            message::STATEMENTS => add(&mut self.statements, frame)?,
            message::ROUTES => add(&mut self.inside.routes, frame)?,
            message::CALLS => add(&mut self.inside.statements, frame)?,
            message::LINES => self.take_lines(frame),
            _ => {}
        }
        Ok(())
    }

    fn take_lines(&mut self, frame: &Frame) {
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

    fn end(self, clock: Option<Offset>, lost: Option<String>) -> Followed {
        let begun = self.begun.unwrap_or_default();
        // Of a host that is lost, `lost` says why there is no more.
        let lacking = (self.ended.is_some()).then(|| OTHER_RELEASE.to_owned());
        let ended = self.ended.unwrap_or_default();
        let database = self.asked.database.as_ref().map(|_| Database {
            statements: self.statements,
            end: ended.database.unwrap_or_else(|| DatabaseEnd {
                error: lacking.clone(),
                ..DatabaseEnd::default()
            }),
        });
        let inside = self.asked.rings.as_ref().map(|_| Inside {
            end: ended.inside.unwrap_or_else(|| InsideEnd {
                error: lacking.clone(),
                ..InsideEnd::default()
            }),
            ..self.inside
        });
        let mut units = ended.units;
        let others = self.asked.units.iter().skip(units.len());
        units.extend(others.filter(|_| lacking.is_some()).map(|unit| UnitEnd {
            unit: unit.clone(),
            error: lacking.clone(),
            ..UnitEnd::default()
        }));
        let mut ends = ended.logs.into_iter();
        let mut errors = begun.errors.into_iter();
        let logs = self
            .asked
            .logs
            .iter()
            .zip(self.streams)
            .map(|(path, stream)| {
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
            usage: self.sums.usage(),
            clock,
            database,
            inside,
            units,
            began_ns: self.began_ns,
            lost,
        }
    }
}

/// Adds the items of a frame.
fn add<T: DeserializeOwned>(all: &mut Vec<T>, frame: &Frame) -> serde_json::Result<()> {
    all.append(&mut serde_json::from_slice(&frame.body)?);
    Ok(())
}

fn pipe() -> (Option<PipeReader>, Option<PipeWriter>) {
    io::pipe().ok().unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Address;

    /// Takes frames; returns whether each was understood, and what there is at the end.
    fn received(asked: &Begin, frames: &[(u8, &str)]) -> (Vec<bool>, Followed) {
        let grouping = Grouping::Routes;
        thread::scope(|scope| {
            let mut all = Receiving::new(scope, asked, None, &grouping);
            let took = frames.iter().map(|(kind, body)| {
                let frame = Frame {
                    kind: *kind,
                    body: body.as_bytes().to_vec(),
                };
                all.take(&frame).is_ok()
            });
            let took = took.collect();
            (took, all.end(None, None))
        })
    }

    #[test]
    fn frames_with_another_content_are_not_taken_for_nothing() {
        let kinds = [
            message::BEGUN,
            message::SAMPLE,
            message::PROCESSES,
            message::STATEMENTS,
            message::ROUTES,
            message::CALLS,
            message::ENDED,
        ];
        for kind in kinds {
            let (took, _) = received(&Begin::default(), &[(kind, "{\"other\":1}")]);
            assert_eq!(took, [false], "{kind}");
        }
        let later = message::CALLS + 100;
        let (took, _) = received(&Begin::default(), &[(later, "{"), (message::ROUTES, "[]")]);
        assert_eq!(took, [true, true]);
    }

    #[test]
    fn what_a_program_of_another_release_does_not_collect_is_named() {
        let asked = Begin {
            units: vec!["app.service".to_owned()],
            database: Some(Address("mysql://a".to_owned())),
            rings: Some("/dev/shm/a".to_owned()),
            ..Begin::default()
        };
        let ended = r#"{"logs":[],"units":[]}"#;
        let (took, followed) = received(&asked, &[(message::ENDED, ended)]);
        assert_eq!(took, [true]);
        let why = |error: Option<String>| error.is_some_and(|error| error.contains("release"));
        assert!(why(followed.database.and_then(|one| one.end.error)));
        assert!(why(followed.inside.and_then(|one| one.end.error)));
        assert_eq!(followed.units.len(), 1);
        assert!(why(followed.units[0].error.clone()));
        // A host that is lost has its own reason.
        let (_, followed) = received(&asked, &[]);
        assert_eq!(followed.inside.and_then(|one| one.end.error), None);
        assert!(followed.units.is_empty());
    }
}

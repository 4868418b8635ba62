//! Collector on the far host: reads logs and counters until the near side ends the window, and
//! sends each as read.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use capture::{HostSampler, ProcessUse, all_processes, connections_opened};
use remote::{Far, Shift, Speaker, monotonic_ns, wall_ns};
use serde::Serialize;

use crate::container;
use crate::counters::Counters;
use crate::inside::Inside;
use crate::journal;
use crate::message::{self, Begin, Begun, Ended, LogEnd, Process, Sample};
use crate::sockets;
use crate::window::LogWindow;
use crate::working::with_signs;

/// Between two samples, and two looks at the logs.
const INTERVAL_NS: i64 = 1_000_000_000;
/// Samples between two looks at what costs more than a few small files.
const RARE: u64 = 5;
/// Number of connections from which a look at all is rare.
const FEW_CONNECTIONS: usize = 1_000;
/// Bytes of a log in one frame.
const PIECE_BYTES: usize = 512 * 1024;
/// Statements or routes in one frame, with texts of limited length.
const PIECE_STATEMENTS: usize = 100;
/// Processes in one frame, with names of at most 64 bytes: a host may run more than a frame takes.
const PIECE_PROCESSES: usize = 1_000;

/// Speaks with the near side over standard input and output until the stretch is over.
///
/// # Errors
/// The near side has gone, or says what is not understood.
pub fn serve(shift: Shift) -> io::Result<()> {
    let far = Far::start(shift)?;
    let Some(frame) = far.receive() else {
        return Ok(());
    };
    if frame.kind != message::BEGIN {
        let why = format!("a frame of kind {} before the beginning", frame.kind);
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let begin: Begin = serde_json::from_slice(&frame.body)?;
    let mut collector = Collector::begin(&begin, far.speaker())?;
    let mut next_ns = monotonic_ns() + INTERVAL_NS;
    loop {
        let left_ns = (next_ns - monotonic_ns()).max(0);
        match far.receive_within(Duration::from_nanos(left_ns as u64))? {
            None => {
                collector.look()?;
                collector.sample()?;
                // A host that did not keep up skips samples, so that they do not cost it even more.
                next_ns = (next_ns + INTERVAL_NS).max(monotonic_ns());
            }
            Some(frame) if frame.kind == message::END => break,
            Some(_) => {}
        }
    }
    collector.end()?;
    // The near side ends the connection when it has read everything.
    while far.receive().is_some() {}
    Ok(())
}

struct Collector {
    speaker: Speaker,
    logs: Vec<Log>,
    sampler: HostSampler,
    sent: Sent,
    samples: u64,
    /// Established connections at the last look.
    connections: usize,
    /// CPU time of the processes of a container up to now, nanoseconds; `None` on a machine with a
    /// counter of the kernel.
    container_ns: Option<u64>,
    /// Units with journals to read, and the beginning by the host's wall clock, microseconds.
    units: Vec<String>,
    began_us: i64,
    counters: Option<Counters>,
    inside: Option<Inside>,
}

/// CPU time of each process running at the last sample, nanoseconds.
#[derive(Default)]
struct Sent(HashMap<(u32, u64), u64>);

struct Log {
    index: u16,
    window: Result<LogWindow, String>,
}

impl Collector {
    fn begin(begin: &Begin, speaker: Speaker) -> io::Result<Collector> {
        // First, since a server may take its time.
        let counters = begin.database.as_ref().map(Counters::begin);
        let windows = begin
            .logs
            .iter()
            .map(|path| LogWindow::begin(Path::new(path)));
        let logs: Vec<Log> = (0..)
            .zip(windows)
            .map(|(index, window)| Log {
                index,
                window: window.map_err(|error| error.to_string()),
            })
            .collect();
        let is_container = container::is_container();
        let begun = Begun {
            errors: logs
                .iter()
                .map(|log| log.window.as_ref().err().cloned())
                .collect(),
            cores: thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            limit_millicores: is_container
                .then(container::core_limit)
                .flatten()
                .map(|cores| (cores * 1e3).round() as u32),
        };
        let mut collector = Collector {
            speaker,
            logs,
            sampler: HostSampler::new(&[]),
            sent: Sent::default(),
            samples: 0,
            connections: 0,
            container_ns: is_container.then_some(0),
            units: begin.units.clone(),
            began_us: wall_ns() / 1_000,
            counters,
            inside: begin.rings.as_deref().map(Inside::begin),
        };
        collector.sample()?;
        collector.say(message::BEGUN, &begun)?;
        Ok(collector)
    }

    fn look(&mut self) -> io::Result<()> {
        for log in &mut self.logs {
            let Ok(window) = &mut log.window else {
                continue;
            };
            let mut is_gone = false;
            let looked =
                window.look(&mut |lines| send(&self.speaker, log.index, lines, &mut is_gone));
            match looked {
                Err(error) if is_gone => return Err(error),
                Err(error) => log.window = Err(error.to_string()),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn sample(&mut self) -> io::Result<()> {
        let host = self.sampler.sample().map_err(io::Error::other)?;
        let (network, disk) = (
            host.network.unwrap_or_default(),
            host.disk.unwrap_or_default(),
        );
        let is_rare = self.samples.is_multiple_of(RARE);
        self.samples += 1;
        let mut processes = self.processes(is_rare);
        for piece in pieces(&mut processes) {
            self.say(message::PROCESSES, &piece)?;
        }
        // Connections may be as short as a request, so each second is looked at where that is
        // cheap.
        let links = match is_rare || self.connections < FEW_CONNECTIONS {
            true => {
                let (links, connections) = sockets::links();
                self.connections = connections;
                links
            }
            false => Vec::new(),
        };
        // Counted where they are made: a container's share of the machine is not in `/proc/stat`.
        let cpu_busy_ns = self.container_ns.unwrap_or(host.cpu_busy.0);
        let sample = Sample {
            at_ns: monotonic_ns().max(0) as u64,
            cpu_busy_ns,
            cpu_steal_ns: host.cpu_steal.0,
            memory_available: host.memory_available,
            received: network.received,
            sent: network.sent,
            disk_read: disk.read,
            disk_written: disk.written,
            opened: connections_opened(),
            links,
            processes,
        };
        self.say(message::SAMPLE, &sample)
    }

    /// Returns the processes with CPU time since the sample before; the time is added up in a
    /// container.
    fn processes(&mut self, with_descriptors: bool) -> Vec<Process> {
        let is_first = self.sent.0.is_empty();
        let changed = self.sent.changed(all_processes()).into_iter();
        let mut all_grown_ns = 0;
        let processes = changed.map(|(one, grown_ns)| {
            all_grown_ns += grown_ns;
            Process {
                pid: one.pid,
                started: one.started_ticks,
                name: one.name,
                cpu_ns: one.cpu.0,
                rss: one.rss,
                descriptors: with_descriptors.then(|| descriptors(one.pid)).flatten(),
            }
        });
        let processes = processes.collect();
        if let Some(total) = self.container_ns.as_mut().filter(|_| !is_first) {
            *total += all_grown_ns;
        }
        processes
    }

    fn end(mut self) -> io::Result<()> {
        let speaker = self.speaker.clone();
        let say = move || speaker.send(message::WORKING, &[]);
        let ended = with_signs(say, || self.read_ends())?;
        self.say(message::ENDED, &ended)
    }

    /// Sends everything but the very end, and returns the end.
    fn read_ends(&mut self) -> io::Result<Ended> {
        let (mut ended, mut is_gone) = (Ended::default(), false);
        self.samples = 0;
        self.sample()?;
        for log in std::mem::take(&mut self.logs) {
            let mut sink = |lines: &[u8]| send(&self.speaker, log.index, lines, &mut is_gone);
            let seen = log
                .window
                .and_then(|window| window.end(&mut sink).map_err(|error| error.to_string()));
            ended.logs.push(match seen {
                Ok(seen) => LogEnd {
                    error: None,
                    truncations: seen.truncations,
                    incomplete: seen.incomplete,
                },
                Err(error) => LogEnd {
                    error: Some(error),
                    ..LogEnd::default()
                },
            });
        }
        let ended_us = wall_ns() / 1_000;
        ended.inside = self.end_inside()?;
        if let Some(counters) = self.counters.take() {
            let (statements, end) = counters.end();
            for some in statements.chunks(PIECE_STATEMENTS) {
                self.say(message::STATEMENTS, &some)?;
            }
            ended.database = Some(end);
        }
        ended.units = self.read_units(ended_us);
        Ok(ended)
    }

    /// Sends what was read of the rings, and returns how the reading ended.
    fn end_inside(&mut self) -> io::Result<Option<message::InsideEnd>> {
        let Some(inside) = self.inside.take() else {
            return Ok(None);
        };
        let read = inside.end();
        for some in read.routes.chunks(PIECE_STATEMENTS) {
            self.say(message::ROUTES, &some)?;
        }
        for some in read.statements.chunks(PIECE_STATEMENTS) {
            self.say(message::CALLS, &some)?;
        }
        Ok(Some(read.end))
    }

    /// Reads all journals at once: the near side does not wait for one after the other.
    fn read_units(&self, ended_us: i64) -> Vec<message::UnitEnd> {
        let began_us = self.began_us;
        thread::scope(|scope| {
            let units = self.units.iter();
            let threads: Vec<_> = units
                .map(|unit| scope.spawn(move || journal::read(unit, began_us, ended_us)))
                .collect();
            let ends = threads.into_iter().map(|thread| match thread.join() {
                Ok(end) => end,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            ends.collect()
        })
    }

    fn say(&self, kind: u8, what: &impl Serialize) -> io::Result<()> {
        self.speaker.send(kind, &serde_json::to_vec(what)?)
    }
}

impl Sent {
    /// Returns the processes whose CPU time is not as at the last sample, with the growth; ended
    /// ones are forgotten.
    fn changed(&mut self, now: Vec<ProcessUse>) -> Vec<(ProcessUse, u64)> {
        let before = std::mem::take(&mut self.0);
        let mut changed = Vec::new();
        for one in now {
            let key = (one.pid, one.started_ticks);
            self.0.insert(key, one.cpu.0);
            let known = before.get(&key).copied();
            if known != Some(one.cpu.0) {
                let grown_ns = one.cpu.0.saturating_sub(known.unwrap_or(0));
                changed.push((one, grown_ns));
            }
        }
        changed
    }
}

/// Takes away what goes beyond one frame, in pieces of one frame each.
fn pieces(processes: &mut Vec<Process>) -> Vec<Vec<Process>> {
    let mut pieces = Vec::new();
    while processes.len() > PIECE_PROCESSES {
        pieces.push(processes.split_off(processes.len() - PIECE_PROCESSES));
    }
    pieces
}

/// Returns the open file descriptors of a process and the limit.
fn descriptors(pid: u32) -> Option<(u64, u64)> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64;
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    Some((open, line.split_whitespace().next()?.parse().ok()?))
}

fn send(speaker: &Speaker, index: u16, lines: &[u8], is_gone: &mut bool) -> io::Result<()> {
    for piece in lines.chunks(PIECE_BYTES) {
        let body = [&index.to_le_bytes()[..], piece].concat();
        speaker
            .send(message::LINES, &body)
            .inspect_err(|_| *is_gone = true)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use recording::Nanos;
    use remote::frame::BODY_BYTES_MAX;

    use super::*;

    #[test]
    fn processes_that_have_ended_are_forgotten() {
        let running = |pid: u32, cpu_ns: u64| ProcessUse {
            pid,
            started_ticks: 7,
            name: "sh".to_owned(),
            cpu: Nanos(cpu_ns),
            rss: 0,
        };
        let mut sent = Sent::default();
        let mut changed = |now: Vec<ProcessUse>| {
            let changed = sent.changed(now).into_iter();
            let changed: Vec<_> = changed.map(|(one, grown_ns)| (one.pid, grown_ns)).collect();
            (changed, sent.0.len())
        };
        let first = changed(vec![running(1, 500), running(2, 10)]);
        assert_eq!(first, (vec![(1, 500), (2, 10)], 2));
        let second = changed(vec![running(1, 500), running(3, 20)]);
        assert_eq!(second, (vec![(3, 20)], 2));
        let third = changed(vec![running(1, 600)]);
        assert_eq!(third, (vec![(1, 100)], 1));
    }

    #[test]
    fn a_host_of_many_processes_fits_its_frames() {
        let process = |pid: u32| Process {
            pid,
            started: u64::MAX,
            name: "\u{1}".repeat(64),
            cpu_ns: u64::MAX,
            rss: u64::MAX,
            descriptors: Some((u64::MAX, u64::MAX)),
        };
        let mut last: Vec<Process> = (0..20_500).map(process).collect();
        let pieces = pieces(&mut last);
        let all = pieces.iter().map(Vec::len).sum::<usize>() + last.len();
        assert_eq!((all, last.len()), (20_500, 500));
        for piece in pieces.iter().chain([&last]) {
            let bytes = serde_json::to_vec(piece).expect("JSON").len();
            assert!(bytes < BODY_BYTES_MAX, "{bytes}");
        }
    }
}

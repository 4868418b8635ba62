//! Collector on the far host: reads logs and counters until the near side ends the window, and
//! sends each as read.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use capture::{HostSampler, all_processes, connections_opened};
use remote::{Far, Shift, Speaker, monotonic_ns};
use serde::Serialize;

use crate::message::{self, Begin, Begun, Ended, LogEnd, Process, Sample};
use crate::window::LogWindow;

/// Between two samples, and two looks at the logs.
const INTERVAL_NS: i64 = 1_000_000_000;
/// Bytes of a log in one frame.
const PIECE_BYTES: usize = 512 * 1024;

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
    /// CPU time of each process in the sample sent last, nanoseconds.
    sent: HashMap<(u32, u64), u64>,
}

struct Log {
    index: u16,
    window: Result<LogWindow, String>,
}

impl Collector {
    fn begin(begin: &Begin, speaker: Speaker) -> io::Result<Collector> {
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
        let begun = Begun {
            errors: logs
                .iter()
                .map(|log| log.window.as_ref().err().cloned())
                .collect(),
            cores: thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        };
        let mut collector = Collector {
            speaker,
            logs,
            sampler: HostSampler::new(&[]),
            sent: HashMap::new(),
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
        let mut processes = Vec::new();
        for one in all_processes() {
            let before = self.sent.insert((one.pid, one.started_ticks), one.cpu.0);
            if before != Some(one.cpu.0) {
                processes.push(Process {
                    pid: one.pid,
                    started: one.started_ticks,
                    name: one.name,
                    cpu_ns: one.cpu.0,
                    rss: one.rss,
                });
            }
        }
        let sample = Sample {
            at_ns: monotonic_ns().max(0) as u64,
            cpu_busy_ns: host.cpu_busy.0,
            cpu_steal_ns: host.cpu_steal.0,
            memory_available: host.memory_available,
            received: network.received,
            sent: network.sent,
            disk_read: disk.read,
            disk_written: disk.written,
            opened: connections_opened(),
            processes,
        };
        self.say(message::SAMPLE, &sample)
    }

    fn end(mut self) -> io::Result<()> {
        let (mut ended, mut is_gone) = (Ended::default(), false);
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
        self.say(message::ENDED, &ended)
    }

    fn say(&self, kind: u8, what: &impl Serialize) -> io::Result<()> {
        self.speaker.send(kind, &serde_json::to_vec(what)?)
    }
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

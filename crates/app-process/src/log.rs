//! The app's output: the last lines kept in memory, everything (up to a limit) in a log file.
//!
//! One thread a stream reads the pipe, so that a chatty app never blocks on a full pipe. The
//! threads end when the last process that holds the pipe ends; nobody waits for them without a
//! deadline.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What one shows of a dead app.
pub(crate) const TAIL_LINES: usize = 20;

/// Lines stored to find an app's error in: a trace of Rails has a hundred lines, and several causes
/// one each.
const LINES_KEPT: usize = 500;

/// Longer lines are cut: a tail is for reading.
const LINE_BYTES_MAX: usize = 1000;

/// Largest size of a log file, in bytes: a longer log helps nobody and could fill the disk.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Mark printed by the VM for a crash of the VM.
const CRASH: &str = "[BUG]";

/// Which of the two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// A handle on what the app printed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    out: Tail,
    err: Tail,
    file: Option<File>,
    file_bytes: u64,
    streams_open: usize,
}

/// The last lines of a stream.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<String>,
    partial: Vec<u8>,
    /// Ruby's own crash line, which pages of memory map would push out.
    crash: Option<String>,
}

impl Log {
    /// Recreates the log file, readable by the owner only.
    pub(crate) fn create(path: Option<&Path>) -> io::Result<Self> {
        let open = |path| {
            OpenOptions::new()
                .create(true)
                .write(true)
                .truncate(true)
                .mode(0o600)
                .open(path)
        };
        let file = path.map(open).transpose()?;
        Ok(Self {
            shared: Arc::new(Mutex::new(Shared {
                file,
                ..Shared::default()
            })),
        })
    }

    /// Reads a stream to the end in a separate thread.
    pub(crate) fn follow(
        &self,
        stream: Stream,
        mut pipe: impl Read + Send + 'static,
    ) -> io::Result<()> {
        self.lock().streams_open += 1;
        let log = self.clone();
        let spawned = thread::Builder::new()
            .name("app-log".into())
            .spawn(move || {
                let mut buffer = [0; 8192];
                while let Ok(count) = pipe.read(&mut buffer) {
                    if count == 0 {
                        break;
                    }
                    log.lock().push(stream, &buffer[..count]);
                }
                log.lock().streams_open -= 1;
            });
        if spawned.is_err() {
            self.lock().streams_open -= 1;
        }
        spawned.map(drop)
    }

    /// Waits up to `limit` until both streams have ended, so all last words of a dead app are read.
    pub(crate) fn settle(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while self.lock().streams_open > 0 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The last lines of standard error, or of standard output when there are none.
    pub(crate) fn tail(&self) -> Vec<String> {
        let shared = self.lock();
        let err = shared.err.last(TAIL_LINES);
        if err.is_empty() {
            shared.out.last(TAIL_LINES)
        } else {
            err
        }
    }

    /// Returns the last lines of both streams, standard error first; more lines than [`Log::tail`].
    pub(crate) fn lines(&self) -> Vec<String> {
        let shared = self.lock();
        [shared.err.last(LINES_KEPT), shared.out.last(LINES_KEPT)].concat()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Out => self.out.push(bytes),
            Stream::Err => self.err.push(bytes),
        }
        let Some(file) = &mut self.file else { return };
        self.file_bytes += bytes.len() as u64;
        // A full disk must not stop the measurement: the log ends there, the tail goes on.
        if self.file_bytes > FILE_BYTES_MAX || file.write_all(bytes).is_err() {
            self.file = None;
        }
    }
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_BYTES_MAX.saturating_sub(self.partial.len());
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            self.partial
                .extend_from_slice(&text[..text.len().min(room)]);
            if text.len() < piece.len() {
                let line = std::mem::take(&mut self.partial);
                let line = readable(&line);
                if line.contains(CRASH) {
                    self.crash.get_or_insert_with(|| line.clone());
                }
                self.lines.push_back(line);
            }
            if self.lines.len() > LINES_KEPT {
                self.lines.pop_front();
            }
        }
    }

    fn last(&self, count: usize) -> Vec<String> {
        let rest = Some(readable(&self.partial)).filter(|line| !line.is_empty());
        let all: Vec<String> = self.lines.iter().cloned().chain(rest).collect();
        let mut last = all[all.len().saturating_sub(count)..].to_vec();
        if let Some(crash) = self.crash.as_ref().filter(|crash| !last.contains(crash)) {
            last.splice(..last.len().min(1), [crash.clone()]);
        }
        last
    }
}

/// Returns the most informative line of a tail: Ruby's report of a crash, else the last line with
/// text.
pub fn telling_line(tail: &[String]) -> Option<&str> {
    let crash = tail.iter().find(|line| line.contains(CRASH));
    let last = tail.iter().rev().find(|line| !line.trim().is_empty());
    crash.or(last).map(String::as_str)
}

/// Text without control characters: an app's colours and cursor moves must not reach our terminal.
fn readable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.chars()
        .filter(|c| !c.is_control() || *c == '\t')
        .collect::<String>()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(chunks: &[&str], expected: &[&str]) {
        let mut tail = Tail::default();
        chunks.iter().for_each(|chunk| tail.push(chunk.as_bytes()));
        assert_eq!(tail.last(TAIL_LINES), expected);
    }

    #[test]
    fn lines_are_put_together_from_chunks() {
        check(&[], &[]);
        check(&["a\nb"], &["a", "b"]);
        check(&["a", "b\n", "c\r\n"], &["ab", "c"]);
        check(&["\u{1b}[31mred\n"], &["[31mred"]);
        check(&["a\n\nb\n"], &["a", "", "b"]);
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let mut tail = Tail::default();
        (0..100).for_each(|n| tail.push(format!("{n}\n").as_bytes()));
        assert_eq!(tail.last(2), ["98", "99"]);
        (0..1_000).for_each(|n| tail.push(format!("{n}\n").as_bytes()));
        assert_eq!(tail.last(usize::MAX).len(), LINES_KEPT);
    }

    #[test]
    fn a_crash_line_stays_on_top() {
        let mut tail = Tail::default();
        tail.push(b"[BUG] Segmentation fault\n");
        (0..100).for_each(|n| tail.push(format!("map {n}\n").as_bytes()));
        assert_eq!(tail.last(2), ["[BUG] Segmentation fault", "map 99"]);
    }

    #[test]
    fn one_line_tells_most() {
        let check = |tail: &[&str], expected: Option<&str>| {
            let tail: Vec<String> = tail.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(telling_line(&tail), expected);
        };
        check(&[], None);
        check(&["", " "], None);
        check(&["a", "b", ""], Some("b"));
        check(
            &["x.rb:1: [BUG] Segmentation fault", "map"],
            Some("x.rb:1: [BUG] Segmentation fault"),
        );
    }

    #[test]
    fn standard_output_stands_in_for_an_empty_standard_error() {
        let log = Log::default();
        log.follow(Stream::Out, &b"hello\n"[..]).unwrap();
        log.settle(Duration::from_secs(5));
        assert_eq!(log.tail(), ["hello"]);
        log.follow(Stream::Err, &b"trouble\n"[..]).unwrap();
        log.settle(Duration::from_secs(5));
        assert_eq!(log.tail(), ["trouble"]);
    }

    proptest! {
        #[test]
        fn a_tail_is_bounded(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 0..20)) {
            let mut tail = Tail::default();
            chunks.iter().for_each(|chunk| tail.push(chunk));
            prop_assert!(tail.partial.len() <= LINE_BYTES_MAX);
            prop_assert!(tail.lines.len() <= LINES_KEPT);
        }
    }
}

//! Lines of progress: rewritten in place on a terminal, silent elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use figures::text::fit;
use words::{Text, text};

use super::look;
use crate::language;

/// Number of lines on the screen. A message of another thread wipes them out before it is printed.
static SHOWN: Mutex<usize> = Mutex::new(0);

/// Interval of rewriting the elapsed time.
const TICK: Duration = Duration::from_secs(1);

/// Lines rewritten in place.
#[derive(Debug)]
pub struct Progress {
    live: bool,
}

impl Progress {
    /// Progress on standard error; live on a terminal with control sequences.
    pub fn new() -> Progress {
        Progress {
            live: io::stderr().is_terminal() && !look::is_dumb(),
        }
    }

    /// Whether the progress is visible.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Shows `line` in place of what was shown last.
    pub fn show(&mut self, line: impl Into<Text>) {
        self.show_all(&[line.into()]);
    }

    /// Shows `lines` in place of what was shown last.
    pub fn show_all(&mut self, lines: &[Text]) {
        if !self.live {
            return;
        }
        // A line as wide as the terminal would leave the cursor on the next one.
        let columns = look::notice_columns().unwrap_or(figures::text::COLUMNS) - 1;
        let lines: Vec<String> = lines
            .iter()
            .map(|line| fit(&look::signs(&line.written_in(language::chosen())), columns))
            .collect();
        let mut shown = shown();
        let _ = write!(
            io::stderr().lock(),
            "{}{}",
            back(*shown),
            lines.join("\r\n")
        );
        *shown = lines.len();
    }

    /// Wipes the lines out.
    pub fn clear(&mut self) {
        wipe();
    }
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Takes what is shown from the screen.
pub(crate) fn wipe() {
    let mut shown = shown();
    if *shown > 0 {
        let _ = write!(io::stderr().lock(), "{}", back(*shown));
        *shown = 0;
    }
}

/// Control sequence to the start of the first of `lines` lines, and the erasure of the rest.
fn back(lines: usize) -> String {
    match lines {
        0 => String::new(),
        1 => "\r\x1b[J".to_owned(),
        more => format!("\x1b[{}A\r\x1b[J", more - 1),
    }
}

fn shown() -> MutexGuard<'static, usize> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows a running work and the elapsed seconds, until dropped; silent except on a terminal. The
/// work stays on the calling thread: what it starts may be bound to the life of the thread.
pub struct Ticker {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Ticker {
    /// Begins to show `phase`.
    pub fn start(phase: Text) -> Ticker {
        let mut progress = Progress::new();
        let (done, waiting) = channel::<()>();
        let begin = Instant::now();
        let tick = move || {
            while waiting.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                progress.show(text!(
                    "  {phase}: {seconds} s passed",
                    phase,
                    seconds = begin.elapsed().as_secs()
                ));
            }
        };
        let is_live = io::stderr().is_terminal() && !look::is_dumb();
        Ticker {
            running: is_live.then(|| (done, std::thread::spawn(tick))),
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.running.take() {
            drop(done);
            // A tick that panicked has shown less; the work is what counts.
            let _ = thread.join();
        }
    }
}

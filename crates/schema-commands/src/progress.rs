//! Progress of a plan: a line for each executed statement, and on a terminal the running one.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use schema_db::apply::{Event, Step};
use words::text;

use console::Progress;

/// Time between two looks at the clock while a statement runs.
const TICK: Duration = Duration::from_millis(250);

/// Shortest duration of a statement with a separate line, on a terminal.
const WORTH_A_LINE: Duration = Duration::from_millis(500);

/// Shows the progress, and stores the figures for the message of a failure.
pub(crate) struct Watch {
    total: usize,
    start: Instant,
    ticker: Option<Ticker>,
    live: bool,
    /// Executed statements.
    done: usize,
    /// Executed statements which no failure takes back.
    kept: usize,
    is_in_transaction: bool,
    /// What a failure of the running statement leaves.
    leaves: Option<String>,
}

impl Watch {
    /// For so many statements.
    pub(crate) fn new(total: usize) -> Watch {
        Watch {
            total,
            start: Instant::now(),
            ticker: None,
            live: Progress::new().is_live(),
            done: 0,
            kept: 0,
            is_in_transaction: false,
            leaves: None,
        }
    }

    /// Seconds since the beginning.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Takes note of an event.
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        match event {
            Event::Statement(index, step) => {
                self.leaves = leaves(step);
                let line = format!("{}/{} {}", index + 1, self.total, name(step));
                self.ticker = self.live.then(|| Ticker::start(line.clone(), self.start));
                if !self.live {
                    console::notice(format!("{line} …"));
                }
            }
            Event::Done(index, took) => {
                self.ticker = None;
                self.done = index + 1;
                if !self.is_in_transaction {
                    self.kept = self.done;
                }
                if !self.live || *took >= WORTH_A_LINE {
                    console::notice(text!(
                        "{number}/{total} done in {took} s, {all} s in all",
                        number = index + 1,
                        total = self.total,
                        took = format!("{:.1}", took.as_secs_f64()),
                        all = format!("{:.1}", self.seconds())
                    ));
                }
            }
            Event::Begin => self.is_in_transaction = true,
            Event::Commit => {
                self.is_in_transaction = false;
                self.kept = self.done;
            }
            Event::Rollback => {
                self.ticker = None;
                self.is_in_transaction = false;
            }
        }
    }

    /// State of the database after a failure.
    pub(crate) fn state(&self) -> String {
        let done = match self.kept {
            0 => "nothing was changed".to_owned(),
            kept => format!(
                "{kept} of {} statements are done; run again to go on from there",
                self.total
            ),
        };
        match &self.leaves {
            Some(left) => format!("{done}; but {left}"),
            None => done,
        }
    }
}

/// What remains of a statement after a failure outside a transaction.
fn leaves(step: &Step) -> Option<String> {
    let is_of_index = step.sql.contains(" INDEX CONCURRENTLY ");
    if !is_of_index {
        return None;
    }
    let name = &step.name;
    Some(match step.verb.as_str() {
        "drop" => format!(
            "index {name} may be invalid now: no query uses it, and every write has to keep it; \
             say DROP INDEX CONCURRENTLY IF EXISTS {name}"
        ),
        _ => format!(
            "an index that is invalid may have been left for {name}, which every write has to keep; \
             the next run removes it before it builds again"
        ),
    })
}

fn name(step: &Step) -> String {
    format!("{} {} {}", step.verb, step.kind, step.name)
}

/// Rewrites a line with the elapsed time, until dropped.
struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(line: String, start: Instant) -> Ticker {
        let (stop, stopped) = channel();
        let thread = thread::spawn(move || {
            let mut progress = Progress::new();
            loop {
                let seconds = start.elapsed().as_secs();
                progress.show(format!("{line} … {}:{:02}", seconds / 60, seconds % 60));
                if stopped.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        Ticker {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // The thread ends when nobody can send to it any more.
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

//! Exchanges one by one, handed over in batches while the load runs.

use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, TrySendError};

use recording::{Exchange, Nanos, TextId, Timestamp};

use crate::answers::is_sampled;
use crate::clock;
use crate::outcome::Batch;

/// How often a batch is handed over.
const INTERVAL: Nanos = Nanos(200_000_000);
/// Greatest number of exchanges waiting for a slow receiver; at the limit the worker waits too,
/// which shows as lateness.
const WAITING_MAX: usize = 1 << 18;

/// Distinct request lines named by a thread; behind the limit, a line is the method alone.
const LINES_MAX: usize = 50_000;

/// Records exchanges, with the names of lines.
#[derive(Debug)]
pub(crate) struct Notes {
    /// How many requests of each line were begun.
    lines: HashMap<TextId, u64>,
    batch: Batch,
    sender: SyncSender<Batch>,
    deliver_at: Timestamp,
}

impl Notes {
    pub(crate) fn new(sender: SyncSender<Batch>) -> Notes {
        Notes {
            lines: HashMap::new(),
            batch: Batch::default(),
            sender,
            deliver_at: clock::now() + INTERVAL,
        }
    }

    /// The name of a request line; a new one is handed over with the next batch.
    pub(crate) fn name_line(&mut self, line: &str) -> TextId {
        self.count_line(line, 0).0
    }

    /// Names the line of a request about to be sent, and returns whether the response is sampled.
    pub(crate) fn begin(&mut self, line: &str) -> (TextId, bool) {
        let (id, count) = self.count_line(line, 1);
        (id, is_sampled(count))
    }

    /// Adds to the requests of a line; returns the name, and the new number of requests.
    fn count_line(&mut self, line: &str, more: u64) -> (TextId, u64) {
        let id = TextId::of(line.as_bytes());
        if let Some(count) = self.lines.get_mut(&id) {
            *count += more;
            return (id, *count);
        }
        let kept = if self.lines.len() < LINES_MAX {
            line
        } else {
            line.split(' ').next().unwrap_or("")
        };
        let id = TextId::of(kept.as_bytes());
        let count = self.lines.entry(id).or_insert_with(|| {
            self.batch.texts.push((id, kept.to_owned()));
            0
        });
        *count += more;
        (id, *count)
    }

    pub(crate) fn add(&mut self, exchange: Exchange) {
        self.batch.exchanges.push(exchange);
        if self.batch.exchanges.len() >= WAITING_MAX {
            self.deliver_all();
        }
    }

    pub(crate) fn deliver_if_due(&mut self, now: Timestamp) {
        if now < self.deliver_at {
            return;
        }
        self.deliver_at = now + INTERVAL;
        if self.batch.exchanges.is_empty() {
            return;
        }
        let room = self.batch.exchanges.len();
        match self.sender.try_send(std::mem::take(&mut self.batch)) {
            // The next batch will be about as large.
            Ok(()) => self.batch.exchanges.reserve(room),
            Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                self.batch = batch;
            }
        }
    }

    /// Hands everything over, waiting for the receiver if need be.
    pub(crate) fn deliver_all(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        // Without a receiver nobody wants the exchanges any more.
        let _ = self.sender.send(batch);
    }
}

//! What a worker hands over, in batches.

use std::collections::HashSet;
use std::sync::mpsc::{SyncSender, TrySendError};

use recording::{Exchange, Nanos, TextId, Timestamp};

use crate::clock;
use crate::outcome::Batch;

/// How often a batch is handed over.
const INTERVAL: Nanos = Nanos(200_000_000);
/// Exchanges that may wait for a receiver that does not keep up; behind that the worker waits for it,
/// which shows as lateness.
const WAITING_MAX: usize = 1 << 18;

/// Gathers exchanges and new texts, and sends them when due.
#[derive(Debug)]
pub(crate) struct Outbox {
    batch: Batch,
    sender: SyncSender<Batch>,
    deliver_at: Timestamp,
}

impl Outbox {
    pub(crate) fn new(sender: SyncSender<Batch>) -> Outbox {
        Outbox {
            batch: Batch::default(),
            sender,
            deliver_at: clock::now() + INTERVAL,
        }
    }

    pub(crate) fn push(&mut self, exchange: Exchange) {
        self.batch.exchanges.push(exchange);
        if self.batch.exchanges.len() >= WAITING_MAX {
            self.deliver_all();
        }
    }

    /// The name of a request line; a line that is new to `known` is handed over too. Behind `max` known
    /// lines, new ones are named by their method alone.
    pub(crate) fn name_line(
        &mut self,
        known: &mut HashSet<TextId>,
        line: &str,
        max: usize,
    ) -> TextId {
        let id = TextId::of(line.as_bytes());
        if known.contains(&id) {
            return id;
        }
        let kept = if known.len() < max {
            line
        } else {
            line.split(' ').next().unwrap_or("")
        };
        let id = TextId::of(kept.as_bytes());
        if known.insert(id) {
            self.batch.texts.push((id, kept.to_owned()));
        }
        id
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

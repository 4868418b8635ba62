//! What one thread writes down: exchanges, handed over in batches, and what is added up to the end.

use std::collections::HashSet;
use std::sync::mpsc::{SyncSender, TrySendError};

use recording::{Exchange, Nanos, Outcome, TextId, Timestamp, Window};
use scenario::{Scenario, Tally};

use crate::clock;
use crate::connection::Connection;
use crate::failures::{Failed, Failures};
use crate::outcome::Batch;

/// How often a batch is handed over.
const INTERVAL: Nanos = Nanos(200_000_000);
/// Exchanges that may wait for a receiver that does not keep up; behind that the worker waits for it,
/// which shows as lateness.
const WAITING_MAX: usize = 1 << 18;

/// Distinct request lines a thread names; behind that, the line is the method alone.
const LINES_MAX: usize = 50_000;

/// What a worker leaves.
#[derive(Debug, Default)]
pub(crate) struct Share {
    pub(crate) cpu: Nanos,
    pub(crate) unsent: u64,
    pub(crate) failures: Failures,
    pub(crate) tally: Tally,
    pub(crate) checks_failed: u64,
    /// When it stopped sending before its time.
    pub(crate) stopped_at: Option<Timestamp>,
}

/// Writes down what happens.
pub(crate) struct Ledger<'a> {
    pub(crate) share: Share,
    scenario: &'a Scenario,
    window: Window,
    lines: HashSet<TextId>,
    batch: Batch,
    sender: SyncSender<Batch>,
    deliver_at: Timestamp,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(scenario: &'a Scenario, window: Window, sender: SyncSender<Batch>) -> Self {
        Ledger {
            share: Share::default(),
            scenario,
            window,
            lines: HashSet::new(),
            batch: Batch::default(),
            sender,
            deliver_at: clock::now() + INTERVAL,
        }
    }

    /// The name of a request line; a new one is handed over with the next batch.
    pub(crate) fn name_line(&mut self, line: &str) -> TextId {
        let id = TextId::of(line.as_bytes());
        if self.lines.contains(&id) {
            return id;
        }
        let kept = if self.lines.len() < LINES_MAX {
            line
        } else {
            line.split(' ').next().unwrap_or("")
        };
        let id = TextId::of(kept.as_bytes());
        if self.lines.insert(id) {
            self.batch.texts.push((id, kept.to_owned()));
        }
        id
    }

    /// Writes down how the connection's request ended.
    pub(crate) fn record(
        &mut self,
        connection: &Connection,
        answered: Timestamp,
        outcome: Outcome,
    ) {
        let request = connection.request;
        self.batch.exchanges.push(Exchange {
            id: request.id,
            due: request.due,
            sent: request.sent,
            answered,
            line: request.line,
            step: request.step,
            connection: connection.number,
            status: connection.reader.status(),
            outcome,
            body_bytes: connection.reader.body_bytes(),
        });
        if self.batch.exchanges.len() >= WAITING_MAX {
            self.deliver_all();
        }
    }

    /// Counts an answer that is as its flow demands towards the score.
    pub(crate) fn count_points(&mut self, connection: &Connection, answered: Timestamp) {
        let Some(score) = self.scenario.score() else {
            return;
        };
        if self.window.contains(connection.request.due) && self.window.contains(answered) {
            let user = &connection.user;
            let status = connection.reader.status();
            self.share
                .tally
                .count(score, user.line(), status, user.scored());
        }
    }

    pub(crate) fn count_failure(
        &mut self,
        connection: &Connection,
        outcome: Outcome,
        place: &str,
        reason: &str,
    ) {
        self.share.checks_failed += u64::from(outcome == Outcome::CheckFailed);
        let answer = connection.reader.answer(0);
        self.share.failures.count(&Failed {
            step: connection.request.step,
            outcome,
            line: connection.request.line,
            place,
            reason,
            request: connection.request_bytes(),
            response_head: answer.head,
            response_body: answer.body,
        });
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

    /// Hands over the rest.
    pub(crate) fn close(mut self) -> Share {
        self.deliver_all();
        self.share
    }

    /// Hands everything over, waiting for the receiver if need be.
    fn deliver_all(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        // Without a receiver nobody wants the exchanges any more.
        let _ = self.sender.send(batch);
    }
}

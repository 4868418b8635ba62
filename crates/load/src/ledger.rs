//! What one thread writes down: exchanges, handed over in batches, and what is added up to the end.

use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, TrySendError};

use recording::{Exchange, Nanos, Outcome, TextId, Timestamp, Window};
use scenario::{Scenario, Tally};

use crate::answers::{Answers, Seen, is_sampled};
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
    pub(crate) answers: Answers,
    /// When it stopped sending before its time.
    pub(crate) stopped_at: Option<Timestamp>,
}

/// Writes down what happens.
pub(crate) struct Ledger<'a> {
    pub(crate) share: Share,
    scenario: &'a Scenario,
    window: Window,
    /// How many requests of each line were begun.
    lines: HashMap<TextId, u64>,
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

    /// Names the line of a request that is being sent, and says whether its answer is looked at.
    pub(crate) fn begin(&mut self, line: &str) -> (TextId, bool) {
        let (id, count) = self.count_line(line, 1);
        (id, is_sampled(count))
    }

    /// Adds to the requests of a line; its name, and how many it has now.
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

    /// Looks at the connection's answer, if it belongs to the sample.
    pub(crate) fn look_at(&mut self, connection: &Connection) {
        if !connection.request.sampled {
            return;
        }
        self.share.answers.look_at(&Seen {
            line: connection.request.line,
            connection: connection.number,
            request: connection.request_bytes(),
            answer: connection.reader.answer(0),
            body: connection.reader.body_hash(),
            keeps_alive: connection.reader.keeps_alive(),
        });
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

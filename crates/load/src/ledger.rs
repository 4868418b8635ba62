//! Records of one thread: every exchange or the sums, and totals for the end.

use recording::{Exchange, Nanos, Outcome, TextId, Timestamp, Window};
use scenario::{Scenario, Tally};

use crate::answers::{Answers, Seen};
use crate::connection::Connection;
use crate::engine::Engine;
use crate::failures::{Failed, Failures};
use crate::figures::{Ended, Figures};
use crate::notes::Notes;
use crate::outcome::ThreadFault;
use crate::redact::Shown;
use crate::tables::Tables;

/// What a worker leaves.
#[derive(Debug, Default)]
pub(crate) struct Share {
    pub(crate) cpu: Nanos,
    /// Epoll or io_uring.
    pub(crate) engine: Engine,
    pub(crate) unsent: u64,
    /// Users there were at the end.
    pub(crate) users: u32,
    pub(crate) failures: Failures,
    pub(crate) tally: Tally,
    pub(crate) checks_failed: u64,
    pub(crate) answers: Answers,
    pub(crate) figures: Option<Box<Figures>>,
    /// Time of an early end of sending.
    pub(crate) stopped_at: Option<Timestamp>,
    /// Ended requests of any outcome, warm-up included.
    pub(crate) ended: u64,
    /// The first error of a thread, in the sum of all shares.
    pub(crate) fault: Option<ThreadFault>,
}

/// What is kept of requests.
#[derive(Debug)]
pub(crate) enum Book {
    /// Each exchange, for a recording.
    Notes(Notes),
    /// Sums only.
    Tables(Box<Tables>),
}

/// Writes down what happens.
pub(crate) struct Ledger<'a> {
    pub(crate) share: Share,
    scenario: &'a Scenario,
    window: Window,
    book: Book,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(scenario: &'a Scenario, window: Window, book: Book) -> Self {
        Ledger {
            share: Share::default(),
            scenario,
            window,
            book,
        }
    }

    /// Returns the ledger with a setting for bodies in examples of failures.
    #[must_use]
    pub(crate) fn keeping(mut self, shown: Shown) -> Self {
        self.share.failures.shown = shown;
        self
    }

    /// Returns whether exchanges are distinguished, so each needs a number.
    pub(crate) fn keeps_exchanges(&self) -> bool {
        matches!(self.book, Book::Notes(_))
    }

    /// Returns the name of a request line which was never sent.
    pub(crate) fn name_line(&mut self, line: &str) -> TextId {
        match &mut self.book {
            Book::Notes(notes) => notes.name_line(line),
            Book::Tables(_) => TextId::NONE,
        }
    }

    /// Names the line of a request about to be sent, and returns whether the response is sampled.
    pub(crate) fn begin(&mut self, line: &str) -> (TextId, bool) {
        match &mut self.book {
            Book::Notes(notes) => notes.begin(line),
            Book::Tables(_) => (TextId::NONE, false),
        }
    }

    /// Examines the connection's response, if sampled.
    pub(crate) fn look_at(&mut self, connection: &Connection) {
        if !connection.request.sampled {
            return;
        }
        self.share.answers.look_at(&Seen {
            line: connection.request.line,
            connection: connection.number,
            link: connection.link,
            request: connection.request_bytes(),
            answer: connection.answer(0),
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
        self.share.ended += 1;
        match &mut self.book {
            Book::Notes(notes) => notes.add(Exchange {
                id: request.id,
                due: request.due,
                sent: request.sent,
                answered,
                line: request.line,
                step: request.step,
                connection: connection.number,
                status: match request.is_unsent {
                    true => 0,
                    false => connection.status(),
                },
                outcome,
                body_bytes: connection.body_bytes(),
            }),
            Book::Tables(tables) => {
                let ended = Ended {
                    step: request.step,
                    outcome,
                    status: connection.status(),
                    latency: answered.since(request.due),
                    service: answered.since(request.sent),
                    lateness: request.was_free.then(|| request.sent.since(request.due)),
                    body_bytes: connection.body_bytes(),
                    was_sent: !request.is_unsent,
                };
                tables.add(request.due, answered, &ended);
            }
        }
    }

    /// Counts an established connection, with the time since the request for one.
    pub(crate) fn connected(&mut self, time: Nanos) {
        if let Book::Tables(tables) = &mut self.book {
            tables.connected(time);
        }
    }

    /// A TLS handshake is done.
    pub(crate) fn shook_hands(&mut self, time: Nanos) {
        if let Book::Tables(tables) = &mut self.book {
            tables.shook_hands(time);
        }
    }

    /// Adds a response as demanded by the flow to the score.
    pub(crate) fn count_points(&mut self, connection: &Connection, answered: Timestamp) {
        let Some(score) = self.scenario.score() else {
            return;
        };
        if self.window.contains(connection.request.due) && self.window.contains(answered) {
            let user = &connection.user;
            let status = connection.status();
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
        let answer = connection.answer(0);
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

    pub(crate) fn deliver_if_due(&mut self, now: Timestamp, in_flight: usize) {
        match &mut self.book {
            Book::Notes(notes) => notes.deliver_if_due(now),
            Book::Tables(tables) => tables.deliver_if_due(now, in_flight),
        }
    }

    /// Hands over the rest.
    pub(crate) fn close(mut self) -> Share {
        match self.book {
            Book::Notes(mut notes) => notes.deliver_all(),
            Book::Tables(mut tables) => {
                tables.deliver(0);
                self.share.figures = Some(tables.figures);
            }
        }
        self.share
    }
}

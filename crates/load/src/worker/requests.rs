//! The way of one request through a worker: taken in hand, sent, completed or failed, written down.

use std::cmp::Reverse;

use recording::{Nanos, Outcome, TextId, Timestamp};
use scenario::{Over, Verdict};

use super::{MEAN_PART, Worker};
use crate::clock;
use crate::connection::{Phase, Request};
use crate::failures::not_connected;

/// Back-off of a closed load after an immediate failure, so a refused connection does not become a
/// busy loop.
const FAILURE_BACKOFF: Nanos = Nanos(100_000_000);
/// Bytes of a body to store without a check in need of the body: enough for an example of a
/// failure.
const EXAMPLE_BODY_BYTES: usize = 2048;

impl Worker<'_> {
    /// Takes a due request in hand and sends the request as soon as there is a connection.
    pub(super) fn start(&mut self, index: usize, due: Timestamp) {
        let id = self.ids.next(due);
        if self.task.routes.has_several() {
            self.take_way(index);
        }
        let connection = &mut self.connections[index];
        connection.request = Request {
            id,
            due,
            sent: due,
            was_free: connection.is_open() && connection.free_since <= due,
            ..Request::default()
        };
        connection.phase = Phase::Connecting;
        self.in_flight += 1;
        if self.is_http2() {
            return self.start_on_stream(index);
        }
        let connection = &mut self.connections[index];
        if connection.is_open() {
            self.send(index);
            return;
        }
        if self.task.session.needs_socket(&mut connection.user) {
            let lost = connection.lost.take();
            let gone = || {
                let why = "the WebSocket was closed";
                Box::new((Outcome::Disconnected, why.to_owned()))
            };
            let (outcome, why) = *lost.unwrap_or_else(gone);
            connection.request.over = Over::WebSocket;
            connection.user.say_nothing();
            return self.fail(index, outcome, &why);
        }
        // What it knows of the last answer is none of a request that may never be sent.
        connection.reader.expect(false, 0, false);
        let now = clock::now();
        connection.request.wished = now;
        connection.request.deadline = now + self.task.plan.connect_timeout;
        let route = self.task.routes.of_link(connection.link);
        if let Err(error) = connection.connect(route, &self.poller, index) {
            self.fail(index, Outcome::ConnectFailed, &not_connected(&error));
        }
    }

    /// Closes a connection leading another way than the user's next request goes.
    fn take_way(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let link = self.task.session.link(&mut connection.user);
        if connection.link != link {
            connection.close();
            connection.link = link;
        }
    }

    pub(super) fn send(&mut self, index: usize) {
        let session = self.task.session;
        let connection = &mut self.connections[index];
        let needs_body = session.needs_body(&mut connection.user);
        let id = connection.request.id;
        let id = (self.ledger.keeps_exchanges() && !id.is_none()).then_some(id.0);
        let (user, out) = connection.new_request();
        let before = out.len();
        let prepared = match session.render(user, id, out) {
            Ok(prepared) => prepared,
            Err(why) => {
                connection.reader.expect(false, 0, false);
                self.fail_unsent(index, &why.to_string());
                return;
            }
        };
        let (step, is_head, over) = (prepared.step, prepared.is_head, prepared.over);
        let limit = prepared.within_ns.map(Nanos);
        let message_bytes = out.len() - before;
        let (line, sampled) = self.ledger.begin(prepared.line);
        let sampled = sampled && over == Over::Http;
        let keep = if needs_body {
            usize::MAX
        } else {
            EXAMPLE_BODY_BYTES
        };
        connection.reader.expect(is_head, keep, sampled);
        if over == Over::Upgrade {
            connection.reader.allow_upgrade();
        }
        connection.phase = Phase::InFlight;
        let sent = clock::now();
        connection.request = Request {
            sent,
            line,
            step,
            over,
            sampled,
            deadline: sent + limit.unwrap_or(self.task.plan.answer_timeout),
            ..connection.request
        };
        if self.is_http2() {
            return match over {
                Over::Http => self.put_on_stream(index),
                _ => self.fail_unsent(index, "WebSockets do not go over HTTP/2; leave --http2 out"),
            };
        }
        let connection = &mut self.connections[index];
        if connection.begin_message(message_bytes) {
            self.aside.push(index);
        }
        if let Err(error) = connection.write() {
            self.fail(
                index,
                Outcome::Disconnected,
                &format!("while sending: {error}"),
            );
        }
        self.note_rest(index);
    }

    /// The answer in the connection's reader is complete.
    pub(super) fn complete(&mut self, index: usize) {
        let answered = clock::now();
        let session = self.task.session;
        let connection = &mut self.connections[index];
        let request = connection.request;
        let place = session.place(&mut connection.user);
        let verdict = connection.judge(session, answered.since(request.sent).0);
        let (outcome, reason) = match &verdict {
            Verdict::Passed | Verdict::Again(_) => (Outcome::Ok, ""),
            Verdict::CheckFailed(reason) => (Outcome::CheckFailed, reason.as_str()),
            Verdict::ServerError(reason) => (Outcome::ServerError, reason.as_str()),
            Verdict::BadAnswer(reason) => (Outcome::BadAnswer, reason.as_str()),
            Verdict::NotYet(_) => {
                let reason = verdict.into_reason().unwrap_or_default();
                return connection.pass_over(reason);
            }
        };
        if verdict == Verdict::Passed {
            self.ledger.count_points(&self.connections[index], answered);
        } else if outcome != Outcome::Ok {
            let connection = &self.connections[index];
            self.ledger
                .count_failure(connection, outcome, place, reason);
        }
        self.ledger.look_at(&self.connections[index]);
        self.record(index, answered, outcome);
        let connection = &mut self.connections[index];
        let ended = match connection.is_web_socket() {
            true => connection.user.is_between(),
            false => !self.task.plan.keep_alive,
        };
        if ended {
            connection.close();
        }
        self.next_of(index, answered);
    }

    /// Ends the request in hand without a complete response; the connection is of no more use.
    pub(super) fn fail(&mut self, index: usize, outcome: Outcome, reason: &str) {
        let cost_no_time = outcome == Outcome::ConnectFailed;
        self.end_failed(index, outcome, reason, cost_no_time);
    }

    /// Ends a request which could not be rendered or sent.
    fn fail_unsent(&mut self, index: usize, why: &str) {
        let request = &mut self.connections[index].request;
        request.is_unsent = true;
        // Recordings know it by that.
        request.sent = request.due;
        let reason = format!("not sent: {why}");
        self.end_failed(index, Outcome::CheckFailed, &reason, true);
    }

    /// Ends a failed request; in a closed load, the user's next request waits after a failure
    /// without cost of time.
    fn end_failed(&mut self, index: usize, outcome: Outcome, reason: &str, cost_no_time: bool) {
        let answered = clock::now();
        let session = self.task.session;
        if self.is_http2() {
            self.leave_stream(index);
        }
        self.name_request(index);
        let connection = &mut self.connections[index];
        let place = session.place(&mut connection.user);
        session.give_up(&mut connection.user);
        self.ledger
            .count_failure(connection, outcome, place, reason);
        connection.close();
        self.record(index, answered, outcome);
        match self.pacer {
            None if cost_no_time && self.sending => {
                let user = &mut self.connections[index].user;
                let delay = match user.is_trying_again() {
                    true => Nanos(session.delay_ns(user)),
                    false => Nanos::ZERO,
                };
                let wait = FAILURE_BACKOFF.max(delay);
                self.wakeups.push(Reverse((answered + wait, index)));
            }
            _ => self.next_of(index, answered),
        }
    }

    /// Names a request never rendered by the line in the flow.
    fn name_request(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if connection.request.line == TextId::NONE {
            let (step, line) = self.task.session.current(&mut connection.user);
            connection.request.step = step;
            connection.request.line = self.ledger.name_line(line);
        }
    }

    pub(super) fn leave_unanswered(&mut self, index: usize, now: Timestamp) {
        self.name_request(index);
        if self.is_http2() {
            self.leave_stream(index);
        }
        self.connections[index].close();
        self.record(index, now, Outcome::Unanswered);
    }

    fn record(&mut self, index: usize, answered: Timestamp, outcome: Outcome) {
        let connection = &mut self.connections[index];
        connection.phase = Phase::Free;
        connection.free_since = answered;
        self.in_flight -= 1;
        let service = answered.since(connection.request.sent);
        if let Some(level) = self.task.level {
            level.note(outcome == Outcome::Ok, service, answered);
        }
        self.service_mean =
            Nanos(self.service_mean.0 / MEAN_PART * (MEAN_PART - 1) + service.0 / MEAN_PART);
        self.ledger.record(connection, answered, outcome);
    }
}

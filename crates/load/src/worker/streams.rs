//! Requests over HTTP/2: users share connections, and each request has a stream.
//!
//! There are as many groups on each way to the server. The users of one group wait in a queue for
//! its connection, and there for a free stream. A connection that the server says goodbye on
//! carries the responses that it still owes, while a new one is made for the requests that it has
//! not taken.

use std::collections::VecDeque;
use std::io;

use recording::Outcome;

use super::Worker;
use crate::carrier::{Carrier, Read2};
use crate::clock;
use crate::connection::{Connection, Phase, Request};
use crate::failures::not_connected;
use crate::http1::AnswerReader;
use crate::http2::{End, Readers};
use crate::poller::Ready;

/// How often a request is sent again because a server went without taking any at all.
const SENT_AGAIN_MAX: u8 = 5;

/// All connections of HTTP/2 of a worker.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    groups: Vec<Group>,
    /// Carriers by number of opening; `None` where free.
    all: Vec<Option<Carrier>>,
    /// Number of carriers.
    open: usize,
    /// Carriers with bytes to write at the end of the turn.
    unwritten: Vec<usize>,
}

/// Users sharing a connection.
#[derive(Debug, Default)]
struct Group {
    /// Carrier taking requests now, or soon.
    current: Option<usize>,
    /// Users whose request waits for a stream.
    waiting: VecDeque<usize>,
}

impl Readers for Vec<Connection> {
    fn reader(&mut self, user: usize) -> &mut AnswerReader {
        &mut self[user].reader
    }
}

impl Carriers {
    /// Returns the number of connections, established or not.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    fn carrier(&self, index: Option<usize>) -> Option<&Carrier> {
        self.all.get(index?)?.as_ref()
    }

    pub(super) fn carrier_mut(&mut self, index: usize) -> Option<&mut Carrier> {
        self.all.get_mut(index)?.as_mut()
    }

    /// Returns whether a request of the group could be sent at once.
    fn has_room(&self, group: usize) -> bool {
        let current = self.groups.get(group).and_then(|group| group.current);
        let session = self.carrier(current).and_then(|one| one.session.as_ref());
        session.is_some_and(|session| session.has_room())
    }

    /// A number for a new connection.
    fn free_index(&mut self) -> usize {
        let free = self.all.iter().position(Option::is_none);
        free.unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() - 1
        })
    }

    /// Lets a connection be written to at the end of the turn.
    fn note_unwritten(&mut self, index: usize) {
        if self.unwritten.last() != Some(&index) {
            self.unwritten.push(index);
        }
    }

    /// Closes a connection.
    fn drop_carrier(&mut self, index: usize) {
        if let Some(carrier) = self.all.get_mut(index).and_then(Option::take) {
            self.open -= 1;
            let current = &mut self.groups[carrier.group].current;
            *current = current.filter(|one| *one != index);
        }
    }
}

impl Worker<'_> {
    /// Number of connections on one way to the server.
    fn groups_each(&self) -> usize {
        let streams = self.task.plan.streams.max(1);
        self.task.connections_max.div_ceil(streams).max(1) as usize
    }

    /// Returns the group of a user on the way of the user's current request.
    fn group_of(&self, user: usize) -> usize {
        let of_way = usize::from(self.connections[user].link) * self.groups_each();
        of_way + user / self.task.plan.streams.max(1) as usize
    }

    /// Whether users share connections.
    pub(super) fn is_http2(&self) -> bool {
        self.task.plan.streams > 0
    }

    /// Takes a due request in hand and sends the request as soon as there is a stream.
    pub(super) fn start_on_stream(&mut self, user: usize) {
        let group = self.group_of(user);
        if self.carriers.groups.len() <= group {
            self.carriers.groups.resize_with(group + 1, Group::default);
        }
        let has_room = self.carriers.has_room(group);
        let now = clock::now();
        let connection = &mut self.connections[user];
        connection.reader.expect(false, 0, false);
        let limit = match has_room {
            true => self.task.plan.answer_timeout,
            false => self.task.plan.connect_timeout,
        };
        connection.request = Request {
            was_free: has_room && connection.free_since <= connection.request.due,
            wished: now,
            deadline: now + limit,
            ..connection.request
        };
        self.carriers.groups[group].waiting.push_back(user);
        self.serve(group);
    }

    /// Sends waiting requests of a group, as far as the connection has room; connects when there is
    /// no connection.
    fn serve(&mut self, group: usize) {
        while let Some(user) = self.carriers.groups[group].waiting.front().copied() {
            let Some(index) = self.carriers.groups[group].current else {
                match self.open_carrier(group) {
                    Ok(()) => return,
                    Err(error) => return self.cannot_carry(group, &error),
                }
            };
            if !self.carriers.has_room(group) {
                return;
            }
            self.carriers.groups[group].waiting.pop_front();
            self.connections[user].on_carrier = Some(index);
            // Renders, and comes back by `put_on_stream` when there is something to send.
            self.send(user);
        }
    }

    fn open_carrier(&mut self, group: usize) -> io::Result<()> {
        let index = self.carriers.free_index();
        let link = u16::try_from(group / self.groups_each()).unwrap_or_default();
        let route = self.task.routes.of_link(link);
        let carrier = Carrier::connect(route, &self.poller, (index, group), clock::now())?;
        self.carriers.all[index] = Some(carrier);
        self.carriers.open += 1;
        self.carriers.groups[group].current = Some(index);
        Ok(())
    }

    /// Ends all requests waiting for a connection which cannot be established.
    fn cannot_carry(&mut self, group: usize, error: &io::Error) {
        if let Some(index) = self.carriers.groups[group].current {
            self.carriers.drop_carrier(index);
        }
        let why = not_connected(error);
        for user in std::mem::take(&mut self.carriers.groups[group].waiting) {
            self.fail(user, Outcome::ConnectFailed, &why);
        }
    }

    /// Opens a stream for the request rendered by `user`.
    pub(super) fn put_on_stream(&mut self, user: usize) {
        let connection = &self.connections[user];
        let Some(index) = connection.on_carrier else {
            return;
        };
        let carrier = self.carriers.all[index].as_mut();
        if let Some(session) = carrier.and_then(|carrier| carrier.session.as_mut()) {
            session.open(user, connection.request_bytes());
            self.carriers.note_unwritten(index);
        }
    }

    /// Removes an ending request from the stream, or from the queue.
    pub(super) fn leave_stream(&mut self, user: usize) {
        if let Some(index) = self.connections[user].on_carrier.take() {
            if let Some(carrier) = self.carriers.carrier_mut(index)
                && let Some(session) = &mut carrier.session
            {
                session.give_up(user);
                self.carriers.note_unwritten(index);
            }
            return;
        }
        let now = clock::now();
        let group = self.group_of(user);
        let Some(group) = self.carriers.groups.get_mut(group) else {
            return;
        };
        group.waiting.retain(|waiting| *waiting != user);
        let current = group.current;
        let limit = self.task.plan.connect_timeout;
        let is_late =
            |carrier: &Carrier| carrier.session.is_none() && now >= carrier.wished + limit;
        if let Some(index) = current
            && self.carriers.carrier(current).is_some_and(is_late)
        {
            self.carriers.drop_carrier(index);
        }
    }

    /// Returns the outcome of a request not taken by any stream in time.
    pub(super) fn unsent_too_long(&self, user: usize) -> (Outcome, &'static str) {
        let group = self.carriers.groups.get(self.group_of(user));
        let carrier = group.and_then(|group| self.carriers.carrier(group.current));
        match carrier {
            Some(carrier) if carrier.session.is_some() => {
                (Outcome::TimedOut, "no stream was free within the limit")
            }
            _ => (Outcome::ConnectFailed, "no connection within the limit"),
        }
    }

    /// Writes the bytes gathered in the turn; returns whether new requests became due.
    pub(super) fn write_streams(&mut self) -> bool {
        while let Some(index) = self.carriers.unwritten.pop() {
            let Some(carrier) = self.carriers.carrier_mut(index) else {
                continue;
            };
            if let Err(error) = carrier.write() {
                // What the server said before it went is worth more.
                self.read_carrier(index, true);
                self.lose_carrier(
                    index,
                    Outcome::Disconnected,
                    &format!("while sending: {error}"),
                );
            }
            self.note_rest(index);
        }
        !self.due.is_empty()
    }

    pub(super) fn on_carrier_event(&mut self, event: Ready) {
        let index = event.index;
        let Some(carrier) = self.carriers.carrier_mut(index) else {
            return;
        };
        let group = carrier.group;
        if carrier.session.is_none() {
            match self.go_on_carrying(index) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return self.cannot_carry(group, &error),
            }
        }
        if event.writable
            && self
                .carriers
                .carrier(Some(index))
                .is_some_and(Carrier::has_unwritten)
        {
            self.carriers.note_unwritten(index);
        }
        if event.readable {
            self.read_carrier(index, event.ended);
        }
        self.serve(group);
    }

    /// Goes on with connecting; whether HTTP/2 can begin.
    fn go_on_carrying(&mut self, index: usize) -> io::Result<bool> {
        let Some(carrier) = self.carriers.carrier_mut(index) else {
            return Ok(false);
        };
        if carrier.connected.is_none() {
            if !carrier.is_connected()? {
                return Ok(false);
            }
            let now = clock::now();
            carrier.connected = Some(now);
            self.ledger.connected(now.since(carrier.wished));
        }
        if !carrier.shake_hands(self.task.plan.head_bytes_max)? {
            return Ok(false);
        }
        let now = clock::now();
        if carrier.is_tls()
            && let Some(connected) = carrier.connected
        {
            self.ledger.shook_hands(now.since(connected));
        }
        let group = carrier.group;
        self.carriers.note_unwritten(index);
        // From now on they wait for an answer.
        for user in &self.carriers.groups[group].waiting {
            self.connections[*user].request.deadline = now + self.task.plan.answer_timeout;
        }
        Ok(true)
    }

    fn read_carrier(&mut self, index: usize, half_closed: bool) {
        let Some(carrier) = self.carriers.carrier_mut(index) else {
            return;
        };
        let group = carrier.group;
        let mut buffer = std::mem::take(&mut self.read_buffer);
        let reading = match self.carriers.all[index].as_mut() {
            Some(carrier) => carrier.read(&mut buffer, half_closed, &mut self.connections),
            None => Read2::Pending,
        };
        self.read_buffer = buffer;
        self.end_streams(index, group);
        match reading {
            Read2::Pending => {}
            Read2::Closed => return self.lose_carrier(index, Outcome::Disconnected, ""),
            Read2::Broken(why) => return self.lose_carrier(index, Outcome::BadAnswer, why),
        }
        let Some(session) = self
            .carriers
            .carrier(Some(index))
            .and_then(|one| one.session.as_ref())
        else {
            return;
        };
        let (is_over, is_idle) = (session.is_over(), session.is_idle());
        if is_over {
            let current = &mut self.carriers.groups[group].current;
            *current = current.filter(|one| *one != index);
        }
        match is_over && is_idle {
            true => self.carriers.drop_carrier(index),
            // What it is to be told: acknowledgements, windows.
            false => self.carriers.unwritten.push(index),
        }
    }

    /// Records the outcomes of ended streams.
    fn end_streams(&mut self, index: usize, group: usize) {
        let Some(session) = self
            .carriers
            .carrier_mut(index)
            .and_then(|one| one.session.as_mut())
        else {
            return;
        };
        let mut ended = std::mem::take(&mut session.ended);
        let mut again = Vec::new();
        for (user, end) in ended.drain(..) {
            self.connections[user].on_carrier = None;
            match end {
                End::Complete => self.complete(user),
                End::Bad(_) | End::Reset(_) | End::Refused(_) => {
                    let (outcome, why) = end.failure();
                    self.fail(user, outcome, &why);
                }
                End::NotTaken { none } => {
                    self.connections[user].request.sent_again += u8::from(none);
                    again.push(user);
                }
            }
        }
        if let Some(session) = self
            .carriers
            .carrier_mut(index)
            .and_then(|one| one.session.as_mut())
        {
            session.ended = ended;
        }
        // They come before what became due later.
        for user in again.into_iter().rev() {
            self.send_again(user, group);
        }
    }

    /// Requeues a request not taken by the server, with the old due time.
    fn send_again(&mut self, user: usize, group: usize) {
        let connection = &mut self.connections[user];
        if connection.request.sent_again > SENT_AGAIN_MAX {
            let why = "the server took no request on six connections";
            return self.fail(user, Outcome::Disconnected, why);
        }
        if !self.sending {
            return self.leave_unanswered(user, clock::now());
        }
        connection.phase = Phase::Connecting;
        connection.request.deadline = clock::now() + self.task.plan.connect_timeout;
        self.carriers.groups[group].waiting.push_front(user);
    }

    /// Closes a connection, and ends all requests under way there.
    fn lose_carrier(&mut self, index: usize, outcome: Outcome, why: &str) {
        let Some(carrier) = self.carriers.carrier_mut(index) else {
            return;
        };
        let session = carrier.session.as_ref();
        let users: Vec<usize> = session.map_or_else(Vec::new, |session| session.users().collect());
        self.carriers.drop_carrier(index);
        for user in users {
            let connection = &mut self.connections[user];
            connection.on_carrier = None;
            let why = match (why, connection.reader.status()) {
                ("", 0) => "closed before the answer began",
                ("", _) => "closed before the answer was complete",
                _ => why,
            };
            self.fail(user, outcome, why);
        }
    }

    /// Closes all connections.
    pub(super) fn close_carriers(&mut self) {
        self.carriers = Carriers::default();
    }
}

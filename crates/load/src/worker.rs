//! One thread of a load: an event loop over a share of the connections.
//!
//! The way of a request: it becomes due (its user's last answer came, or the pacer's tick); it is
//! rendered and written within the same turn of the loop, together with all others that became due
//! in it; its answer is read in pieces as they come; when complete, it is stamped, judged and
//! recorded, and the user's next request becomes due. Nothing is allocated on this way unless a
//! template or a check needs it.

mod ending;
mod messages;
mod requests;
mod slow;
mod streams;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::AtomicBool;

use recording::{Nanos, Outcome, Timestamp, Window};
use scenario::{Scenario, Session};

use crate::clock;
use crate::connection::{Connection, Phase, Reading};
use crate::engine::Engine;
use crate::failures::not_connected;
use crate::http1::Limits;
use crate::ids::Ids;
use crate::ledger::{Book, Ledger};
use crate::level::Level;
use crate::plan::Plan;
use crate::poller::{Gather, Poller, Ready};
use crate::redact::Shown;
use crate::route::Routes;
use crate::schedule::{Pacer, Schedule};

/// Bytes one read may bring; found by experiment not to matter between 16 and 256 KiB.
const READ_BYTES: usize = 64 * 1024;
/// Interval of looking through requests in flight for ones to give up.
const SWEEP: Nanos = Nanos(10_000_000);
/// How often a load rises.
const LEVEL_EVERY: Nanos = Nanos(1_000_000_000);
/// Limits of gathering (closed loads only): `DENSE` is the longest mean gap between responses,
/// `GATHER_FROM` the least number of requests in flight (over HTTP/2, of connections with some)
/// from which responses are awaited together; then `1 / GATHER_SHARE` of the number in flight, for
/// at most `1 / GATHER_PART` of the mean latency and never longer than `GATHER_MAX`. Found by
/// experiment: at 1,000 connections on io_uring waits of 50, 100, 200 and 500 µs gave 1.4, 1.5, 1.6
/// and 1.8 × the responses a CPU second; on epoll 250 µs gave 1.16 ×, and a server that need not
/// wake us for each answer 1.1 × the throughput. At 50 connections a third of them for a seventh
/// gave 1.39 × wrk's responses a CPU second where a quarter for a sixteenth gave 1.23 ×, at its
/// p50.
const DENSE: Nanos = Nanos(50_000);
const GATHER_FROM: usize = 16;
const GATHER_SHARE: usize = 3;
const GATHER_PART: u64 = 7;
const GATHER_MAX: Nanos = Nanos(250_000);
/// An answer's weight in the running mean of the time from sent to answered.
const MEAN_PART: u64 = 64;

/// What a worker is given.
pub(crate) struct Task<'a> {
    pub(crate) plan: &'a Plan,
    /// Epoll or io_uring.
    pub(crate) engine: Engine,
    pub(crate) scenario: &'a Scenario,
    pub(crate) session: &'a Session<'a>,
    pub(crate) routes: &'a Routes,
    pub(crate) stop: &'a AtomicBool,
    /// Set by the first thread with an error, which ends the others as `stop` does.
    pub(crate) failed: &'a AtomicBool,
    pub(crate) window: Window,
    pub(crate) start: Timestamp,
    /// `None`: a closed load.
    pub(crate) schedule: Option<&'a Schedule>,
    /// Index of the thread, from zero.
    pub(crate) number: u32,
    /// Connections at the begin of a closed load.
    pub(crate) connections: u32,
    /// Greatest number of connections.
    pub(crate) connections_max: u32,
    /// State of a rising load; `None` for a load with constant users.
    pub(crate) level: Option<&'a Level>,
    /// New users per second on the thread, in a rising load.
    pub(crate) level_share: u32,
    /// Number of the thread's first connection.
    pub(crate) connection_first: u32,
    /// High bits of all request numbers of the run.
    pub(crate) id_base: u64,
}

/// The event loop's state.
pub(crate) struct Worker<'a> {
    task: Task<'a>,
    poller: Poller,
    connections: Vec<Connection>,
    /// Where users share connections.
    carriers: streams::Carriers,
    /// Free connections of an open load; the one used last comes first, so few stay warm.
    idle: Vec<usize>,
    /// Think times and retries: when, and which connection. At most one for each.
    wakeups: BinaryHeap<Reverse<(Timestamp, usize)>>,
    /// Users of a closed load with a next request due in the current turn, and the due time: sent
    /// together, so the server is not woken for each one.
    due: Vec<(usize, Timestamp)>,
    /// Connections whose next message may have come already.
    aside: Vec<usize>,
    /// Connections, or carriers, held back by a limit of the rate, each with the end of the rest.
    resting: slow::Resting,
    /// `None`: a closed load.
    pacer: Option<Pacer<'a>>,
    in_flight: usize,
    /// Running mean of sent → answered.
    service_mean: Nanos,
    ids: Ids,
    read_buffer: Vec<u8>,
    ledger: Ledger<'a>,
    sweep_at: Timestamp,
    /// When the load may rise next.
    level_at: Timestamp,
    cpu_at_start: Option<Nanos>,
    sending: bool,
}

impl<'a> Worker<'a> {
    /// Returns a worker; to be called on the thread of the worker.
    pub(crate) fn new(task: Task<'a>, book: Book) -> io::Result<Worker<'a>> {
        let plan = task.plan;
        let recorded = task.scenario.due_ns();
        let pacer = |schedule| Pacer::of_plan(schedule, recorded, plan, task.number);
        Ok(Worker {
            pacer: task.schedule.map(pacer),
            resting: slow::Resting::of(task.routes),
            sweep_at: task.start,
            level_at: task.start + LEVEL_EVERY,
            ledger: Ledger::new(task.scenario, task.window, book)
                .keeping(Shown::kept(plan.keep_bodies)),
            poller: Poller::new(task.engine)?,
            ids: Ids::new(
                task.id_base,
                plan.numbered,
                plan.seed,
                task.start,
                (task.number, plan.threads),
            ),
            task,
            connections: Vec::new(),
            carriers: streams::Carriers::default(),
            idle: Vec::new(),
            aside: Vec::new(),
            wakeups: BinaryHeap::new(),
            due: Vec::new(),
            in_flight: 0,
            service_mean: Nanos::ZERO,
            read_buffer: vec![0; READ_BYTES],
            cpu_at_start: None,
            sending: true,
        })
    }

    /// Sends and reads to the end of the plan.
    fn go_on(&mut self) -> io::Result<()> {
        let mut ready = Vec::new();
        if self.pacer.is_none() {
            for _ in 0..self.task.connections {
                let index = self.add_connection();
                self.next_of(index, self.task.start);
            }
        }
        let drain_end = self.task.window.end + self.task.plan.drain;
        loop {
            let now = clock::now();
            self.mark_window(now);
            let stopped = self.is_stopped();
            if self.sending && (stopped || now >= self.task.window.end) {
                if !stopped {
                    // This turn may come late: what was due until the end and has a free user is
                    // sent late, not left.
                    self.work_off(self.task.window.end.before());
                }
                self.end_sending(now, stopped);
            }
            if !self.sending && (self.in_flight == 0 || stopped || now >= drain_end) {
                break;
            }
            self.work_off(now);
            self.sweep(now);
            self.level_up(now);
            self.send_due();
            while self.look_aside() || self.write_streams() {
                self.send_due();
            }
            self.ledger.deliver_if_due(now, self.in_flight);
            self.poller
                .wait(self.wake_at(), self.gather(), &mut ready)?;
            for event in ready.drain(..) {
                self.on_event(event);
            }
            self.send_due();
        }
        Ok(())
    }

    fn mark_window(&mut self, now: Timestamp) {
        if self.cpu_at_start.is_none() && now >= self.task.window.start {
            self.cpu_at_start = Some(clock::thread_cpu());
        }
    }

    fn tick_due(&self) -> Option<Timestamp> {
        let due = self.pacer.as_ref()?.due()?;
        Some(self.task.start + due)
    }

    fn next_tick(&mut self) {
        if let Some(pacer) = &mut self.pacer {
            pacer.advance();
        }
    }

    /// Starts due work: ended think times, and ticks with a free user.
    fn work_off(&mut self, now: Timestamp) {
        self.go_on_resting(now);
        while let Some(Reverse((at, index))) = self.wakeups.peek().copied()
            && at <= now
        {
            self.wakeups.pop();
            match self.pacer {
                None => self.start(index, at),
                Some(_) => self.idle.push(index),
            }
        }
        while self.sending
            && let Some(due) = self.tick_due().filter(|due| *due <= now)
            && let Some(index) = self.free_connection()
        {
            self.next_tick();
            self.start(index, due);
        }
    }

    fn free_connection(&mut self) -> Option<usize> {
        let room = self.connections.len() < self.task.connections_max as usize;
        match self.idle.pop() {
            None if room => Some(self.add_connection()),
            found => found,
        }
    }

    fn add_connection(&mut self) -> usize {
        let index = self.connections.len();
        let number = self.task.connection_first + index as u32;
        let limits = Limits {
            head_bytes: self.task.plan.head_bytes_max,
            body_bytes: self.task.plan.body_bytes_max,
        };
        let user = self.task.session.user(number);
        self.connections.push(Connection::new(user, number, limits));
        index
    }

    /// Schedules the next request of a user free since `now`.
    fn next_of(&mut self, index: usize, now: Timestamp) {
        if !self.sending || now >= self.task.window.end {
            return;
        }
        let user = &mut self.connections[index].user;
        let delay = Nanos(self.task.session.delay_ns(user));
        if delay > Nanos::ZERO {
            self.wakeups.push(Reverse((now + delay, index)));
            return;
        }
        match self.pacer {
            None => self.due.push((index, now)),
            // A tick that waits for a user is taken by the next turn of the loop, which comes at
            // once.
            Some(_) => self.idle.push(index),
        }
    }

    fn send_due(&mut self) {
        let mut place = 0;
        // One that fails at once may be due again.
        while let Some((index, due)) = self.due.get(place).copied() {
            place += 1;
            self.start(index, due);
        }
        self.due.clear();
    }

    fn on_event(&mut self, event: Ready) {
        self.note_end(event);
        match self.is_http2() {
            true => self.on_carrier_event(event),
            false => self.on_connection_event(event),
        }
        self.note_rest(event.index);
    }

    fn on_connection_event(&mut self, event: Ready) {
        let index = event.index;
        let connection = &mut self.connections[index];
        if !connection.is_open() {
            return;
        }
        if connection.phase == Phase::Connecting && !self.go_on_connecting(index) {
            return;
        }
        let connection = &mut self.connections[index];
        // A connection at rest has written all, but for what a WebSocket says by itself.
        if event.writable && connection.phase != Phase::Connecting && !connection.is_written() {
            // An error shows when reading too. A server may refuse a body before it has all of it,
            // and then its answer is there to be read.
            let _ = connection.write();
        }
        if event.readable {
            self.on_readable(index, event.ended);
        }
    }

    /// Continues connecting, and sends when connected; returns whether there is something to read.
    fn go_on_connecting(&mut self, index: usize) -> bool {
        let connection = &mut self.connections[index];
        if connection.request.connected.is_none() {
            match connection.connected() {
                Ok(true) => {
                    let now = clock::now();
                    let wished = connection.request.wished;
                    connection.request.connected = Some(now);
                    self.ledger.connected(now.since(wished));
                }
                Ok(false) => return false,
                Err(error) => return self.cannot_connect(index, &error),
            }
        }
        match connection.shake_hands() {
            Ok(true) => {
                if connection.is_tls()
                    && let Some(connected) = connection.request.connected
                {
                    self.ledger.shook_hands(clock::now().since(connected));
                }
                self.send(index);
                true
            }
            Ok(false) => false,
            Err(error) => self.cannot_connect(index, &error),
        }
    }

    fn cannot_connect(&mut self, index: usize, error: &io::Error) -> bool {
        self.fail(index, Outcome::ConnectFailed, &not_connected(error));
        false
    }

    fn on_readable(&mut self, index: usize, half_closed: bool) {
        if self.connections[index].is_web_socket() {
            return self.on_messages(index, half_closed);
        }
        let connection = &mut self.connections[index];
        let reading = connection.read(&mut self.read_buffer, half_closed);
        let in_flight = connection.phase == Phase::InFlight;
        match reading {
            Reading::Pending => {}
            Reading::Complete if in_flight => {
                self.complete(index);
                // What came behind the answer that opened it.
                self.on_messages(index, half_closed);
            }
            Reading::Closed if in_flight => {
                let why = match connection.reader.status() {
                    0 => "closed before the answer began",
                    _ => "closed before the answer was complete",
                };
                self.fail(index, Outcome::Disconnected, why);
            }
            Reading::Bad(why) if in_flight => self.fail(index, Outcome::BadAnswer, why),
            // A free connection that the server closed is opened again when it is needed.
            _ => connection.close(),
        }
    }

    /// Gives up requests over the time limit.
    fn sweep(&mut self, now: Timestamp) {
        if now < self.sweep_at {
            return;
        }
        self.sweep_at = now + SWEEP;
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            if connection.phase == Phase::Free || now < connection.request.deadline {
                continue;
            }
            if connection.phase == Phase::Connecting {
                let (outcome, why) = self.unsent_too_long(index);
                self.fail(index, outcome, why);
            } else {
                let (outcome, why) = connection.too_late();
                self.fail(index, outcome, &why);
            }
        }
    }

    /// Lets users come while nothing goes wrong.
    fn level_up(&mut self, now: Timestamp) {
        let Some(level) = self.task.level else {
            return;
        };
        while self.sending && now >= self.level_at {
            self.level_at = self.level_at + LEVEL_EVERY;
            let room = self.task.connections_max - self.connections.len() as u32;
            let users = match level.is_calm(now) {
                true => self.task.level_share.min(room),
                false => 0,
            };
            for _ in 0..users {
                let index = self.add_connection();
                self.next_of(index, now);
            }
        }
    }

    /// Returns the limits of gathering, for a closed load with responses so frequent as to wake the
    /// thread out of a short sleep each. A response is noticed later by a small part of the latency
    /// then. Over HTTP/2, responses on one connection come together anyway: its connections count.
    fn gather(&self) -> Option<Gather> {
        let mean = self.service_mean.0;
        let dense = mean < self.in_flight as u64 * DENSE.0;
        // Think times that are over are not kept waiting.
        let closed =
            self.pacer.is_none() && self.wakeups.is_empty() && self.resting.next().is_none();
        let waking = match self.is_http2() {
            true => self.carriers.open().min(self.in_flight),
            false => self.in_flight,
        };
        if !closed || !dense || waking < GATHER_FROM {
            return None;
        }
        let wait = Nanos((mean / GATHER_PART).min(GATHER_MAX.0));
        Some(Gather {
            count: waking / GATHER_SHARE,
            micros: (wait.0 / 1_000) as u32,
        })
    }

    /// Returns the time of the next wake-up without any event.
    fn wake_at(&self) -> Option<Timestamp> {
        let wakeup = self.wakeups.peek().map(|Reverse((at, _))| *at);
        // A tick that waits for a user needs no timer: the user's freedom wakes it.
        let users =
            !self.idle.is_empty() || self.connections.len() < self.task.connections_max as usize;
        let tick = self.tick_due().filter(|_| users && self.sending);
        let rest = self.resting.next();
        wakeup.into_iter().chain(tick).chain(rest).min()
    }
}

//! Clients and the load generator sending on behalf of clients.

use std::collections::VecDeque;

use super::{Engine, Event, Job};
use crate::{Arrivals, HandOut, Load};

/// A client and the client's connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Client {
    pub(super) due: f64,
    pub(super) arrived: f64,
    /// Whether a request of the client is at the server without a thread.
    pub(super) sent_request: bool,
    pub(super) place: Place,
}

/// Place of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// Not open, or not accepted.
    #[default]
    Outside,
    /// Accepted or dispatched, waiting for a thread.
    Todo,
    /// Owned by the thread serving the connection.
    Served,
    /// Owned by a thread waiting for the connection's next request.
    Inline(usize),
    /// Owned by the reactor of a worker.
    Reactor(usize),
}

/// A task of the generator, done in order.
#[derive(Clone, Copy, Debug)]
enum Task {
    Send(usize),
    Read(usize),
}

#[derive(Default)]
pub(super) struct Generator {
    tasks: VecDeque<Task>,
    in_hand: Option<Task>,
    busy: bool,
    /// Free clients of an open load; the one used last comes first.
    free: Vec<usize>,
    /// Due times of requests without a free client.
    late: VecDeque<f64>,
    ticks: u64,
}

impl Engine<'_> {
    /// A client's next request is due, or was at `due`.
    pub(super) fn due(&mut self, client: usize, due: f64) {
        self.clients[client].due = due;
        self.generate(Task::Send(client));
    }

    /// The next request of an open load is due.
    pub(super) fn tick(&mut self) {
        let Load::Open { rate, arrivals, .. } = self.setup.load else {
            return;
        };
        let interval = 1e9 / rate.max(1e-9);
        self.generator.ticks += 1;
        let next = match arrivals {
            Arrivals::Even => self.generator.ticks as f64 * interval,
            Arrivals::Poisson => self.now + self.exponential(interval),
        };
        self.events.plan(next, Event::Due);
        self.seen.in_system += 1;
        match self.free_client() {
            Some(client) => self.due(client, self.now),
            None => self.generator.late.push_back(self.now),
        }
    }

    fn free_client(&mut self) -> Option<usize> {
        let free = self.generator.free.pop();
        let room = self.clients.len() < self.setup.load.connections() as usize;
        if free.is_none() && room {
            self.clients.push(Client::default());
            return Some(self.clients.len() - 1);
        }
        free
    }

    /// Handles the server's response to a client.
    pub(super) fn answer(&mut self, client: usize) {
        self.generate(Task::Read(client));
    }

    fn generate(&mut self, task: Task) {
        self.generator.tasks.push_back(task);
        if self.generator.busy {
            return;
        }
        match self.wake() {
            Some(nanos) => {
                self.generator.busy = true;
                self.in_nanos(nanos, Event::GeneratorWoken);
            }
            None => self.next_task(),
        }
    }

    pub(super) fn next_task(&mut self) {
        let Some(task) = self.generator.tasks.pop_front() else {
            return;
        };
        self.generator.busy = true;
        if let Task::Read(client) = task {
            self.count_answer(client);
        }
        self.generator.in_hand = Some(task);
        // Sending and reading take about the same.
        let half = self.setup.costs.generator.0 as f64 / 2.0;
        self.cores.start(half, Job::Generator);
    }

    /// Ends the generator's current task.
    pub(super) fn generated(&mut self) {
        self.generator.busy = false;
        let done = self.generator.in_hand.take();
        self.next_task();
        match done {
            Some(Task::Send(client)) => self.arrive(client),
            Some(Task::Read(client)) => self.next_of(client),
            None => {}
        }
    }

    fn count_answer(&mut self, client: usize) {
        let latency = self.now - self.clients[client].due;
        if self.done >= self.warmup && self.done < self.count {
            self.seen.latency.push(latency as u64);
        }
        self.seen.in_system -= 1;
        self.done += 1;
        let asked = self.setup.costs.asked.0 as f64;
        if asked > 0.0 {
            self.cores.start(asked, Job::Beside);
        }
        if self.done == self.warmup {
            self.seen.began = self.now;
        }
    }

    fn next_of(&mut self, client: usize) {
        match self.setup.load {
            Load::Closed { think, .. } => {
                if think.0 > 0 {
                    self.in_nanos(think.0 as f64, Event::Thought(client));
                } else {
                    self.client_goes_on(client);
                }
            }
            Load::Open { .. } => match self.generator.late.pop_front() {
                Some(due) => self.due(client, due),
                None => self.generator.free.push(client),
            },
        }
    }

    /// Sends the next request of a client of a closed load.
    pub(super) fn client_goes_on(&mut self, client: usize) {
        self.seen.in_system += 1;
        self.due(client, self.now);
    }

    /// The client's request is at the server.
    fn arrive(&mut self, client: usize) {
        self.clients[client].arrived = self.now;
        match self.wake() {
            Some(nanos) => self.in_nanos(nanos, Event::Arrived(client)),
            None => self.arrived(client),
        }
    }

    /// Passes a request just received to the thread or reactor waiting for one.
    pub(super) fn arrived(&mut self, client: usize) {
        let arriving = &mut self.clients[client];
        arriving.sent_request = true;
        match (self.setup.hand_out, arriving.place) {
            (HandOut::Shared, _) => self.share_out(client),
            (_, Place::Outside) => self.wait_for_accept(client),
            (_, Place::Inline(thread)) => self.inline_next(thread),
            (_, Place::Reactor(worker)) => self.reactor_sees(worker, client),
            // It is looked at when a thread takes the connection, or gives it back.
            (_, Place::Todo | Place::Served) => {}
        }
    }
}

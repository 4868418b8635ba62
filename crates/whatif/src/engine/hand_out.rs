//! Dispatch of connections and requests to threads.
//!
//! Puma: a worker's accepting thread takes a connection from the kernel when a thread is free
//! (`wait_until_not_full`), in a cluster a moment later when others may be less busy
//! (`wait_for_less_busy_worker`), and puts it into the worker's queue. A thread that finds no
//! request on it gives it to the reactor, which puts it into the queue again when there is one.
//! What happens after a response is the difference between Puma 6 and 7, see [`HandOut`].

use super::clients::Place;
use super::{Engine, Event};
use crate::{ACCEPT_DELAY, DISPATCH, HandOut, INLINE_MOST, INLINE_WAIT};

/// State of a worker's accepting thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Accepting {
    /// Waits for connections.
    #[default]
    Waiting,
    /// Waits for the GVL.
    Waking,
    /// Waits for a free thread.
    Full,
    /// Gives a less busy worker a moment to be first.
    Polite,
}

/// A use of the GVL by a thread beside requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    /// To continue after closing a connection.
    Close,
    /// To look for a request on a connection just accepted.
    Look,
    /// To ask the kernel for waiting connections before the response.
    Ask,
}

impl Engine<'_> {
    /// One queue for all: whichever worker has most threads free.
    pub(super) fn share_out(&mut self, client: usize) {
        let free = |worker: &usize| self.workers[*worker].idle.len();
        let freest = (0..self.workers.len()).rev().max_by_key(free);
        let thread = freest.and_then(|worker| self.workers[worker].idle.pop_front());
        match thread {
            Some(thread) => {
                self.threads[thread].client = client;
                self.serve(thread);
            }
            None => self.backlog.push_back(client),
        }
    }

    /// Adds a new connection with a first request to the kernel's queue. All workers are woken.
    pub(super) fn wait_for_accept(&mut self, client: usize) {
        self.backlog.push_back(client);
        for worker in 0..self.workers.len() {
            if self.workers[worker].accepting == Accepting::Waiting {
                self.wake_accepting(worker);
            }
        }
    }

    fn wake_accepting(&mut self, worker: usize) {
        self.workers[worker].accepting = Accepting::Waking;
        let actor = self.threads.len() + self.workers.len() + worker;
        self.want_gvl(actor, DISPATCH.0 as f64);
    }

    fn threads_each(&self) -> usize {
        self.threads.len() / self.workers.len()
    }

    fn busy_threads(&self, worker: usize) -> usize {
        let worker = &self.workers[worker];
        self.threads_each() - worker.idle.len() + worker.todo.len()
    }

    /// Lets the accepting thread take a connection, or wait until one may be taken.
    pub(super) fn accept(&mut self, worker: usize) {
        let busy = self.busy_threads(worker);
        let full = self.setup.hand_out == HandOut::PumaInline && busy >= self.threads_each();
        let polite = self.workers.len() > 1 && busy > 0;
        let looking = &mut self.workers[worker];
        if self.backlog.is_empty() {
            looking.accepting = Accepting::Waiting;
        } else if full {
            looking.accepting = Accepting::Full;
        } else if polite {
            looking.accepting = Accepting::Polite;
            let turn = looking.accept_turn;
            let delay = self.accept_delay(worker);
            self.in_nanos(delay, Event::AcceptDelayOver(worker, turn));
        } else {
            self.take_connection(worker);
        }
    }

    /// Puma 6: always the same. Puma 7: in proportion to how busy the worker is.
    fn accept_delay(&self, worker: usize) -> f64 {
        let most = ACCEPT_DELAY.0 as f64;
        match self.setup.hand_out {
            HandOut::PumaReactor => {
                let threads = self.threads_each() as f64;
                most * (self.busy_threads(worker) as f64 / (25.0 * threads)).min(1.0)
            }
            HandOut::PumaInline | HandOut::Shared => most,
        }
    }

    pub(super) fn accept_delay_over(&mut self, worker: usize, turn: u32) {
        let looking = &self.workers[worker];
        if looking.accepting == Accepting::Polite && looking.accept_turn == turn {
            self.take_connection(worker);
        }
    }

    fn take_connection(&mut self, worker: usize) {
        self.workers[worker].accept_turn += 1;
        self.workers[worker].accepting = Accepting::Waiting;
        if let Some(client) = self.backlog.pop_front() {
            self.clients[client].place = Place::Todo;
            match self.workers[worker].idle.pop_front() {
                Some(thread) => {
                    // Woken, it asks the kernel without the GVL (`Client#eagerly_finish`), and has
                    // to wait for it anew.
                    self.threads[thread].client = client;
                    self.run_errand(thread, Errand::Look);
                }
                None => self.workers[worker].todo.push_back(client),
            }
            self.wake_accepting(worker);
        }
    }

    /// A thread of the worker has become free.
    fn not_full(&mut self, worker: usize) {
        match self.workers[worker].accepting {
            Accepting::Full => self.wake_accepting(worker),
            // Puma 7 sleeps it out.
            Accepting::Polite if self.setup.hand_out == HandOut::PumaInline => {
                self.take_connection(worker);
            }
            _ => {}
        }
    }

    fn queue_up(&mut self, worker: usize, client: usize) {
        self.clients[client].place = Place::Todo;
        match self.workers[worker].idle.pop_front() {
            Some(thread) => self.take(thread, client),
            None => self.workers[worker].todo.push_back(client),
        }
    }

    fn take(&mut self, thread: usize, client: usize) {
        self.threads[thread].client = client;
        self.threads[thread].inline = 0;
        if self.clients[client].sent_request {
            self.clients[client].place = Place::Served;
            self.serve(thread);
        } else {
            self.give_to_reactor(thread);
            self.take_next(thread);
        }
    }

    pub(super) fn take_next(&mut self, thread: usize) {
        let worker = self.actors[thread].worker;
        let shared = self.setup.hand_out == HandOut::Shared;
        let next = if shared {
            self.backlog.pop_front()
        } else {
            self.workers[worker].todo.pop_front()
        };
        match next {
            Some(client) => self.take(thread, client),
            None => {
                self.workers[worker].idle.push_back(thread);
                if !shared {
                    self.not_full(worker);
                }
            }
        }
    }

    /// Whether the thread asks the kernel for waiting connections before the response: the
    /// connection had a full share, and no thread is free. The call is made without the GVL, which
    /// is waited for again afterwards (`wait_readable(0)` in Puma's `prepare_response`).
    pub(super) fn asks_before_answer(&self, thread: usize) -> bool {
        let worker = self.actors[thread].worker;
        self.setup.hand_out == HandOut::PumaInline
            && self.threads[thread].inline + 1 >= INLINE_MOST
            && self.busy_threads(worker) >= self.threads_each()
    }

    /// Whether the server closes the connection after the response because others wait for a
    /// thread.
    pub(super) fn ends_connection(&self, thread: usize) -> bool {
        self.asks_before_answer(thread) && !self.backlog.is_empty()
    }

    /// Continues a thread after a response and the turnaround.
    pub(super) fn after_request(&mut self, thread: usize) {
        let worker = self.actors[thread].worker;
        match self.setup.hand_out {
            HandOut::Shared => self.take_next(thread),
            HandOut::PumaReactor => {
                self.give_to_reactor(thread);
                self.take_next(thread);
            }
            HandOut::PumaInline if self.threads[thread].ended => {
                // Ruby closes a socket without the GVL (`maygvl_close` in its io.c), and then has
                // to wait for it anew.
                self.run_errand(thread, Errand::Close);
            }
            HandOut::PumaInline => {
                self.threads[thread].inline += 1;
                let others = !self.workers[worker].todo.is_empty();
                if self.threads[thread].inline >= INLINE_MOST && others {
                    self.give_to_reactor(thread);
                    self.take_next(thread);
                } else {
                    self.wait_inline(thread);
                }
            }
        }
    }

    pub(super) fn run_errand(&mut self, thread: usize, errand: Errand) {
        self.threads[thread].errand = Some(errand);
        self.want_gvl(thread, DISPATCH.0 as f64);
    }

    /// The thread has run, and has given the GVL up.
    pub(super) fn errand_done(&mut self, thread: usize, errand: Errand) {
        match errand {
            Errand::Close => self.take_next(thread),
            Errand::Look => self.take(thread, self.threads[thread].client),
            Errand::Ask => self.end_request(thread),
        }
    }

    fn wait_inline(&mut self, thread: usize) {
        let client = self.threads[thread].client;
        self.threads[thread].turn += 1;
        if self.clients[client].sent_request {
            self.serve(thread);
            return;
        }
        self.clients[client].place = Place::Inline(thread);
        let turn = self.threads[thread].turn;
        self.in_nanos(INLINE_WAIT.0 as f64, Event::InlineOver(thread, turn));
    }

    /// The request came for which the thread waited.
    pub(super) fn inline_next(&mut self, thread: usize) {
        let client = self.threads[thread].client;
        self.clients[client].place = Place::Served;
        self.threads[thread].turn += 1;
        self.serve(thread);
    }

    pub(super) fn inline_over(&mut self, thread: usize, turn: u32) {
        if self.threads[thread].turn == turn {
            self.threads[thread].turn += 1;
            self.give_to_reactor(thread);
            self.take_next(thread);
        }
    }

    fn give_to_reactor(&mut self, thread: usize) {
        let (worker, client) = (self.actors[thread].worker, self.threads[thread].client);
        self.clients[client].place = Place::Reactor(worker);
        if self.clients[client].sent_request {
            self.reactor_sees(worker, client);
        }
    }

    /// The reactor's connection has a request.
    pub(super) fn reactor_sees(&mut self, worker: usize, client: usize) {
        self.workers[worker].reactor_ready.push(client);
        if !self.workers[worker].reactor_busy {
            self.workers[worker].reactor_busy = true;
            self.want_gvl(self.threads.len() + worker, DISPATCH.0 as f64);
        }
    }

    pub(super) fn reactor_has_run(&mut self, worker: usize) {
        self.workers[worker].reactor_busy = false;
        for client in std::mem::take(&mut self.workers[worker].reactor_ready) {
            self.queue_up(worker, client);
        }
    }
}

//! The simulation: events in real time, jobs on cores, and who does what next.
//!
//! The path of a request: its client is due to send ([`clients`]), the generator spends its CPU,
//! the request arrives at its connection, the connection comes to a thread ([`hand_out`]), the
//! thread goes through the request's stretches, with the GVL for those that run ([`gvl`]), and the
//! client has the response when the last one is over.

mod clients;
mod gvl;
mod hand_out;
mod lock;
mod seen;
mod wake;

use std::collections::VecDeque;
use std::ops::Range;

use crate::agenda::Agenda;
use crate::cores::Cores;
use crate::pause::Pause;
use crate::workload::{Stretch, Workload};
use crate::{Load, Prediction, STATEMENT, Setup};
use clients::{Client, Generator, Place};
use hand_out::Errand;
use lock::Lock;
use seen::Seen;

/// Share of the requests replayed before anything is counted, while queues fill up.
const WARMUP_SHARE: f64 = 0.1;

/// Length of a stretch off the GVL, ns, below which a call waited for nothing and the thread keeps
/// the core. Chosen by judgement: no thread is woken in so short a time.
const NO_WAIT: f64 = 5_000.0;

/// An event at a moment of real time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The end of a thread's stretch off the GVL, or of the part without a core.
    StretchOver(usize),
    /// A thread goes on after the time between two requests.
    Turnaround(usize),
    /// A thread has waited long enough for the connection's next request; the number sets old waits
    /// apart.
    InlineOver(usize, u32),
    /// A worker's accepting thread has waited long enough for a less busy one.
    AcceptDelayOver(usize, u32),
    /// The thread granted a worker's GVL starts running.
    Runs(usize),
    /// The next request of an open load is due.
    Due,
    /// The thread or reactor waiting for the client's request runs.
    Arrived(usize),
    /// The generator has been woken.
    GeneratorWoken,
    /// A client has thought.
    Thought(usize),
}

/// Work of a core.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Job {
    /// The holder of a worker's GVL.
    Gvl(usize),
    /// The load generator.
    Generator,
    /// The database, for a thread.
    Sql(usize),
    /// A thread after a wait, or after a call without one.
    Awake(usize),
    /// Work without a waiting thread, or beside a wait.
    Beside,
}

/// A user of a worker's GVL: a thread of the pool, the reactor, the accepting thread.
#[derive(Clone, Copy, Debug, Default)]
struct Actor {
    worker: usize,
    /// CPU still needed, ns.
    left: f64,
    /// Part of `left` to be run before the GVL is given up, ns.
    slice: f64,
    waiting_since: f64,
}

#[derive(Default)]
struct Worker {
    holder: Option<usize>,
    gvl_queue: VecDeque<usize>,
    /// Connections, or clients on a shared queue, waiting for a thread.
    todo: VecDeque<usize>,
    /// Threads without work, the longest idle first.
    idle: VecDeque<usize>,
    reactor_ready: Vec<usize>,
    reactor_busy: bool,
    /// CPU of the switch before the new holder's slice, and the slice's part of the cost of the
    /// worker's pause, ns.
    switching: f64,
    pause: Pause,
    /// Time at which the last holder gave up the GVL, ns.
    resting_since: f64,
    accepting: hand_out::Accepting,
    accept_turn: u32,
    lock: Lock,
}

/// A thread of a pool.
#[derive(Default)]
struct Thread {
    client: usize,
    /// Requests served in one go on the connection in hand.
    inline: u32,
    /// Whether the connection was closed with the last response.
    ended: bool,
    /// Purpose of the GVL when not for a request.
    errand: Option<Errand>,
    /// Counts waits for a next request.
    turn: u32,
    stretches: Range<usize>,
    /// CPU of waking the next holder of a GVL released a moment ago, ns.
    waking: f64,
    /// CPU of the current stretch in SQL, ns, not yet run on a core.
    sql_cpu: Option<f64>,
    sql_since: f64,
    /// Begin of the wait for the lock.
    lock_since: f64,
    gvl_wait: f64,
    started: f64,
}

pub(crate) struct Engine<'a> {
    workload: &'a Workload,
    setup: &'a Setup,
    random: fastrand::Rng,
    /// The requests in the order of replay: each once, then all again in another order. So every
    /// setup is given the same work, and a rare long request does not decide the comparison.
    deck: Vec<u32>,
    drawn: usize,
    now: f64,
    events: Agenda<Event>,
    cores: Cores<Job>,
    workers: Vec<Worker>,
    /// Threads of all workers, then a reactor and an accepting thread for each worker.
    actors: Vec<Actor>,
    threads: Vec<Thread>,
    clients: Vec<Client>,
    generator: Generator,
    /// Connections not yet accepted by a worker.
    backlog: VecDeque<usize>,
    threads_busy: u32,
    in_sql: u32,
    warmup: u64,
    done: u64,
    count: u64,
    seen: Seen,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(workload: &'a Workload, setup: &'a Setup, seed: u64, count: u32) -> Self {
        let workers = setup.workers.max(1) as usize;
        let each = setup.threads.max(1) as usize;
        let in_pool = workers * each;
        let worker_of = |actor: usize| match actor.checked_sub(in_pool) {
            None => actor / each,
            Some(other) => other % workers,
        };
        let actor = |index| Actor {
            worker: worker_of(index),
            ..Actor::default()
        };
        let mut made = Engine {
            workload,
            setup,
            random: fastrand::Rng::with_seed(seed),
            deck: (0..workload.len() as u32).collect(),
            drawn: 0,
            now: 0.0,
            events: Agenda::new(),
            cores: Cores::new(setup.cores, &setup.costs),
            workers: (0..workers).map(|_| Worker::default()).collect(),
            actors: (0..in_pool + 2 * workers).map(actor).collect(),
            threads: (0..in_pool).map(|_| Thread::default()).collect(),
            clients: Vec::new(),
            generator: Generator::default(),
            backlog: VecDeque::new(),
            threads_busy: 0,
            in_sql: 0,
            warmup: (f64::from(count) * WARMUP_SHARE) as u64,
            done: 0,
            count: u64::from(count),
            seen: Seen::default(),
        };
        for thread in 0..in_pool {
            made.workers[thread / each].idle.push_back(thread);
        }
        made
    }

    pub(crate) fn run(mut self) -> Prediction {
        match self.setup.load {
            Load::Closed { clients, .. } => {
                for client in 0..clients.max(1) as usize {
                    self.clients.push(Client::default());
                    self.client_goes_on(client);
                }
            }
            Load::Open { .. } => self.events.plan(0.0, Event::Due),
        }
        while self.done < self.count && self.step() {}
        self.predict()
    }

    /// Goes to the next moment; false when there is none.
    fn step(&mut self) -> bool {
        let job_end = self.cores.next_in().map(|nanos| self.now + nanos);
        match (job_end, self.events.next_at()) {
            (None, None) => return false,
            (Some(job), event) if event.is_none_or(|event| job <= event) => {
                self.pass_to(job);
                if let Some((job, began)) = self.cores.end_next() {
                    self.job_ends(job, began);
                }
                self.cores.fill();
            }
            (_, event) => {
                self.pass_to(event.unwrap_or(self.now));
                if let Some((_, event)) = self.events.pop() {
                    self.happens(event);
                }
            }
        }
        true
    }

    fn pass_to(&mut self, to: f64) {
        let passed = (to - self.now).max(0.0);
        let worked = self.cores.pass(passed);
        self.now = to;
        if self.done >= self.warmup {
            self.add_passed(passed, worked);
        }
    }

    fn job_ends(&mut self, job: Job, began: f64) {
        match job {
            Job::Gvl(worker) => self.slice_ends(worker, began),
            Job::Generator => self.generated(),
            Job::Sql(thread) => self.awake(thread),
            Job::Awake(thread) => self.stretch_ends(thread),
            Job::Beside => {}
        }
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::StretchOver(thread) => self.wait_ends(thread),
            Event::Turnaround(thread) => self.after_request(thread),
            Event::InlineOver(thread, turn) => self.inline_over(thread, turn),
            Event::AcceptDelayOver(worker, turn) => self.accept_delay_over(worker, turn),
            Event::Runs(worker) => self.begin_slice(worker),
            Event::Due => self.tick(),
            Event::Arrived(client) => self.arrived(client),
            Event::GeneratorWoken => self.next_task(),
            Event::Thought(client) => self.client_goes_on(client),
        }
    }

    fn in_nanos(&mut self, nanos: f64, event: Event) {
        self.events.plan(self.now + nanos, event);
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.f64()).ln()
    }

    /// Begins the request sent by the thread's client.
    fn serve(&mut self, thread: usize) {
        if self.drawn == 0 {
            self.random.shuffle(&mut self.deck);
        }
        let drawn = self.deck[self.drawn] as usize;
        self.drawn = (self.drawn + 1) % self.deck.len();
        let range = self.workload.range(drawn);
        let serving = &mut self.threads[thread];
        serving.started = self.now;
        serving.gvl_wait = 0.0;
        serving.waking = 0.0;
        serving.stretches = range;
        self.clients[serving.client].sent_request = false;
        self.threads_busy += 1;
        self.go_on(thread);
    }

    /// Begins the thread's next stretch, or ends the request after the last one.
    fn go_on(&mut self, thread: usize) {
        let stretches = &self.threads[thread].stretches;
        if stretches.is_empty() {
            match self.asks_before_answer(thread) {
                true => self.run_errand(thread, Errand::Ask),
                false => self.end_request(thread),
            }
            return;
        }
        let next = self.workload.stretch(stretches.start);
        let before = std::mem::take(&mut self.threads[thread].waking);
        match next {
            Stretch::Run(cpu) => self.want_gvl(thread, cpu),
            Stretch::Acquire => {
                self.threads[thread].waking = before;
                self.acquire(thread);
            }
            Stretch::Release => {
                self.threads[thread].waking = before;
                self.release(thread);
            }
            Stretch::Wait(nanos) if nanos < NO_WAIT => {
                self.cores.go_on(before + nanos, Job::Awake(thread));
            }
            Stretch::Wait(nanos) => self.in_nanos(before + nanos, Event::StretchOver(thread)),
            Stretch::Compute(cpu) => self.cores.go_on(before + cpu, Job::Awake(thread)),
            Stretch::Sql { wait, cpu } => {
                let stretched = 1.0 + self.setup.costs.sql_stretch * f64::from(self.in_sql);
                self.in_sql += 1;
                let sending = self.switching(STATEMENT * self.setup.costs.switch.0 as f64);
                self.cores.go_on(before + sending, Job::Beside);
                self.threads[thread].sql_cpu = Some(cpu);
                self.threads[thread].sql_since = self.now;
                self.in_nanos(before + wait * stretched, Event::StretchOver(thread));
            }
        }
    }

    fn wait_ends(&mut self, thread: usize) {
        match self.threads[thread].sql_cpu.take() {
            Some(cpu) => self.cores.start(cpu, Job::Sql(thread)),
            None => self.awake(thread),
        }
    }

    /// Queues a thread for the core needed to notice the end of a wait.
    fn awake(&mut self, thread: usize) {
        self.cores.start(0.0, Job::Awake(thread));
    }

    fn stretch_ends(&mut self, thread: usize) {
        let over = &mut self.threads[thread];
        if let Stretch::Sql { .. } = self.workload.stretch(over.stretches.start) {
            self.in_sql -= 1;
            if self.done >= self.warmup {
                self.seen.sql += self.now - over.sql_since;
            }
        }
        over.stretches.start += 1;
        self.go_on(thread);
    }

    fn end_request(&mut self, thread: usize) {
        let served = &self.threads[thread];
        let client = served.client;
        let arrived = self.clients[client].arrived;
        if self.done >= self.warmup {
            self.seen.served += 1;
            self.seen.queue += served.started - arrived;
            self.seen.gvl_wait += served.gvl_wait;
        }
        self.threads_busy -= 1;
        let ended = self.ends_connection(thread);
        self.threads[thread].ended = ended;
        if ended {
            self.clients[client].place = Place::Outside;
        }
        self.answer(client);
        let mean = self.setup.costs.turnaround.0 as f64;
        if mean > 0.0 {
            let pause = self.exponential(mean);
            self.in_nanos(pause, Event::Turnaround(thread));
        } else {
            self.after_request(thread);
        }
    }
}

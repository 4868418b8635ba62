//! The event loop. Two clocks: real time for waits, and *work* for whoever holds a GVL.
//!
//! All holders advance at one speed, so work is a single number that grows by `speed` per nanosecond, and
//! a holder's end in work never changes when others come and go: processor sharing without rescheduling.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use recording::Nanos;

use crate::requests::Flat;
use crate::{Load, Prediction, QUANTUM, Setup, WARMUP_SHARE};

/// A moment on either clock; equal ones in the order they were planned.
#[derive(Clone, Copy)]
struct Due<T> {
    at: f64,
    order: u64,
    what: T,
}

/// What happens at a moment of real time.
#[derive(Clone, Copy)]
enum Wait {
    /// A thread's stretch off the GVL is over.
    Stretch(usize),
    /// A thread is ready for its next request.
    Turnaround(usize),
    /// A client sends, by number; in an open load the next request arrives.
    Arrival(u32),
}

/// A request waiting for a thread.
struct Waiting {
    since: f64,
    client: u32,
}

struct Worker {
    requests: VecDeque<Waiting>,
    idle: Vec<usize>,
    holder: Option<usize>,
    gvl_queue: VecDeque<usize>,
}

#[derive(Default)]
struct Thread {
    worker: usize,
    client: u32,
    arrived: f64,
    started: f64,
    stretches: Range<usize>,
    /// What is left of the present stretch with the GVL.
    left: f64,
    /// Of it, what runs before the GVL is given up.
    slice: f64,
    waiting_since: f64,
    gvl_wait: f64,
}

/// Sums over the requests that count.
#[derive(Default)]
struct Seen {
    latency: Vec<u64>,
    queue: f64,
    gvl_wait: f64,
    began: f64,
    held: f64,
    worked: f64,
    threads_busy: f64,
}

pub(crate) struct Engine<'a> {
    requests: &'a Flat,
    setup: &'a Setup,
    random: fastrand::Rng,
    /// The requests in the order in which they are replayed: each once, then all again in another order.
    /// So every setup is given the same work, and a rare long request does not decide the comparison.
    deck: Vec<u32>,
    drawn: usize,
    now: f64,
    work: f64,
    order: u64,
    waits: BinaryHeap<Reverse<Due<Wait>>>,
    holders: BinaryHeap<Reverse<Due<usize>>>,
    workers: Vec<Worker>,
    threads: Vec<Thread>,
    busy: u32,
    warmup: u64,
    done: u64,
    count: u64,
    seen: Seen,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(requests: &'a Flat, setup: &'a Setup, seed: u64, count: u32) -> Self {
        let threads = setup.threads.max(1) as usize;
        let worker = |index: usize| Worker {
            requests: VecDeque::new(),
            idle: (index * threads..(index + 1) * threads).rev().collect(),
            holder: None,
            gvl_queue: VecDeque::new(),
        };
        let workers: Vec<Worker> = (0..setup.workers.max(1) as usize).map(worker).collect();
        let thread = |index: usize| Thread {
            worker: index / threads,
            ..Thread::default()
        };
        let warmup = (f64::from(count) * WARMUP_SHARE) as u64;
        Engine {
            requests,
            setup,
            random: fastrand::Rng::with_seed(seed),
            deck: (0..requests.len() as u32).collect(),
            drawn: 0,
            now: 0.0,
            work: 0.0,
            order: 0,
            waits: BinaryHeap::new(),
            holders: BinaryHeap::new(),
            threads: (0..workers.len() * threads).map(thread).collect(),
            workers,
            busy: 0,
            warmup,
            done: 0,
            count: u64::from(count),
            seen: Seen::default(),
        }
    }

    pub(crate) fn run(mut self) -> Prediction {
        match self.setup.load {
            Load::Closed { clients, .. } => {
                for client in 0..clients.max(1) {
                    self.plan(0.0, Wait::Arrival(client));
                }
            }
            Load::Open { .. } => self.plan(0.0, Wait::Arrival(0)),
        }
        while self.done < self.count && self.step() {}
        self.predict()
    }

    /// Work done per nanosecond by each holder.
    fn speed(&self) -> f64 {
        let cores = f64::from(self.setup.cores.max(1));
        (cores / self.holders.len().max(1) as f64).min(1.0)
    }

    /// Goes to the next moment; false when there is none.
    fn step(&mut self) -> bool {
        let slice_end = self
            .holders
            .peek()
            .map(|due| self.now + (due.0.at - self.work).max(0.0) / self.speed());
        let wait_end = self.waits.peek().map(|due| due.0.at);
        match (slice_end, wait_end) {
            (None, None) => return false,
            (Some(slice), wait) if wait.is_none_or(|wait| slice <= wait) => {
                self.advance(slice);
                if let Some(Reverse(due)) = self.holders.pop() {
                    self.work = due.at;
                    self.slice_ends(due.what);
                }
            }
            (_, wait) => {
                self.advance(wait.unwrap_or(self.now));
                if let Some(Reverse(due)) = self.waits.pop() {
                    self.wait_ends(due.what);
                }
            }
        }
        true
    }

    fn advance(&mut self, to: f64) {
        let passed = (to - self.now).max(0.0);
        let worked = passed * self.speed();
        self.work += worked;
        self.now = to;
        if self.done >= self.warmup {
            let holders = self.holders.len() as f64;
            self.seen.held += passed * holders;
            self.seen.worked += worked * holders;
            self.seen.threads_busy += passed * f64::from(self.busy);
        }
    }

    fn plan(&mut self, at: f64, what: Wait) {
        let order = self.next_order();
        self.waits.push(Reverse(Due { at, order, what }));
    }

    fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    fn wait_ends(&mut self, wait: Wait) {
        match wait {
            Wait::Stretch(thread) => {
                self.threads[thread].stretches.start += 1;
                self.go_on(thread);
            }
            Wait::Turnaround(thread) => self.take_next(thread),
            Wait::Arrival(client) => self.arrive(client),
        }
    }

    fn arrive(&mut self, client: u32) {
        let worker = match self.setup.load {
            Load::Closed { .. } => client as usize % self.workers.len(),
            Load::Open { rate } => {
                let pause = self.exponential(1e9 / rate.max(1e-9));
                self.plan(self.now + pause, Wait::Arrival(client));
                self.least_busy()
            }
        };
        self.workers[worker].requests.push_back(Waiting {
            since: self.now,
            client,
        });
        if let Some(thread) = self.workers[worker].idle.pop() {
            self.take_next(thread);
        }
    }

    fn least_busy(&self) -> usize {
        let load = |worker: &Worker| (worker.requests.len(), Reverse(worker.idle.len()));
        let least = self
            .workers
            .iter()
            .enumerate()
            .min_by_key(|(_, worker)| load(worker));
        least.map_or(0, |(index, _)| index)
    }

    fn take_next(&mut self, index: usize) {
        let thread = &mut self.threads[index];
        let worker = &mut self.workers[thread.worker];
        let Some(request) = worker.requests.pop_front() else {
            worker.idle.push(index);
            return;
        };
        if self.drawn == 0 {
            self.random.shuffle(&mut self.deck);
        }
        let drawn = self.deck[self.drawn] as usize;
        self.drawn = (self.drawn + 1) % self.deck.len();
        thread.client = request.client;
        thread.arrived = request.since;
        thread.started = self.now;
        thread.gvl_wait = 0.0;
        thread.stretches = self.requests.range(drawn);
        self.busy += 1;
        self.go_on(index);
    }

    /// Begins the thread's next stretch, or ends its request.
    fn go_on(&mut self, index: usize) {
        let thread = &mut self.threads[index];
        if thread.stretches.is_empty() {
            self.end_request(index);
            return;
        }
        let stretch = self.requests.stretch(thread.stretches.start);
        if !stretch.running {
            self.plan(self.now + stretch.ns, Wait::Stretch(index));
            return;
        }
        thread.left = stretch.ns;
        thread.waiting_since = self.now;
        let worker = &mut self.workers[thread.worker];
        if worker.holder.is_some() {
            worker.gvl_queue.push_back(index);
        } else {
            self.hold(index);
        }
    }

    fn hold(&mut self, index: usize) {
        let thread = &mut self.threads[index];
        thread.gvl_wait += self.now - thread.waiting_since;
        thread.slice = thread.left.min(QUANTUM.0 as f64);
        let (worker, at) = (thread.worker, self.work + thread.slice);
        self.workers[worker].holder = Some(index);
        let order = self.next_order();
        let what = worker;
        self.holders.push(Reverse(Due { at, order, what }));
    }

    fn slice_ends(&mut self, worker: usize) {
        let Some(index) = self.workers[worker].holder.take() else {
            return;
        };
        let thread = &mut self.threads[index];
        thread.left -= thread.slice;
        thread.waiting_since = self.now;
        let preempted = thread.left > 0.0;
        if preempted {
            self.workers[worker].gvl_queue.push_back(index);
        } else {
            thread.stretches.start += 1;
        }
        if let Some(next) = self.workers[worker].gvl_queue.pop_front() {
            self.hold(next);
        }
        if !preempted {
            self.go_on(index);
        }
    }

    fn end_request(&mut self, index: usize) {
        let thread = &self.threads[index];
        let client = thread.client;
        if self.done >= self.warmup && self.done < self.count {
            self.seen.latency.push((self.now - thread.arrived) as u64);
            self.seen.queue += thread.started - thread.arrived;
            self.seen.gvl_wait += thread.gvl_wait;
        }
        self.busy -= 1;
        self.done += 1;
        if self.done == self.warmup {
            self.seen.began = self.now;
        }
        if let Load::Closed { think, .. } = self.setup.load {
            self.plan(self.now + think.0 as f64, Wait::Arrival(client));
        }
        let turnaround = self.exponential(self.setup.turnaround.0 as f64);
        self.plan(self.now + turnaround, Wait::Turnaround(index));
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.f64()).ln()
    }

    fn predict(mut self) -> Prediction {
        self.seen.latency.sort_unstable();
        let latency = |q| Nanos(stats::quantile(&self.seen.latency, q).unwrap_or(0));
        let requests = self.seen.latency.len().max(1) as f64;
        let length = (self.now - self.seen.began).max(1.0);
        let workers = self.workers.len() as f64;
        Prediction {
            rps: self.seen.latency.len() as f64 / length * 1e9,
            latency_p50: latency(0.5),
            latency_p95: latency(0.95),
            latency_p99: latency(0.99),
            queue_mean: Nanos((self.seen.queue / requests) as u64),
            gvl_wait_mean: Nanos((self.seen.gvl_wait / requests) as u64),
            gvl_busy: self.seen.held / length / workers,
            cores_busy: self.seen.worked / length / f64::from(self.setup.cores.max(1)),
            threads_busy: self.seen.threads_busy / length / self.threads.len() as f64,
        }
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Due<T> {}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at
            .total_cmp(&other.at)
            .then(self.order.cmp(&other.order))
    }
}

//! Setups for a simulation.

use recording::Nanos;

/// Time of a thread between two requests, unless a better figure is known. From the published
/// measurement: 65 requests a second at one thread where bursts of 15.2 ms alone would give 65.8.
pub const TURNAROUND: Nanos = Nanos(200_000);

/// A setup for a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// Worker processes, at least 1.
    pub workers: u32,
    /// Threads per worker, at least 1.
    pub threads: u32,
    /// Cores for everything running, at least 1.
    pub cores: u32,
    /// Arrival of requests.
    pub load: Load,
    /// Dispatch of requests to threads.
    pub hand_out: HandOut,
    /// Other costs.
    pub costs: Costs,
    /// Threads of a worker able to hold the requests' lock at once: 1 for a Mutex, the connections
    /// for a pool. Without a lock it does not matter.
    pub lock_places: u32,
}

/// Arrival of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Clients sending each next request `think` after the last response.
    Closed {
        /// Clients, at least 1.
        clients: u32,
        /// Time between response and next request.
        think: Nanos,
    },
    /// Requests due at a fixed rate, whatever the server does.
    Open {
        /// Requests a second, above zero.
        rate: f64,
        /// Pattern of due times.
        arrivals: Arrivals,
        /// Most connections; a request without a free connection waits for one, and counts from the
        /// due time.
        connections: u32,
    },
}

/// Pattern of due times in an open load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Independent arrivals, as from many users.
    Poisson,
    /// Even intervals, as in Hakaru's load generator.
    #[default]
    Even,
}

/// Dispatch of requests to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOut {
    /// One queue for all; whichever thread is free takes the next. The ideal, and Unicorn with one
    /// thread a worker and a connection for each request.
    Shared,
    /// Puma 5 and 6: a worker accepts a connection for a free thread. The thread keeps the
    /// connection, and after a response waits [`crate::INLINE_WAIT`] for the connection's next
    /// request. From the [`crate::INLINE_MOST`]th on it lets go of it: it ends it when connections
    /// wait to be accepted and no thread is free, and gives it to the reactor when others wait in
    /// the worker's queue.
    PumaInline,
    /// Puma 7 and 8: after each response the connection goes back to the worker's reactor.
    PumaReactor,
}

/// Costs beside the requests themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Mean time a thread is busy between two requests, off the GVL, exponential. Its randomness
    /// keeps equal requests from falling into step.
    pub turnaround: Nanos,
    /// Time from waking a thread until the thread runs, where an idle core has to be woken as well.
    /// On busy ones it waits for its turn, and that is simulated.
    pub wake: Nanos,
    /// CPU with which a thread wakes the next holder when letting go of the GVL. Then the thread's
    /// wait begins. Less where no core idles, as is `switch`.
    pub release: Nanos,
    /// CPU with which a thread continues when given the GVL by another one. A statement's round
    /// trip to the database takes [`crate::STATEMENT`] switches.
    pub switch: Nanos,
    /// CPU by which the first millisecond of a worker's work takes longer after a long pause of all
    /// threads. The memory has left the caches, and the core has slept. See [`crate::PAUSE`].
    pub pause: Nanos,
    /// CPU of the load generator per request, on the same cores and in one thread.
    pub generator: Nanos,
    /// CPU per request of servers other than the database on the same cores: stores, and processes
    /// of the app's own serving no requests. It goes with the waits for them.
    pub asked: Nanos,
    /// Jobs of other programs on the cores or waiting for one, on average.
    pub foreign: f64,
    /// Share of a core's time lost with a job at hand, 0 to below 1: taken by the hypervisor, or
    /// lost between waking up and running.
    pub stolen: f64,
    /// Growth of a stretch in SQL for each other one at the same time: 0.1 is a tenth.
    pub sql_stretch: f64,
}

impl Setup {
    /// A closed load without think time on [`HandOut::Shared`], without costs.
    pub fn closed(workers: u32, threads: u32, cores: u32, clients: u32) -> Setup {
        Setup {
            workers,
            threads,
            cores,
            load: Load::Closed {
                clients,
                think: Nanos::ZERO,
            },
            hand_out: HandOut::Shared,
            costs: Costs::default(),
            lock_places: 1,
        }
    }
}

impl Load {
    /// Returns the most connections open at once.
    pub(crate) fn connections(&self) -> u32 {
        match *self {
            Load::Closed { clients, .. } => clients.max(1),
            Load::Open { connections, .. } => connections.max(1),
        }
    }
}

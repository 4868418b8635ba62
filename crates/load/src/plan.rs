//! How hard to load, and for how long.

use recording::{Nanos, Timestamp};
use scenario::{Part, Scenario};

use crate::LoadError;
use crate::address::Via;
use crate::engine::Engine;
use crate::level::LevelUp;
use crate::schedule::{Arrivals, Schedule};
use crate::tls::Trust;

/// How hard to load, for how long, and with what limits. Start from [`Plan::default`].
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Connections of a closed load, one user each; in an open one the upper limit.
    pub connections: u32,
    /// Users sharing one HTTP/2 connection, each with a stream; `connections` counts users and is a
    /// multiple. 0: HTTP/1, where each has a connection.
    pub streams: u32,
    /// Whether a closed load rises.
    pub level_up: Option<LevelUp>,
    /// When requests are due.
    pub pace: Pace,
    /// Length of the warm-up; exchanges of the warm-up are delivered, but lie before
    /// [`crate::LoadResult::window`].
    pub warmup: Nanos,
    /// Length of the measured part.
    pub duration: Nanos,
    /// How long to wait, after the measured part, for responses still under way. Nothing is sent
    /// then.
    pub drain: Nanos,
    /// Part of the plan for one process, where several generators share a plan; all other fields
    /// but `threads` describe all generators together.
    pub part: Part,
    /// Start time; at once for a time in the past.
    pub start_at: Option<Timestamp>,
    /// Threads to spread the connections over.
    pub threads: u32,
    /// Decides the order of flows and all random values: the same seed gives the same choices.
    pub seed: u64,
    /// Longest wait for a connection.
    pub connect_timeout: Nanos,
    /// Longest wait from sent to the answer's last byte.
    pub answer_timeout: Nanos,
    /// Largest head of an answer, bytes.
    pub head_bytes_max: usize,
    /// Largest body of an answer, bytes.
    pub body_bytes_max: u64,
    /// Whether a connection carries more than one request.
    pub keep_alive: bool,
    /// Address for connections, when other than the base URL's host.
    pub via: Option<Via>,
    /// Whom to trust where the base URL is `https`.
    pub trust: Trust,
    /// Kernel interface of the load.
    pub engine: Engine,
    /// Which requests carry a number where exchanges are handed over one by one.
    pub numbered: Numbered,
    /// Whether examples of failed requests keep bodies, which may hold secrets.
    pub keep_bodies: bool,
}

/// Selection of requests with a number, by which the app reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Numbered {
    /// Each request.
    All,
    /// Each request, or a random part for a rate near `per_second`: half of the requests, a
    /// quarter, and so on.
    UpTo {
        /// Above zero.
        per_second: f64,
    },
    /// A random part: one request in two to the given power.
    Halved(u32),
}

/// One more than the greatest number of streams of a connection.
const STREAMS_OVER: u32 = 1_001;

/// Numbered requests per second considered enough: ten seconds give 25,000, and an app with ten
/// times the rate spends little time on records (`benchmarks/agent`).
const NUMBERED_PER_SECOND: f64 = 2_500.0;

impl Default for Numbered {
    fn default() -> Numbered {
        Numbered::UpTo {
            per_second: NUMBERED_PER_SECOND,
        }
    }
}

/// When requests are due.
#[derive(Clone, Debug, PartialEq)]
pub enum Pace {
    /// A user's next request is due after the last response and the think time.
    Closed,
    /// Request `k` is due at start + `k / per_second`, whatever the server does.
    Constant {
        /// Requests due per second; above zero.
        per_second: f64,
    },
    /// Requests are due as a schedule says.
    Scheduled(Schedule),
}

impl Pace {
    /// The schedule of an open load. The error is a sentence.
    pub(crate) fn schedule(&self) -> Result<Option<Schedule>, String> {
        match self {
            Pace::Closed => Ok(None),
            Pace::Constant { per_second } => Schedule::constant(*per_second).map(Some),
            Pace::Scheduled(schedule) => Ok(Some(schedule.clone())),
        }
    }
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            connections: 10,
            streams: 0,
            level_up: None,
            pace: Pace::Closed,
            warmup: Nanos::ZERO,
            duration: Nanos(10_000_000_000),
            drain: Nanos(2_000_000_000),
            part: Part::WHOLE,
            start_at: None,
            threads: 1,
            seed: 1,
            connect_timeout: Nanos(5_000_000_000),
            answer_timeout: Nanos(30_000_000_000),
            head_bytes_max: 64 * 1024,
            body_bytes_max: 64 * 1024 * 1024,
            keep_alive: true,
            via: None,
            trust: Trust::default(),
            engine: Engine::default(),
            numbered: Numbered::default(),
            keep_bodies: false,
        }
    }
}

impl Plan {
    /// Returns the greatest possible number of connections.
    pub(crate) fn connections_max(&self) -> u32 {
        let users_max = self.level_up.map_or(0, |level| level.users_max);
        self.connections.max(users_max)
    }

    /// Returns the number of connections of `connections` users.
    pub fn sockets(&self) -> u32 {
        self.connections / self.streams.max(1)
    }

    fn check_streams(&self) -> Result<(), LoadError> {
        let wrong = |what: String| Err(LoadError::Plan(what));
        match self.streams {
            0 => Ok(()),
            _ if !self.keep_alive => {
                let what = "HTTP/2 keeps its connections; leave --no-keepalive or --http2 out";
                wrong(what.to_owned())
            }
            _ if self.level_up.is_some() => {
                let what = "level_up adds connections of HTTP/1; leave it or --http2 out";
                wrong(what.to_owned())
            }
            STREAMS_OVER.. => wrong(format!(
                "{} streams on a connection; there may be {} at most, so take more connections",
                self.streams,
                STREAMS_OVER - 1
            )),
            streams if !self.connections.is_multiple_of(streams) => wrong(format!(
                "{} users cannot share connections evenly by {streams}",
                self.connections
            )),
            _ => Ok(()),
        }
    }

    /// Refuses options of a flow obeyed by `hakaru check` alone.
    fn check_links(&self, scenario: &Scenario) -> Result<(), LoadError> {
        let is_http2 = self.streams > 0;
        let wrong = scenario.links().iter().find_map(|link| match link.http2 {
            Some(true) if !is_http2 => {
                Some("an entry asks for HTTP/2; a load speaks one version: add --http2")
            }
            Some(false) if is_http2 => {
                Some("an entry asks for HTTP/1.1; a load speaks one version: leave --http2 out")
            }
            _ => None,
        });
        wrong.map_or(Ok(()), |what| Err(LoadError::Plan(what.to_owned())))
    }

    /// Checks the plan with a scenario, as [`crate::run`] does first.
    ///
    /// # Errors
    /// [`LoadError::Plan`] says what does not fit.
    pub fn check(&self, scenario: &Scenario) -> Result<(), LoadError> {
        let plan = self;
        let wrong = |what: String| Err(LoadError::Plan(what));
        plan.check_part()?;
        let connections = plan.part.share(plan.sockets());
        if connections == 0 || plan.threads == 0 || plan.threads > connections {
            return wrong(format!(
                "{} threads for {connections} connections: at least one connection for each thread is needed",
                plan.threads
            ));
        }
        plan.check_streams()?;
        plan.check_links(scenario)?;
        if plan.duration == Nanos::ZERO {
            return wrong("the duration of the load is zero".to_owned());
        }
        let schedule = plan.pace.schedule().map_err(LoadError::Plan)?;
        let is_recorded =
            schedule.is_some_and(|schedule| schedule.arrivals() == Arrivals::Recorded);
        if is_recorded && scenario.due_ns().is_empty() {
            let what = "requests are to be due as recorded, and the scenario has no due times";
            return wrong(what.to_owned());
        }
        if plan.level_up.is_some() && plan.pace != Pace::Closed {
            let what = "level_up adds users to a closed load; leave it or the rate out";
            return wrong(what.to_owned());
        }
        match scenario.feed_rows_min() {
            Some(rows) if rows < plan.connections_max() as usize => wrong(format!(
                "a feed has {rows} rows for {} connections, and each user needs a row of its own; \
             add rows or take fewer connections",
                plan.connections_max()
            )),
            Some(rows) if plan.part.share(rows as u32) < plan.users_of_part() => wrong(format!(
                "of the {rows} rows of a feed, generator {} of {} has {} for its {} users; add rows or take fewer \
                 connections",
                plan.part.number(),
                plan.part.of(),
                plan.part.share(rows as u32),
                plan.users_of_part()
            )),
            _ => Ok(()),
        }
    }

    /// Returns the greatest number of users of the part: users of one connection stay together.
    pub(crate) fn users_of_part(&self) -> u32 {
        let each = self.streams.max(1);
        self.part.share(self.connections_max() / each) * each
    }

    fn check_part(&self) -> Result<(), LoadError> {
        let (part, sockets) = (self.part, self.sockets());
        let what = match part.is_whole() {
            true => return Ok(()),
            false if self.level_up.is_some() => {
                "level_up rises by what one generator sees; leave it out, or the parts".to_owned()
            }
            false if part.of() > sockets => format!(
                "{sockets} connections are too few for {} generators: each needs one at least (-c)",
                part.of()
            ),
            false => return Ok(()),
        };
        Err(LoadError::Plan(what))
    }
}

//! Requests as observed by the app.

use crate::{Nanos, RequestId, TextId, Timestamp};

/// One request inside the app. `parts` add up to `end − start` but for what the events missed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handled {
    /// Id shared with the client's view; zero for a foreign client.
    pub id: RequestId,
    /// Process id of the handler.
    pub pid: u32,
    /// Native thread id of the handler.
    pub tid: u32,
    /// Time of the complete request in Puma, if reported by Puma.
    pub ready: Option<Timestamp>,
    /// Start of the handler.
    pub start: Timestamp,
    /// End of the handler.
    pub end: Timestamp,
    /// The framework's own pattern, such as `GET /channel/:id`; `NONE` when unknown.
    pub route: TextId,
    /// HTTP status returned by the handler, 0 after an exception.
    pub status: u16,
    /// Time of the handler by part.
    pub parts: Parts,
    /// Thread CPU time, on a uniform sample of requests.
    pub cpu: Option<CpuSample>,
    /// Ruby objects allocated by the request's own thread, on the same sample as `cpu`.
    pub allocations: Option<u64>,
    /// SQL and outgoing HTTP by statement and caller. At most 32; the rest is in `parts` only.
    pub sql: Vec<SqlUse>,
    /// SQL statements executed, including any not in `sql`.
    pub statements: u32,
    /// Alternating stretches with and without the GVL, on the first requests of a thread and then
    /// on a uniform sample; empty otherwise.
    pub bursts: Vec<Burst>,
    /// Waits outside of calls by source line, named work, and what was done with connections. At
    /// most 16.
    pub acts: Vec<Act>,
}

/// An exclusive partition of a request's time inside the handler: each instant has one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Ready to run, waiting for the GVL.
    pub gvl_wait: Nanos,
    /// Collecting garbage on the own thread.
    pub gc: Nanos,
    /// Inside an SQL call, with the GVL.
    pub sql_running: Nanos,
    /// Inside an SQL call, off the GVL.
    pub sql_waiting: Nanos,
    /// Inside an outgoing HTTP call, with the GVL.
    pub http_running: Nanos,
    /// Inside an outgoing HTTP call, off the GVL.
    pub http_waiting: Nanos,
    /// Off the GVL for a Mutex, ConditionVariable, Queue or Monitor.
    pub lock: Nanos,
    /// Off the GVL in `sleep`.
    pub sleep: Nanos,
    /// Off the GVL for anything else.
    pub other_io: Nanos,
    /// Time with the GVL outside of the other parts: CPU and waiting for a core.
    pub running: Nanos,
}

/// Thread CPU time measured at every change of state of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuSample {
    /// Wall time of the stretches in `Parts::running`.
    pub running_wall: Nanos,
    /// Thread CPU time within the running stretches.
    pub running_cpu: Nanos,
    /// Thread CPU time of the whole request.
    pub total_cpu: Nanos,
}

/// Cost of one statement at one source line to one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SqlUse {
    /// The statement without literals; for outgoing HTTP `HTTP GET host`.
    pub digest: TextId,
    /// Source lines of the app issuing the statement, innermost first: `db.rb:12 in query <
    /// app.rb:120 in get_channel`.
    pub site: TextId,
    /// Number of calls in the request.
    pub count: u32,
    /// Rows returned, if reported by the driver.
    pub rows: u64,
    /// Time inside the calls: with the GVL, off the GVL, and waiting for the GVL.
    pub time: Nanos,
    /// Of `time`, waiting for the GVL.
    pub gvl_wait: Nanos,
}

/// An activity or a wait of a request beside statements, identified by kind, name and source line.
/// It changes nothing in [`Parts`]: there its time has the names it has anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act {
    /// Kind of the activity.
    pub kind: ActKind,
    /// Name of the act, such as `JSON.generate` or `Mysql2::Client`; for waits the object waited
    /// for, such as `Mutex`, where known.
    pub what: TextId,
    /// Source lines of the app, innermost first, as in [`SqlUse::site`].
    pub site: TextId,
    /// Number of acts in the request.
    pub count: u32,
    /// Time inside; for waits the time off the GVL.
    pub time: Nanos,
}

/// Kinds of [`Act`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ActKind {
    /// Waited for a lock, a millisecond or more at a time, as the next two.
    Lock = 0,
    /// Slept.
    Sleep = 1,
    /// A wait for anything else, outside of calls.
    OtherIo = 2,
    /// A named kind of work: JSON, Marshal, templates.
    Work = 3,
    /// Opened a connection to a database.
    Connect = 4,
    /// Made a prepared statement.
    Prepare = 5,
    /// Closed one.
    Close = 6,
}

impl ActKind {
    /// All kinds, by number.
    pub const ALL: [ActKind; 7] = [
        ActKind::Lock,
        ActKind::Sleep,
        ActKind::OtherIo,
        ActKind::Work,
        ActKind::Connect,
        ActKind::Prepare,
        ActKind::Close,
    ];
}

/// Most stretches of one request; in a full list the last of each kind stands for all later ones
/// too.
pub const BURSTS_MAX: usize = 96;

/// A stretch of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Kind of the burst.
    pub kind: BurstKind,
    /// Length of the stretch.
    pub length: Nanos,
}

/// Kind of a stretch of a request. GVL wait is left out: it is what a simulation must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BurstKind {
    /// Holding the GVL.
    Running = 0,
    /// Off the GVL in SQL.
    Sql = 1,
    /// Off the GVL in outgoing HTTP.
    Http = 2,
    /// Off the GVL for a lock.
    Lock = 3,
    /// Off the GVL in `sleep`.
    Sleep = 4,
    /// Off the GVL for anything else.
    OtherIo = 5,
}

impl BurstKind {
    /// All kinds, by number.
    pub const ALL: [BurstKind; 6] = [
        BurstKind::Running,
        BurstKind::Sql,
        BurstKind::Http,
        BurstKind::Lock,
        BurstKind::Sleep,
        BurstKind::OtherIo,
    ];
}

impl Parts {
    /// Returns the parts for nanoseconds in the order of the fields, as in file format and rings.
    pub fn from_nanos(parts: [u64; 10]) -> Parts {
        let [
            gvl_wait,
            gc,
            sql_running,
            sql_waiting,
            http_running,
            http_waiting,
            lock,
            sleep,
            other_io,
            running,
        ] = parts.map(Nanos);
        Parts {
            gvl_wait,
            gc,
            sql_running,
            sql_waiting,
            http_running,
            http_waiting,
            lock,
            sleep,
            other_io,
            running,
        }
    }

    /// Sum of all parts.
    pub fn total(&self) -> Nanos {
        self.gvl_wait
            + self.gc
            + self.sql_running
            + self.sql_waiting
            + self.http_running
            + self.http_waiting
            + self.lock
            + self.sleep
            + self.other_io
            + self.running
    }
}

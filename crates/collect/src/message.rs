//! What the near side and the collector say to each other, in the frames of [`remote`].

use serde::{Deserialize, Serialize};

use remote::frame::KIND_MIN;

use crate::sockets::Link;

/// Near to far: [`Begin`].
pub const BEGIN: u8 = KIND_MIN;
/// Near to far: the stretch is over. Nothing in it.
pub const END: u8 = KIND_MIN + 1;
/// Far to near: [`Begun`].
pub const BEGUN: u8 = KIND_MIN + 2;
/// Far to near: [`Sample`], each second, and one when the stretch is over.
pub const SAMPLE: u8 = KIND_MIN + 3;
/// Far to near: bytes of a log, behind the log's index in [`Begin::logs`] as two bytes, the lower
/// first.
pub const LINES: u8 = KIND_MIN + 4;
/// Far to near: [`Ended`], the last of all.
pub const ENDED: u8 = KIND_MIN + 5;
/// Far to near: a list of [`Counted`], some of all statements.
pub const STATEMENTS: u8 = KIND_MIN + 6;
/// Far to near: a list of [`RouteTime`], some of all.
pub const ROUTES: u8 = KIND_MIN + 7;
/// Far to near: a list of [`StatementTime`], some of all.
pub const CALLS: u8 = KIND_MIN + 8;
/// Far to near: still at work on what [`ENDED`] says, now and then. Nothing in it.
pub const WORKING: u8 = KIND_MIN + 9;
/// Far to near: a list of [`Process`], some of those of the next [`SAMPLE`].
pub const PROCESSES: u8 = KIND_MIN + 10;

/// What to collect from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Paths on the far host.
    pub logs: Vec<String>,
    /// Units of systemd with journals to read.
    pub units: Vec<String>,
    /// Address of the database with the counters, as used on the far host.
    pub database: Option<Address>,
    /// Folder of the rings of an app with agents on standby.
    pub rings: Option<String>,
}

/// Address of a database, never shown, since a password may be inside.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(pub String);

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Address")
    }
}

/// The stretch has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// For each log, the error when the log cannot be read.
    pub errors: Vec<Option<String>>,
    /// Cores of the host.
    pub cores: u32,
    /// The limit of a container's CPU time, thousandths of a core.
    pub limit_millicores: Option<u32>,
}

/// Counters of a host at an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When, nanoseconds on the host's monotonic clock.
    pub at_ns: u64,
    /// CPU time of all cores, nanoseconds; in a container, of all processes.
    pub cpu_busy_ns: u64,
    /// CPU time given to others by the hypervisor, nanoseconds.
    pub cpu_steal_ns: u64,
    /// Memory free or reclaimable at once, bytes.
    pub memory_available: u64,
    /// Bytes from other hosts, since boot.
    pub received: u64,
    /// Bytes to other hosts, since boot.
    pub sent: u64,
    /// Bytes read from disks, since boot.
    pub disk_read: u64,
    /// Bytes written to disks, since boot.
    pub disk_written: u64,
    /// Connections opened by programs of the host, since boot.
    pub opened: Option<u64>,
    /// Connections to other addresses, as now established.
    pub links: Vec<Link>,
    /// New processes, and processes with CPU time since the sample before.
    pub processes: Vec<Process>,
}

/// A process at the instant of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Start time, in a unit of the host's own.
    pub started: u64,
    /// Command name.
    pub name: String,
    /// CPU time since the start of the process, nanoseconds.
    pub cpu_ns: u64,
    /// Resident memory, bytes.
    pub rss: u64,
    /// Open file descriptors and the limit; `None` without the right to read both.
    pub descriptors: Option<(u64, u64)>,
}

/// All was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// For each log.
    pub logs: Vec<LogEnd>,
    /// For each unit.
    pub units: Vec<UnitEnd>,
    /// Of the database, whose statements were sent before.
    pub database: Option<DatabaseEnd>,
    /// Of the inside of the app, whose routes and calls were sent before.
    pub inside: Option<InsideEnd>,
}

/// Names of the states of a request inside of the app, in the order of
/// [`RouteTime::states_ns`].
pub const STATES: [&str; 8] = [
    "gvl_wait", "gc", "sql", "http", "lock", "sleep", "other_io", "running",
];

/// The requests of a route, as recorded inside of the app.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteTime {
    /// The framework's name of the route; empty where there is none.
    pub route: String,
    /// Requests recorded.
    pub requests: u64,
    /// Requests failed, with an exception or a status from 500 on.
    pub failed: u64,
    /// Time in the handler, nanoseconds.
    pub time_ns: u64,
    /// Time from being read to the handler's start, nanoseconds.
    pub waited_ns: u64,
    /// Time in the handler by state, in the order of [`STATES`].
    pub states_ns: [u64; 8],
}

/// The calls of a statement or another service by one source line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementTime {
    /// Text without literals.
    pub digest: String,
    /// Source lines, innermost first; empty where unknown.
    pub site: String,
    /// Calls.
    pub count: u64,
    /// Rows returned, if reported by the driver.
    pub rows: u64,
    /// Time in the calls, nanoseconds.
    pub time_ns: u64,
    /// Part of `time_ns` waiting for the GVL.
    pub gvl_wait_ns: u64,
}

/// How the reading of an app's rings ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideEnd {
    /// Why nothing was read.
    pub error: Option<String>,
    /// What the agents could not do.
    pub notes: Vec<String>,
    /// Such as `puma 6.6.0`.
    pub server: String,
    /// `ruby_description`.
    pub ruby: String,
    /// Processes with requests.
    pub processes: u64,
    /// Requests recorded.
    pub requests: u64,
    /// Records lost as a ring was full.
    pub dropped: u64,
}

/// The executions of a statement, as counted by the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Text without literals.
    pub digest: String,
    /// Executions.
    pub count: u64,
    /// Time in the server, nanoseconds.
    pub time_ns: u64,
    /// Rows read; 0 where the server counts none.
    pub rows_examined: u64,
    /// Rows returned or changed.
    pub rows_sent: u64,
    /// Pages read, from memory or from disk; 0 where the server counts none.
    pub pages: u64,
}

/// How the readings of a database's counters ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseEnd {
    /// Why there is no reading.
    pub error: Option<String>,
    /// What the server refused, or does not count.
    pub notes: Vec<String>,
    /// Statements prepared by clients: a round trip each, before any execution.
    pub prepares: u64,
    /// Connections opened by clients.
    #[serde(default)]
    pub connections: u64,
    /// Statements sent by clients, without the readings' own; `None` where the server does not
    /// count them.
    #[serde(default)]
    pub sent: Option<u64>,
    /// Round trips of all connections being opened, at the least.
    #[serde(default)]
    pub opening_trips: u64,
}

/// What a unit wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitEnd {
    /// Name of the unit.
    pub unit: String,
    /// Why the journal could not be read.
    pub error: Option<String>,
    /// All entries of the window.
    pub entries: u64,
    /// Entries of the priority of warnings.
    pub warnings: u64,
    /// Entries with a priority above.
    pub errors: u64,
    /// Messages of the two, the first of each text.
    pub messages: Vec<Entry>,
}

/// A message of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// First time of the message, microseconds since 1970 by the host's wall clock.
    pub at_us: i64,
    /// How often.
    pub count: u64,
    /// The text.
    pub message: String,
}

/// How the window of a log ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEnd {
    /// Error of reading the log; also when only the beginning was read.
    pub error: Option<String>,
    /// Number of truncations of files of the log.
    pub truncations: u64,
    /// Lines left out for having no end or more than a megabyte.
    pub incomplete: u64,
}

//! The host, the processes of the run, and what the measuring parts say of themselves.

use crate::{Nanos, Timestamp};

/// The host and the processes of the run at one instant. Counters are cumulative since boot or start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSample {
    /// When.
    pub at: Timestamp,
    /// CPU time of all cores in user and system mode.
    pub cpu_busy: Nanos,
    /// CPU time of all cores stolen by the hypervisor.
    pub cpu_steal: Nanos,
    /// Time in which some task waited for a core (`/proc/pressure/cpu`, `some`), where the kernel tells.
    pub cpu_pressure: Option<Nanos>,
    /// Time in which some task waited for I/O.
    pub io_pressure: Option<Nanos>,
    /// Memory available, bytes.
    pub memory_available: u64,
    /// The processes.
    pub processes: Vec<ProcessSample>,
}

/// One process at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessSample {
    /// Process id.
    pub pid: u32,
    /// What it does in this run.
    pub role: ProcessRole,
    /// Its command name.
    pub name: String,
    /// CPU time since it started, user and system.
    pub cpu: Nanos,
    /// Resident memory, bytes.
    pub rss: u64,
}

/// What a process does in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ProcessRole {
    /// The app or one of its workers.
    App = 0,
    /// The database server, when it is on this host.
    Database = 1,
    /// Hakaru with its load generator.
    Generator = 2,
}

/// What the agent in one Ruby process reported about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentProcess {
    /// The process.
    pub pid: u32,
    /// `ruby_description`, such as `ruby 3.3.8 (2025-04-09 revision b200bad6cd) [x86_64-linux-gnu]`.
    pub ruby: String,
    /// Name and version of the app server, such as `puma 6.6.0`; empty until known.
    pub server: String,
    /// Whether GVL events are seen (Ruby 3.2 and later).
    pub gvl: bool,
    /// Requests it recorded.
    pub requests: u64,
    /// Records lost because a ring was full.
    pub dropped: u64,
    /// CPU time spent in the agent, estimated by itself.
    pub cost: Nanos,
    /// What it could not do, one sentence each.
    pub troubles: Vec<String>,
}

/// What the load generator reports about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Generator {
    /// CPU time of its threads over the measured window.
    pub cpu: Nanos,
    /// Number of its threads.
    pub threads: u32,
    /// Requests that were due in the window and never sent.
    pub unsent: u64,
}

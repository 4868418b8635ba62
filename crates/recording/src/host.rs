//! The host, the processes of the run, and what the measuring parts say of themselves.

use crate::{Nanos, Setting, Timestamp};

/// The host and the processes of the run at one instant. Counters are cumulative since boot or
/// start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSample {
    /// Time of the sample.
    pub at: Timestamp,
    /// CPU time of all cores in user and system mode.
    pub cpu_busy: Nanos,
    /// CPU time of all cores stolen by the hypervisor.
    pub cpu_steal: Nanos,
    /// Time in which some task waited for a core (`/proc/pressure/cpu`, `some`), if reported by the
    /// kernel.
    pub cpu_pressure: Option<Nanos>,
    /// Time in which some task waited for I/O.
    pub io_pressure: Option<Nanos>,
    /// Memory available, bytes.
    pub memory_available: u64,
    /// The processes.
    pub processes: Vec<ProcessSample>,
    /// Time in which some task waited for memory.
    pub memory_pressure: Option<Nanos>,
    /// Limit on the memory of the app's control group, bytes; `None` without a limit.
    pub memory_limit: Option<u64>,
    /// Memory used by the control group, bytes, without what the kernel can take back at once.
    pub memory_used: Option<u64>,
    /// Bytes over all network interfaces; `None` if not reported by the kernel.
    pub network: Option<NetworkBytes>,
    /// Bytes of all disks; `None` if not reported by the kernel.
    pub disk: Option<DiskBytes>,
    /// Connections accepted by the kernel on the app's port, not yet taken by a thread.
    pub backlog: Option<u32>,
    /// Mean time of a fixed small piece of work on the busy cores since the sample before.
    pub core_pace: Option<Nanos>,
}

/// Bytes over the network since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkBytes {
    /// Bytes received from other hosts.
    pub received: u64,
    /// To other hosts.
    pub sent: u64,
    /// Bytes between processes of the host, counted once.
    pub loopback: u64,
}

/// Bytes from and to disks since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskBytes {
    /// Read.
    pub read: u64,
    /// Written.
    pub written: u64,
}

/// One process at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessSample {
    /// Process id.
    pub pid: u32,
    /// Role of the process in the run.
    pub role: ProcessRole,
    /// Command name of the process.
    pub name: String,
    /// CPU time since the start of the process, user and system.
    pub cpu: Nanos,
    /// Resident memory, bytes.
    pub rss: u64,
    /// Resident bytes with each shared page divided by the number of processes sharing the page. Of
    /// the app only.
    pub pss: Option<u64>,
    /// Number of the process among the workers of a cluster, from 0; `None` for other processes.
    pub worker: Option<u32>,
    /// Threads.
    pub threads: u32,
    /// Open files and sockets; `None` where we may not look.
    pub fds: Option<u32>,
    /// Limit on open files; `None` also without a limit.
    pub fds_limit: Option<u64>,
    /// Address space in use, bytes; `None` without a limit.
    pub address_space: Option<u64>,
    /// Limit on the address space, bytes (`ulimit -v`).
    pub address_space_limit: Option<u64>,
}

/// Role of a process in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ProcessRole {
    /// The app or one of the app's workers.
    #[default]
    App = 0,
    /// The database server, if on the same host.
    Database = 1,
    /// Hakaru with the load generator.
    Generator = 2,
    /// A server of keys and values, such as Redis, if on the same host.
    Store = 3,
}

/// Report of the agent in one Ruby process about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentProcess {
    /// The process.
    pub pid: u32,
    /// `ruby_description`, such as `ruby 3.3.8 (2025-04-09 revision b200bad6cd)
    /// [x86_64-linux-gnu]`.
    pub ruby: String,
    /// Name and version of the app server, such as `puma 6.6.0`; empty until known.
    pub server: String,
    /// Whether GVL events are recorded (Ruby 3.2 and later).
    pub gvl: bool,
    /// Number of requests recorded by the agent.
    pub requests: u64,
    /// Records lost because a ring was full.
    pub dropped: u64,
    /// CPU time spent in the agent, estimated by itself.
    pub cost: Nanos,
    /// Errors of the agent, one sentence each.
    pub troubles: Vec<String>,
    /// Reported settings: name and value, such as `RACK_ENV` and `development`. The names are
    /// listed in `docs/agent.md`.
    pub settings: Vec<Setting>,
}

impl AgentProcess {
    /// Returns the process's value of a setting.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().find(|known| known.name == name);
        found.map(|known| known.value.as_str())
    }
}

/// Ruby's own counters in one process, about once a second. All are since the process started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeSample {
    /// Time of the sample.
    pub at: Timestamp,
    /// The process.
    pub pid: u32,
    /// Collections of garbage, minor and major.
    pub gc_count: u64,
    /// Major collections among `gc_count`.
    pub gc_major: u64,
    /// Time spent collecting, from `GC.stat(:time)`: CPU time of the process, including the other
    /// threads'.
    pub gc_time: Nanos,
    /// Cause of the last collection, from `GC.latest_gc_info`: `newobj`, `malloc`, `method`, …, and
    /// for a major one also why, such as `newobj, major by nofree`. Empty before the first.
    pub gc_cause: String,
    /// Objects alive in the heap.
    pub heap_live: u64,
    /// The compiler's counters; `None` with the compiler off.
    pub jit: Option<JitSample>,
    /// Threads of the app server with a request, as reported by the server; `None` if not reported.
    pub threads_busy: Option<u32>,
    /// Requests in the process waiting for a thread.
    pub backlog: Option<u32>,
}

/// The just-in-time compiler of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JitSample {
    /// Methods and blocks compiled.
    pub compiled: u64,
    /// Bytes of machine code.
    pub code_bytes: u64,
    /// Time spent compiling.
    pub compile_time: Nanos,
    /// Compiled code thrown away as invalid.
    pub invalidated: u64,
}

/// Figures of the load generator about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Generator {
    /// CPU time of the generator's threads over the measured window.
    pub cpu: Nanos,
    /// Number of the generator's threads.
    pub threads: u32,
    /// Requests due in the window and never sent.
    pub unsent: u64,
}

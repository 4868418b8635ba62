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

/// What to collect from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Paths on the far host.
    pub logs: Vec<String>,
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

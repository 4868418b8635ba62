//! The facts examined by checks, as read and measured at one moment.
//!
//! Everything may be missing: `None`, an absent key or an empty list is "could not be read", and
//! [`Snapshot::unseen`] says why. A name ends with its unit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// The machine.
    pub machine: Machine,
    /// The process in question: the app's, or what a process started here would get.
    pub process: Process,
    /// The disk of the folder in question.
    pub disk: Disk,
    /// The app's Ruby.
    pub ruby: Option<Ruby>,
    /// The app in the folder.
    pub app: Option<App>,
    /// Databases of the app.
    pub databases: Vec<Database>,
    /// Measurements.
    pub measures: Measures,
    /// Facts not readable or measurable.
    pub unseen: Vec<Unseen>,
}

impl Snapshot {
    /// Returns the snapshot as JSON, for a recording.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a snapshot from JSON; `None` for an empty text, or another version's.
    pub fn of_json(text: &str) -> Option<Snapshot> {
        serde_json::from_str(text).ok().map(Snapshot::redacted)
    }
}

/// A fact not readable or measurable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unseen {
    /// The missing fact.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// Known parameters of the kernel's boot, by [`crate::known_parameters`].
    pub boot: Option<String>,
    /// Name of the processor.
    pub cpu: Option<String>,
    /// Whether a hypervisor announces itself.
    pub is_virtual: bool,
    /// Cores online.
    pub cores: Option<u32>,
    /// Files of `/sys/devices/system/cpu/vulnerabilities`.
    pub vulnerabilities: BTreeMap<String, String>,
    /// Frequency governor of the first core.
    pub governor: Option<String>,
    /// Frequency driver of the first core.
    pub frequency_driver: Option<String>,
    /// Whether turbo or boost is switched off.
    pub turbo_off: Option<bool>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// The clock source in use.
    pub clocksource: Option<String>,
    /// Available clock sources.
    pub clocksources: Vec<String>,
    /// The chosen word of `transparent_hugepage/enabled`.
    pub huge_pages: Option<String>,
    /// `/proc/meminfo`, in bytes.
    pub memory_bytes: BTreeMap<String, u64>,
    /// Pressure: `cpu.some`, `memory.some`, `io.full`, … as the mean of the last 60 s, 0 to 1.
    pub pressure: BTreeMap<String, f64>,
    /// Kernel settings by dotted name.
    pub sysctl: BTreeMap<String, String>,
    /// Counters since boot: `ListenOverflows`, `ListenDrops`, `pswpin`, `pswpout`, `oom_kill`.
    pub counters: BTreeMap<String, u64>,
    /// Connections in TIME_WAIT on a port of the range for outgoing connections.
    pub time_wait: Option<u64>,
    /// Seconds since boot.
    pub uptime_s: Option<f64>,
    /// `ndots` and the number of search domains in `resolv.conf`.
    pub resolver: Option<(u32, u32)>,
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// Number of the process; `None` for the values of a process started here.
    pub pid: Option<u32>,
    /// Name of the process.
    pub name: Option<String>,
    /// `Speculation_Store_Bypass` of the process's status.
    pub store_bypass: Option<String>,
    /// `SpeculationIndirectBranch` of the process's status.
    pub indirect_branch: Option<String>,
    /// `Seccomp` of the process's status: 0 off, 1 strict, 2 filter.
    pub seccomp: Option<u32>,
    /// Number of seccomp filters.
    pub seccomp_filters: Option<u32>,
    /// Cores allowed to the process.
    pub cores_allowed: Option<u32>,
    /// Threads.
    pub threads: Option<u32>,
    /// Whether the process may have huge pages, which a process can switch off for itself.
    pub huge_pages: Option<bool>,
    /// Memory of the process in swap.
    pub swapped_bytes: Option<u64>,
    /// Priority; 0 is normal, larger yields to others.
    pub nice: Option<i32>,
    /// Soft limit of open files; `None` without a limit.
    pub files_soft: Option<u64>,
    /// Hard limit of open files.
    pub files_hard: Option<u64>,
    /// Open files.
    pub files_open: Option<u64>,
    /// Soft limit of the user's processes and threads.
    pub processes_soft: Option<u64>,
    /// Processes and threads of the machine.
    pub processes_now: Option<u64>,
    /// Allocator among the loaded libraries: `jemalloc`, `tcmalloc`, `mimalloc` or `libc`.
    pub allocator: Option<String>,
    /// Environment variables of concern to Ruby, the allocator and the app server.
    pub env: BTreeMap<String, String>,
    /// Control group of the process.
    pub group: Option<Group>,
}

/// A control group, the tightest limit between the process and the root for each figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// 1 or 2.
    pub version: u32,
    /// Path of the group in the hierarchy.
    pub path: String,
    /// Quota in cores.
    pub quota_cores: Option<f64>,
    /// Length of the quota's period.
    pub period_us: Option<u64>,
    /// Periods in which the group ran.
    pub periods: Option<u64>,
    /// Periods in which the group was throttled.
    pub throttled: Option<u64>,
    /// Time for which the group was throttled.
    pub throttled_ns: Option<u64>,
    /// Weight against other groups; 100 is normal in version 2.
    pub weight: Option<u64>,
    /// Limit from which memory is reclaimed by force.
    pub memory_high_bytes: Option<u64>,
    /// Limit from which processes are killed.
    pub memory_max_bytes: Option<u64>,
    /// Memory in use.
    pub memory_bytes: Option<u64>,
    /// Number of forced reclaims of memory.
    pub events_high: Option<u64>,
    /// Processes killed for lack of memory.
    pub events_oom_kill: Option<u64>,
}

/// The disk of a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// The folder.
    pub folder: Option<String>,
    /// Kind of the file system.
    pub filesystem: Option<String>,
    /// Mount options.
    pub options: Vec<String>,
    /// Device.
    pub device: Option<String>,
    /// Folder at which the file system is mounted.
    pub mounted_at: Option<String>,
    /// Folder in sysfs with the settings of the whole disk's queue.
    pub queue: Option<String>,
    /// I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Rotation by the kernel's word, often false of virtual disks.
    pub rotational: Option<bool>,
    /// Size.
    pub total_bytes: Option<u64>,
    /// Bytes free for an ordinary user.
    pub free_bytes: Option<u64>,
    /// Share of file numbers in use, 0 to 1.
    pub inodes_used_share: Option<f64>,
}

/// A Ruby interpreter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ruby {
    /// `RUBY_VERSION`.
    pub version: String,
    /// `RUBY_DESCRIPTION`.
    pub description: String,
    /// Whether YJIT is built in.
    pub yjit_built: bool,
    /// Whether YJIT is on in the environment of the app, before the app's own code.
    pub yjit_on: bool,
    /// `optflags` of the build.
    pub optflags: String,
    /// `CFLAGS` of the build.
    pub cflags: String,
    /// `cppflags` of the build.
    pub cppflags: String,
    /// Whether the interpreter is linked with jemalloc.
    pub jemalloc: bool,
    /// Gems whose native part is not built.
    pub gems_unbuilt: Vec<String>,
    /// Whether core methods have been traced at start, which discards compiled code.
    pub tracing: bool,
}

impl Ruby {
    /// Whether the interpreter is CRuby: others have an own compiler and no lock for all threads.
    pub fn is_cruby(&self) -> bool {
        !["jruby", "truffleruby"]
            .iter()
            .any(|other| self.description.starts_with(other))
    }

    /// Whether the C library is musl, whose allocator has no arenas.
    pub fn is_musl(&self) -> bool {
        self.description.contains("musl")
    }
}

/// Origin of a number in an app's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// No line sets the number.
    #[default]
    Unset,
    /// A line with the number itself, against which no variable counts.
    Literal,
    /// A line reading the environment variable.
    Variable(String),
    /// A line whose number only the app knows.
    Computed,
}

/// An app's folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct App {
    /// Versions of the app's gems, from `Gemfile.lock`.
    pub gems: BTreeMap<String, String>,
    /// Puma's workers, as written or by default of a variable.
    pub workers: Option<u32>,
    /// Origin of the workers.
    pub workers_origin: Origin,
    /// Puma's threads of a worker, as written or by default of a variable.
    pub threads: Option<u32>,
    /// Origin of the threads.
    pub threads_origin: Origin,
    /// Whether Puma loads the app before forking.
    pub preload: Option<bool>,
    /// Connections of the pool of Active Record, as written or by default of a variable.
    pub pool: Option<u32>,
    /// Origin of the pool.
    pub pool_origin: Origin,
    /// Settings of `config/environments/production.rb`, as written.
    pub production: BTreeMap<String, String>,
    /// Whether `config/boot.rb` loads bootsnap.
    pub boots_snap: bool,
    /// Whether the folder is a Rails app's.
    pub is_rails: bool,
    /// Ruby files of `app` and `lib` looked at.
    pub sources: u32,
    /// Ruby files looked at without `frozen_string_literal: true`.
    pub sources_unfrozen: u32,
}

/// Kinds of databases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatabaseKind {
    /// MySQL.
    #[default]
    Mysql,
    /// MariaDB.
    Mariadb,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
}

/// A database server or file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Database {
    /// Kind.
    pub kind: DatabaseKind,
    /// Name of the server for people: `mariadb 10.11.14`.
    pub name: String,
    /// Version, numbers first.
    pub version: String,
    /// Settings and counters by the server's names; sums computed by a query are in brackets.
    pub values: BTreeMap<String, String>,
    /// Names listed by a query, such as tables without a primary key.
    pub lists: BTreeMap<String, Vec<String>>,
    /// Round trip of the smallest statement.
    pub round_trip_ns: Option<f64>,
    /// Whether the server runs on the same machine.
    pub is_local: bool,
    /// Memory limit of the server's control group; `None` without one, or for a server elsewhere.
    pub memory_max_bytes: Option<u64>,
    /// Costs of the data's disk, if another than the app's; without figures for a disk only the
    /// server may use.
    pub disk: Option<DiskCosts>,
    /// Cost of a page missing in the server's memory, nanoseconds, as shown by lookups of the
    /// server; `None` where lookups do not show the cost, or the server runs elsewhere.
    pub miss_ns: Option<f64>,
    /// Ranges of PostgreSQL's indexes under another `random_page_cost`; `None` where not asked.
    pub ranges: Option<Ranges>,
}

/// Ranges of indexed columns, planned under the present `random_page_cost` and the one advised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ranges {
    /// Ranges planned.
    pub asked: u32,
    /// Ranges with another plan under the setting advised.
    pub changed: u32,
    /// Ranges with another plan, read under both settings.
    pub timed: u32,
    /// How much longer a range takes under the present setting, the mean, nanoseconds; negative
    /// where the present plans are the faster ones.
    pub more_ns: Option<f64>,
}

/// Costs of one disk, nanoseconds each; `None` is not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiskCosts {
    /// As [`Measures::sync_ns`].
    pub sync_ns: Option<f64>,
    /// As [`Measures::append_sync_ns`].
    pub append_sync_ns: Option<f64>,
    /// As [`Measures::page_read_ns`].
    pub page_read_ns: Option<f64>,
    /// As [`Measures::sqlite_rollback_ns`], for a file of SQLite.
    pub sqlite_rollback_ns: Option<f64>,
    /// As [`Measures::sqlite_wal_ns`], for a file of SQLite.
    pub sqlite_wal_ns: Option<f64>,
}

impl Database {
    /// Returns the costs of the data's disk; nothing is known about a server on another machine.
    pub fn disk_costs(&self, measures: &Measures) -> DiskCosts {
        match self.disk {
            _ if !self.is_local => DiskCosts::default(),
            Some(costs) => costs,
            None => DiskCosts {
                sync_ns: measures.sync_ns,
                append_sync_ns: measures.append_sync_ns,
                page_read_ns: measures.page_read_ns,
                sqlite_rollback_ns: measures.sqlite_rollback_ns,
                sqlite_wal_ns: measures.sqlite_wal_ns,
            },
        }
    }

    /// A value as a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.values.get(name)?.trim().parse().ok()
    }

    /// A value as text, in lower case.
    pub fn word(&self, name: &str) -> Option<String> {
        Some(self.values.get(name)?.to_lowercase())
    }

    /// Whether a setting is on, in any spelling.
    pub fn is_on(&self, name: &str) -> Option<bool> {
        Some(matches!(
            self.word(name)?.as_str(),
            "on" | "1" | "yes" | "true"
        ))
    }

    /// Returns a list, empty if not queried.
    pub fn list(&self, name: &str) -> &[String] {
        self.lists.get(name).map_or(&[], Vec::as_slice)
    }

    /// The first two numbers of the version.
    pub fn release(&self) -> (u32, u32) {
        let mut numbers = self
            .version
            .split(|letter: char| !letter.is_ascii_digit())
            .filter_map(|number| number.parse().ok());
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }
}

/// A ratio of times: the median of paired blocks with an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Factor {
    /// Median of the pairs' ratios.
    pub median: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Pairs.
    pub pairs: u32,
}

/// Measurements; `None` is not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measures {
    /// An interpreter-like loop with mitigations switched on by `prctl`, against the same without.
    pub mitigated: Option<Factor>,
    /// The loop under a seccomp filter without `SPEC_ALLOW`, against the same without.
    pub filtered: Option<Factor>,
    /// A `while` loop of the app's Ruby with mitigations switched on, against the same without.
    pub ruby_mitigated: Option<Factor>,
    /// One turn of Ruby's `while` loop.
    pub ruby_turn_ns: Option<f64>,
    /// Reading the monotonic clock.
    pub clock_ns: Option<f64>,
    /// The smallest system call.
    pub syscall_ns: Option<f64>,
    /// Time added to a system call by the filter.
    pub filter_syscall_ns: Option<f64>,
    /// A round trip between two threads over a pipe, two context switches.
    pub switch_ns: Option<f64>,
    /// Lateness of the end of a sleep of 1 ms, the median.
    pub wake_ns: Option<f64>,
    /// A round trip over TCP on loopback.
    pub loopback_ns: Option<f64>,
    /// `fdatasync` of 4 KB written over in the folder after a pause, the mean without the longest.
    pub sync_ns: Option<f64>,
    /// The longest `fdatasync`.
    pub sync_max_ns: Option<f64>,
    /// `fdatasync` of 300 bytes added at the end of a file right after another file's, as in a
    /// commit with a binary log; likewise.
    pub append_sync_ns: Option<f64>,
    /// Reading 16 KB at random from the disk itself, past the kernel's cache; the mean without the
    /// longest.
    pub page_read_ns: Option<f64>,
    /// Reading 8 KB at random from the kernel's cache; likewise.
    pub cached_read_ns: Option<f64>,
    /// A commit of SQLite with a rollback journal and `synchronous = FULL`; likewise.
    pub sqlite_rollback_ns: Option<f64>,
    /// A commit of SQLite with a write-ahead log and `synchronous = NORMAL`; likewise.
    pub sqlite_wal_ns: Option<f64>,
    /// Reading memory one after the other.
    pub bandwidth_bytes_per_s: Option<f64>,
    /// Reading memory at random, each address known only from the read before.
    pub memory_ns: Option<f64>,
    /// Work of two threads in the time of one, 2 at best.
    pub two_threads: Option<f64>,
    /// Other load during the measurements.
    pub noise: Option<Noise>,
}

/// Losses of a busy loop to others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Noise {
    /// Time in which the loop did not run, 0 to 1.
    pub lost_share: f64,
    /// Number of times another thread of the machine took the core.
    pub switches: u64,
    /// Time of all cores taken by the hypervisor, 0 to 1.
    pub steal_share: f64,
    /// The longest interruption.
    pub longest_ns: f64,
    /// How far the time of day was moved against the monotonic clock meanwhile, back or forth.
    pub moved_ns: f64,
    /// Processes with most CPU meanwhile, in cores.
    pub busiest: Vec<(String, f64)>,
}

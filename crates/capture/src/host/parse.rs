//! Parsers of the texts under `/proc`, after proc(5).

use recording::{DiskBytes, NetworkBytes};

/// CPU time of all cores since boot, in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CpuTicks {
    pub(crate) busy_ticks: u64,
    pub(crate) steal_ticks: u64,
    /// Waits for I/O included.
    pub(crate) idle_ticks: u64,
}

/// Fields of `/proc/<pid>/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) name: String,
    /// Whether the process is a zombie: ended, and not waited for.
    pub(crate) ended: bool,
    pub(crate) cpu_ticks: u64,
    pub(crate) threads: u32,
    pub(crate) started_ticks: u64,
}

/// The line `cpu user nice system idle iowait irq softirq steal guest guest_nice` of `/proc/stat`.
/// Guest time is part of user and nice.
pub(super) fn cpu(text: &str) -> Option<CpuTicks> {
    ticks(text.lines().find_map(|line| line.strip_prefix("cpu "))?)
}

/// The lines `cpu0 user nice …` of `/proc/stat`, by the core's number.
pub(crate) fn cores(text: &str) -> Vec<(usize, CpuTicks)> {
    let core = |line: &str| {
        let (number, rest) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((number.parse().ok()?, ticks(rest)?))
    };
    text.lines().filter_map(core).collect()
}

fn ticks(counters: &str) -> Option<CpuTicks> {
    let ticks: Vec<u64> = counters
        .split_ascii_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let [user, nice, system, idle, rest @ ..] = ticks.as_slice() else {
        return None;
    };
    let later = |index: usize| rest.get(index).copied().unwrap_or(0);
    let (irq, softirq, steal) = (later(1), later(2), later(3));
    let busy = [*user, *nice, *system, irq, softirq];
    Some(CpuTicks {
        busy_ticks: busy.into_iter().fold(0, u64::saturating_add),
        steal_ticks: steal,
        idle_ticks: idle.saturating_add(later(0)),
    })
}

/// Total of the line `some` of `/proc/pressure/*`, which counts microseconds.
pub(super) fn pressure(text: &str) -> Option<recording::Nanos> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix("total="))?;
    let micros: u64 = total.parse().ok()?;
    Some(recording::Nanos(micros.saturating_mul(1000)))
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
pub(super) fn memory_available(text: &str) -> Option<u64> {
    kibibytes(text, "MemAvailable:")
}

/// `/proc/<pid>/stat`. The name stands in parentheses and may hold anything, parentheses included.
pub(crate) fn process(text: &str) -> Option<ProcessStat> {
    let (_pid, rest) = text.split_once('(')?;
    let (name, rest) = rest.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // proc(5) counts from 1 with the name as field 2, so that field n is here at n − 3.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let (user, system) = (number(14)?, number(15)?);
    Some(ProcessStat {
        name: name.to_owned(),
        ended: matches!(*fields.first()?, "Z" | "X"),
        cpu_ticks: user.saturating_add(system),
        threads: number(20)?.try_into().ok()?,
        started_ticks: number(22)?,
    })
}

/// Second number of `/proc/<pid>/statm`.
pub(crate) fn resident_pages(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// `/proc/<pid>/task/<tid>/children`.
pub(super) fn children(text: &str) -> impl Iterator<Item = u32> {
    text.split_ascii_whitespace()
        .filter_map(|word| word.parse().ok())
}

/// Bytes over all interfaces of `/proc/net/dev`; `lo` counts each byte once as received and once as
/// sent.
pub(super) fn network(text: &str) -> Option<NetworkBytes> {
    let mut bytes: Option<NetworkBytes> = None;
    for line in text.lines() {
        let Some((name, numbers)) = line.split_once(':') else {
            continue;
        };
        let numbers: Vec<u64> = numbers
            .split_ascii_whitespace()
            .map_while(|word| word.parse().ok())
            .collect();
        let (Some(received), Some(sent)) = (numbers.first(), numbers.get(8)) else {
            continue;
        };
        let sum = bytes.get_or_insert_default();
        if name.trim() == "lo" {
            sum.loopback = sum.loopback.saturating_add(*received);
        } else {
            sum.received = sum.received.saturating_add(*received);
            sum.sent = sum.sent.saturating_add(*sent);
        }
    }
    bytes
}

/// Bytes of the whole disks in `/proc/diskstats`, which counts sectors of 512 bytes. Partitions are
/// part of their disk; loop devices, mapped ones and memory lie on others or on none.
pub(super) fn disk(text: &str) -> Option<DiskBytes> {
    const SECTOR_BYTES: u64 = 512;
    const LAYERS: [&str; 5] = ["loop", "ram", "dm-", "md", "zram"];
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_ascii_whitespace().collect())
        .collect();
    let is_partition = |name: &str| {
        rows.iter().filter_map(|row| row.get(2)).any(|disk| {
            let number = name
                .strip_prefix(disk)
                .map(|rest| rest.trim_start_matches('p'));
            number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    let mut bytes: Option<DiskBytes> = None;
    for row in &rows {
        let (Some(name), Some(read), Some(written)) = (row.get(2), row.get(5), row.get(9)) else {
            continue;
        };
        let (Ok(read), Ok(written)) = (read.parse::<u64>(), written.parse::<u64>()) else {
            continue;
        };
        if LAYERS.iter().any(|layer| name.starts_with(layer)) || is_partition(name) {
            continue;
        }
        let sum = bytes.get_or_insert_default();
        sum.read = sum.read.saturating_add(read.saturating_mul(SECTOR_BYTES));
        sum.written = sum
            .written
            .saturating_add(written.saturating_mul(SECTOR_BYTES));
    }
    bytes
}

/// `ActiveOpens` of the `Tcp:` lines of `/proc/net/snmp`: names in the first, values in the second.
pub(crate) fn active_opens(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let index = (names.split_ascii_whitespace()).position(|name| name == "ActiveOpens")?;
    values.split_ascii_whitespace().nth(index)?.parse().ok()
}

/// Returns the connections not yet accepted from the sockets listening on `port`, in
/// `/proc/net/tcp` or `tcp6`: the receive queue of a listening socket is the length of the accept
/// queue. `None` when nobody listens.
pub(super) fn backlog(text: &str, port: u16) -> Option<u32> {
    const LISTENING: &str = "0A";
    let waiting = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (local, state, queues) = (words.get(1)?, words.get(3)?, words.get(4)?);
        let (_, found) = local.rsplit_once(':')?;
        let ours = u16::from_str_radix(found, 16) == Ok(port) && *state == LISTENING;
        let (_, received) = queues.split_once(':')?;
        u32::from_str_radix(received, 16).ok().filter(|_| ours)
    };
    text.lines().filter_map(waiting).reduce(u32::saturating_add)
}

/// A number of a control group's `memory.stat`, such as `inactive_file`.
pub(super) fn counted(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

/// A size of `/proc/<pid>/smaps_rollup` or `/proc/<pid>/status`, such as `Pss:`, in bytes.
pub(super) fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The worker's number in a title of Puma, `puma: cluster worker 0: 4121 [app]`, or Unicorn,
/// `unicorn worker[0] config.ru`.
pub(super) fn worker(title: &str) -> Option<u32> {
    let (_, rest) =
        (title.split_once("cluster worker ")).or_else(|| title.split_once("unicorn worker["))?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// A soft limit of `/proc/<pid>/limits`, such as `Max open files`; `None` when unlimited.
pub(super) fn soft_limit(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

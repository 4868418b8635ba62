//! The texts under `/proc`, as proc(5) describes them.

/// CPU time of all cores since boot, in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CpuTicks {
    pub(super) busy_ticks: u64,
    pub(super) steal_ticks: u64,
}

/// What `/proc/<pid>/stat` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessStat {
    pub(super) name: String,
    /// Whether it is a zombie: ended, and not waited for.
    pub(super) ended: bool,
    pub(super) cpu_ticks: u64,
    pub(super) started_ticks: u64,
}

/// The line `cpu user nice system idle iowait irq softirq steal guest guest_nice` of `/proc/stat`.
/// Guest time is part of user and nice.
pub(super) fn cpu(text: &str) -> Option<CpuTicks> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line
        .split_ascii_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let [user, nice, system, _idle, rest @ ..] = ticks.as_slice() else {
        return None;
    };
    let later = |index: usize| rest.get(index).copied().unwrap_or(0);
    let (irq, softirq, steal) = (later(1), later(2), later(3));
    let busy = [*user, *nice, *system, irq, softirq];
    Some(CpuTicks {
        busy_ticks: busy.into_iter().fold(0, u64::saturating_add),
        steal_ticks: steal,
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
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// `/proc/<pid>/stat`. The name stands in parentheses and may hold anything, parentheses included.
pub(super) fn process(text: &str) -> Option<ProcessStat> {
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
        started_ticks: number(22)?,
    })
}

/// Second number of `/proc/<pid>/statm`.
pub(super) fn resident_pages(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// `/proc/<pid>/task/<tid>/children`.
pub(super) fn children(text: &str) -> impl Iterator<Item = u32> {
    text.split_ascii_whitespace()
        .filter_map(|word| word.parse().ok())
}

//! Processes of the host: all, or by name.

use std::fs;

use recording::Nanos;

use crate::host::parse;

/// Resources used by one process until now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessUse {
    /// Process id.
    pub pid: u32,
    /// Start of the process, in clock ticks since boot: a reused id has another.
    pub started_ticks: u64,
    /// Command name of the process.
    pub name: String,
    /// CPU time since the start of the process.
    pub cpu: Nanos,
    /// Resident memory, bytes.
    pub rss: u64,
}

/// Returns all running processes of the host. One file a process is read, and one more of those
/// with memory.
pub fn all_processes() -> Vec<ProcessUse> {
    let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let page_bytes = rustix::param::page_size() as u64;
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let use_of = |pid: u32| {
        let stat = parse::process(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let pages = parse::resident_pages(&statm).unwrap_or(0);
        (!stat.ended).then_some(ProcessUse {
            pid,
            started_ticks: stat.started_ticks,
            name: stat.name,
            cpu: Nanos(stat.cpu_ticks.saturating_mul(tick)),
            rss: pages * page_bytes,
        })
    };
    let pids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(use_of).collect()
}

/// Returns the number of connections opened by the host since boot (`ActiveOpens` of
/// `/proc/net/snmp`); `None` without a counter in the kernel.
pub fn connections_opened() -> Option<u64> {
    parse::active_opens(&fs::read_to_string("/proc/net/snmp").ok()?)
}

/// Ids of the processes whose command name (`/proc/<pid>/comm`) is one of `names`.
pub fn processes_named(names: &[&str]) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/comm"))
                .is_ok_and(|name| names.contains(&name.trim_end()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{all_processes, processes_named};

    #[test]
    fn this_process_is_found_by_its_name() {
        let own = fs_name();
        assert!(processes_named(&[&own]).contains(&std::process::id()));
        assert!(processes_named(&["no process has this name"]).is_empty());
    }

    #[test]
    fn this_process_is_among_all_with_its_memory() {
        let all = all_processes();
        let own = all.iter().find(|one| one.pid == std::process::id());
        let own = own.expect("this process");
        assert!(own.rss > 0 && own.started_ticks > 0);
        assert_eq!(own.name, fs_name());
    }

    fn fs_name() -> String {
        std::fs::read_to_string("/proc/self/comm")
            .expect("readable")
            .trim_end()
            .to_owned()
    }
}

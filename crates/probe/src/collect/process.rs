//! Reads a process: treatment by the kernel, limits, allocator, and part of the environment.

use std::collections::BTreeMap;
use std::fs;

use super::{count_of_list, field, file, group, reason};
use doctor::snapshot::{Process, Unseen};

/// Names of variables read. Others may hold secrets and are not read.
const VARIABLES: [&str; 19] = [
    "COVERAGE",
    "DISABLE_BOOTSNAP",
    "LD_PRELOAD",
    "MAX_THREADS",
    "MIN_THREADS",
    "PUMA_MAX_THREADS",
    "PUMA_MIN_THREADS",
    "PUMA_WORKERS",
    "RACK_ENV",
    "RAILS_ENV",
    "RAILS_LOG_LEVEL",
    "RAILS_MAX_THREADS",
    "RAILS_MIN_THREADS",
    "RUBYOPT",
    "RUBY_FREE_MIN",
    "RUBY_MAX_CPU",
    "RUBY_MN_THREADS",
    "RUBY_THREAD_TIMESLICE",
    "WEB_CONCURRENCY",
];
/// Beginnings of names used only by Ruby and the allocator.
const FAMILIES: [&str; 4] = ["MALLOC_", "RUBY_GC_", "RUBY_HEAP_", "RUBY_YJIT_"];

/// Reads the process, or Hakaru's own in place of an app started here.
pub(super) fn read(pid: Option<u32>, unseen: &mut Vec<Unseen>) -> Process {
    let at = pid.map_or("/proc/self".to_owned(), |pid| format!("/proc/{pid}"));
    let status = match fs::read_to_string(format!("{at}/status")) {
        Ok(status) => status,
        Err(error) => {
            unseen.push(Unseen {
                what: format!("process {}", pid.unwrap_or_else(std::process::id)),
                why: reason(&error),
            });
            return Process::default();
        }
    };
    let limits = file(format!("{at}/limits")).unwrap_or_default();
    let number = |name: &str| field(&status, name)?.parse::<u32>().ok();
    Process {
        pid,
        name: field(&status, "Name").map(str::to_owned),
        store_bypass: field(&status, "Speculation_Store_Bypass").map(str::to_owned),
        indirect_branch: field(&status, "SpeculationIndirectBranch").map(str::to_owned),
        seccomp: number("Seccomp"),
        seccomp_filters: number("Seccomp_filters"),
        cores_allowed: field(&status, "Cpus_allowed_list").and_then(count_of_list),
        threads: pid.and_then(|_| number("Threads")),
        // Of an app that is not started yet nothing is known.
        huge_pages: pid.and_then(|_| number("THP_enabled")).map(|on| on != 0),
        swapped_bytes: field(&status, "VmSwap")
            .and_then(|text| text.strip_suffix(" kB")?.trim().parse::<u64>().ok())
            .map(|kilobytes| kilobytes * 1024),
        nice: file(format!("{at}/stat")).and_then(|stat| nice(&stat)),
        files_soft: limit(&limits, "Max open files").and_then(|(soft, _)| soft),
        files_hard: limit(&limits, "Max open files").and_then(|(_, hard)| hard),
        files_open: open_files(&at, pid, unseen),
        processes_soft: limit(&limits, "Max processes").and_then(|(soft, _)| soft),
        processes_now: file("/proc/loadavg").and_then(|text| {
            let (_, all) = text.split_whitespace().nth(3)?.split_once('/')?;
            all.parse().ok()
        }),
        allocator: pid.and_then(|_| allocator(&file(format!("{at}/maps"))?)),
        env: environment(&at, pid, unseen),
        group: group::read(&at, unseen),
    }
}

fn open_files(at: &str, pid: Option<u32>, unseen: &mut Vec<Unseen>) -> Option<u64> {
    // What doctor itself has open says nothing.
    pid?;
    match fs::read_dir(format!("{at}/fd")) {
        Ok(entries) => Some(entries.count() as u64),
        Err(error) => {
            unseen.push(Unseen {
                what: "open files of the process".to_owned(),
                why: format!("{at}/fd: {}; run as its user or as root", reason(&error)),
            });
            None
        }
    }
}

fn environment(at: &str, pid: Option<u32>, unseen: &mut Vec<Unseen>) -> BTreeMap<String, String> {
    let Some(_) = pid else {
        return std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| is_read(name))
            .collect();
    };
    match fs::read(format!("{at}/environ")) {
        Ok(bytes) => String::from_utf8_lossy(&bytes)
            .split('\0')
            .filter_map(|pair| pair.split_once('='))
            .filter(|(name, _)| is_read(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        Err(error) => {
            unseen.push(Unseen {
                what: "environment of the process".to_owned(),
                why: format!(
                    "{at}/environ: {}; run as its user or as root",
                    reason(&error)
                ),
            });
            BTreeMap::new()
        }
    }
}

/// Whether the value of a variable may be read.
pub(super) fn is_read(name: &str) -> bool {
    VARIABLES.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Soft and hard limit; `None` inside is unlimited.
fn limit(limits: &str, name: &str) -> Option<(Option<u64>, Option<u64>)> {
    let rest = limits.lines().find_map(|line| line.strip_prefix(name))?;
    let mut words = rest.split_whitespace();
    Some((words.next()?.parse().ok(), words.next()?.parse().ok()))
}

/// The 19th field; the second may hold blanks and brackets.
fn nice(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(16)?.parse().ok()
}

fn allocator(maps: &str) -> Option<String> {
    let known = ["jemalloc", "tcmalloc", "mimalloc"];
    let found = known.into_iter().find(|name| maps.contains(name));
    let libc = || maps.contains("libc").then_some("libc");
    found.or_else(libc).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_kernel_are_read() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\n\
                      Max processes   unlimited   unlimited   processes\n\
                      Max open files  64          4096        files\n";
        assert_eq!(
            limit(limits, "Max open files"),
            Some((Some(64), Some(4096)))
        );
        assert_eq!(limit(limits, "Max processes"), Some((None, None)));
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 3 1 0 0 20 10 1 0 9 1 1";
        assert_eq!(nice(stat), Some(10));
        assert_eq!(
            allocator("7f r-xp /usr/lib/libjemalloc.so.2\n7f r-xp /lib/libc.so.6"),
            Some("jemalloc".to_owned())
        );
    }

    #[test]
    fn variables_that_may_hold_secrets_are_not_read() {
        for name in ["COVERAGE", "MALLOC_ARENA_MAX", "RUBY_GC_HEAP_GROWTH_FACTOR"] {
            assert!(is_read(name), "{name}");
        }
        for name in [
            "COVERAGE_TOKEN",
            "RUBY_LLM_API_KEY",
            "RAILS_ENV_KEY",
            "SECRET",
        ] {
            assert!(!is_read(name), "{name}");
        }
    }

    #[test]
    fn a_process_that_is_gone_is_listed_as_not_seen() {
        let mut unseen = Vec::new();
        assert_eq!(read(Some(u32::MAX), &mut unseen), Process::default());
        assert_eq!(unseen.len(), 1);
    }
}

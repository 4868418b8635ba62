//! Memory and swap.

use figures::numbers;
use words::{phrase, text};

use crate::check::{Area, Check, Cost, Found, Level, Look, Needs};
use crate::snapshot::Snapshot;

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "memory.process-swapped",
        area: Area::Memory,
        title: phrase!("a part of the process is swapped out"),
        why: phrase!("the next garbage collection reads all of it back from disk, page by page"),
        source: "man 5 proc_pid_status (VmSwap)",
        look: Look::Whole(|s| {
            const MUCH: u64 = 8 << 20;
            s.process.pid?;
            let bytes = s.process.swapped_bytes.filter(|bytes| *bytes > MUCH)?;
            let level = if bytes > 64 << 20 {
                Level::High
            } else {
                Level::Medium
            };
            Some(
                Found::new(level, format!("VmSwap = {}", numbers::bytes(bytes)))
                    .change(
                        // swapoff would take memory from everybody on the machine.
                        phrase!("more memory or fewer workers, then a restart of the app"),
                        phrase!("as before"),
                    )
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "memory.swap-full",
        area: Area::Memory,
        title: phrase!("swap is full"),
        why: phrase!(
            "the machine has been short of memory, and the next shortage is answered by killing"
        ),
        source: "man 5 proc_meminfo",
        look: Look::Whole(|s| {
            let (total, free) = (bytes(s, "SwapTotal")?, bytes(s, "SwapFree")?);
            (total > 0.0 && free < 0.1 * total).then(|| {
                Found::new(
                    Level::High,
                    text!(
                        "{name} = {free} of {total}",
                        name = "SwapFree",
                        free = numbers::bytes(free as u64),
                        total = numbers::bytes(total as u64)
                    ),
                )
                .change(
                    phrase!("find what uses it: smem -s swap; fewer workers or more memory"),
                    phrase!("as before"),
                )
                .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "memory.swap-in-use",
        area: Area::Memory,
        title: phrase!("swap is in use"),
        why: phrase!("what was swapped out is read back from disk when it is touched"),
        source: "man 5 proc_meminfo; counters pswpin and pswpout of /proc/vmstat",
        look: Look::Whole(|s| {
            let (total, free) = (bytes(s, "SwapTotal")?, bytes(s, "SwapFree")?);
            let used = total - free;
            // A full swap is another check's.
            (used > 64e6 && free >= 0.1 * total).then(|| {
                let swapped_in = s.machine.counters.get("pswpin").copied().unwrap_or(0);
                let found = Found::new(
                    Level::Low,
                    text!(
                        "{used} of {total} swap used",
                        used = numbers::bytes(used as u64),
                        total = numbers::bytes(total as u64)
                    ),
                )
                .evidence(text!(
                    "{counter} = {count} pages since boot",
                    counter = "pswpin",
                    count = swapped_in.to_string()
                ));
                let name = "vm.swappiness";
                let now = s.machine.sysctl.get(name);
                let now: u32 = now.and_then(|text| text.parse().ok()).unwrap_or(60);
                match now > 10 {
                    true => found
                        .change(format!("sysctl {name}=10"), format!("sysctl {name}={now}"))
                        .needs(Needs::Root),
                    false => found.change(
                        phrase!("fewer workers, smaller caches, or more memory"),
                        phrase!("as before"),
                    ),
                }
            })
        }),
    },
    Check {
        id: "memory.short",
        area: Area::Memory,
        title: phrase!("little memory is available"),
        why: phrase!("files and tables that were cached are read from disk again"),
        source: "man 5 proc_meminfo (MemAvailable)",
        look: Look::Whole(|s| {
            let (total, free) = (bytes(s, "MemTotal")?, bytes(s, "MemAvailable")?);
            (free < 0.05 * total).then(|| {
                Found::new(
                    Level::Medium,
                    text!(
                        "{name} = {free} of {total}",
                        name = "MemAvailable",
                        free = numbers::bytes(free as u64),
                        total = numbers::bytes(total as u64)
                    ),
                )
                .change(
                    phrase!("fewer workers, smaller caches, or more memory"),
                    phrase!("as before"),
                )
            })
        }),
    },
    Check {
        id: "memory.pressure",
        area: Area::Memory,
        title: phrase!("threads have been waiting for memory"),
        why: phrase!("they stood still until the kernel had freed pages"),
        source: "https://docs.kernel.org/accounting/psi.html",
        look: Look::Whole(|s| {
            let share = *s.machine.pressure.get("memory.some")?;
            (share > 0.01).then(|| {
                let level = if share > 0.1 {
                    Level::High
                } else {
                    Level::Medium
                };
                Found::new(
                    level,
                    format!("memory.some avg60 = {}", numbers::share(share)),
                )
                .cost(Cost::Share(share))
                .change(
                    phrase!("fewer workers, smaller caches, or more memory"),
                    phrase!("as before"),
                )
            })
        }),
    },
    Check {
        id: "memory.overcommit",
        area: Area::Memory,
        title: phrase!("the kernel grants no more memory than it has"),
        why: phrase!(
            "forked workers share their memory, but here each must be granted all of it: fork fails although memory is free"
        ),
        source: "https://docs.kernel.org/mm/overcommit-accounting.html",
        look: Look::Whole(|s| {
            let mode = s.machine.sysctl.get("vm.overcommit_memory")?;
            (mode == "2").then(|| {
                Found::new(Level::Medium, "vm.overcommit_memory = 2")
                    .change(
                        "sysctl vm.overcommit_memory=0",
                        "sysctl vm.overcommit_memory=2",
                    )
                    .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "memory.oom-killed",
        area: Area::Memory,
        title: phrase!("the kernel has killed processes for lack of memory"),
        why: phrase!("whether the app's workers were among them stands in the kernel's log: dmesg"),
        source: "counter oom_kill of /proc/vmstat",
        look: Look::Whole(|s| {
            let killed = s
                .machine
                .counters
                .get("oom_kill")
                .copied()
                .filter(|killed| *killed > 0)?;
            Some(
                Found::new(
                    Level::Low,
                    text!(
                        "{counter} = {count} since boot",
                        counter = "oom_kill",
                        count = killed.to_string()
                    ),
                )
                .change(
                    phrase!("fewer workers, smaller caches, or more memory"),
                    phrase!("as before"),
                ),
            )
        }),
    },
    Check {
        id: "memory.huge-pages",
        area: Area::Memory,
        title: phrase!("the kernel gives memory in pages of 2 MB"),
        why: phrase!(
            "a worker that uses a part of each takes all of it, and after a fork less of it stays shared"
        ),
        source: "https://docs.kernel.org/admin-guide/mm/transhuge.html (always may use more memory; madvise)",
        look: Look::Whole(|s| {
            let setting = s.machine.huge_pages.as_deref()?;
            // Ruby switches them off for itself and all that it starts.
            s.process.huge_pages.filter(|on| *on)?;
            let workers = super::counts::workers(s)?;
            (setting == "always" && workers > 1).then(|| {
                let file = "/sys/kernel/mm/transparent_hugepage/enabled";
                Found::new(
                    Level::Low,
                    text!(
                        "transparent_hugepage = {setting}, {workers} workers",
                        setting,
                        workers = workers.to_string()
                    ),
                )
                .change(
                    format!("echo madvise > {file}"),
                    format!("echo always > {file}"),
                )
                .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "memory.slow",
        area: Area::Memory,
        title: phrase!("memory is slow"),
        why: phrase!("garbage collection and every large cache wait for memory"),
        source: "measured: dependent reads at random over 64 MB; 60 to 150 ns are usual, more over nodes or a busy bus",
        look: Look::Whole(|s| {
            const SLOW_NS: f64 = 400.0;
            let ns = s.measures.memory_ns?;
            // On a machine that others load, the wait is theirs.
            let noise = s.measures.noise.as_ref();
            if noise.is_some_and(|noise| noise.lost_share > 0.1) {
                return None;
            }

            (ns > SLOW_NS).then(|| {
                Found::new(Level::Low, text!("a read at random takes {ns} ns", ns = format!("{ns:.0}")))
                    .cost(Cost::Each { ns, event: phrase!("read of memory") })
                    .change(phrase!("another instance type, or all of the process on one node: numactl --cpunodebind=0 --membind=0 COMMAND"), phrase!("without numactl"))
            })
        }),
    },
];

fn bytes(s: &Snapshot, name: &str) -> Option<f64> {
    s.machine.memory_bytes.get(name).map(|bytes| *bytes as f64)
}

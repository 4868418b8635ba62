//! Frequency, clocks, cores and the kernel.

use words::{Text, phrase, text};

use super::release;
use crate::check::{Area, Check, Cost, Found, Level, Look, Needs};
use crate::snapshot::Snapshot;

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "cpu.governor",
        area: Area::Cpu,
        title: phrase!("the cores are kept at a low frequency"),
        why: phrase!(
            "the governor raises the frequency late or not at all; short requests run at the lowest one"
        ),
        source: "https://docs.kernel.org/admin-guide/pm/cpufreq.html",
        look: Look::Whole(governor),
    },
    Check {
        id: "cpu.turbo-off",
        area: Area::Cpu,
        title: phrase!("turbo is switched off"),
        why: phrase!(
            "a single busy core could run faster; steady figures are the only reason to leave it off"
        ),
        source: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html",
        look: Look::Whole(|s| {
            s.machine.turbo_off?.then(|| {
                let intel = s.machine.frequency_driver.as_deref() == Some("intel_pstate");
                let (file, on, off) = match intel {
                    true => ("intel_pstate/no_turbo", 0, 1),
                    false => ("cpufreq/boost", 1, 0),
                };
                let write = |value| format!("echo {value} > /sys/devices/system/cpu/{file}");
                Found::new(Level::Medium, format!("{file} = {off}"))
                    .change(write(on), write(off))
                    .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "cpu.clock-slow",
        area: Area::Cpu,
        title: phrase!("reading the clock needs a system call"),
        why: phrase!("apps, agents and databases read the clock many times in a request"),
        source: "redis syscheck.c (slow clock source); man 7 vdso",
        look: Look::Whole(clock),
    },
    Check {
        id: "cpu.syscall-slow",
        area: Area::Cpu,
        title: phrase!("system calls are slow"),
        why: phrase!(
            "every read, write and wait of the app pays for it; a sandbox or a tracer is the usual cause"
        ),
        source: "measured: getppid; 0.1 µs is usual, more than 0.4 µs under gVisor or ptrace",
        look: Look::Whole(|s| {
            const SLOW_NS: f64 = 400.0;
            let ns = s.measures.syscall_ns?;
            (ns > SLOW_NS).then(|| {
                let tracer = s.process.seccomp.unwrap_or(0);
                Found::new(Level::Medium, text!("getppid takes {ns} ns, Seccomp = {mode}", ns = format!("{ns:.0}"), mode = tracer.to_string()))
                    .cost(Cost::Each { ns, event: phrase!("system call") })
                    .change(phrase!("run outside of the sandbox or tracer (runsc, strace, an audit rule for every call)"), phrase!("inside as before"))
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "cpu.wake-slow",
        area: Area::Cpu,
        title: phrase!("idle cores wake up late"),
        why: phrase!(
            "a request that arrives at an idle server waits that long before anything runs"
        ),
        source: "measured: a sleep of 1 ms; https://docs.kernel.org/admin-guide/pm/cpuidle.html",
        look: Look::Whole(wake),
    },
    Check {
        id: "cpu.switch-slow",
        area: Area::Cpu,
        title: phrase!("switching between threads is slow"),
        why: phrase!(
            "Ruby hands its lock from thread to thread by such switches, and so does every pool"
        ),
        source: "measured: a round trip between two threads over pipes; 4 to 10 µs are usual",
        look: Look::Whole(|s| {
            const SLOW_NS: f64 = 100_000.0;
            let ns = s.measures.switch_ns?;
            (ns > SLOW_NS).then(|| {
                Found::new(Level::Low, text!("round trip between two threads {micros} µs", micros = format!("{:.0}", ns / 1e3)))
                    .cost(Cost::Each { ns, event: phrase!("round trip between threads") })
                    .change(phrase!("a machine whose idle cores do not leave to the hypervisor: boot with idle=poll or haltpoll"), phrase!("boot without it"))
                    .needs(Needs::Reboot)
            })
        }),
    },
    Check {
        id: "cpu.two-threads-one-core",
        area: Area::Cpu,
        title: phrase!("two cores do the work of little more than one"),
        why: phrase!(
            "they are two threads of one core, or the quota is one core; more workers will not give what their number promises"
        ),
        source: "measured: two threads against one; https://docs.kernel.org/admin-guide/hw-vuln/core-scheduling.html",
        look: Look::Whole(two_threads),
    },
    Check {
        id: "cpu.numa",
        area: Area::Cpu,
        title: phrase!(
            "the machine has several memory nodes, and the kernel moves pages between them"
        ),
        why: phrase!("a process whose threads and memory are on different nodes waits for memory"),
        source: "https://docs.kernel.org/admin-guide/sysctl/kernel.html (numa_balancing)",
        look: Look::Whole(|s| {
            let nodes = s.machine.numa_nodes.filter(|nodes| *nodes > 1)?;
            let balancing = s.machine.sysctl.get("kernel.numa_balancing")?;
            (balancing != "0").then(|| {
                Found::new(
                    Level::Low,
                    text!(
                        "{nodes} nodes, {setting}",
                        nodes = nodes.to_string(),
                        setting = format!("kernel.numa_balancing = {balancing}")
                    ),
                )
                .change(
                    phrase!("numactl --cpunodebind=0 --membind=0 COMMAND, a process for each node"),
                    phrase!("without numactl"),
                )
            })
        }),
    },
    Check {
        id: "cpu.zone-reclaim",
        area: Area::Cpu,
        title: phrase!("memory of the own node is reclaimed before that of others is used"),
        why: phrase!("the file cache is thrown away although memory is free"),
        source: "https://docs.kernel.org/admin-guide/sysctl/vm.html (zone_reclaim_mode)",
        look: Look::Whole(|s| {
            let mode = s.machine.sysctl.get("vm.zone_reclaim_mode")?;
            (mode != "0").then(|| {
                Found::new(Level::Medium, format!("vm.zone_reclaim_mode = {mode}"))
                    .change(
                        "sysctl vm.zone_reclaim_mode=0",
                        format!("sysctl vm.zone_reclaim_mode={mode}"),
                    )
                    .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "cpu.kernel-old",
        area: Area::Cpu,
        title: phrase!("the kernel is older than any that is still maintained"),
        why: phrase!(
            "it lacks years of work on the scheduler, on io_uring and on cheaper mitigations"
        ),
        source: "https://www.kernel.org/category/releases.html (5.10 is the oldest maintained)",
        look: Look::Whole(|s| {
            let kernel = s.machine.kernel.as_deref()?;
            (release(kernel) < (5, 10)).then(|| {
                Found::new(Level::Low, text!("kernel {kernel}", kernel))
                    .change(
                        phrase!("a distribution with Linux 6.1 or later"),
                        phrase!("the kernel as before, from the boot menu"),
                    )
                    .needs(Needs::Reboot)
            })
        }),
    },
    Check {
        id: "cpu.entropy",
        area: Area::Cpu,
        title: phrase!("the kernel may lack random numbers"),
        why: phrase!("before Linux 5.6 a read of /dev/random waits; sessions and TLS need them"),
        source: "man 4 random; https://git.kernel.org/torvalds/c/30c08efec888 (Linux 5.6)",
        look: Look::Whole(|s| {
            let kernel = s.machine.kernel.as_deref()?;
            let bits: u32 = s
                .machine
                .sysctl
                .get("kernel.random.entropy_avail")?
                .parse()
                .ok()?;
            (release(kernel) < (5, 6) && bits < 200).then(|| {
                Found::new(
                    Level::Medium,
                    format!("kernel.random.entropy_avail = {bits}"),
                )
                .change(
                    phrase!("apt install rng-tools5 (or haveged)"),
                    "apt remove rng-tools5",
                )
                .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "cpu.nice",
        area: Area::Cpu,
        title: phrase!("the process yields its core to all others"),
        why: phrase!(
            "with a positive nice value it gets a small part of a core that others want too"
        ),
        source: "man 7 sched",
        look: Look::Whole(|s| {
            let nice = s.process.nice.filter(|nice| *nice > 0)?;
            let pid = s.process.pid;
            let (change, undo) = match pid {
                Some(pid) => (
                    Text::from(format!("renice -n 0 -p {pid}")),
                    Text::from(format!("renice -n {nice} -p {pid}")),
                ),
                None => (
                    phrase!("start the app without nice").into(),
                    format!("nice -n {nice} COMMAND").into(),
                ),
            };
            let level = if pid.is_some() {
                Level::Medium
            } else {
                Level::Low
            };
            Some(
                Found::new(level, format!("nice = {nice}"))
                    .change(change, undo)
                    .needs(Needs::Root),
            )
        }),
    },
    Check {
        id: "cpu.affinity",
        area: Area::Cpu,
        title: phrase!("the process may not use all cores"),
        why: phrase!(
            "workers beyond these cores only take turns; Etc.nprocessors counts these, lscpu does not"
        ),
        source: "man 2 sched_setaffinity; ruby etc.c (Etc.nprocessors)",
        look: Look::Whole(|s| {
            let (allowed, all) = (s.process.cores_allowed?, s.machine.cores?);
            let workers = super::counts::workers(s).unwrap_or(1);
            (allowed < all).then(|| {
                let level = if workers > allowed {
                    Level::Medium
                } else {
                    Level::Low
                };
                Found::new(
                    level,
                    text!(
                        "{allowed} of {all} cores allowed",
                        allowed = allowed.to_string(),
                        all = all.to_string()
                    ),
                )
                .change(
                    text!(
                        "{command}, or no cpuset for the container",
                        command = format!("taskset -c 0-{} COMMAND", all - 1)
                    ),
                    phrase!("as before"),
                )
            })
        }),
    },
];

fn governor(s: &Snapshot) -> Option<Found> {
    let governor = s.machine.governor.as_deref()?;
    let driver = s.machine.frequency_driver.as_deref().unwrap_or_default();
    // These drivers call a governor that reaches the full frequency by itself "powersave".
    let adaptive = ["intel_pstate", "amd-pstate-epp"].contains(&driver);
    let slow = matches!(governor, "powersave" | "userspace" | "conservative") && !adaptive;
    slow.then(|| {
        let write = |value: &str| {
            format!("echo {value} | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
        };
        Found::new(
            Level::Medium,
            format!("scaling_governor = {governor} ({driver})"),
        )
        .change(write("performance"), write(governor))
        .needs(Needs::Root)
    })
}

fn clock(s: &Snapshot) -> Option<Found> {
    /// Beyond what a read through the vDSO takes anywhere.
    const SLOW_NS: f64 = 100.0;
    const FAST: [&str; 4] = [
        "tsc",
        "kvm-clock",
        "arch_sys_counter",
        "hyperv_clocksource_tsc_page",
    ];
    let source = s.machine.clocksource.as_deref()?;
    let level = match s.measures.clock_ns {
        Some(ns) if ns > 3.0 * SLOW_NS => Level::High,
        Some(ns) if ns > SLOW_NS => Level::Medium,
        None if !FAST.contains(&source) => Level::Low,
        _ => return None,
    };
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let mut found = Found::new(level, text!("clock source = {source}", source));
    if let Some(ns) = s.measures.clock_ns {
        found = found.cost(Cost::Each {
            ns,
            event: phrase!("read of the clock"),
        });
    }
    if s.machine.clocksources.iter().any(|known| known == "tsc") && source != "tsc" {
        found = found.change(
            format!("echo tsc > {file}"),
            format!("echo {source} > {file}"),
        );
    }
    Some(found.needs(Needs::Root))
}

fn wake(s: &Snapshot) -> Option<Found> {
    const LATE_NS: f64 = 200_000.0;
    let ns = s.measures.wake_ns?;
    // On a machine that others load, lateness is theirs.
    let busy = s
        .measures
        .noise
        .as_ref()
        .is_some_and(|noise| noise.lost_share > 0.03);
    (ns > LATE_NS && !busy).then(|| {
        Found::new(
            Level::Low,
            text!(
                "a sleep of 1 ms ends {late} µs late",
                late = format!("{:.0}", ns / 1e3)
            ),
        )
        .cost(Cost::Each {
            ns,
            event: phrase!("wake-up"),
        })
        .change(
            phrase!("cpupower idle-set -D 10 (no sleep states deeper than 10 µs)"),
            "cpupower idle-set -E",
        )
        .needs(Needs::Root)
    })
}

fn two_threads(s: &Snapshot) -> Option<Found> {
    const LITTLE: f64 = 1.4;
    let ratio = s.measures.two_threads?;
    let busy = s
        .measures
        .noise
        .as_ref()
        .is_some_and(|noise| noise.lost_share > 0.10);
    let quota = s.process.group.as_ref().and_then(|group| group.quota_cores);
    (ratio < LITTLE && !busy && quota.is_none_or(|cores| cores >= 2.0)).then(|| {
        Found::new(Level::Low, text!("two threads do {ratio} times the work of one", ratio = format!("{ratio:.2}")))
            .cost(Cost::Share(1.0 - ratio / 2.0))
            .change(phrase!("count the cores as half as many when choosing workers: hakaru tune measures how many are best"), phrase!("the workers as before"))
    })
}

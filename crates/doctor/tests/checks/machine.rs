//! Processor, kernel, container, memory, limits, network, disk.

use doctor::Snapshot;
use doctor::snapshot::{Factor, Group, Noise};

use crate::Case;

const FACTOR: Factor = Factor {
    median: 1.3,
    low: 1.25,
    high: 1.35,
    pairs: 12,
};

fn group(s: &mut Snapshot) -> &mut Group {
    s.process.group.as_mut().expect("a group")
}

fn sysctl(s: &mut Snapshot, name: &str, value: &str) {
    s.machine.sysctl.insert(name.to_owned(), value.to_owned());
}

fn bypass(s: &mut Snapshot, text: &str) {
    let files = &mut s.machine.vulnerabilities;
    files.insert("spec_store_bypass".to_owned(), text.to_owned());
}

fn noise(s: &mut Snapshot, lost_share: f64, steal_share: f64, switches: u64) {
    s.measures.noise = Some(Noise {
        lost_share,
        steal_share,
        switches,
        ..Noise::default()
    });
}

fn moved(s: &mut Snapshot, moved_ns: f64) {
    s.measures.noise = Some(Noise {
        moved_ns,
        ..Noise::default()
    });
}

fn pressure(s: &mut Snapshot, name: &str, share: f64) {
    s.machine.pressure.insert(name.to_owned(), share);
}

fn memory(s: &mut Snapshot, name: &str, megabytes: u64) {
    let bytes = &mut s.machine.memory_bytes;
    bytes.insert(name.to_owned(), megabytes << 20);
}

/// The cases.
pub const CASES: &[Case] = &[
    (
        "cpu.store-bypass-mitigated",
        |s| s.process.store_bypass = Some("thread force mitigated".to_owned()),
        |s| s.process.store_bypass = Some("not vulnerable".to_owned()),
    ),
    (
        "cpu.indirect-branch-mitigated",
        |s| s.process.indirect_branch = Some("conditional force disabled".to_owned()),
        // What newer processors say for good, without a choice.
        |s| s.process.indirect_branch = Some("always disabled".to_owned()),
    ),
    (
        "cpu.seccomp-mitigates",
        |s| {
            bypass(
                s,
                "Mitigation: Speculative Store Bypass disabled via prctl and seccomp",
            )
        },
        |s| s.measures.filtered = Some(FACTOR),
    ),
    (
        "cpu.store-bypass-everywhere",
        |s| bypass(s, "Mitigation: Speculative Store Bypass disabled"),
        |s| bypass(s, "Not affected"),
    ),
    (
        "cpu.stibp-forced",
        |s| {
            let text = "Mitigation: Retpolines; STIBP: forced".to_owned();
            s.machine
                .vulnerabilities
                .insert("spectre_v2".to_owned(), text);
        },
        |s| {
            let text = "Mitigation: Retpolines; STIBP: always-on".to_owned();
            s.machine
                .vulnerabilities
                .insert("spectre_v2".to_owned(), text);
        },
    ),
    (
        "cpu.filter-expensive",
        |s| s.process.seccomp_filters = Some(4),
        |s| s.process.seccomp_filters = Some(3),
    ),
    (
        "cpu.busy-neighbour",
        |s| noise(s, 0.3, 0.0, 50),
        |s| noise(s, 0.3, 0.28, 50),
    ),
    (
        "cpu.steal",
        |s| noise(s, 0.1, 0.1, 0),
        |s| noise(s, 0.02, 0.02, 0),
    ),
    (
        "cpu.pressure",
        |s| pressure(s, "cpu.some", 0.5),
        |s| pressure(s, "cpu.some", 0.3),
    ),
    (
        "cpu.governor",
        |s| s.machine.governor = Some("powersave".to_owned()),
        |s| {
            s.machine.governor = Some("powersave".to_owned());
            s.machine.frequency_driver = Some("intel_pstate".to_owned());
        },
    ),
    (
        "cpu.turbo-off",
        |s| s.machine.turbo_off = Some(true),
        |s| s.machine.turbo_off = None,
    ),
    (
        "cpu.clock-slow",
        |s| s.measures.clock_ns = Some(400.0),
        // Measured fast, whatever its name.
        |s| s.machine.clocksource = Some("hpet".to_owned()),
    ),
    (
        "cpu.syscall-slow",
        |s| s.measures.syscall_ns = Some(900.0),
        |s| s.measures.syscall_ns = Some(300.0),
    ),
    (
        "cpu.wake-slow",
        |s| s.measures.wake_ns = Some(300_000.0),
        |s| {
            s.measures.wake_ns = Some(300_000.0);
            noise(s, 0.2, 0.0, 9);
        },
    ),
    ("cpu.clock-jumps", |s| moved(s, 3e8), |s| moved(s, 2e6)),
    (
        "cpu.switch-slow",
        |s| s.measures.switch_ns = Some(150_000.0),
        |s| s.measures.switch_ns = Some(50_000.0),
    ),
    (
        "cpu.two-threads-one-core",
        |s| s.measures.two_threads = Some(1.1),
        |s| {
            s.measures.two_threads = Some(1.1);
            group(s).quota_cores = Some(1.0);
        },
    ),
    (
        "cpu.numa",
        |s| s.machine.numa_nodes = Some(2),
        |s| {
            s.machine.numa_nodes = Some(2);
            sysctl(s, "kernel.numa_balancing", "0");
        },
    ),
    (
        "cpu.zone-reclaim",
        |s| sysctl(s, "vm.zone_reclaim_mode", "1"),
        |s| s.machine.sysctl.clear(),
    ),
    (
        "cpu.kernel-old",
        |s| s.machine.kernel = Some("4.19.0-27-amd64".to_owned()),
        |s| s.machine.kernel = Some("5.10.0".to_owned()),
    ),
    (
        "cpu.entropy",
        |s| {
            s.machine.kernel = Some("4.19.0".to_owned());
            sysctl(s, "kernel.random.entropy_avail", "100");
        },
        |s| sysctl(s, "kernel.random.entropy_avail", "100"),
    ),
    (
        "cpu.nice",
        |s| s.process.nice = Some(10),
        |s| s.process.nice = Some(-5),
    ),
    (
        "cpu.affinity",
        |s| s.process.cores_allowed = Some(2),
        |s| s.process.cores_allowed = None,
    ),
    (
        "container.quota-below-cores",
        |s| group(s).quota_cores = Some(0.5),
        |s| group(s).quota_cores = Some(8.0),
    ),
    (
        "container.throttled",
        |s| group(s).throttled = Some(300),
        |s| group(s).throttled = Some(5),
    ),
    (
        "container.weight",
        |s| group(s).weight = Some(10),
        |s| group(s).weight = Some(80),
    ),
    (
        "container.memory-high",
        |s| group(s).events_high = Some(7),
        |s| {
            group(s).events_high = Some(7);
            group(s).memory_high_bytes = None;
        },
    ),
    (
        "container.out-of-memory",
        |s| group(s).events_oom_kill = Some(1),
        |s| group(s).events_oom_kill = None,
    ),
    (
        "container.memory-nearly-full",
        |s| group(s).memory_bytes = Some(4_200_000_000),
        |s| group(s).memory_bytes = Some(3 << 30),
    ),
    (
        "memory.process-swapped",
        |s| s.process.swapped_bytes = Some(100 << 20),
        |s| s.process.swapped_bytes = Some(1 << 20),
    ),
    (
        "memory.swap-full",
        |s| memory(s, "SwapFree", 100),
        |s| memory(s, "SwapFree", 1000),
    ),
    (
        "memory.swap-in-use",
        |s| memory(s, "SwapFree", 2000),
        |s| memory(s, "SwapFree", 4090),
    ),
    (
        "memory.short",
        |s| memory(s, "MemAvailable", 200),
        |s| memory(s, "MemAvailable", 2000),
    ),
    (
        "memory.pressure",
        |s| pressure(s, "memory.some", 0.05),
        |s| pressure(s, "memory.some", 0.005),
    ),
    (
        "memory.overcommit",
        |s| sysctl(s, "vm.overcommit_memory", "2"),
        |s| sysctl(s, "vm.overcommit_memory", "1"),
    ),
    (
        "memory.oom-killed",
        |s| {
            s.machine.counters.insert("oom_kill".to_owned(), 2);
        },
        |s| s.machine.counters.clear(),
    ),
    (
        "memory.huge-pages",
        |s| {
            s.machine.huge_pages = Some("always".to_owned());
            s.process.huge_pages = Some(true);
        },
        // A Ruby has switched them off for itself.
        |s| {
            s.machine.huge_pages = Some("always".to_owned());
            s.process.huge_pages = Some(false);
        },
    ),
    (
        "memory.slow",
        |s| s.measures.memory_ns = Some(600.0),
        |s| s.measures.memory_ns = Some(300.0),
    ),
    (
        "limits.files",
        |s| s.process.files_soft = Some(64),
        |s| s.process.files_soft = Some(1024),
    ),
    (
        "limits.files-nearly-used",
        |s| s.process.files_open = Some(60_000),
        |s| s.process.files_open = Some(40_000),
    ),
    (
        "limits.processes",
        |s| s.process.processes_soft = Some(100),
        |s| s.process.processes_soft = None,
    ),
    (
        "limits.files-of-machine",
        |s| sysctl(s, "fs.file-max", "10000"),
        |s| sysctl(s, "fs.file-max", "9223372036854775807"),
    ),
    (
        "network.backlog",
        |s| sysctl(s, "net.core.somaxconn", "128"),
        |s| sysctl(s, "net.core.somaxconn", "1024"),
    ),
    (
        "network.accept-overflow",
        |s| {
            s.machine
                .counters
                .insert("ListenOverflows".to_owned(), 5000);
        },
        |s| {
            s.machine.counters.insert("ListenOverflows".to_owned(), 50);
        },
    ),
    (
        "network.ports-few",
        |s| sysctl(s, "net.ipv4.ip_local_port_range", "60000 60999"),
        |s| sysctl(s, "net.ipv4.ip_local_port_range", "10240 65535"),
    ),
    (
        "network.ports-nearly-used",
        |s| s.machine.time_wait = Some(25_000),
        |s| s.machine.time_wait = Some(15_000),
    ),
    (
        "network.conntrack-nearly-full",
        |s| sysctl(s, "net.netfilter.nf_conntrack_count", "900"),
        |s| sysctl(s, "net.netfilter.nf_conntrack_count", "700"),
    ),
    (
        "network.loopback-slow",
        |s| s.measures.loopback_ns = Some(300_000.0),
        |s| s.measures.loopback_ns = Some(100_000.0),
    ),
    (
        "network.resolver-search",
        |s| s.machine.resolver = Some((5, 3)),
        |s| s.machine.resolver = Some((5, 1)),
    ),
    (
        "network.slow-start-after-idle",
        |s| s.databases[0].round_trip_ns = Some(8e6),
        |s| {
            s.databases[0].round_trip_ns = Some(8e6);
            sysctl(s, "net.ipv4.tcp_slow_start_after_idle", "0");
        },
    ),
    (
        "disk.sync-slow",
        |s| s.measures.sync_ns = Some(8e6),
        |s| s.measures.sync_ns = Some(3e6),
    ),
    (
        "disk.sync-too-fast",
        |s| s.measures.sync_ns = Some(3_000.0),
        |s| {
            s.measures.sync_ns = Some(3_000.0);
            s.disk.filesystem = Some("tmpfs".to_owned());
        },
    ),
    (
        "disk.full",
        |s| s.disk.free_bytes = Some(1 << 30),
        |s| s.disk.free_bytes = Some(3 << 30),
    ),
    (
        "disk.inodes",
        |s| s.disk.inodes_used_share = Some(0.95),
        |s| s.disk.inodes_used_share = Some(0.8),
    ),
    (
        "disk.network",
        |s| s.disk.filesystem = Some("nfs4".to_owned()),
        |s| s.disk.filesystem = Some("overlay".to_owned()),
    ),
    (
        "disk.mounted-sync",
        |s| s.disk.options.push("sync".to_owned()),
        |s| s.disk.options.push("async".to_owned()),
    ),
    (
        "disk.mounted-strictatime",
        |s| s.disk.options.push("strictatime".to_owned()),
        |s| s.disk.options.push("noatime".to_owned()),
    ),
    (
        "disk.scheduler",
        |s| s.disk.scheduler = Some("bfq".to_owned()),
        |s| {
            s.disk.scheduler = Some("bfq".to_owned());
            s.measures.sync_ns = Some(3e6);
        },
    ),
    (
        "disk.pressure",
        |s| pressure(s, "io.full", 0.4),
        |s| pressure(s, "io.full", 0.05),
    ),
];

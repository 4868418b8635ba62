//! The machine: processor, kernel, memory, pressure, counters since boot.

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;

use super::{count_of_list, field, file, wanted_file};
use doctor::snapshot::{Machine, Unseen};

const CPU: &str = "/sys/devices/system/cpu";

/// Kernel settings examined by checks.
const SYSCTL: [&str; 14] = [
    "fs.file-max",
    "kernel.numa_balancing",
    "kernel.perf_event_paranoid",
    "kernel.random.entropy_avail",
    "kernel.yama.ptrace_scope",
    "net.core.somaxconn",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_tw_reuse",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_max",
    "vm.overcommit_memory",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
];

/// Reads the machine.
pub(super) fn read(unseen: &mut Vec<Unseen>) -> Machine {
    let cpuinfo = wanted_file("/proc/cpuinfo", "the processor", unseen).unwrap_or_default();
    let vulnerabilities = files_of(&format!("{CPU}/vulnerabilities"));
    if vulnerabilities.is_empty() {
        unseen.push(Unseen {
            what: "mitigations of the processor".to_owned(),
            why: format!("{CPU}/vulnerabilities is not there"),
        });
    }
    let no_turbo = file(format!("{CPU}/intel_pstate/no_turbo")).map(|text| text == "1");
    let boost = file(format!("{CPU}/cpufreq/boost")).map(|text| text == "0");
    let vmstat = file("/proc/vmstat").unwrap_or_default();
    let netstat = file("/proc/net/netstat").unwrap_or_default();
    Machine {
        kernel: file("/proc/sys/kernel/osrelease"),
        boot: file("/proc/cmdline").map(|line| doctor::known_parameters(&line)),
        cpu: field(&cpuinfo, "model name").map(str::to_owned),
        is_virtual: field(&cpuinfo, "flags")
            .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")),
        cores: file(format!("{CPU}/online")).and_then(|list| count_of_list(&list)),
        vulnerabilities,
        governor: file(format!("{CPU}/cpu0/cpufreq/scaling_governor")),
        frequency_driver: file(format!("{CPU}/cpu0/cpufreq/scaling_driver")),
        turbo_off: no_turbo.or(boost),
        numa_nodes: file("/sys/devices/system/node/online").and_then(|list| count_of_list(&list)),
        clocksource: file("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        clocksources: file("/sys/devices/system/clocksource/clocksource0/available_clocksource")
            .map(|text| text.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        huge_pages: file("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| chosen(&text)),
        memory_bytes: meminfo(&file("/proc/meminfo").unwrap_or_default()),
        pressure: pressure(unseen),
        sysctl: SYSCTL.iter().filter_map(|name| sysctl(name)).collect(),
        counters: counters(&vmstat, &netstat),
        time_wait: time_wait(),
        uptime_s: file("/proc/uptime")
            .and_then(|text| text.split_whitespace().next()?.parse().ok()),
        resolver: file("/etc/resolv.conf").map(|text| resolver(&text)),
    }
}

fn files_of(folder: &str) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        Some((name, file(entry.path())?))
    };
    entries.filter_map(read).collect()
}

fn sysctl(name: &str) -> Option<(String, String)> {
    let text = file(format!("/proc/sys/{}", name.replace('.', "/")))?;
    let words: Vec<&str> = text.split_whitespace().collect();
    Some((name.to_owned(), words.join(" ")))
}

/// The word in brackets.
pub(super) fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn meminfo(text: &str) -> BTreeMap<String, u64> {
    const NAMES: [&str; 6] = [
        "MemTotal",
        "MemAvailable",
        "SwapTotal",
        "SwapFree",
        "AnonHugePages",
        "HugePages_Total",
    ];
    let read = |name: &&str| {
        let value = field(text, name)?;
        let kilobytes = value.strip_suffix(" kB");
        let unit = if kilobytes.is_some() { 1024 } else { 1 };
        let number: u64 = kilobytes.unwrap_or(value).trim().parse().ok()?;
        Some(((*name).to_owned(), number * unit))
    };
    NAMES.iter().filter_map(read).collect()
}

fn pressure(unseen: &mut Vec<Unseen>) -> BTreeMap<String, f64> {
    let mut means = BTreeMap::new();
    for resource in ["cpu", "memory", "io"] {
        let Some(text) = file(format!("/proc/pressure/{resource}")) else {
            continue;
        };
        for line in text.lines() {
            let kind = line.split_whitespace().next().unwrap_or_default();
            let mean = line
                .split_whitespace()
                .find_map(|word| word.strip_prefix("avg60=")?.parse::<f64>().ok());
            means.extend(mean.map(|mean| (format!("{resource}.{kind}"), mean / 100.0)));
        }
    }
    if means.is_empty() {
        unseen.push(Unseen {
            what: "pressure of CPU, memory and I/O".to_owned(),
            why: "/proc/pressure cannot be read; boot with psi=1".to_owned(),
        });
    }
    means
}

/// Counters of `/proc/vmstat` and of the pairs of lines of `/proc/net/netstat`.
fn counters(vmstat: &str, netstat: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    for line in vmstat.lines() {
        if let Some((name, value)) = line.split_once(' ')
            && ["pswpin", "pswpout", "oom_kill"].contains(&name)
            && let Ok(value) = value.parse()
        {
            counters.insert(name.to_owned(), value);
        }
    }
    let lines: Vec<&str> = netstat.lines().collect();
    for pair in lines.chunks_exact(2) {
        let named = pair[0].split_whitespace().zip(pair[1].split_whitespace());
        for (name, value) in named {
            if ["ListenOverflows", "ListenDrops"].contains(&name)
                && let Ok(value) = value.parse()
            {
                counters.insert(name.to_owned(), value);
            }
        }
    }
    counters
}

/// Returns the number of connections in TIME_WAIT on a port of the range for outgoing ones. A
/// server that closes its clients' connections has others there, which take none.
fn time_wait() -> Option<u64> {
    let (_, range) = sysctl("net.ipv4.ip_local_port_range")?;
    let (first, last) = range.split_once(' ')?;
    let ports = first.parse().ok()?..=last.parse().ok()?;
    let count = |path: &str| file(path).map(|text| outgoing(&text, &ports));
    let old = count("/proc/net/tcp")?;
    Some(old + count("/proc/net/tcp6").unwrap_or(0))
}

/// Counts the lines of `/proc/net/tcp` in TIME_WAIT with a local port among `ports`.
fn outgoing(table: &str, ports: &RangeInclusive<u16>) -> u64 {
    /// `TCP_TIME_WAIT` of the kernel.
    const STATE: &str = "06";
    let is_one = |line: &&str| {
        let mut words = line.split_whitespace();
        let local = words.nth(1).and_then(|place| place.rsplit_once(':'));
        let port = local.and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
        words.nth(1) == Some(STATE) && port.is_some_and(|port| ports.contains(&port))
    };
    table.lines().filter(is_one).count() as u64
}

fn resolver(text: &str) -> (u32, u32) {
    let (mut dots, mut domains) = (1, 0);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("search") => domains = words.count() as u32,
            Some("options") => {
                dots = words
                    .find_map(|word| word.strip_prefix("ndots:")?.parse().ok())
                    .unwrap_or(dots);
            }
            _ => {}
        }
    }
    (dots, domains)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_kernel_are_read() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise".to_owned()));
        assert_eq!(meminfo("SwapFree:  8 kB\n").get("SwapFree"), Some(&8192));
        // To a database from port 40000, and from a client to port 3000.
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n\
                     0: 0100007F:9C40 0100007F:0CEA 06 00000000:00000000 00\n\
                     1: 0100007F:0BB8 0100007F:9C41 06 00000000:00000000 00\n\
                     2: 0100007F:9C42 0100007F:0CEA 01 00000000:00000000 00\n";
        assert_eq!(outgoing(table, &(32768..=60999)), 1);
        let counted = counters(
            "pswpin 5\nnr_free 1",
            "TcpExt: A ListenDrops\nTcpExt: 1 7\n",
        );
        assert_eq!(counted.get("ListenDrops"), Some(&7));
        assert_eq!(counted.len(), 2);
        assert_eq!(
            resolver("search a b c\noptions timeout:1 ndots:5\n"),
            (5, 3)
        );
    }
}

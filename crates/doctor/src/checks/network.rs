//! Sockets, ports and names.

use words::{phrase, text};

use crate::check::{Area, Check, Cost, Found, Level, Look, Needs};
use crate::snapshot::Snapshot;

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "network.backlog",
        area: Area::Network,
        title: phrase!("few connections may wait to be accepted"),
        why: phrase!(
            "Puma asks for a queue of 1024; the kernel cuts it to its own limit, and a burst beyond it is dropped and sent again after a second"
        ),
        source: "https://docs.kernel.org/admin-guide/sysctl/net.html (somaxconn, 4096 since Linux 5.4); puma binder.rb",
        look: Look::Whole(|s| {
            let most = number(s, "net.core.somaxconn").filter(|most| *most < 1024.0)?;
            Some(
                Found::new(Level::Medium, format!("net.core.somaxconn = {most}"))
                    .change(
                        "sysctl net.core.somaxconn=4096",
                        format!("sysctl net.core.somaxconn={most}"),
                    )
                    .needs(Needs::Root),
            )
        }),
    },
    Check {
        id: "network.accept-overflow",
        area: Area::Network,
        title: phrase!("connections were dropped because a server accepted too slowly"),
        why: phrase!(
            "each one is tried again after a second, which users see as a second of latency"
        ),
        source: "counter ListenOverflows of /proc/net/netstat; man 2 listen",
        look: Look::Whole(|s| {
            let overflows = *s.machine.counters.get("ListenOverflows")?;
            let hours = s.machine.uptime_s.unwrap_or(3600.0).max(3600.0) / 3600.0;
            // Since boot, so it may be old: a rate that could still be noticed.
            (overflows as f64 / hours > 10.0).then(|| {
                Found::new(Level::Low, text!("ListenOverflows = {count} in {hours} h since boot", count = overflows.to_string(), hours = format!("{hours:.0}")))
                    .change(phrase!("more threads or workers, and a longer queue: bind 'tcp://0.0.0.0:3000?backlog=4096'"), phrase!("the queue as before"))
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "network.ports-few",
        area: Area::Network,
        title: phrase!("few ports are there for outgoing connections"),
        why: phrase!(
            "each connection to the database or another service takes one, and keeps it for 60 s after its end"
        ),
        source: "https://docs.kernel.org/networking/ip-sysctl.html (ip_local_port_range)",
        look: Look::Whole(|s| {
            let (first, last) = ports(s)?;
            (last.saturating_sub(first) < 10_000).then(|| {
                let range = format!("{first} {last}");
                Found::new(
                    Level::Medium,
                    format!("net.ipv4.ip_local_port_range = {range}"),
                )
                .change(
                    // The kernel's default: below stand the ports of most servers.
                    "sysctl net.ipv4.ip_local_port_range=\"32768 60999\"",
                    format!("sysctl net.ipv4.ip_local_port_range=\"{range}\""),
                )
                .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "network.ports-nearly-used",
        area: Area::Network,
        title: phrase!("closed connections hold most of the ports"),
        why: phrase!(
            "new connections fail when none is left; something opens a connection for each request"
        ),
        source: "https://docs.kernel.org/networking/ip-sysctl.html (tcp_tw_reuse)",
        look: Look::Whole(|s| {
            let (first, last) = ports(s)?;
            let waiting = s.machine.time_wait?;
            (waiting as f64 > 0.7 * f64::from(last.saturating_sub(first))).then(|| {
                let reuse = s.machine.sysctl.get("net.ipv4.tcp_tw_reuse").cloned().unwrap_or_else(|| "2".to_owned());
                Found::new(Level::High, text!("{waiting} connections in TIME_WAIT, {ports} ports", waiting = waiting.to_string(), ports = (last - first).to_string()))
                    .change(phrase!("keep connections: a pool, keep-alive; until then sysctl net.ipv4.tcp_tw_reuse=1"), format!("sysctl net.ipv4.tcp_tw_reuse={reuse}"))
                    .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "network.conntrack-nearly-full",
        area: Area::Network,
        title: phrase!("the firewall's table of connections is nearly full"),
        why: phrase!("packets of new connections are dropped when it is full"),
        source: "https://docs.kernel.org/networking/nf_conntrack-sysctl.html",
        look: Look::Whole(|s| {
            let now = number(s, "net.netfilter.nf_conntrack_count")?;
            let most = number(s, "net.netfilter.nf_conntrack_max")?;
            (now > 0.8 * most).then(|| {
                Found::new(
                    Level::High,
                    text!(
                        "nf_conntrack_count = {now} of {most}",
                        now = now.to_string(),
                        most = most.to_string()
                    ),
                )
                .change(
                    format!("sysctl net.netfilter.nf_conntrack_max={}", most * 4.0),
                    format!("sysctl net.netfilter.nf_conntrack_max={most}"),
                )
                .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "network.loopback-slow",
        area: Area::Network,
        title: phrase!("loopback is slow"),
        why: phrase!("each statement to a database on this machine pays for it"),
        source: "measured: one byte to and fro; 10 to 30 µs are usual",
        look: Look::Whole(|s| {
            const SLOW_NS: f64 = 200_000.0;
            let ns = s.measures.loopback_ns?;
            (ns > SLOW_NS).then(|| {
                Found::new(
                    Level::Low,
                    text!(
                        "round trip {micros} µs",
                        micros = format!("{:.0}", ns / 1e3)
                    ),
                )
                .cost(Cost::Each {
                    ns,
                    event: phrase!("round trip over loopback"),
                })
                .change(
                    phrase!("connect to the database by its socket file"),
                    phrase!("connect by its address"),
                )
                .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "network.resolver-search",
        area: Area::Network,
        title: phrase!("each name is looked up with every search domain first"),
        why: phrase!(
            "a name with few dots costs several queries before the right one; a lost packet costs 5 s"
        ),
        source: "https://github.com/kubernetes/kubernetes/issues/56903; man 5 resolv.conf",
        look: Look::Whole(|s| {
            let (dots, domains) = s.machine.resolver?;
            (dots >= 3 && domains >= 2).then(|| {
                Found::new(
                    Level::Low,
                    text!(
                        "ndots = {dots}, {domains} search domains",
                        dots = dots.to_string(),
                        domains = domains.to_string()
                    ),
                )
                .change(
                    phrase!("write hosts with a final dot (db.example.org.), or dnsConfig ndots 1"),
                    format!("ndots {dots}"),
                )
                .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "network.slow-start-after-idle",
        area: Area::Network,
        title: phrase!("kept connections start slowly again after a pause"),
        why: phrase!("a large response over a kept connection takes more round trips than it need"),
        source: "https://docs.kernel.org/networking/ip-sysctl.html (tcp_slow_start_after_idle)",
        look: Look::Whole(|s| {
            // On one machine or one rack it costs nothing; said only where other services are far.
            let far = s
                .databases
                .iter()
                .any(|database| database.round_trip_ns.is_some_and(|ns| ns > 5e6));
            let on = s.machine.sysctl.get("net.ipv4.tcp_slow_start_after_idle")? == "1";
            (on && far).then(|| {
                Found::new(Level::Low, "net.ipv4.tcp_slow_start_after_idle = 1")
                    .change(
                        "sysctl net.ipv4.tcp_slow_start_after_idle=0",
                        "sysctl net.ipv4.tcp_slow_start_after_idle=1",
                    )
                    .needs(Needs::Root)
            })
        }),
    },
];

fn number(s: &Snapshot, name: &str) -> Option<f64> {
    s.machine.sysctl.get(name)?.parse().ok()
}

fn ports(s: &Snapshot) -> Option<(u32, u32)> {
    let range = s.machine.sysctl.get("net.ipv4.ip_local_port_range")?;
    let (first, last) = range.split_once(' ')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

//! Other load on the machine, which slows the app down and falsifies what is measured.

use figures::numbers;
use words::{phrase, text};

use crate::check::{Area, Check, Cost, Found, Level, Look, Needs};
use crate::snapshot::Snapshot;

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "cpu.busy-neighbour",
        area: Area::Cpu,
        title: phrase!("other programs of this machine take the cores"),
        why: phrase!(
            "the app waits for a core, and two measurements differ although nothing was changed"
        ),
        source: "measured: a loop that looks at the clock for 2.5 to 5 s; involuntary context switches",
        look: Look::Whole(busy_neighbour),
    },
    Check {
        id: "cpu.steal",
        area: Area::Cpu,
        title: phrase!("the hypervisor takes the cores"),
        why: phrase!("the machine stands still meanwhile; nothing inside can be faster"),
        source: "measured: steal in /proc/stat over 2.5 to 5 s; man 5 proc_stat",
        look: Look::Whole(steal),
    },
    Check {
        id: "cpu.clock-jumps",
        area: Area::Cpu,
        title: phrase!("the time of day jumps"),
        why: phrase!(
            "lines of logs, expiry of caches and tokens, and times taken with Time.now are wrong by that much"
        ),
        source: "measured: CLOCK_REALTIME against CLOCK_MONOTONIC over 2.5 to 5 s; man 2 adjtimex (a clock is slewed by at most 500 ppm)",
        look: Look::Whole(|s| {
            // More than adjusting the speed of a clock can do in that time.
            const MOVED_NS: f64 = 1e7;
            let moved = s.measures.noise.as_ref()?.moved_ns;
            (moved > MOVED_NS).then(|| {
                Found::new(
                    Level::Medium,
                    text!(
                        "moved by {time} while it was watched",
                        time = numbers::duration_ns(moved)
                    ),
                )
                .change(
                    phrase!("one service that sets the clock (chronyd or systemd-timesyncd), which slews it: chronyc tracking"),
                    phrase!("as before"),
                )
                .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "cpu.pressure",
        area: Area::Cpu,
        title: phrase!("threads have been waiting for a core"),
        why: phrase!("more is to be run than there are cores; latency grows with the queue"),
        source: "https://docs.kernel.org/accounting/psi.html",
        look: Look::Whole(|s| {
            const MUCH: f64 = 0.4;
            let share = *s.machine.pressure.get("cpu.some")?;
            (share > MUCH).then(|| {
                Found::new(Level::Low, format!("cpu.some avg60 = {}", numbers::share(share)))
                    .change(phrase!("stop what else runs, or give the app cores of its own: taskset -c LIST COMMAND"), phrase!("without taskset"))
            })
        }),
    },
];

fn level(share: f64) -> Option<Level> {
    match share {
        share if share >= 0.25 => Some(Level::High),
        share if share >= 0.10 => Some(Level::Medium),
        share if share >= 0.03 => Some(Level::Low),
        _ => None,
    }
}

fn busy_neighbour(s: &Snapshot) -> Option<Found> {
    let noise = s.measures.noise.as_ref()?;
    // What the hypervisor took is another check's.
    let lost = noise.lost_share - noise.steal_share;
    let level = level(lost).filter(|_| noise.switches > 0)?;
    let mut found = Found::new(
        level,
        text!("a busy loop lost {share} of its time in {turns} turns of others, the longest interruption {longest}", share = numbers::share(noise.lost_share), turns = noise.switches.to_string(), longest = numbers::duration_ns(noise.longest_ns)),
    )
    .cost(Cost::Share(lost));
    for (name, cores) in &noise.busiest {
        found = found.evidence(text!(
            "{name} used {cores} cores",
            name,
            cores = format!("{cores:.1}")
        ));
    }
    Some(found.change(phrase!("stop these programs while you measure, or give the app cores of its own: taskset -c LIST COMMAND"), phrase!("start them again")))
}

fn steal(s: &Snapshot) -> Option<Found> {
    let noise = s.measures.noise.as_ref()?;
    let level = level(noise.steal_share)?;
    Some(
        Found::new(
            level,
            format!("steal = {}", numbers::share(noise.steal_share)),
        )
        .cost(Cost::Share(noise.steal_share))
        .change(
            phrase!("another machine, or an instance type with cores of its own"),
            phrase!("the machine as before"),
        )
        .needs(Needs::Reboot),
    )
}

//! Quotas and limits of the control group.

use figures::numbers;
use words::{Text, phrase, text};

use crate::check::{Area, Check, Cost, Found, Level, Look, Needs};
use crate::snapshot::{Group, Snapshot};

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "container.quota-below-cores",
        area: Area::Container,
        title: phrase!("the quota is smaller than the number of cores that programs see"),
        why: phrase!(
            "programs start a thread or worker for each core they see, use the quota up together, and then all stand still until the next period"
        ),
        source: "https://docs.kernel.org/scheduler/sched-bwc.html; ruby etc.c counts by affinity only",
        look: Look::Whole(quota),
    },
    Check {
        id: "container.throttled",
        area: Area::Container,
        title: phrase!("the control group is throttled"),
        why: phrase!(
            "every thread stands still for the rest of a period, which means of CPU use never show"
        ),
        source: "https://github.com/kubernetes-monitoring/kubernetes-mixin/issues/108 (25 % of periods)",
        look: Look::Whole(throttled),
    },
    Check {
        id: "container.weight",
        area: Area::Container,
        title: phrase!("the control group has less weight than others"),
        why: phrase!("on a busy machine it gets a smaller part of the cores than its neighbours"),
        source: "https://docs.kernel.org/admin-guide/cgroup-v2.html (cpu.weight, 100 by default)",
        look: Look::Whole(|s| {
            let group = s.process.group.as_ref()?;
            let weight = group.weight.filter(|weight| *weight < 50)?;
            Some(
                Found::new(
                    Level::Low,
                    text!(
                        "weight = {weight}, 100 is usual",
                        weight = weight.to_string()
                    ),
                )
                .change(usual_weight(group), weight_again(group, weight))
                .needs(Needs::Root),
            )
        }),
    },
    Check {
        id: "container.memory-high",
        area: Area::Container,
        title: phrase!("memory of the control group is reclaimed by force"),
        why: phrase!(
            "above memory.high every allocation waits until the kernel has taken pages away"
        ),
        source: "https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.high)",
        look: Look::Whole(|s| {
            let group = s.process.group.as_ref()?;
            let events = group.events_high.filter(|events| *events > 0)?;
            let high = group.memory_high_bytes?;
            Some(
                Found::new(Level::Medium, format!("memory.events: high = {events}"))
                    .evidence(format!("memory.high = {}", numbers::bytes(high)))
                    .change(
                        // Without any limit the group would take the memory of its neighbours.
                        phrase!("a larger memory.high where it is set, such as MemoryHigh= of the service, or fewer workers"),
                        text!(
                            "{line} there",
                            line = format!("memory.high = {high}")
                        ),
                    )
                    .needs(Needs::Root),
            )
        }),
    },
    Check {
        id: "container.out-of-memory",
        area: Area::Container,
        title: phrase!("processes of the control group were killed for lack of memory"),
        why: phrase!("requests of a killed worker are lost, and the next one starts cold"),
        source: "https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.events)",
        look: Look::Whole(|s| {
            let group = s.process.group.as_ref()?;
            let killed = group.events_oom_kill.filter(|killed| *killed > 0)?;
            // The group of everything is the machine, whose kills may be long ago and somebody
            // else's.
            let level = if group.memory_max_bytes.is_some() {
                Level::High
            } else {
                Level::Low
            };
            Some(
                Found::new(level, format!("oom_kill = {killed}"))
                    .change(
                        phrase!("more memory for the container, or fewer workers"),
                        phrase!("as before"),
                    )
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "container.memory-nearly-full",
        area: Area::Container,
        title: phrase!("the control group has used nearly all of its memory"),
        why: phrase!("the next burst is answered by reclaiming, then by killing"),
        source: "https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.max)",
        look: Look::Whole(|s| {
            const NEARLY: f64 = 0.95;
            let group = s.process.group.as_ref()?;
            let (now, most) = (group.memory_bytes? as f64, group.memory_max_bytes? as f64);
            // The file cache counts too and can be given up, so this is a warning only.
            (now > NEARLY * most).then(|| {
                Found::new(
                    Level::Low,
                    text!(
                        "{now} of {most}",
                        now = numbers::bytes(now as u64),
                        most = numbers::bytes(most as u64)
                    ),
                )
                .change(
                    phrase!("more memory for the container, or fewer workers"),
                    phrase!("as before"),
                )
                .needs(Needs::Restart)
            })
        }),
    },
];

fn write(group: &Group, file: &str, value: &str) -> Text {
    text!(
        "{command} of the group {group}",
        command = format!("echo {value} > {file}"),
        group = group.path
    )
}

fn usual_weight(group: &Group) -> Text {
    match group.version {
        1 => write(group, "cpu.shares", "1024"),
        _ => write(group, "cpu.weight", "100"),
    }
}

/// Returns the way back to a weight; shares of version 1 are not known as written.
fn weight_again(group: &Group, weight: u64) -> Text {
    match group.version {
        1 => phrase!("as before").into(),
        _ => write(group, "cpu.weight", &weight.to_string()),
    }
}

fn quota(s: &Snapshot) -> Option<Found> {
    let group = s.process.group.as_ref()?;
    let (quota, seen) = (
        group.quota_cores?,
        s.process.cores_allowed.or(s.machine.cores)?,
    );
    let period_ms = group.period_us.unwrap_or(100_000) as f64 / 1000.0;
    (quota < f64::from(seen)).then(|| {
        let level = if quota < 1.0 {
            Level::High
        } else {
            Level::Medium
        };
        let mut found = Found::new(
            level,
            text!(
                "quota = {quota} cores, {seen} visible",
                quota = format!("{quota:.2}"),
                seen = seen.to_string()
            ),
        );
        if quota < 1.0 {
            let run = quota * period_ms;
            found = found.evidence(text!(
                "a request that needs {cpu} ms of CPU stands still for {pause} ms",
                cpu = format!("{:.0}", run * 1.2),
                pause = format!("{:.0}", period_ms - run)
            ));
        }
        let workers = (quota.floor() as u32).max(1);
        // A process of Ruby uses one core at most; with an app known, its workers are what could
        // run at once.
        let usable = match &s.app {
            Some(_) => super::counts::workers(s).unwrap_or(1).clamp(1, seen),
            None => seen,
        };
        let cost = Cost::Share((1.0 - quota / f64::from(usable)).max(0.0));
        let found = found.cost(cost).inferred();
        found
            .change(
                text!(
                    "{setting}, or a quota of {seen} cores",
                    setting = super::counts::set_workers(s, workers),
                    seen = seen.to_string()
                ),
                text!("a quota of {quota} cores", quota = format!("{quota:.2}")),
            )
            .needs(Needs::Restart)
    })
}

/// Returns the setting without a quota.
fn no_quota(group: &Group) -> &'static str {
    match group.version {
        1 => "cpu.cfs_quota_us = -1",
        _ => "cpu.max = max",
    }
}

fn throttled(s: &Snapshot) -> Option<Found> {
    let group = s.process.group.as_ref()?;
    let (periods, throttled) = (group.periods?, group.throttled?);
    if periods < 10 {
        return None;
    }
    let share = throttled as f64 / periods as f64;
    let level = match share {
        share if share >= 0.25 => Level::High,
        share if share >= 0.05 => Level::Medium,
        share if share >= 0.01 => Level::Low,
        _ => return None,
    };
    let quota = group.quota_cores.unwrap_or_default();
    let mean_ms = group.throttled_ns.unwrap_or(0) as f64 / throttled.max(1) as f64 / 1e6;
    Some(
        Found::new(
            level,
            text!(
                "nr_throttled = {throttled} of {periods} periods",
                throttled = throttled.to_string(),
                periods = periods.to_string()
            ),
        )
        .evidence(text!(
            "each time for {mean} ms, quota {quota} cores",
            mean = format!("{mean_ms:.0}"),
            quota = format!("{quota:.2}")
        ))
        .cost(Cost::Share(share))
        .change(
            text!(
                "a larger quota, or none with a weight: {setting}",
                setting = no_quota(group)
            ),
            text!("a quota of {quota} cores", quota = format!("{quota:.2}")),
        )
        .needs(Needs::Root),
    )
}

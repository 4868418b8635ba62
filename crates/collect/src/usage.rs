//! Samples of a host, added up. Pure.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::message::Sample;
use crate::sockets::Link;

/// Use of a host's resources between the first sample and the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Between the two.
    pub seconds: f64,
    /// Cores in use, as a mean.
    pub cpu_cores: f64,
    /// Cores in use in the busiest second.
    pub cpu_cores_max: f64,
    /// Cores given to others by the hypervisor, as a mean.
    pub steal_cores: f64,
    /// Least memory free or reclaimable at once, bytes.
    pub memory_available_min: u64,
    /// Bytes from other hosts.
    pub received: u64,
    /// Bytes to other hosts.
    pub sent: u64,
    /// Bytes read from disks.
    pub disk_read: u64,
    /// Bytes written to disks.
    pub disk_written: u64,
    /// Connections opened by programs of the host; `None` where the kernel has no such counter.
    pub opened: Option<u64>,
    /// Connections to other addresses, with the shortest round trips.
    pub links: Vec<Link>,
    /// Processes by name, by CPU time, the largest first.
    pub processes: Vec<Processes>,
}

/// The processes of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Processes {
    /// Command name of the processes.
    pub name: String,
    /// How many used the CPU.
    pub count: u64,
    /// Cores in use by all processes of the name, as a mean.
    pub cpu_cores: f64,
    /// Sum of the processes' greatest resident memory, bytes; shared pages count in each.
    pub rss_max: u64,
    /// Open file descriptors and the limit, of the process nearest to a limit.
    pub descriptors: Option<(u64, u64)>,
}

/// One process.
#[derive(Clone, Copy, Default)]
struct Ran {
    cpu_before_ns: u64,
    cpu_ns: u64,
    rss_max: u64,
    descriptors: Option<(u64, u64)>,
}

impl Usage {
    /// Adds samples up; `None` of less than two.
    pub fn of(samples: &[Sample]) -> Option<Usage> {
        let [first, .., last] = samples else {
            return None;
        };
        let seconds = seconds(first, last)?;
        let grew = |of: fn(&Sample) -> u64| of(last).saturating_sub(of(first));
        let cores = |ns: u64| ns as f64 / 1e9 / seconds;
        let busiest = samples.windows(2).filter_map(|pair| {
            let busy = pair[1].cpu_busy_ns.saturating_sub(pair[0].cpu_busy_ns);
            // What is much shorter than a second is measured in too few clock ticks.
            let seconds = self::seconds(&pair[0], &pair[1]).filter(|seconds| *seconds >= 0.5)?;
            Some(busy as f64 / 1e9 / seconds)
        });
        let mean = cores(grew(|sample| sample.cpu_busy_ns));
        Some(Usage {
            seconds,
            cpu_cores: mean,
            cpu_cores_max: busiest.fold(mean, f64::max),
            steal_cores: cores(grew(|sample| sample.cpu_steal_ns)),
            memory_available_min: samples.iter().map(|sample| sample.memory_available).min()?,
            received: grew(|sample| sample.received),
            sent: grew(|sample| sample.sent),
            disk_read: grew(|sample| sample.disk_read),
            disk_written: grew(|sample| sample.disk_written),
            opened: first
                .opened
                .zip(last.opened)
                .map(|(first, last)| last.saturating_sub(first)),
            links: links(samples),
            processes: processes(samples, seconds),
        })
    }
}

fn seconds(first: &Sample, last: &Sample) -> Option<f64> {
    let ns = last.at_ns.checked_sub(first.at_ns).filter(|ns| *ns > 0)?;
    Some(ns as f64 / 1e9)
}

/// Returns the links of all samples, each once.
fn links(samples: &[Sample]) -> Vec<Link> {
    let mut shortest = BTreeMap::new();
    for link in samples.iter().flat_map(|sample| &sample.links) {
        let known = shortest
            .entry((link.local, link.peer))
            .or_insert(link.rtt_min_us);
        *known = link.rtt_min_us.min(*known);
    }
    let all = shortest.into_iter();
    all.map(|((local, peer), rtt_min_us)| Link {
        local,
        peer,
        rtt_min_us,
    })
    .collect()
}

/// Returns the number of open descriptors nearer to a limit.
fn fuller(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    let share = |(open, limit): &(u64, u64)| *open as f64 / (*limit).max(1) as f64;
    one.into_iter()
        .chain(other)
        .max_by(|a, b| share(a).total_cmp(&share(b)))
}

/// Returns the processes by name; a process missing in the first sample began later, so all CPU
/// time of such a process counts.
fn processes(samples: &[Sample], seconds: f64) -> Vec<Processes> {
    let mut ran: HashMap<(u32, u64), (&str, Ran)> = HashMap::new();
    for (index, sample) in samples.iter().enumerate() {
        for one in &sample.processes {
            let before = if index == 0 { one.cpu_ns } else { 0 };
            let (name, ran) = ran.entry((one.pid, one.started)).or_insert_with(|| {
                let ran = Ran {
                    cpu_before_ns: before,
                    ..Ran::default()
                };
                (&one.name, ran)
            });
            // A process may take another name when it becomes another program.
            *name = &one.name;
            ran.cpu_ns = one.cpu_ns.saturating_sub(ran.cpu_before_ns);
            ran.rss_max = ran.rss_max.max(one.rss);
            ran.descriptors = fuller(ran.descriptors, one.descriptors);
        }
    }
    let mut by_name: BTreeMap<&str, Processes> = BTreeMap::new();
    for (name, ran) in ran.into_values().filter(|(_, ran)| ran.cpu_ns > 0) {
        let all = by_name.entry(name).or_default();
        all.count += 1;
        all.cpu_cores += ran.cpu_ns as f64 / 1e9 / seconds;
        all.rss_max += ran.rss_max;
        all.descriptors = fuller(all.descriptors, ran.descriptors);
    }
    let mut all: Vec<Processes> = by_name
        .into_iter()
        .map(|(name, all)| Processes {
            name: name.to_owned(),
            ..all
        })
        .collect();
    all.sort_by(|a, b| {
        b.cpu_cores
            .total_cmp(&a.cpu_cores)
            .then_with(|| a.name.cmp(&b.name))
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Process;

    fn sample(second: u64, busy_ms: u64, processes: &[(u32, &str, u64)]) -> Sample {
        Sample {
            at_ns: second * 1_000_000_000,
            cpu_busy_ns: busy_ms * 1_000_000,
            memory_available: 1000 - second,
            received: second * 10,
            processes: processes
                .iter()
                .map(|(pid, name, cpu_ms)| Process {
                    pid: *pid,
                    started: 1,
                    name: (*name).to_owned(),
                    cpu_ns: cpu_ms * 1_000_000,
                    rss: 100,
                    descriptors: Some((u64::from(*pid), 10)),
                })
                .collect(),
            ..Sample::default()
        }
    }

    #[test]
    fn what_ran_is_added_up_by_name_and_what_came_later_counts_whole() {
        let samples = [
            sample(10, 5000, &[(1, "init", 9000), (2, "ruby", 2000)]),
            sample(11, 5500, &[(2, "ruby", 2400)]),
            sample(12, 7000, &[(2, "ruby", 3000), (3, "ruby", 800)]),
        ];
        let usage = Usage::of(&samples).expect("samples");
        assert_eq!(
            (usage.seconds, usage.cpu_cores, usage.cpu_cores_max),
            (2.0, 1.0, 1.5)
        );
        assert_eq!(
            (usage.memory_available_min, usage.received, usage.opened),
            (988, 20, None)
        );
        let ruby = Processes {
            name: "ruby".to_owned(),
            count: 2,
            cpu_cores: 0.9,
            rss_max: 200,
            descriptors: Some((3, 10)),
        };
        assert_eq!(usage.processes, [ruby]);
        assert_eq!(Usage::of(&samples[..1]), None);
        assert_eq!(Usage::of(&[samples[0].clone(), samples[0].clone()]), None);
    }
}

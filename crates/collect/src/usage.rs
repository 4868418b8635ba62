//! Samples of a host, added up on arrival. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::message::{Process, Sample};
use crate::sockets::Link;

/// Processes kept apart: more than run on a host at once, and some minutes of a program starting a
/// hundred each second.
const PROCESSES_MAX: usize = 50_000;
/// Pairs of addresses kept, seen in most samples: of a host serving browsers each sample names
/// others.
const LINKS_MAX: usize = 1_024;

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
    /// Records of processes beyond the ones kept apart, which are in no row of `processes`.
    #[serde(default)]
    pub processes_dropped: u64,
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
#[derive(Clone, Debug, Default)]
struct Ran {
    name: String,
    cpu_before_ns: u64,
    cpu_ns: u64,
    rss_max: u64,
    descriptors: Option<(u64, u64)>,
}

/// Connections between two addresses.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    rtt_min_us: u32,
    samples: u64,
}

/// Samples added up so far. What is kept does not grow with the time.
#[derive(Debug, Default)]
pub struct Sums {
    /// The first sample and the last, without links and processes.
    ends: Option<(Sample, Sample)>,
    cpu_cores_max: f64,
    memory_available_min: u64,
    links: BTreeMap<(IpAddr, IpAddr), Seen>,
    ran: HashMap<(u32, u64), Ran>,
    dropped: u64,
}

impl Sums {
    /// Adds a sample.
    pub fn add(&mut self, mut sample: Sample) {
        self.add_links(std::mem::take(&mut sample.links));
        self.add_processes(std::mem::take(&mut sample.processes));
        match &mut self.ends {
            None => {
                self.memory_available_min = sample.memory_available;
                self.ends = Some((sample.clone(), sample));
            }
            Some((_, before)) => {
                self.memory_available_min = self.memory_available_min.min(sample.memory_available);
                let busy = sample.cpu_busy_ns.saturating_sub(before.cpu_busy_ns);
                // What is much shorter than a second is measured in too few clock ticks.
                if let Some(seconds) = seconds(before, &sample).filter(|seconds| *seconds >= 0.5) {
                    self.cpu_cores_max = self.cpu_cores_max.max(busy as f64 / 1e9 / seconds);
                }
                *before = sample;
            }
        }
    }

    /// Adds processes of the next sample. One missing in the first sample began later, so all CPU
    /// time of such a process counts.
    pub fn add_processes(&mut self, processes: Vec<Process>) {
        let is_first = self.ends.is_none();
        for one in processes {
            let key = (one.pid, one.started);
            if self.ran.len() >= PROCESSES_MAX && !self.ran.contains_key(&key) {
                self.dropped += 1;
                continue;
            }
            let ran = self.ran.entry(key).or_insert_with(|| Ran {
                cpu_before_ns: if is_first { one.cpu_ns } else { 0 },
                ..Ran::default()
            });
            // A process may take another name when it becomes another program.
            ran.name = one.name;
            ran.cpu_ns = one.cpu_ns.saturating_sub(ran.cpu_before_ns);
            ran.rss_max = ran.rss_max.max(one.rss);
            ran.descriptors = fuller(ran.descriptors, one.descriptors);
        }
    }

    fn add_links(&mut self, links: Vec<Link>) {
        for link in links {
            let seen = self.links.entry((link.local, link.peer)).or_insert(Seen {
                rtt_min_us: link.rtt_min_us,
                samples: 0,
            });
            seen.rtt_min_us = link.rtt_min_us.min(seen.rtt_min_us);
            seen.samples += 1;
        }
        if self.links.len() > 2 * LINKS_MAX {
            self.links = often_seen(std::mem::take(&mut self.links)).collect();
        }
    }

    /// Returns the use between the first sample and the last; `None` of less than two.
    pub fn usage(self) -> Option<Usage> {
        let (first, last) = self.ends?;
        let seconds = seconds(&first, &last)?;
        let grew = |of: fn(&Sample) -> u64| of(&last).saturating_sub(of(&first));
        let cores = |ns: u64| ns as f64 / 1e9 / seconds;
        let mean = cores(grew(|sample| sample.cpu_busy_ns));
        let mut links: Vec<Link> = often_seen(self.links)
            .map(|((local, peer), seen)| Link {
                local,
                peer,
                rtt_min_us: seen.rtt_min_us,
            })
            .collect();
        links.sort_by_key(|link| (link.local, link.peer));
        Some(Usage {
            seconds,
            cpu_cores: mean,
            cpu_cores_max: self.cpu_cores_max.max(mean),
            steal_cores: cores(grew(|sample| sample.cpu_steal_ns)),
            memory_available_min: self.memory_available_min,
            received: grew(|sample| sample.received),
            sent: grew(|sample| sample.sent),
            disk_read: grew(|sample| sample.disk_read),
            disk_written: grew(|sample| sample.disk_written),
            opened: first
                .opened
                .zip(last.opened)
                .map(|(first, last)| last.saturating_sub(first)),
            links,
            processes: by_name(self.ran, seconds),
            processes_dropped: self.dropped,
        })
    }
}

fn seconds(first: &Sample, last: &Sample) -> Option<f64> {
    let ns = last.at_ns.checked_sub(first.at_ns).filter(|ns| *ns > 0)?;
    Some(ns as f64 / 1e9)
}

/// Returns the links seen in most samples, as many as are kept.
fn often_seen(
    links: BTreeMap<(IpAddr, IpAddr), Seen>,
) -> impl Iterator<Item = ((IpAddr, IpAddr), Seen)> {
    let mut all: Vec<_> = links.into_iter().collect();
    all.sort_by_key(|(_, seen)| Reverse(seen.samples));
    all.into_iter().take(LINKS_MAX)
}

/// Returns the number of open descriptors nearer to a limit.
fn fuller(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    let share = |(open, limit): &(u64, u64)| *open as f64 / (*limit).max(1) as f64;
    one.into_iter()
        .chain(other)
        .max_by(|a, b| share(a).total_cmp(&share(b)))
}

/// Returns the processes with CPU time by name.
fn by_name(ran: HashMap<(u32, u64), Ran>, seconds: f64) -> Vec<Processes> {
    let mut by_name: BTreeMap<String, Processes> = BTreeMap::new();
    for ran in ran.into_values().filter(|ran| ran.cpu_ns > 0) {
        let all = by_name.entry(ran.name).or_default();
        all.count += 1;
        all.cpu_cores += ran.cpu_ns as f64 / 1e9 / seconds;
        all.rss_max += ran.rss_max;
        all.descriptors = fuller(all.descriptors, ran.descriptors);
    }
    let mut all: Vec<Processes> = by_name
        .into_iter()
        .map(|(name, all)| Processes { name, ..all })
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

    fn usage_of(samples: &[Sample]) -> Option<Usage> {
        let mut sums = Sums::default();
        samples.iter().for_each(|one| sums.add(one.clone()));
        sums.usage()
    }

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
        let usage = usage_of(&samples).expect("samples");
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
        assert_eq!(usage_of(&samples[..1]), None);
        assert_eq!(usage_of(&[samples[0].clone(), samples[0].clone()]), None);
    }

    #[test]
    fn processes_in_pieces_before_their_sample_are_of_it() {
        let mut sums = Sums::default();
        let first = sample(10, 0, &[(1, "init", 9_000), (2, "ruby", 2_000)]);
        sums.add_processes(first.processes.clone());
        sums.add(sample(10, 0, &[(3, "nginx", 500)]));
        sums.add_processes(sample(11, 0, &[(2, "ruby", 2_400)]).processes);
        sums.add(sample(11, 0, &[(4, "cron", 100)]));
        let usage = sums.usage().expect("samples");
        let found: Vec<_> = (usage.processes.iter())
            .map(|all| (all.name.as_str(), all.cpu_cores))
            .collect();
        assert_eq!(found, [("ruby", 0.4), ("cron", 0.1)]);
        assert_eq!(usage.processes_dropped, 0);
    }

    #[test]
    fn processes_beyond_the_limit_are_dropped_and_counted() {
        let short: Vec<(u32, &str, u64)> = (0..PROCESSES_MAX as u32 + 20)
            .map(|pid| (pid, "sh", 10))
            .collect();
        let samples = [
            sample(1, 0, &[]),
            sample(2, 0, &short),
            sample(3, 0, &short[..5]),
        ];
        let usage = usage_of(&samples).expect("samples");
        assert_eq!(usage.processes[0].count, PROCESSES_MAX as u64);
        assert_eq!(usage.processes_dropped, 20);
    }

    #[test]
    fn links_seen_again_outlast_those_of_many_browsers() {
        let local = IpAddr::from([10, 0, 0, 1]);
        let link = |peer: u32| Link {
            local,
            peer: IpAddr::from(peer.to_be_bytes()),
            rtt_min_us: peer,
        };
        let app = u32::MAX;
        let samples: Vec<Sample> = (0..40u32)
            .map(|second| Sample {
                links: (1..=100)
                    .map(|one| link(second * 100 + one))
                    .chain([link(app)])
                    .collect(),
                ..sample(u64::from(second), 0, &[])
            })
            .collect();
        let usage = usage_of(&samples).expect("samples");
        assert_eq!(usage.links.len(), LINKS_MAX);
        assert_eq!(usage.links.last(), Some(&link(app)));
    }
}

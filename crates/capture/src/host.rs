//! Samples of the host and of the run's processes, from `/proc`.
//!
//! Reading and understanding are apart: [`parse`] takes texts, this file fetches them. A sample
//! costs some ten small files a process; one a second is meant.

mod control_group;
pub(crate) mod parse;
mod process;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use recording::{HostSample, Nanos, ProcessRole, ProcessSample, Timestamp};

/// Most processes followed: a run-away fork must not make sampling costly.
const PROCESSES_MAX: usize = 256;

/// Takes samples of the host and of given processes with all descendants.
#[derive(Debug)]
pub struct HostSampler {
    proc: PathBuf,
    units: Units,
    /// Root of the control groups.
    cgroup: PathBuf,
    /// Port of the app, if known.
    port: Option<u16>,
    /// Given and found processes by id. A descendant stays here when the parent is gone.
    known: BTreeMap<u32, Known>,
}

/// Reason for a missing sample.
#[derive(Debug)]
pub enum HostError {
    /// A file under `/proc` cannot be read.
    Read(PathBuf, std::io::Error),
    /// A file under `/proc` is not as expected.
    Format(PathBuf),
}

#[derive(Clone, Copy, Debug)]
struct Units {
    tick: Nanos,
    page_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    role: ProcessRole,
    /// Start of the process, in ticks: a later process with the same id has another.
    started_ticks: Option<u64>,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostError::Read(path, error) => write!(
                f,
                "cannot read {}: {error}; is /proc mounted here?",
                path.display()
            ),
            HostError::Format(path) => write!(
                f,
                "cannot understand {}; the host's part of the report will be missing",
                path.display()
            ),
        }
    }
}

impl std::error::Error for HostError {}

impl HostSampler {
    /// Follows the given processes and, with the same role, all descendants.
    pub fn new(roles: &[(u32, ProcessRole)]) -> HostSampler {
        let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
        let units = Units {
            tick: Nanos(1_000_000_000 / ticks_per_second),
            page_bytes: rustix::param::page_size() as u64,
        };
        HostSampler::on(PathBuf::from("/proc"), units, roles)
    }

    fn on(proc: PathBuf, units: Units, roles: &[(u32, ProcessRole)]) -> HostSampler {
        let mut sampler = HostSampler {
            proc,
            units,
            cgroup: PathBuf::from("/sys/fs/cgroup"),
            port: None,
            known: BTreeMap::new(),
        };
        for (pid, role) in roles {
            sampler.follow(*pid, *role);
        }
        sampler
    }

    /// Follows one more process; a process already followed keeps the old role.
    pub fn follow(&mut self, pid: u32, role: ProcessRole) {
        self.known.entry(pid).or_insert(Known {
            role,
            started_ticks: None,
        });
    }

    /// Sets the port of the app, for counting connections not yet taken by a thread.
    pub fn answers_at(&mut self, port: u16) {
        self.port = Some(port);
    }

    /// Takes one sample now. Processes that have ended are left out; the cores' pace comes from a
    /// [`crate::CoreWatch`].
    pub fn sample(&mut self) -> Result<HostSample, HostError> {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let at = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        let stat = self.proc.join("stat");
        let cpu = parse::cpu(&read(&stat)?).ok_or(HostError::Format(stat))?;
        let memory = self.proc.join("meminfo");
        let memory_available =
            parse::memory_available(&read(&memory)?).ok_or(HostError::Format(memory))?;
        let (memory_limit, memory_used) = self.control_group().unzip();
        Ok(HostSample {
            at: Timestamp::from_monotonic_nanos(at),
            cpu_busy: self.units.ticks(cpu.busy_ticks),
            cpu_steal: self.units.ticks(cpu.steal_ticks),
            cpu_pressure: self.pressure("cpu"),
            io_pressure: self.pressure("io"),
            memory_available,
            processes: self.processes(),
            memory_pressure: self.pressure("memory"),
            memory_limit,
            memory_used,
            network: parse::network(&self.text("net/dev")),
            disk: parse::disk(&self.text("diskstats")),
            backlog: self.backlog(),
            core_pace: None,
        })
    }

    /// Returns the pressure stall time; `None` on a kernel without the file, or in a container
    /// without access.
    fn pressure(&self, resource: &str) -> Option<Nanos> {
        let text = fs::read_to_string(self.proc.join("pressure").join(resource)).ok()?;
        parse::pressure(&text)
    }

    /// Returns a file's text, empty if unreadable: not every kernel and container has all files.
    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.proc.join(name)).unwrap_or_default()
    }

    fn backlog(&self) -> Option<u32> {
        let port = self.port?;
        ["net/tcp", "net/tcp6"]
            .into_iter()
            .filter_map(|name| parse::backlog(&self.text(name), port))
            .reduce(u32::saturating_add)
    }

    /// Limit and use of the app's control group.
    fn control_group(&self) -> Option<(u64, u64)> {
        let is_app = |known: &Known| known.role == ProcessRole::App;
        let (pid, _) = self.known.iter().find(|(_, known)| is_app(known))?;
        control_group::memory(&self.cgroup, &self.text(&format!("{pid}/cgroup")))
    }

    fn processes(&mut self) -> Vec<ProcessSample> {
        let mut samples = Vec::new();
        let mut waiting: Vec<u32> = self.known.keys().copied().collect();
        while let Some(pid) = waiting.pop() {
            match self.process(pid) {
                Some(sample) => {
                    let found = self.adopt_children(pid, sample.role);
                    waiting.extend(found);
                    samples.push(sample);
                }
                None => {
                    self.known.remove(&pid);
                }
            }
        }
        samples.sort_by_key(|sample| sample.pid);
        samples
    }

    fn process(&mut self, pid: u32) -> Option<ProcessSample> {
        let folder = self.proc.join(pid.to_string());
        let stat = parse::process(&fs::read_to_string(folder.join("stat")).ok()?)?;
        let known = self.known.get_mut(&pid)?;
        let started = *known.started_ticks.get_or_insert(stat.started_ticks);
        if started != stat.started_ticks || stat.ended {
            return None;
        }
        let resident = fs::read_to_string(folder.join("statm"))
            .ok()
            .and_then(|text| parse::resident_pages(&text));
        Some(ProcessSample {
            pid,
            role: known.role,
            name: stat.name,
            cpu: self.units.ticks(stat.cpu_ticks),
            rss: resident.unwrap_or(0) * self.units.page_bytes,
            threads: stat.threads,
            ..process::more(&folder, known.role)
        })
    }

    /// Follows the children not yet followed, and returns the new ones. The kernel lists them by
    /// the thread that forked.
    fn adopt_children(&mut self, pid: u32, role: ProcessRole) -> Vec<u32> {
        let mut found = Vec::new();
        let Ok(tasks) = fs::read_dir(self.proc.join(pid.to_string()).join("task")) else {
            return found;
        };
        for task in tasks.flatten() {
            let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for child in parse::children(&text) {
                if self.known.len() < PROCESSES_MAX && !self.known.contains_key(&child) {
                    self.follow(child, role);
                    found.push(child);
                }
            }
        }
        found
    }
}

impl Units {
    fn ticks(self, count: u64) -> Nanos {
        Nanos(count.saturating_mul(self.tick.0))
    }
}

fn read(path: &Path) -> Result<String, HostError> {
    fs::read_to_string(path).map_err(|error| HostError::Read(path.to_owned(), error))
}

#[cfg(test)]
mod tests;

//! The run second by second: what host and processes did, and how many threads had a request.
//!
//! Counters are cumulative and sampled about once a second, at no round moment. So their values at
//! the start and end of each whole second of the measured window are drawn between the two nearest
//! samples, and the second is the difference. What is no counter is taken from the next sample.

use std::collections::BTreeMap;

use recording::{
    DiskBytes, Exchange, Handled, HostSample, Nanos, NetworkBytes, ProcessRole, ProcessSample,
    Recording, RuntimeSample, Timestamp, Weight,
};

const SECOND: Nanos = Nanos(1_000_000_000);
/// Most seconds of a window, a day: longer ones are cut, so a damaged recording cannot ask for all
/// memory.
const SECONDS_MAX: u64 = 86_400;

/// The run second by second. Empty where the host could not be watched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seconds {
    /// The processes of the run, by process id.
    pub processes: Vec<Process>,
    /// Whole seconds of the measured window, in order; unwatched ones are missing.
    pub seconds: Vec<Second>,
}

/// A process of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Role of the process.
    pub role: ProcessRole,
    /// Command name of the process.
    pub name: String,
    /// Number of the process among the workers of a cluster.
    pub worker: Option<u32>,
    /// Limit on open files.
    pub fds_limit: Option<u64>,
}

/// Figures of one second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Second {
    /// Seconds from the start of the window to the start of the second.
    pub at_s: u32,
    /// Number of busy cores, whoever the user.
    pub busy_cores: f64,
    /// Cores taken by the hypervisor.
    pub steal_cores: f64,
    /// Share of the time in which some task waited for a core, for I/O, for memory.
    pub cpu_pressure: Option<f64>,
    /// See `cpu_pressure`.
    pub io_pressure: Option<f64>,
    /// See `cpu_pressure`.
    pub memory_pressure: Option<f64>,
    /// Memory available on the host at the end of the second, bytes.
    pub memory_available: u64,
    /// Memory used of the limit, and the limit, bytes.
    pub memory_used: Option<u64>,
    /// See `memory_used`.
    pub memory_limit: Option<u64>,
    /// Bytes from other hosts.
    pub network_received: Option<u64>,
    /// Bytes to other hosts.
    pub network_sent: Option<u64>,
    /// Bytes between processes of the host.
    pub loopback: Option<u64>,
    /// Bytes read from disks.
    pub disk_read: Option<u64>,
    /// Bytes written to disks.
    pub disk_written: Option<u64>,
    /// Mean number of threads with a request; `None` without the app's records.
    pub threads_busy: Option<f64>,
    /// Connections waiting for a thread at the end of the second: in the kernel's queue and, where
    /// known, in the server's own.
    pub backlog: Option<u32>,
    /// Figures of the processes.
    pub processes: Vec<ProcessSecond>,
}

/// Figures of one process in a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessSecond {
    /// Process id.
    pub pid: u32,
    /// Role of the process.
    pub role: ProcessRole,
    /// Cores used.
    pub cpu_cores: f64,
    /// Resident memory at the end of the second, bytes.
    pub rss: u64,
    /// Resident bytes with shared pages divided.
    pub pss: Option<u64>,
    /// Threads at the end of the second.
    pub threads: u32,
    /// Open files at the end of the second.
    pub fds: Option<u32>,
    /// Ruby's garbage collector and compiler; `None` without the agent.
    pub ruby: Option<RubySecond>,
}

/// Figures of Ruby in a process in a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RubySecond {
    /// Collections.
    pub gc_count: u64,
    /// Number of major collections.
    pub gc_major: u64,
    /// Time in the collector as a share of the second.
    pub gc_share: f64,
    /// Objects alive.
    pub heap_live: u64,
    /// Bytes of compiled code; `None` without a compiler.
    pub jit_code_bytes: Option<u64>,
    /// Time spent compiling as a share of the second; `None` without a compiler.
    pub jit_share: Option<f64>,
}

/// The run second by second.
pub fn seconds(recording: &Recording) -> Seconds {
    let window = recording.window;
    let whole = (window.length().0 / SECOND.0).min(SECONDS_MAX);
    let at = |second: u64| window.start + Nanos(second * SECOND.0);
    let mut seconds: Vec<Second> = (0..whole)
        .filter_map(|second| {
            let from = drawn_at(&recording.host, at(second))?;
            let to = drawn_at(&recording.host, at(second + 1))?;
            Some(Second {
                at_s: u32::try_from(second).ok()?,
                ..between(recording, &from, &to)
            })
        })
        .collect();
    let held = held(&recording.handled, window.start, whole);
    let weights = weights(&recording.exchanges, window.start, whole);
    for second in &mut seconds {
        let at = second.at_s as usize;
        let held = held.get(at).zip(weights.get(at));
        second.threads_busy = held.map(|(held, weight)| held.as_secs_f64() * weight);
    }
    Seconds {
        processes: processes(&recording.host),
        seconds,
    }
}

/// Interpolates a sample at a moment; `None` before the first and after the last.
fn drawn_at(samples: &[HostSample], at: Timestamp) -> Option<HostSample> {
    let next = samples.partition_point(|sample| sample.at < at);
    let to = samples.get(next)?;
    if to.at == at {
        return Some(to.clone());
    }
    let from = samples.get(next.checked_sub(1)?)?;
    let share = at.since(from.at).0 as f64 / to.at.since(from.at).0 as f64;
    let number = |from: u64, to: u64| from + (to.saturating_sub(from) as f64 * share) as u64;
    let nanos = |from: Nanos, to: Nanos| Nanos(number(from.0, to.0));
    let pressure = |from: Option<Nanos>, to: Option<Nanos>| Some(nanos(from?, to?));
    let process = |sample: &ProcessSample| {
        let before = from.processes.iter().find(|other| other.pid == sample.pid);
        // A process not seen before started in between, at zero.
        let before = before.map_or(Nanos::ZERO, |before| before.cpu);
        ProcessSample {
            cpu: nanos(before, sample.cpu),
            ..sample.clone()
        }
    };
    Some(HostSample {
        at,
        cpu_busy: nanos(from.cpu_busy, to.cpu_busy),
        cpu_steal: nanos(from.cpu_steal, to.cpu_steal),
        cpu_pressure: pressure(from.cpu_pressure, to.cpu_pressure),
        io_pressure: pressure(from.io_pressure, to.io_pressure),
        memory_pressure: pressure(from.memory_pressure, to.memory_pressure),
        network: from.network.zip(to.network).map(|(from, to)| NetworkBytes {
            received: number(from.received, to.received),
            sent: number(from.sent, to.sent),
            loopback: number(from.loopback, to.loopback),
        }),
        disk: from.disk.zip(to.disk).map(|(from, to)| DiskBytes {
            read: number(from.read, to.read),
            written: number(from.written, to.written),
        }),
        processes: to.processes.iter().map(process).collect(),
        ..to.clone()
    })
}

fn processes(samples: &[HostSample]) -> Vec<Process> {
    let mut found: BTreeMap<u32, Process> = BTreeMap::new();
    for sample in samples.iter().flat_map(|sample| &sample.processes) {
        let process = found.entry(sample.pid).or_default();
        process.pid = sample.pid;
        process.role = sample.role;
        process.name.clone_from(&sample.name);
        process.worker = sample.worker.or(process.worker);
        process.fds_limit = sample.fds_limit.or(process.fds_limit);
    }
    found.into_values().collect()
}

/// Returns the second between two samples one second apart.
fn between(recording: &Recording, from: &HostSample, to: &HostSample) -> Second {
    let share = |from: Option<Nanos>, to: Option<Nanos>| Some((to? - from?).as_secs_f64().min(1.0));
    let network = from.network.zip(to.network);
    let disk = from.disk.zip(to.disk);
    let process = |sample: &ProcessSample| {
        let before = from.processes.iter().find(|other| other.pid == sample.pid);
        let cpu = sample.cpu - before.map_or(Nanos::ZERO, |before| before.cpu);
        ProcessSecond {
            pid: sample.pid,
            role: sample.role,
            cpu_cores: cpu.as_secs_f64(),
            rss: sample.rss,
            pss: sample.pss,
            threads: sample.threads,
            fds: sample.fds,
            ruby: ruby(recording, sample.pid, from.at, to.at),
        }
    };
    Second {
        busy_cores: (to.cpu_busy - from.cpu_busy).as_secs_f64(),
        steal_cores: (to.cpu_steal - from.cpu_steal).as_secs_f64(),
        cpu_pressure: share(from.cpu_pressure, to.cpu_pressure),
        io_pressure: share(from.io_pressure, to.io_pressure),
        memory_pressure: share(from.memory_pressure, to.memory_pressure),
        memory_available: to.memory_available,
        memory_used: to.memory_used,
        memory_limit: to.memory_limit,
        network_received: network.map(|(from, to)| to.received.saturating_sub(from.received)),
        network_sent: network.map(|(from, to)| to.sent.saturating_sub(from.sent)),
        loopback: network.map(|(from, to)| to.loopback.saturating_sub(from.loopback)),
        disk_read: disk.map(|(from, to)| to.read.saturating_sub(from.read)),
        disk_written: disk.map(|(from, to)| to.written.saturating_sub(from.written)),
        backlog: queued(recording, to),
        processes: to.processes.iter().map(process).collect(),
        ..Second::default()
    }
}

/// Returns the requests waiting for a thread in the kernel's queue and in the processes', as last
/// reported.
fn queued(recording: &Recording, at: &HostSample) -> Option<u32> {
    let in_server = at.processes.iter().filter_map(|process| {
        let told = recording
            .runtime
            .iter()
            .filter(|sample| sample.pid == process.pid);
        let last = told
            .filter(|sample| sample.at <= at.at)
            .max_by_key(|sample| sample.at);
        last?.backlog
    });
    let in_kernel = at.backlog.into_iter();
    in_kernel.chain(in_server).reduce(u32::saturating_add)
}

/// Compares Ruby's samples nearest before both ends of the second, as Ruby's samples are taken at
/// other times.
fn ruby(recording: &Recording, pid: u32, from: Timestamp, to: Timestamp) -> Option<RubySecond> {
    let last_before = |at: Timestamp| -> Option<&RuntimeSample> {
        let of_process = recording.runtime.iter().filter(|sample| sample.pid == pid);
        of_process
            .filter(|sample| sample.at <= at)
            .max_by_key(|sample| sample.at)
    };
    let (before, after) = (last_before(from)?, last_before(to)?);
    let length = after.at.since(before.at).as_secs_f64();
    if length <= 0.0 {
        return None;
    }
    let compile = |sample: &RuntimeSample| sample.jit.map(|jit| jit.compile_time);
    Some(RubySecond {
        gc_count: after.gc_count.saturating_sub(before.gc_count),
        gc_major: after.gc_major.saturating_sub(before.gc_major),
        gc_share: (after.gc_time - before.gc_time).as_secs_f64() / length,
        heap_live: after.heap_live,
        jit_code_bytes: after.jit.map(|jit| jit.code_bytes),
        jit_share: compile(before)
            .zip(compile(after))
            .map(|(before, after)| (after - before).as_secs_f64() / length),
    })
}

/// Time of held threads in each second. A request holds one from the start of its handler to the
/// end. Empty where the app was not observed inside.
fn held(handled: &[Handled], begin: Timestamp, whole: u64) -> Vec<Nanos> {
    if handled.is_empty() {
        return Vec::new();
    }
    let mut held = vec![Nanos::ZERO; whole as usize];
    for request in handled {
        let first = request.start.since(begin).0 / SECOND.0;
        let last = request.end.since(begin).0 / SECOND.0;
        for second in first..=last.min(whole.saturating_sub(1)) {
            let start = begin + Nanos(second * SECOND.0);
            let end = request.end.min(start + SECOND);
            if let Some(held) = held.get_mut(second as usize) {
                *held += end.since(request.start.max(start));
            }
        }
    }
    held
}

/// Returns the requests represented by each numbered one, second by second.
fn weights(exchanges: &[Exchange], begin: Timestamp, whole: u64) -> Vec<f64> {
    let mut by_second = vec![Weight::default(); whole as usize];
    for exchange in exchanges.iter().filter(|exchange| exchange.due >= begin) {
        let second = exchange.due.since(begin).0 / SECOND.0;
        if let Some(weight) = by_second.get_mut(second as usize) {
            weight.add(exchange);
        }
    }
    by_second.into_iter().map(Weight::each).collect()
}

#[cfg(test)]
mod tests {
    use recording::{JitSample, Outcome, RequestId, TextId, Window};

    use super::*;

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_monotonic_nanos(ms * MS)
    }

    fn sample(ms: u64, app_cpu_ms: u64) -> HostSample {
        HostSample {
            at: at(ms),
            cpu_busy: Nanos(2 * app_cpu_ms * MS),
            cpu_pressure: Some(Nanos(ms * MS / 4)),
            memory_available: ms,
            network: Some(NetworkBytes {
                received: 10 * ms,
                ..NetworkBytes::default()
            }),
            backlog: Some(3),
            processes: vec![ProcessSample {
                pid: 7,
                name: "ruby".to_owned(),
                cpu: Nanos(app_cpu_ms * MS),
                rss: 50,
                worker: Some(0),
                fds_limit: Some(1024),
                ..ProcessSample::default()
            }],
            ..HostSample::default()
        }
    }

    fn run() -> Recording {
        let gc = |ms: u64, count: u64| RuntimeSample {
            at: at(ms),
            pid: 7,
            gc_count: count,
            gc_time: Nanos(count * 10 * MS),
            jit: Some(JitSample {
                code_bytes: 100,
                ..JitSample::default()
            }),
            ..RuntimeSample::default()
        };
        Recording {
            window: Window {
                start: at(2_000),
                end: at(4_500),
            },
            host: vec![
                sample(1_000, 0),
                sample(2_500, 600),
                sample(3_500, 1_600),
                sample(4_500, 2_000),
            ],
            handled: vec![Handled {
                start: at(1_500),
                end: at(3_250),
                ..Handled::default()
            }],
            runtime: vec![gc(900, 1), gc(1_900, 11), gc(2_900, 13), gc(3_900, 63)],
            ..Recording::default()
        }
    }

    #[test]
    fn each_whole_second_is_drawn_between_samples() {
        let Seconds { processes, seconds } = seconds(&run());
        assert_eq!(processes.len(), 1);
        let known = (processes[0].worker, processes[0].fds_limit);
        assert_eq!(known, (Some(0), Some(1024)));
        let starts: Vec<u32> = seconds.iter().map(|second| second.at_s).collect();
        assert_eq!(starts, [0, 1]);
        // 400 ms at 2 s, 1,100 ms at 3 s, 1,800 ms at 4 s.
        assert_eq!(seconds[0].processes[0].cpu_cores, 0.7);
        assert_eq!(seconds[1].processes[0].cpu_cores, 0.7);
        assert_eq!(seconds[0].busy_cores, 1.4);
        assert_eq!(seconds[0].cpu_pressure, Some(0.25));
        assert_eq!(seconds[0].network_received, Some(10_000));
        assert_eq!((seconds[0].disk_read, seconds[0].backlog), (None, Some(3)));
        assert_eq!(seconds[0].memory_available, 3_500);
    }

    #[test]
    fn a_thread_is_busy_while_it_has_a_request() {
        let seconds = seconds(&run()).seconds;
        let busy: Vec<_> = seconds.iter().map(|second| second.threads_busy).collect();
        assert_eq!(busy, [Some(1.0), Some(0.25)]);
    }

    #[test]
    fn in_a_dense_load_each_request_stands_for_several() {
        let mut recording = run();
        let exchange = |id, due| Exchange {
            id: RequestId(id),
            due: at(due),
            sent: at(due),
            answered: at(due),
            line: TextId::NONE,
            step: 0,
            connection: 0,
            status: 200,
            outcome: Outcome::Ok,
            body_bytes: 0,
        };
        let dues = [(0, 2_000), (7, 2_100), (0, 2_999), (8, 3_000)];
        recording.exchanges = dues.map(|(id, due)| exchange(id, due)).to_vec();
        let seconds = seconds(&recording).seconds;
        let busy: Vec<_> = seconds.iter().map(|second| second.threads_busy).collect();
        assert_eq!(busy, [Some(3.0), Some(0.25)]);
    }

    #[test]
    fn ruby_is_told_from_its_own_samples() {
        let seconds = seconds(&run()).seconds;
        let ruby = |second: &Second| second.processes[0].ruby.clone().unwrap();
        let (first, second) = (ruby(&seconds[0]), ruby(&seconds[1]));
        assert_eq!((first.gc_count, first.gc_share), (2, 0.02));
        assert_eq!((second.gc_count, second.gc_share), (50, 0.5));
        let jit = (second.jit_code_bytes, second.jit_share);
        assert_eq!(jit, (Some(100), Some(0.0)));
    }

    #[test]
    fn what_was_not_watched_is_missing() {
        let unseen = Recording {
            host: Vec::new(),
            ..run()
        };
        assert_eq!(seconds(&unseen), Seconds::default());
        let outside = Recording {
            handled: Vec::new(),
            runtime: Vec::new(),
            ..run()
        };
        let second = &seconds(&outside).seconds[0];
        let inside = (second.threads_busy, second.processes[0].ruby.clone());
        assert_eq!(inside, (None, None));
    }
}

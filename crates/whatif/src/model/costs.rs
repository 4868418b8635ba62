//! Costs of a request beside the stretches, from the host's samples of the run.

use breakdown::Breakdown;
use recording::{HostSample, Nanos, ProcessRole, ProcessSample, Recording};

use super::{Costs, Demands, Memory};
use crate::PAUSE;

/// CPU beside the handler, ns, without samples: the CPU of Puma 6 for a small request, roughly.
const SERVER_DEFAULT: f64 = 150_000.0;
/// Shortest time between samples used for rates.
const SAMPLED_MIN: Nanos = Nanos(1_000_000_000);

/// CPU a request, nanoseconds, by role; `None` without samples.
struct Cpu {
    /// CPU of processes serving requests.
    app: f64,
    /// CPU of stores, and of the app's other processes, each with a GVL apart, if any.
    asked: f64,
    database: f64,
}

/// The host's samples at the beginning of the window and at the end.
struct Ends<'a> {
    first: &'a HostSample,
    last: &'a HostSample,
    passed: Nanos,
}

impl<'a> Ends<'a> {
    fn of(recording: &'a Recording) -> Option<Ends<'a>> {
        let inside = |sample: &&HostSample| recording.window.contains(sample.at);
        let first = recording.host.iter().find(inside)?;
        let last = recording.host.iter().rev().find(inside)?;
        let passed = last.at.since(first.at);
        (passed >= SAMPLED_MIN).then_some(Ends {
            first,
            last,
            passed,
        })
    }

    /// Returns the mean number of busy cores, by the host's count.
    fn busy(&self) -> f64 {
        let busy = self.last.cpu_busy - self.first.cpu_busy;
        busy.0 as f64 / self.passed.0 as f64
    }

    /// Returns the cores used by the app, the database and the generator, by the processes' own
    /// counts.
    fn ours(&self) -> f64 {
        let ours: f64 = OURS.iter().map(|role| self.cpu(*role)).sum();
        ours / self.passed.0 as f64
    }

    /// Returns the CPU of the processes of a role between both samples, ns.
    fn cpu(&self, role: ProcessRole) -> f64 {
        self.cpu_of(|process| process.role == role)
    }

    fn cpu_of(&self, counts: impl Fn(&ProcessSample) -> bool) -> f64 {
        let used = self.last.processes.iter();
        let used = used.filter(|process| counts(process)).map(|process| {
            let mut known = self.first.processes.iter();
            let before = known.find(|known| known.pid == process.pid);
            (process.cpu - before.map_or(Nanos::ZERO, |known| known.cpu)).0 as f64
        });
        used.sum()
    }
}

fn cpu(recording: &Recording, answered: u64) -> Option<Cpu> {
    let ends = Ends::of(recording)?;
    let share = ends.passed.as_secs_f64() / recording.window.length().as_secs_f64();
    let requests = answered as f64 * share;
    let serving = recording.agents.iter().filter(|agent| agent.requests > 0);
    let serving: Vec<u32> = serving.map(|agent| agent.pid).collect();
    let app = ends.cpu_of(|process| {
        process.role == ProcessRole::App && (serving.is_empty() || serving.contains(&process.pid))
    });
    (answered > 0).then(|| Cpu {
        app: app / requests,
        asked: (ends.cpu(ProcessRole::App) - app + ends.cpu(ProcessRole::Store)) / requests,
        database: ends.cpu(ProcessRole::Database) / requests,
    })
}

const OURS: [ProcessRole; 4] = [
    ProcessRole::App,
    ProcessRole::Database,
    ProcessRole::Generator,
    ProcessRole::Store,
];

/// Returns the mean cores used by programs other than the app, the database and the generator, plus
/// the cores used to record the run; 0 without samples. Recording looks at processes and stacks so
/// many times a second, however many requests there are: it took 0.09 and 0.08 cores at 384 and
/// 3,418 requests/s of one app.
pub(super) fn others(recording: &Recording) -> f64 {
    Ends::of(recording).map_or(0.0, |ends| {
        let sending = recording.generator.cpu.0 as f64 / recording.window.length().0.max(1) as f64;
        let generator = ends.cpu(ProcessRole::Generator) / ends.passed.0 as f64;
        let watching = (generator - sending).max(0.0);
        (ends.busy() - ends.ours()).max(0.0) + watching
    })
}

/// Returns the mean number of busy cores, by all programs; 0 without samples.
pub(super) fn busy(recording: &Recording) -> f64 {
    Ends::of(recording).map_or(0.0, |ends| ends.busy())
}

/// Returns the mean cores used by the app, the database and the generator; 0 without samples.
pub(super) fn ours(recording: &Recording) -> f64 {
    Ends::of(recording).map_or(0.0, |ends| ends.ours())
}

/// Returns the mean cores given to others by the hypervisor; 0 without samples.
pub(super) fn stolen(recording: &Recording) -> f64 {
    Ends::of(recording).map_or(0.0, |ends| {
        let stolen = ends.last.cpu_steal - ends.first.cpu_steal;
        stolen.0 as f64 / ends.passed.0 as f64
    })
}

/// Returns the server's CPU around the handler, and the share of SQL spent on CPU of the run's
/// cores.
pub(super) fn demands(recording: &Recording, breakdown: &Breakdown) -> Demands {
    let overall = &breakdown.overall;
    let cpu = cpu(recording, overall.answered);
    let handler = overall.cpu_total_ms.map(|ms| ms * 1e6);
    let server = match (&cpu, handler) {
        (Some(cpu), Some(handler)) => (cpu.app - handler).max(0.0),
        _ => SERVER_DEFAULT,
    };
    let sql = sql_mean(breakdown, recording).0 as f64;
    let database = cpu.map_or(0.0, |cpu| cpu.database);
    Demands {
        // Reading and parsing take about as much as writing the response.
        before: server / 2.0,
        after: server / 2.0,
        sql_cpu: if sql > 0.0 {
            (database / sql).min(1.0)
        } else {
            0.0
        },
        sql_scale: 1.0,
    }
}

/// Returns the handlers' CPU off the GVL per request, ns; `None` without a request whose CPU was
/// read.
pub(super) fn off_gvl(breakdown: &Breakdown) -> Option<f64> {
    let overall = &breakdown.overall;
    let with_gvl = overall.balance.cpu + overall.balance.gc;
    let total = overall.cpu_total_ms?;
    Some((total - with_gvl).max(0.0) * 1e6)
}

/// The load generator's share; what is still to be found is zero.
pub(super) fn costs(recording: &Recording, breakdown: &Breakdown) -> Costs {
    let answered = breakdown.overall.answered.max(1);
    let threads = recording.generator.cpu.0 as f64 / answered as f64;
    let asked = cpu(recording, answered).map_or(0.0, |cpu| cpu.asked);
    Costs {
        generator: Nanos(threads as u64),
        asked: Nanos(asked as u64),
        pause: PAUSE,
        ..Costs::default()
    }
}

/// Returns the mean time off the GVL in SQL, over the window's requests recorded by the app.
pub(super) fn sql_mean(breakdown: &Breakdown, recording: &Recording) -> Nanos {
    let told = breakdown.overall.told;
    let inside = |handled: &&recording::Handled| recording.window.contains(handled.start);
    let waits = recording.handled.iter().filter(inside);
    let sum: Nanos = waits.map(|handled| handled.parts.sql_waiting).sum();
    Nanos(sum.0 / told.max(1))
}

/// Returns the memory by the last sample of the window. Without processes known as workers it is
/// one worker, with all memory.
pub(super) fn memory(recording: &Recording) -> Memory {
    let inside = |sample: &&HostSample| recording.window.contains(sample.at);
    let Some(sample) = recording.host.iter().rev().find(inside) else {
        return Memory::default();
    };
    let app = sample.processes.iter();
    let app = app.filter(|process| process.role == ProcessRole::App);
    let bytes = |process: &ProcessSample| process.pss.unwrap_or(process.rss);
    let (workers, others): (Vec<_>, Vec<_>) = app.partition(|process| process.worker.is_some());
    let of_workers: u64 = workers.iter().map(|process| bytes(process)).sum();
    let of_others: u64 = others.iter().map(|process| bytes(process)).sum();
    match workers.len() as u64 {
        0 => Memory {
            worker: of_others,
            other: 0,
        },
        count => Memory {
            worker: of_workers / count,
            other: of_others,
        },
    }
}

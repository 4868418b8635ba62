//! What a request costs beside its stretches: from the host's samples of the run.

use breakdown::Breakdown;
use recording::{HostSample, Nanos, ProcessRole, Recording};

use super::{Costs, Demands, Memory};

/// CPU beside the handler where the samples do not tell: what Puma 6 takes for a small request, roughly.
const SERVER_DEFAULT: f64 = 150_000.0;
/// Shorter stretches between samples tell nothing.
const SAMPLED_MIN: Nanos = Nanos(1_000_000_000);

/// CPU a request, nanoseconds, by role; `None` without samples.
struct Cpu {
    app: f64,
    database: f64,
    generator: f64,
}

fn cpu(recording: &Recording, answered: u64) -> Option<Cpu> {
    let inside = |sample: &&HostSample| recording.window.contains(sample.at);
    let first = recording.host.iter().find(inside)?;
    let last = recording.host.iter().rev().find(inside)?;
    let passed = last.at.since(first.at);
    if passed < SAMPLED_MIN || answered == 0 {
        return None;
    }
    let requests = answered as f64 * passed.as_secs_f64() / recording.window.length().as_secs_f64();
    let of = |role| {
        let used = last.processes.iter().filter(|process| process.role == role);
        let used = used.map(|process| {
            let before = first
                .processes
                .iter()
                .find(|known| known.pid == process.pid);
            (process.cpu - before.map_or(Nanos::ZERO, |known| known.cpu)).0 as f64
        });
        used.sum::<f64>() / requests
    };
    Some(Cpu {
        app: of(ProcessRole::App),
        database: of(ProcessRole::Database),
        generator: of(ProcessRole::Generator),
    })
}

/// What the server does around the handler, and how much of SQL is CPU on these cores.
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
        // Reading and parsing take about as much as writing the answer.
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

/// The load generator's share; what is still to be found is zero.
pub(super) fn costs(recording: &Recording, breakdown: &Breakdown) -> Costs {
    let answered = breakdown.overall.answered.max(1);
    let threads = recording.generator.cpu.0 as f64 / answered as f64;
    let process = cpu(recording, answered).map_or(threads, |cpu| cpu.generator);
    Costs {
        generator: Nanos(threads as u64),
        background: Nanos((process - threads).max(0.0) as u64),
        ..Costs::default()
    }
}

/// Mean time off the GVL in SQL, of the requests that the app saw in the window.
pub(super) fn sql_mean(breakdown: &Breakdown, recording: &Recording) -> Nanos {
    let seen = breakdown.overall.answered - breakdown.overall.unseen;
    let inside = |handled: &&recording::Handled| recording.window.contains(handled.start);
    let waits = recording.handled.iter().filter(inside);
    let sum: Nanos = waits.map(|handled| handled.parts.sql_waiting).sum();
    Nanos(sum.0 / seen.max(1))
}

/// From the last sample of the window. Without processes that are known as workers it is one, with all memory.
pub(super) fn memory(recording: &Recording) -> Memory {
    let inside = |sample: &&HostSample| recording.window.contains(sample.at);
    let Some(sample) = recording.host.iter().rev().find(inside) else {
        return Memory::default();
    };
    let app = sample.processes.iter();
    let app = app.filter(|process| process.role == ProcessRole::App);
    let bytes = |process: &recording::ProcessSample| process.pss.unwrap_or(process.rss);
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

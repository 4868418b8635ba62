//! One load from start to end: threads, their shares, the result.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use recording::{Generator, Score, ScoreLine, Window};
use scenario::{BaseUrl, Scenario};

use crate::clock;
use crate::ledger::Share;
use crate::outcome::{Batch, LoadError, LoadResult};
use crate::pacer::{Constant, Pacer};
use crate::plan::{Pace, Plan};
use crate::worker::{ID_COUNT_MASK, Task, Worker};

/// Batches of one thread that may wait for the receiver.
const BATCHES_WAITING_MAX: usize = 4;
/// Longest wait for an address to prove that it answers.
const ADDRESS_TRY: Duration = Duration::from_millis(500);

/// Runs a load. `sink` gets batches on the calling thread while it runs; setting `stop` ends it within
/// about 100 ms, with everything measured so far.
///
/// Failed requests are not errors: they are exchanges with their outcome. Errors are plans that cannot
/// be run, names without an address, and a system that refuses threads, polls or timers.
pub fn run(
    plan: &Plan,
    scenario: &Scenario,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(Batch),
) -> Result<LoadResult, LoadError> {
    plan.check(scenario)?;
    let address = resolve(scenario.base_url())?;
    let session = scenario.session(plan.seed);
    let pacer = match plan.pace {
        Pace::Closed => None,
        Pace::Constant { per_second } => Some(Constant { per_second }),
    };
    let start = clock::now();
    let window = Window {
        start: start + plan.warmup,
        end: start + plan.warmup + plan.duration,
    };
    let task = |number: u32| Task {
        plan,
        scenario,
        session: &session,
        address,
        stop,
        window,
        start,
        pacer: pacer.as_ref().map(|pacer| pacer as &(dyn Pacer + Sync)),
        number,
        connections: share_of(plan.connections, plan.threads, number),
        connection_first: (0..number)
            .map(|before| share_of(plan.connections, plan.threads, before))
            .sum(),
        // Spread over all bits, so that runs started shortly after each other differ too.
        id_base: start.monotonic_nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15) & !ID_COUNT_MASK,
    };
    let total = run_threads(plan.threads, task, sink)?;
    Ok(result(plan, scenario, window, total))
}

fn result(plan: &Plan, scenario: &Scenario, planned: Window, total: Share) -> LoadResult {
    let end = total.stopped_at.unwrap_or(planned.end);
    let score = score(scenario, &total);
    let (answers, texts) = total.answers.into_parts();
    LoadResult {
        window: Window {
            start: planned.start,
            end: end.max(planned.start),
        },
        generator: Generator {
            cpu: total.cpu,
            threads: plan.threads,
            unsent: total.unsent,
        },
        score,
        failures: total.failures.into_vec(),
        answers,
        texts,
        stopped: total.stopped_at.is_some(),
    }
}

/// Starts the workers, passes on their batches, and adds up their shares.
fn run_threads<'a>(
    threads: u32,
    task: impl Fn(u32) -> Task<'a>,
    sink: &mut dyn FnMut(Batch),
) -> Result<Share, LoadError> {
    let (sender, receiver) = sync_channel(threads as usize * BATCHES_WAITING_MAX);
    let system = |what| move |source| LoadError::System { what, source };
    let workers: Vec<Worker<'a>> = (0..threads)
        .map(|number| Worker::new(task(number), sender.clone()))
        .collect::<io::Result<_>>()
        .map_err(system("make an event loop"))?;
    drop(sender);
    std::thread::scope(|scope| {
        let mut handles = Vec::new();
        let mut failed = None;
        for worker in workers {
            let thread = std::thread::Builder::new().name("hakaru-load".to_owned());
            match thread.spawn_scoped(scope, move || worker.run()) {
                Ok(handle) => handles.push(handle),
                Err(error) => failed = Some(error),
            }
        }
        // Ends when the last worker has dropped its sender.
        for batch in receiver {
            sink(batch);
        }
        let shares = handles.into_iter().map(join);
        let total = merge(shares).map_err(system("wait for events"))?;
        match failed {
            None => Ok(total),
            Some(source) => Err(system("start a thread")(source)),
        }
    })
}

fn join(handle: ScopedJoinHandle<'_, io::Result<Share>>) -> io::Result<Share> {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn merge(shares: impl Iterator<Item = io::Result<Share>>) -> io::Result<Share> {
    let mut total = Share::default();
    for share in shares {
        let share = share?;
        total.cpu += share.cpu;
        total.unsent += share.unsent;
        total.checks_failed += share.checks_failed;
        total.failures.merge(share.failures);
        total.tally.merge(&share.tally);
        total.answers.merge(share.answers);
        total.stopped_at = match (total.stopped_at, share.stopped_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    Ok(total)
}

/// The points. None when a check failed anywhere in the run, warm-up included: a server that answers
/// wrongly has no score, however fast it is. Errors only earn nothing.
fn score(scenario: &Scenario, total: &Share) -> Option<Score> {
    let lines = total.tally.lines(scenario.score()?);
    let points = lines.iter().map(|line| line.points).sum();
    Some(Score {
        points: (total.checks_failed == 0).then_some(points),
        lines: lines
            .into_iter()
            .map(|line| ScoreLine {
                rule: line.rule,
                count: line.count,
                points: line.points,
            })
            .collect(),
    })
}

/// How many of `all` belong to the thread `number`: the remainder goes to the first ones.
fn share_of(all: u32, threads: u32, number: u32) -> u32 {
    all / threads + u32::from(number < all % threads)
}

/// The first address of the host that accepts a connection; if none does, the first. `localhost` often
/// has two, of which the server listens on one.
pub(crate) fn resolve(base: &BaseUrl) -> Result<SocketAddr, LoadError> {
    let fail = |source| LoadError::Resolve {
        authority: base.authority.clone(),
        source,
    };
    let found = (base.host.as_str(), base.port).to_socket_addrs();
    let addresses: Vec<SocketAddr> = found.map_err(fail)?.collect();
    match addresses.as_slice() {
        [] => Err(fail(io::ErrorKind::NotFound.into())),
        [only] => Ok(*only),
        [first, ..] => {
            let answers =
                |address: &&SocketAddr| TcpStream::connect_timeout(address, ADDRESS_TRY).is_ok();
            Ok(*addresses.iter().find(answers).unwrap_or(first))
        }
    }
}

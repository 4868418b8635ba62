//! One load from start to end: threads, shares of the load, the result.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::ScopedJoinHandle;

use recording::{Generator, Score, ScoreLine, Timestamp, Window};
use scenario::{Scenario, ScoreSpec, Tally};

use crate::clock;
use crate::engine::Engine;
use crate::ledger::{Book, Share};
use crate::level::Level;
use crate::notes::Notes;
use crate::outcome::{Batch, LoadError, LoadResult};
use crate::plan::Plan;
use crate::route::Routes;
use crate::worker::{Task, Worker};

/// Messages of one thread waiting for the receiver, at most.
const MESSAGES_WAITING_MAX: usize = 4;

/// Runs a load. `sink` gets batches on the calling thread while it runs; setting `stop` ends it
/// within about 100 ms, with everything measured so far.
///
/// Failed requests are not errors: they are exchanges with their outcome. Errors are plans that
/// cannot be run, names without an address, and a system that refuses threads, polls or timers.
pub fn run(
    plan: &Plan,
    scenario: &Scenario,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(Batch),
) -> Result<LoadResult, LoadError> {
    let book = |_: &Times, sender| Book::Notes(Notes::new(sender));
    let (times, total) = run_threads(
        Job {
            plan,
            scenario,
            stop,
        },
        book,
        sink,
    )?;
    Ok(result(plan, scenario, times.window, total))
}

/// What the threads of a load share.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) scenario: &'a Scenario,
    pub(crate) stop: &'a AtomicBool,
}

/// Start of a load, and the measured window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) start: Timestamp,
    pub(crate) window: Window,
}

impl Times {
    fn from_now(plan: &Plan) -> Times {
        let now = clock::now();
        let start = plan.start_at.map_or(now, |at| at.max(now));
        let window = Window {
            start: start + plan.warmup,
            end: start + plan.warmup + plan.duration,
        };
        Times { start, window }
    }
}

fn result(plan: &Plan, scenario: &Scenario, planned: Window, mut total: Share) -> LoadResult {
    let end = total.stopped_at.unwrap_or(planned.end);
    let score = score(scenario, &total);
    let repeatables = std::mem::take(&mut total.answers.repeatables).into_vec();
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
        repeatables,
        stopped: total.stopped_at.is_some(),
    }
}

/// Starts the workers, each with a book, passes messages of the books on, and adds up the workers'
/// shares.
pub(crate) fn run_threads<M: Send>(
    job: Job<'_>,
    book: impl Fn(&Times, SyncSender<M>) -> Book,
    sink: &mut dyn FnMut(M),
) -> Result<(Times, Share), LoadError> {
    let Job {
        plan,
        scenario,
        stop,
    } = job;
    plan.check(scenario)?;
    let schedule = plan.pace.schedule().map_err(LoadError::Plan)?;
    let routes = Routes::of(scenario, plan)?;
    // On a ring the kernel receives ahead of reads, and a slow reader would not slow the server.
    let engine = match routes.has_limit() {
        true => Engine::Epoll,
        false => plan.engine.resolve()?,
    };
    let mut session = scenario.session_of(plan.part, plan.seed);
    if !plan.keep_alive {
        session.add_header("Connection: close");
    }
    let level = plan.level_up.map(Level::new);
    let times = Times::from_now(plan);
    let threads = plan.threads;
    let (sender, receiver) = sync_channel(threads as usize * MESSAGES_WAITING_MAX);
    let task = |number: u32| Task {
        plan,
        engine,
        scenario,
        session: &session,
        routes: &routes,
        stop,
        window: times.window,
        start: times.start,
        schedule: schedule.as_ref(),
        number,
        connections: users_of(plan, plan.connections, number),
        connections_max: users_of(plan, plan.connections_max(), number),
        connection_first: (0..number)
            .map(|before| users_of(plan, plan.connections_max(), before))
            .sum(),
        level: level.as_ref(),
        level_share: level
            .as_ref()
            .map_or(0, |level| share_of(level.plan.users, threads, number)),
        // Spread over all bits, so that runs started shortly after each other differ too.
        id_base: times
            .start
            .monotonic_nanos()
            .wrapping_mul(0x9e37_79b9_7f4a_7c15),
    };
    clock::wait_until(times.start, stop);
    let jobs: Vec<(Task<'_>, Book)> = (0..threads)
        .map(|number| (task(number), book(&times, sender.clone())))
        .collect();
    drop(sender);
    let mut total = run_workers(jobs, receiver, sink)?;
    total.engine = engine;
    Ok((times, total))
}

fn system(what: &'static str) -> impl Fn(io::Error) -> LoadError {
    move |source| LoadError::System { what, source }
}

fn run_workers<M: Send>(
    jobs: Vec<(Task<'_>, Book)>,
    messages: impl IntoIterator<Item = M>,
    sink: &mut dyn FnMut(M),
) -> Result<Share, LoadError> {
    std::thread::scope(|scope| {
        let mut handles = Vec::new();
        let mut failed = None;
        for (task, book) in jobs {
            let thread = std::thread::Builder::new().name("hakaru-load".to_owned());
            match thread.spawn_scoped(scope, move || Worker::new(task, book)?.run()) {
                Ok(handle) => handles.push(handle),
                Err(error) => failed = Some(error),
            }
        }
        // Ends when the last worker has dropped its sender.
        for message in messages {
            sink(message);
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
        total.users += share.users;
        total.checks_failed += share.checks_failed;
        total.failures.merge(share.failures);
        total.tally.merge(&share.tally);
        total.answers.merge(share.answers);
        total.figures = match (total.figures.take(), share.figures) {
            (Some(mut figures), Some(more)) => {
                figures.merge(&more);
                Some(figures)
            }
            (one, other) => one.or(other),
        };
        total.stopped_at = match (total.stopped_at, share.stopped_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    Ok(total)
}

/// The points. None when a check failed anywhere in the run, warm-up included: a server that
/// answers wrongly has no score, however fast it is. Errors only earn nothing.
pub(crate) fn score(scenario: &Scenario, total: &Share) -> Option<Score> {
    let spec = scenario.score()?;
    Some(points(spec, &total.tally, total.checks_failed))
}

/// Returns the points for the counts; no points after failed checks.
pub fn points(spec: &ScoreSpec, tally: &Tally, checks_failed: u64) -> Score {
    let lines = tally.lines(spec);
    let points = lines.iter().map(|line| line.points).sum();
    Score {
        points: (checks_failed == 0).then_some(points),
        lines: lines
            .into_iter()
            .map(|line| ScoreLine {
                rule: line.rule,
                count: line.count,
                points: line.points,
            })
            .collect(),
    }
}

/// How many of `all` belong to the thread `number`: the remainder goes to the first ones.
fn share_of(all: u32, threads: u32, number: u32) -> u32 {
    all / threads + u32::from(number < all % threads)
}

/// Returns the number of users, of `all`, on the thread `number` of the part: users of one
/// connection stay together.
fn users_of(plan: &Plan, all: u32, number: u32) -> u32 {
    let each = plan.streams.max(1);
    share_of(plan.part.share(all / each), plan.threads, number) * each
}

//! One load from start to end: threads, shares of the load, the result.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::ScopedJoinHandle;

use recording::{Generator, Score, ScoreLine, Timestamp, Window};
use scenario::{Scenario, ScoreSpec, Tally};

use crate::clock;
use crate::engine::Engine;
use crate::ledger::{Book, Share};
use crate::level::Level;
use crate::notes::Notes;
use crate::outcome::{Batch, LoadError, LoadResult, ThreadFault};
use crate::plan::Plan;
use crate::route::Routes;
use crate::worker::{Task, Worker};

/// Messages of one thread waiting for the receiver, at most.
const MESSAGES_WAITING_MAX: usize = 4;

/// Runs a load. `sink` gets batches on the calling thread while it runs; setting `stop` ends it
/// within about 100 ms, with everything measured so far.
///
/// Failed requests are not errors: they are exchanges with their outcome. Errors are plans that
/// cannot be run, names without an address, and a system that refuses threads, polls or timers
/// before any request has ended; afterwards the refusal ends the load, and stands in
/// [`LoadResult::fault`].
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
    let fault = total.fault.take();
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
        fault,
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
    let failed = AtomicBool::new(false);
    let (sender, receiver) = sync_channel(threads as usize * MESSAGES_WAITING_MAX);
    let task = |number: u32| Task {
        plan,
        engine,
        scenario,
        session: &session,
        routes: &routes,
        stop,
        failed: &failed,
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

fn run_workers<M: Send>(
    jobs: Vec<(Task<'_>, Book)>,
    messages: impl IntoIterator<Item = M>,
    sink: &mut dyn FnMut(M),
) -> Result<Share, LoadError> {
    std::thread::scope(|scope| {
        let mut handles = Vec::new();
        let mut left = Vec::new();
        for (task, book) in jobs {
            let (number, failed) = (task.number, task.failed);
            let thread = std::thread::Builder::new().name("hakaru-load".to_owned());
            match thread.spawn_scoped(scope, move || work(task, book)) {
                Ok(handle) => handles.push(handle),
                Err(source) => {
                    failed.store(true, Ordering::Relaxed);
                    left.push(Left {
                        number,
                        share: Share::default(),
                        error: Some(system("start a thread", source)),
                    });
                }
            }
        }
        // Ends when the last worker has dropped its sender.
        for message in messages {
            sink(message);
        }
        left.extend(handles.into_iter().map(join));
        merge(left)
    })
}

/// What a thread left.
struct Left {
    /// Index of the thread.
    number: u32,
    share: Share,
    /// Error at the end of the thread.
    error: Option<LoadError>,
}

fn system(what: &'static str, source: io::Error) -> LoadError {
    LoadError::System { what, source }
}

/// Runs one worker; an error ends the others too.
fn work(task: Task<'_>, book: Book) -> Left {
    let (number, failed) = (task.number, task.failed);
    let (share, error) = match Worker::new(task, book) {
        Ok(worker) => worker.run(),
        Err(error) => (Share::default(), Some(error)),
    };
    if error.is_some() {
        // Relaxed: the flag carries no other data.
        failed.store(true, Ordering::Relaxed);
    }
    Left {
        number,
        share,
        error: error.map(|error| system("wait for events", error)),
    }
}

fn join(handle: ScopedJoinHandle<'_, Left>) -> Left {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Adds up the shares, also of threads with an error.
///
/// # Errors
/// A thread had an error, and no request has ended.
fn merge(all: Vec<Left>) -> Result<Share, LoadError> {
    let mut total = Share::default();
    let mut first = None;
    for left in all {
        let Left {
            number,
            share,
            error,
        } = left;
        if let Some(error) = error {
            first = first.or(Some((number, share.ended, error)));
        }
        add(&mut total, share);
    }
    match first {
        Some((_, _, error)) if total.ended == 0 => return Err(error),
        Some((number, requests, error)) => {
            total.fault = Some(ThreadFault {
                thread: number + 1,
                error: error.to_string(),
                requests,
            });
        }
        None => {}
    }
    Ok(total)
}

fn add(total: &mut Share, share: Share) {
    total.cpu += share.cpu;
    total.unsent += share.unsent;
    total.users += share.users;
    total.checks_failed += share.checks_failed;
    total.ended += share.ended;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Figures;

    fn left(number: u32, ended: u64, error: Option<&str>) -> Left {
        let mut figures = Figures::new(&[]);
        figures.in_time = ended;
        Left {
            number,
            share: Share {
                ended,
                figures: Some(Box::new(figures)),
                ..Share::default()
            },
            error: error.map(|error| system("wait for events", io::Error::other(error))),
        }
    }

    #[test]
    fn an_error_of_one_thread_leaves_what_all_have_measured() {
        let all = vec![left(0, 5, None), left(1, 3, Some("why")), left(2, 4, None)];
        let total = merge(all).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(total.ended, 12);
        assert_eq!(total.figures.map(|figures| figures.in_time), Some(12));
        let fault = total.fault.expect("a fault");
        assert_eq!((fault.thread, fault.requests), (2, 3));
        let told = fault.to_string();
        assert!(
            told.starts_with("thread 2 of the load failed after 3 of its requests and ended the load: cannot wait for events: why"),
            "{told}"
        );
    }

    #[test]
    fn an_error_before_any_request_is_the_load_s() {
        let error = merge(vec![left(0, 0, None), left(1, 0, Some("why"))]);
        let told = error.err().map(|error| error.to_string());
        assert!(told.is_some_and(|told| told.starts_with("cannot wait for events: why")));
    }
}

//! One process runs all the time while cores are free: more processes are what would help. Its
//! handlers hold the GVL, or several of them always wait for it, or the process uses a core whole,
//! the server's own work between requests included.

use crate::exact::{Exact, PumaFlags};
use crate::rule_id::RuleId;
use database::Kind;
use figures::numbers;
use recording::ProcessRole;
use whatif::Setup;
use words::{Text, text};

use super::memory_growth;
use crate::context::Context;
use crate::demand::Gain;
use crate::host;
use crate::text::{percent, times, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Throughput gained by more workers below which the memory is not worth spending.
const GAIN_MIN: f64 = 0.2;
/// Idle cores below which the number is a guess: others come and go. Chosen by judgement.
const IDLE_MIN: f64 = 0.3;

/// Share of a core used by a worker from which the worker has none to spare: the rest are moments
/// without work. Chosen by judgement.
const CORE_TAKEN: f64 = 0.85;

/// Mean number of a worker's threads waiting for the GVL from which the GVL is never free: one
/// server with two in the queue (M/M/1) is used 73 % of the time, and more evenly spread demands
/// need more use for as many.
const WAITING: f64 = 2.0;

/// Share of the free memory for further workers; the rest is for whatever grows. Chosen by
/// judgement.
const MEMORY_SHARE: f64 = 0.8;

/// The exhausted resource of a worker.
enum Taken {
    /// The GVL, held by handlers the given share of the time.
    Gvl(f64),
    /// Handlers waiting for the GVL at any moment, in the mean.
    Queue(f64),
    /// A core, used the given share by the worker.
    Core(f64),
}

/// Room for more workers.
struct Room {
    taken: Taken,
    /// Cores used by nobody.
    idle: f64,
    workers: u32,
    /// Throughput as a multiple of the present one.
    factor: f64,
    memory: Option<Memory>,
    /// Gain by replay, if the run can be replayed.
    gain: Option<Gain>,
}

/// Memory at the end of the run, bytes.
struct Memory {
    /// Of one worker, a share of the master's included.
    each: f64,
    free: f64,
}

impl Memory {
    /// `None` where the run did not sample the memory.
    fn of(context: &Context<'_>, workers: f64) -> Option<Memory> {
        let window = context.recording.window;
        let mut samples = context.recording.host.iter().rev();
        let last = samples.find(|sample| window.contains(sample.at))?;
        let app = last
            .processes
            .iter()
            .filter(|process| process.role == ProcessRole::App);
        let bytes: u64 = app.map(|process| process.pss.unwrap_or(process.rss)).sum();
        let free = memory_growth::free(last)?;
        (bytes > 0).then_some(Memory {
            each: bytes as f64 / workers,
            free,
        })
    }

    /// Number of further workers with room.
    fn more(&self) -> f64 {
        (MEMORY_SHARE * self.free.max(0.0) / self.each).floor()
    }

    fn evidence(&self) -> Text {
        text!(
            "a worker has {each} of memory, and {free} are free",
            each = numbers::bytes(self.each as u64),
            free = numbers::bytes(self.free as u64)
        )
    }
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    room(context)
        .filter(|room| room.factor >= 1.0 + GAIN_MIN)
        .map(|room| finding(context, &room))
        .into_iter()
        .collect()
}

/// Returns the room for more workers: each takes what one takes now, bound by the idle cores and by
/// the free memory. A worker a core at most, as Puma's guide has it.
fn room(context: &Context<'_>) -> Option<Room> {
    let target = &context.recording.meta.target;
    let cores = context.recording.meta.cores;
    let now = f64::from(target.workers.max(1));
    let shares = host::shares(context.recording)?;
    let idle = (1.0 - shares.busy) * f64::from(cores);
    let app = shares.app * f64::from(cores);
    let taken = taken(context, app / now)?;
    if idle < IDLE_MIN || app <= 0.0 || cores <= target.workers {
        return None;
    }
    let by_cores = 1.0 + idle / app;
    let memory = Memory::of(context, now);
    let by_memory = memory
        .as_ref()
        .map_or(f64::INFINITY, |memory| now + memory.more());
    let workers = (now * by_cores).ceil().min(f64::from(cores)).min(by_memory);
    let bound = (workers / now).min(by_cores).min(without_waiting(context));
    if bound < 1.0 + GAIN_MIN {
        return None;
    }
    let workers = workers as u32;
    let gain = context.gain_at(|recorded| Setup {
        workers,
        ..recorded
    });
    let replayed = gain.as_ref().and_then(|gain| gain.replayed);
    Some(Room {
        taken,
        idle,
        workers,
        factor: replayed.map_or(bound, |gain| gain.throughput.ratio),
        memory,
        gain,
    })
}

/// Returns the exhausted resource of a worker using the given share of a core, if any.
fn taken(context: &Context<'_>, of_core: f64) -> Option<Taken> {
    let waiting = waiting(context);
    match context.gvl_is_scarce() {
        Some(held) => Some(Taken::Gvl(held)),
        None if of_core >= CORE_TAKEN => Some(Taken::Core(of_core.min(1.0))),
        None => (waiting >= WAITING).then_some(Taken::Queue(waiting)),
    }
}

/// Mean number of handlers of a worker waiting for the GVL at any moment (Little 1961).
fn waiting(context: &Context<'_>) -> f64 {
    let overall = &context.breakdown.overall;
    let waited_ms = overall.balance.gvl_wait * (overall.answered - overall.unseen) as f64;
    let workers = f64::from(context.recording.meta.target.workers.max(1));
    let window_ms = context.recording.window.length().as_millis_f64();
    waited_ms / workers / window_ms.max(f64::MIN_POSITIVE)
}

/// Returns how many times as much would be served if no request waited for a thread or for the GVL:
/// whoever waits for nothing sends no more when there are more workers.
fn without_waiting(context: &Context<'_>) -> f64 {
    let overall = &context.breakdown.overall;
    let waits = overall.balance.queue + overall.balance.gvl_wait;
    let rest = (overall.seen_mean_ms - waits).max(f64::MIN_POSITIVE);
    overall.seen_mean_ms / rest
}

impl Taken {
    fn name(&self) -> Text {
        match self {
            Taken::Gvl(held) => text!("GVL held {share} of the time", share = percent(*held)),
            Taken::Queue(waiting) => text!(
                "{waiting} threads always wait for the GVL",
                waiting = format!("{waiting:.1}")
            ),
            Taken::Core(used) => text!("a worker uses {share} of a core", share = percent(*used)),
        }
    }

    fn evidence(&self) -> Text {
        match self {
            Taken::Gvl(held) => text!(
                "GVL held {share} of the time by handlers",
                share = percent(*held)
            ),
            Taken::Queue(waiting) => {
                text!(
                    "{waiting} handlers of a worker wait for its GVL on average",
                    waiting = format!("{waiting:.1}")
                )
            }
            Taken::Core(used) => text!(
                "a worker's process uses {share} of a core, by handlers and by the server between requests",
                share = percent(*used)
            ),
        }
    }
}

fn finding(context: &Context<'_>, room: &Room) -> Finding {
    let careful = if context.database_kind() == Some(Kind::Sqlite) {
        text!(
            "each takes memory of its own; SQLite's writers then wait for each other across processes"
        )
    } else {
        text!("each takes memory of its own, and database connections for its threads")
    };
    Finding {
        rule: RuleId::Workers,
        route: String::new(),
        title: title(text!(
            "{taken}, {idle} cores idle: {workers} workers would handle {times}× as many",
            taken = room.taken.name(),
            idle = format!("{:.1}", room.idle),
            workers = room.workers,
            times = times(room.factor)
        )),
        why: text!("one process runs Ruby on one core at a time, however many threads it has"),
        evidence: evidence(context, room),
        remedy: Remedy {
            text: text!(
                "run {workers} workers, with preload_app!; {careful}. A connection made at boot must not be shared: Rails makes \
                 new ones after the fork, other code closes its own in before_fork (Sequel: `DB.disconnect`)",
                workers = room.workers,
                careful
            ),
            exact: Some(Exact::Puma(PumaFlags {
                workers: Some(room.workers),
                preload: true,
                ..PumaFlags::default()
            })),
            safety: Safety::Careful,
        },
        estimated_gain: match &room.gain {
            Some(gain) => gain.text.clone(),
            None => text!(
                "up to {times} times the throughput, bound by the idle cores",
                times = times(room.factor)
            ),
        },
        gain_share: 1.0 - 1.0 / room.factor,
        gain: room.gain.as_ref().and_then(|gain| gain.replayed),
        confidence: Confidence::Medium,
    }
}

fn evidence(context: &Context<'_>, room: &Room) -> Vec<Text> {
    let mut evidence = vec![
        room.taken.evidence(),
        text!(
            "{idle} of {cores} cores idle in the measured window",
            idle = format!("{:.2}", room.idle),
            cores = context.recording.meta.cores
        ),
    ];
    evidence.extend(room.memory.as_ref().map(Memory::evidence));
    evidence
}

//! Memory of the app growing to the end of the run.

use crate::allocator;
use crate::rule_id::RuleId;
use std::collections::BTreeMap;

use figures::counted;
use recording::{HostSample, ProcessRole, RuntimeSample};
use words::{Text, text};

use crate::context::Context;
use crate::text::title;
use crate::types::{Confidence, Finding, Remedy, Safety};
use figures::numbers;

/// Seconds below which a run shows the heap still on the way to the final size. A run of the
/// default length, 20 s, is long enough.
const SECONDS_MIN: f64 = 15.0;
/// Growth in the second half below which the allocator's grain explains the growth.
const GROWN_BYTES_MIN: f64 = 16.0 * MIB;
/// … and relative to what the process had.
const GROWN_SHARE_MIN: f64 = 0.05;
/// Growth in the second half relative to the first below which memory is settling.
const STEADY_MIN: f64 = 0.6;
/// Length of run from which growth is certain, seconds.
const SECONDS_SURE: f64 = 120.0;
/// Growth in the second half, in bytes and relative to the memory before, too steep for a heap on
/// the way to the final size: counted after [`SECONDS_STEEP_MIN`], and likely even in a short run.
/// Chosen by judgement.
const STEEP_BYTES_MIN: f64 = 64.0 * MIB;
const STEEP_SHARE_MIN: f64 = 0.25;
const SECONDS_STEEP_MIN: f64 = 8.0;
/// Time until memory is full, below which the run itself is a warning. Workers are seldom restarted
/// more often.
const SECONDS_TO_FULL: f64 = 3_600.0;

const MIB: f64 = 1024.0 * 1024.0;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let window = context.recording.window;
    let host = context.recording.host.iter();
    let inside: Vec<&HostSample> = host.filter(|sample| window.contains(sample.at)).collect();
    let mut by_process: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for sample in &inside {
        let at = sample.at.since(window.start).as_secs_f64();
        let app = sample
            .processes
            .iter()
            .filter(|process| process.role == ProcessRole::App);
        for process in app {
            // Not what it has of its own (PSS): that is halved for as long as a child lives that it
            // forked.
            let bytes = process.rss as f64;
            by_process.entry(process.pid).or_default().push((at, bytes));
        }
    }
    let grown: Vec<Growth> = by_process
        .iter()
        .filter_map(|(pid, points)| growth(*pid, points))
        .collect();
    let free = inside.last().copied().and_then(free);
    Grown::of(grown, free)
        .map(|grown| finding(context, &grown))
        .into_iter()
        .collect()
}

/// Growth of a process, bytes.
struct Growth {
    pid: u32,
    seconds: f64,
    begun: f64,
    first: f64,
    second: f64,
}

impl Growth {
    fn all(&self) -> f64 {
        self.first + self.second
    }

    /// Growth in the second half, without what only made up for a loss in the first: the kernel
    /// takes pages back, or the heap shrank.
    fn lasting(&self) -> f64 {
        self.second.min(self.all())
    }

    fn is_steep(&self) -> bool {
        let lasting = self.lasting();
        lasting >= STEEP_BYTES_MIN && lasting >= STEEP_SHARE_MIN * self.begun
    }
}

/// The growth of a steadily growing process; `None` for any other.
fn growth(pid: u32, points: &[(f64, f64)]) -> Option<Growth> {
    let (first, last) = (points.first()?, points.last()?);
    let middle = (first.0 + last.0) / 2.0;
    let half = points
        .iter()
        .min_by(|a, b| (a.0 - middle).abs().total_cmp(&(b.0 - middle).abs()))?;
    let growth = Growth {
        pid,
        seconds: last.0 - first.0,
        begun: first.1,
        first: half.1 - first.1,
        second: last.1 - half.1,
    };
    let steady = growth.second >= STEADY_MIN * growth.first.max(0.0);
    let lasting = growth.lasting();
    let much = lasting >= GROWN_BYTES_MIN && lasting >= GROWN_SHARE_MIN * growth.begun;
    let seconds_min = match growth.is_steep() {
        true => SECONDS_STEEP_MIN,
        false => SECONDS_MIN,
    };
    (growth.seconds >= seconds_min && steady && much).then_some(growth)
}

/// Fewest objects alive in a process in the middle third of the window and in the last: a process
/// still fills caches in the first.
struct Alive {
    middle: u64,
    last: u64,
}

impl Alive {
    /// `None` where a third has no major collection: what looks alive may be garbage.
    fn of(context: &Context<'_>, pid: u32) -> Option<Alive> {
        let window = context.recording.window;
        let runtime = context.recording.runtime.iter();
        let samples: Vec<&RuntimeSample> = runtime
            .filter(|sample| sample.pid == pid && window.contains(sample.at))
            .collect();
        let third = samples.len() / 3;
        let fewest = |third: &[&RuntimeSample]| {
            let majors = third
                .last()?
                .gc_major
                .saturating_sub(third.first()?.gc_major);
            let alive = third.iter().map(|sample| sample.heap_live);
            alive.min().filter(|_| majors > 0)
        };
        Some(Alive {
            middle: fewest(&samples[third..2 * third])?,
            last: fewest(&samples[2 * third..])?,
        })
    }

    fn grow(&self) -> bool {
        self.last as f64 >= (1.0 + GROWN_SHARE_MIN) * self.middle as f64
    }

    fn evidence(&self) -> Text {
        let (middle, last) = (numbers::count(self.middle), numbers::count(self.last));
        match self.grow() {
            true => text!(
                "the process holds more and more Ruby objects: at least {middle} are alive in the middle third of the \
                 run, at least {last} in the last",
                middle,
                last
            ),
            false => text!(
                "the number of Ruby objects alive hardly grows (at least {middle} in the middle third of the run, \
                 {last} in the last): what grows is long strings, memory of native code, or what the allocator \
                 cannot reuse",
                middle,
                last
            ),
        }
    }
}

/// Memory still available to the app, bytes: of the control group where one has a limit, else of
/// the host.
pub(super) fn free(sample: &HostSample) -> Option<f64> {
    let of_group = sample.memory_limit.zip(sample.memory_used);
    let of_group = of_group.map(|(limit, used)| limit.saturating_sub(used));
    let of_host = Some(sample.memory_available).filter(|bytes| *bytes > 0);
    let free = match (of_group, of_host) {
        (Some(group), Some(host)) => Some(group.min(host)),
        (group, host) => group.or(host),
    };
    free.map(|bytes| bytes as f64)
}

/// The growing processes taken together.
struct Grown {
    processes: usize,
    /// The process with the most growth.
    most: Growth,
    /// Bytes per second, of all growing processes.
    rate: f64,
    /// Until memory is full, seconds.
    to_full: Option<f64>,
}

impl Grown {
    fn of(grown: Vec<Growth>, free: Option<f64>) -> Option<Grown> {
        let processes = grown.len();
        let rate: f64 = grown.iter().map(|one| one.all() / one.seconds).sum();
        let most = grown
            .into_iter()
            .max_by(|a, b| a.second.total_cmp(&b.second))?;
        Some(Grown {
            processes,
            most,
            rate,
            to_full: free.map(|free| free / rate),
        })
    }

    fn fills_soon(&self) -> Option<f64> {
        self.to_full
            .filter(|seconds| *seconds < SECONDS_TO_FULL && self.is_likely())
    }

    fn is_likely(&self) -> bool {
        self.most.seconds >= SECONDS_SURE || self.most.is_steep()
    }

    fn confidence(&self) -> Confidence {
        if self.fills_soon().is_some() {
            Confidence::High
        } else if self.is_likely() {
            Confidence::Medium
        } else {
            Confidence::Low
        }
    }
}

fn finding(context: &Context<'_>, grown: &Grown) -> Finding {
    let bytes = |bytes: f64| numbers::bytes(bytes.max(0.0) as u64);
    let most = &grown.most;
    let alive = Alive::of(context, most.pid);
    // What leaks is not held by the allocator.
    let leaks = most.is_steep() || alive.as_ref().is_some_and(Alive::grow);
    let exact = allocator::change(context).filter(|_| !leaks);
    let full = grown.fills_soon().map(|seconds| {
        let minutes = (seconds / 60.0).ceil() as u64;
        text!(", full in {minutes}", minutes = counted!(minutes, "minute"))
    });
    Finding {
        rule: RuleId::MemoryGrowth,
        route: String::new(),
        title: title(text!(
            "the app's memory grows by {rate} per minute{full}",
            rate = bytes(grown.rate * 60.0),
            full = full.unwrap_or_default()
        )),
        why: text!(
            "at the limit of its container a process is killed with all the requests it has"
        ),
        evidence: evidence(context, grown, alive.as_ref()),
        remedy: Remedy {
            text: match exact {
                Some(_) => text!(
                    "run longer to see whether it stops; then try the allocator with fewer arenas, or jemalloc (`hakaru try` \
                     with --jemalloc), which lose less to fragmentation, and look for what only grows: caches without a limit, \
                     arrays and hashes in constants and class variables"
                ),
                None => text!(
                    "run longer to see whether it stops; then look for what only grows: caches without a limit, arrays \
                     and hashes in constants and class variables, objects that subscribe and never leave \
                     (ObjectSpace.dump_all twice, and the difference)"
                ),
            },
            exact,
            safety: match leaks {
                true => Safety::Code,
                false => Safety::Careful,
            },
        },
        estimated_gain: text!("no time; the app is not killed, and more workers fit"),
        gain_share: 0.0,
        gain: None,
        confidence: grown.confidence(),
    }
}

fn evidence(context: &Context<'_>, grown: &Grown, alive: Option<&Alive>) -> Vec<Text> {
    let bytes = |bytes: f64| numbers::bytes(bytes.max(0.0) as u64);
    let most = &grown.most;
    let mut evidence = vec![text!(
        "of {processes} growing, the one that grew most: {begun} at first, {first} more after half of \
         {seconds} s, {second} more at the end",
        processes = grown.processes,
        begun = bytes(most.begun),
        first = bytes(most.first),
        seconds = format!("{:.0}", most.seconds),
        second = bytes(most.second)
    )];
    let seconds = context.recording.window.length().as_secs_f64();
    let per_second = context.breakdown.overall.answered as f64 / seconds.max(f64::MIN_POSITIVE);
    if per_second > 0.0 {
        let thousand = grown.rate / per_second * 1_000.0;
        evidence.push(text!(
            "{thousand} per 1,000 requests",
            thousand = bytes(thousand)
        ));
    }
    evidence.extend(alive.map(Alive::evidence));
    evidence.extend(context.allocator().map(|site| {
        text!(
            "most objects seem to be made at {line}: there the collector is set off most often",
            line = site.line
        )
    }));
    evidence
}

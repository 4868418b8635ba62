//! Memory near a limit: of the app's control group, or of the address space of one process.

use crate::allocator;
use crate::exact::Exact;
use crate::rule_id::RuleId;
use figures::numbers;
use recording::{ProcessRole, ProcessSample};
use words::{Text, text};

use crate::context::Context;
use crate::text::{percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the limit from which one large response or one more worker is too much.
const SHARE_MIN: f64 = 0.9;

/// A limit, and how much of the limit was used at most.
struct Limited<'a> {
    /// The process with the limited address space; `None` for a limit on the memory of all
    /// processes.
    process: Option<&'a ProcessSample>,
    used: u64,
    limit: u64,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let window = context.recording.window;
    let samples = context.recording.host.iter();
    let seen = samples.filter(|sample| window.contains(sample.at));
    let of_group = seen.clone().filter_map(|sample| {
        Some(Limited {
            process: None,
            used: sample.memory_used?,
            limit: sample.memory_limit?,
        })
    });
    let processes = seen
        .flat_map(|sample| &sample.processes)
        .filter(|process| process.role == ProcessRole::App);
    let of_processes = processes.filter_map(|process| {
        Some(Limited {
            process: Some(process),
            used: process.address_space?,
            limit: process.address_space_limit?,
        })
    });
    let fullest = [
        of_group.max_by_key(|limited| limited.used),
        of_processes.max_by_key(|limited| limited.used),
    ];
    let fullest = fullest.into_iter().flatten();
    fullest
        .filter_map(|limited| finding(context, &limited))
        .collect()
}

/// Words for the one or the other kind of limit.
struct Words {
    title: Text,
    why: Text,
    evidence: Text,
    remedy: Remedy,
}

fn finding(context: &Context<'_>, limited: &Limited<'_>) -> Option<Finding> {
    let share = limited.used as f64 / limited.limit.max(1) as f64;
    if share < SHARE_MIN {
        return None;
    }
    let words = match limited.process {
        None => of_group(context, limited, share),
        Some(process) => of_process(limited, share, process),
    };
    Some(Finding {
        rule: RuleId::MemoryLimit,
        route: String::new(),
        title: title(words.title),
        why: words.why,
        evidence: vec![words.evidence],
        remedy: words.remedy,
        estimated_gain: text!("no time; the app survives when it needs a little more"),
        gain_share: 0.0,
        gain: None,
        confidence: Confidence::High,
    })
}

fn of_group(context: &Context<'_>, limited: &Limited<'_>, share: f64) -> Words {
    let (used, limit) = (mebibytes(limited.used), mebibytes(limited.limit));
    Words {
        title: text!(
            "{used} MiB of {limit} MiB of memory are used ({share})",
            used,
            limit,
            share = percent(share)
        ),
        why: text!(
            "at the limit the kernel first takes back pages that are needed, which is slow, and then kills a \
             process"
        ),
        evidence: text!(
            "the app's control group used {used} MiB at most, file pages that can be dropped not counted; it may \
             use {limit} MiB",
            used,
            limit
        ),
        remedy: match allocator::change(context) {
            Some(exact) => remedy(
                text!(
                    "raise the limit, run fewer workers, or lose less memory to fragmentation with fewer arenas of the \
                     allocator, or with jemalloc"
                ),
                Some(exact),
            ),
            None => remedy(text!("raise the limit, or run fewer workers"), None),
        },
    }
}

fn of_process(limited: &Limited<'_>, share: f64, process: &ProcessSample) -> Words {
    let (used, limit) = (mebibytes(limited.used), mebibytes(limited.limit));
    let name = &process.name;
    Words {
        title: text!(
            "{name} has {used} MiB of {limit} MiB of address space ({share})",
            name,
            used,
            limit,
            share = percent(share)
        ),
        why: text!(
            "beyond the limit the process gets no more memory and no more threads: Ruby raises NoMemoryError or \
             ThreadError, or ends"
        ),
        evidence: text!(
            "process {pid} ({name}): {used} MiB of address space, {resident} MiB of it in memory; its soft limit \
             is {limit} MiB",
            pid = process.pid,
            name,
            used,
            resident = mebibytes(process.rss),
            limit
        ),
        remedy: remedy(
            text!(
                "raise the limit where the process is started (systemd: LimitAS=), and limit memory by the control \
                 group (MemoryMax=) instead: address space also counts what is reserved and never used"
            ),
            Some(Exact::Ulimit("-v unlimited".to_owned())),
        ),
    }
}

fn remedy(text: Text, exact: Option<Exact>) -> Remedy {
    Remedy {
        text,
        exact,
        safety: Safety::Careful,
    }
}

fn mebibytes(bytes: u64) -> String {
    numbers::count(bytes >> 20)
}

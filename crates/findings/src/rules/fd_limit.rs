//! A process close to the limit of open files and sockets.

use crate::exact::Exact;
use crate::rule_id::RuleId;
use figures::numbers;
use recording::ProcessRole;
use words::text;

use crate::context::Context;
use crate::text::{percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the limit from which a burst of connections reaches the limit.
const SHARE_MIN: f64 = 0.8;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let window = context.recording.window;
    let samples = context.recording.host.iter();
    let fullest = samples
        .filter(|sample| window.contains(sample.at))
        .flat_map(|sample| &sample.processes)
        .filter(|process| process.role != ProcessRole::Generator)
        .filter_map(|process| Some((process, process.fds?, process.fds_limit?)))
        .max_by_key(|(_, open, _)| *open);
    let Some((process, open, limit)) = fullest else {
        return Vec::new();
    };
    let share = f64::from(open) / limit.max(1) as f64;
    if share < SHARE_MIN {
        return Vec::new();
    }
    let (open, limit) = (numbers::count(u64::from(open)), numbers::count(limit));
    vec![Finding {
        rule: RuleId::FdLimit,
        route: String::new(),
        title: title(text!(
            "{process} has {open} of {limit} files and sockets open ({share})",
            process = process.name,
            open,
            limit,
            share = percent(share)
        )),
        why: text!(
            "beyond the limit neither a connection can be accepted nor a file opened, and requests fail"
        ),
        evidence: vec![text!(
            "process {pid} ({name}): {open} open, its soft limit is {limit}",
            pid = process.pid,
            name = process.name,
            open,
            limit
        )],
        remedy: Remedy {
            text: text!(
                "raise the limit where the process is started (systemd: LimitNOFILE=); if the number grows from run \
                 to run, look for files and connections that are never closed"
            ),
            exact: Some(Exact::Ulimit("-n 65536".to_owned())),
            safety: Safety::Careful,
        },
        estimated_gain: text!("no time; requests that would fail under more load are answered"),
        gain_share: 0.0,
        gain: None,
        confidence: Confidence::High,
    }]
}

//! Calls below lines of the app for reading and writing on sockets and files, by the stacks of
//! samples.

use std::collections::BTreeMap;

use stacks::{Sample, State};

use super::seen::Seen;
use crate::text::file_of;

/// Beginnings of the names of Ruby's own methods for reading, writing, or waiting for either.
const READS_OR_WRITES: [&str; 11] = [
    "IO#",
    "IO.",
    "File#",
    "File.",
    "Dir#",
    "Dir.",
    "BasicSocket#",
    "Socket#",
    "TCPSocket#",
    "UNIXSocket#",
    "OpenSSL::SSL::",
];

/// Weights below a line of the app.
#[derive(Clone, Debug, Default)]
struct Below {
    waiting: u64,
    held: u64,
    /// The waiting by the library's method called by the app's innermost line.
    called: BTreeMap<String, u64>,
}

/// Reads and writes of a route by the app's line calling into the reading or writing file: a client
/// of the app's own is a file by itself, whose lines say nothing of the caller.
#[derive(Clone, Debug, Default)]
pub(super) struct Io {
    /// The route's unnamed waits and waits for the GVL, in weights of samples.
    waiting: u64,
    lines: BTreeMap<String, Below>,
    /// Unnamed waits by the app's innermost line and the innermost method of all.
    inside: BTreeMap<String, BTreeMap<String, Inside>>,
}

/// Samples of a wait in one method.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    weight: u64,
    samples: u32,
}

/// Samples of a line's waits from which the methods' shares say something. Chosen by judgement.
const INSIDE_MIN: u32 = 10;

/// A line of the app below which much is read and written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IoLine<'a> {
    /// Such as `app/models/basket.rb:12`.
    pub(crate) line: &'a str,
    /// Share of the route's unnamed waits, 0 to 1, including the waits for the GVL right after. A
    /// quick call is visible in nothing else.
    pub(crate) waiting: f64,
    /// Share of the route's time with the GVL: reading, writing, and the work of the app's own
    /// client.
    pub(crate) held: f64,
    /// The method, of a library or Ruby's own, called by the app for most of the waiting.
    pub(crate) called: &'a str,
}

impl Io {
    pub(super) fn add(&mut self, stack: &Seen<'_>, sample: &Sample) {
        let waits = waits(sample);
        if waits {
            self.waiting += sample.weight;
        }
        if sample.state == State::Io
            && let Some(line) = stack.chain.first()
        {
            let methods = self.inside.entry(line.clone()).or_default();
            let inside = methods.entry(stack.leaf.name.clone()).or_default();
            inside.weight += sample.weight;
            inside.samples += sample.count;
        }
        let Some(line) = caller(&stack.chain) else {
            return;
        };
        let reads_or_writes = reads_or_writes(stack);
        let in_client = file_of(&stack.chain[0]) != file_of(line);
        if waits && reads_or_writes {
            let below = self.lines.entry(line.clone()).or_default();
            below.waiting += sample.weight;
            let called = below.called.entry(stack.called.name.clone()).or_default();
            *called += sample.weight;
        } else if sample.state == State::Running && (reads_or_writes || in_client) {
            self.lines.entry(line.clone()).or_default().held += sample.weight;
        }
    }

    /// The method in which a line of the app waits longest, with a share of the line's unnamed
    /// waits, 0 to 1.
    pub(super) fn inside(&self, line: &str) -> Option<(&str, f64)> {
        let methods = self.inside.get(line)?;
        let samples: u32 = methods.values().map(|inside| inside.samples).sum();
        let weight: u64 = methods.values().map(|inside| inside.weight).sum();
        let (name, most) = methods.iter().max_by_key(|(_, inside)| inside.weight)?;
        (samples >= INSIDE_MIN).then(|| (name.as_str(), most.weight as f64 / weight.max(1) as f64))
    }

    /// The line with the longest waits; `held` is the weight of the route with the GVL.
    pub(super) fn most(&self, held: u64) -> Option<IoLine<'_>> {
        let (line, below) = self.lines.iter().max_by_key(|(_, below)| below.waiting)?;
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let called = below.called.iter().max_by_key(|(_, weight)| **weight);
        Some(IoLine {
            line,
            called: called.map_or("", |(name, _)| name),
            waiting: share(below.waiting, self.waiting),
            held: share(below.held, held),
        })
    }
}

/// Whether a sample is an unnamed wait, or a wait for the GVL as after one.
pub(super) fn waits(sample: &Sample) -> bool {
    matches!(sample.state, State::Io | State::GvlWait)
}

/// Whether one of Ruby's own methods reads, writes, or waits for either.
pub(super) fn reads_or_writes(stack: &Seen<'_>) -> bool {
    READS_OR_WRITES
        .iter()
        .any(|begins| stack.leaf.name.starts_with(begins))
}

/// Returns the app's line calling into the innermost line's file; with all lines in one file, the
/// caller of the innermost line.
fn caller(chain: &[String]) -> Option<&String> {
    let innermost = chain.first()?;
    let outside = chain
        .iter()
        .find(|line| file_of(line) != file_of(innermost));
    outside.or(chain.get(1)).or(Some(innermost))
}

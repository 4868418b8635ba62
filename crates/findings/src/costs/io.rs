//! Calls below lines of the app that read and write on sockets and files, by the stacks of samples.

use std::collections::BTreeMap;

use stacks::{Sample, State};

use super::seen::Seen;

/// Beginnings of the names of Ruby's own methods that read, write, or wait until that can be done.
const READS_OR_WRITES: [&str; 7] = [
    "IO#",
    "IO.",
    "BasicSocket#",
    "Socket#",
    "TCPSocket#",
    "UNIXSocket#",
    "OpenSSL::SSL::",
];

/// What a line of the app causes there, in weights of samples.
#[derive(Clone, Copy, Debug, Default)]
struct Below {
    waiting: u64,
    held: u64,
}

/// By the line of the app that calls whatever reads and writes, which may be a client of the app's own.
#[derive(Clone, Debug, Default)]
pub(super) struct Io {
    /// All waits of the route off the GVL without another name.
    waiting: u64,
    lines: BTreeMap<String, Below>,
}

/// A line of the app below which much is read and written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IoLine<'a> {
    /// Such as `app/models/basket.rb:12`.
    pub(crate) line: &'a str,
    /// Share of the route's waits off the GVL that have no other name, 0 to 1.
    pub(crate) waiting: f64,
    /// Share of its time with the GVL.
    pub(crate) held: f64,
}

impl Io {
    pub(super) fn add(&mut self, stack: &Seen<'_>, sample: &Sample) {
        let waits = sample.state == State::Io;
        if waits {
            self.waiting += sample.weight;
        }
        let reads_or_writes = READS_OR_WRITES
            .iter()
            .any(|begins| stack.leaf.name.starts_with(begins));
        let Some(line) = stack.chain.get(1).or(stack.chain.first()) else {
            return;
        };
        if reads_or_writes {
            let below = self.lines.entry(line.clone()).or_default();
            match sample.state {
                State::Io => below.waiting += sample.weight,
                State::Running => below.held += sample.weight,
                _ => {}
            }
        }
    }

    /// The line with the longest waits; `held` is the weight of the route with the GVL.
    pub(super) fn most(&self, held: u64) -> Option<IoLine<'_>> {
        let (line, below) = self.lines.iter().max_by_key(|(_, below)| below.waiting)?;
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        Some(IoLine {
            line,
            waiting: share(below.waiting, self.waiting),
            held: share(below.held, held),
        })
    }
}

//! One thread's figures while the load runs: sums of the whole, and the current interval.

use std::sync::mpsc::SyncSender;

use recording::{Nanos, Timestamp, Window};

use crate::clock;
use crate::figures::{Ended, Figures, Interval, put};

/// Adds requests up.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) figures: Box<Figures>,
    window: Window,
    length: Nanos,
    interval: Interval,
    interval_end: Timestamp,
    cpu: Nanos,
    sender: SyncSender<Interval>,
}

impl Tables {
    /// Returns empty tables; `length` is the length of intervals, `now` the load's start.
    pub(crate) fn new(
        steps: &[u32],
        window: Window,
        length: Nanos,
        now: Timestamp,
        sender: SyncSender<Interval>,
    ) -> Tables {
        let number = interval_at(window, length, now);
        Tables {
            figures: Box::new(Figures::new(steps)),
            window,
            length,
            interval: Interval::new(number),
            interval_end: end_of(window, length, number),
            cpu: Nanos::ZERO,
            sender,
        }
    }

    /// A request has ended.
    pub(crate) fn add(&mut self, due: Timestamp, answered: Timestamp, ended: &Ended) {
        self.interval.add(ended);
        if !self.window.contains(due) {
            self.figures.warmup += 1;
            return;
        }
        self.figures.add(ended);
        self.figures.in_time += u64::from(ended.was_answered() && answered < self.window.end);
    }

    pub(crate) fn connected(&mut self, time: Nanos) {
        put(&mut self.figures.connecting, time);
    }

    pub(crate) fn shook_hands(&mut self, time: Nanos) {
        put(&mut self.figures.handshakes, time);
    }

    /// Delivers the finished intervals. A receiver that does not keep up makes the worker wait,
    /// which shows as lateness.
    pub(crate) fn deliver_if_due(&mut self, now: Timestamp, in_flight: usize) {
        while now >= self.interval_end {
            self.deliver(in_flight);
        }
    }

    /// Hands the current interval over and begins the next.
    pub(crate) fn deliver(&mut self, in_flight: usize) {
        let number = self.interval.number + 1;
        let cpu = clock::thread_cpu();
        let mut ended = std::mem::replace(&mut self.interval, Interval::new(number));
        ended.cpu = cpu - self.cpu;
        ended.in_flight = in_flight as u64;
        self.cpu = cpu;
        self.interval_end = end_of(self.window, self.length, number);
        // Without a receiver nobody wants it.
        let _ = self.sender.send(ended);
    }
}

fn interval_at(window: Window, length: Nanos, at: Timestamp) -> i64 {
    at.signed_since(window.start).div_euclid(length.0 as i64)
}

fn end_of(window: Window, length: Nanos, number: i64) -> Timestamp {
    let offset = (number + 1) * length.0 as i64;
    let end = window.start.monotonic_nanos().saturating_add_signed(offset);
    Timestamp::from_monotonic_nanos(end)
}

//! A queue of planned events, earliest first; equal moments in the order of planning.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A list of moments. Their clock is whatever the owner makes it.
pub(crate) struct Agenda<T> {
    order: u64,
    due: BinaryHeap<Reverse<Due<T>>>,
}

struct Due<T> {
    at: f64,
    order: u64,
    what: T,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Agenda<T> {
        Agenda {
            order: 0,
            due: BinaryHeap::new(),
        }
    }

    pub(crate) fn plan(&mut self, at: f64, what: T) {
        self.order += 1;
        let order = self.order;
        self.due.push(Reverse(Due { at, order, what }));
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self) -> Option<f64> {
        self.due.peek().map(|due| due.0.at)
    }

    pub(crate) fn pop(&mut self) -> Option<(f64, T)> {
        self.due.pop().map(|Reverse(due)| (due.at, due.what))
    }

    pub(crate) fn len(&self) -> usize {
        self.due.len()
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Due<T> {}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at
            .total_cmp(&other.at)
            .then(self.order.cmp(&other.order))
    }
}

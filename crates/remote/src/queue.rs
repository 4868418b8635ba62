//! A queue of fixed length between two threads, in which each wait has a deadline.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    length_max: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    is_closed: bool,
}

/// Why nothing was put in or taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nothing {
    /// The time is over.
    Late,
    /// The queue is closed and empty.
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new(length_max: usize) -> Queue<T> {
        Queue {
            state: Mutex::new(State {
                items: VecDeque::new(),
                is_closed: false,
            }),
            changed: Condvar::new(),
            length_max,
        }
    }

    /// Puts an item in, as soon as there is room.
    pub(crate) fn push(&self, item: T, wait: Duration) -> Result<(), Nothing> {
        let is_full = |state: &State<T>| state.items.len() >= self.length_max && !state.is_closed;
        let mut state = self.wait_while(wait, is_full)?;
        if state.is_closed {
            return Err(Nothing::Closed);
        }
        state.items.push_back(item);
        self.changed.notify_all();
        Ok(())
    }

    /// Takes the oldest item, as soon as there is one.
    pub(crate) fn pop(&self, wait: Duration) -> Result<T, Nothing> {
        let is_empty = |state: &State<T>| state.items.is_empty() && !state.is_closed;
        let mut state = self.wait_while(wait, is_empty)?;
        let item = state.items.pop_front().ok_or(Nothing::Closed)?;
        self.changed.notify_all();
        Ok(item)
    }

    /// Closes the queue to new items; queued ones can still be taken.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    fn wait_while(
        &self,
        wait: Duration,
        is_so: impl Fn(&State<T>) -> bool,
    ) -> Result<MutexGuard<'_, State<T>>, Nothing> {
        // A wait without an end that a clock can name is one of a year.
        let year = Duration::from_secs(366 * 24 * 3600);
        let deadline = Instant::now() + wait.min(year);
        let mut state = self.lock();
        while is_so(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Nothing::Late);
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(state)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_takes_nothing_and_a_closed_one_gives_what_it_has() {
        let queue = Queue::new(1);
        assert_eq!(queue.pop(Duration::ZERO), Err(Nothing::Late));
        assert_eq!(queue.push(1, Duration::ZERO), Ok(()));
        assert_eq!(queue.push(2, Duration::ZERO), Err(Nothing::Late));
        queue.close();
        assert_eq!(queue.push(3, Duration::MAX), Err(Nothing::Closed));
        assert_eq!(queue.pop(Duration::MAX), Ok(1));
        assert_eq!(queue.pop(Duration::MAX), Err(Nothing::Closed));
    }
}

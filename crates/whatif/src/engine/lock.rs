//! One lock per worker: a number of threads hold one at once, the others wait, first come, first
//! served.
//!
//! A Mutex has one place; a pool of connections has one for each connection. A release wakes the
//! longest waiting thread and passes the place on.

use std::collections::VecDeque;

use super::Engine;

#[derive(Default)]
pub(super) struct Lock {
    /// Threads holding the lock.
    pub(super) held: u32,
    queue: VecDeque<usize>,
}

impl Engine<'_> {
    /// Takes the lock for a thread and continues, or queues the thread.
    pub(super) fn acquire(&mut self, thread: usize) {
        let places = self.setup.lock_places.max(1);
        let lock = &mut self.workers[self.actors[thread].worker].lock;
        if lock.held < places {
            lock.held += 1;
            self.stretch_ends(thread);
        } else {
            lock.queue.push_back(thread);
            self.threads[thread].lock_since = self.now;
        }
    }

    /// Releases a thread's place; the longest waiting thread has the place now, and continues once
    /// awake.
    pub(super) fn release(&mut self, thread: usize) {
        let lock = &mut self.workers[self.actors[thread].worker].lock;
        match lock.queue.pop_front() {
            Some(next) => {
                if self.done >= self.warmup {
                    self.seen.lock_wait += self.now - self.threads[next].lock_since;
                }
                self.awake(next);
            }
            None => lock.held -= 1,
        }
        self.stretch_ends(thread);
    }
}

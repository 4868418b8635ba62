//! One lock a worker: so many threads hold it at once, the others wait, first come, first served.
//!
//! A Mutex has one place; a pool of connections has one for each connection. Whoever lets go of it
//! wakes the one that waits longest and passes the place on.

use std::collections::VecDeque;

use super::Engine;

#[derive(Default)]
pub(super) struct Lock {
    /// Threads that hold it.
    pub(super) held: u32,
    queue: VecDeque<usize>,
}

impl Engine<'_> {
    /// The thread takes the lock and goes on, or waits for it.
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

    /// The thread lets go of the lock; whoever waits longest has it now, and goes on when it is
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

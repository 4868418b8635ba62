//! One GVL a worker: first come, first served, given up after the quantum when others wait.

use super::{Engine, Event, Job};
use crate::QUANTUM;

impl Engine<'_> {
    /// An actor needs the GVL for so much CPU; goes on in `has_run`.
    pub(super) fn want_gvl(&mut self, actor: usize, cpu: f64) {
        let wanting = &mut self.actors[actor];
        wanting.left = cpu;
        wanting.waiting_since = self.now;
        let worker = wanting.worker;
        if self.workers[worker].holder.is_some() {
            self.workers[worker].gvl_queue.push_back(actor);
        } else {
            self.workers[worker].holder = Some(actor);
            self.begin_slice(worker);
        }
    }

    /// The holder of the worker's GVL runs.
    pub(super) fn begin_slice(&mut self, worker: usize) {
        let Some(holder) = self.workers[worker].holder else {
            return;
        };
        let actor = &mut self.actors[holder];
        let waited = self.now - actor.waiting_since;
        actor.slice_since = self.now;
        actor.slice = actor.left.min(QUANTUM.0 as f64);
        self.cores.start(actor.slice, Job::Gvl(worker));
        if let Some(thread) = self.threads.get_mut(holder) {
            thread.gvl_wait += waited;
        }
    }

    pub(super) fn slice_ends(&mut self, worker: usize) {
        let Some(holder) = self.workers[worker].holder else {
            return;
        };
        let actor = &mut self.actors[holder];
        actor.left -= actor.slice;
        self.seen.slices_cpu += actor.slice;
        self.seen.slices += self.now - actor.slice_since;
        actor.waiting_since = self.now;
        let preempted = actor.left > 0.0;
        if preempted && self.workers[worker].gvl_queue.is_empty() {
            self.begin_slice(worker);
            return;
        }
        if preempted {
            self.workers[worker].gvl_queue.push_back(holder);
        }
        let woke = self.hand_over(worker);
        if let Some(thread) = self.threads.get_mut(holder) {
            thread.woke = woke;
        }
        if !preempted {
            self.has_run(holder);
        }
    }

    /// Gives the GVL to whoever waits longest; whether there is one.
    fn hand_over(&mut self, worker: usize) -> bool {
        let next = self.workers[worker].gvl_queue.pop_front();
        self.workers[worker].holder = next;
        match (next, self.setup.costs.handover.0) {
            (None, _) => {}
            (Some(_), 0) => self.begin_slice(worker),
            (Some(_), nanos) => self.in_nanos(nanos as f64, Event::Runs(worker)),
        }
        next.is_some()
    }

    /// The actor has had the CPU it wanted, and has let go of the GVL.
    fn has_run(&mut self, actor: usize) {
        match actor.checked_sub(self.threads.len()) {
            None => match self.threads[actor].errand.take() {
                Some(errand) => self.errand_done(actor, errand),
                None => self.stretch_ends(actor),
            },
            Some(other) if other < self.workers.len() => self.reactor_has_run(other),
            Some(other) => self.accept(other - self.workers.len()),
        }
    }
}

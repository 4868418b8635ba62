//! One GVL a worker: first come, first served, given up after the quantum when others wait.

use super::{Engine, Event, Job};
use crate::QUANTUM;

impl Engine<'_> {
    /// Queues an actor for `cpu` nanoseconds with the GVL; continues in `has_run`.
    pub(super) fn want_gvl(&mut self, actor: usize, cpu: f64) {
        let wanting = &mut self.actors[actor];
        wanting.left = cpu;
        wanting.waiting_since = self.now;
        let worker = wanting.worker;
        if self.workers[worker].holder.is_some() {
            self.workers[worker].gvl_queue.push_back(actor);
        } else {
            let resting = &mut self.workers[worker];
            resting.pause.rest(self.now - resting.resting_since);
            resting.holder = Some(actor);
            self.keep_running(worker);
        }
    }

    /// Queues the holder of the worker's GVL for a core.
    pub(super) fn begin_slice(&mut self, worker: usize) {
        if let Some(cpu) = self.slice(worker) {
            self.cores.start(cpu, Job::Gvl(worker));
        }
    }

    /// Runs the next slice of the GVL's holder on the current core.
    fn keep_running(&mut self, worker: usize) {
        if let Some(cpu) = self.slice(worker) {
            self.cores.go_on(cpu, Job::Gvl(worker));
        }
    }

    /// CPU of the holder's next slice.
    fn slice(&mut self, worker: usize) -> Option<f64> {
        let actor = &mut self.actors[self.workers[worker].holder?];
        actor.slice = actor.left.min(QUANTUM.0 as f64);
        let (slice, worker) = (actor.slice, &mut self.workers[worker]);
        let pausing = worker.pause.run(slice, self.setup.costs.pause.0 as f64);
        worker.switching += pausing;
        if self.done >= self.warmup {
            self.seen.pausing += pausing;
        }
        Some(slice + worker.switching)
    }

    /// Ends a slice of the GVL's holder, on a core since `began`.
    pub(super) fn slice_ends(&mut self, worker: usize, began: f64) {
        let Some(holder) = self.workers[worker].holder else {
            return;
        };
        let switching = std::mem::take(&mut self.workers[worker].switching);
        let actor = &mut self.actors[holder];
        actor.left -= actor.slice;
        self.seen.slices_cpu += actor.slice;
        self.seen.slices += self.now - began - switching;
        if let Some(thread) = self.threads.get_mut(holder) {
            thread.gvl_wait += began - actor.waiting_since;
        }
        actor.waiting_since = self.now;
        let preempted = actor.left > 0.0;
        if preempted && self.workers[worker].gvl_queue.is_empty() {
            self.keep_running(worker);
            return;
        }
        if preempted {
            self.workers[worker].gvl_queue.push_back(holder);
        }
        let waking = self.hand_over(worker);
        if let Some(thread) = self.threads.get_mut(holder) {
            thread.waking = waking;
        }
        if !preempted {
            self.has_run(holder);
        }
    }

    /// Gives the GVL to the longest waiting actor; returns the CPU of waking the actor, ns.
    fn hand_over(&mut self, worker: usize) -> f64 {
        let next = self.workers[worker].gvl_queue.pop_front();
        self.workers[worker].holder = next;
        if next.is_none() {
            self.workers[worker].resting_since = self.now;
            return 0.0;
        }
        let costs = self.setup.costs;
        let waking = self.switching(costs.release.0 as f64);
        self.workers[worker].switching = self.switching(costs.switch.0 as f64);
        match self.wake() {
            Some(nanos) => self.in_nanos(nanos, Event::Runs(worker)),
            None => self.begin_slice(worker),
        }
        waking
    }

    /// Continues an actor after the wanted CPU, with the GVL released.
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

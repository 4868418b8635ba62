//! Activity of each thread of the pool while handling requests.

use std::collections::BTreeMap;

use recording::{Nanos, Parts, Recording};

use crate::join::weighted;

/// A thread's time in handlers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadUse {
    /// The process.
    pub pid: u32,
    /// Number of the thread among the process's threads with requests, from 1, by native id. A
    /// server that starts its threads at once numbers them alike.
    pub number: usize,
    /// Requests in the window.
    pub requests: u64,
    /// Time with the GVL: on a core or waiting for one.
    pub cpu: Nanos,
    /// Off the GVL for whatever reason.
    pub io: Nanos,
    /// Collecting garbage.
    pub gc: Nanos,
    /// Waiting for the GVL.
    pub gvl_wait: Nanos,
}

impl ThreadUse {
    /// Shares of `cpu`, `io` and `gc` in the sum of the three: the make-up of the work without
    /// waits for the GVL.
    pub fn shares(&self) -> [f64; 3] {
        let sum = (self.cpu + self.io + self.gc).0.max(1) as f64;
        [self.cpu, self.io, self.gc].map(|part| part.0 as f64 / sum)
    }

    /// Share of the time in handlers spent waiting for the GVL.
    pub fn gvl_wait_share(&self) -> f64 {
        let whole = self.cpu + self.io + self.gc + self.gvl_wait;
        self.gvl_wait.0 as f64 / whole.0.max(1) as f64
    }
}

/// Returns the threads with requests in the measured window, by process and number.
pub fn threads(recording: &Recording) -> Vec<ThreadUse> {
    let mut by_thread: BTreeMap<(u32, u32), (u64, Parts)> = BTreeMap::new();
    for handled in &recording.handled {
        if recording.window.contains(handled.start) {
            let (requests, sum) = by_thread.entry((handled.pid, handled.tid)).or_default();
            *requests += 1;
            add(sum, &handled.parts);
        }
    }
    let weight = recording.weight();
    let all = |counted| weighted(counted, weight);
    let mut threads: Vec<ThreadUse> = Vec::with_capacity(by_thread.len());
    for ((pid, _), (requests, parts)) in by_thread {
        let before = threads.last().filter(|before| before.pid == pid);
        threads.push(ThreadUse {
            pid,
            number: before.map_or(0, |before| before.number) + 1,
            requests: all(requests),
            cpu: Nanos(all((parts.running
                + parts.sql_running
                + parts.http_running)
                .0)),
            io: Nanos(all(off_gvl(&parts).0)),
            gc: Nanos(all(parts.gc.0)),
            gvl_wait: Nanos(all(parts.gvl_wait.0)),
        });
    }
    threads
}

fn off_gvl(parts: &Parts) -> Nanos {
    parts.sql_waiting + parts.http_waiting + parts.lock + parts.sleep + parts.other_io
}

fn add(sum: &mut Parts, more: &Parts) {
    sum.gvl_wait += more.gvl_wait;
    sum.gc += more.gc;
    sum.sql_running += more.sql_running;
    sum.sql_waiting += more.sql_waiting;
    sum.http_running += more.http_running;
    sum.http_waiting += more.http_waiting;
    sum.lock += more.lock;
    sum.sleep += more.sleep;
    sum.other_io += more.other_io;
    sum.running += more.running;
}

#[cfg(test)]
mod tests {
    use recording::{Handled, Timestamp, Window};

    use super::*;

    fn handled(pid: u32, tid: u32, at: u64, parts: Parts) -> Handled {
        Handled {
            pid,
            tid,
            start: Timestamp::from_monotonic_nanos(at),
            parts,
            ..Handled::default()
        }
    }

    #[test]
    fn each_thread_is_told_by_what_it_did() {
        let parts = Parts {
            running: Nanos(600),
            sql_running: Nanos(51),
            sql_waiting: Nanos(300),
            sleep: Nanos(37),
            gc: Nanos(12),
            gvl_wait: Nanos(250),
            ..Parts::default()
        };
        let recording = Recording {
            window: Window {
                start: Timestamp::from_monotonic_nanos(10),
                end: Timestamp::from_monotonic_nanos(90),
            },
            handled: vec![
                handled(7, 12, 20, parts),
                handled(7, 11, 20, parts),
                handled(7, 11, 30, parts),
                handled(8, 5, 89, parts),
                handled(8, 6, 90, parts),
                handled(7, 11, 9, parts),
            ],
            ..Recording::default()
        };
        let found = threads(&recording);
        let told: Vec<(u32, usize, u64)> = (found.iter())
            .map(|thread| (thread.pid, thread.number, thread.requests))
            .collect();
        assert_eq!(told, [(7, 1, 2), (7, 2, 1), (8, 1, 1)]);
        assert_eq!(found[0].shares(), [0.651, 0.337, 0.012]);
        assert_eq!(found[0].gvl_wait_share(), 0.2);
    }
}

//! A reader and a writer at a fixed pace.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use schema_db::Database;

/// Between two requests of one of the two: 200 a second together.
const INTERVAL: Duration = Duration::from_millis(10);

/// Longest wait for both to go on after a change.
const PATIENCE: Duration = Duration::from_secs(60);

/// Step between ids: a prime, so ids spread over all rows.
const STRIDE: u64 = 7_919;

/// Observations of both users since the last reset.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Answered, of the reader and of the writer.
    requests: [u64; 2],
    pub(super) failed: u64,
    /// Longest time from due to response.
    pub(super) pause: Duration,
    /// Error of the first failed request.
    pub(super) error: Option<String>,
}

/// Two threads, each with a connection.
pub(super) struct Users {
    seen: Arc<Mutex<Seen>>,
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Seen {
    /// How many were answered.
    pub(super) fn total(&self) -> u64 {
        self.requests.iter().sum()
    }
}

impl Users {
    /// Starts to read and to write.
    pub(super) fn start(connections: [Box<dyn Database>; 2], rows: u64) -> Users {
        let mut users = Users {
            seen: Arc::default(),
            is_over: Arc::default(),
            threads: Vec::new(),
        };
        let sql: [fn(u64) -> String; 2] = [
            |id| format!("SELECT hits, note FROM t WHERE id = {id}"),
            |id| format!("UPDATE t SET hits = hits + 1 WHERE id = {id}"),
        ];
        for (user, (connection, sql)) in connections.into_iter().zip(sql).enumerate() {
            let (seen, is_over) = (users.seen.clone(), users.is_over.clone());
            let work = move || go_on(connection, (user, sql), rows, &seen, &is_over);
            users.threads.push(thread::spawn(work));
        }
        users
    }

    /// Resets the counts.
    pub(super) fn forget(&self) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen::default();
    }

    /// Returns the observations. Who still waits is counted: a request that was due before is
    /// answered first.
    pub(super) fn seen(&self) -> Seen {
        // Both have answered all that was due until now when each has begun two more.
        let now = || {
            let seen = self.seen.lock();
            seen.unwrap_or_else(PoisonError::into_inner).clone()
        };
        let (before, start) = (now(), Instant::now());
        loop {
            let seen = now();
            let mut both = seen.requests.iter().zip(before.requests);
            if both.all(|(now, before)| *now >= before + 2) || start.elapsed() > PATIENCE {
                return seen;
            }
            thread::sleep(INTERVAL);
        }
    }

    /// Ends both.
    pub(super) fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // What a thread saw is counted already.
            let _ = thread.join();
        }
    }
}

fn go_on(
    mut connection: Box<dyn Database>,
    (user, sql): (usize, fn(u64) -> String),
    rows: u64,
    seen: &Mutex<Seen>,
    is_over: &AtomicBool,
) {
    let start = Instant::now();
    let mut number: u64 = 0;
    while !is_over.load(Ordering::Relaxed) {
        let due = INTERVAL * u32::try_from(number).unwrap_or(u32::MAX);
        thread::sleep(due.saturating_sub(start.elapsed()));
        let done = connection.query(&sql(1 + number.wrapping_mul(STRIDE) % rows));
        let pause = start.elapsed().saturating_sub(due);
        number += 1;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.requests[user] += 1;
        seen.pause = seen.pause.max(pause);
        if let Err(error) = done {
            seen.failed += 1;
            seen.error.get_or_insert(error.message);
        }
    }
}

//! Watches for stores to which the app connects only on requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use app_process::Running;

use crate::{Allowed, Refusal, Store, known_addresses, refusal_under_load, remote_peers};

/// Time between two looks: short beside the first connection to a database, long beside a look
/// (about 1 ms).
const EVERY: Duration = Duration::from_millis(20);
/// A pool is opened by the first requests; later looks would only cost the measurement.
const LENGTH: Duration = Duration::from_secs(5);

/// Ends the load as soon as the app opens a connection to a store elsewhere, not allowed by name.
#[must_use]
pub struct ConnectionWatch {
    /// Dropped to end the watch.
    done: Sender<()>,
    thread: Option<JoinHandle<Vec<Store>>>,
}

impl ConnectionWatch {
    /// Watches the processes of an app started by hakaru, for the first seconds of load. `over` is
    /// set when a connection is found.
    pub fn start(running: &Running, allowed: &Allowed, over: &Arc<AtomicBool>) -> ConnectionWatch {
        if running.is_attached() {
            return ConnectionWatch::looking(over, Vec::new);
        }
        let (pids, allowed) = (running.pids(), allowed.clone());
        let known = known_addresses(&allowed);
        ConnectionWatch::looking(over, move || remote_peers(&pids, &known, &allowed))
    }

    fn looking(
        over: &Arc<AtomicBool>,
        look: impl Fn() -> Vec<Store> + Send + 'static,
    ) -> ConnectionWatch {
        let (done, ended) = channel();
        let over = Arc::clone(over);
        let thread = std::thread::Builder::new()
            .name("hakaru-guard".to_owned())
            .spawn(move || {
                let found = first_found(&ended, look);
                if !found.is_empty() {
                    over.store(true, Ordering::Relaxed);
                }
                found
            });
        ConnectionWatch {
            done,
            thread: thread.ok(),
        }
    }

    /// Ends the watch.
    ///
    /// # Errors
    /// The address of a store that was found, and the key that allows it.
    pub fn end(self) -> Result<(), Refusal> {
        drop(self.done);
        let found = self.thread.map(JoinHandle::join);
        match found {
            Some(Ok(stores)) if !stores.is_empty() => Err(refusal_under_load(&stores)),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => Ok(()),
        }
    }
}

/// Looks until something is found, the watch is ended or the time is over; at least once after the
/// load has begun.
fn first_found(ended: &Receiver<()>, look: impl Fn() -> Vec<Store>) -> Vec<Store> {
    let begin = Instant::now();
    loop {
        let is_last = match ended.recv_timeout(EVERY) {
            Err(RecvTimeoutError::Timeout) => begin.elapsed() >= LENGTH,
            _ => true,
        };
        let found = look();
        if is_last || !found.is_empty() {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_connection_that_a_request_opens_ends_the_load() {
        let over = Arc::new(AtomicBool::new(false));
        let looks = AtomicUsize::new(0);
        let watch = ConnectionWatch::looking(&over, move || {
            let stores = [Store {
                host: "192.0.2.10".to_owned(),
                place: "a connection of the app to port 5432".to_owned(),
                adapter: String::new(),
            }];
            let is_open = looks.fetch_add(1, Ordering::Relaxed) >= 2;
            stores.into_iter().filter(|_| is_open).collect()
        });
        while !over.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let failure = watch.end().expect_err("a store elsewhere");
        assert!(
            failure
                .to_string()
                .contains("192.0.2.10 is not on this machine")
        );
        assert!(
            failure
                .to_string()
                .contains("database_host_ok = \"192.0.2.10\"")
        );
    }

    #[test]
    fn a_watch_that_finds_nothing_lets_the_load_go_on() {
        let over = Arc::new(AtomicBool::new(false));
        let watch = ConnectionWatch::looking(&over, Vec::new);
        assert!(watch.end().is_ok());
        assert!(!over.load(Ordering::Relaxed));
    }
}

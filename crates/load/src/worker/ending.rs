//! The end of a worker: at the plan's end, when the load is stopped, or after an error.

use std::io;
use std::sync::atomic::Ordering;

use recording::Timestamp;

use super::Worker;
use crate::clock;
use crate::connection::Phase;
use crate::ledger::Share;

impl Worker<'_> {
    /// Runs to the end of the plan, or to an error of the system. What was measured until then is
    /// returned with the error.
    pub(crate) fn run(mut self) -> (Share, Option<io::Error>) {
        let error = self.go_on().err();
        if error.is_some() && self.sending {
            self.end_sending(clock::now(), true);
        }
        self.finish();
        (self.ledger.close(), error)
    }

    /// Whether the load ends early, by the caller or by an error of another thread. Without one
    /// thread's part the rest is not the load that was asked for.
    pub(super) fn is_stopped(&self) -> bool {
        // Relaxed: neither flag carries other data.
        self.task.stop.load(Ordering::Relaxed) || self.task.failed.load(Ordering::Relaxed)
    }

    pub(super) fn end_sending(&mut self, now: Timestamp, stopped: bool) {
        self.sending = false;
        self.wakeups.clear();
        let end = now.min(self.task.window.end);
        if stopped && end < self.task.window.end {
            self.ledger.share.stopped_at = Some(end);
        }
        if let Some(cpu) = self.cpu_at_start {
            self.ledger.share.cpu = clock::thread_cpu() - cpu;
        }
        for index in 0..self.connections.len() {
            if self.connections[index].phase == Phase::Connecting {
                self.leave_unanswered(index, now);
            }
        }
        while let Some(due) = self.tick_due().filter(|due| *due < end) {
            self.ledger.share.unsent += u64::from(due >= self.task.window.start);
            self.next_tick();
        }
    }

    /// Records what was not answered.
    fn finish(&mut self) {
        let now = clock::now();
        self.ledger.share.users = self.connections.len() as u32;
        for index in 0..self.connections.len() {
            if self.connections[index].phase != Phase::Free {
                self.leave_unanswered(index, now);
            }
            self.connections[index].close();
        }
        self.close_carriers();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::sync_channel;

    use recording::{Nanos, Outcome, Window};
    use scenario::Scenario;

    use super::*;
    use crate::engine::Engine;
    use crate::ledger::Book;
    use crate::plan::Plan;
    use crate::poller::Poller;
    use crate::route::Routes;
    use crate::tables::Tables;
    use crate::worker::Task;

    /// Returns the URL of a server with responses for one connection.
    fn serve() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut bytes = [0; 4096];
            while stream.read(&mut bytes).is_ok_and(|count| count > 0) {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
        });
        format!("http://{address}/")
    }

    /// Runs a worker for a minute, or until the wait with the given number fails.
    fn run(waits: u32, failed: bool) -> (Share, Option<io::Error>) {
        let plan = Plan {
            connections: 1,
            duration: Nanos(60_000_000_000),
            ..Plan::default()
        };
        let scenario = Scenario::single(&serve()).expect("a URL");
        let session = scenario.session_of(plan.part, plan.seed);
        let routes = Routes::of(&scenario, &plan).expect("a way");
        let (stop, failed) = (AtomicBool::new(false), AtomicBool::new(failed));
        let start = clock::now();
        let window = Window {
            start,
            end: start + plan.duration,
        };
        let steps: Vec<u32> = scenario.steps().map(|step| step.number).collect();
        let (sender, _) = sync_channel(1);
        let tables = Tables::new(&steps, window, Nanos(1_000_000_000), start, sender);
        let task = Task {
            plan: &plan,
            engine: Engine::Epoll,
            scenario: &scenario,
            session: &session,
            routes: &routes,
            stop: &stop,
            failed: &failed,
            window,
            start,
            schedule: None,
            number: 0,
            connections: 1,
            connections_max: 1,
            level: None,
            level_share: 0,
            connection_first: 0,
            id_base: 1,
        };
        let mut worker = Worker::new(task, Book::Tables(Box::new(tables))).expect("a worker");
        let poller = Poller::new(Engine::Epoll).expect("a poller");
        worker.poller = Poller::Failing {
            poller: Box::new(poller),
            left: waits,
        };
        worker.run()
    }

    #[test]
    fn a_thread_with_an_error_leaves_what_it_had_measured() {
        let (share, error) = run(50, false);
        assert_eq!(error.expect("an error").to_string(), "no more events");
        let figures = share.figures.expect("figures");
        assert!(figures.answered() > 0, "{:?}", figures.outcomes);
        assert_eq!(figures.outcomes.all(), share.ended);
        // The request under way.
        assert!(figures.outcomes.of(Outcome::Unanswered) <= 1);
        assert!(share.stopped_at.is_some());
    }

    #[test]
    fn a_thread_ends_when_another_one_has_failed() {
        let (share, error) = run(u32::MAX, true);
        assert!(error.is_none(), "{error:?}");
        assert!(share.stopped_at.is_some());
    }
}

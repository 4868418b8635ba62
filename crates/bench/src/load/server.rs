//! A server with computed times of responses, which reports the distance to the computed times.
//!
//! One thread for all connections: with a thread for each, some of hundreds of wake-ups a second
//! come late, and that would be taken for the generator's error.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// Possible lateness of the system's timers; the rest is waited for in a loop.
const TIMER_SLACK: Duration = Duration::from_micros(100);

/// When an answer to what came at an instant may leave.
pub(super) type Leave = Box<dyn FnMut(Instant) -> Instant + Send>;

/// A server running until the process ends.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    late: Receiver<Duration>,
}

impl Server {
    pub(super) fn start(leave: Leave) -> io::Result<Server> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (tell, late) = channel();
        let mut desk = Desk {
            listener,
            streams: Vec::new(),
            due: BinaryHeap::new(),
            leave,
            tell,
        };
        std::thread::spawn(move || while desk.turn().is_ok() {});
        Ok(Server { address, late })
    }

    /// Returns the lateness of responses until now against computed times, in ms, sorted.
    pub(super) fn lateness(&self) -> Vec<f64> {
        let mut late: Vec<f64> = self
            .late
            .try_iter()
            .map(|late| late.as_secs_f64() * 1e3)
            .collect();
        late.sort_by(f64::total_cmp);
        late
    }
}

struct Desk {
    listener: TcpListener,
    /// Streams by number; `None` when ended.
    streams: Vec<Option<TcpStream>>,
    /// Waiting responses by due time, with the connection's number.
    due: BinaryHeap<Reverse<(Instant, usize)>>,
    leave: Leave,
    tell: Sender<Duration>,
}

impl Desk {
    /// Waits for requests or for the next moment, and does what there is to do.
    fn turn(&mut self) -> io::Result<()> {
        let numbers: Vec<usize> = (0..self.streams.len())
            .filter(|number| self.streams[*number].is_some())
            .collect();
        let mut waited = vec![PollFd::new(&self.listener, PollFlags::IN)];
        let open = self.streams.iter().flatten();
        waited.extend(open.map(|stream| PollFd::new(stream, PollFlags::IN)));
        let wait = self.due.peek().map(|Reverse((at, _))| {
            let wait = at.saturating_duration_since(Instant::now());
            wait.saturating_sub(TIMER_SLACK)
        });
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        match poll(&mut waited, wait.as_ref()) {
            Err(rustix::io::Errno::INTR) => return Ok(()),
            polled => polled?,
        };
        let came: Vec<bool> = waited.iter().map(|fd| !fd.revents().is_empty()).collect();
        let ready = numbers.into_iter().zip(&came[1..]);
        let ready: Vec<usize> = ready.filter_map(|(n, came)| came.then_some(n)).collect();
        ready.into_iter().for_each(|number| self.read(number));
        if came[0] {
            self.accept();
        }
        self.answer();
        Ok(())
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let ready = stream.set_nonblocking(true).is_ok() && stream.set_nodelay(true).is_ok();
            self.streams.push(ready.then_some(stream));
        }
    }

    /// Reads one request: the generator sends the next after the response.
    fn read(&mut self, number: usize) {
        let mut buffer = [0; 4096];
        let Some(stream) = &mut self.streams[number] else {
            return;
        };
        match stream.read(&mut buffer) {
            Ok(1..) => {
                let at = (self.leave)(Instant::now());
                self.due.push(Reverse((at, number)));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => self.streams[number] = None,
        }
    }

    /// Sends what is due now or within the timers' slack.
    fn answer(&mut self) {
        while let Some(Reverse((at, number))) = self.due.peek().copied() {
            if at.saturating_duration_since(Instant::now()) > TIMER_SLACK {
                return;
            }
            self.due.pop();
            while Instant::now() < at {
                std::hint::spin_loop();
            }
            let sent = self.streams[number].as_mut().map(|to| to.write_all(ANSWER));
            if sent.is_none_or(|sent| sent.is_err()) {
                self.streams[number] = None;
            }
            // Nobody may listen.
            let _ = self.tell.send(at.elapsed());
        }
    }
}

//! Near end of a session: one `ssh`, with frames sent and received.

mod threads;

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock::RoundTrip;
use crate::error::{Reached, RemoteError, Why};
use crate::frame::{self, Frame, TooLong};
use crate::host::{Host, Program};
use crate::queue::{Nothing, Queue};
use crate::script::{self, Failed, Line};
use crate::{QUEUE_FRAMES, VERSION};
use threads::Clocks;

/// Time for `ssh` to end after end of input.
const END_WAIT: Duration = Duration::from_secs(2);
/// Threads opening sessions at once: some servers refuse more logins at a time (`MaxStartups` is
/// 10).
const OPENING_MAX: usize = 8;

/// Copy of the running program on another host, started, greeted, and ready for frames. Ends with
/// this value.
#[derive(Debug)]
pub struct Session {
    host: Host,
    ssh: Child,
    shared: Arc<Shared>,
}

/// Both clocks of a host, asked at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// `CLOCK_MONOTONIC` here and there.
    pub monotonic: RoundTrip,
    /// The wall clocks.
    pub wall: RoundTrip,
}

/// What the threads of a session share.
#[derive(Debug)]
struct Shared {
    to: Queue<Outgoing>,
    from: Queue<Event>,
    clocks: Clocks,
    /// Last part of the output on standard error.
    said: threads::Said,
    /// Bytes written, by which a slow copy differs from none.
    written: AtomicU64,
    /// Whether the far program has greeted, and so understands pings.
    is_greeted: AtomicBool,
}

#[derive(Debug)]
enum Outgoing {
    Bytes(Vec<u8>),
    Program(Arc<[u8]>),
    Ping,
}

#[derive(Debug)]
enum Event {
    Line(Line),
    Frame(Frame),
    Broken(TooLong),
}

impl Session {
    /// Connects, copies the program, and starts the program with the given words as arguments.
    /// `patience` is how long nothing may happen.
    ///
    /// # Errors
    /// Everything in [`Why`].
    pub fn open(
        host: &Host,
        program: &Program,
        words: &[&str],
        patience: Duration,
    ) -> Result<Session, RemoteError> {
        let error = |why| RemoteError {
            host: host.name.clone(),
            ssh: host.ssh.clone(),
            why,
        };
        if let Some(word) = words.iter().find(|word| !script::is_plain(word)) {
            return Err(error(Why::Word((*word).to_owned())));
        }
        let mut command = ssh(host, &script::command(words, host.sudo), patience);
        let mut ssh = command
            .spawn()
            .map_err(|why| error(Why::NoSsh(why.to_string())))?;
        let shared = Arc::new(Shared {
            to: Queue::new(QUEUE_FRAMES),
            from: Queue::new(QUEUE_FRAMES),
            clocks: Clocks::default(),
            said: threads::Said::default(),
            written: AtomicU64::new(0),
            is_greeted: AtomicBool::new(false),
        });
        threads::start(&mut ssh, &shared);
        let session = Session {
            host: host.clone(),
            ssh,
            shared,
        };
        session.start(program, patience).map_err(error)?;
        Ok(session)
    }

    /// Says what the far shell needs to hear until the program greets.
    fn start(&self, program: &Program, patience: Duration) -> Result<(), Why> {
        let mut was_in = false;
        loop {
            let line = self.line(patience, was_in)?;
            was_in = true;
            match line {
                Line::Host {
                    system,
                    architecture,
                } => {
                    if system != "Linux" || architecture != program.architecture {
                        return Err(Why::Architecture {
                            far: format!("{system} on {architecture}"),
                            program: program.architecture.clone(),
                        });
                    }
                    let order = format!("{} {}\n", program.bytes.len(), program.hash);
                    self.say(Outgoing::Bytes(order.into_bytes()), patience)?;
                }
                Line::Send => self.say(Outgoing::Program(Arc::clone(&program.bytes)), patience)?,
                Line::Failed(Failed::NoFolder(tried)) => return Err(Why::NoFolder(tried)),
                Line::Failed(Failed::Write) => return Err(Why::DiskFull),
                Line::Failed(Failed::Hash) => return Err(Why::Damaged),
                Line::Greeting(VERSION) => {
                    // Relaxed: a ping that comes five seconds later is as good.
                    self.shared.is_greeted.store(true, Ordering::Relaxed);
                    return Ok(());
                }
                Line::Greeting(version) => return Err(Why::Version(version)),
            }
        }
    }

    /// Sends to the far shell. Where the shell has ended already, its last line says why.
    fn say(&self, outgoing: Outgoing, wait: Duration) -> Result<(), Why> {
        match self.shared.to.push(outgoing, wait) {
            Ok(()) | Err(Nothing::Closed) => Ok(()),
            Err(Nothing::Late) => Err(Why::Silent(wait)),
        }
    }

    /// The next line, as long as something moves: one, or bytes of the program.
    fn line(&self, patience: Duration, was_in: bool) -> Result<Line, Why> {
        loop {
            // Relaxed: a count that only has to grow some time.
            let written = self.shared.written.load(Ordering::Relaxed);
            match self.shared.from.pop(patience) {
                Ok(Event::Line(line)) => return Ok(line),
                Ok(Event::Frame(_)) => {}
                Ok(Event::Broken(error)) => return Err(Why::Frame(error)),
                Err(Nothing::Closed) => return Err(self.why_it_ended(was_in)),
                Err(Nothing::Late) if self.shared.written.load(Ordering::Relaxed) > written => {}
                Err(Nothing::Late) => return Err(Why::Silent(patience)),
            }
        }
    }

    /// Returns the host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the process id of `ssh`.
    pub fn ssh_pid(&self) -> u32 {
        self.ssh.id()
    }

    /// Sends a frame; waits so long for room in the queue when the host does not keep up.
    ///
    /// # Errors
    /// The host is gone, or takes nothing.
    pub fn send(&self, kind: u8, body: &[u8], wait: Duration) -> Result<(), RemoteError> {
        debug_assert!(
            kind >= frame::KIND_MIN,
            "kind {kind} is the transport's own"
        );
        let mut bytes = Vec::with_capacity(body.len() + 8);
        let encoded = frame::encode(kind, body, &mut bytes).map_err(Why::Frame);
        encoded
            .and_then(|()| self.push(Outgoing::Bytes(bytes), wait))
            .map_err(|why| self.error(why))
    }

    /// Returns the next frame, or `None` when none came for so long.
    ///
    /// # Errors
    /// The host is gone, or what it sends is no frame.
    pub fn receive(&self, wait: Duration) -> Result<Option<Frame>, RemoteError> {
        let deadline = Instant::now() + wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.shared.from.pop(left) {
                Ok(Event::Frame(frame)) => return Ok(Some(frame)),
                Ok(Event::Line(_)) => {}
                Ok(Event::Broken(error)) => return Err(self.error(Why::Frame(error))),
                Err(Nothing::Late) => return Ok(None),
                Err(Nothing::Closed) => return Err(self.error(self.why_it_ended(true))),
            }
        }
    }

    /// Asks both clocks so many times, one after another; what is lost is not asked again.
    ///
    /// # Errors
    /// The host is gone, or does not reply at all.
    pub fn ask_clocks(&self, times: usize, wait: Duration) -> Result<(), RemoteError> {
        let deadline = Instant::now() + wait;
        for _ in 0..times {
            let known = self.shared.clocks.count();
            let left = deadline.saturating_duration_since(Instant::now());
            self.push(Outgoing::Ping, left)
                .map_err(|why| self.error(why))?;
            if !self.shared.clocks.wait_for_more(known, deadline) {
                return Err(self.error(Why::Silent(wait)));
            }
        }
        Ok(())
    }

    /// Returns all round trips so far, including signs of life.
    pub fn trips(&self) -> Vec<Trip> {
        self.shared.clocks.all()
    }

    /// Returns the error of a host silent for `waited`.
    pub fn silent(&self, waited: Duration) -> RemoteError {
        self.error(Why::Silent(waited))
    }

    /// Returns the error of a host whose frame of a kind is not understood.
    pub fn not_understood(&self, kind: u8) -> RemoteError {
        self.error(Why::Content(kind))
    }

    /// Closes the far program's input, and waits up to `wait` for the end of the program.
    pub fn close(mut self, wait: Duration) {
        self.end(wait);
    }

    fn push(&self, outgoing: Outgoing, wait: Duration) -> Result<(), Why> {
        self.shared
            .to
            .push(outgoing, wait)
            .map_err(|nothing| match nothing {
                Nothing::Late => Why::Silent(wait),
                Nothing::Closed => self.why_it_ended(true),
            })
    }

    fn error(&self, why: Why) -> RemoteError {
        RemoteError {
            host: self.host.name.clone(),
            ssh: self.host.ssh.clone(),
            why,
        }
    }

    fn why_it_ended(&self, was_in: bool) -> Why {
        // Relaxed: it was stored before the session was handed to any other thread.
        let reached = match (self.shared.is_greeted.load(Ordering::Relaxed), was_in) {
            (true, _) => Reached::Program,
            (false, true) => Reached::Shell,
            (false, false) => Reached::Nothing,
        };
        Why::of_ssh(&self.shared.said.all(END_WAIT), reached)
    }

    fn end(&mut self, wait: Duration) {
        self.shared.to.close();
        self.shared.from.close();
        if !self.shared.said.wait_for_end(wait) {
            let _ = self.ssh.kill();
        }
        let _ = self.ssh.wait();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end(END_WAIT);
    }
}

/// Opens a session on each host, several at once; an unusable host does not hinder the others.
pub fn open_all(
    hosts: &[(Host, Program)],
    words: &[&str],
    patience: Duration,
) -> Vec<Result<Session, RemoteError>> {
    let next = AtomicUsize::new(0);
    let open_some = || {
        let mut opened = Vec::new();
        loop {
            // Relaxed: each number is taken once, whoever is first.
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((host, program)) = hosts.get(index) else {
                return opened;
            };
            opened.push((index, Session::open(host, program, words, patience)));
        }
    };
    let mut sessions: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..OPENING_MAX.min(hosts.len()))
            .map(|_| scope.spawn(open_some))
            .collect();
        let joined = threads.into_iter().flat_map(|thread| match thread.join() {
            Ok(opened) => opened,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    });
    sessions.sort_by_key(|(index, _)| *index);
    sessions.into_iter().map(|(_, session)| session).collect()
}

/// Returns the `ssh` command of a session: without prompts, with one channel only, and with
/// keep-alives by which a dead host is noticed in 15 s. A control connection that the user has open
/// already is used; none is made, since it would outlive us.
fn ssh(host: &Host, command: &str, patience: Duration) -> Command {
    const OPTIONS: [&str; 11] = [
        "BatchMode=yes",
        "ControlMaster=no",
        "RequestTTY=no",
        "RemoteCommand=none",
        "ClearAllForwardings=yes",
        "ForwardAgent=no",
        "ForwardX11=no",
        "PermitLocalCommand=no",
        "EscapeChar=none",
        "ServerAliveInterval=5",
        "ServerAliveCountMax=3",
    ];
    let mut ssh = Command::new("ssh");
    if let Some(config) = &host.config {
        ssh.arg("-F").arg(config);
    }
    for option in OPTIONS {
        ssh.args(["-o", option]);
    }
    ssh.args([
        "-o",
        &format!("ConnectTimeout={}", patience.as_secs().max(1)),
    ]);
    ssh.args(["-T", "--", &host.ssh, command]);
    ssh.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Ctrl-C on the terminal is for us: we end the session in order.
    ssh.process_group(0);
    ssh
}

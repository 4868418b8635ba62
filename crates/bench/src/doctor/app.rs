//! App with one kind of work, as a process and as a command line.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::plants::{Plant, Side};

const START_LIMIT: Duration = Duration::from_secs(20);

/// An app with a port and one kind of work per request.
pub(super) struct App {
    script: PathBuf,
    port: u16,
    work: &'static str,
    count: u32,
    pause_ms: f64,
}

/// The running app; ended on drop.
pub(super) struct Running {
    child: Child,
    port: u16,
}

impl App {
    pub(super) fn new(plant: &Plant) -> Result<App, Box<dyn Error>> {
        Ok(App {
            script: script("app.rb"),
            port: TcpListener::bind("127.0.0.1:0")?.local_addr()?.port(),
            work: plant.work,
            count: plant.count,
            pause_ms: plant.pause_ms,
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Returns a shell line which starts the app on a side.
    pub(super) fn command(&self, side: &Side) -> String {
        let pairs = side
            .env
            .iter()
            .map(|(name, value)| format!("{name}='{value}' "));
        let busy = if side.busy {
            super::machine::busy_line()
        } else {
            String::new()
        };
        format!(
            "{} {busy} exec {} env {}WORK={} COUNT={} PAUSE={} PORT={} ruby --disable-gems -rrubygems {}",
            side.before,
            side.through,
            pairs.collect::<String>(),
            self.work,
            self.count,
            self.pause_ms / 1000.0,
            self.port,
            self.script.display()
        )
    }

    pub(super) fn start(&self, side: &Side) -> Result<Running, Box<dyn Error>> {
        let child = Command::new("sh")
            .args(["-c", &self.command(side)])
            .spawn()?;
        let running = Running {
            child,
            port: self.port,
        };
        let deadline = Instant::now() + START_LIMIT;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if Instant::now() > deadline {
                return Err("the app does not answer".into());
            }
            std::thread::yield_now();
        }
        Ok(running)
    }
}

impl Running {
    /// Sends so many requests, one after the other.
    pub(super) fn requests(&self, count: u32) -> Result<(), Box<dyn Error>> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port))?;
        socket.set_read_timeout(Some(START_LIMIT))?;
        let mut answer = [0; 4096];
        for _ in 0..count {
            socket.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")?;
            if socket.read(&mut answer)? == 0 {
                return Err("the app closed the connection".into());
            }
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that holds a server in the state of a copy with a fault; ended on drop.
pub(super) struct Follower(Child);

impl Follower {
    /// Makes the server at `copy` a copy of the one at `source` and waits until the fault is there.
    pub(super) fn start(source: &str, copy: &str, fault: &str) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new("ruby")
            .arg(script("replica.rb"))
            .env("DATABASE_URL", source)
            .env("REPLICA", copy)
            .env("FAULT", fault)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let ready = child.stdout.take().ok_or("no pipe")?;
        let follower = Follower(child);
        let mut line = String::new();
        BufReader::new(ready).read_line(&mut line)?;
        match line.trim() {
            "ready" => Ok(follower),
            _ => Err("the copy did not get there; its reason is above".into()),
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Makes the data of a side.
pub(super) fn fill(env: &[(String, String)]) -> Result<(), Box<dyn Error>> {
    let output = Command::new("ruby")
        .arg(script("fill.rb"))
        .envs(env.iter().cloned())
        .output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

fn script(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/doctor")).join(name)
}

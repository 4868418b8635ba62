//! `cargo xtask hosts --fan-out N`: time until so many collectors have begun, CPU of each while
//! collecting, and what is left when either side is killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::host::Host;
use super::link::{self, Link};
use super::ssh;
use crate::run::{Outcome, write};

/// Longest time until all collectors have begun, and most CPU of each while collecting.
const START_MAX: Duration = Duration::from_secs(3);
const CORE_SHARE_MAX: f64 = 0.01;
/// Longest wait for servers, and for what is to end by itself.
const PATIENCE: Duration = Duration::from_secs(30);
const TICK: Duration = Duration::from_millis(50);
/// Clock ticks per second in `/proc/PID/stat`, on every Linux.
const TICKS_PER_S: f64 = 100.0;
/// Hosts of one network of 254.
const HOSTS_MAX: u32 = 200;
const FIRST: u32 = 10;
/// As many as hakaru opens at once.
const LOGINS_AT_ONCE: usize = 8;

/// Hosts, each with an SSH server.
struct Fan {
    folder: PathBuf,
    program: PathBuf,
    /// Program of the hosts, if another one.
    collector: Option<PathBuf>,
    hosts: Vec<Host>,
    servers: Vec<Child>,
}

/// Makes the hosts, and checks every promise about so many collectors.
pub(super) fn check(
    program: PathBuf,
    collector: Option<PathBuf>,
    hosts: u32,
    seconds: u32,
) -> Outcome<()> {
    if hosts == 0 || hosts > HOSTS_MAX {
        return Err(format!("--fan-out takes 1 to {HOSTS_MAX} hosts"));
    }
    let fan = Fan::new(program, collector, hosts)?;
    let bare = fan.logins("true", 0)?;
    let started = fan.measure(seconds)?;
    println!(
        "{} collectors of {} each began within {:.2} s; CPU of each over {seconds} s: {:.2} % of a core in the mean, {:.2} % at most",
        started.collectors,
        size(started.bytes),
        started.begun.as_secs_f64(),
        started.share_mean * 100.0,
        started.share_max * 100.0,
    );
    println!(
        "{hosts} bare logins took {:.2} s, and with as many bytes sent to each {:.2} s",
        bare.as_secs_f64(),
        fan.logins("cat >/dev/null", started.bytes)?.as_secs_f64(),
    );
    fan.kill_near()?;
    println!("holds  nothing is left after kill -9 of hakaru");
    fan.kill_far()?;
    println!("holds  nothing is left after kill -9 of all collectors");
    match started.begun <= START_MAX && started.share_max <= CORE_SHARE_MAX {
        true => Ok(()),
        false => Err(format!(
            "missed: at most {} s and {} % of a core are the goal",
            START_MAX.as_secs(),
            CORE_SHARE_MAX * 100.0
        )),
    }
}

struct Started {
    collectors: usize,
    /// Size of the program of each.
    bytes: u64,
    begun: Duration,
    share_mean: f64,
    share_max: f64,
}

impl Fan {
    fn new(program: PathBuf, collector: Option<PathBuf>, count: u32) -> Outcome<Fan> {
        let folder = std::env::temp_dir().join(format!("hakaru-fan-{}", super::bed::stamp()));
        fs::create_dir(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        link::bridge("10.78.0.1/24")?;
        let mut fan = Fan {
            folder,
            program,
            collector,
            hosts: Vec::new(),
            servers: Vec::new(),
        };
        let mut config = String::new();
        for number in 0..count {
            let name = format!("host{number}");
            let host = Host::new(&name, format!("10.78.0.{}", FIRST + number), "app")?;
            Link::veth(&host.name, host.first, &host.address)?.keep();
            config += &format!(
                "[[host]]\nname = \"{name}\"\nssh_config = \"{}\"\n",
                ssh::CONFIG
            );
            if let Some(collector) = &fan.collector {
                config += &format!("program = \"{}\"\n", collector.display());
            }
            fan.hosts.push(host);
        }
        write(&fan.folder.join("hakaru.toml"), &config)?;
        let sshd = ssh::configure(&fan.folder, &fan.hosts)?;
        for host in &fan.hosts {
            let words = host.words();
            let mut server = Command::new(&words[0]);
            server
                .args(&words[1..])
                .args(ssh::words(&sshd, &fan.folder, host))
                .stdin(Stdio::null())
                .stderr(Stdio::null());
            let server = server
                .spawn()
                .map_err(|error| format!("cannot start sshd: {error}"))?;
            fan.servers.push(server);
        }
        for host in &fan.hosts {
            let place = format!("{}:{}", host.address, ssh::PORT);
            wait_until(&format!("sshd at {place}"), || {
                TcpStream::connect(&place).is_ok()
            })?;
        }
        Ok(fan)
    }

    /// Returns the time of a login on each host with the given command, as many at once as hakaru
    /// makes, and with so many bytes sent: a start of collectors cannot take less.
    fn logins(&self, command: &str, bytes: u64) -> Outcome<Duration> {
        let path = self.folder.join("bytes");
        let made = fs::File::create(&path).and_then(|file| file.set_len(bytes));
        made.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let begin = Instant::now();
        let next = AtomicUsize::new(0);
        let login = |host: &Host| -> Outcome<()> {
            let input = fs::File::open(&path)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            let mut ssh = Command::new("ssh");
            ssh.arg("-F").arg(self.folder.join(ssh::CONFIG));
            ssh.args(["-o", "BatchMode=yes", "-T", &host.name, command]);
            let status = ssh.stdin(input).stdout(Stdio::null()).status();
            match status.is_ok_and(|status| status.success()) {
                true => Ok(()),
                false => Err(format!("ssh {} {command} failed", host.name)),
            }
        };
        let some = || -> Outcome<()> {
            // Relaxed: each number is taken once, whoever is first.
            while let Some(host) = self.hosts.get(next.fetch_add(1, Ordering::Relaxed)) {
                login(host)?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..LOGINS_AT_ONCE).map(|_| scope.spawn(some)).collect();
            let joined = threads.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect::<Outcome<()>>()
        })?;
        Ok(begin.elapsed())
    }

    /// Starts a collection; returns the process once all have begun, and the time until then.
    fn start(&self, seconds: u32) -> Outcome<(Child, Duration)> {
        let begin = Instant::now();
        let mut hakaru = Command::new(&self.program)
            .args(["collect", "--json", "--for", &format!("{seconds}s")])
            .current_dir(&self.folder)
            .env("LC_ALL", "C.UTF-8")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.program.display()))?;
        let said = hakaru.stderr.take().ok_or("no standard error")?;
        let mut said = BufReader::new(said).lines();
        let expected = format!("collecting on {} host", self.hosts.len());
        let line = said.next().and_then(Result::ok).unwrap_or_default();
        let took = begin.elapsed();
        // Read on, so that nothing blocks.
        thread::spawn(move || said.for_each(drop));
        match line.contains(&expected) {
            true => Ok((hakaru, took)),
            false => {
                let _ = hakaru.kill();
                let _ = hakaru.wait();
                Err(format!("hakaru says {line:?}, not {expected:?}"))
            }
        }
    }

    fn measure(&self, seconds: u32) -> Outcome<Started> {
        // Longer than the measurement, in which all collect.
        let (mut hakaru, begun) = self.start(seconds + 3)?;
        let collectors = collectors();
        let bytes = collectors.first().map_or(0, |pid| {
            fs::metadata(format!("/proc/{pid}/exe")).map_or(0, |file| file.len())
        });
        let before: Vec<f64> = collectors.iter().map(|pid| cpu_s(*pid)).collect();
        let begin = Instant::now();
        thread::sleep(Duration::from_secs(seconds.into()));
        let shares = collectors
            .iter()
            .zip(before)
            .map(|(pid, before)| (cpu_s(*pid) - before) / begin.elapsed().as_secs_f64());
        let shares: Vec<f64> = shares.collect();
        let status = hakaru.wait().map_err(|error| format!("hakaru: {error}"))?;
        if !status.success() || shares.len() != self.hosts.len() {
            return Err(format!(
                "{} collectors ran on {} hosts, and hakaru ended with {status}",
                shares.len(),
                self.hosts.len()
            ));
        }
        self.left("the end")?;
        Ok(Started {
            collectors: shares.len(),
            bytes,
            begun,
            share_mean: shares.iter().sum::<f64>() / shares.len() as f64,
            share_max: shares.iter().copied().fold(0.0, f64::max),
        })
    }

    fn kill_near(&self) -> Outcome<()> {
        let (mut hakaru, _) = self.start(600)?;
        hakaru.kill().map_err(|error| format!("hakaru: {error}"))?;
        let _ = hakaru.wait();
        self.left("kill -9 of hakaru")
    }

    fn kill_far(&self) -> Outcome<()> {
        let (mut hakaru, _) = self.start(600)?;
        for pid in collectors() {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
        let status = hakaru.wait().map_err(|error| format!("hakaru: {error}"))?;
        if status.code() != Some(1) {
            return Err(format!(
                "without collectors hakaru ends with {status}, not with 1"
            ));
        }
        self.left("kill -9 of the collectors")
    }

    /// Waits until no process of a collection and no file of one is there.
    fn left(&self, after: &str) -> Outcome<()> {
        let is_left = || !collectors().is_empty() || !running("ssh").is_empty() || self.files() > 0;
        wait_until(&format!("nothing left after {after}"), || !is_left()).map_err(|why| {
            format!(
                "{why}: there are {} collectors, {} ssh and {} files",
                collectors().len(),
                running("ssh").len(),
                self.files()
            )
        })
    }

    /// Returns the number of files in the hosts' folders for temporary ones.
    fn files(&self) -> usize {
        let folders = self
            .hosts
            .iter()
            .map(|host| ssh::tmp(&self.folder, &host.name));
        folders.flat_map(fs::read_dir).flatten().count()
    }
}

impl Drop for Fan {
    fn drop(&mut self) {
        self.hosts.clear();
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) -> Outcome<()> {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        if Instant::now() > deadline {
            return Err(format!("{what}: not within {} s", PATIENCE.as_secs()));
        }
        thread::sleep(TICK);
    }
    Ok(())
}

/// Returns the collectors of all hosts: the processes are run through a descriptor.
fn collectors() -> Vec<u32> {
    let is_collector = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        words.next().is_some_and(|first| first.ends_with(b"/fd/4"))
            && words.next() == Some(b"collector")
    };
    pids().into_iter().filter(is_collector).collect()
}

/// Returns the processes of a name. Those that have ended are no more: an orphan stays in the list
/// of processes, without words, until this task ends, which is the first of the namespace.
fn running(name: &str) -> Vec<u32> {
    let is_named = |pid: &u32| {
        let own = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        own.trim_end() == name && !words.is_empty()
    };
    pids().into_iter().filter(is_named).collect()
}

fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.collect()
}

/// Returns the CPU time of a process, seconds.
fn cpu_s(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in brackets may hold blanks.
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let numbers = after.split_whitespace().skip(11).take(2);
    let ticks: f64 = numbers
        .filter_map(|number| number.parse::<f64>().ok())
        .sum();
    ticks / TICKS_PER_S
}

fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

//! A program on the client's core, with resources used.

use std::error::Error;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::apps::{CLIENT_CORE, SERVER_CORE};

/// Ticks of `/proc/<pid>/stat` a second: fixed in what the kernel shows to programs.
const TICKS_A_SECOND: f64 = 100.0;
/// Interval of reading the greatest memory so far; the kernel forgets the value when the program
/// ends.
const LOOK: Duration = Duration::from_millis(20);

/// What a program printed and used.
pub(crate) struct Ran {
    pub(crate) output: String,
    /// CPU time of all threads, in seconds.
    pub(crate) cpu_s: f64,
    /// Greatest resident memory, in 10^6 bytes.
    pub(crate) memory_mb: f64,
}

/// Runs a program to the end on the client's core, with standard error dropped.
pub(crate) fn run(words: &[String]) -> Result<Ran, Box<dyn Error>> {
    run_on(&CLIENT_CORE.to_string(), words)
}

/// The same on the server's core too.
pub(crate) fn run_on_all(words: &[String]) -> Result<Ran, Box<dyn Error>> {
    run_on(&format!("{SERVER_CORE},{CLIENT_CORE}"), words)
}

fn run_on(cores: &str, words: &[String]) -> Result<Ran, Box<dyn Error>> {
    let mut command = Command::new("taskset");
    command.args(["-c", cores]).args(words);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut pipe = child.stdout.take().ok_or("no pipe")?;
    let reader = std::thread::spawn(move || {
        let mut output = String::new();
        pipe.read_to_string(&mut output).map(|_| output)
    });
    let memory_mb = wait(&child)?;
    // It has ended and is not yet forgotten, so that its account is whole.
    let cpu_s = cpu_s(child.id())?;
    child.wait()?;
    let output = reader
        .join()
        .map_err(|_| "the reader of a pipe panicked")??;
    Ok(Ran {
        output,
        cpu_s,
        memory_mb,
    })
}

/// Waits for the end without taking the exit status; the greatest memory observed, in 10^6 bytes.
fn wait(child: &Child) -> Result<f64, Box<dyn Error>> {
    let pid = Pid::from_child(child);
    let mut memory_mb: f64 = 0.0;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while waitid(WaitId::Pid(pid), options)?.is_none() {
        memory_mb = memory_mb.max(peak_mb(child.id()).unwrap_or(0.0));
        std::thread::sleep(LOOK);
    }
    Ok(memory_mb)
}

fn peak_mb(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

fn cpu_s(pid: u32) -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // Behind the name, which may hold anything, stand the fields from the third on.
    let (_, fields) = stat.rsplit_once(')').ok_or("no name in /proc/<pid>/stat")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |index: usize| {
        fields
            .get(index)
            .and_then(|field| field.parse::<f64>().ok())
    };
    let (user, system) = ticks(11)
        .zip(ticks(12))
        .ok_or("no times in /proc/<pid>/stat")?;
    Ok((user + system) / TICKS_A_SECOND)
}

//! One process: started, awaited with a deadline, ended with all descendants, and the resources
//! used.
//!
//! It runs in a process group of its own, so that Ctrl-C in the terminal reaches only Hakaru, which
//! then ends the group. The kernel sums up what the process and the children that it waited for
//! used (`wait4`).

#![expect(
    unsafe_code,
    reason = "no safe interface returns the resources that a single child used"
)]

#[cfg_attr(not(target_os = "linux"), path = "process/end_asked.rs")]
mod end;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use end::End;

/// Interval between checks of the stop flag.
const TICK: Duration = Duration::from_millis(100);
/// Bytes of one unit of the system's figure of resident memory.
const RSS_UNIT: u64 = if cfg!(target_os = "macos") { 1 } else { 1024 };
/// Bytes from the end of the error output stored for a message.
const TAIL: u64 = 4096;

/// Resources used by a process up to a regular end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Used {
    /// From before the start until the end.
    pub wall: Duration,
    /// User-mode time, children included.
    pub user: Duration,
    /// Kernel time, children included.
    pub system: Duration,
    /// Greatest resident memory of the largest process, bytes.
    pub memory: u64,
    /// The instant before the start, on CLOCK_MONOTONIC, nanoseconds.
    pub began_ns: u64,
    /// Exit status.
    pub status: ExitStatus,
}

/// Why there is no measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The program could not be started: the system's words.
    Start(String),
    /// The process failed, with the last words printed.
    Failed(String),
    /// The process did not end within the given time.
    Hung(Duration),
    /// Ctrl-C.
    Interrupted,
}

/// Runs a command until the end. Its error output goes to the file `errors`, unless that is `None`.
pub fn run(
    command: &mut Command,
    errors: Option<&File>,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Used, Failure> {
    if let Some(errors) = errors {
        let errors = errors
            .try_clone()
            .map_err(|error| Failure::Start(error.to_string()))?;
        command.stderr(Stdio::from(errors));
    }
    command.process_group(0);
    let began_ns = now_ns();
    let begin = Instant::now();
    let child = command.spawn().map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        Failure::Start(format!("{program}: {error}"))
    })?;
    let group = Group::of(&child);
    let ended = group.wait(begin + limit, stop);
    let wall = begin.elapsed();
    if let Err(failure) = ended {
        group.kill();
        let _ = reap(&child);
        return Err(match failure {
            Failure::Hung(_) => Failure::Hung(limit),
            other => other,
        });
    }
    let (status, usage) = reap(&child).map_err(|error| Failure::Failed(error.to_string()))?;
    // What the process left behind would compete with the next measurement.
    group.kill();
    Ok(Used {
        wall,
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        memory: usage.ru_maxrss as u64 * RSS_UNIT,
        began_ns,
        status,
    })
}

/// Returns the last lines of a process's error file, the first line worth showing.
pub fn last_words(errors: &mut File) -> String {
    let length = errors.seek(SeekFrom::End(0)).unwrap_or(0);
    let mut bytes = Vec::new();
    let read = errors
        .seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .and_then(|_| errors.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let line = read.ok().and_then(|_| {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        lines
            .clone()
            .find(|line| line.contains("Error") || line.contains("error"))
            .or_else(|| lines.next())
    });
    line.unwrap_or_default().trim().to_owned()
}

/// How a process ended, in words.
pub fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    }
}

/// The present on CLOCK_MONOTONIC, nanoseconds.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}

/// A process and all descendants still in the group.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Group {
        Group(i32::try_from(child.id()).ok().and_then(Pid::from_raw))
    }

    fn wait(&self, until: Instant, stop: &AtomicBool) -> Result<(), Failure> {
        let pid = self
            .0
            .ok_or_else(|| Failure::Start("no process".to_owned()))?;
        let end = End::of(pid)
            .map_err(|error| Failure::Start(format!("cannot wait for a process: {error}")))?;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failure::Hung(Duration::ZERO));
            }
            // Relaxed: the flag carries no other data.
            if stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
            match end.came_within(left.min(TICK)) {
                Ok(false) | Err(rustix::io::Errno::INTR) => {}
                Ok(true) => return Ok(()),
                Err(error) => return Err(Failure::Failed(error.to_string())),
            }
        }
    }

    fn kill(&self) {
        if let Some(pid) = self.0 {
            // It may have ended by itself, and mostly has.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// Reaps the ended process, and returns the resources used.
fn reap(child: &Child) -> io::Result<(ExitStatus, libc::rusage)> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let pid = child.id() as libc::pid_t;
    loop {
        // SAFETY: both pointers are to variables that live here; the process is our child and
        // nobody else waits for it.
        let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
        if reaped == pid {
            // SAFETY: all zeroes are a value of this type, and wait4 has filled it in.
            return Ok((ExitStatus::from_raw(status), unsafe { usage.assume_init() }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<Used, Failure> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdout(Stdio::null());
        run(&mut command, None, limit, &AtomicBool::new(false))
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_a_process_used_is_counted() {
        let used = shell(
            "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 3",
            LONG,
        )
        .expect("it ended");
        assert_eq!(used.status.code(), Some(3));
        assert!(
            used.user + used.system > Duration::from_millis(1),
            "{used:?}"
        );
        assert!(used.wall >= used.user, "{used:?}");
        assert!(used.memory > 100_000, "{used:?}");
    }

    #[test]
    fn who_hangs_is_ended_with_its_children() {
        let begin = Instant::now();
        let failure = shell("sleep 50 & sleep 50", Duration::from_millis(200));
        assert_eq!(failure, Err(Failure::Hung(Duration::from_millis(200))));
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_raised_flag_ends_it() {
        let mut command = Command::new("/bin/sleep");
        let failure = run(command.arg("50"), None, LONG, &AtomicBool::new(true));
        assert_eq!(failure, Err(Failure::Interrupted));
    }

    #[test]
    fn what_is_not_there_cannot_be_started() {
        let mut command = Command::new("/nowhere/at/all");
        let failure = run(&mut command, None, LONG, &AtomicBool::new(false));
        assert!(matches!(failure, Err(Failure::Start(why)) if why.contains("/nowhere/at/all")));
    }
}

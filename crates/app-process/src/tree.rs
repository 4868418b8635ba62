//! A command and every process started by the command.
//!
//! Who belongs to it: the leader (the process we spawned) and all below it; every process seen
//! below it earlier; and of the orphans, which the kernel hands to us as "child subreaper", those
//! that carry the mark or are in the leader's group. The leader is not waited for before the end:
//! as long as it is a zombie its pid cannot be given to a stranger, so signals to it and to its
//! group are safe.
//!
//! How it stops:
//! 1. From the top: a member whose parent is no member is asked to end, once. A master process then
//!    ends its own children in its own order; when it dies without doing so, they are at the top.
//! 2. After half of the grace time everybody is asked.
//! 3. After the grace time everybody is killed, again and again until nobody is left, since a dying
//!    parent may fork.
//! 4. Who has become our child is reaped.
//!
//! To ask is `SIGTERM`, but `SIGINT` for a Puma, which it takes as gracefully: Puma 6.6 on Ruby 3.3
//! hangs on every tenth `SIGTERM` (its server thread closes a pipe that the trap handler has just
//! written to, and the handler waits for that thread), and on 1 of 80 `SIGINT`. A cluster's master
//! sends `SIGTERM` to its workers whatever it got itself, and one of them hangs every tenth time.
//! Step 3 ends those.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group,
    set_child_subreaper, waitid, waitpid,
};

use crate::guard::{Guard, Guarded};
use crate::keeper::{self, Keeper, Notes, NotifySocket};
use crate::log::{Log, Stream};
use crate::procfs::{self, MARK, Process};
use crate::running::Stopped;

/// How often a stopping app is looked at.
const STOP_TICK: Duration = Duration::from_millis(10);

/// Time limit for dying after `SIGKILL`: a process alive longer hangs in the kernel, and waiting
/// would hang Hakaru too.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// A spawned command with all descendants.
pub(crate) struct Tree {
    token: String,
    leader: u32,
    child: Child,
    keeper: Keeper,
    guard: Guard,
    log: Log,
    /// Start times of the members seen so far, by pid.
    seen: Mutex<HashMap<u32, u64>>,
    grace: Duration,
    stopped: Option<Stopped>,
}

/// What to spawn.
pub(crate) struct Launch<'a> {
    /// Program and arguments, not empty.
    pub(crate) words: &'a [String],
    /// The folder to run in.
    pub(crate) directory: &'a Path,
    /// Variables to add.
    pub(crate) env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// Whether the app may report readiness.
    pub(crate) notify: bool,
    /// Grace time of the app for stopping.
    pub(crate) grace: Duration,
    /// Folders to remove when Hakaru is killed.
    pub(crate) folders: Vec<PathBuf>,
}

impl Tree {
    /// Spawns the command in a process group of the command's own, with output going to `log`.
    pub(crate) fn spawn(launch: Launch<'_>, log: Log) -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        let token = new_token();
        // Without the socket readiness is still seen by asking the URL.
        let notify = if launch.notify {
            NotifySocket::create().ok()
        } else {
            None
        };
        let command = command(&launch, &token, notify.as_ref());
        let mut folders = launch.folders;
        folders.extend(notify.as_ref().map(|socket| socket.folder().to_owned()));
        let (mut child, keeper) = keeper::spawn(command, notify)?;
        let pipes = (child.stdout.take(), child.stderr.take());
        let leader = child.id();
        let guard = Guard::start(Guarded {
            group: leader,
            token: token.clone(),
            grace: launch.grace,
            folders,
        });
        let seen = Mutex::default();
        let tree = Self {
            token,
            leader,
            child,
            keeper,
            guard,
            log,
            seen,
            grace: launch.grace,
            stopped: None,
        };
        if let Some(out) = pipes.0 {
            tree.log.follow(Stream::Out, out)?;
        }
        if let Some(err) = pipes.1 {
            tree.log.follow(Stream::Err, err)?;
        }
        Ok(tree)
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    pub(crate) fn notes(&self) -> Notes {
        self.keeper.notes()
    }

    /// Returns the exit status of the command; `None` while the command runs.
    pub(crate) fn leader_status(&self) -> Option<ExitStatus> {
        if let Some(stopped) = &self.stopped {
            return stopped.status;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(pid_of(self.leader)?), options).ok()??;
        let raw = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => code << 8,
            (None, Some(signal)) => signal,
            (None, None) => return None,
        };
        Some(ExitStatus::from_raw(raw))
    }

    /// Returns the exit status of the app; `None` while the app runs. A command that ended well and
    /// left processes behind has put itself into the background: the app lives on.
    pub(crate) fn exited(&self) -> Option<ExitStatus> {
        self.leader_status()
            .filter(|status| !status.success() || self.living().is_empty())
    }

    /// The living members, the leader first. Reaps members that died and have become our children.
    pub(crate) fn living(&self) -> Vec<u32> {
        let all = procfs::processes();
        let us = std::process::id();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let belongs = |process: &Process, seen: &HashMap<u32, u64>| {
            process.pid == self.leader
                || seen.get(&process.pid) == Some(&process.started)
                || (process.parent == us
                    && (process.group == self.leader || procfs::has_mark(process.pid, &self.token)))
        };
        let roots: HashSet<u32> = if self
            .stopped
            .as_ref()
            .is_some_and(|stopped| stopped.left.is_empty())
        {
            HashSet::new()
        } else {
            all.iter()
                .filter(|process| belongs(process, &seen))
                .map(|process| process.pid)
                .collect()
        };
        let family = procfs::with_descendants(&all, &roots);
        let members: Vec<&Process> = all
            .iter()
            .filter(|process| family.contains(&process.pid))
            .collect();
        *seen = members
            .iter()
            .map(|process| (process.pid, process.started))
            .collect();
        for dead in members
            .iter()
            .filter(|process| process.zombie && process.parent == us && process.pid != self.leader)
        {
            let _ = waitpid(pid_of(dead.pid), WaitOptions::NOHANG);
        }
        let mut living: Vec<u32> = members
            .iter()
            .filter(|process| !process.zombie)
            .map(|process| process.pid)
            .collect();
        living.sort_unstable_by_key(|pid| (*pid != self.leader, *pid));
        living
    }

    /// Stops all members; the second call returns what the first one did.
    pub(crate) fn stop(&mut self, grace: Duration) -> Stopped {
        if let Some(stopped) = &self.stopped {
            return stopped.clone();
        }
        self.ask_from_the_top(grace / 2);
        // A member stopped by SIGSTOP sees the request only after it is continued.
        self.signal_all(Signal::TERM);
        self.signal_all(Signal::CONT);
        self.wait_for_end(grace / 2, || {});
        let killed = self.living();
        if !killed.is_empty() {
            self.signal_all(Signal::KILL);
            self.wait_for_end(KILL_LIMIT, || self.signal_all(Signal::KILL));
        }
        let left = self.living();
        self.guard.dismiss();
        self.log.settle(Duration::from_millis(200));
        let status = self.reap_leader();
        let stopped = Stopped {
            status,
            killed,
            left,
        };
        self.stopped = Some(stopped.clone());
        stopped
    }

    fn ask_from_the_top(&self, limit: Duration) {
        let mut asked = HashSet::new();
        let mut ask = || {
            for pid in self.heads() {
                if asked.insert(pid) {
                    let is_puma = procfs::command_line(pid).contains("puma");
                    let signal = if is_puma { Signal::INT } else { Signal::TERM };
                    let _ = pid_of(pid).map(|pid| kill_process(pid, signal));
                }
            }
        };
        ask();
        self.wait_for_end(limit, ask);
    }

    /// The living members whose parents are no living members.
    fn heads(&self) -> Vec<u32> {
        let living = self.living();
        let is_head = |pid: &u32| {
            procfs::process(*pid).is_some_and(|process| !living.contains(&process.parent))
        };
        living.iter().copied().filter(is_head).collect()
    }

    fn wait_for_end(&self, limit: Duration, mut again: impl FnMut()) {
        let deadline = Instant::now() + limit;
        while !self.living().is_empty() && Instant::now() < deadline {
            thread::sleep(STOP_TICK);
            again();
        }
    }

    /// Signals the whole group at once, then every member outside the group.
    fn signal_all(&self, signal: Signal) {
        if let Some(group) = pid_of(self.leader) {
            let _ = kill_process_group(group, signal);
        }
        for pid in self.living() {
            let outside = procfs::process(pid).is_some_and(|process| process.group != self.leader);
            if let Some(pid) = pid_of(pid).filter(|_| outside) {
                let _ = kill_process(pid, signal);
            }
        }
    }

    fn reap_leader(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + Duration::from_secs(1);
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => thread::sleep(STOP_TICK),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.stop(self.grace);
    }
}

fn command(launch: &Launch<'_>, token: &str, notify: Option<&NotifySocket>) -> Command {
    let mut command = Command::new(&launch.words[0]);
    command
        .args(&launch.words[1..])
        .current_dir(launch.directory)
        .envs(launch.env.clone())
        .env(MARK, token)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    match notify {
        Some(socket) => command.env("NOTIFY_SOCKET", socket.path()),
        None => command.env_remove("NOTIFY_SOCKET"),
    };
    command
}

fn pid_of(pid: u32) -> Option<Pid> {
    Pid::from_raw(pid.cast_signed())
}

/// Returns a name unique among trees, also among trees of earlier runs of Hakaru.
fn new_token() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // Relaxed: only the uniqueness of the number matters.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{:x}-{count}", std::process::id(), now.as_nanos())
}

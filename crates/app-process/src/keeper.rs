//! Thread spawning the app and living as long as the app does.
//!
//! Two jobs need such a thread:
//! 1. The kernel's "parent died" signal is tied to the spawning *thread*: were the app spawned from
//!    a worker thread that ends, it would be terminated in the middle of a run.
//! 2. Puma writes its status to `NOTIFY_SOCKET` every second and blocks when nobody reads, which
//!    would hang its shutdown; closing the socket makes it print exceptions. So it is read to the
//!    end.
#![expect(
    unsafe_code,
    reason = "only `pre_exec` can set the parent-death signal between fork and exec"
)]

use std::io;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use tempfile::TempDir;

/// Interval of checks of the quit flag while nothing wakes the thread.
const IDLE: Duration = Duration::from_millis(500);

/// Messages of the app to `NOTIFY_SOCKET`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// Whether the app has reported readiness.
    pub(crate) ready: bool,
    /// Last status line of the app.
    pub(crate) status: Option<String>,
}

/// A datagram socket in a private folder, for `NOTIFY_SOCKET`.
pub(crate) struct NotifySocket {
    socket: UnixDatagram,
    path: PathBuf,
    /// Removes the folder when dropped.
    folder: TempDir,
}

/// Handle on the thread; dropping the handle ends the thread.
pub(crate) struct Keeper {
    notes: Arc<Mutex<Notes>>,
    quit: Arc<AtomicBool>,
    notify: Option<PathBuf>,
    thread: Option<JoinHandle<()>>,
}

impl NotifySocket {
    pub(crate) fn create() -> io::Result<Self> {
        let bind = |folder: TempDir| -> io::Result<Self> {
            let path = folder.path().join("notify");
            let socket = UnixDatagram::bind(&path)?;
            socket.set_read_timeout(Some(IDLE))?;
            Ok(Self {
                socket,
                path,
                folder,
            })
        };
        let builder = || {
            let mut builder = tempfile::Builder::new();
            builder.prefix("hakaru-");
            builder
        };
        // A socket's path has room for 107 bytes only, and TMPDIR may be longer.
        builder()
            .tempdir()
            .and_then(bind)
            .or_else(|_| builder().tempdir_in("/tmp").and_then(bind))
    }

    /// Returns the private folder of the socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Spawns `command` from a new thread, which then keeps the socket empty.
pub(crate) fn spawn(
    mut command: Command,
    notify: Option<NotifySocket>,
) -> io::Result<(Child, Keeper)> {
    die_with_this_program(&mut command);
    let notes = Arc::new(Mutex::new(Notes::default()));
    let quit = Arc::new(AtomicBool::new(false));
    let path = notify.as_ref().map(|socket| socket.path.clone());
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("app-keeper".into()).spawn({
        let (notes, quit) = (Arc::clone(&notes), Arc::clone(&quit));
        move || {
            let spawned = command.spawn();
            let failed = spawned.is_err();
            if sender.send(spawned).is_ok() && !failed {
                keep(notify.as_ref(), &notes, &quit);
            }
        }
    })?;
    let keeper = Keeper {
        notes,
        quit,
        notify: path,
        thread: Some(thread),
    };
    let child = receiver
        .recv()
        .map_err(|_| io::Error::other("the spawning thread ended"))??;
    Ok((child, keeper))
}

impl Keeper {
    pub(crate) fn notes(&self) -> Notes {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Relaxed is enough: the flag carries no other data, and the join below orders the rest.
        self.quit.store(true, Ordering::Relaxed);
        if let Some(path) = &self.notify {
            // An empty datagram wakes the thread at once; failing that, it wakes after IDLE.
            let _ = UnixDatagram::unbound().and_then(|socket| {
                socket.set_nonblocking(true)?;
                socket.send_to(&[], path)
            });
        }
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn keep(notify: Option<&NotifySocket>, notes: &Mutex<Notes>, quit: &AtomicBool) {
    let mut buffer = [0; 4096];
    while !quit.load(Ordering::Relaxed) {
        let Some(notify) = notify else {
            thread::park_timeout(IDLE);
            continue;
        };
        if let Ok(count) = notify.socket.recv(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..count]);
            notes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .read(&text);
        }
    }
}

impl Notes {
    /// Takes over the assignments of one message of the `sd_notify` protocol.
    fn read(&mut self, message: &str) {
        for line in message.lines() {
            match line.split_once('=') {
                Some(("READY", "1")) => self.ready = true,
                Some(("STATUS", status)) => self.status = Some(status.to_owned()),
                _ => {}
            }
        }
    }
}

fn die_with_this_program(command: &mut Command) {
    let parent = Pid::from_raw(std::process::id().cast_signed());
    let hook = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // If this program died before the line above, nobody would ever send the signal.
        if getppid() == parent {
            Ok(())
        } else {
            Err(io::Error::from(Errno::SRCH))
        }
    };
    // SAFETY: between fork and exec the hook makes two system calls and touches nothing but a
    // copied number: no allocation, no lock, no memory shared with the parent.
    unsafe { command.pre_exec(hook) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: &[&str], ready: bool, status: Option<&str>) {
        let mut notes = Notes::default();
        messages.iter().for_each(|message| notes.read(message));
        assert_eq!(
            notes,
            Notes {
                ready,
                status: status.map(Into::into)
            }
        );
    }

    #[test]
    fn reads_notify_messages() {
        check(&[""], false, None);
        check(&["READY=1"], true, None);
        check(&["READY=0", "READY"], false, None);
        check(
            &["STATUS=booting 1/2\nREADY=1\nMAINPID=7", "STOPPING=1"],
            true,
            Some("booting 1/2"),
        );
    }
}

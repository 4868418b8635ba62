//! Ends the app when Hakaru was killed and can no longer do so.
//!
//! The kernel's parent-death signal (`keeper.rs`) reaches the command alone: not what a shell has
//! started, and not a Puma that hangs on the signal. So a small shell waits beside the app and
//! reads a pipe that only we hold:
//! 1. We have stopped the app: we write a line, and the shell ends.
//! 2. We have died: the pipe ends without a line. The shell asks the app's group and every process
//!    with its mark to end, kills after the grace time what is left, and removes the folders of
//!    this run.
//!
//! A shell, since a fork of this program without `exec` would be one with many threads, of which
//! only async-signal-safe code may run.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::procfs::MARK;

/// Script of the guard: `$1` is the app's process group, `$2` the mark, `$3` the grace time in
/// tenths of a second; the rest are folders. `grep` reads the environments at once: a process for
/// each would take seconds.
const SCRIPT: &str = r#"
group=$1 mark=$2 patience=$3; shift 3
read -r line && exit
marked() { grep -lsaF "$mark" /proc/[0-9]*/environ | cut -d/ -f3; }
alive() { kill -s 0 -- "-$group" 2>/dev/null || [ "$(marked)" ]; }
tell() { kill -s "$1" -- "-$group" $(marked) 2>/dev/null; }
tell TERM
while alive && [ "$patience" -gt 0 ]; do patience=$((patience - 1)); sleep 0.1; done
for again in 1 2 3; do alive || break; tell KILL; sleep 0.1; done
rm -rf -- "$@"
"#;

/// The waiting shell.
pub(crate) struct Guard {
    shell: Option<Child>,
}

/// Processes to end and folders to remove.
pub(crate) struct Guarded {
    /// The app's process group.
    pub(crate) group: u32,
    /// Value of the app's mark.
    pub(crate) token: String,
    /// How long the app may take to end by itself.
    pub(crate) grace: Duration,
    /// Folders of one run alone.
    pub(crate) folders: Vec<PathBuf>,
}

impl Guard {
    /// Starts the guard. Where there is no shell, the kernel's signal is all there is.
    pub(crate) fn start(guarded: Guarded) -> Guard {
        let tenths = guarded.grace.as_millis().div_ceil(100);
        let mut words: Vec<OsString> = vec![
            guarded.group.to_string().into(),
            format!("{MARK}={}", guarded.token).into(),
            tenths.to_string().into(),
        ];
        words.extend(guarded.folders.into_iter().map(PathBuf::into_os_string));
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "hakaru-guard"])
            .args(words)
            // The terminal's Ctrl-C must not end it, and it must not keep a folder from being
            // unmounted.
            .process_group(0)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Guard { shell: shell.ok() }
    }

    /// Ends the guard, which has nothing left to do.
    pub(crate) fn dismiss(&mut self) {
        if let Some(mut shell) = self.shell.take() {
            // The line is written, and the pipe closed, before the wait; so the shell cannot stay.
            let _ = shell.stdin.take().map(|mut pipe| pipe.write_all(b"done\n"));
            let _ = shell.wait();
        }
    }
}

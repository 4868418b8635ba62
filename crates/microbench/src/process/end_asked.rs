//! The end of a process outside of Linux: asked for, again and again.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Between two looks. What is measured of a process may be so much too long.
const LOOK: Duration = Duration::from_micros(200);

/// A process whose end is waited for.
pub(super) struct End(Pid);

impl End {
    pub(super) fn of(pid: Pid) -> Result<End, Errno> {
        Ok(End(pid))
    }

    /// Waits so long at most; returns whether the process has ended.
    pub(super) fn came_within(&self, timeout: Duration) -> Result<bool, Errno> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let until = Instant::now() + timeout;
        while waitid(WaitId::Pid(self.0), options)?.is_none() {
            if Instant::now() >= until {
                return Ok(false);
            }
            std::thread::sleep(LOOK);
        }
        Ok(true)
    }
}

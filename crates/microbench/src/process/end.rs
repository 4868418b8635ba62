//! The end of a process, reported by the kernel.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// A process whose end is waited for.
pub(super) struct End(OwnedFd);

impl End {
    pub(super) fn of(pid: Pid) -> Result<End, Errno> {
        pidfd_open(pid, PidfdFlags::empty()).map(End)
    }

    /// Waits so long at most; returns whether the process has ended.
    pub(super) fn came_within(&self, timeout: Duration) -> Result<bool, Errno> {
        let timeout = Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: i64::from(timeout.subsec_nanos()),
        };
        let mut descriptors = [PollFd::new(&self.0, PollFlags::IN)];
        poll(&mut descriptors, Some(&timeout)).map(|count| count > 0)
    }
}

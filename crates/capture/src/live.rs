//! Orders to the agents of a running Puma: the number of threads to have. The other half is
//! `ruby/live.rb`, which an app has inside when it is started with `HAKARU_LIVE` set.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// A serving process ready for orders, from the first request on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveProcess {
    orders: PathBuf,
}

impl LiveProcess {
    /// Returns the process with an id and an agent with rings in `folder`; `None` when the process
    /// takes no orders.
    pub fn of(folder: &Path, pid: u32) -> Option<LiveProcess> {
        let orders = folder.join(format!("{pid}.live"));
        orders.exists().then_some(LiveProcess { orders })
    }

    /// Requests a number of threads. [`LiveProcess::threads`] returns the number in effect.
    ///
    /// # Errors
    /// When the process no longer reads orders.
    pub fn ask(&self, threads: u32) -> io::Result<()> {
        // Without waiting for one who reads.
        let mut orders = OpenOptions::new()
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(&self.orders)?;
        writeln!(orders, "{threads}")
    }

    /// Number of threads after the last order followed; `None` before.
    pub fn threads(&self) -> Option<u32> {
        let told = fs::read_to_string(self.orders.with_extension("threads"));
        told.ok()?.parse().ok()
    }
}

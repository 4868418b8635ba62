//! The process's context of every command: the current folder, and a flag for Ctrl-C.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ending::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Something the operating system refused to the process, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessError(String);

impl fmt::Display for ProcessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProcessError {}

impl From<ProcessError> for Failure {
    fn from(error: ProcessError) -> Failure {
        Failure::failed(error)
    }
}

/// Returns the folder of the program's call.
///
/// # Errors
/// It is gone, or may not be read.
pub fn current_folder() -> Result<PathBuf, ProcessError> {
    std::env::current_dir()
        .map_err(|error| ProcessError(format!("the current folder cannot be read: {error}")))
}

/// Returns a flag raised by Ctrl-C and SIGTERM: every wait checks the flag, and the run then ends
/// with the facts so far.
///
/// # Errors
/// A signal cannot be watched.
pub fn stop_flag() -> Result<Arc<AtomicBool>, ProcessError> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| ProcessError(format!("cannot watch for Ctrl-C: {error}")))?;
    }
    Ok(stop)
}

/// Waits for a time, or until the flag is raised; returns whether the time has passed.
pub fn pause(time: Duration, stop: &AtomicBool) -> bool {
    /// Short enough for a Ctrl-C to seem to act at once.
    const LOOK: Duration = Duration::from_millis(20);
    let begin = Instant::now();
    while !raised(stop) {
        let left = time.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
    false
}

/// Whether the flag has been raised. `Relaxed`: it carries no other data.
pub fn raised(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

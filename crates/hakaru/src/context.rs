//! The process's context of every command: the current folder, and a flag for Ctrl-C.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::{Exit, Failure};

/// Returns the folder of the program's call.
///
/// # Errors
/// It is gone, or may not be read.
pub(crate) fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("the current folder cannot be read: {error}"),
        )
    })
}

/// Returns a flag raised by Ctrl-C and SIGTERM: every wait checks the flag, and the run then ends
/// with the facts so far.
///
/// # Errors
/// A signal cannot be watched.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|error| {
            Failure::new(Exit::Failed, format!("cannot watch for Ctrl-C: {error}"))
        })?;
    }
    Ok(stop)
}

/// Returns the shift of the clocks reported by this process: a test plants one.
pub(crate) fn clock_shift() -> remote::Shift {
    const SHIFT: &str = "HAKARU_CLOCK_SHIFT_MS";
    let millis = std::env::var(SHIFT)
        .ok()
        .and_then(|text| text.parse::<i64>().ok());
    remote::Shift {
        nanos: millis.unwrap_or(0).saturating_mul(1_000_000),
    }
}

/// Whether the flag has been raised. `Relaxed`: it carries no other data.
pub(crate) fn raised(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

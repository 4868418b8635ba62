//! Ctrl-C and SIGTERM raise a flag that every wait looks at; the run then ends with what it has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The flag that says "stop", for the whole program.
pub(crate) fn watch() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Whether it has been raised. `Relaxed`: the flag carries no other data.
pub(crate) fn raised(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

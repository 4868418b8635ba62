//! Observers of a measurement, and the flag ending a measurement.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use app_process::CommandLine;
use recording::{Exchange, Nanos};
use words::Text;

use crate::settings::Settings;

/// A slow part of a recorded run.
#[derive(Clone, Copy, Debug)]
pub enum Phase<'a> {
    /// The command resets the data to a known state.
    Reset(&'a CommandLine),
    /// The command starts the app.
    Start(&'a CommandLine),
    /// The app is under the load of the settings.
    Load(&'a Settings),
    /// The database is asked for query plans.
    Explain,
    /// Pages for a possible cache are requested once more.
    AskAgain,
    /// The app is stopped.
    Stop,
}

/// A value whose drop ends a phase.
pub type PhaseGuard = Box<dyn Any>;

/// Takes what goes on while an app is measured. Every method but [`Observer::notice`] does nothing
/// unless it is implemented.
pub trait Observer: Send + Sync {
    /// Takes a line for the user; may be called from any thread.
    fn notice(&self, line: Text);

    /// Takes a line replacing the status before.
    fn status(&self, _line: Text) {}

    /// Removes the status line.
    fn clear_status(&self) {}

    /// Begins a phase, which ends when the returned value is dropped.
    fn enter(&self, _phase: Phase<'_>) -> PhaseGuard {
        Box::new(())
    }

    /// Takes the requests finished since the last call; `passed` counts from the begin of the load.
    fn loaded(&self, _exchanges: &[Exchange], _passed: Nanos) {}
}

/// What every measurement is given.
#[derive(Clone)]
pub struct Context {
    /// Who watches.
    pub observer: Arc<dyn Observer>,
    /// Raised by the user to end the measurement.
    pub stop: Arc<AtomicBool>,
}

impl Context {
    pub(crate) fn notice(&self, line: impl Into<Text>) {
        self.observer.notice(line.into());
    }

    /// Whether the user wants the measurement to end. `Relaxed`: the flag carries no other data.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

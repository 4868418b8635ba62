//! When the load of an experiment begins and ends, for what watches beside it.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use recording::{Exchange, Nanos};
use words::Text;

use crate::{Observer, Phase, PhaseGuard};

/// Begin and end of a load.
enum Moment {
    /// The load begins; the measured part begins after so long.
    Loads(Duration),
    /// The load is over.
    Over,
}

/// The load of one experiment, as seen by an observer of [`watched`].
pub struct WatchedLoad(Receiver<Moment>);

/// Returns an observer that passes everything on to `inner`, and the load seen by the observer. The
/// load counts as over when the observer is dropped.
pub fn watched(inner: Arc<dyn Observer>) -> (Arc<dyn Observer>, WatchedLoad) {
    let (moments, happened) = mpsc::channel();
    (Arc::new(Watch { inner, moments }), WatchedLoad(happened))
}

impl WatchedLoad {
    /// Waits for the measured part; returns false when the experiment ends before.
    pub fn wait_for_measured(&self) -> bool {
        let Ok(Moment::Loads(warmup)) = self.0.recv() else {
            return false;
        };
        matches!(self.0.recv_timeout(warmup), Err(RecvTimeoutError::Timeout))
    }

    /// Waits for the end of the load.
    pub fn wait_for_end(&self) {
        while !matches!(self.0.recv(), Ok(Moment::Over) | Err(_)) {}
    }
}

/// Passes on what is observed, and reports when the load begins and ends.
struct Watch {
    inner: Arc<dyn Observer>,
    moments: Sender<Moment>,
}

/// A phase of the load.
struct Loading {
    moments: Sender<Moment>,
    _inner: PhaseGuard,
}

impl Drop for Loading {
    fn drop(&mut self) {
        // Whoever observes may have failed.
        let _ = self.moments.send(Moment::Over);
    }
}

impl Observer for Watch {
    fn notice(&self, line: Text) {
        self.inner.notice(line);
    }

    fn status(&self, line: Text) {
        self.inner.status(line);
    }

    fn clear_status(&self) {
        self.inner.clear_status();
    }

    fn enter(&self, phase: Phase<'_>) -> PhaseGuard {
        let inner = self.inner.enter(phase);
        let Phase::Load(settings) = phase else {
            return inner;
        };
        let warmup = Duration::from_nanos(settings.plan.warmup.0);
        // As above.
        let _ = self.moments.send(Moment::Loads(warmup));
        Box::new(Loading {
            moments: self.moments.clone(),
            _inner: inner,
        })
    }

    fn loaded(&self, exchanges: &[Exchange], passed: Nanos) {
        self.inner.loaded(exchanges, passed);
    }
}

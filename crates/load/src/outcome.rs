//! Results delivered by a load during the run, and at the end.

use std::fmt;

use recording::{AnswerFacts, Exchange, Failure, Generator, Score, TextId, Window};

use crate::repeatable::Repeatable;

/// Exchanges since the last batch, about every 200 ms.
#[derive(Debug, Default)]
pub struct Batch {
    /// In order of completion within one thread.
    pub exchanges: Vec<Exchange>,
    /// New texts in the exchanges; the same text may come once from each thread.
    pub texts: Vec<(TextId, String)>,
}

/// What stands at the end of a load.
#[derive(Clone, Debug)]
pub struct LoadResult {
    /// The measured part, by due time. It ends early when the load was stopped.
    pub window: Window,
    /// CPU of the load's threads within the window, and requests due in the window and never sent.
    pub generator: Generator,
    /// One example for each entry and kind of failure, at most [`crate::FAILURES_MAX`].
    pub failures: Vec<Failure>,
    /// Points, when the scenario has a rule. Only what was due and answered in the window earns
    /// any.
    pub score: Option<Score>,
    /// Heads of the responses, from a sample.
    pub answers: Vec<AnswerFacts>,
    /// Texts named only by the exchanges.
    pub texts: Vec<(TextId, String)>,
    /// GET requests to send again.
    pub repeatables: Vec<Repeatable>,
    /// Whether `stop` or `fault` ended the load early.
    pub stopped: bool,
    /// Error of a thread, with which the load ended.
    pub fault: Option<ThreadFault>,
}

/// The first error of one of the load's threads, which ended the load of all. What the threads had
/// measured is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadFault {
    /// Number of the thread, from 1.
    pub thread: u32,
    /// What was tried, what the system said, and what may help.
    pub error: String,
    /// Ended requests of the thread, warm-up included. The figures have all.
    pub requests: u64,
}

impl fmt::Display for ThreadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "thread {} of the load failed after {} of its requests and ended the load: {}",
            self.thread, self.requests, self.error
        )
    }
}

/// Why a load could not be started or carried on.
#[derive(Debug)]
pub enum LoadError {
    /// An invalid plan.
    Plan(String),
    /// The target's name has no address.
    Resolve {
        /// Host and port.
        authority: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system refused something a load needs.
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A thread failed, and what was measured until then answers nothing.
    Thread(ThreadFault),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Plan(what) => f.write_str(what),
            LoadError::Resolve { authority, source } => write!(
                f,
                "no address found for {authority}: {source}; check the host name in the base URL"
            ),
            LoadError::System { what, source } => write!(
                f,
                "cannot {what}: {source}; fewer connections or a higher `ulimit -n` may help"
            ),
            LoadError::Thread(fault) => write!(f, "{fault}"),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadError::Plan(_) | LoadError::Thread(_) => None,
            LoadError::Resolve { source, .. } | LoadError::System { source, .. } => Some(source),
        }
    }
}

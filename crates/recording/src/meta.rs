//! Subject and conditions of a run.

use std::fmt;

use crate::Nanos;

/// Subject, time and conditions of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Wall-clock time of the start, milliseconds since 1970.
    pub started_at_unix_ms: i64,
    /// The app.
    pub target: TargetFacts,
    /// The load.
    pub load: LoadFacts,
    /// Cores available to the run.
    pub cores: u32,
    /// Whether app and generator share a host, and queue and respond are separable.
    pub same_host: bool,
    /// Cause of an early end, if there was one.
    pub ended_early: Option<EndedEarly>,
    /// Settings from the command line in place of the config file's, for programs repeating the
    /// load.
    pub typed: Typed,
}

/// Cause of a run's early end. Files keep its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedEarly {
    /// The user interrupted the run.
    Interrupted,
    /// The recording program was killed.
    CutOff,
    /// The app exited, with the given exit status.
    Died(String),
    /// A thread of the load generator failed, with the given error.
    LoadFailed(String),
    /// Anything else, in the words of a file of another version.
    Other(String),
}

const DIED: (&str, &str) = ("the app died (", ")");
const LOAD_FAILED: &str = "the load failed: ";

impl EndedEarly {
    /// Reads the text of a file.
    pub fn of_text(text: String) -> EndedEarly {
        let status = text
            .strip_prefix(DIED.0)
            .and_then(|rest| rest.strip_suffix(DIED.1));
        let error = text.strip_prefix(LOAD_FAILED);
        match (text.as_str(), status, error) {
            ("interrupted", ..) => EndedEarly::Interrupted,
            ("cut off", ..) => EndedEarly::CutOff,
            (_, Some(status), _) => EndedEarly::Died(status.to_owned()),
            (_, None, Some(error)) => EndedEarly::LoadFailed(error.to_owned()),
            _ => EndedEarly::Other(text),
        }
    }
}

impl fmt::Display for EndedEarly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndedEarly::Interrupted => f.write_str("interrupted"),
            EndedEarly::CutOff => f.write_str("cut off"),
            EndedEarly::Died(status) => write!(f, "{}{status}{}", DIED.0, DIED.1),
            EndedEarly::LoadFailed(error) => write!(f, "{LOAD_FAILED}{error}"),
            EndedEarly::Other(text) => f.write_str(text),
        }
    }
}

/// Settings typed for a run, as far as the choice of app and requests depends on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// The config file; `None` for the `hakaru.toml` of the folder, if there was one.
    pub config: Option<String>,
    /// Address of the app, with the path to request without a flow.
    pub url: Option<String>,
    /// Flows, as `FILE.hurl` or `FILE.hurl:WEIGHT`.
    pub flows: Vec<String>,
    /// The command to start the app, word by word; empty for the config file's.
    pub command: Vec<String>,
}

/// The app under measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetFacts {
    /// Command line of the app; empty for a running app.
    pub command: String,
    /// Address of the app.
    pub url: String,
    /// `ruby 3.3.8`; empty when unknown.
    pub ruby: String,
    /// `puma 6.6.0`; empty when unknown.
    pub server: String,
    /// Worker processes serving requests; 1 in single mode; 0 when unknown.
    pub workers: u32,
    /// Most threads a worker may run; 0 when unknown.
    pub threads: u32,
    /// Kind and version of the database, such as `mariadb 10.11.14`, `sqlite`; empty when unknown.
    pub database: String,
    /// Most connections of the app to the database per process; `None` when unknown.
    pub database_pool: Option<u32>,
}

impl Typed {
    /// Returns the settings with gaps filled from `before`.
    #[must_use]
    pub fn over(self, before: &Typed) -> Typed {
        let or = |words: Vec<String>, before: &Vec<String>| match words.is_empty() {
            true => before.clone(),
            false => words,
        };
        Typed {
            config: self.config.or_else(|| before.config.clone()),
            url: self.url.or_else(|| before.url.clone()),
            flows: or(self.flows, &before.flows),
            command: or(self.command, &before.command),
        }
    }
}

/// Load on the app.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadFacts {
    /// Closed or open.
    pub mode: LoadMode,
    /// Connections, in a closed load; upper limit of connections, in an open one.
    pub connections: u32,
    /// Requests due per second, in an open load.
    pub rate: Option<f64>,
    /// Length of the measured part.
    pub duration: Nanos,
    /// Length of the warm-up before the window.
    pub warmup: Nanos,
    /// Names of the flows, by the flow number of `Exchange::step`.
    pub flows: Vec<String>,
}

/// Whether the next request waits for the last response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadMode {
    /// The next request is sent when the last is answered.
    #[default]
    Closed,
    /// Requests are due at a given rate, whatever the server does.
    Open,
}

/// An error in measuring, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The missing or doubtful part, one sentence without a full stop.
    pub what: String,
    /// The remedy.
    pub remedy: String,
}

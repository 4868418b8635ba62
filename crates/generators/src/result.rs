//! The result of a generator, and the text form.

mod read;
mod write;

use std::fmt;

use load::{Interval, Measured, Part, Plan};
use load_report::StepLabel;
use recording::Nanos;
use scenario::ScoreSpec;

use crate::frame::{Frame, FrameError};
use crate::v1;

/// The measurement of one generator, with the plan of which one part was carried out.
#[derive(Clone, Debug)]
pub struct GeneratorResult {
    /// Which part.
    pub part: Part,
    /// The host's name for itself.
    pub host: String,
    /// Start of the load, warm-up included: nanoseconds since 1970 by the host's own clock.
    pub started_unix_ns: u64,
    /// The target as typed.
    pub url: String,
    /// Rate and duration, as shown in a report.
    pub plan: Plan,
    /// The steps of the figures, in order.
    pub steps: Vec<StepLabel>,
    /// What was expected of all generators together, as typed.
    pub expectations: Vec<String>,
    /// How points are given, where there is a rule.
    pub score: Option<ScoreSpec>,
    /// The measured figures.
    pub measured: Measured,
    /// The load stretch by stretch, and how long a stretch is.
    pub intervals: Vec<Interval>,
    /// Length of a stretch.
    pub every: Nanos,
}

/// Why a text is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultError {
    /// The frame is missing or not whole.
    Frame(FrameError),
    /// The text was written by another version of the program.
    Version {
        /// The format's version.
        version: u32,
    },
    /// What is in the frame cannot be used.
    Content(String),
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResultError::Frame(error) => write!(f, "{error}"),
            ResultError::Version { version } => write!(
                f,
                "holds a result of version {version}, and this program reads version {}; take the same program everywhere",
                v1::VERSION
            ),
            ResultError::Content(what) => write!(f, "holds a result that cannot be read: {what}"),
        }
    }
}

impl std::error::Error for ResultError {}

impl GeneratorResult {
    /// Returns the stored text, in a frame.
    pub fn to_text(&self) -> String {
        let document = serde_json::to_string(&write::result(self));
        Frame(document.expect("text keys and whole numbers")).to_string()
    }

    /// Reads the text, with any lines around the frame.
    ///
    /// # Errors
    /// There is no whole result in it, or one of another version.
    pub fn of_text(text: &str) -> Result<GeneratorResult, ResultError> {
        #[derive(serde::Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let Frame(document) = Frame::find(text).map_err(ResultError::Frame)?;
        let content = |error: serde_json::Error| ResultError::Content(error.to_string());
        let head: Head = serde_json::from_str(&document).map_err(content)?;
        match (head.format.as_str(), head.version) {
            (v1::FORMAT, v1::VERSION) => {}
            (_, version) => return Err(ResultError::Version { version }),
        }
        read::result(serde_json::from_str(&document).map_err(content)?)
            .map_err(ResultError::Content)
    }

    /// Returns the fields equal in all parts of one plan.
    pub(crate) fn shared(&self) -> v1::Shared {
        write::shared(self)
    }
}

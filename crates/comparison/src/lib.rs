//! The result of a comparison of two variants: measurements, claims for each row, ending, and
//! decision.
//!
//! The experiment fills a [`Comparison`], the report draws it. Claims come from
//! `stats::comparison`; here they get their direction: a lower time and a higher rate are *faster*.
//! Pure: values without I/O.

pub mod names;

use recording::Nanos;
use stats::comparison::Verdict;
use words::Text;

/// Content of a comparison for people.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The variant compared with.
    pub a: Variant,
    /// The variant compared.
    pub b: Variant,
    /// Whether both are the same on purpose, to see the noise.
    pub is_noise: bool,
    /// Throughput, then percentiles, then CPU time.
    pub rows: Vec<Row>,
    /// Number of blocks in the result.
    pub blocks: usize,
    /// Measurements repeated because of a disturbed host or a lack of responses.
    pub redone: usize,
    /// Measurements in the result in spite of a disturbed host.
    pub disturbed: usize,
    /// The least difference distinguishable from chance, as a share; `None` with too few blocks.
    pub noise_floor: Option<f64>,
    /// Whether a variant differed from itself by more than chance allows.
    pub noise_claims: bool,
    /// Reason for the end of the comparison.
    pub ending: Ending,
    /// Duration of everything, in seconds.
    pub measuring_s: f64,
    /// Wall clock at the start, milliseconds since 1970.
    pub started_at_unix_ms: i64,
    /// The load, in words.
    pub load: String,
    /// Percentiles of all measured requests of each side.
    pub curve: Vec<CurvePoint>,
    /// Measurements of each block.
    pub measured: Vec<MeasuredBlock>,
    /// Cautions about the numbers, one sentence each.
    pub notes: Vec<Text>,
    /// The finding whose remedy B is.
    pub tried: Option<Tried>,
}

impl Comparison {
    /// Returns what may be claimed of B as a whole.
    pub fn decision(&self) -> Decision {
        if matches!(self.ending, Ending::Failed(_)) {
            return Decision::Failed;
        }
        let any = |word: &str| self.rows.iter().any(|row| row.word() == word);
        match (any("faster"), any("slower"), any("same")) {
            (true, true, _) => Decision::Mixed,
            (true, false, _) => Decision::Faster,
            (false, true, _) => Decision::Slower,
            _ if any("less") => Decision::Cheaper,
            _ if any("more") => Decision::Costlier,
            (false, false, true) if self.ending == Ending::Decided => Decision::Same,
            (false, false, true) if !any("unclear") => Decision::Same,
            _ => Decision::Unclear,
        }
    }
}

/// A finding whose remedy was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Number of the run with the finding.
    pub run: i64,
    /// Number of the finding on the run's page.
    pub number: u32,
    /// Title of the finding.
    pub title: Text,
    /// The change made.
    pub remedy: Text,
    /// Whether the change was left in place.
    pub is_kept: bool,
    /// Fate of the finding, in a sentence.
    pub afterwards: Text,
}

/// One side.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// Name of the variant, different from the other's.
    pub name: String,
    /// Median time from start to readiness, seconds; `None` when the app was started by somebody
    /// else.
    pub start_s: Option<f64>,
    /// Time from the first request until response times had settled, seconds; `None` if not settled
    /// or unknown.
    pub warmup_s: Option<f64>,
    /// Requests measured.
    pub requests: u64,
    /// Failed requests among the measured.
    pub failed: u64,
    /// Greatest resident memory of all processes of the variant, the median over the boots, bytes.
    pub memory_bytes: Option<u64>,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `rps`, `p50` … `p100`, `cpu`.
    pub metric: String,
    /// Value of A: requests a second, milliseconds from due to answered, or milliseconds of the
    /// app's CPU for each request; geometric mean over the blocks.
    pub a: f64,
    /// Value of B.
    pub b: f64,
    /// Statistics of B/A over the blocks.
    pub seen: stats::comparison::Row,
}

/// End of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// The watched rows are decided.
    Decided,
    /// All blocks are there.
    #[default]
    Full,
    /// Time was up.
    Budget,
    /// The remaining measurements could not decide the comparison.
    Hopeless,
    /// Ctrl-C.
    Interrupted,
    /// A variant could not be measured; the reason, in a sentence with the variant's name.
    Failed(String),
}

/// A point of both percentile curves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Share of the requests at or below the times of the point; 1 for the greatest.
    pub share: f64,
    /// Time of A, milliseconds; `None` with too few requests for the quantile.
    pub a_ms: Option<f64>,
    /// Time of B, milliseconds.
    pub b_ms: Option<f64>,
}

/// The raw figures of a block, in the order of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredBlock {
    /// The order of the block's measurements, such as `ABBA`.
    pub order: &'static str,
    /// A's two measurements of each row.
    pub a: Vec<[f64; 2]>,
    /// B's.
    pub b: Vec<[f64; 2]>,
    /// Mean time of the watch's work on the cores meanwhile, for each of A's two measurements, and
    /// of B's. `None` if not watched.
    pub core_pace: [[Option<Nanos>; 2]; 2],
}

impl Row {
    /// Throughput is better when higher, times when lower.
    pub fn is_rate(&self) -> bool {
        self.metric == "rps"
    }

    /// Whether the row is CPU time: what a change means to users stands in the other rows.
    pub fn is_cpu(&self) -> bool {
        self.metric == "cpu"
    }

    /// Returns the claim about B.
    pub fn word(&self) -> &'static str {
        match self.seen.verdict {
            Verdict::Same => "same",
            Verdict::Unclear => "unclear",
            Verdict::Lower if self.is_cpu() => "less",
            Verdict::Higher if self.is_cpu() => "more",
            Verdict::Lower | Verdict::Higher => {
                match self.is_rate() == (self.seen.verdict == Verdict::Higher) {
                    true => "faster",
                    false => "slower",
                }
            }
        }
    }
}

/// Conclusion about B as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Faster in some rows, slower in none.
    Faster,
    /// Slower in some rows, faster in none.
    Slower,
    /// Both.
    Mixed,
    /// Less CPU for a request, and no claim on times or throughput.
    Cheaper,
    /// More CPU for a request, and no claim on times or throughput.
    Costlier,
    /// No difference worth mentioning in any of the awaited rows.
    Same,
    /// Nothing can be claimed.
    Unclear,
    /// A variant could not be measured.
    Failed,
}

impl Decision {
    /// For JSON.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Faster => "faster",
            Decision::Slower => "slower",
            Decision::Mixed => "mixed",
            Decision::Cheaper => "cheaper",
            Decision::Costlier => "costlier",
            Decision::Same => "same",
            Decision::Unclear => "unclear",
            Decision::Failed => "failed",
        }
    }
}

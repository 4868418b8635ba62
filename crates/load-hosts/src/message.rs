//! Messages between the near side and a generator, in the frames of [`remote`].

use remote::frame::KIND_MIN;
use serde::{Deserialize, Serialize};

/// Near to far: a piece of the order's text.
pub const PIECE: u8 = KIND_MIN;
/// Near to far: the order is complete; the body is the generator's part, `K/N`.
pub const ORDERED: u8 = KIND_MIN + 1;
/// Far to near: ready for the start, or not: [`Ready`].
pub const READY: u8 = KIND_MIN + 2;
/// Near to far: the start on the far monotonic clock, nanoseconds as eight bytes, the lowest first.
pub const START: u8 = KIND_MIN + 3;
/// Near to far: end the load now, with what was measured so far.
pub const STOP: u8 = KIND_MIN + 4;
/// Far to near: [`Stretch`], each second.
pub const STRETCH: u8 = KIND_MIN + 5;
/// Far to near: a piece of the result's text.
pub const RESULT: u8 = KIND_MIN + 6;
/// Far to near: the result is complete, or [`Failed`] is in the body.
pub const ENDED: u8 = KIND_MIN + 7;

/// Bytes of a text in one frame.
pub const PIECE_BYTES: usize = 512 * 1024;
/// Bytes of the longest accepted text, which both sides hold in memory.
pub const TEXT_BYTES_MAX: usize = 256 << 20;

/// Whether a generator can begin.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Ready {
    /// Why the load cannot be carried out there.
    pub error: Option<String>,
    /// Why the target accepts no connection from there; the load is sent all the same.
    pub unreachable: Option<String>,
}

/// Figures of one generator in an interval of the load.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Stretch {
    /// Number of the interval, from 0; negative in the warm-up.
    pub number: i64,
    /// Length, seconds.
    pub seconds: f64,
    /// Requests ended.
    pub requests: u64,
    /// Requests failed.
    pub failed: u64,
}

/// Why a generator, once ready, left no result.
#[derive(Debug, Serialize, Deserialize)]
pub struct Failed {
    /// A sentence.
    pub error: String,
}

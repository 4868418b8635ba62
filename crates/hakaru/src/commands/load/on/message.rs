//! Messages between the near side and a generator, in the frames of [`remote`].

use remote::frame::KIND_MIN;
use serde::{Deserialize, Serialize};

/// Near to far: a piece of the order's text.
pub(crate) const PIECE: u8 = KIND_MIN;
/// Near to far: the order is complete; the body is the generator's part, `K/N`.
pub(crate) const ORDERED: u8 = KIND_MIN + 1;
/// Far to near: ready for the start, or not: [`Ready`].
pub(crate) const READY: u8 = KIND_MIN + 2;
/// Near to far: the start on the far monotonic clock, nanoseconds as eight bytes, the lowest first.
pub(crate) const START: u8 = KIND_MIN + 3;
/// Near to far: end the load now, with what was measured so far.
pub(crate) const STOP: u8 = KIND_MIN + 4;
/// Far to near: [`Stretch`], each second.
pub(crate) const STRETCH: u8 = KIND_MIN + 5;
/// Far to near: a piece of the result's text.
pub(crate) const RESULT: u8 = KIND_MIN + 6;
/// Far to near: the result is complete, or [`Failed`] is in the body.
pub(crate) const ENDED: u8 = KIND_MIN + 7;

/// Bytes of a text in one frame.
pub(crate) const PIECE_BYTES: usize = 512 * 1024;
/// Bytes of the longest accepted text, which both sides hold in memory.
pub(crate) const TEXT_BYTES_MAX: usize = 256 << 20;

/// Whether a generator can begin.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ready {
    /// Why the load cannot be carried out there.
    pub(crate) error: Option<String>,
    /// Why the target accepts no connection from there; the load is sent all the same.
    pub(crate) unreachable: Option<String>,
}

/// Figures of one generator in an interval of the load.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stretch {
    /// Number of the interval, from 0; negative in the warm-up.
    pub(crate) number: i64,
    /// Length, seconds.
    pub(crate) seconds: f64,
    /// Requests ended.
    pub(crate) requests: u64,
    /// Requests failed.
    pub(crate) failed: u64,
}

/// Why a generator, once ready, left no result.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failed {
    /// A sentence.
    pub(crate) error: String,
}

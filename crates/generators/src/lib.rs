//! One load plan over several generators: the result of each, and merging without loss.
//!
//! A generator carries out its part of a plan ([`load::Part`]) and leaves a [`GeneratorResult`]:
//! histograms, counts, failures, and the plan itself. [`merge()`] adds them up; what was expected
//! is judged once, afterwards. A part that left nothing is an error that names it: fewer generators
//! are no smaller run.
//!
//! Pure. Start reading at [`GeneratorResult`], then [`merge()`].

mod codec;
mod frame;
mod merge;
mod order;
mod result;
mod v1;

pub use frame::{Frame, FrameError};
pub use merge::{Given, MergeError, Merged, merge};
pub use order::{Order, OrderError};
pub use result::{GeneratorResult, ResultError};

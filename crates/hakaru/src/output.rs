//! The output of the program beside [`console`]: pages of the documentation, files for a browser,
//! and the progress of a measurement.

pub(crate) mod html;
mod live;
pub(crate) mod markdown;
pub(crate) mod observer;

pub(crate) use console::*;

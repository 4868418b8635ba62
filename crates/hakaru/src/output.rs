//! The output of the program: [`console`], and the progress of a measurement.

pub(crate) mod observer;

pub(crate) use console::*;

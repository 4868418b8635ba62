//! Collects facts from rings, /proc and database servers for the length of a run.

mod host;

pub use host::{HostError, HostSampler};

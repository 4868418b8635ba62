//! Collects facts from rings, /proc and database servers for the length of a run. It interprets nothing.

mod agent_library;
mod host;
mod rings;

pub use agent_library::unpack_agent;
pub use host::{HostError, HostSampler};
pub use rings::{Polled, Rings, ServerFacts};

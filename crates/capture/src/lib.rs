//! Collects facts from rings, /proc and database servers for the length of a run. It interprets
//! nothing.

mod agent_library;
mod catalogue;
mod cores;
mod cpu_clock;
mod database;
mod explain;
mod host;
mod live;
mod processes;
mod profile;
mod rings;

pub use agent_library::{StandbyAgent, place_agent, unpack_agent};
pub use catalogue::{Catalogue, NamedRow};
pub use cores::CoreWatch;
pub use cpu_clock::cpu_time_of;
pub use database::{DatabaseWatch, OWN_STATEMENTS, WatchTimes, Watched};
pub use explain::{ExplainError, ExplainLimits, Explained, SkipReason, explain};
pub use host::{HostError, HostSampler};
pub use live::LiveProcess;
pub use processes::{ProcessUse, all_processes, connections_opened, processes_named};
pub use profile::{Counted, ProfileCollector, Site};
pub use ring::{StandbyError, TroubleKind};
pub use rings::{Polled, Rings, ServerFacts, standby_folders, step_back};

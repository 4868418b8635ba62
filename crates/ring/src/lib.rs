//! The shared-memory format between agent and capture, versioned.
//!
//! One ring has one producer (a native thread inside the app) and one consumer (capture). It is a
//! file that both sides map: a header of one page, then `capacity` bytes used in a circle. A record
//! is copied in whole before `head` moves, so a producer that is killed leaves nothing half-written
//! behind; a full ring drops the record and counts it, so a slow consumer never delays the app.
//!
//! Start at [`Writer`] and [`Reader`]; what the records say is in [`Record`].
#![expect(unsafe_code, reason = "maps shared memory")]

mod folder;
mod layout;
mod profile;
mod reader;
mod record;
mod request;
mod standby;
mod trouble;
mod writer;

pub use folder::{check_folder, is_plain, never_through_links};
pub use layout::{CAPACITY_BYTES_MAX, CAPACITY_BYTES_MIN, VERSION};
pub use profile::{ProfileRecord, ProfileTotals, SampleRecord, Seen, ToldRequest};
pub use reader::{ReadError, Reader};
pub use record::{Hello, Record, RuntimeRecord, TextKind};
pub use request::{ActRecord, BURSTS_MAX, RequestRecord, RequestView, SqlRecord};
pub use standby::{Reading, Standby, StandbyError};
pub use trouble::TroubleKind;
pub use writer::{Place, Writer};

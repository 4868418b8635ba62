//! Layout of a ring file.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// Version of the layout and of the records; both sides refuse another one.
pub const VERSION: u32 = 2;

/// Smallest data area: the largest record must fit in.
pub const CAPACITY_BYTES_MIN: usize = 64 << 10;

/// Largest data area.
pub const CAPACITY_BYTES_MAX: usize = 64 << 20;

pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"HAKARURB");

/// Bytes of the header: one page, to align the data area to pages.
pub(crate) const HEADER_BYTES: usize = 4096;

/// Length and kind stand before each record, and every record starts at a multiple of eight.
pub(crate) const FRAME_BYTES: usize = 8;

/// The first bytes of the file. Fields are grouped by who may write them, each group on cache lines
/// of its own, so that producer and consumer do not fight over one.
#[repr(C)]
pub(crate) struct Header {
    /// Written once by the producer, `magic` last and with `Release`: who reads the right magic
    /// with `Acquire` reads the rest of the group.
    pub magic: AtomicU64,
    pub version: AtomicU32,
    pub pid: AtomicU32,
    pub tid: AtomicU32,
    _unused: u32,
    pub capacity: AtomicU64,
    _pad0: [u64; 4],
    /// Written by the producer only. `head` counts bytes ever written; its `Release` store
    /// publishes the bytes before it to the consumer's `Acquire` load.
    pub head: AtomicU64,
    pub dropped: AtomicU64,
    pub requests: AtomicU64,
    pub events: AtomicU64,
    pub statements: AtomicU64,
    /// 1 when the producer will write no more.
    pub closed: AtomicU32,
    _unused1: u32,
    _pad1: [u64; 2],
    /// Written by the consumer only. `tail` counts bytes ever read; its `Release` store shows the
    /// producer's `Acquire` load that these bytes may be overwritten.
    pub tail: AtomicU64,
}

const _: () = assert!(size_of::<Header>() <= HEADER_BYTES);

/// Returns the bytes taken by a payload in the ring, frame included.
pub(crate) fn framed_bytes(payload_bytes: usize) -> usize {
    (FRAME_BYTES + payload_bytes).next_multiple_of(8)
}

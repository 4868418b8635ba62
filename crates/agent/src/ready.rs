//! Times of complete requests in Puma, passed from the reading thread to the handling one.
//!
//! A small table by request number instead of a value in the request's env: the app must not see
//! it. Two requests that fall on one slot at the same moment cost one of them its stamp, no more.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const SLOTS: usize = 1024;

struct Slot {
    id: AtomicU64,
    at: AtomicU64,
}

static TABLE: [Slot; SLOTS] = [const {
    Slot {
        id: AtomicU64::new(0),
        at: AtomicU64::new(0),
    }
}; SLOTS];

/// Records the completion of a request at `at`, monotonic nanoseconds.
pub(crate) fn note(id: u64, at: u64) {
    let slot = slot(id);
    slot.at.store(at, Relaxed);
    // Pairs with the load in `take`: who reads the number reads its time.
    slot.id.store(id, Release);
}

/// Returns the time of the request's completion, monotonic nanoseconds; 0 without a record.
pub(crate) fn take(id: u64) -> u64 {
    let slot = slot(id);
    if id != 0 && slot.id.load(Acquire) == id {
        slot.at.load(Relaxed)
    } else {
        0
    }
}

fn slot(id: u64) -> &'static Slot {
    &TABLE[id as usize % SLOTS]
}

#[cfg(test)]
mod tests {
    use super::{SLOTS, note, take};

    #[test]
    fn a_stamp_is_found_by_its_number_alone() {
        note(7, 70);
        assert_eq!(take(7), 70);
        assert_eq!(take(7 + SLOTS as u64), 0);
        assert_eq!(take(0), 0);
        note(7 + SLOTS as u64, 71);
        assert_eq!(take(7), 0, "another request has taken the place");
    }
}

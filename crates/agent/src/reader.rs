//! Whether somebody reads the rings.
//!
//! An app that Hakaru starts has a reader from its start to its end. One that somebody else starts
//! stands by: nothing is hooked or recorded until a reader gives its sign, and each reader gets
//! rings of its own, so that it finds no leftovers and every text and fact is reported to it.

use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use ring::Standby;

use crate::clock::monotonic_ns;
use crate::process;

/// Between two looks for the file with the sign, nanoseconds.
const LOOK_EVERY_NS: u64 = 1_000_000_000;

/// The mapped sign, never freed: any thread may be reading.
static SIGN: AtomicPtr<Standby> = AtomicPtr::new(null_mut());

/// Time of the next look, monotonic nanoseconds.
static LOOK_AT: AtomicU64 = AtomicU64::new(0);

/// Whether requests are to be recorded now.
pub(crate) fn is_there() -> bool {
    !process::stands_by() || is_signed()
}

/// Number of the reader; always 0 in an app not on standby.
pub(crate) fn epoch() -> u32 {
    match process::stands_by() {
        true => sign().map_or(0, Standby::epoch),
        false => 0,
    }
}

#[inline(never)]
fn is_signed() -> bool {
    let now = monotonic_ns();
    let holds = || sign().is_some_and(|sign| sign.until() > now);
    holds() || (look(now) && holds())
}

fn sign() -> Option<&'static Standby> {
    // SAFETY: null, or a box leaked by `look`.
    unsafe { SIGN.load(Acquire).as_ref() }
}

/// Makes or finds the file with the sign; returns whether the file is another than before.
/// Outside of hooks, about once a second for one thread.
fn look(now: u64) -> bool {
    let at = LOOK_AT.load(Relaxed);
    let next = now + LOOK_EVERY_NS;
    let is_mine = now >= at && LOOK_AT.compare_exchange(at, next, Relaxed, Relaxed).is_ok();
    let Some(settings) = process::settings().filter(|_| is_mine) else {
        return false;
    };
    if sign().is_some_and(|sign| sign.is_in(&settings.folder)) {
        return false;
    }
    // A folder that cannot be made or is somebody else's: its reader finds no agent, and says so.
    let Ok(found) = Standby::open(&settings.folder) else {
        return false;
    };
    SIGN.swap(Box::into_raw(Box::new(found)), AcqRel);
    true
}

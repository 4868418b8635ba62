//! Instants and lengths of time.

use std::ops::{Add, AddAssign, Sub};

/// An instant on the host's `CLOCK_MONOTONIC`, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nanos(pub u64);

/// A stretch of time, `start` included, `end` not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// First instant inside the window.
    pub start: Timestamp,
    /// First instant after the window.
    pub end: Timestamp,
}

impl Timestamp {
    /// Returns the instant of a reading of `CLOCK_MONOTONIC` in nanoseconds.
    pub const fn from_monotonic_nanos(nanos: u64) -> Self {
        Timestamp(nanos)
    }

    /// The reading of `CLOCK_MONOTONIC`, in nanoseconds.
    pub const fn monotonic_nanos(self) -> u64 {
        self.0
    }

    /// Returns the instant one nanosecond before.
    pub const fn before(self) -> Timestamp {
        Timestamp(self.0.saturating_sub(1))
    }

    /// Time passed since `earlier`, zero when `earlier` is later.
    pub const fn since(self, earlier: Timestamp) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// Returns the signed nanoseconds from `earlier` to `self`.
    pub const fn signed_since(self, earlier: Timestamp) -> i64 {
        self.0 as i64 - earlier.0 as i64
    }
}

impl Add<Nanos> for Timestamp {
    type Output = Timestamp;
    fn add(self, length: Nanos) -> Timestamp {
        Timestamp(self.0.saturating_add(length.0))
    }
}

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);

    /// Returns the duration in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the duration in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl std::iter::Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(iter: I) -> Nanos {
        iter.fold(Nanos::ZERO, Add::add)
    }
}

impl Window {
    /// Whether `at` lies in the window.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }

    /// Returns the length of the window.
    pub fn length(&self) -> Nanos {
        self.end.since(self.start)
    }
}

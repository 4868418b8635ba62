//! A limit of bytes per second in each direction of a non-blocking stream.
//!
//! A direction moves a piece, then rests for as long as the piece takes at the limit. Reads and
//! writes during a rest report that they would block, and the worker tries them again
//! when the rest is over: no event of the socket announces that time.

use recording::{Nanos, Timestamp};

/// Pieces of a transfer, per second.
const PIECES_PER_SECOND: u64 = 20;
/// Longest rest to make up for when a piece moved late.
const CATCH_UP: Nanos = Nanos(1_000_000_000 / PIECES_PER_SECOND);

/// Returns the bytes of one piece; at least one.
pub(crate) fn piece(bytes_per_second: u64) -> usize {
    usize::try_from((bytes_per_second / PIECES_PER_SECOND).max(1)).unwrap_or(usize::MAX)
}

/// The state of both directions.
#[derive(Debug)]
pub(crate) struct Throttle {
    bytes_per_second: u64,
    down: Direction,
    up: Direction,
    /// When the stream is to be tried again, once known to the worker.
    armed: Option<Timestamp>,
    /// Whether an event has announced the end of the other side.
    pub(crate) has_ended: bool,
}

/// One direction.
#[derive(Debug, Default)]
pub(crate) struct Direction {
    /// End of the rest behind the last piece.
    rests_until: Timestamp,
    /// Whether something was to move during the rest.
    is_wanted: bool,
}

impl Throttle {
    /// Returns a throttle for a new connection; a limit of zero moves a byte at a time.
    pub(crate) fn new(bytes_per_second: u64) -> Throttle {
        Throttle {
            bytes_per_second: bytes_per_second.max(1),
            down: Direction::default(),
            up: Direction::default(),
            armed: None,
            has_ended: false,
        }
    }

    /// Greatest number of bytes to read now; 0 during a rest.
    pub(crate) fn readable(&mut self, now: Timestamp) -> usize {
        self.down.piece(self.bytes_per_second, now)
    }

    /// Greatest number of bytes to write now; 0 during a rest.
    pub(crate) fn writable(&mut self, now: Timestamp) -> usize {
        self.up.piece(self.bytes_per_second, now)
    }

    /// Begins the rest behind read bytes.
    pub(crate) fn has_read(&mut self, bytes: usize, now: Timestamp) {
        self.down.rest(self.bytes_per_second, bytes, now);
    }

    /// Begins the rest behind written bytes.
    pub(crate) fn has_written(&mut self, bytes: usize, now: Timestamp) {
        self.up.rest(self.bytes_per_second, bytes, now);
    }

    /// Returns when to try the stream again, unless the time has been returned already.
    pub(crate) fn take_resume(&mut self) -> Option<Timestamp> {
        let ends = [&self.down, &self.up].into_iter();
        let wanted = ends.filter(|one| one.is_wanted).map(|one| one.rests_until);
        let at = wanted.min()?;
        if self.armed.is_some_and(|armed| armed <= at) {
            return None;
        }
        self.armed = Some(at);
        Some(at)
    }

    /// Returns whether `at` is the time last returned by [`Throttle::take_resume`]; if so, all
    /// wishes are over, since both directions are tried now.
    pub(crate) fn resumes(&mut self, at: Timestamp) -> bool {
        let is_due = self.armed == Some(at);
        if is_due {
            self.armed = None;
            (self.down.is_wanted, self.up.is_wanted) = (false, false);
        }
        is_due
    }
}

impl Direction {
    fn piece(&mut self, bytes_per_second: u64, now: Timestamp) -> usize {
        self.is_wanted = now < self.rests_until;
        match self.is_wanted {
            true => 0,
            false => piece(bytes_per_second),
        }
    }

    fn rest(&mut self, bytes_per_second: u64, bytes: usize, now: Timestamp) {
        let takes = bytes as u128 * 1_000_000_000 / u128::from(bytes_per_second);
        let takes = Nanos(u64::try_from(takes).unwrap_or(u64::MAX));
        let late = now.since(self.rests_until).min(CATCH_UP);
        self.rests_until = now + Nanos(takes.0.saturating_sub(late.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_monotonic_nanos(1_000_000_000 + millis * 1_000_000)
    }

    /// Reads as much as allowed at each of the times; returns the sizes.
    fn reads(throttle: &mut Throttle, times: &[u64]) -> Vec<usize> {
        let read = |millis: &u64| {
            let bytes = throttle.readable(at(*millis));
            if bytes > 0 {
                throttle.has_read(bytes, at(*millis));
            }
            bytes
        };
        times.iter().map(read).collect()
    }

    #[test]
    fn a_direction_moves_as_many_bytes_as_the_limit_allows() {
        let mut throttle = Throttle::new(20_000);
        // A new connection has a piece of 50 ms in hand, so the second follows at once.
        assert_eq!(reads(&mut throttle, &[0, 0]), [1_000, 1_000]);
        assert_eq!(
            reads(&mut throttle, &[49, 50, 99, 100]),
            [0, 1_000, 0, 1_000]
        );
        // What came late is made up for once, and no more.
        assert_eq!(
            reads(&mut throttle, &[900, 901, 949, 950]),
            [1_000, 1_000, 0, 1_000]
        );
    }

    #[test]
    fn a_slow_limit_moves_single_bytes() {
        let mut throttle = Throttle::new(2);
        assert_eq!(
            reads(&mut throttle, &[0, 449, 450, 949, 950]),
            [1, 0, 1, 0, 1]
        );
    }

    #[test]
    fn a_wish_during_a_rest_arms_one_wake_up() {
        let mut throttle = Throttle::new(20_000);
        assert_eq!(throttle.take_resume(), None);
        reads(&mut throttle, &[0, 0]);
        assert_eq!(throttle.take_resume(), None);
        reads(&mut throttle, &[10]);
        assert_eq!(throttle.take_resume(), Some(at(50)));
        reads(&mut throttle, &[20]);
        assert_eq!(throttle.take_resume(), None);
        // The other direction rests for less.
        throttle.has_written(100, at(20));
        throttle.has_written(100, at(20));
        assert_eq!(throttle.writable(at(21)), 0);
        let sooner = throttle.take_resume().expect("an earlier time");
        assert!(sooner < at(50));
        assert!(!throttle.resumes(at(50)));
        assert!(throttle.resumes(sooner));
        assert_eq!(throttle.take_resume(), None);
        assert_eq!(throttle.readable(sooner), 0);
        assert_eq!(throttle.take_resume(), Some(at(50)));
    }
}

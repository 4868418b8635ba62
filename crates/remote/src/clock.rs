//! Offset of another host's clock from ours, with a bound of the error. Pure.
//!
//! A round trip says that the far clock was read somewhere between its sending and its return: the
//! middle is the guess, half the round trip the bound. The nearer in time a round trip is, the less
//! the clocks can have drifted since; of several the one with the least bound is taken, which is
//! the shortest unless it is old.

/// How fast two clocks may drift apart, parts per million. Crystals keep within 100; a daemon that
/// sets a clock right slews it by up to 500 (adjtimex(2)).
const DRIFT_PPM: u64 = 500;

/// One reading of a far clock, with the times of sending and receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// When the request was sent, nanoseconds on our clock.
    pub sent_ns: i64,
    /// When the reply had come, nanoseconds on our clock.
    pub received_ns: i64,
    /// Reading of the far clock, nanoseconds.
    pub far_ns: i64,
}

/// What is known of a far clock at an instant of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// Far minus ours, nanoseconds.
    pub nanos: i64,
    /// Greatest distance of the true offset from `nanos`, nanoseconds.
    pub bound_ns: u64,
    /// Whether all round trips agree with one clock; otherwise the clock was set in between, and
    /// the bound holds near the nearest of the round trips only.
    pub is_steady: bool,
}

impl Offset {
    /// Returns our instant at which the far clock shows `far_ns`.
    pub fn to_ours(self, far_ns: i64) -> i64 {
        far_ns.saturating_sub(self.nanos)
    }
}

/// Returns the offset at `at_ns` of our clock; `None` without a round trip.
pub fn offset_at(trips: &[RoundTrip], at_ns: i64) -> Option<Offset> {
    let known = trips.iter().map(|trip| trip.at(at_ns));
    let best = known.clone().min_by_key(|(_, bound)| *bound)?;
    let low = known.clone().map(|(nanos, bound)| nanos - bound).max()?;
    let high = known.map(|(nanos, bound)| nanos + bound).min()?;
    Some(Offset {
        nanos: i64::try_from(best.0).unwrap_or(i64::MAX),
        bound_ns: u64::try_from(best.1).unwrap_or(u64::MAX),
        is_steady: low <= high,
    })
}

impl RoundTrip {
    /// Returns offset and bound at an instant, by one round trip alone.
    fn at(&self, at_ns: i64) -> (i128, i128) {
        let (sent, received) = (i128::from(self.sent_ns), i128::from(self.received_ns));
        let middle = (sent + received) / 2;
        // Rounded up, so that the bound holds to the last nanosecond.
        let half = (received - sent + 1) / 2;
        let away = (i128::from(at_ns) - middle).abs();
        let drift = away * i128::from(DRIFT_PPM) / 1_000_000;
        (i128::from(self.far_ns) - middle, half + drift + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;
    const SECOND: i64 = 1_000 * MS;

    /// A far clock with an offset and a drift.
    #[derive(Clone, Copy, Debug)]
    struct Far {
        offset_ns: i64,
        drift_ppm: i64,
    }

    impl Far {
        fn at(self, ours_ns: i64) -> i64 {
            ours_ns
                + self.offset_ns
                + (ours_ns as i128 * i128::from(self.drift_ppm) / 1_000_000) as i64
        }

        fn asked(self, sent_ns: i64, there_ns: i64, back_ns: i64) -> RoundTrip {
            RoundTrip {
                sent_ns,
                received_ns: sent_ns + there_ns + back_ns,
                far_ns: self.at(sent_ns + there_ns),
            }
        }
    }

    #[test]
    fn three_hundred_milliseconds_either_way_are_found_to_a_tenth_of_one() {
        for offset_ns in [-300 * MS, 300 * MS] {
            let far = Far {
                offset_ns,
                drift_ppm: 0,
            };
            let trips = [
                far.asked(0, 40 * MS, MS),
                far.asked(SECOND, MS / 10, MS / 20),
            ];
            let offset = offset_at(&trips, SECOND).expect("an offset");
            assert!((offset.nanos - offset_ns).abs() <= MS / 10, "{offset:?}");
            assert!(offset.bound_ns < MS as u64 / 5, "{offset:?}");
            assert!(offset.is_steady);
        }
        assert_eq!(offset_at(&[], 0), None);
    }

    #[test]
    fn a_clock_that_was_set_in_between_is_not_steady() {
        let before = Far {
            offset_ns: 0,
            drift_ppm: 0,
        };
        let after = Far {
            offset_ns: 300 * MS,
            drift_ppm: 0,
        };
        let trips = [before.asked(0, MS, MS), after.asked(60 * SECOND, MS, MS)];
        let offset = offset_at(&trips, 60 * SECOND).expect("an offset");
        assert!(!offset.is_steady);
        assert!((offset.nanos - 300 * MS).abs() <= offset.bound_ns as i64);
    }

    proptest! {
        #[test]
        fn the_true_offset_is_within_the_bound(
            offset_ns in -300 * MS..=300 * MS,
            drift_ppm in -100i64..=100,
            asked in vec((0..60 * SECOND, 0..50 * MS, 0..50 * MS), 1..30),
            at_ns in 0..60 * SECOND,
        ) {
            let far = Far { offset_ns, drift_ppm };
            let trips: Vec<RoundTrip> =
                asked.iter().map(|(sent, there, back)| far.asked(*sent, *there, *back)).collect();
            let offset = offset_at(&trips, at_ns).expect("an offset");
            let truth = far.at(at_ns) - at_ns;
            prop_assert!((offset.nanos - truth).unsigned_abs() <= offset.bound_ns, "{:?} of {}", offset, truth);
            prop_assert!(offset.is_steady);
            let shortest = trips.iter().map(|trip| trip.received_ns - trip.sent_ns).min().unwrap_or(0);
            let drift = 60 * SECOND / 2_000;
            prop_assert!(offset.bound_ns <= (shortest / 2 + drift + 2) as u64);
        }
    }
}

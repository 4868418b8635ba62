//! Which requests carry a number, and which number.
//!
//! The app records each request that carries one. At tens of thousands a second that would cost
//! the app some percent, and nobody reads so many. So a load with a higher rate than its plan wants
//! numbered thins them out: a random half of the requests carries one, a quarter, and so on. After
//! the first half second their share changes at most twice a second and only when it is off by more
//! than a half, so that it does not follow bursts: those would be missing from the sample.

use recording::{Nanos, RequestId, Timestamp};

use crate::plan::Numbered;

/// Low bits of a number, used for counting; the run's bits stand above.
const COUNT_MASK: u64 = (1 << 40) - 1;
/// Time over which the rate of requests is counted.
const WINDOW: Nanos = Nanos(500_000_000);
/// Length of the first window, doubled each time: ten thousand records in the first half second may
/// be more than a reader on a busy host can follow. So is the first one after the share has grown:
/// a pause of the host looks like a thin load, and the dense one goes on after it.
const WINDOW_FIRST: Nanos = Nanos(50_000_000);
/// Ratio of numbered to wanted requests from which the share is halved, and the ratio below which
/// the share is doubled. More than a factor of two lies between, so that neither calls for the
/// other.
const TOO_MANY: f64 = 1.5;
const TOO_FEW: f64 = 0.6;
/// Greatest number of halvings, one request in a million: no server is fast enough to need more.
const HALVINGS_MAX: u32 = 20;
/// Constant mixed into the seed: the pacer uses the plan's seed unchanged, and distances must be
/// independent of the draws.
const SEED_BITS: u64 = 0x4861_6b61_7275_0000;

/// The numbers of one thread's requests.
pub(crate) struct Ids {
    base: u64,
    threads: u64,
    number: u64,
    begun: u64,
    thinning: Thinning,
}

/// Random selection of requests with a number.
struct Thinning {
    /// Wanted numbers of the thread per second; `None` for a given share.
    per_second: Option<f64>,
    /// One request in `1 << halvings` carries a number.
    halvings: u32,
    window: Nanos,
    window_start: Timestamp,
    window_requests: u64,
    random: fastrand::Rng,
}

impl Ids {
    /// `number` counts the threads from zero.
    pub(crate) fn new(
        base: u64,
        numbered: Numbered,
        seed: u64,
        start: Timestamp,
        (number, threads): (u32, u32),
    ) -> Ids {
        let (per_second, halvings) = match numbered {
            Numbered::All => (None, 0),
            Numbered::UpTo { per_second } => (Some(per_second / f64::from(threads)), 0),
            Numbered::Halved(halvings) => (None, halvings.min(HALVINGS_MAX)),
        };
        Ids {
            base: base & !COUNT_MASK & !RequestId::THINNED.0,
            threads: u64::from(threads),
            number: u64::from(number),
            begun: 0,
            thinning: Thinning {
                per_second,
                halvings,
                window: WINDOW_FIRST,
                window_start: start,
                window_requests: 0,
                random: fastrand::Rng::with_seed(seed ^ SEED_BITS ^ u64::from(number)),
            },
        }
    }

    /// Returns the number of the next request, due at `due`; zero for a request without one.
    pub(crate) fn next(&mut self, due: Timestamp) -> RequestId {
        self.begun += 1;
        if !self.thinning.draws(due) {
            return RequestId::default();
        }
        let count = self.begun * self.threads + self.number;
        let thinned = match self.thinning.halvings {
            0 => 0,
            _ => RequestId::THINNED.0,
        };
        RequestId(self.base | thinned | (count & COUNT_MASK))
    }
}

impl Thinning {
    fn draws(&mut self, now: Timestamp) -> bool {
        let passed = now.since(self.window_start);
        if passed >= self.window {
            let halvings = self.halvings;
            self.settle(self.window_requests as f64 / passed.as_secs_f64());
            self.window = match self.halvings < halvings {
                true => WINDOW_FIRST,
                false => Nanos(2 * self.window.0).min(WINDOW),
            };
            self.window_start = now;
            self.window_requests = 0;
        }
        self.window_requests += 1;
        self.halvings == 0 || self.random.u64(..) >> (u64::BITS - self.halvings) == 0
    }

    /// Chooses the share for a rate in requests per second.
    fn settle(&mut self, rate: f64) {
        let Some(wanted) = self.per_second else {
            return;
        };
        let numbered = |halvings: u32| rate / f64::from(1u32 << halvings);
        while self.halvings < HALVINGS_MAX && numbered(self.halvings) > TOO_MANY * wanted {
            self.halvings += 1;
        }
        while self.halvings > 0 && numbered(self.halvings) < TOO_FEW * wanted {
            self.halvings -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_monotonic_nanos(nanos)
    }

    /// How many of the requests in each second carry a number, at `rates` requests a second one
    /// after the other.
    fn numbered(numbered: Numbered, rates: &[u64]) -> Vec<u64> {
        let mut ids = Ids::new(u64::MAX, numbered, 1, at(0), (0, 1));
        let second = |(number, rate): (usize, &u64)| {
            let dues = (0..*rate).map(|k| at(number as u64 * SECOND + k * SECOND / rate));
            let carries = |due: &Timestamp| !ids.next(*due).is_none();
            dues.filter(carries).count() as u64
        };
        rates.iter().enumerate().map(second).collect()
    }

    const WANTED: Numbered = Numbered::UpTo {
        per_second: 1_000.0,
    };

    #[test]
    fn a_load_that_is_not_dense_is_numbered_wholly() {
        let rates = [900, 1_400, 10, 1_400];
        assert_eq!(numbered(WANTED, &rates), rates);
        assert_eq!(numbered(Numbered::All, &[50_000]), [50_000]);
    }

    #[test]
    fn a_dense_one_is_thinned_out_and_a_thin_one_numbered_again() {
        let found = numbered(WANTED, &[20_000, 20_000, 20_000, 100, 100]);
        let near = |found: u64, wanted: u64| found.abs_diff(wanted) < wanted / 5;
        assert!(near(found[1], 1_250) && near(found[2], 1_250), "{found:?}");
        assert_eq!(found[4], 100);
    }

    #[test]
    fn a_load_that_is_dense_from_the_beginning_is_thinned_out_soon() {
        let found = numbered(WANTED, &[20_000]);
        assert!((1_900..2_600).contains(&found[0]), "{found:?}");
    }

    #[test]
    fn a_dense_load_stays_thinned_out_after_a_pause() {
        let mut ids = Ids::new(0, WANTED, 1, at(0), (0, 1));
        let dense = |start: u64| (0..40_000).map(move |k| at(start + k * 50_000));
        let _ = dense(0).map(|due| ids.next(due)).count();
        let after = dense(10 * SECOND).map(|due| ids.next(due));
        let numbered = after.take(10_000).filter(|id| !id.is_none()).count();
        assert!(numbered < 2_000, "{numbered} in half a second");
    }

    #[test]
    fn a_burst_in_a_thin_load_is_numbered_wholly() {
        let mut ids = Ids::new(0, WANTED, 1, at(0), (0, 1));
        for second in 0..5 {
            let burst = (0..700).map(|k| at(second * SECOND + k * 1_000));
            assert!(burst.map(|due| ids.next(due)).all(|id| !id.is_none()));
        }
    }

    #[test]
    fn numbers_are_told_apart_and_say_that_others_are_missing() {
        let mut all = std::collections::HashSet::new();
        for number in 0..3 {
            let mut ids = Ids::new(u64::MAX, Numbered::Halved(1), 1, at(0), (number, 3));
            let carried = (0..1_000).map(|_| ids.next(at(0)));
            all.extend(carried.filter(|id| !id.is_none()));
        }
        assert!((1_300..1_700).contains(&all.len()), "{}", all.len());
        assert!(all.iter().all(|id| id.is_thinned()));
        let id = Ids::new(u64::MAX, Numbered::All, 1, at(0), (0, 1)).next(at(0));
        assert!(!id.is_thinned());
    }
}

//! Times of ticks, and the interval in between. Pure: time and cost are handed in.

/// The sampler's share of a core, at most.
pub(super) const BUDGET: f64 = 0.01;
/// Longest interval, ns, whatever the cost.
pub(super) const INTERVAL_MAX: u64 = 100_000_000;

/// Times of ticks: the n-th at a random moment of the n-th interval, without drift and without
/// beating in time with the program.
pub(super) struct Schedule {
    begin: u64,
    pub(super) interval: u64,
    /// Ticks so far, missed ones included.
    count: u64,
    random: u64,
}

impl Schedule {
    pub(super) fn new(begin: u64, interval: u64) -> Schedule {
        Schedule {
            begin,
            interval,
            count: 0,
            random: begin | 1,
        }
    }

    pub(super) fn due(&mut self) -> u64 {
        // Xorshift (Marsaglia 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.begin + self.count * self.interval + self.random % self.interval
    }

    /// Records a tick at `now`; returns the nanoseconds represented by the tick.
    pub(super) fn pass(&mut self, now: u64) -> u64 {
        let reached = (now.saturating_sub(self.begin) / self.interval).max(self.count) + 1;
        let ticks = reached - self.count;
        self.count = reached;
        ticks * self.interval
    }
}

/// Keeps the cost since the start within the budget: what was taken too much is paid back.
pub(super) struct Review {
    wanted: u64,
    /// The last look at the account: when, and the cost until then.
    at: u64,
    cost: u64,
    /// CPU nanoseconds taken beyond the budget since the start.
    debt: f64,
    /// CPU nanoseconds a tick; none before the first look.
    tick: Option<f64>,
}

impl Review {
    pub(super) fn new(wanted: u64, now: u64) -> Review {
        Review {
            wanted,
            at: now,
            cost: 0,
            debt: 0.0,
            tick: None,
        }
    }

    /// Whether the account is due for a look: often, to slow down an expensive sampler early, and
    /// first at once; but not before there were some ticks to judge by.
    pub(super) fn is_due(&self, now: u64, interval: u64) -> bool {
        const FIRST_AFTER: u64 = 10_000_000;
        const EVERY: u64 = 100_000_000;
        const TICKS_MIN: u64 = 16;
        let least = if self.tick.is_none() {
            FIRST_AFTER
        } else {
            EVERY
        };
        now.saturating_sub(self.at) >= least.max(TICKS_MIN * interval)
    }

    /// Adds a cost without a relation to ticks, to be paid back all the same.
    pub(super) fn excuse(&mut self, nanos: u64) {
        self.cost += nanos;
        self.debt += nanos as f64;
    }

    /// Compares the cost since the start with the budget; returns a new interval, ns, when the
    /// present one costs too much, or less than allowed.
    pub(super) fn look(&mut self, now: u64, cost: u64, interval: u64) -> Option<u64> {
        /// A part of the budget is left for what comes unforeseen.
        const AIM: f64 = 0.9;
        /// Debts are paid back within so many nanoseconds.
        const REPAID_IN: f64 = 2e9;
        /// Share of the budget left for ticks, however deep in debt.
        const AT_LEAST: f64 = 0.2;
        /// A smaller change is not worth one.
        const ROOM: f64 = 0.75;
        let passed = now.saturating_sub(self.at).max(1) as f64;
        let taken = cost.saturating_sub(self.cost) as f64;
        (self.at, self.cost) = (now, cost);
        self.debt = (self.debt + taken - BUDGET * passed).max(0.0);
        let tick = taken / passed * interval as f64;
        let tick = self.tick.map_or(tick, |before| (before + tick) / 2.0);
        self.tick = Some(tick);
        let allowed = (BUDGET * AIM - self.debt / REPAID_IN).max(BUDGET * AT_LEAST);
        let fitting = (tick / allowed) as u64;
        let fitting = fitting.clamp(self.wanted, INTERVAL_MAX.max(self.wanted));
        let too_dear = fitting > interval;
        let has_room = (fitting as f64) < interval as f64 * ROOM
            || (fitting == self.wanted && fitting < interval);
        (too_dear || has_room).then_some(fitting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Returns the share of a core used by a sampler with a cost per tick, beside a loss at once,
    /// over a number of seconds, and the interval at the end. The clock is simulated: no host can
    /// make it slow.
    fn sampled(wanted: u64, seconds: u64, at_once: u64, tick: impl Fn(u64) -> u64) -> (f64, u64) {
        let (mut now, mut cost, mut interval) = (0, at_once, wanted);
        let mut review = Review::new(wanted, now);
        while now < seconds * SECOND {
            now += interval;
            cost += tick(now);
            if review.is_due(now, interval) {
                interval = review.look(now, cost, interval).unwrap_or(interval);
            }
        }
        (cost as f64 / now as f64, interval)
    }

    #[test]
    fn a_dear_sampler_is_within_its_budget_after_a_few_seconds() {
        // Deep stacks at the highest rate: a quarter of a core if nobody looked.
        for (tick, at_once) in [(25_000, 0), (25_000, 5_000_000), (90_000, 20_000_000)] {
            let (share, interval) = sampled(100_000, 4, at_once, |_| tick);
            assert!(share <= BUDGET, "{tick} ns a tick: {share}");
            assert!(share > BUDGET / 2.0, "{tick} ns a tick: {share} is too shy");
            assert!(interval > tick * 90, "{interval}");
        }
    }

    #[test]
    fn a_cheap_sampler_keeps_its_rate_and_one_that_becomes_cheap_returns_to_it() {
        let (share, interval) = sampled(1_000_000, 5, 2_000_000, |_| 6_000);
        assert_eq!(interval, 1_000_000, "{share}");
        let dear_at_first = |now| if now < 2 * SECOND { 50_000 } else { 2_000 };
        let (share, interval) = sampled(1_000_000, 12, 0, dear_at_first);
        assert_eq!(interval, 1_000_000, "{share}");
        assert!(share <= BUDGET, "{share}");
    }

    #[test]
    fn what_nothing_can_make_cheap_is_looked_for_seldom() {
        let (_, interval) = sampled(1_000_000, 30, 0, |_| 50_000_000);
        assert_eq!(interval, INTERVAL_MAX);
    }

    #[test]
    fn what_is_excused_slows_nothing_down_at_once_but_is_paid_back() {
        let mut review = Review::new(1_000_000, 0);
        assert_eq!(review.look(SECOND, 6_000_000, 1_000_000), None);
        review.excuse(1_000_000);
        assert_eq!(review.look(2 * SECOND, 13_000_000, 1_000_000), None);
        review.excuse(20_000_000);
        assert!(review.look(3 * SECOND, 39_000_000, 1_000_000).is_some());
    }

    #[test]
    fn ticks_stand_for_all_the_time_that_passed_and_never_drift() {
        let mut schedule = Schedule::new(1_000, 100);
        let mut passed = 0;
        for round in 0..1000u64 {
            let due = schedule.due();
            let number = (due - 1_000) / 100;
            assert_eq!(
                number * 100,
                passed,
                "the tick falls in the interval after the last"
            );
            // Now and then a tick comes seven intervals late.
            let late = if round % 50 == 0 { 700 } else { 0 };
            passed += schedule.pass(due + late);
        }
        assert!(schedule.due() >= 1_000 + passed);
    }
}

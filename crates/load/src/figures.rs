//! Sums of a running load, in memory independent of the number of requests.
//!
//! Each thread has figures of its own, which are merged once, at the end; and every second (or
//! whatever length was asked for) it hands over what belonged to that second, as an [`Interval`].

use hdrhistogram::Histogram;
use recording::{Nanos, Outcome};

/// The longest time a histogram holds, in nanoseconds: an hour. Longer ones count as this.
const TIME_MAX: u64 = 3_600_000_000_000;
/// Digits kept of the times of the whole load: 0.1 %.
const DIGITS: u8 = 3;
/// Digits of what is kept for each step or beside the main figures, at an eighth of the memory.
const DIGITS_BESIDE: u8 = 2;

/// Sums and histograms of a load's window, all times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Due → answered. A request that was given up or still under way counts with the time it had
    /// had, so that its true latency is "at least" that; one that was refused or cut off is not in
    /// here.
    pub latency: Histogram<u64>,
    /// Sent → answered of the same requests.
    pub service: Histogram<u64>,
    /// Due → sent where a connection stood ready: the generator's own delay.
    pub lateness: Histogram<u64>,
    /// From the wish for a connection to a connection, TLS not included.
    pub connecting: Histogram<u64>,
    /// From the connection to the end of the TLS handshake.
    pub handshakes: Histogram<u64>,
    /// Requests by outcome.
    pub outcomes: Outcomes,
    /// Complete responses by status.
    pub statuses: Statuses,
    /// Complete responses received before the window's end.
    pub in_time: u64,
    /// Bytes of responses' bodies.
    pub body_bytes: u64,
    /// Requests due before the window: the warm-up.
    pub warmup: u64,
    /// The same for each step of the scenario, by flow and entry.
    pub steps: Vec<StepFigures>,
}

/// One step's part of [`Figures`].
#[derive(Clone, Debug)]
pub struct StepFigures {
    /// Flow in the high 16 bits, entry in the low 16.
    pub step: u32,
    /// Requests by outcome.
    pub outcomes: Outcomes,
    /// As [`Figures::latency`], with two digits.
    pub latency: Histogram<u64>,
}

/// What belongs to one stretch of the load, by the time when requests ended. From one thread, or of
/// all.
#[derive(Clone, Debug)]
pub struct Interval {
    /// Counted from the window's start; what is below zero is warm-up.
    pub number: i64,
    /// As [`Figures::latency`].
    pub latency: Histogram<u64>,
    /// As [`Figures::lateness`].
    pub lateness: Histogram<u64>,
    /// Requests ended in the interval, by outcome.
    pub outcomes: Outcomes,
    /// Responses by status.
    pub statuses: Statuses,
    /// Bytes of responses' bodies.
    pub body_bytes: u64,
    /// CPU time of the load's threads.
    pub cpu: Nanos,
    /// Requests under way at the interval's end.
    pub in_flight: u64,
}

/// How many requests ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes([u64; Outcome::ALL.len()]);

/// Responses by status. One run has few different statuses, so a list is the fastest map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statuses(Vec<(u16, u64)>);

/// A finished request, as counted in the figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) step: u32,
    pub(crate) outcome: Outcome,
    pub(crate) status: u16,
    pub(crate) latency: Nanos,
    pub(crate) service: Nanos,
    /// Due to sent, for requests with a connection ready at the due time.
    pub(crate) lateness: Option<Nanos>,
    pub(crate) body_bytes: u64,
    /// Whether the request was sent; `false` where none could be made.
    pub(crate) was_sent: bool,
}

impl Ended {
    /// Returns whether a complete response came. A check fails also where a request could not be
    /// made.
    pub(crate) fn was_answered(&self) -> bool {
        self.was_sent && self.outcome.was_answered()
    }

    /// Returns the status of a complete response; 0 where there was none, even if a response had
    /// begun.
    fn answered_status(&self) -> u16 {
        match self.was_answered() {
            true => self.status,
            false => 0,
        }
    }

    /// Returns whether the request's times describe the server: the request was answered, or had no
    /// response in all the time.
    fn has_latency(&self) -> bool {
        self.was_answered() || matches!(self.outcome, Outcome::TimedOut | Outcome::Unanswered)
    }
}

impl Figures {
    /// Returns empty figures for `steps`.
    pub fn new(steps: &[u32]) -> Figures {
        let step = |step: &u32| StepFigures {
            step: *step,
            outcomes: Outcomes::default(),
            latency: growing(DIGITS_BESIDE),
        };
        Figures {
            latency: growing(DIGITS),
            service: growing(DIGITS),
            lateness: growing(DIGITS_BESIDE),
            connecting: growing(DIGITS_BESIDE),
            handshakes: growing(DIGITS_BESIDE),
            outcomes: Outcomes::default(),
            statuses: Statuses::default(),
            in_time: 0,
            body_bytes: 0,
            warmup: 0,
            steps: steps.iter().map(step).collect(),
        }
    }

    pub(crate) fn add(&mut self, ended: &Ended) {
        self.outcomes.add(ended.outcome);
        self.statuses.add(ended.answered_status());
        self.body_bytes += ended.body_bytes;
        if let Some(lateness) = ended.lateness {
            put(&mut self.lateness, lateness);
        }
        let step = (self.steps.iter_mut()).find(|step| step.step == ended.step);
        if ended.has_latency() {
            put(&mut self.latency, ended.latency);
            put(&mut self.service, ended.service);
        }
        if let Some(step) = step {
            step.outcomes.add(ended.outcome);
            if ended.has_latency() {
                put(&mut step.latency, ended.latency);
            }
        }
    }

    /// Returns the number of requests with a complete response.
    pub fn answered(&self) -> u64 {
        answered(&self.latency, &self.outcomes)
    }

    /// Adds another thread's or generator's figures of the same steps.
    pub fn merge(&mut self, other: &Figures) {
        for (own, more) in [
            (&mut self.latency, &other.latency),
            (&mut self.service, &other.service),
            (&mut self.lateness, &other.lateness),
            (&mut self.connecting, &other.connecting),
            (&mut self.handshakes, &other.handshakes),
        ] {
            join(own, more);
        }
        self.outcomes.merge(&other.outcomes);
        self.statuses.merge(&other.statuses);
        self.in_time += other.in_time;
        self.body_bytes += other.body_bytes;
        self.warmup += other.warmup;
        for (own, more) in self.steps.iter_mut().zip(&other.steps) {
            own.outcomes.merge(&more.outcomes);
            join(&mut own.latency, &more.latency);
        }
    }
}

impl Interval {
    /// An empty one.
    pub fn new(number: i64) -> Interval {
        Interval {
            number,
            latency: growing(DIGITS),
            lateness: growing(DIGITS_BESIDE),
            outcomes: Outcomes::default(),
            statuses: Statuses::default(),
            body_bytes: 0,
            cpu: Nanos::ZERO,
            in_flight: 0,
        }
    }

    pub(crate) fn add(&mut self, ended: &Ended) {
        self.outcomes.add(ended.outcome);
        self.statuses.add(ended.answered_status());
        self.body_bytes += ended.body_bytes;
        if let Some(lateness) = ended.lateness {
            put(&mut self.lateness, lateness);
        }
        if ended.has_latency() {
            put(&mut self.latency, ended.latency);
        }
    }

    /// Returns the number of requests with a complete response.
    pub fn answered(&self) -> u64 {
        answered(&self.latency, &self.outcomes)
    }

    /// Adds another thread's or generator's part of the same stretch.
    pub fn merge(&mut self, other: &Interval) {
        join(&mut self.latency, &other.latency);
        join(&mut self.lateness, &other.lateness);
        self.outcomes.merge(&other.outcomes);
        self.statuses.merge(&other.statuses);
        self.body_bytes += other.body_bytes;
        self.cpu += other.cpu;
        self.in_flight += other.in_flight;
    }
}

impl Outcomes {
    /// How many ended so.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// All requests.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the number of failed requests: neither ok nor still under way.
    pub fn failed(&self) -> u64 {
        self.sum(|outcome| !matches!(outcome, Outcome::Ok | Outcome::Unanswered))
    }

    fn sum(&self, wanted: impl Fn(Outcome) -> bool) -> u64 {
        let chosen = Outcome::ALL.into_iter().filter(|outcome| wanted(*outcome));
        chosen.map(|outcome| self.of(outcome)).sum()
    }

    /// Counts a request.
    pub fn add(&mut self, outcome: Outcome) {
        self.add_many(outcome, 1);
    }

    /// Counts `more` requests with the same outcome.
    pub fn add_many(&mut self, outcome: Outcome, more: u64) {
        self.0[outcome as usize] += more;
    }

    fn merge(&mut self, other: &Outcomes) {
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            *own += more;
        }
    }
}

impl Statuses {
    /// Status and count, by status.
    pub fn sorted(&self) -> Vec<(u16, u64)> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted
    }

    /// Counts an answer; status 0 is none.
    pub fn add(&mut self, status: u16) {
        self.add_many(status, u64::from(status > 0));
    }

    /// Counts a number of responses of one status.
    pub fn add_many(&mut self, status: u16, more: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == status) {
            Some((_, count)) => *count += more,
            None if more > 0 => self.0.push((status, more)),
            None => {}
        }
    }

    fn merge(&mut self, other: &Statuses) {
        for (status, count) in &other.0 {
            self.add_many(*status, *count);
        }
    }
}

/// Returns the number of requests whose time is not a lower bound: requests with a response.
fn answered(latency: &Histogram<u64>, outcomes: &Outcomes) -> u64 {
    let at_least = outcomes.of(Outcome::TimedOut) + outcomes.of(Outcome::Unanswered);
    latency.len().saturating_sub(at_least)
}

/// Returns a histogram with memory growing only as far as the largest value needs.
fn growing(digits: u8) -> Histogram<u64> {
    let mut histogram = Histogram::new(digits).expect("digits from 1 to 5 are allowed");
    histogram.auto(true);
    histogram
}

/// Notes a time; the histogram grows if need be.
pub(crate) fn put(histogram: &mut Histogram<u64>, time: Nanos) {
    // It cannot fail below the bound, which a histogram that grows does not refuse.
    let _ = histogram.record(time.0.min(TIME_MAX));
}

fn join(own: &mut Histogram<u64>, more: &Histogram<u64>) {
    // Both have the same digits, and growing takes any value: nothing is left that could fail.
    let _ = own.add(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sums of one request of each outcome.
    fn of_each(was_sent: bool) -> (Figures, Interval) {
        let (mut figures, mut interval) = (Figures::new(&[0]), Interval::new(0));
        for outcome in Outcome::ALL {
            let ended = Ended {
                step: 0,
                outcome,
                status: 200,
                latency: Nanos(1),
                service: Nanos(1),
                lateness: None,
                body_bytes: 0,
                was_sent,
            };
            figures.add(&ended);
            interval.add(&ended);
        }
        (figures, interval)
    }

    #[test]
    fn a_response_that_was_cut_off_is_no_response_of_its_status() {
        let (figures, interval) = of_each(true);
        // Ok, a failed check, an error of the server.
        assert_eq!((figures.answered(), interval.answered()), (3, 3));
        assert_eq!(figures.statuses.sorted(), [(200, 3)]);
        assert_eq!(interval.statuses.sorted(), [(200, 3)]);
    }

    #[test]
    fn a_request_that_could_not_be_made_has_no_response_and_no_time() {
        let (figures, interval) = of_each(false);
        assert_eq!((figures.answered(), interval.answered()), (0, 0));
        assert!(figures.statuses.sorted().is_empty());
        assert_eq!(figures.outcomes.of(Outcome::CheckFailed), 1);
        // Timed out and unanswered.
        assert_eq!((figures.latency.len(), interval.latency.len()), (2, 2));
    }
}

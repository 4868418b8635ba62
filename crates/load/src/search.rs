//! The highest rate at which goals hold: doubling, then halving the gap, then repeats at both ends.
//!
//! At first the server is warmed up until its latency has reached a plateau. A rate is tried by an
//! open load. It passes when every goal held, nothing was left unsent, and the requests under way
//! did not become more and more: near the limit a queue grows so slowly that no percentile of a
//! short trial shows it, but its slope does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use recording::Nanos;
use scenario::Scenario;

use crate::goal::{Goal, GoalVerdict};
use crate::measure::{Measured, measure};
use crate::outcome::LoadError;
use crate::plan::{Pace, Plan};

/// First rate to try, per second.
const RATE_FIRST: f64 = 50.0;
/// Lowest rate to try, per second.
const RATE_MIN: f64 = 1.0;
/// Ratio of failing to passing rate at which the search ends.
const GAP: f64 = 1.01;
/// The part of the rate by which requests under way may grow each second.
const GROWTH_MAX: f64 = 0.005;
/// Share of failed requests allowed without a goal about failures.
const FAILED_MAX: f64 = 0.01;
/// How often requests under way are counted.
const LOOK: Nanos = Nanos(50_000_000);
/// Divisors of the total time for trials: of the first, coarse kind, and of the second.
const COARSE: u64 = 60;
const FINE: u64 = 15;
/// Divisors of the total time: for each look of the warm-up, and for all looks together.
const WARMUP_PART: u64 = 100;
const WARMUP_SHARE: u64 = 10;
const WARMUP_CONNECTIONS: u32 = 8;
/// Relative difference of two medians up to which response times are a plateau.
const SETTLED_PART: f64 = 0.05;
/// Shortest trial, in looks: three quarters are measured, and fewer show no growth.
const LOOKS_MIN: u64 = 16;

/// One tried rate.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Requests due per second.
    pub rate: f64,
    /// Whether the trial passed.
    pub passed: bool,
    /// Reason for a failure, in a few words; empty when passed.
    pub why: String,
    /// What was measured.
    pub measured: Measured,
}

/// What came of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// Highest passing rate; none when not even the lowest passed.
    pub rate: Option<f64>,
    /// Lowest failing rate; none when the time was over before a failure.
    pub failed: Option<f64>,
    /// Whether both ends are as close as wanted and were tried twice. Otherwise the time was over,
    /// or it was stopped.
    pub sure: bool,
    /// All trials in order.
    pub trials: Vec<Trial>,
}

/// Searches within `plan.duration`. Each trial is a load of `plan` with another rate; `sink` gets
/// it when it is over. Errors are those of [`crate::run`].
pub fn find_max(
    plan: &Plan,
    scenario: &Scenario,
    goals: &[Goal],
    stop: &AtomicBool,
    sink: &mut dyn FnMut(&Trial),
) -> Result<Found, LoadError> {
    let begin = Instant::now();
    warm_up(plan, scenario, stop, begin)?;
    let mut votes = Votes::default();
    let mut trials = Vec::new();
    let mut next = votes.next();
    while let Some(rate) = next {
        let part = if votes.failed().is_none() {
            COARSE
        } else {
            FINE
        };
        let length = Nanos((plan.duration.0 / part).max(LOOKS_MIN * LOOK.0));
        let over = begin.elapsed().as_nanos() as u64 + length.0 > plan.duration.0;
        if over || stop.load(Ordering::Relaxed) {
            break;
        }
        let trial = attempt(plan, scenario, goals, stop, rate, length)?;
        if trial.measured.stopped {
            break;
        }
        votes.add(rate, trial.passed);
        sink(&trial);
        trials.push(trial);
        next = votes.next();
    }
    Ok(Found {
        rate: votes.passed(),
        failed: votes.failed(),
        sure: next.is_none(),
        trials,
    })
}

/// Loads the server a little until the median latency has settled, so one-time work (starting
/// workers, compiling, filling caches) is in no trial.
fn warm_up(
    plan: &Plan,
    scenario: &Scenario,
    stop: &AtomicBool,
    begin: Instant,
) -> Result<(), LoadError> {
    let limit = plan.duration.0 / WARMUP_SHARE;
    let plan = Plan {
        pace: Pace::Closed,
        connections: warm_up_users(plan),
        warmup: Nanos::ZERO,
        duration: Nanos((plan.duration.0 / WARMUP_PART).max(1)),
        ..plan.clone()
    };
    let mut before = None;
    while (begin.elapsed().as_nanos() as u64) < limit {
        let measured = whole(measure(&plan, scenario, stop, plan.duration, &mut |_| {})?)?;
        let median = measured.figures.latency.value_at_quantile(0.5);
        if measured.stopped || has_settled(before, median) {
            break;
        }
        before = Some(median);
    }
    Ok(())
}

/// Returns the number of users of the warm-up: few, on whole connections, with one for each thread.
fn warm_up_users(plan: &Plan) -> u32 {
    let each = plan.streams.max(1);
    let sockets = (WARMUP_CONNECTIONS / each).max(plan.threads).max(1);
    plan.connections.min(sockets.saturating_mul(each))
}

fn has_settled(before: Option<u64>, now: u64) -> bool {
    before.is_some_and(|before| before.abs_diff(now) as f64 <= before as f64 * SETTLED_PART)
}

/// Tries a rate: a quarter of the time to settle, the rest measured.
fn attempt(
    plan: &Plan,
    scenario: &Scenario,
    goals: &[Goal],
    stop: &AtomicBool,
    rate: f64,
    length: Nanos,
) -> Result<Trial, LoadError> {
    let warmup = Nanos(length.0 / 4);
    let plan = Plan {
        pace: Pace::Constant { per_second: rate },
        warmup,
        duration: length - warmup,
        ..plan.clone()
    };
    let mut under_way = Vec::new();
    let looks = plan.duration.0 / LOOK.0;
    let measured = measure(&plan, scenario, stop, LOOK, &mut |interval| {
        if (0..looks as i64).contains(&interval.number) {
            under_way.push(interval.in_flight as f64);
        }
    })?;
    let measured = whole(measured)?;
    let why = fault(&measured, goals, &under_way, rate).unwrap_or_default();
    Ok(Trial {
        rate,
        passed: why.is_empty(),
        why,
        measured,
    })
}

/// Returns what was measured, unless a thread failed: the rest says nothing of the rate.
fn whole(measured: Measured) -> Result<Measured, LoadError> {
    match measured.fault {
        Some(fault) => Err(LoadError::Thread(fault)),
        None => Ok(measured),
    }
}

fn fault(measured: &Measured, goals: &[Goal], under_way: &[f64], rate: f64) -> Option<String> {
    let outcomes = &measured.figures.outcomes;
    let missed = goals
        .iter()
        .map(|goal| goal.check_roughly(measured))
        .find(|result| result.verdict != GoalVerdict::Held);
    if let Some(missed) = missed {
        let came = missed.came.unwrap_or_else(|| "nothing".to_owned());
        return Some(format!("{}: came {came}", missed.text));
    }
    let allowed = goals.iter().any(Goal::is_about_errors);
    if !allowed && outcomes.failed() as f64 > outcomes.all() as f64 * FAILED_MAX {
        return Some(format!(
            "{} of {} requests failed",
            outcomes.failed(),
            outcomes.all()
        ));
    }
    if measured.generator.unsent > 0 {
        return Some(format!(
            "{} requests were not sent",
            measured.generator.unsent
        ));
    }
    let growth = growth(under_way)?;
    (growth > rate * GROWTH_MAX)
        .then(|| format!("requests under way grew by {growth:.1} per second"))
}

/// Returns the certain growth of requests under way, per second: the slope of a straight line
/// through the looks (least squares), less two standard errors.
fn growth(under_way: &[f64]) -> Option<f64> {
    let count = under_way.len() as f64;
    if count < 4.0 {
        return None;
    }
    let times: Vec<f64> = (0..under_way.len())
        .map(|look| look as f64 * LOOK.as_secs_f64())
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (time, level) = (mean(&times), mean(under_way));
    let pairs = || times.iter().zip(under_way);
    let spread: f64 = times.iter().map(|at| (at - time).powi(2)).sum();
    let slope = pairs()
        .map(|(at, value)| (at - time) * (value - level))
        .sum::<f64>()
        / spread;
    let rest: f64 = pairs()
        .map(|(at, value)| (value - level - slope * (at - time)).powi(2))
        .sum();
    let error = (rest / (count - 2.0) / spread).sqrt();
    Some(slope - 2.0 * error)
}

/// How often each rate passed and failed, and what to try next.
#[derive(Debug, Default)]
struct Votes(Vec<Vote>);

#[derive(Clone, Copy, Debug)]
struct Vote {
    rate: f64,
    passed: u32,
    failed: u32,
}

impl Vote {
    fn is_tied(&self) -> bool {
        self.passed == self.failed
    }

    /// Returns whether the vote is settled: two more of one kind than of the other, or three
    /// trials.
    fn is_sure(&self) -> bool {
        self.passed.abs_diff(self.failed) >= 2 || self.passed + self.failed >= 3
    }
}

impl Votes {
    fn add(&mut self, rate: f64, passed: bool) {
        let position = match self.0.iter().position(|vote| vote.rate == rate) {
            Some(known) => known,
            None => {
                self.0.push(Vote {
                    rate,
                    passed: 0,
                    failed: 0,
                });
                self.0.len() - 1
            }
        };
        self.0[position].passed += u32::from(passed);
        self.0[position].failed += u32::from(!passed);
    }

    fn vote(&self, rate: f64) -> Option<&Vote> {
        self.0.iter().find(|vote| vote.rate == rate)
    }

    /// Returns the lowest rate with at least as many failed trials as passed ones.
    fn failed(&self) -> Option<f64> {
        let failed = self.0.iter().filter(|vote| vote.failed >= vote.passed);
        failed.map(|vote| vote.rate).reduce(f64::min)
    }

    /// Returns the highest passing rate below the lowest failing one.
    fn passed(&self) -> Option<f64> {
        let limit = self.failed().unwrap_or(f64::INFINITY);
        let passed = self
            .0
            .iter()
            .filter(|vote| vote.passed > vote.failed && vote.rate < limit);
        passed.map(|vote| vote.rate).reduce(f64::max)
    }

    /// The rate to try next; none when both ends are known and sure, or nothing passes.
    fn next(&self) -> Option<f64> {
        match (self.passed(), self.failed()) {
            (None, None) => Some(RATE_FIRST),
            (_, Some(failed)) if self.vote(failed).is_some_and(Vote::is_tied) => Some(failed),
            (Some(passed), None) => Some(passed * 2.0),
            (None, Some(failed)) => Some(failed / 2.0).filter(|rate| *rate >= RATE_MIN),
            (Some(passed), Some(failed)) if failed / passed > GAP => {
                let halved = (passed * failed).sqrt();
                // What passed once and then failed is at the limit, not far above it.
                let doubtful = self.vote(failed).is_some_and(|vote| vote.passed > 0);
                Some(if doubtful {
                    halved.max(failed / GAP / GAP)
                } else {
                    halved
                })
            }
            (Some(passed), Some(failed)) => {
                let unsure = |rate: f64| {
                    self.0
                        .iter()
                        .any(|vote| vote.rate == rate && !vote.is_sure())
                };
                [passed, failed].into_iter().find(|rate| unsure(*rate))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches with `passes` in place of a load; both ends and the number of trials.
    fn search(mut passes: impl FnMut(f64) -> bool) -> (Option<f64>, Option<f64>, usize) {
        let mut votes = Votes::default();
        let mut trials = 0;
        while let Some(rate) = votes.next() {
            votes.add(rate, passes(rate));
            trials += 1;
            assert!(trials < 100, "no end");
        }
        (votes.passed(), votes.failed(), trials)
    }

    #[test]
    fn the_warm_up_has_whole_connections() {
        let check = |connections, streams, threads, expected| {
            let plan = Plan {
                connections,
                streams,
                threads,
                ..Plan::default()
            };
            assert_eq!(warm_up_users(&plan), expected, "{connections} by {streams}");
        };
        check(500, 0, 1, 8);
        check(500, 0, 16, 16);
        check(4, 0, 1, 4);
        // Of HTTP/2.
        check(100, 25, 1, 25);
        check(100, 25, 4, 100);
        check(64, 2, 1, 8);
    }

    #[test]
    fn the_limit_is_found_from_above_and_below() {
        for limit in [3.3, 49.0, 50.0, 800.0, 123_456.0] {
            let (passed, failed, trials) = search(|rate| rate <= limit);
            let (passed, failed) = (passed.expect("passed"), failed.expect("failed"));
            assert!(
                passed <= limit && limit < failed && failed / passed <= GAP,
                "{limit}"
            );
            assert!(trials <= 30, "{limit}: {trials} trials");
        }
        assert_eq!(search(|_| false).0, None);
    }

    #[test]
    fn one_wrong_verdict_is_corrected() {
        for wrong in 0..14 {
            let mut trial = 0;
            let (passed, failed, _) = search(|rate| {
                trial += 1;
                (rate <= 800.0) != (trial == wrong + 1)
            });
            let (passed, failed) = (passed.expect("passed"), failed.expect("failed"));
            assert!(
                passed <= 816.0 && failed >= 792.0,
                "trial {wrong} wrong: {passed} to {failed}"
            );
        }
    }

    #[test]
    fn a_rate_at_the_very_limit_passes_and_fails() {
        // 400 passes when it is tried first, and then never again.
        let mut tried = 0;
        let (passed, failed, trials) = search(|rate| {
            tried += u32::from(rate == 400.0);
            rate < 400.0 || rate == 400.0 && tried == 1
        });
        let (passed, failed) = (passed.expect("passed"), failed.expect("failed"));
        assert!(passed >= 390.0 && failed <= 400.0, "{passed} to {failed}");
        assert!(trials <= 22, "{trials} trials");
    }

    #[test]
    fn a_plateau_is_two_medians_that_are_alike() {
        assert!(!has_settled(None, 100));
        assert!(!has_settled(Some(200), 100));
        assert!(has_settled(Some(100), 104));
        assert!(has_settled(Some(0), 0));
    }

    #[test]
    fn growth_is_told_from_noise() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut level = |slope: f64| -> Vec<f64> {
            let look =
                |n: i32| 20.0 + slope * f64::from(n) * LOOK.as_secs_f64() + 4.0 * random.f64();
            (0..60).map(look).collect()
        };
        assert!(growth(&level(8.0)).expect("enough") > 4.0);
        assert!(growth(&level(0.0)).expect("enough") < 1.0);
        assert_eq!(growth(&[1.0, 2.0]), None);
    }
}

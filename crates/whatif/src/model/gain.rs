//! Gain of a remedy: the same requests replayed under the run's own load, with and without the
//! parts removed.
//!
//! Both replays of a pair draw the same requests with the same seed, so what is random in them is
//! alike and goes out of their ratio. Several pairs, each with requests newly drawn with
//! replacement (the bootstrap: Efron 1979), say how much the ratio depends on which requests were
//! recorded. What is drawn with replacement are the recorded requests of each route: a rare one
//! stands for many in the sample, and its heaviness is known no better for that.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fastrand::Rng;
use recording::{Burst, BurstKind, Nanos, RequestId};

use super::{Model, SEED};
use crate::engine::Engine;
use crate::workload::Request;
use crate::{Costs, Prediction, Setup, TURNAROUND, Workload};

/// Pairs of replays: enough for a standard deviation to within a third while a page waits.
const PAIRS: u64 = 6;
/// Requests of one replay.
const REPLAYED: u32 = 2_000;
/// Error of the model's predictions of throughput: one and a half times the asked median (0.10),
/// within which seven of ten normal errors lie. It counts in proportion to what a remedy changes,
/// and wholly from a factor of two on: two replays of one recording that hardly differ err alike.
const MODEL_ERROR: f64 = 0.15;
/// Error of what a remedy removes, as a share of it: some thousand samples of stacks give a share
/// to within a percent or two. Of a request of which little is left, that is a large part: at eight
/// times the throughput, seven times this share.
const REMOVED_ERROR: f64 = 0.02;
/// Standard deviations to either side in an interval of 95 %.
const DEVIATIONS: f64 = 2.0;
/// Share of a route's waits for locks whose removal removes the lock.
const UNLOCKS_MIN: f64 = 0.5;
/// Share left of a wholly removed stretch: a request without any time cannot be replayed.
const LEFT_MIN: f64 = 1e-3;

/// The parts of requests removed by a remedy, by kind of stretch: of all requests of a route, or of
/// single ones besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Removal {
    routes: BTreeMap<usize, Gone>,
    requests: HashMap<RequestId, Gone>,
}

type ByKind = [f64; BurstKind::ALL.len()];

/// Shares of a request's stretches, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Gone {
    /// Shares of the time.
    time: ByKind,
    /// Shares of the number: stretches removed as a whole, each with the cost of releasing the GVL
    /// and taking the GVL again.
    number: ByKind,
}

/// Gain of a remedy, as ratios with the remedy over without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// Requests a second. About 1 under an open load, which sets them.
    pub throughput: Ratio,
    /// 95th percentile of due → answered.
    pub p95: Ratio,
    /// Mean of due → answered.
    pub mean: Ratio,
}

/// A ratio with an interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The likeliest value.
    pub ratio: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

impl Removal {
    /// Removes a share, 0 to 1, of the time of the route's stretches of one kind; several removals
    /// of one route and kind add up. Each stretch becomes shorter.
    pub fn remove(&mut self, route: usize, kind: BurstKind, share: f64) {
        self.routes.entry(route).or_default().remove(kind, share);
    }

    /// Removes a share, 0 to 1, of the number of a route's stretches of one kind as a whole, within
    /// the time given to [`Removal::remove`]. Calls that are not made any more let go of the GVL no
    /// more often.
    pub fn remove_whole(&mut self, route: usize, kind: BurstKind, share: f64) {
        let gone = self.routes.entry(route).or_default();
        gone.remove_whole(kind, share);
    }

    /// Removes shares of the time and of the number of one request's stretches of one kind, besides
    /// what is removed from the whole route.
    pub fn remove_from(&mut self, request: RequestId, kind: BurstKind, time: f64, number: f64) {
        let gone = self.requests.entry(request).or_default();
        gone.remove(kind, time);
        gone.remove_whole(kind, number);
    }

    /// Whether nothing is removed.
    pub fn is_empty(&self) -> bool {
        let all = self.routes.values().chain(self.requests.values());
        all.flat_map(|gone| gone.time).all(|share| share <= 0.0)
    }

    /// Whether most of a route's waits for locks are removed, and so the lock itself.
    fn unlocks(&self, route: usize) -> bool {
        let gone = self.routes.get(&route);
        gone.is_some_and(|gone| gone.time[BurstKind::Lock as usize] >= UNLOCKS_MIN)
    }

    /// The shares removed from one request of a route.
    fn gone(&self, route: usize, request: RequestId) -> Gone {
        let of_all = self.routes.get(&route).copied().unwrap_or_default();
        let own = self.requests.get(&request).copied().unwrap_or_default();
        let both =
            |a: ByKind, b: ByKind| -> ByKind { std::array::from_fn(|at| (a[at] + b[at]).min(1.0)) };
        Gone {
            time: both(of_all.time, own.time),
            number: both(of_all.number, own.number),
        }
    }

    /// Returns what is left of each stretch, in the same number; stretches removed as a whole have
    /// no length.
    fn left(&self, (route, request): (usize, RequestId), bursts: &[Burst]) -> Vec<Burst> {
        let mut left = bursts.to_vec();
        let gone = self.gone(route, request);
        for kind in BurstKind::ALL {
            let (time, number) = (gone.time[kind as usize], gone.number[kind as usize]);
            if time > 0.0 {
                let of_kind = left.iter_mut().filter(|burst| burst.kind == kind);
                shorten(of_kind.collect(), time, number);
            }
        }
        left
    }
}

impl Gone {
    fn remove(&mut self, kind: BurstKind, share: f64) {
        let gone = &mut self.time[kind as usize];
        *gone = (*gone + share.max(0.0)).min(1.0);
    }

    fn remove_whole(&mut self, kind: BurstKind, share: f64) {
        let gone = &mut self.number[kind as usize];
        *gone = (*gone + share.max(0.0)).min(1.0);
    }
}

/// Removes a share of the stretches' time: first as whole stretches by the share of the number,
/// taking the lengths nearest to the mean removed, then by shortening the others.
fn shorten(mut stretches: Vec<&mut Burst>, time: f64, number: f64) {
    let all: u64 = stretches.iter().map(|burst| burst.length.0).sum();
    let whole = (number * stretches.len() as f64).round() as usize;
    if whole > 0 {
        let each = time * all as f64 / whole as f64;
        let distance = |burst: &Burst| (burst.length.0 as f64 - each).abs();
        stretches.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        let gone = stretches.drain(..whole);
        gone.for_each(|burst| burst.length = Nanos::ZERO);
    }
    let kept: u64 = stretches.iter().map(|burst| burst.length.0).sum();
    let left = all as f64 * (1.0 - time) / kept.max(1) as f64;
    for burst in stretches {
        burst.length = Nanos((burst.length.0 as f64 * left.clamp(LEFT_MIN, 1.0)) as u64);
    }
}

/// Replays of the run as recorded, for comparison with remedies.
#[derive(Clone, Debug)]
pub struct Baseline {
    replays: Vec<Drawn>,
}

/// Requests drawn with replacement, and the prediction of the replay.
#[derive(Clone, Debug)]
struct Drawn {
    seed: u64,
    requests: Vec<usize>,
    /// `None` where nothing could be replayed.
    as_it_is: Option<Prediction>,
}

#[cfg(test)]
impl Baseline {
    /// Requests a second as recorded, by the pairs' geometric mean.
    pub(super) fn rps(&self) -> Option<f64> {
        let logs = self
            .replays
            .iter()
            .map(|drawn| Some(drawn.as_it_is?.rps.ln()));
        let logs: Vec<f64> = logs.collect::<Option<_>>()?;
        Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }
}

impl Model {
    /// Replays the recorded setting under the recorded load.
    pub fn baseline(&self) -> Baseline {
        let nothing = Removal::default();
        let replay = |seed| {
            let mut drawn = Drawn {
                seed,
                requests: self.drawn(&mut Rng::with_seed(seed)),
                as_it_is: None,
            };
            drawn.as_it_is = self.replayed(&drawn, &nothing, &self.recorded);
            drawn
        };
        Baseline {
            replays: (SEED..SEED + PAIRS).map(replay).collect(),
        }
    }

    /// Draws the recorded requests of each route with replacement, and from the drawn ones as many
    /// requests as the sample has, in the proportions of the routes.
    fn drawn(&self, random: &mut Rng) -> Vec<usize> {
        let mut by_route: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut known = BTreeSet::new();
        for (at, (route, id)) in self.routes.iter().zip(&self.ids).enumerate() {
            if known.insert((*route, *id)) {
                by_route.entry(*route).or_default().push(at);
            }
        }
        for recorded in by_route.values_mut() {
            let drawn = (0..recorded.len()).map(|_| recorded[random.usize(0..recorded.len())]);
            *recorded = drawn.collect();
        }
        let all = self.routes.len();
        let one = |_| {
            let of = &by_route[&self.routes[random.usize(0..all)]];
            of[random.usize(0..of.len())]
        };
        (0..all).map(one).collect()
    }

    /// Replays the same without `removal`. `None` where it removes nothing.
    pub fn gain(&self, baseline: &Baseline, removal: &Removal) -> Option<Gain> {
        if removal.is_empty() {
            return None;
        }
        gain(baseline, |drawn| {
            self.replayed(drawn, removal, &self.recorded)
        })
    }

    /// Replays the same under another setup, with other numbers of workers or threads.
    pub fn gain_at(&self, baseline: &Baseline, setup: &Setup) -> Option<Gain> {
        let nothing = Removal::default();
        gain(baseline, |drawn| self.replayed(drawn, &nothing, setup))
    }

    fn replayed(&self, drawn: &Drawn, removal: &Removal, setup: &Setup) -> Option<Prediction> {
        let left: Vec<(Vec<Burst>, usize)> = drawn
            .requests
            .iter()
            .map(|at| {
                let of = (self.routes[*at], self.ids[*at]);
                (removal.left(of, &self.requests[*at]), *at)
            })
            .collect();
        let requests = left.iter().map(|(bursts, at)| {
            let recorded = self.request(*at);
            Request {
                bursts,
                holding: recorded
                    .holding
                    .filter(|_| !removal.unlocks(self.routes[*at])),
                ..recorded
            }
        });
        let workload = Workload::of(requests, &self.demands)?;
        let costs = Costs {
            asked: part(setup.costs.asked, self.asking_left(&left)),
            turnaround: self.turnaround_left(setup.costs.turnaround, &left),
            ..setup.costs
        };
        let setup = Setup { costs, ..*setup };
        Some(Engine::new(&workload, &setup, drawn.seed, REPLAYED).run())
    }

    /// Returns the time between two requests. Beyond the usual one it is what the recorded requests
    /// took and the replay does not explain, so it shrinks with them.
    fn turnaround_left(&self, found: Nanos, left: &[(Vec<Burst>, usize)]) -> Nanos {
        let now: u64 = left.iter().map(|(bursts, _)| length(bursts)).sum();
        let then = left.iter().map(|(_, at)| length(&self.requests[*at]));
        let share = now as f64 / (then.sum::<u64>().max(1)) as f64;
        found.min(TURNAROUND) + part(found - found.min(TURNAROUND), share)
    }

    /// Returns the share left, 0 to 1, of the recorded waits for servers other than the database.
    fn asking_left(&self, left: &[(Vec<Burst>, usize)]) -> f64 {
        let now = left.iter().map(|(bursts, _)| asking(bursts));
        let then = left.iter().map(|(_, at)| asking(&self.requests[*at]));
        match (now.sum::<u64>(), then.sum::<u64>()) {
            (_, 0) => 1.0,
            (now, then) => now as f64 / then as f64,
        }
    }
}

fn part(of: Nanos, share: f64) -> Nanos {
    Nanos((of.0 as f64 * share) as u64)
}

fn length(bursts: &[Burst]) -> u64 {
    bursts.iter().map(|burst| burst.length.0).sum()
}

/// Time of waits in which another server than the database may be at work, nanoseconds.
fn asking(bursts: &[Burst]) -> u64 {
    let waits = bursts
        .iter()
        .filter(|burst| matches!(burst.kind, BurstKind::OtherIo | BurstKind::Http));
    waits.map(|burst| burst.length.0).sum()
}

/// Returns the gain of the replays after a change over the ones before.
fn gain(baseline: &Baseline, after: impl Fn(&Drawn) -> Option<Prediction>) -> Option<Gain> {
    let pair = |drawn: &Drawn| Some((drawn.as_it_is?, after(drawn)?));
    let pairs: Vec<(Prediction, Prediction)> = baseline.replays.iter().filter_map(pair).collect();
    let ratio = |figure: fn(&Prediction) -> f64| {
        let of = |(before, after): &(Prediction, Prediction)| (figure(after) / figure(before)).ln();
        let logs: Vec<f64> = pairs.iter().map(of).collect();
        Ratio::of(&logs)
    };
    Some(Gain {
        throughput: ratio(|seen| seen.rps)?,
        p95: ratio(|seen| seen.latency_p95.0 as f64)?,
        mean: ratio(|seen| seen.latency_mean.0 as f64)?,
    })
}

impl Ratio {
    /// Returns the ratio for logarithms of ratios; `None` when one of the logarithms is not finite.
    fn of(logs: &[f64]) -> Option<Ratio> {
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let model = MODEL_ERROR * (mean.abs() / std::f64::consts::LN_2).min(1.0);
        let removed = REMOVED_ERROR * (mean.abs().exp() - 1.0);
        // None of the three knows of the others, so their squares add up.
        let half = (DEVIATIONS * variance.sqrt()).hypot(model.hypot(removed));
        (mean.is_finite() && half.is_finite()).then(|| Ratio {
            ratio: mean.exp(),
            low: (mean - half).exp(),
            high: (mean + half).exp(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removals_add_up_and_leave_something() {
        let mut removal = Removal::default();
        assert!(removal.is_empty());
        removal.remove(3, BurstKind::Sql, 0.25);
        removal.remove(3, BurstKind::Sql, 0.25);
        removal.remove(3, BurstKind::Sleep, 2.0);
        let bursts = [BurstKind::Running, BurstKind::Sql, BurstKind::Sleep].map(|kind| Burst {
            kind,
            length: Nanos(1_000),
        });
        let lengths = |route| {
            let left = removal.left((route, RequestId(1)), &bursts);
            left.iter()
                .map(|burst| burst.length.0)
                .collect::<Vec<u64>>()
        };
        assert_eq!(lengths(3), [1_000, 500, 1]);
        assert_eq!(lengths(4), [1_000, 1_000, 1_000]);
    }

    #[test]
    fn a_request_loses_its_own_part_besides_its_routes() {
        let mut removal = Removal::default();
        removal.remove(0, BurstKind::Sql, 0.25);
        removal.remove_from(RequestId(7), BurstKind::Sql, 0.5, 0.0);
        removal.remove_from(RequestId(8), BurstKind::Sql, 1.0, 1.0);
        let sql = Burst {
            kind: BurstKind::Sql,
            length: Nanos(1_000),
        };
        let left = |id| removal.left((0, RequestId(id)), &[sql])[0].length.0;
        assert_eq!((left(1), left(7), left(8)), (750, 250, 0));
        assert!(!removal.is_empty());
    }

    #[test]
    fn calls_that_are_not_made_go_as_a_whole() {
        let burst = |(kind, nanos)| Burst {
            kind,
            length: Nanos(nanos),
        };
        let left = |time: f64, number: f64| {
            let mut removal = Removal::default();
            removal.remove(0, BurstKind::Sql, time);
            removal.remove_whole(0, BurstKind::Sql, number);
            let lengths = [
                (BurstKind::Sql, 100),
                (BurstKind::Running, 70),
                (BurstKind::Sql, 1_700),
                (BurstKind::Sql, 110),
                (BurstKind::Sql, 90),
            ];
            let left = removal.left((0, RequestId(1)), &lengths.map(burst));
            left.iter()
                .map(|burst| burst.length.0)
                .collect::<Vec<u64>>()
        };
        assert_eq!(left(0.15, 0.75), [0, 70, 1_700, 0, 0]);
        assert_eq!(left(0.85, 0.25), [100, 70, 0, 110, 90]);
        // What is gone besides is taken from the others.
        assert_eq!(left(0.575, 0.75), [0, 70, 850, 0, 0]);
        assert_eq!(left(0.5, 0.0), [50, 70, 850, 55, 45]);
    }

    #[test]
    fn an_interval_holds_its_ratio_and_grows_with_the_change() {
        let none = Ratio::of(&[0.0, 0.0, 0.0]).expect("numbers");
        assert_eq!((none.low, none.ratio, none.high), (1.0, 1.0, 1.0));
        let twice = Ratio::of(&[2f64.ln(); 3]).expect("numbers");
        assert!((twice.ratio - 2.0).abs() < 1e-9);
        let half = MODEL_ERROR.hypot(REMOVED_ERROR);
        assert!((twice.high / twice.low - (2.0 * half).exp()).abs() < 1e-9);
        // What is removed is known to a share of itself: little is left of a request eight times as
        // fast, and its error is the larger part.
        let width = |times: f64| {
            let ratio = Ratio::of(&[times.ln(); 3]).expect("numbers");
            ratio.high / ratio.low
        };
        assert!(width(8.0) > 1.05 * width(4.0));
        assert!(width(4.0) < 1.05 * width(2.0));
        let scattered = Ratio::of(&[0.6, 0.7, 0.8]).expect("numbers");
        assert!(scattered.high / scattered.low > twice.high / twice.low);
        assert_eq!(Ratio::of(&[f64::NAN, 0.0]), None);
    }
}

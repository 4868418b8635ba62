//! Whole comparisons on simulated hosts whose truth is known: how often equals are called
//! different, and how often a planted difference is found.

use stats::comparison::{Block, Comparison, Measured, Next, Outcome, Verdict};
use stats::{covariate, quantile, simultaneous_intervals};

const SIMULATIONS: u64 = 1_000;
const BLOCKS_MAX: usize = 24;
/// Percentiles behind throughput in the rows of `hakaru compare`.
const QUANTILES: [f64; 9] = [0.50, 0.66, 0.75, 0.80, 0.90, 0.95, 0.98, 0.99, 1.0];
/// Throughput and p50 to p95 are waited for.
const WATCHED: usize = 7;

/// A host with an app.
#[derive(Clone, Copy)]
struct World {
    /// Spread of a boot's speed: where a process happens to lie in memory.
    boot: f64,
    /// Spread of the host's speed from one measurement to the next, and the share carried over.
    host: f64,
    host_stays: f64,
    /// Spread of one request's time, as of a lognormal.
    request: f64,
    /// Share of requests taking ten times as long.
    slow: f64,
    /// Planted factor of B's times over A's.
    planted: f64,
}

/// A shared machine with two cores, about as bad as the machines of the first measurements.
const SHARED: World = World {
    boot: 0.01,
    host: 0.02,
    host_stays: 0.7,
    request: 0.4,
    slow: 0.01,
    planted: 0.0,
};

fn normal(random: &mut fastrand::Rng) -> f64 {
    let (a, b) = (1.0 - random.f64(), random.f64());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

struct Simulation {
    world: World,
    random: fastrand::Rng,
    host: f64,
}

impl Simulation {
    /// A fresh boot, measured: throughput, then the percentiles.
    fn measure(&mut self, is_b: bool) -> Vec<f64> {
        let world = self.world;
        let fresh = (1.0 - world.host_stays.powi(2)).sqrt() * world.host;
        self.host = world.host_stays * self.host + fresh * normal(&mut self.random);
        let planted = if is_b { world.planted.ln_1p() } else { 0.0 };
        let level = self.host + world.boot * normal(&mut self.random) + planted;
        let mut times: Vec<f64> = (0..250)
            .map(|_| {
                let slow = if self.random.f64() < world.slow {
                    10.0
                } else {
                    1.0
                };
                slow * (level + world.request * normal(&mut self.random)).exp()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let rate = times.len() as f64 / times.iter().sum::<f64>();
        let quantiles = QUANTILES.map(|q| quantile(&times, q).expect("samples"));
        [&[rate], &quantiles[..]].concat()
    }

    fn block(&mut self) -> Block {
        let b_first = self.random.bool();
        let order = [b_first, !b_first, !b_first, b_first];
        let measured = order.map(|is_b| (is_b, self.measure(is_b)));
        let side = |wanted: bool, row: usize| {
            let mut values = measured.iter().filter(|(is_b, _)| *is_b == wanted);
            [(); 2].map(|()| values.next().expect("two of each side").1[row])
        };
        let rows: Vec<Measured> = (0..=QUANTILES.len())
            .map(|row| Measured {
                a: side(false, row),
                b: side(true, row),
            })
            .collect();
        Block::of(&rows)
    }
}

fn compare(world: World, seed: u64, blocks_max: usize) -> Outcome {
    let mut simulation = Simulation {
        world,
        random: fastrand::Rng::with_seed(seed),
        host: 0.0,
    };
    let mut comparison = Comparison::new(blocks_max, (0..WATCHED).collect());
    while comparison.add(simulation.block()) == Next::More {}
    comparison.end()
}

/// Returns how many simulations claim a difference in any row.
fn claims(world: World, blocks_max: usize) -> usize {
    let claims = |outcome: &Outcome| {
        let claimed = [Verdict::Lower, Verdict::Higher];
        outcome
            .rows
            .iter()
            .any(|row| claimed.contains(&row.verdict))
    };
    let outcomes = (0..SIMULATIONS).map(|seed| compare(world, seed, blocks_max));
    outcomes.filter(claims).count()
}

/// At most 6 % of comparisons of equals may claim anything in any row at any look.
fn check_honest(name: &str, world: World, blocks_max: usize) {
    let claimed = claims(world, blocks_max);
    assert!(claimed <= 60, "{name}: {claimed}");
}

#[test]
fn equals_are_seldom_called_different() {
    check_honest("shared host", SHARED, BLOCKS_MAX);
    check_honest("few blocks", SHARED, 6);
    check_honest("eight blocks", SHARED, 8);
}

#[test]
fn wild_tails_are_no_difference_either() {
    let wild = World {
        host: 0.1,
        request: 1.0,
        slow: 0.05,
        ..SHARED
    };
    check_honest("wild host", wild, BLOCKS_MAX);
}

#[test]
fn a_planted_twentieth_is_found() {
    let world = World {
        planted: 0.05,
        ..SHARED
    };
    let outcomes = (0..SIMULATIONS).map(|seed| compare(world, seed, BLOCKS_MAX));
    let (mut found, mut wrong) = (0, 0);
    for outcome in outcomes {
        let throughput = outcome.rows[0].verdict == Verdict::Lower;
        found += usize::from(throughput || outcome.rows[1].verdict == Verdict::Higher);
        wrong += usize::from(outcome.rows[0].verdict == Verdict::Higher);
    }
    assert!(found >= 900, "{found}");
    assert!(wrong <= 10, "{wrong}");
}

/// The truth lies within all intervals at once about as often as promised.
#[test]
fn intervals_hold_the_truth() {
    let world = World {
        planted: 0.2,
        ..SHARED
    };
    let holds = |outcome: Outcome| {
        let rows = outcome.rows.iter().enumerate();
        rows.filter(|(row, _)| *row < WATCHED).all(|(row, seen)| {
            let truth = if row == 0 { 1.0 / 1.2 } else { 1.2 };
            seen.interval
                .is_some_and(|interval| interval.contains(truth))
        })
    };
    let held = (0..SIMULATIONS)
        .filter(|seed| holds(compare(world, *seed, BLOCKS_MAX)))
        .count();
    assert!(held >= 940, "{held}");
}

const PACE_BLOCKS: usize = 16;
const PACE_SIMULATIONS: u64 = 500;
/// True effect of a variant beside the pace of the cores, as a logarithm.
const PACE_EFFECT: f64 = -0.02;

/// Returns blocks of a host with a core pace wandering by a tenth; throughput follows the pace by a
/// quarter, with a noise of 1 %. `merit` is by how much B's own doing makes the cores faster.
fn blocks_with_pace(seed: u64, merit: f64) -> Vec<Block> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut pace = 0.0;
    let mut block = || {
        let b_first = random.bool();
        let mut sides = [Vec::new(), Vec::new()];
        for is_b in [b_first, !b_first, !b_first, b_first] {
            pace = 0.5 * pace + 0.1 * normal(&mut random);
            let (merit, effect) = if is_b {
                (merit, PACE_EFFECT)
            } else {
                (0.0, 0.0)
            };
            let seen = pace - merit;
            let rps = effect - 0.25 * seen + 0.01 * normal(&mut random);
            sides[usize::from(is_b)].push([rps.exp(), seen.exp()]);
        }
        let row = |row: usize| Measured {
            a: [sides[0][0][row], sides[0][1][row]],
            b: [sides[1][0][row], sides[1][1][row]],
        };
        Block::of(&[row(0), row(1)])
    };
    (0..PACE_BLOCKS).map(|_| block()).collect()
}

/// Returns how many simulations' intervals hold B's true effect, and the mean half-width.
fn held_beside_pace(merit: f64, ratios: impl Fn(&[Block]) -> Vec<f64>) -> (usize, f64) {
    let (mut held, mut width) = (0, 0.0);
    for seed in 0..PACE_SIMULATIONS {
        let units: Vec<Vec<f64>> = ratios(&blocks_with_pace(seed, merit))
            .into_iter()
            .map(|ratio| vec![ratio])
            .collect();
        let interval = simultaneous_intervals(&units, 0.05, 500).expect("units")[0];
        held += usize::from(interval.contains(PACE_EFFECT + 0.25 * merit));
        width += interval.half_width() / PACE_SIMULATIONS as f64;
    }
    (held, width)
}

#[test]
fn intervals_get_narrower_and_hold_as_often() {
    let as_is = |blocks: &[Block]| blocks.iter().map(|block| block.ratios[0]).collect();
    let (held_before, width_before) = held_beside_pace(0.0, as_is);
    let (held_after, width_after) =
        held_beside_pace(0.0, |blocks| covariate::without(blocks, 0, 1));
    assert!(
        width_after < 0.6 * width_before,
        "{width_before} {width_after}"
    );
    let least = PACE_SIMULATIONS as usize * 93 / 100;
    assert!(held_before >= least, "{held_before}");
    assert!(held_after >= least, "{held_after}");
}

#[test]
fn what_a_variant_does_to_the_cores_is_its_merit() {
    let (held, _) = held_beside_pace(0.3, |blocks| covariate::without(blocks, 0, 1));
    assert!(held >= PACE_SIMULATIONS as usize * 90 / 100, "{held}");
}

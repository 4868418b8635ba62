//! Taking out of a comparison what was measured beside it and explains a part of its noise, such as how fast the cores were:
//! analysis of covariance (Fisher 1932), with a slope that owes nothing to the difference between the sides.
//!
//! The slope comes from the A/A arms of the blocks, in which a difference between the sides cancels out of both rows. So what the
//! slope is wrong by has nothing to do with the ratios that it is then used on, and their intervals hold as before.

use crate::comparison::Block;
use crate::mean;

/// Standard errors by which the sides may differ in what explains: beyond, it is a variant's own doing, and to take it out would take
/// the variant's merit with it.
const ALIKE: f64 = 2.0;

/// The blocks' ratios of `row` without what `beside` explains of them; as they are where that row differs between the sides, or does
/// not vary.
pub fn without(blocks: &[Block], row: usize, beside: usize) -> Vec<f64> {
    let slope = if differs(blocks, beside) {
        0.0
    } else {
        slope(blocks, row, beside)
    };
    let rest = |block: &Block| block.ratios[row] - slope * block.ratios[beside];
    blocks.iter().map(rest).collect()
}

fn slope(blocks: &[Block], row: usize, beside: usize) -> f64 {
    let sum = |of: fn(f64, f64) -> f64| -> f64 {
        let each = blocks
            .iter()
            .map(|block| of(block.noise[beside], block.noise[row]));
        each.sum()
    };
    let squares = sum(|beside, _| beside * beside);
    if squares > 0.0 {
        sum(|beside, row| beside * row) / squares
    } else {
        0.0
    }
}

fn differs(blocks: &[Block], row: usize) -> bool {
    let values: Vec<f64> = blocks.iter().map(|block| block.ratios[row]).collect();
    let (Some(mean), count) = (mean(&values), values.len() as f64) else {
        return false;
    };
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    mean.abs() > ALIKE * (squares / (count - 1.0) / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Measured;
    use crate::simultaneous_intervals;

    const BLOCKS: usize = 16;
    const SIMULATIONS: u64 = 500;
    /// What a variant gives, as a logarithm.
    const EFFECT: f64 = -0.02;

    fn normal(random: &mut fastrand::Rng) -> f64 {
        let (a, b) = (1.0 - random.f64(), random.f64());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// A host whose cores' pace wanders by a tenth; throughput follows it by a quarter and has noise of 1 % of its own. `merit` is by
    /// how much B's own doing makes the cores faster.
    fn blocks(seed: u64, merit: f64) -> Vec<Block> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pace = 0.0;
        let mut block = || {
            let b_first = random.bool();
            let mut sides = [Vec::new(), Vec::new()];
            for is_b in [b_first, !b_first, !b_first, b_first] {
                pace = 0.5 * pace + 0.1 * normal(&mut random);
                let (merit, effect) = if is_b { (merit, EFFECT) } else { (0.0, 0.0) };
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
        (0..BLOCKS).map(|_| block()).collect()
    }

    /// Of all simulations, how many intervals hold what B gives, and how wide they are on average.
    fn held(merit: f64, ratios: impl Fn(&[Block]) -> Vec<f64>) -> (usize, f64) {
        let (mut held, mut width) = (0, 0.0);
        for seed in 0..SIMULATIONS {
            let units: Vec<Vec<f64>> = ratios(&blocks(seed, merit))
                .into_iter()
                .map(|ratio| vec![ratio])
                .collect();
            let interval = simultaneous_intervals(&units, 0.05, 500).expect("units")[0];
            held += usize::from(interval.contains(EFFECT + 0.25 * merit));
            width += interval.half_width() / SIMULATIONS as f64;
        }
        (held, width)
    }

    #[test]
    fn intervals_get_narrower_and_hold_as_often() {
        let as_is = |blocks: &[Block]| blocks.iter().map(|block| block.ratios[0]).collect();
        let (held_before, width_before) = held(0.0, as_is);
        let (held_after, width_after) = held(0.0, |blocks| without(blocks, 0, 1));
        assert!(
            width_after < 0.6 * width_before,
            "{width_before} {width_after}"
        );
        let least = SIMULATIONS as usize * 93 / 100;
        assert!(held_before >= least, "{held_before}");
        assert!(held_after >= least, "{held_after}");
    }

    #[test]
    fn what_a_variant_does_to_the_cores_is_its_merit() {
        let (held, _) = held(0.3, |blocks| without(blocks, 0, 1));
        assert!(held >= SIMULATIONS as usize * 90 / 100, "{held}");
    }

    #[test]
    fn what_does_not_vary_explains_nothing() {
        let even = Measured {
            a: [2.0, 2.0],
            b: [2.0, 2.0],
        };
        let row = Measured {
            a: [1.0, 1.0],
            b: [3.0, 3.0],
        };
        let blocks = vec![Block::of(&[row, even]); 6];
        assert_eq!(without(&blocks, 0, 1), [3f64.ln(); 6]);
    }
}

//! Removes from a comparison the noise explained by something measured beside, such as the speed of
//! the cores: analysis of covariance (Fisher 1932), with a slope independent of the difference
//! between the sides.
//!
//! The slope comes from the A/A arms of the blocks, in which a difference between the sides cancels
//! out of both rows. So what the slope is wrong by has nothing to do with the ratios that it is
//! then used on, and their intervals hold as before.

use crate::bootstrap::Moments;
use crate::comparison::Block;

/// Standard errors allowed between the sides' explaining rows: a greater difference is a variant's
/// own doing, and part of the variant's merit.
const ALIKE: f64 = 2.0;

/// Returns the blocks' ratios of `row` without the part explained by `beside`; unchanged where
/// `beside` differs between the sides, or does not vary.
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
    Moments::of(blocks.iter().map(|block| block.ratios[row])).deviation() > ALIKE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Measured;

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

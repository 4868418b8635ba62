//! Chooses the calm slices of a measurement: the ones with the cores at full speed.
//!
//! A core slows down by a third, for tenths of a second to half a minute, when a neighbour uses the
//! other thread of the same physical core. Moments without it are the same on both sides of a
//! comparison. They are chosen by how long a fixed piece of work took on the cores (the *pace*),
//! not by what the app took, so that the choice favours neither side.

use crate::quantile;

/// Slices needed for a choice, and mean number of requests needed in a slice.
const SLICES_MIN: usize = 4;
const SLICE_REQUESTS: usize = 10;
/// Share of the slices needed with a known pace, measured on a busy core: otherwise the choice
/// would depend on how busy the cores were.
const KNOWN_SHARE: f64 = 0.75;
/// Share of the slices taken for calm, whatever the others were.
const CALM_SHARE: f64 = 0.25;
/// Ratio to the calm slices' pace up to which a slice counts as calm: the pace of an undisturbed
/// slice is known to about 2 %.
const CALM: f64 = 1.03;

/// A part of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Requests answered in the slice.
    pub requests: usize,
    /// Total cost of the requests, in any unit.
    pub cost: f64,
    /// Time of the fixed piece of work on the cores; `None` if the cores were too idle for a probe.
    pub pace: Option<u64>,
}

/// The slices to be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The whole measurement, with too few slices, or too few requests for so many.
    Whole,
    /// Indices of the calm slices, ascending.
    Slices(Vec<usize>),
}

/// Figures of the calm slices.
#[derive(Clone, Debug, PartialEq)]
pub struct Calm {
    /// Cost of a request in the chosen slices; `None` without a request or a cost.
    pub cost_each: Option<f64>,
    /// Pace of the calmest slices; `None` if known for too few.
    pub pace: Option<u64>,
    /// Mean pace of all slices; `None` as above.
    pub pace_mean: Option<u64>,
    /// The chosen slices.
    pub chosen: Chosen,
}

/// Chooses the calm slices. `whole` is the measurement as one slice, where its ends are known.
pub fn choose(slices: &[Slice], whole: Option<Slice>) -> Calm {
    let paces = known_paces(slices);
    let pace = quantile(&paces, CALM_SHARE);
    let sum: u64 = paces.iter().sum();
    let requests: usize = slices.iter().map(|slice| slice.requests).sum();
    let few = slices.len() < SLICES_MIN || requests < SLICE_REQUESTS * slices.len();
    let is_calm = |slice: &Slice| match pace {
        Some(calm) => slice
            .pace
            .is_some_and(|pace| pace as f64 <= CALM * calm as f64),
        None => true,
    };
    let chosen: Vec<usize> = (0..slices.len())
        .filter(|index| !few && is_calm(&slices[*index]))
        .collect();
    let counted: Vec<Slice> = match few {
        true => whole.into_iter().collect(),
        false => chosen.iter().map(|index| slices[*index]).collect(),
    };
    let cost: f64 = counted.iter().map(|slice| slice.cost).sum();
    let requests: usize = counted.iter().map(|slice| slice.requests).sum();
    Calm {
        cost_each: (requests > 0 && cost > 0.0).then(|| cost / requests as f64),
        pace,
        pace_mean: sum.checked_div(paces.len() as u64),
        chosen: if few {
            Chosen::Whole
        } else {
            Chosen::Slices(chosen)
        },
    }
}

/// Returns the paces, ascending; none where too few slices have one.
fn known_paces(slices: &[Slice]) -> Vec<u64> {
    let mut paces: Vec<u64> = slices.iter().filter_map(|slice| slice.pace).collect();
    if (paces.len() as f64) < KNOWN_SHARE * slices.len() as f64 {
        paces.clear();
    }
    paces.sort_unstable();
    paces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices with the cost of a request and the pace, 0 for unknown.
    fn chosen(slices: &[(f64, u64)], requests: usize) -> Calm {
        let slices: Vec<Slice> = (slices.iter())
            .map(|(each, pace)| Slice {
                requests,
                cost: each * requests as f64,
                pace: (*pace > 0).then_some(*pace),
            })
            .collect();
        let whole = Slice {
            requests: requests * slices.len(),
            cost: slices.iter().map(|slice| slice.cost).sum(),
            pace: None,
        };
        choose(&slices, Some(whole))
    }

    #[test]
    fn slices_on_slow_cores_do_not_count() {
        let check = |slices: &[(f64, u64)], requests: usize, each: Option<f64>, pace| {
            let calm = chosen(slices, requests);
            let is_near = match (calm.cost_each, each) {
                (Some(cost), Some(expected)) => (cost - expected).abs() < 1e-3,
                (cost, expected) => cost.is_none() && expected.is_none(),
            };
            assert!(is_near, "{slices:?}: {calm:?}");
            assert_eq!(calm.pace, pace, "{slices:?}");
        };
        let (calm, slow) = ((2.0, 40), (3.0, 60));
        let most_slow = [calm, slow, calm, slow, slow, slow, slow, calm];
        check(&most_slow, 40, Some(2.0), Some(40));
        check(&[slow; 8], 40, Some(3.0), Some(60));
        // The cost to the app itself does not choose.
        let dear = (2.5, 40);
        check(&[calm, dear, calm, dear, slow], 40, Some(2.25), Some(40));
        // Too few slices, or too few requests for so many: all of it.
        check(&[calm, slow, calm], 40, Some(7.0 / 3.0), Some(40));
        check(&most_slow, 4, Some(21.0 / 8.0), Some(40));
        // Cores whose pace is not known, now and then or most of the time.
        let idle = (9.0, 0);
        check(&[calm, calm, idle, calm], 40, Some(2.0), Some(40));
        check(&[calm, idle, idle, calm], 40, Some(5.5), None);
        check(&[(0.0, 40); 8], 40, None, Some(40));
        check(&[], 40, None, None);
    }
}

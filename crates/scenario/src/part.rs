//! One generator's part of a load shared by several: connections, iterations and rows.
//!
//! Every rule here is a partition: what the parts of one plan have together is the whole plan, and
//! no two have the same.

use std::fmt;

/// One of several generators, counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    number: u32,
    of: u32,
}

/// Greatest number of generators of a plan; far more than in any known Job.
const GENERATORS_MAX: u32 = 10_000;

impl Default for Part {
    fn default() -> Part {
        Part::WHOLE
    }
}

impl Part {
    /// The only generator of a plan.
    pub const WHOLE: Part = Part { number: 0, of: 1 };

    /// The part `number` of `of`; `None` where there is no such part.
    pub fn new(number: u32, of: u32) -> Option<Part> {
        (number < of && of <= GENERATORS_MAX).then_some(Part { number, of })
    }

    /// Returns all parts of a load over `of` generators, in order; none for too many.
    pub fn all(of: u32) -> impl Iterator<Item = Part> {
        (0..of).filter_map(move |number| Part::new(number, of))
    }

    /// Reads `K/N`, K from 0 to N - 1. The error is a sentence.
    pub fn parse(text: &str) -> Result<Part, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(number, of)| Part::new(number.parse().ok()?, of.parse().ok()?));
        numbers.ok_or_else(|| {
            format!(
                "`{text}` is no part of a load; write K/N, such as 0/3, 1/3 and 2/3 for three generators, \
                 {GENERATORS_MAX} at most"
            )
        })
    }

    /// Which generator, from zero.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many generators share the plan.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Returns whether the part is the whole plan.
    pub fn is_whole(self) -> bool {
        self.of == 1
    }

    /// Returns the part's share of `all`: every `of`th, starting at the part's number.
    pub fn share(self, all: u32) -> u32 {
        all / self.of + u32::from(self.number < all % self.of)
    }

    /// Returns the index in the whole plan of the part's `index`th item.
    pub fn in_whole(self, index: u64) -> u64 {
        index * u64::from(self.of) + u64::from(self.number)
    }

    /// Returns the index in the whole plan of the part's `index`th iteration, where flows take
    /// turns of `turn` iterations. Whole turns go round among the generators, so that each runs the
    /// flows by their weights: a slow flow that met one generator alone would get less than its
    /// weight in a closed load.
    pub(crate) fn iteration(self, index: u64, turn: u64) -> u64 {
        self.in_whole(index / turn) * turn + index % turn
    }

    /// Returns the part's rows of a feed.
    pub(crate) fn rows(self, all: usize) -> impl Iterator<Item = u32> {
        (self.number..all as u32).step_by(self.of as usize)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_part_is_written_as_it_is_read() {
        for text in ["0/1", "0/3", "2/3", "9999/10000"] {
            assert_eq!(Part::parse(text).expect(text).to_string(), text);
        }
        for wrong in ["", "1", "3/3", "1/0", "-1/2", "a/b", "0/10001", "1/2/3"] {
            assert!(Part::parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn the_parts_together_are_the_whole(of in 1_u32..40, all in 0_u32..400, turn in 1_u64..9) {
            let shares: u32 = Part::all(of).map(|part| part.share(all)).sum();
            prop_assert_eq!(shares, all);

            let whole: Vec<u64> = (0..u64::from(all)).collect();
            let mut numbers: Vec<u64> = Part::all(of)
                .flat_map(|part| (0..part.share(all)).map(move |index| part.in_whole(u64::from(index))))
                .collect();
            numbers.sort_unstable();
            prop_assert_eq!(&numbers, &whole);

            let mut rows: Vec<u64> = Part::all(of).flat_map(|part| part.rows(all as usize)).map(u64::from).collect();
            rows.sort_unstable();
            prop_assert_eq!(&rows, &whole);

            // As many turns for each as there are numbers here.
            let turns = u64::from(all) * turn;
            let mut iterations: Vec<u64> = Part::all(of)
                .flat_map(|part| (0..turns).map(move |index| part.iteration(index, turn)))
                .collect();
            iterations.sort_unstable();
            prop_assert_eq!(iterations, (0..turns * u64::from(of)).collect::<Vec<u64>>());
        }

        #[test]
        fn each_part_runs_every_flow_of_a_turn(of in 1_u32..40, number in 0_u32..40, turn in 1_u64..20) {
            let Some(part) = Part::new(number, of) else { return Ok(()) };
            let flows: Vec<u64> = (0..turn).map(|index| part.iteration(index, turn) % turn).collect();
            prop_assert_eq!(flows, (0..turn).collect::<Vec<u64>>());
        }
    }
}

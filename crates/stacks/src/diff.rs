//! Methods wider or narrower in one profile than in another, with bounds.
//!
//! Both profiles are cut into blocks of equal weight in the order of time, since neighbouring
//! samples see the same thing and are not independent. Blocks are drawn again with replacement (the
//! bootstrap of Efron 1979, by blocks), and the change of each frame's share is taken each time:
//! the middle 95 % of those changes are the bounds. A profile without times is first shuffled.

use std::collections::{HashMap, HashSet};

use crate::profile::{Frame, Profile, Sample};

/// Blocks of a profile: enough for bounds at 95 %, each still long beside one sample.
const BLOCKS: usize = 50;
/// Random drawings; with more, the bounds move by less than a tenth of the width (found by
/// experiment).
const DRAWINGS: usize = 400;
const SEED: u64 = 0x4841_4b41_5255;

/// A frame in two profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The method. Where its definition moved to another line, that of the later profile.
    pub frame: Frame,
    /// Weight including callees: before, after.
    pub weight: [u64; 2],
    /// Share including callees, 0 to 1: before, after.
    pub share: [f64; 2],
    /// Share of the frame's own code, 0 to 1: before, after.
    pub own_share: [f64; 2],
    /// Bounds of the change of `share`, at 95 %.
    pub bounds: [f64; 2],
}

impl Changed {
    /// The change of the share including callees.
    pub fn change(&self) -> f64 {
        self.share[1] - self.share[0]
    }

    /// Whether noise alone would hardly show such a change.
    pub fn is_sure(&self) -> bool {
        self.bounds[0] > 0.0 || self.bounds[1] < 0.0
    }
}

/// The difference of two profiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    /// Weight of each as a whole.
    pub total: [u64; 2],
    /// Frames, the largest change first.
    pub frames: Vec<Changed>,
}

/// Compares two profiles by frame. Frames are the same when name and file are: lines move.
pub fn diff(before: &Profile, after: &Profile) -> Diff {
    let mut numbered = Numbers::default();
    let sides = [
        Side::of(before, &mut numbered),
        Side::of(after, &mut numbered),
    ];
    let count = numbered.frames.len();
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut changes: Vec<Vec<f64>> = vec![Vec::with_capacity(DRAWINGS); count];
    for _ in 0..DRAWINGS {
        let shares = sides.each_ref().map(|side| side.draw(count, &mut random));
        for (index, all) in changes.iter_mut().enumerate() {
            all.push(shares[1][index] - shares[0][index]);
        }
    }
    let whole = sides.each_ref().map(|side| side.whole(count));
    let total = sides.each_ref().map(|side| side.total);
    let mut frames: Vec<Changed> = numbered
        .frames
        .into_iter()
        .zip(changes)
        .enumerate()
        .map(|(index, (frame, changes))| {
            let share_of = |side: usize, weight: u64| weight as f64 / total[side].max(1) as f64;
            let weight = [whole[0][index].0, whole[1][index].0];
            Changed {
                frame,
                weight,
                share: [share_of(0, weight[0]), share_of(1, weight[1])],
                own_share: [
                    share_of(0, whole[0][index].1),
                    share_of(1, whole[1][index].1),
                ],
                bounds: middle(changes),
            }
        })
        .collect();
    frames.sort_by(|a, b| {
        let by_change = b.change().abs().total_cmp(&a.change().abs());
        by_change.then_with(|| a.frame.cmp(&b.frame))
    });
    Diff { total, frames }
}

/// Frames of both profiles under one number.
#[derive(Default)]
struct Numbers {
    frames: Vec<Frame>,
    numbers: HashMap<(String, String), usize>,
}

impl Numbers {
    fn number(&mut self, frame: &Frame) -> usize {
        let key = (frame.name.clone(), frame.file.clone());
        let fresh = self.frames.len();
        let number = *self.numbers.entry(key).or_insert(fresh);
        if number == fresh {
            self.frames.push(frame.clone());
        } else {
            self.frames[number].line = frame.line;
        }
        number
    }
}

/// One profile, cut into blocks: weight by frame, including callees and of the frame alone.
struct Side {
    blocks: Vec<Block>,
    total: u64,
}

#[derive(Default)]
struct Block {
    weight: u64,
    frames: HashMap<usize, (u64, u64)>,
}

impl Side {
    fn of(profile: &Profile, numbered: &mut Numbers) -> Side {
        let numbers: Vec<usize> = profile
            .frames()
            .iter()
            .map(|frame| numbered.number(frame))
            .collect();
        let stacks: Vec<(Option<usize>, HashSet<usize>)> = profile
            .stacks()
            .map(|stack| {
                let of = |location: &crate::Location| numbers[location.frame.0 as usize];
                (stack.first().map(of), stack.iter().map(of).collect())
            })
            .collect();
        let total = profile.total();
        let mut blocks: Vec<Block> = (0..BLOCKS).map(|_| Block::default()).collect();
        let mut passed = 0u128;
        for sample in in_order(profile) {
            // The block that the middle of the sample falls into.
            let middle = passed + u128::from(sample.weight) / 2;
            let index = (middle * BLOCKS as u128 / u128::from(total.max(1))) as usize;
            let block = &mut blocks[index.min(BLOCKS - 1)];
            block.weight += sample.weight;
            let (inner, all) = &stacks[sample.stack.0 as usize];
            for number in all {
                let sum = block.frames.entry(*number).or_default();
                sum.0 += sample.weight;
                sum.1 += if Some(*number) == *inner {
                    sample.weight
                } else {
                    0
                };
            }
            passed += u128::from(sample.weight);
        }
        Side { blocks, total }
    }

    fn whole(&self, count: usize) -> Vec<(u64, u64)> {
        let mut sums = vec![(0, 0); count];
        for block in &self.blocks {
            for (number, (all, own)) in &block.frames {
                sums[*number].0 += all;
                sums[*number].1 += own;
            }
        }
        sums
    }

    /// Shares of the frames in as many blocks as there are, drawn with replacement.
    fn draw(&self, count: usize, random: &mut fastrand::Rng) -> Vec<f64> {
        let mut sums = vec![0u64; count];
        let mut whole = 0;
        for _ in 0..self.blocks.len() {
            let block = &self.blocks[random.usize(..self.blocks.len())];
            whole += block.weight;
            for (number, (all, _)) in &block.frames {
                sums[*number] += all;
            }
        }
        sums.into_iter()
            .map(|sum| sum as f64 / whole.max(1) as f64)
            .collect()
    }
}

/// Returns the samples in order of time; in random order without times. One heavy sample of many
/// observations is taken apart, or it would fill blocks of its own.
fn in_order(profile: &Profile) -> Vec<Sample> {
    const PARTS_MAX: u64 = 1000;
    if profile.samples.iter().any(|sample| sample.at > 0) {
        let mut samples = profile.samples.clone();
        samples.sort_by_key(|sample| sample.at);
        return samples;
    }
    let mut samples: Vec<Sample> = Vec::with_capacity(profile.samples.len());
    for sample in &profile.samples {
        let parts = u64::from(sample.count).clamp(1, PARTS_MAX);
        for part in 0..parts {
            let weight = sample.weight / parts + u64::from(part < sample.weight % parts);
            samples.push(Sample { weight, ..*sample });
        }
    }
    fastrand::Rng::with_seed(SEED).shuffle(&mut samples);
    samples
}

fn middle(mut changes: Vec<f64>) -> [f64; 2] {
    changes.sort_by(f64::total_cmp);
    let tail = changes.len() * 25 / 1000;
    match (changes.get(tail), changes.get(changes.len() - 1 - tail)) {
        (Some(low), Some(high)) => [*low, *high],
        _ => [0.0, 0.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::profile;

    fn find<'a>(diff: &'a Diff, name: &str) -> &'a Changed {
        diff.frames
            .iter()
            .find(|changed| changed.frame.name == name)
            .expect("it is there")
    }

    /// Lines repeated: each part of the time holds all lines.
    fn mixed(lines: &str, times: usize) -> Profile {
        profile(&vec![lines; times].join("\n"))
    }

    #[test]
    fn what_went_away_and_what_came_is_sure() {
        let diff = diff(
            &mixed("m;old 5\nm;same 5", 100),
            &mixed("m;new 5\nm;same 5", 100),
        );
        let old = find(&diff, "old");
        assert_eq!(old.share, [0.5, 0.0]);
        assert!(old.is_sure() && old.bounds[1] < -0.4, "{old:?}");
        assert!(find(&diff, "new").is_sure());
        assert!(!find(&diff, "same").is_sure());
        assert!(!find(&diff, "m").is_sure());
        assert_eq!(diff.frames[0].change().abs(), 0.5);
    }

    #[test]
    fn the_same_program_twice_shows_no_sure_change() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut noisy = || {
            let lines: Vec<String> = (0..2000)
                .map(|_| if random.f64() < 0.3 { "m;a 1" } else { "m;b 1" }.to_owned())
                .collect();
            profile(&lines.join("\n"))
        };
        let diff = diff(&noisy(), &noisy());
        let a = find(&diff, "a");
        assert!(!a.is_sure(), "{a:?}");
        assert!(a.bounds[1] - a.bounds[0] < 0.12, "{a:?}");
    }

    #[test]
    fn a_profile_without_times_is_compared_too() {
        let untimed = |lines: &str| {
            let text = lines.replace(", ", "\n");
            crate::import::collapsed::read(&text)
                .expect("collapsed")
                .profile
        };
        let diff = diff(&untimed("m;a 700, m;b 300"), &untimed("m;a 300, m;b 700"));
        assert!(find(&diff, "a").is_sure());
        assert!((find(&diff, "a").change() + 0.4).abs() < 1e-9);
    }

    #[test]
    fn an_empty_profile_has_shares_of_nothing() {
        let diff = diff(&Profile::default(), &profile("m 3"));
        assert_eq!(find(&diff, "m").share, [0.0, 1.0]);
    }
}

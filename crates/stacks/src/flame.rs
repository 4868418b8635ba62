//! Folded stacks in the order of drawing.
//!
//! A viewer must be able to turn the graph round, leave out states and look at one method's
//! neighbours without the profile. So each node keeps its *own* weight by state, from which
//! everything else adds up, and no sample: a million of them make no larger a graph than a thousand
//! of the same stacks. Branches too narrow to be drawn are folded into one node of their parent, so
//! that the size is bounded and no weight is lost.

use std::collections::HashMap;

use crate::profile::{Frame, FrameId, Location, Profile, Sample, State};

/// Name of the frame in place of branches too narrow to be visible.
pub const NARROW: &str = "(narrow branches)";

/// A graph; nodes are in depth-first order, heavier siblings first. Node 0 is the root and has no
/// frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flame {
    /// The frames named by nodes.
    pub frames: Vec<Frame>,
    /// Depth below the root, by node.
    pub depth: Vec<u32>,
    /// Index into `frames`, by node; the root's is meaningless.
    pub frame: Vec<u32>,
    /// Own weights, by node.
    pub own: Vec<Own>,
}

/// Weight of a node alone, without the nodes below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// Index of the node.
    pub node: u32,
    /// Doing what.
    pub state: State,
    /// Weight in the profile's unit.
    pub weight: u64,
    /// Memory, in profiles of objects.
    pub bytes: u64,
    /// Whether the weight is of the earlier one of two profiles.
    pub earlier: bool,
}

impl Flame {
    /// Folds a profile into at most about so many nodes.
    pub fn of(profile: &Profile, nodes_max: usize) -> Flame {
        Flame::of_samples(profile, nodes_max, |_| true)
    }

    /// Folds the samples selected by `wanted`.
    pub fn of_samples(
        profile: &Profile,
        nodes_max: usize,
        wanted: impl Fn(&Sample) -> bool,
    ) -> Flame {
        let mut folding = Folding::default();
        folding.add(profile, false, wanted);
        folding.end(nodes_max)
    }

    /// Folds two profiles into one graph. Frames are the same when name and file are: lines move.
    pub fn of_both(before: &Profile, after: &Profile, nodes_max: usize) -> Flame {
        let mut folding = Folding {
            by_name: true,
            ..Folding::default()
        };
        folding.add(after, false, |_| true);
        folding.add(before, true, |_| true);
        folding.end(nodes_max)
    }
}

/// A tree under construction.
struct Folding {
    by_name: bool,
    frames: Vec<Frame>,
    ids: HashMap<(String, String, u32), u32>,
    parents: Vec<usize>,
    frame: Vec<u32>,
    places: HashMap<(usize, u32), usize>,
    own: HashMap<(usize, State, bool), (u64, u64)>,
}

impl Default for Folding {
    fn default() -> Folding {
        Folding {
            by_name: false,
            frames: Vec::new(),
            ids: HashMap::new(),
            parents: vec![0],
            frame: vec![0],
            places: HashMap::new(),
            own: HashMap::new(),
        }
    }
}

impl Folding {
    fn add(&mut self, profile: &Profile, earlier: bool, wanted: impl Fn(&Sample) -> bool) {
        let ids: Vec<u32> = profile
            .frames()
            .iter()
            .map(|frame| self.id(frame))
            .collect();
        let ends: Vec<usize> = profile
            .stacks()
            .map(|stack| self.end_of(stack, &ids))
            .collect();
        for sample in profile.samples.iter().filter(|sample| wanted(sample)) {
            let key = (ends[sample.stack.0 as usize], sample.state, earlier);
            let sum = self.own.entry(key).or_default();
            sum.0 += sample.weight;
            sum.1 += sample.bytes;
        }
    }

    fn id(&mut self, frame: &Frame) -> u32 {
        let line = if self.by_name { 0 } else { frame.line };
        let fresh = self.frames.len() as u32;
        let key = (frame.name.clone(), frame.file.clone(), line);
        let id = *self.ids.entry(key).or_insert(fresh);
        if id == fresh {
            self.frames.push(frame.clone());
        }
        id
    }

    /// The node at which a stack ends.
    fn end_of(&mut self, stack: &[Location], ids: &[u32]) -> usize {
        let mut at = 0;
        for location in stack.iter().rev() {
            let FrameId(frame) = location.frame;
            let frame = ids[frame as usize];
            let fresh = self.parents.len();
            let next = *self.places.entry((at, frame)).or_insert(fresh);
            if next == fresh {
                self.parents.push(at);
                self.frame.push(frame);
            }
            at = next;
        }
        at
    }

    fn end(mut self, nodes_max: usize) -> Flame {
        let weights = self.weights();
        let narrowest = narrowest(&weights, nodes_max);
        let narrow = self.frames.len() as u32;
        let mut moved: HashMap<usize, usize> = HashMap::new();
        // Parents come before their children: whoever is folded away takes all below along.
        let mut kept_weights = weights.clone();
        let mut target: Vec<usize> = (0..weights.len()).collect();
        for node in 1..weights.len() {
            let parent = self.parents[node];
            if target[parent] != parent {
                target[node] = target[parent];
            } else if weights[node] < narrowest {
                target[node] = *moved.entry(parent).or_insert_with(|| {
                    self.parents.push(parent);
                    self.frame.push(narrow);
                    kept_weights.push(0);
                    self.parents.len() - 1
                });
                kept_weights[target[node]] += weights[node];
            }
        }
        if !moved.is_empty() {
            self.frames.push(Frame {
                name: NARROW.to_owned(),
                ..Frame::default()
            });
        }
        target.extend(weights.len()..self.parents.len());
        self.draw(&target, &kept_weights)
    }

    /// Weight of each node and all below, of both profiles together.
    fn weights(&self) -> Vec<u64> {
        let mut weights = vec![0u64; self.parents.len()];
        for ((node, _, _), (weight, _)) in &self.own {
            weights[*node] += weight;
        }
        for node in (1..weights.len()).rev() {
            weights[self.parents[node]] += weights[node];
        }
        weights
    }

    /// The nodes with themselves as target, in depth-first order.
    fn draw(self, target: &[usize], weights: &[u64]) -> Flame {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); target.len()];
        for node in 1..target.len() {
            if target[node] == node && weights[node] > 0 {
                children[self.parents[node]].push(node);
            }
        }
        for siblings in &mut children {
            siblings.sort_by_key(|node| (std::cmp::Reverse(weights[*node]), *node));
        }
        let mut flame = Flame {
            frames: self.frames,
            ..Flame::default()
        };
        let mut drawn = vec![0u32; target.len()];
        let mut waiting = vec![(0usize, 0u32)];
        while let Some((node, depth)) = waiting.pop() {
            drawn[node] = flame.depth.len() as u32;
            flame.depth.push(depth);
            flame.frame.push(self.frame[node]);
            waiting.extend(children[node].iter().rev().map(|child| (*child, depth + 1)));
        }
        let mut sums: HashMap<(u32, State, bool), (u64, u64)> = HashMap::new();
        for ((node, state, earlier), (weight, bytes)) in self.own {
            let sum = sums
                .entry((drawn[target[node]], state, earlier))
                .or_default();
            sum.0 += weight;
            sum.1 += bytes;
        }
        flame.own = sums
            .into_iter()
            .filter(|(_, (weight, _))| *weight > 0)
            .map(|((node, state, earlier), (weight, bytes))| Own {
                node,
                state,
                weight,
                bytes,
                earlier,
            })
            .collect();
        flame
            .own
            .sort_by_key(|own| (own.node, own.state, own.earlier));
        flame
    }
}

/// The least weight of a node for at most `nodes_max` nodes.
fn narrowest(weights: &[u64], nodes_max: usize) -> u64 {
    if weights.len() <= nodes_max {
        return 0;
    }
    let mut sorted = weights.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted[nodes_max] + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::tests::profile;

    /// `name own` of each node, indented by depth.
    fn drawn(flame: &Flame) -> Vec<String> {
        let lines = flame.depth.iter().zip(&flame.frame).enumerate();
        let line = |(node, (depth, frame)): (usize, (&u32, &u32))| {
            let own = |earlier: bool| -> u64 {
                let all = flame.own.iter();
                all.filter(|own| own.node as usize == node && own.earlier == earlier)
                    .map(|own| own.weight / 1_000_000)
                    .sum()
            };
            let name = if node == 0 {
                "*"
            } else {
                &flame.frames[*frame as usize].name
            };
            format!(
                "{}{name} {}/{}",
                "-".repeat(*depth as usize),
                own(true),
                own(false)
            )
        };
        lines.map(line).collect()
    }

    #[test]
    fn nodes_come_depth_first_and_heavier_siblings_first() {
        let flame = Flame::of(&profile("m;a;x 2\nm;b 5\nm;a;y 1\nm;a 1"), 100);
        assert_eq!(
            drawn(&flame),
            [
                "* 0/0", "-m 0/0", "--b 0/5", "--a 0/1", "---x 0/2", "---y 0/1"
            ]
        );
    }

    #[test]
    fn two_profiles_share_their_nodes_though_lines_have_moved() {
        let mut after = profile("m;a 4\nm;new 3");
        let moved = Frame {
            line: 9,
            ..after.frames()[1].clone()
        };
        let place = Location {
            frame: after.frame_id(moved),
            line: 10,
        };
        let stack = after.stack_id(&[place]);
        after.samples[0].stack = stack;
        let flame = Flame::of_both(&profile("m;a 2\nm;old 1"), &after, 100);
        let all = drawn(&flame);
        assert!(all.contains(&"--old 1/0".to_owned()), "{all:?}");
        assert!(all.contains(&"--new 0/3".to_owned()), "{all:?}");
        assert_eq!(
            all.iter().filter(|line| line.contains('a')).count(),
            2,
            "{all:?}"
        );
    }

    #[test]
    fn narrow_branches_are_folded_and_keep_their_weight() {
        let flame = Flame::of(&profile("m;a;x 40\nm;b;p 2\nm;b;q 3\nm;c 1\nm;a;y;z 1"), 4);
        assert_eq!(
            drawn(&flame),
            [
                "* 0/0",
                "-m 0/0",
                "--a 0/0",
                "---x 0/40",
                "---(narrow branches) 0/1",
                "--(narrow branches) 0/6"
            ]
        );
    }

    proptest! {
        #[test]
        fn no_weight_is_lost_whatever_the_bound(
            counts in prop::collection::vec((0usize..4, 0usize..4, 0usize..4, 1u64..5), 1..30),
            nodes_max in 1usize..20,
        ) {
            let names = ["a", "b", "c", "d"];
            let lines: Vec<String> = counts
                .iter()
                .map(|(one, two, three, count)| {
                    format!("{};{};{} {count}", names[*one], names[*two], names[*three])
                })
                .collect();
            let profile = profile(&lines.join("\n"));
            let flame = Flame::of(&profile, nodes_max);
            let sum: u64 = flame.own.iter().map(|own| own.weight).sum();
            prop_assert_eq!(sum, profile.total());
            // One more for each node that has narrow branches.
            prop_assert!(flame.depth.len() <= 2 * nodes_max + 1);
        }
    }
}

//! One thread's stacks in the order of time, invisible in a graph folded by weight.

use std::collections::HashMap;

use crate::flame::{Flame, Own};
use crate::profile::{FrameId, Profile, Sample, State, ThreadId, ThreadOf, Unit};

/// The stacks of a thread, the earliest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InTime {
    /// Owner of the stacks.
    pub thread: ThreadOf,
    /// Time from the first sample to the last one with room, nanoseconds.
    pub duration: u64,
    /// Nodes in depth-first order, earlier ones first; a later call of the same method is another
    /// node.
    pub flame: Flame,
}

/// Folds the stacks of the busiest thread, as many samples as fit into about `nodes_max` nodes.
/// `None` for a profile without times of samples.
pub fn in_time(profile: &Profile, nodes_max: usize) -> Option<InTime> {
    if profile.unit == Unit::Objects {
        return None;
    }
    let thread = busiest(profile)?;
    let mut samples: Vec<&Sample> = (profile.samples.iter())
        .filter(|sample| sample.thread == thread && sample.weight > 0)
        .collect();
    samples.sort_by_key(|sample| sample.at);
    let first = samples.first()?.at;
    let mut flame = Flame {
        frames: profile.frames().to_vec(),
        depth: vec![0],
        frame: vec![0],
        own: Vec::new(),
    };
    let mut last = first;
    // Frames and nodes of the stack before, the outermost first.
    let mut open: Vec<(FrameId, u32)> = Vec::new();
    for sample in samples {
        if flame.depth.len() >= nodes_max {
            break;
        }
        let stack = profile.stack(sample.stack).iter().rev();
        let stack: Vec<FrameId> = stack.map(|location| location.frame).collect();
        let both = open.iter().zip(&stack);
        let common = both.take_while(|((known, _), frame)| known == *frame);
        open.truncate(common.count());
        for frame in &stack[open.len()..] {
            open.push((*frame, flame.depth.len() as u32));
            flame.depth.push(open.len() as u32);
            flame.frame.push(frame.0);
        }
        flame.own.push(Own {
            node: open.last().map_or(0, |(_, node)| *node),
            state: sample.state,
            weight: sample.weight,
            bytes: 0,
            earlier: false,
        });
        last = sample.at;
    }
    let told = last > first;
    told.then(|| InTime {
        thread: profile.thread(thread),
        duration: last - first,
        flame,
    })
}

/// The thread with the most running time; where none ran, the one with the most samples.
fn busiest(profile: &Profile) -> Option<ThreadId> {
    let mut seen: HashMap<ThreadId, (u64, u64)> = HashMap::new();
    for sample in &profile.samples {
        let (ran, all) = seen.entry(sample.thread).or_default();
        *ran += u64::from(sample.state == State::Running) * sample.weight;
        *all += sample.weight;
    }
    let most = seen
        .into_iter()
        .max_by_key(|(thread, seen)| (*seen, std::cmp::Reverse(thread.0)));
    most.map(|(thread, _)| thread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::profile;

    #[test]
    fn calls_are_in_the_order_of_time() {
        let mut profile = profile("main;a 1\nmain;b 1\nmain;a 1\nmain;a 1");
        for (index, sample) in profile.samples.iter_mut().enumerate() {
            sample.at = index as u64 * 10;
        }
        let shown = in_time(&profile, 100).expect("times");
        let names = shown.flame.frame.iter().skip(1);
        let names: Vec<&str> = names
            .map(|frame| shown.flame.frames[*frame as usize].name.as_str())
            .collect();
        assert_eq!(names, ["main", "a", "b", "a"]);
        assert_eq!(shown.flame.depth, [0, 1, 2, 2, 2]);
        let own = shown.flame.own.iter().map(|own| own.node);
        assert_eq!(own.collect::<Vec<_>>(), [2, 3, 4, 4]);
        assert_eq!(shown.duration, 30);
        assert_eq!(
            in_time(&profile, 4).map(|shown| shown.duration),
            Some(10),
            "as far as there is room"
        );
    }

    #[test]
    fn without_times_there_is_no_order() {
        let mut profile = profile("main;a 1\nmain;b 1");
        for sample in &mut profile.samples {
            sample.at = 0;
        }
        assert_eq!(in_time(&profile, 100), None);
    }
}

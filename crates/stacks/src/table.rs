//! Tables by frame: the weight of each method in a profile, with and without called methods.

use std::collections::{HashMap, HashSet};

use crate::profile::{Frame, FrameId, Profile, State};

/// A line of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The method.
    pub frame: Frame,
    /// The method's line with most weight, 0 when unknown.
    pub hot_line: u32,
    /// Weight in the profile's unit.
    pub weight: u64,
    /// Memory, in profiles of objects.
    pub bytes: u64,
    /// Share of the whole profile, 0 to 1.
    pub share: f64,
}

/// Both tables, the heaviest rows first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Weight of each method without called ones. Adds up to the whole profile.
    pub exclusive: Vec<Row>,
    /// Weight of each method with called ones; recursive calls count once.
    pub inclusive: Vec<Row>,
}

#[derive(Default)]
struct Sum {
    weight: u64,
    bytes: u64,
    lines: HashMap<u32, u64>,
}

/// The tables of a profile.
pub fn table(profile: &Profile) -> Table {
    let mut exclusive: HashMap<FrameId, Sum> = HashMap::new();
    let mut inclusive: HashMap<FrameId, Sum> = HashMap::new();
    for (stack, weight, bytes) in by_stack(profile) {
        let locations = profile.stack(stack);
        if let Some(inner) = locations.first() {
            add(&mut exclusive, inner.frame, inner.line, weight, bytes);
        }
        let mut seen = HashSet::new();
        for location in locations {
            if seen.insert(location.frame) {
                add(&mut inclusive, location.frame, location.line, weight, bytes);
            }
        }
    }
    let total = profile.total();
    Table {
        exclusive: rows(profile, exclusive, total),
        inclusive: rows(profile, inclusive, total),
    }
}

/// Weight by state, states without any left out.
pub fn states(profile: &Profile) -> Vec<(State, u64)> {
    let mut sums = [0u64; State::ALL.len()];
    for sample in &profile.samples {
        sums[sample.state as usize] += sample.weight;
    }
    State::ALL
        .into_iter()
        .zip(sums)
        .filter(|(_, weight)| *weight > 0)
        .collect()
}

/// Returns weight and bytes of each stack: one walk per stack is enough, however many samples.
pub(crate) fn by_stack(profile: &Profile) -> Vec<(crate::StackId, u64, u64)> {
    let mut sums = vec![(0u64, 0u64); profile.stacks().len()];
    for sample in &profile.samples {
        let sum = &mut sums[sample.stack.0 as usize];
        sum.0 += sample.weight;
        sum.1 += sample.bytes;
    }
    sums.into_iter()
        .enumerate()
        .filter(|(_, sum)| sum.0 > 0 || sum.1 > 0)
        .map(|(index, (weight, bytes))| (crate::StackId(index as u32), weight, bytes))
        .collect()
}

fn add(sums: &mut HashMap<FrameId, Sum>, frame: FrameId, line: u32, weight: u64, bytes: u64) {
    let sum = sums.entry(frame).or_default();
    sum.weight += weight;
    sum.bytes += bytes;
    *sum.lines.entry(line).or_default() += weight;
}

fn rows(profile: &Profile, sums: HashMap<FrameId, Sum>, total: u64) -> Vec<Row> {
    let mut rows: Vec<Row> = sums
        .into_iter()
        .map(|(frame, sum)| Row {
            frame: profile.frame(frame).clone(),
            hot_line: hottest(&sum.lines),
            weight: sum.weight,
            bytes: sum.bytes,
            share: sum.weight as f64 / total.max(1) as f64,
        })
        .collect();
    // By name where weights are equal, so that the same profile gives the same table.
    rows.sort_by(|a, b| (b.weight, &a.frame).cmp(&(a.weight, &b.frame)));
    rows
}

fn hottest(lines: &HashMap<u32, u64>) -> u32 {
    lines
        .iter()
        .max_by_key(|(line, weight)| (**weight, std::cmp::Reverse(**line)))
        .map_or(0, |(line, _)| *line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::tests::profile;

    fn shares(rows: &[Row]) -> Vec<(&str, u64)> {
        rows.iter()
            .map(|row| (row.frame.name.as_str(), row.weight / 1_000_000))
            .collect()
    }

    #[test]
    fn a_method_holds_itself_and_what_it_calls() {
        let table = table(&profile("main;a;b 6\nmain;a 3\nmain 1"));
        assert_eq!(shares(&table.exclusive), [("b", 6), ("a", 3), ("main", 1)]);
        assert_eq!(shares(&table.inclusive), [("main", 10), ("a", 9), ("b", 6)]);
        assert!((table.inclusive[1].share - 0.9).abs() < 1e-9);
    }

    #[test]
    fn recursion_counts_once() {
        let table = table(&profile("main;f;f;f;g 4\nmain;f;f 1"));
        assert_eq!(shares(&table.inclusive), [("f", 5), ("main", 5), ("g", 4)]);
    }

    proptest! {
        #[test]
        fn self_time_adds_up_to_the_whole(counts in prop::collection::vec((0usize..4, 0usize..4, 1u64..5), 1..20)) {
            let names = ["a", "b", "c", "d"];
            let lines: Vec<String> = counts
                .iter()
                .map(|(outer, inner, count)| format!("{};{} {count}", names[*outer], names[*inner]))
                .collect();
            let profile = profile(&lines.join("\n"));
            let table = table(&profile);
            let sum: u64 = table.exclusive.iter().map(|row| row.weight).sum();
            prop_assert_eq!(sum, profile.total());
            prop_assert!(table.inclusive.iter().all(|row| row.share <= 1.0));
        }
    }
}

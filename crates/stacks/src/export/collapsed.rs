//! Collapsed stacks: one line a stack, the outermost frame first.

use std::collections::BTreeMap;

use crate::profile::{Profile, Unit};
use crate::table::by_stack;

/// Weights are microseconds, objects, or samples. Sorted by stack.
pub fn write(profile: &Profile) -> String {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, weight, _) in by_stack(profile) {
        let names: Vec<String> = profile
            .stack(stack)
            .iter()
            .rev()
            // The format has no way to quote its separators.
            .map(|location| {
                let name = &profile.frame(location.frame).name;
                name.replace(';', ":").replace(['\n', '\r'], " ")
            })
            .collect();
        *lines.entry(names.join(";")).or_default() += weight;
    }
    let scale = if profile.unit == Unit::Nanos { 1000 } else { 1 };
    lines
        .into_iter()
        .map(|(stack, weight)| format!("{stack} {}\n", weight.div_ceil(scale)))
        .collect()
}

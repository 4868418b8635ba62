//! Callers and callees of a method.

use std::collections::HashMap;

use crate::profile::{Frame, Location, Profile};
use crate::table::by_stack;

/// Returns the weight received by `frame` from each caller, the heaviest first; the empty frame
/// stands for no caller, the outermost frame. Of recursive calls, the outermost counts.
pub fn callers(profile: &Profile, frame: &Frame) -> Vec<(Frame, u64)> {
    let neighbour = |stack: &[Location], outermost: usize| stack.get(outermost + 1).copied();
    around(profile, frame, neighbour, false)
}

/// Returns the weight passed on by `frame` to each called method, the heaviest first; the empty
/// frame stands for the method's own code. Of a method that calls itself, the innermost call
/// counts.
pub fn callees(profile: &Profile, frame: &Frame) -> Vec<(Frame, u64)> {
    let neighbour =
        |stack: &[Location], innermost: usize| innermost.checked_sub(1).map(|index| stack[index]);
    around(profile, frame, neighbour, true)
}

fn around(
    profile: &Profile,
    frame: &Frame,
    neighbour: impl Fn(&[Location], usize) -> Option<Location>,
    innermost: bool,
) -> Vec<(Frame, u64)> {
    let mut sums: HashMap<Frame, u64> = HashMap::new();
    for (stack, weight, _) in by_stack(profile) {
        let stack = profile.stack(stack);
        let is_it = |location: &Location| profile.frame(location.frame) == frame;
        let place = if innermost {
            stack.iter().position(is_it)
        } else {
            stack.iter().rposition(is_it)
        };
        let Some(place) = place else { continue };
        let key = neighbour(stack, place)
            .map(|location| profile.frame(location.frame).clone())
            .unwrap_or_default();
        *sums.entry(key).or_default() += weight;
    }
    let mut all: Vec<_> = sums.into_iter().collect();
    all.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::profile;

    fn named(all: &[(Frame, u64)]) -> Vec<(&str, u64)> {
        all.iter()
            .map(|(frame, weight)| (frame.name.as_str(), weight / 1_000_000))
            .collect()
    }

    #[test]
    fn callers_and_callees_hold_all_of_the_methods_weight() {
        let profile = profile("main;a;f;x 3\nmain;b;f 2\nmain;a;f;f;y 1\nf 1\nmain 9");
        let f = profile
            .frames()
            .iter()
            .find(|frame| frame.name == "f")
            .expect("it is there");
        assert_eq!(named(&callers(&profile, f)), [("a", 4), ("b", 2), ("", 1)]);
        assert_eq!(named(&callees(&profile, f)), [("", 3), ("x", 3), ("y", 1)]);
    }
}

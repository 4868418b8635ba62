//! Stacks with common beginnings, folded into one tree for a flame graph.

use std::collections::HashMap;

use crate::profile::{FrameId, Profile};
use crate::table::by_stack;

/// The tree; node 0 is the root, which stands for the whole profile and has no frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// All nodes, parents before children.
    pub nodes: Vec<Node>,
}

/// A method in the context of a parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The method; none for the root.
    pub frame: Option<FrameId>,
    /// Weight of the method and all called ones.
    pub weight: u64,
    /// Weight of the method's own code, a part of `weight`.
    pub own: u64,
    /// Called methods, the heaviest first.
    pub children: Vec<usize>,
}

impl Tree {
    /// Folds a profile from the outermost frame on.
    pub fn of(profile: &Profile) -> Tree {
        fold(profile, |profile, stack| {
            profile
                .stack(stack)
                .iter()
                .rev()
                .map(|location| location.frame)
                .collect()
        })
    }

    /// Folds the profile from the innermost frame on: below each method come the callers.
    pub fn inverted(profile: &Profile) -> Tree {
        fold(profile, |profile, stack| {
            profile
                .stack(stack)
                .iter()
                .map(|location| location.frame)
                .collect()
        })
    }
}

fn fold(profile: &Profile, path: impl Fn(&Profile, crate::StackId) -> Vec<FrameId>) -> Tree {
    let node = |frame| Node {
        frame,
        weight: 0,
        own: 0,
        children: Vec::new(),
    };
    let mut nodes = vec![node(None)];
    let mut places: HashMap<(usize, FrameId), usize> = HashMap::new();
    for (stack, weight, _) in by_stack(profile) {
        let mut at = 0;
        nodes[at].weight += weight;
        for frame in path(profile, stack) {
            let fresh = nodes.len();
            let next = *places.entry((at, frame)).or_insert(fresh);
            if next == fresh {
                nodes.push(node(Some(frame)));
                nodes[at].children.push(fresh);
            }
            at = next;
            nodes[at].weight += weight;
        }
        nodes[at].own += weight;
    }
    let weights: Vec<u64> = nodes.iter().map(|node| node.weight).collect();
    for node in &mut nodes {
        node.children
            .sort_by_key(|child| (std::cmp::Reverse(weights[*child]), *child));
    }
    Tree { nodes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::profile;

    /// `name weight(own)` of each node, depth first.
    fn drawn(profile: &Profile, tree: &Tree) -> String {
        fn draw(profile: &Profile, tree: &Tree, at: usize, out: &mut Vec<String>) {
            let node = &tree.nodes[at];
            let name = node.frame.map_or("*", |frame| &profile.frame(frame).name);
            out.push(format!(
                "{name} {}({})",
                node.weight / 1_000_000,
                node.own / 1_000_000
            ));
            for child in &node.children {
                draw(profile, tree, *child, out);
            }
        }
        let mut out = Vec::new();
        draw(profile, tree, 0, &mut out);
        out.join(", ")
    }

    #[test]
    fn stacks_that_begin_alike_share_their_nodes() {
        let profile = profile("m;a;x 2\nm;b 5\nm;a;y 1\nm;a 1");
        assert_eq!(
            drawn(&profile, &Tree::of(&profile)),
            "* 9(0), m 9(0), b 5(5), a 4(1), x 2(2), y 1(1)"
        );
    }

    #[test]
    fn the_inverted_tree_starts_at_the_innermost() {
        let profile = profile("m;a;x 2\nm;b;x 1");
        assert_eq!(
            drawn(&profile, &Tree::inverted(&profile)),
            "* 3(0), x 3(0), a 2(0), m 2(2), b 1(0), m 1(1)"
        );
    }
}

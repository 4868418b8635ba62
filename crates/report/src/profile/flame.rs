//! A small flame graph of text: one line per node, the bar as long as the node's share.

use stacks::{Profile, Tree};

use words::{Language, text};

use figures::text::{fit, one_line};

/// Narrower nodes are left out and counted.
const SHARE_MIN: f64 = 0.02;
const LINES_MAX: usize = 30;
const BAR_COLUMNS: usize = 20;

/// Lines of the widest nodes, callers above callees; a chain of nodes with nearly the same weight
/// is one line.
pub(super) fn lines(profile: &Profile, columns: usize, language: Language) -> Vec<String> {
    let tree = Tree::of(profile);
    let total = tree.nodes[0].weight.max(1) as f64;
    let mut lines = Vec::new();
    let mut left_out = 0;
    draw(
        &Drawing {
            profile,
            tree: &tree,
            total,
            columns,
        },
        0,
        0,
        &mut lines,
        &mut left_out,
    );
    if left_out > 0 {
        let rest = match left_out {
            1 => text!("  and 1 narrower branch"),
            count => text!("  and {count} narrower branches", count),
        };
        lines.push(rest.written_in(language));
    }
    lines
}

struct Drawing<'a> {
    profile: &'a Profile,
    tree: &'a Tree,
    total: f64,
    columns: usize,
}

fn draw(
    drawing: &Drawing<'_>,
    at: usize,
    depth: usize,
    lines: &mut Vec<String>,
    left_out: &mut usize,
) {
    for child in &drawing.tree.nodes[at].children {
        let share = drawing.tree.nodes[*child].weight as f64 / drawing.total;
        if share < SHARE_MIN || lines.len() >= LINES_MAX {
            *left_out += 1;
            continue;
        }
        let (end, names) = chain(drawing, *child);
        let filled = ((share * BAR_COLUMNS as f64).round() as usize).max(1);
        let bar = format!(
            "{}{}",
            "█".repeat(filled),
            " ".repeat(BAR_COLUMNS - filled.min(BAR_COLUMNS))
        );
        let text = format!(
            "{:>6.1}% {bar} {}{}",
            share * 100.0,
            "  ".repeat(depth),
            one_line(&names)
        );
        lines.push(fit(&text, drawing.columns));
        draw(drawing, end, depth + 1, lines, left_out);
    }
}

/// Follows children with nearly all of the parent's weight: returns the last child, and all names.
fn chain(drawing: &Drawing<'_>, start: usize) -> (usize, String) {
    const NEARLY: f64 = 0.97;
    const NAMES_MAX: usize = 3;
    let nodes = &drawing.tree.nodes;
    let mut at = start;
    let mut names = vec![name(drawing, at)];
    let mut followed = 1;
    while let [child, ..] = nodes[at].children[..]
        && nodes[child].weight as f64 >= NEARLY * nodes[start].weight as f64
    {
        at = child;
        followed += 1;
        names.push(name(drawing, at));
    }
    if followed > NAMES_MAX {
        names = vec![
            names[0].clone(),
            "…".to_owned(),
            names[followed - 1].clone(),
        ];
    }
    (at, names.join(" → "))
}

fn name(drawing: &Drawing<'_>, at: usize) -> String {
    drawing.tree.nodes[at]
        .frame
        .map_or_else(String::new, |frame| {
            drawing.profile.frame(frame).name.clone()
        })
}

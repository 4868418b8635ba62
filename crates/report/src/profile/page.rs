//! The page of a profile in a terminal.

use std::fmt::Write;

use stacks::{Diff, Frame, Profile, Row, Unit};

use super::{CountedView, ProfileView, flame};
use crate::text::{fit, one_line};

const COLUMNS: usize = 100;
const ROWS: usize = 15;
const SITES: usize = 8;

/// Top of the tables and a small flame graph.
pub fn page(view: &ProfileView<'_>) -> String {
    let profile = view.profile;
    let mut out = head(profile);
    states(&mut out, profile);
    let table = stacks::table(profile);
    let (own, all) = match profile.unit {
        Unit::Objects => ("own objects", "with calls"),
        _ => ("self", "with calls"),
    };
    let _ = writeln!(out, "\nBY SELF{:>12}{:>13}   method", own, all);
    for row in table.exclusive.iter().take(ROWS) {
        let inclusive = table
            .inclusive
            .iter()
            .find(|other| other.frame == row.frame);
        line(
            &mut out,
            profile,
            row,
            inclusive.map_or(row.share, |other| other.share),
        );
    }
    let _ = writeln!(out, "\nFLAME GRAPH (callers above what they call)");
    for line in flame::lines(profile, COLUMNS) {
        let _ = writeln!(out, "{line}");
    }
    super::messages::lines(&mut out, profile);
    if let Some(counted) = view.counted {
        calls(&mut out, counted);
    }
    tail(&mut out, view);
    out
}

fn head(profile: &Profile) -> String {
    let command = fit(&one_line(&profile.command), COLUMNS - 20);
    let looks = profile.observations();
    match profile.unit {
        Unit::Nanos => format!(
            "{command}: mode {}, {:.1} s, {looks} samples, threads: {}\n",
            profile.mode,
            profile.duration as f64 / 1e9,
            profile.threads().len(),
        ),
        Unit::Objects => format!(
            "{command}: {} objects in {:.1} s, {looks} samples\n",
            profile.total(),
            profile.duration as f64 / 1e9,
        ),
        Unit::Samples => format!("{command}: {looks} samples\n"),
    }
}

fn states(out: &mut String, profile: &Profile) {
    let total = profile.total().max(1) as f64;
    let all: Vec<String> = stacks::states(profile)
        .into_iter()
        .map(|(state, weight)| {
            let name = state.name().replace('_', " ");
            format!("{name} {:.1}%", weight as f64 / total * 100.0)
        })
        .collect();
    let _ = writeln!(out, "{}", all.join("   "));
}

fn line(out: &mut String, profile: &Profile, row: &Row, inclusive: f64) {
    let amount = match profile.unit {
        Unit::Nanos => format!("{:.1} ms", row.weight as f64 / 1e6),
        _ => row.weight.to_string(),
    };
    let text = format!(
        "{:>6.1}%{amount:>12}{:>12.1}%   {}",
        row.share * 100.0,
        inclusive * 100.0,
        place(&row.frame, row.hot_line),
    );
    let _ = writeln!(out, "{}", fit(&text, COLUMNS));
}

/// Method and where it stands; the hottest line rather than the first.
fn place(frame: &Frame, hot_line: u32) -> String {
    let name = one_line(&frame.name);
    if frame.file.is_empty() {
        return name;
    }
    let line = if hot_line > 0 { hot_line } else { frame.line };
    let short: Vec<&str> = frame.file.rsplitn(3, '/').collect();
    let file = match short[..] {
        [file, folder, _] => format!("{folder}/{file}"),
        _ => frame.file.clone(),
    };
    format!("{name}  {}:{line}", one_line(&file))
}

fn calls(out: &mut String, counted: &CountedView) {
    let (calls, repeats) = (counted.calls(), counted.repeats());
    let share = repeats as f64 / calls.max(1) as f64 * 100.0;
    let _ = writeln!(
        out,
        "\nCALLS of {}: {calls}, of these {repeats} ({share:.1}%) with arguments of an earlier call",
        counted.method
    );
    for (caller, calls, repeats) in counted.sites.iter().take(SITES) {
        let text = format!(
            "{calls:>9} calls{repeats:>9} repeated   {}",
            one_line(caller)
        );
        let _ = writeln!(out, "{}", fit(&text, COLUMNS));
    }
    if counted.missed > 0 {
        let _ = writeln!(
            out,
            "  {} calls in trap handlers were not counted",
            counted.missed
        );
    }
}

fn tail(out: &mut String, view: &ProfileView<'_>) {
    let cost = view.profile.cost;
    let _ = writeln!(
        out,
        "\nThe sampler took {:.2}% of a core and lost {} samples.",
        cost.cpu_share * 100.0,
        cost.dropped
    );
    for note in &view.profile.notes {
        let _ = writeln!(out, "Note: {note}.");
    }
    if let Some(number) = view.number {
        let _ = writeln!(
            out,
            "Kept as profile {number}; `hakaru profile export {number} --format speedscope` writes a file for its viewer."
        );
    }
}

/// What changed from one profile to another, the largest first.
pub fn difference(before: &Profile, after: &Profile, diff: &Diff) -> String {
    const CHANGE_MIN: f64 = 0.005;
    let total = |profile: &Profile, weight: u64| match profile.unit {
        Unit::Nanos => format!("{:.1} ms", weight as f64 / 1e6),
        Unit::Objects => format!("{weight} objects"),
        Unit::Samples => format!("{weight} samples"),
    };
    let mut out = format!(
        "before {}, after {}\n",
        total(before, diff.total[0]),
        total(after, diff.total[1])
    );
    let mut group = |title: &str, wanted: &dyn Fn(&stacks::Changed) -> bool| {
        let all: Vec<_> = diff
            .frames
            .iter()
            .filter(|changed| wanted(changed))
            .take(ROWS)
            .collect();
        if all.is_empty() {
            return;
        }
        let _ = writeln!(
            out,
            "\n{title}\n  before    after    change   (95 % bounds)        method"
        );
        for changed in all {
            let text = format!(
                "{:>7.1}% {:>7.1}% {:>+8.1}   ({:+.1} to {:+.1})   {}",
                changed.share[0] * 100.0,
                changed.share[1] * 100.0,
                changed.change() * 100.0,
                changed.bounds[0] * 100.0,
                changed.bounds[1] * 100.0,
                place(&changed.frame, 0),
            );
            let _ = writeln!(out, "{}", fit(&text, COLUMNS));
        }
    };
    group("NARROWER", &|changed| {
        changed.is_sure() && changed.change() < -CHANGE_MIN
    });
    group("WIDER", &|changed| {
        changed.is_sure() && changed.change() > CHANGE_MIN
    });
    group("CHANGED BY LESS THAN NOISE EXPLAINS", &|changed| {
        !changed.is_sure() && changed.change().abs() > CHANGE_MIN
    });
    if out.lines().count() == 1 {
        out.push_str("No method changed its share by half a point.\n");
    }
    out
}

/// Callers and callees of every method whose name contains `text`, the heaviest methods first.
///
/// # Errors
/// A sentence, when there is none.
pub fn around(profile: &Profile, text: &str) -> Result<String, String> {
    const METHODS: usize = 5;
    let table = stacks::table(profile);
    let found: Vec<_> = table
        .inclusive
        .iter()
        .filter(|row| row.frame.name.contains(text))
        .collect();
    if found.is_empty() {
        return Err(format!("no method whose name contains {text:?} was seen"));
    }
    let total = profile.total().max(1) as f64;
    let mut out = String::new();
    for row in found.into_iter().take(METHODS) {
        let _ = writeln!(
            out,
            "{:>6.1}%   {}",
            row.share * 100.0,
            place(&row.frame, row.hot_line)
        );
        let groups = [
            (
                "called by",
                stacks::callers(profile, &row.frame),
                "(nobody: it is the outermost)",
            ),
            (
                "calls",
                stacks::callees(profile, &row.frame),
                "(its own code)",
            ),
        ];
        for (title, frames, nobody) in groups {
            let _ = writeln!(out, "   {title}");
            for (frame, weight) in frames.iter().take(ROWS) {
                let name = if frame.name.is_empty() {
                    nobody.to_owned()
                } else {
                    place(frame, 0)
                };
                let text = format!("{:>12.1}%   {name}", *weight as f64 / total * 100.0);
                let _ = writeln!(out, "{}", fit(&text, COLUMNS));
            }
        }
    }
    Ok(out)
}

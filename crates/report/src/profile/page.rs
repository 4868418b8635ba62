//! The page of a profile in a terminal.

use std::fmt::Write;

use figures::counted;
use stacks::{Diff, Frame, Profile, Row, Unit};

use words::{Language, Phrase, Text, phrase, text};

use super::{CountedView, ProfileView, flame};
use figures::numbers;
use figures::text::{fit, fold, left, one_line, right};

const ROWS: usize = 15;
const SITES: usize = 8;

/// Top of the tables and a small flame graph, in so many columns.
pub fn page(view: &ProfileView<'_>, columns: usize, language: Language) -> String {
    let profile = view.profile;
    let say = |phrase: Phrase| phrase.written_in(language);
    let mut out = head(profile, columns).written_in(language) + "\n";
    states(&mut out, profile, language);
    let table = stacks::table(profile);
    let own = match profile.unit {
        Unit::Objects => phrase!("own objects"),
        _ => phrase!("self"),
    };
    let heads = [
        left(&say(phrase!("BY SELF")), 7),
        right(&say(own), 12),
        right(&say(phrase!("with calls")), 13),
        say(phrase!("method")),
    ];
    let [title, own, all, method] = heads;
    let _ = writeln!(out, "\n{title}{own}{all}   {method}");
    for row in table.exclusive.iter().take(ROWS) {
        let inclusive = table
            .inclusive
            .iter()
            .find(|other| other.frame == row.frame);
        let inclusive = inclusive.map_or(row.share, |other| other.share);
        let line = line(profile, row, inclusive);
        let _ = writeln!(out, "{}", fit(&line, columns));
    }
    let title = say(phrase!("FLAME GRAPH (callers above what they call)"));
    let _ = writeln!(out, "\n{title}");
    for line in flame::lines(profile, columns, language) {
        let _ = writeln!(out, "{line}");
    }
    super::messages::lines(&mut out, profile, columns, language);
    if let Some(counted) = view.counted {
        calls(&mut out, counted, columns, language);
    }
    tail(&mut out, view, language);
    fold(&out, columns)
}

fn head(profile: &Profile, columns: usize) -> Text {
    let command = fit(&one_line(&profile.command), columns.saturating_sub(20));
    let samples = counted!(profile.observations(), "sample");
    let seconds = format!("{:.1}", profile.duration as f64 / 1e9);
    match profile.unit {
        Unit::Nanos => text!(
            "{command}: mode {mode}, {seconds} s, {samples}, {threads}",
            command,
            mode = profile.mode,
            seconds,
            samples,
            threads = counted!(profile.threads().len() as u64, "thread")
        ),
        Unit::Objects => text!(
            "{command}: {objects} in {seconds} s, {samples}",
            command,
            objects = counted!(profile.total(), "object"),
            seconds,
            samples
        ),
        Unit::Samples => text!("{command}: {samples}", command, samples),
    }
}

fn states(out: &mut String, profile: &Profile, language: Language) {
    let total = profile.total().max(1) as f64;
    let all: Vec<String> = stacks::states(profile)
        .into_iter()
        .map(|(state, weight)| {
            let name = Text::named(&state.name().replace('_', " ")).written_in(language);
            format!("{name} {:.1}%", weight as f64 / total * 100.0)
        })
        .collect();
    let _ = writeln!(out, "{}", all.join("   "));
}

fn line(profile: &Profile, row: &Row, inclusive: f64) -> String {
    let amount = match profile.unit {
        Unit::Nanos => numbers::duration_ms(row.weight as f64 / 1e6),
        _ => row.weight.to_string(),
    };
    format!(
        "{:>6.1}%{amount:>12}{:>12.1}%   {}",
        row.share * 100.0,
        inclusive * 100.0,
        place(&row.frame, row.hot_line),
    )
}

/// Method, file and line of a frame; the hottest line rather than the first.
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

fn calls(out: &mut String, counted: &CountedView, columns: usize, language: Language) {
    let (calls, repeats) = (counted.calls(), counted.repeats());
    let head = text!(
        "CALLS of {method}: {calls}, of these {repeats} ({share}) with arguments of an earlier call",
        method = counted.method,
        calls,
        repeats,
        share = format!("{:.1}%", repeats as f64 / calls.max(1) as f64 * 100.0)
    );
    let _ = writeln!(out, "\n{}", head.written_in(language));
    for (caller, calls, repeats) in counted.sites.iter().take(SITES) {
        let line = text!(
            "{calls} calls {repeats} repeated   {caller}",
            calls = format!("{calls:>9}"),
            repeats = format!("{repeats:>8}"),
            caller = one_line(caller)
        );
        let _ = writeln!(out, "{}", fit(&line.written_in(language), columns));
    }
    if counted.missed > 0 {
        let missed = text!(
            "  {calls} in trap handlers not counted",
            calls = counted!(counted.missed, "call")
        );
        let _ = writeln!(out, "{}", missed.written_in(language));
    }
}

fn tail(out: &mut String, view: &ProfileView<'_>, language: Language) {
    let cost = view.profile.cost;
    let mut lines = vec![text!(
        "The sampler took {share} of a core and lost {samples}.",
        share = format!("{:.2}%", cost.cpu_share * 100.0),
        samples = counted!(cost.dropped, "sample")
    )];
    let notes = view.profile.notes.iter();
    lines.extend(notes.map(|note| text!("Note: {note}.", note = Text::named(note))));
    lines.extend(view.number.map(|number| {
        text!(
            "Kept as profile {number}; `hakaru profile export {number} --format speedscope` writes a file for its viewer.",
            number
        )
    }));
    out.push('\n');
    for line in lines {
        let _ = writeln!(out, "{}", line.written_in(language));
    }
}

/// Returns the changes from one profile to another, the largest first, `columns` wide.
pub fn difference(
    (before, after): (&Profile, &Profile),
    diff: &Diff,
    columns: usize,
    language: Language,
) -> String {
    const CHANGE_MIN: f64 = 0.005;
    let total = |profile: &Profile, weight: u64| match profile.unit {
        Unit::Nanos => Text::from(numbers::duration_ms(weight as f64 / 1e6)),
        Unit::Objects => counted!(weight, "object"),
        Unit::Samples => counted!(weight, "sample"),
    };
    let head = text!(
        "before {before}, after {after}",
        before = total(before, diff.total[0]),
        after = total(after, diff.total[1])
    );
    let mut out = head.written_in(language) + "\n";
    let heads = text!("  before    after    change   (95 % bounds)        method");
    let mut group = |title: Phrase, wanted: &dyn Fn(&stacks::Changed) -> bool| {
        let all: Vec<_> = diff
            .frames
            .iter()
            .filter(|changed| wanted(changed))
            .take(ROWS)
            .collect();
        if all.is_empty() {
            return;
        }
        let (title, heads) = (title.written_in(language), heads.written_in(language));
        let _ = writeln!(out, "\n{title}\n{heads}");
        for changed in all {
            let text = format!(
                "{:>7.1}% {:>7.1}% {:>+8.1}   ({:+.1} … {:+.1})   {}",
                changed.share[0] * 100.0,
                changed.share[1] * 100.0,
                changed.change() * 100.0,
                changed.bounds[0] * 100.0,
                changed.bounds[1] * 100.0,
                place(&changed.frame, 0),
            );
            let _ = writeln!(out, "{}", fit(&text, columns));
        }
    };
    group(phrase!("NARROWER"), &|changed| {
        changed.is_sure() && changed.change() < -CHANGE_MIN
    });
    group(phrase!("WIDER"), &|changed| {
        changed.is_sure() && changed.change() > CHANGE_MIN
    });
    group(phrase!("CHANGED BY LESS THAN NOISE EXPLAINS"), &|changed| {
        !changed.is_sure() && changed.change().abs() > CHANGE_MIN
    });
    if out.lines().count() == 1 {
        let none = text!("No method changed its share by half a point.");
        let _ = writeln!(out, "{}", none.written_in(language));
    }
    fold(&out, columns)
}

/// Callers and callees of every method whose name contains `text`, the heaviest methods first, in
/// so many columns.
///
/// # Errors
/// A sentence, when there is none.
pub fn around(
    profile: &Profile,
    text: &str,
    columns: usize,
    language: Language,
) -> Result<String, String> {
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
                phrase!("called by"),
                stacks::callers(profile, &row.frame),
                phrase!("(nobody: it is the outermost)"),
            ),
            (
                phrase!("it calls"),
                stacks::callees(profile, &row.frame),
                phrase!("(its own code)"),
            ),
        ];
        for (title, frames, nobody) in groups {
            let _ = writeln!(out, "   {}", title.written_in(language));
            for (frame, weight) in frames.iter().take(ROWS) {
                let name = if frame.name.is_empty() {
                    nobody.written_in(language)
                } else {
                    place(frame, 0)
                };
                let text = format!("{:>12.1}%   {name}", *weight as f64 / total * 100.0);
                let _ = writeln!(out, "{}", fit(&text, columns));
            }
        }
    }
    Ok(fold(&out, columns))
}

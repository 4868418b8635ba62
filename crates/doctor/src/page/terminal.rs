//! The page for terminals. Lines may be long; the printing side folds them.

use figures::line::{one_line, width};
use words::{Language, Text, phrase, text};

use super::{Shown, measured, subjects};
use crate::check::{Area, Cost, Verdict};
use crate::checks;
use crate::compare::Comparison;

/// Width of the column of names.
const NAMES: usize = 34;

/// The page.
pub fn terminal(shown: &Shown<'_>, language: Language) -> String {
    let mut page = String::new();
    for line in subjects(shown.snapshot) {
        page.push_str(&format!("{}\n", one_line(&line)));
    }
    page.push('\n');
    let say = |text: Text| text.written_in(language);
    for (number, verdict) in shown.verdicts.iter().enumerate() {
        write_verdict(&mut page, number + 1, verdict, language);
    }
    let count = shown.verdicts.len();
    let seconds = format!("{:.1}", shown.seconds);
    page.push_str(&say(match count {
        0 => text!(
            "nothing found by {checks} checks in {seconds} s",
            checks = shown.checks,
            seconds
        ),
        _ => text!(
            "{count} found by {checks} checks in {seconds} s",
            count,
            checks = shown.checks,
            seconds
        ),
    }));
    page.push('\n');
    let rows = measured(shown.snapshot);
    if !rows.is_empty() {
        page.push_str(&format!("\n{}\n", say(text!("measured here"))));
        for (name, value) in rows {
            page.push_str(&format!("  {} {value}\n", padded(&say(name))));
        }
    }
    if !shown.snapshot.unseen.is_empty() {
        let named = |english: &str| say(Text::named(english));
        page.push_str(&format!("\n{}\n", say(text!("not seen"))));
        for unseen in &shown.snapshot.unseen {
            page.push_str(&format!(
                "  {}: {}\n",
                one_line(&named(&unseen.what)),
                one_line(&named(&unseen.why))
            ));
        }
    }
    page
}

fn write_verdict(page: &mut String, number: usize, verdict: &Verdict, language: Language) {
    let (check, found) = (verdict.check, &verdict.found);
    let say = |text: Text| text.written_in(language);
    let shown = |text: &Text| one_line(&text.written_in(language));
    let title = check.title.written_in(language);
    let level = found.level.word().written_in(language);
    let on = found
        .on
        .as_ref()
        .map_or(String::new(), |on| format!("{}: ", one_line(on)));
    page.push_str(&format!("{number}. {level}  {on}{title}\n"));
    for evidence in &found.evidence {
        page.push_str(&format!("   {}\n", shown(evidence)));
    }
    page.push_str(&format!(
        "   {}\n",
        say(text!("why: {why}", why = check.why))
    ));
    let cost = say(found.cost.text());
    let sure = found.sure.word().written_in(language);
    page.push_str(&format!(
        "   {}\n",
        say(match found.cost {
            Cost::Unknown => text!("cost: {cost}", cost),
            _ => text!("cost: {cost} ({sure})", cost, sure),
        })
    ));
    for change in &found.change {
        page.push_str(&format!(
            "   {}\n",
            say(text!("do: {change}", change = shown(change)))
        ));
    }
    for undo in &found.undo {
        page.push_str(&format!(
            "   {}\n",
            say(text!("take back: {undo}", undo = shown(undo)))
        ));
    }
    let remarks = [found.needs.remark(), found.safety.remark()];
    let remarks: Vec<String> = remarks
        .into_iter()
        .flatten()
        .map(|remark| remark.written_in(language))
        .collect();
    if !remarks.is_empty() {
        page.push_str(&format!("   {}\n", remarks.join("; ")));
    }
    page.push_str(&format!("   {}\n\n", check.id));
}

/// Returns the page of all checks with sources.
pub fn list(language: Language) -> String {
    let mut page = String::new();
    for area in Area::ALL {
        page.push_str(&format!("{}\n", area.name()));
        for check in checks::all().filter(|check| check.area == area) {
            page.push_str(&format!(
                "  {}\n    {}\n    {}\n",
                check.id,
                check.title.written_in(language),
                check.source
            ));
        }
        page.push('\n');
    }
    let count = checks::all().count();
    page.push_str(&text!("{count} checks", count).written_in(language));
    page.push('\n');
    page
}

/// Returns the page of a comparison of two machines.
pub fn comparison(comparison: &Comparison, language: Language) -> String {
    let say = |text: Text| text.written_in(language);
    let mut page = String::new();
    if !comparison.figures.is_empty() {
        page.push_str(&format!(
            "{}\n",
            say(text!("measured: here, there, there / here"))
        ));
        for figure in &comparison.figures {
            let (here, there) = (figure.here, figure.there);
            let ratio = there / here;
            page.push_str(&format!(
                "  {} {here:.4}, {there:.4}, {ratio:.2}\n",
                padded(&figure.name)
            ));
        }
        page.push('\n');
    }
    for (heading, ids) in [
        (phrase!("found only here"), &comparison.only_here),
        (phrase!("found only there"), &comparison.only_there),
    ] {
        if !ids.is_empty() {
            page.push_str(&format!("{}\n", heading.written_in(language)));
            for verdict in ids {
                let level = verdict.found.level.word().written_in(language);
                let title = verdict.check.title.written_in(language);
                let evidence = verdict.found.evidence.iter();
                let evidence: Vec<_> = evidence.map(|text| text.written_in(language)).collect();
                page.push_str(&format!(
                    "  {level}  {title} ({})\n",
                    one_line(&evidence.join("; "))
                ));
            }
            page.push('\n');
        }
    }
    page.push_str(&format!(
        "{}\n",
        say(text!("facts that differ: here | there"))
    ));
    for fact in &comparison.facts {
        page.push_str(&format!(
            "  {}: {} | {}\n",
            fact.name,
            one_line(&fact.here),
            one_line(&fact.there)
        ));
    }
    page
}

/// Filled to the column of names.
fn padded(name: &str) -> String {
    format!("{name}{}", " ".repeat(NAMES.saturating_sub(width(name))))
}

/// The table of all checks for `docs/doctor.md`.
pub fn markdown() -> String {
    let mut page = String::from("| check | what it finds | source |\n|---|---|---|\n");
    for check in checks::all() {
        let cell = |text: &str| text.replace('|', "\\|");
        page.push_str(&format!(
            "| `{}` | {} | {} |\n",
            check.id,
            cell(check.title.english()),
            cell(check.source)
        ));
    }
    page
}

//! The section on the trust in the numbers.

use words::{Text, text};

use super::doubts::is_loud;
use super::page::{Ink, Page};
use crate::{View, sure};
use figures::text::left;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    page.heading(text!("HOW SURE"));
    for said in sure::all(view) {
        let about = left(&page.written(said.about), 13);
        page.paragraph(2, about, Ink::Plain, said.says, 3);
    }
    troubles(page, view);
}

/// Only what was met and what is doubted, for the short page.
pub(super) fn write_troubles(page: &mut Page, view: &View<'_>) {
    let mut hints = view.findings.iter();
    let is_doubted = hints.any(|finding| finding.is_about_trust() && !is_loud(finding));
    if is_doubted || !view.recording.troubles.is_empty() {
        page.heading(text!("MIND"));
        troubles(page, view);
    }
}

fn troubles(page: &mut Page, view: &View<'_>) {
    let hints = view.findings.iter();
    for hint in hints.filter(|finding| finding.is_about_trust() && !is_loud(finding)) {
        let sentence = text!(
            "{what}; {remedy}",
            what = hint.title,
            remedy = hint.remedy.text
        );
        page.paragraph(2, "! ", Ink::Bad, sentence, 4);
    }
    for trouble in &view.recording.troubles {
        let what = Text::named(&trouble.what);
        let sentence = match trouble.remedy.as_str() {
            "" => what,
            remedy => text!("{what}; {remedy}", what, remedy = Text::named(remedy)),
        };
        page.paragraph(2, "! ", Ink::Bad, sentence, 4);
    }
}

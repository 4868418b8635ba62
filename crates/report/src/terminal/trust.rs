//! How far the numbers can be trusted, said by the tool itself.

use super::doubts::is_loud;
use super::page::{Ink, Page};
use crate::{View, sure};

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    page.heading("HOW SURE");
    for said in sure::all(view) {
        page.paragraph(
            2,
            &format!("{:<13}", said.about.english()),
            Ink::Plain,
            &said.says.to_string(),
            3,
        );
    }
    let hints = view.findings.iter();
    for hint in hints.filter(|finding| finding.is_about_trust() && !is_loud(finding)) {
        let sentence = format!("{}; {}", hint.title, hint.remedy.text);
        page.paragraph(2, "! ", Ink::Bad, &sentence, 4);
    }
    for trouble in &view.recording.troubles {
        let sentence = match trouble.remedy.as_str() {
            "" => trouble.what.clone(),
            remedy => format!("{}; {remedy}", trouble.what),
        };
        page.paragraph(2, "! ", Ink::Bad, &sentence, 4);
    }
}

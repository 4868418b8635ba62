//! Reasons to distrust the numbers, placed before all figures.

use findings::{Confidence, Finding};
use words::text;

use super::page::{Ink, Page};
use crate::View;

/// Lines of evidence shown for each doubt: doubts are to be noticed, not studied.
const EVIDENCE_MAX: usize = 3;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    let mut doubts = view
        .findings
        .iter()
        .filter(|finding| is_loud(finding))
        .peekable();
    if doubts.peek().is_none() {
        return;
    }
    page.heading(text!("BEFORE YOU TRUST THESE NUMBERS"));
    for doubt in doubts {
        page.paragraph(2, "! ", Ink::Bad, &doubt.title, 3);
        page.paragraph(4, "", Ink::Plain, &doubt.why, 2);
        for line in doubt.evidence.iter().take(EVIDENCE_MAX) {
            page.paragraph(4, "· ", Ink::Faint, line, 2);
        }
        let label = page.label(text!("Do:"));
        page.paragraph(4, label, Ink::Plain, &doubt.remedy.text, 3);
    }
}

/// Whether a doubt stands at the start of the page; mere hints stand at the end.
pub(super) fn is_loud(finding: &Finding) -> bool {
    finding.is_about_trust() && finding.confidence >= Confidence::Medium
}

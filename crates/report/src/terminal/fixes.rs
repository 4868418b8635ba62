//! What to fix.

use findings::{Confidence, Finding, Safety};

use super::WIDTH;
use super::page::{Ink, Page};
use crate::text::{one_line, right, wrap};
use crate::{View, numbers};

const FINDINGS_MAX: usize = 10;
const INDENT: usize = 5;
/// An evidence line longer than this is not read at two in the morning.
const EVIDENCE_LINES_MAX: usize = 3;
/// What is to be applied is shown whole, unless it is out of all measure.
const EXACT_LINES_MAX: usize = 12;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    page.heading("FINDINGS   the greatest gain first");
    if view.findings.is_empty() {
        page.text(2, "none");
    }
    for (index, finding) in view.findings.iter().take(FINDINGS_MAX).enumerate() {
        if index > 0 {
            page.blank();
        }
        write_finding(page, index + 1, finding);
    }
    let others = view.findings.len().saturating_sub(FINDINGS_MAX);
    if others > 0 {
        page.blank();
        page.text(2, &format!("{others} more (all of them: --json)"));
    }
}

fn write_finding(page: &mut Page, number: usize, finding: &Finding) {
    let mark = format!("{}. ", right(&number.to_string(), 3));
    page.paragraph(0, &mark, Ink::Strong, &finding.title, 2);
    page.paragraph(INDENT, "", Ink::Plain, &finding.why, 4);
    for line in &finding.evidence {
        page.paragraph(INDENT, "· ", Ink::Faint, line, EVIDENCE_LINES_MAX);
    }
    page.paragraph(INDENT, "Fix:  ", Ink::Plain, &finding.remedy.text, 4);
    if let Some(exact) = &finding.remedy.exact {
        write_exact(page, exact);
    }
    if !finding.estimated_gain.is_empty() {
        page.paragraph(INDENT, "Gain: ", Ink::Good, &finding.estimated_gain, 3);
    }
    let share = match finding.gain_share > 0.0 {
        true => format!("{} of all time; ", numbers::share(finding.gain_share)),
        false => String::new(),
    };
    let sure = match finding.confidence {
        Confidence::Low => "a hint (low confidence)",
        Confidence::Medium => "likely (medium confidence)",
        Confidence::High => "shown by the evidence (high confidence)",
    };
    let safe = match finding.remedy.safety {
        Safety::Safe => "; safe to apply, can be taken back",
        Safety::Careful => "; careful: it changes resources or timing",
        Safety::Code => "; needs a change of code",
        Safety::None => "",
    };
    page.paragraph(
        INDENT,
        "Sure: ",
        Ink::Plain,
        &format!("{share}{sure}{safe}"),
        2,
    );
}

/// Line by line as given, since it is meant to be copied.
fn write_exact(page: &mut Page, exact: &str) {
    let indent = INDENT + 6;
    let lines = exact
        .lines()
        .map(one_line)
        .flat_map(|line| wrap(&line, WIDTH - indent, EXACT_LINES_MAX));
    for line in lines.take(EXACT_LINES_MAX) {
        page.line(&[(Ink::Plain, &" ".repeat(indent)), (Ink::Strong, &line)]);
    }
}

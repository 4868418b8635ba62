//! The findings to fix.

use findings::RuleId;
use std::collections::HashSet;

use findings::{Confidence, Finding, Safety};
use words::{Text, text};

use super::page::{Ink, Page};
use crate::{View, facts};
use figures::text::{one_line, right, wrap};

const FINDINGS_MAX: usize = 10;
/// Findings shown whole; of the others the title, the fix and the gain. One is fixed at a time, and
/// the next run orders the rest again.
const WHOLE_MAX: usize = 5;
const INDENT: usize = 5;
/// Lines of evidence, with the lines of long items counted; rules put the most significant first.
const EVIDENCE_LINES_MAX: usize = 5;
/// Lines for one item of evidence, few enough for a long statement to leave room for the source
/// line.
const EVIDENCE_ITEM_LINES_MAX: usize = 2;
/// Lines of the statement or setting to apply, which is shown whole unless far too long.
const EXACT_LINES_MAX: usize = 12;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    page.title(
        text!("FINDINGS"),
        text!("in the order to fix them; all evidence: --json"),
    );
    let mut fixes = facts::fixes(view).peekable();
    if fixes.peek().is_none() {
        page.text(2, text!("nothing to fix was found"));
    }
    let count = facts::fixes(view).count();
    // Why is the same for all findings of a kind.
    let mut explained = HashSet::new();
    for (number, finding) in fixes.take(FINDINGS_MAX) {
        if number > 1 {
            page.blank();
        }
        let mark = format!("{}. ", right(&number.to_string(), 3));
        page.paragraph(0, mark, Ink::Strong, &finding.title, 2);
        // A failure is shown with its request and answer wherever it stands.
        let whole = number as usize <= WHOLE_MAX || finding.rule == RuleId::Errors;
        if whole {
            if explained.insert(finding.why.to_string()) {
                page.paragraph(INDENT, "", Ink::Plain, &finding.why, 3);
            }
            write_evidence(page, &finding.evidence);
        }
        write_fix(page, finding, whole);
    }
    let others = count.saturating_sub(FINDINGS_MAX);
    if others > 0 {
        page.blank();
        page.text(2, text!("{others} more (all of them: --json)", others));
    }
}

/// Writes the titles, gains and places of the findings, for the short page.
pub(super) fn write_titles(page: &mut Page, view: &View<'_>) {
    page.title(
        text!("FINDINGS"),
        text!("in the order to fix them; how to fix them: --full"),
    );
    let count = facts::fixes(view).count();
    if count == 0 {
        page.text(2, text!("nothing to fix was found"));
    }
    for (number, finding) in facts::fixes(view).take(WHOLE_MAX) {
        let mark = format!("{}. ", right(&number.to_string(), 3));
        page.paragraph(0, mark, Ink::Strong, &finding.title, 2);
        if !finding.estimated_gain.is_empty() {
            let label = page.label(text!("Gain:"));
            page.paragraph(INDENT, label, Ink::Good, &finding.estimated_gain, 2);
        }
        // The others are likely at least.
        if finding.confidence == Confidence::Low {
            let label = page.label(text!("Sure:"));
            page.paragraph(INDENT, label, Ink::Plain, certainty(finding), 1);
        }
        // A failure is shown with its request and answer wherever it stands.
        if finding.rule == RuleId::Errors {
            write_evidence(page, &finding.evidence);
        }
        let is_named = finding.title.to_string().contains(&finding.route);
        if !finding.route.is_empty() && !is_named {
            let label = page.label(text!("On:"));
            page.paragraph(INDENT, label, Ink::Faint, &finding.route, 1);
        }
    }
    let others = count.saturating_sub(WHOLE_MAX);
    if others > 0 {
        page.text(2, text!("{others} more (all of them: --full)", others));
    }
}

fn write_evidence(page: &mut Page, evidence: &[Text]) {
    let mark = "· ";
    let columns = page.columns().saturating_sub(INDENT + mark.chars().count());
    let mut left = EVIDENCE_LINES_MAX;
    for item in evidence {
        let lines_max = left.min(EVIDENCE_ITEM_LINES_MAX);
        if lines_max == 0 {
            return;
        }
        page.paragraph(INDENT, mark, Ink::Faint, item, lines_max);
        left -= wrap(&page.written(item), columns, lines_max).len();
    }
}

fn write_fix(page: &mut Page, finding: &Finding, whole: bool) {
    let (text_lines, exact_lines) = if whole { (3, EXACT_LINES_MAX) } else { (1, 2) };
    let label = page.label(text!("Fix:"));
    page.paragraph(INDENT, label, Ink::Plain, &finding.remedy.text, text_lines);
    if let Some(exact) = finding.remedy.exact_text() {
        write_exact(page, &exact, exact_lines);
    }
    if !finding.estimated_gain.is_empty() {
        let label = page.label(text!("Gain:"));
        page.paragraph(INDENT, label, Ink::Good, &finding.estimated_gain, 3);
    }
    if whole {
        let label = page.label(text!("Sure:"));
        page.paragraph(INDENT, label, Ink::Plain, sure(finding), 2);
    }
}

fn certainty(finding: &Finding) -> Text {
    match finding.confidence {
        Confidence::Low => text!("low confidence (a hint)"),
        Confidence::Medium => text!("medium confidence (likely)"),
        Confidence::High => text!("high confidence (shown by the evidence)"),
    }
}

fn sure(finding: &Finding) -> Text {
    let sure = certainty(finding);
    let safe = match finding.remedy.safety {
        Safety::Safe => text!(". Risk: none; it can be taken back"),
        Safety::Careful => text!(". Risk: changes memory use or timing"),
        Safety::Code => text!(". Needs a change of code"),
        Safety::None => Text::default(),
    };
    text!("{sure}{safe}", sure, safe)
}

/// Writes the exact remedy line by line, unwrapped, ready for copying.
fn write_exact(page: &mut Page, exact: &str, lines_max: usize) {
    let indent = INDENT + 6;
    let columns = page.columns().saturating_sub(indent);
    let lines = exact
        .lines()
        .map(one_line)
        .flat_map(|line| wrap(&line, columns, lines_max));
    for line in lines.take(lines_max) {
        page.line(&[(Ink::Plain, &" ".repeat(indent)), (Ink::Strong, &line)]);
    }
}

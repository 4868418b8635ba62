//! The terminal page of one run: verdict, numbers, doubts, balance, findings by title, what next;
//! the full page also has SQL, all of the findings, and how sure the numbers are.
//!
//! Never wider than [`Style::columns`], and complete without colour: every term of the balance has
//! a letter, which also draws its bar. Each part shows its greatest entries only, so that a page is
//! read rather than searched; the JSON holds all.

mod balance;
mod doubts;
mod fixes;
mod numbers;
mod page;
mod sql;
mod terms;
mod trust;
mod verdict;

use findings::Confidence;
use words::{Language, Text, text};

use crate::View;
use page::{Ink, Page};
pub(crate) use terms::TERMS;

/// Width, colours and signs of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Width of a line in columns.
    pub columns: usize,
    /// ANSI colours.
    pub colour: bool,
    /// Only ASCII in Hakaru's own drawing and in quotations.
    pub ascii: bool,
    /// In which the page is written.
    pub language: Language,
    /// Everything, instead of what is read first: the verdict, the numbers, where the time goes,
    /// findings by title.
    pub full: bool,
    /// Lines of the screen; a longer page repeats the verdict at the end. `None` without a screen.
    pub rows: Option<usize>,
}

impl Default for Style {
    fn default() -> Style {
        Style {
            columns: figures::text::COLUMNS,
            colour: false,
            ascii: false,
            language: Language::English,
            full: true,
            rows: None,
        }
    }
}

/// The page of a run.
pub fn run(view: &View<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    verdict::write(&mut page, view);
    numbers::write(&mut page, view);
    doubts::write(&mut page, view);
    balance::write(&mut page, view);
    match style.full {
        true => {
            sql::write(&mut page, view);
            fixes::write(&mut page, view);
            trust::write(&mut page, view);
        }
        false => {
            fixes::write_titles(&mut page, view);
            trust::write_troubles(&mut page, view);
        }
    }
    let mut end = Page::new(style);
    next(&mut end, view, style);
    let end = end.finish();
    let is_longer = |rows| page.lines_written() + end.lines().count() + 1 >= rows;
    if style.rows.is_some_and(is_longer) {
        page.heading(text!("VERDICT"));
        verdict::sentences(&mut page, view);
    }
    page.blank();
    page.finish() + &end
}

fn next(page: &mut Page, view: &View<'_>, style: Style) {
    page.heading(text!("NEXT"));
    let first = crate::facts::fixes(view).next();
    // A hint is tried first only where nothing stands before it.
    let tried = crate::facts::fixes(view).find(|(number, finding)| {
        let is_first = first.is_some_and(|(first, _)| first == *number);
        finding.remedy.can_be_tried() && (is_first || finding.confidence > Confidence::Low)
    });
    // Nothing can be tried of a run that is not kept, or of an app that somebody else started.
    let is_started = !view.recording.meta.target.command.is_empty();
    if let Some((number, _)) = tried.filter(|_| view.number.is_some() && is_started) {
        command(
            page,
            &format!("hakaru try {number}"),
            text!(
                "measure the fix of finding {number} beside the app as it is",
                number
            ),
        );
    }
    if let Some((number, finding)) = first
        && !finding.remedy.can_be_tried()
    {
        page.text(2, text!("apply the fix of finding {number}, then", number));
    }
    command(page, "hakaru run", text!("measure again, the same way"));
    if view.breakdown.overall.requests < 1000 {
        command(
            page,
            "hakaru run --duration 60s",
            text!("more samples, surer numbers"),
        );
    }
    let all = text!("SQL, all evidence and fixes, how sure the numbers are");
    match (style.full, view.number) {
        (true, _) => {
            let json = text!("everything above as JSON, for scripts");
            command(page, "hakaru run --json", json);
        }
        (false, Some(_)) => command(page, "hakaru report --full", all),
        (false, None) => command(page, "hakaru run --full", all),
    }
    if let Some(number) = view.number {
        page.text(
            2,
            text!("kept as run {number} in .hakaru/hakaru.db", number),
        );
    }
}

/// Writes a command and the command's purpose.
fn command(page: &mut Page, command: &str, does: Text) {
    page.paragraph(2, format!("{command:<29}"), Ink::Plain, does, 2);
}

#[cfg(test)]
mod tests;

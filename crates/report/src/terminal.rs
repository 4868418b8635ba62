//! The terminal page of one run: verdict, numbers, doubts, balance, SQL, findings, how sure, what next.
//!
//! Never wider than [`Style::columns`], and complete without colour: every term of the balance has a letter, which
//! also draws its bar. Each part shows its greatest entries only, so that a page is read rather than
//! searched; the JSON holds all.

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

/// How the page may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// How wide a line may be.
    pub columns: usize,
    /// ANSI colours.
    pub colour: bool,
    /// Only ASCII in what Hakaru itself draws and in what it quotes.
    pub ascii: bool,
    /// In which the page is written.
    pub language: Language,
}

impl Default for Style {
    fn default() -> Style {
        Style {
            columns: crate::text::COLUMNS,
            colour: false,
            ascii: false,
            language: Language::English,
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
    sql::write(&mut page, view);
    fixes::write(&mut page, view);
    trust::write(&mut page, view);
    next(&mut page, view);
    page.finish()
}

fn next(page: &mut Page, view: &View<'_>) {
    page.heading(text!("NEXT"));
    let first = crate::facts::fixes(view).next();
    // A hint is tried first only where nothing stands before it.
    let tried = crate::facts::fixes(view).find(|(number, finding)| {
        let is_first = first.is_some_and(|(first, _)| first == *number);
        finding.remedy.can_be_tried() && (is_first || finding.confidence > Confidence::Low)
    });
    if let Some((number, _)) = tried {
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
    command(
        page,
        "hakaru run --json",
        text!("everything above as JSON, for scripts"),
    );
    if let Some(number) = view.number {
        page.text(
            2,
            text!("kept as run {number} in .hakaru/hakaru.db", number),
        );
    }
}

/// A command and what it does.
fn command(page: &mut Page, command: &str, does: Text) {
    page.paragraph(2, &format!("{command:<29}"), Ink::Plain, does, 2);
}

#[cfg(test)]
mod tests;

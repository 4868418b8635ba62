//! First of all: what dominates, and what to fix first.

use words::{Text, text};

use super::page::{Ink, Page};
use crate::{View, verdict};
use figures::text::one_line;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    title(page, view);
    page.blank();
    sentences(page, view);
}

/// Writes the dominant cost and the first fix.
pub(super) fn sentences(page: &mut Page, view: &View<'_>) {
    page.paragraph(2, "", Ink::Strong, verdict::what_dominates(view), 3);
    if let Some(sentence) = verdict::failed(view) {
        page.paragraph(2, "", Ink::Bad, sentence, 2);
    }
    page.paragraph(2, "", Ink::Strong, verdict::fix_first(view), 3);
}

fn title(page: &mut Page, view: &View<'_>) {
    let meta = &view.recording.meta;
    let target = &meta.target;
    let name = match (target.command.as_str(), target.url.as_str()) {
        ("", url) => url,
        (command, _) => command,
    };
    let number = view
        .number
        .map_or(String::new(), |number| format!(" {number}"));
    let mark = page.written(text!("HAKARU RUN{number}", number)) + "  ";
    page.paragraph(0, mark, Ink::Strong, name, 2);
    let threads = match (target.workers, target.threads) {
        (0, _) | (_, 0) => Text::default(),
        (workers, threads) => text!("{workers} × {threads} threads", workers, threads),
    };
    let told = |part: &str| Text::from(one_line(part));
    let parts = [
        told(&target.ruby),
        told(&target.server),
        threads,
        told(&target.database),
    ];
    let known = parts.into_iter().filter(|part| !part.is_empty());
    let known = Text::list(known, " · ".into());
    if !known.is_empty() {
        page.paragraph(2, "", Ink::Faint, known, 2);
    }
    if let Some(reason) = &meta.ended_early {
        page.paragraph(
            2,
            "",
            Ink::Bad,
            text!(
                "ended early: {reason}",
                reason = Text::named(&reason.to_string())
            ),
            2,
        );
    }
}

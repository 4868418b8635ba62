//! First of all: what dominates, and what to fix first.

use super::page::{Ink, Page};
use crate::text::one_line;
use crate::{View, verdict};

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    title(page, view);
    page.blank();
    page.paragraph(
        2,
        "",
        Ink::Strong,
        &verdict::what_dominates(view).to_string(),
        3,
    );
    if let Some(sentence) = verdict::failed(view) {
        page.paragraph(2, "", Ink::Bad, &sentence.to_string(), 2);
    }
    page.paragraph(2, "", Ink::Strong, &verdict::fix_first(view).to_string(), 3);
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
    page.paragraph(0, &format!("HAKARU RUN{number}  "), Ink::Strong, name, 2);
    let threads = match (target.workers, target.threads) {
        (0, _) | (_, 0) => String::new(),
        (workers, threads) => format!("{workers} × {threads} threads"),
    };
    let parts = [&target.ruby, &target.server, &threads, &target.database];
    let known: Vec<String> = parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| one_line(part))
        .collect();
    if !known.is_empty() {
        page.paragraph(2, "", Ink::Faint, &known.join(" · "), 2);
    }
    if let Some(reason) = &meta.ended_early {
        page.paragraph(2, "", Ink::Bad, &format!("ended early: {reason}"), 2);
    }
}

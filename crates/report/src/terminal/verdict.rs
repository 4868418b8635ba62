//! First of all: what dominates, and what to fix first.

use super::page::{Ink, Page};
use super::terms::TERMS;
use crate::text::one_line;
use crate::{View, facts, numbers};

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    title(page, view);
    page.blank();
    page.paragraph(2, "", Ink::Strong, &what_dominates(view), 3);
    if let Some(sentence) = failed(view) {
        page.paragraph(2, "", Ink::Bad, &sentence, 2);
    }
    page.paragraph(2, "", Ink::Strong, &fix_first(view), 3);
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
    page.line(&[
        (Ink::Strong, &format!("HAKARU RUN{number}  ")),
        (Ink::Plain, &one_line(name)),
    ]);
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
        page.line(&[(Ink::Faint, &format!("  {}", known.join(" · ")))]);
    }
    if let Some(reason) = &meta.ended_early {
        let sentence = format!("ended early: {}", one_line(reason));
        page.line(&[(Ink::Bad, &format!("  {sentence}"))]);
    }
}

fn what_dominates(view: &View<'_>) -> String {
    let overall = &view.breakdown.overall;
    if overall.requests == 0 {
        return "No request fell into the measured window, so there is nothing to explain."
            .to_owned();
    }
    if overall.answered == 0 {
        return "Not one request was answered.".to_owned();
    }
    let slowest = view.breakdown.routes.first();
    let route = slowest.map(|route| {
        let share = facts::time_share(route, overall);
        format!(
            "{} takes {} of all time",
            one_line(&route.route),
            numbers::share(share)
        )
    });
    if overall.answered <= overall.unseen {
        let route = route.map_or(String::new(), |route| format!(" {route}."));
        return format!("The app was seen from outside only, so no cause can be named.{route}");
    }
    let balance = &overall.balance;
    let greatest = TERMS
        .iter()
        .max_by(|a, b| (a.value)(balance).total_cmp(&(b.value)(balance)));
    let share = |value: f64| numbers::share(value / overall.seen_mean_ms);
    let phrase = greatest.map_or(String::new(), |term| {
        format!(
            "{} of the time goes into {}",
            share((term.value)(balance)),
            term.phrase
        )
    });
    match route {
        Some(route) => format!("{phrase}; {route}."),
        None => format!("{phrase}."),
    }
}

fn failed(view: &View<'_>) -> Option<String> {
    let overall = &view.breakdown.overall;
    let failed = overall.errors + overall.checks_failed;
    let share = failed as f64 / overall.requests.max(1) as f64;
    (share >= findings::FAILED_SHARE_LOUD).then(|| {
        format!(
            "{} of the requests failed ({}): mend that before trusting any time below.",
            numbers::share(share),
            numbers::count(failed)
        )
    })
}

fn fix_first(view: &View<'_>) -> String {
    match facts::fixes(view).next() {
        Some((number, finding)) => {
            let gain = match finding.estimated_gain.as_str() {
                "" => String::new(),
                gain => format!(" ({})", one_line(gain)),
            };
            format!(
                "Fix first: {}{gain}, finding {number}.",
                one_line(&finding.title)
            )
        }
        None if view.breakdown.overall.answered == 0 => {
            "Look at the failures and troubles below first.".to_owned()
        }
        None => "No rule found anything to fix; the balance below says where to look.".to_owned(),
    }
}

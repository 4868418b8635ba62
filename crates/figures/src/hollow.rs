//! Pages without content: nearly everything requested was answered by a redirect or a refusal. The
//! same sentences for a run with a recording and for a load without one.

use words::{Text, text};

use crate::numbers;

/// Share of the pages from which the run says little of the app. Logins and redirects after a form
/// are far from it.
pub const SHARE_MIN: f64 = 0.9;

/// Returns a warning for statuses and counts of responses; `None` where most are pages. For loads
/// without a recording.
pub fn warning(statuses: impl IntoIterator<Item = (u16, u64)>) -> Option<Text> {
    let (mut all, mut hollow) = (0, 0);
    for (status, count) in statuses {
        all += count;
        hollow += if is_hollow(status) { count } else { 0 };
    }
    let share = hollow as f64 / all.max(1) as f64;
    (hollow > 0 && share >= SHARE_MIN)
        .then(|| text!("{what}; {remedy}", what = what(share), remedy = remedy()))
}

/// Returns the sentence for a share of pages without content.
pub fn what(share: f64) -> Text {
    text!(
        "{share} of the pages are redirects or refusals: little of the app is measured",
        share = numbers::share(share)
    )
}

/// Returns what to do about pages without content.
pub fn remedy() -> Text {
    text!(
        "look at the answers (hakaru check FLOW) and state the expected status in the flow, such as HTTP 200; where they \
             lead to https (Rails: config.force_ssl), send X-Forwarded-Proto: https with each request; where \
             they lead to a login, log in first (`hakaru help flows`)"
    )
}

/// Whether a status means neither a page nor "not modified".
pub fn is_hollow(status: u16) -> bool {
    status != 304 && (300..500).contains(&status)
}

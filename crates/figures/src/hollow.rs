//! Pages without content: nearly everything requested was answered by a redirect or a refusal. The
//! same sentences for a run with a recording and for a load without one.

use words::{Text, text};

use crate::numbers;

/// Share of the pages from which the run says little of the app. Logins and redirects after a form
/// are far from it.
pub const SHARE_MIN: f64 = 0.9;

/// Share of the pages from which refusals (4xx) alone make most of the run. Chosen by judgement: an
/// app that looks for what may be missing refuses fewer.
pub const REFUSED_SHARE_MIN: f64 = 0.5;

/// Whether so many pages without content, of which so many are refusals, leave little of an app
/// measured.
pub fn says_little(hollow: u64, refused: u64, all: u64) -> bool {
    let share = |count: u64| count as f64 / all.max(1) as f64;
    hollow > 0 && (share(hollow) >= SHARE_MIN || share(refused) >= REFUSED_SHARE_MIN)
}

/// Returns a warning for statuses and counts of responses; `None` where most are pages. For loads
/// without a recording.
pub fn warning(statuses: impl IntoIterator<Item = (u16, u64)>) -> Option<Text> {
    let (mut all, mut hollow, mut refused) = (0, 0, 0);
    for (status, count) in statuses {
        all += count;
        hollow += if is_hollow(status) { count } else { 0 };
        refused += if is_refusal(status) { count } else { 0 };
    }
    let share = hollow as f64 / all.max(1) as f64;
    says_little(hollow, refused, all)
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

/// Returns what to do about requests for missing pages.
pub fn remedy_missing() -> Text {
    text!(
        "write paths that the app has into the flow, and the expected status, such as HTTP 200 (`hakaru help flows`)"
    )
}

/// Whether a status is a refusal.
pub fn is_refusal(status: u16) -> bool {
    (400..500).contains(&status)
}

/// Whether a status means neither a page nor "not modified".
pub fn is_hollow(status: u16) -> bool {
    status != 304 && (300..500).contains(&status)
}

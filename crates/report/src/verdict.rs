//! The verdict: what dominates, and what to fix first, in sentences that every output shows.

use crate::terminal::TERMS;
use crate::text::one_line;
use crate::{View, facts, numbers};

/// What takes most of the time, and on which route; or why nothing can be said.
pub(crate) fn what_dominates(view: &View<'_>) -> String {
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
    let seen = overall.answered - overall.unseen;
    // What few requests spent says little of the others.
    let (few, whose) = match seen < overall.unseen {
        true => {
            let answered = numbers::count(overall.answered);
            let few = format!(
                "Only {} of {answered} requests were seen inside the app: ",
                numbers::count(seen)
            );
            (few, "their")
        }
        false => (String::new(), "the"),
    };
    let phrase = greatest.map_or(String::new(), |term| {
        format!(
            "{few}{} of {whose} time goes into {}",
            share((term.value)(balance)),
            term.phrase
        )
    });
    match route {
        Some(route) => format!("{phrase}; {route}."),
        None => format!("{phrase}."),
    }
}

/// That requests failed, when so many did that no time can be trusted.
pub(crate) fn failed(view: &View<'_>) -> Option<String> {
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

/// Share of the time below which a gain is not worth being called the first thing to fix.
const WORTH_FIXING: f64 = 0.01;

/// What to do next.
pub(crate) fn fix_first(view: &View<'_>) -> String {
    match facts::fixes(view).next() {
        Some((number, finding)) => {
            let gain = match finding.estimated_gain.to_string().as_str() {
                "" => String::new(),
                gain => format!(" ({})", one_line(gain)),
            };
            // 0 says that the gain is not known.
            let little = finding.gain_share > 0.0 && finding.gain_share < WORTH_FIXING;
            let lead = match little {
                true => "Nothing that was found costs much. The most",
                false => "Fix first",
            };
            format!(
                "{lead}: {}{gain}, finding {number}.",
                one_line(&finding.title.to_string())
            )
        }
        None if view.breakdown.overall.answered == 0 => {
            "Look at the failures and troubles below first.".to_owned()
        }
        None => "No rule found anything to fix; the balance below says where to look.".to_owned(),
    }
}

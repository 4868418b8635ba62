//! The verdict: the dominant cost and the first fix, in sentences shown by every output.

use breakdown::RouteBalance;
use figures::numbers;
use findings::Confidence;
use findings::RuleId;
use words::{Text, text};

use crate::terminal::TERMS;
use crate::{View, facts};
use figures::text::one_line;

/// The part with most of the time, and the route; or the reason why there is no verdict.
pub(crate) fn what_dominates(view: &View<'_>) -> Text {
    let overall = &view.breakdown.overall;
    if overall.requests == 0 {
        return match view.recording.meta.ended_early {
            Some(_) => text!("Nothing was measured: the run ended during warm-up."),
            None => text!("Nothing was measured: no request was due in the measured window."),
        };
    }
    if overall.answered == 0 {
        return text!("Not one request was answered.");
    }
    let slowest = view.breakdown.routes.first();
    let route = slowest.map(|route| {
        text!(
            "{route} takes {share} of all time",
            route = one_line(&route.route),
            share = numbers::share(facts::time_share(route, overall))
        )
    });
    let outside = text!("The app was seen from outside only, so no cause can be named.");
    if overall.answered <= overall.unseen {
        return match route {
            None => outside,
            Some(route) => text!("{outside} {route}.", outside, route),
        };
    }
    let goes = greatest_term(overall);
    match who_holds_threads(view) {
        None => text!("{goes}.", goes),
        Some(route) => text!("{goes}; {route}.", goes, route),
    }
}

/// Into which term most of the time goes.
fn greatest_term(overall: &RouteBalance) -> Text {
    let balance = &overall.balance;
    let greatest = TERMS
        .iter()
        .max_by(|a, b| (a.value)(balance).total_cmp(&(b.value)(balance)));
    let Some(term) = greatest else {
        return Text::default();
    };
    let share = numbers::share((term.value)(balance) / overall.seen_mean_ms);
    let seen = overall.answered - overall.unseen;
    // What few requests spent says little of the others.
    match seen < overall.unseen {
        true => text!(
            "Only {seen} of {answered} requests were seen inside the app: {share} of their time goes into {what}",
            seen = numbers::count(seen),
            answered = numbers::count(overall.answered),
            share,
            what = term.phrase
        ),
        false => text!(
            "{share} of the time goes into {what}",
            share,
            what = term.phrase
        ),
    }
}

/// Share of the threads' time from which on a second route is named.
const SECOND_ROUTE_SHARE: f64 = 0.1;

/// Sentence on the one or two routes with the most time on the server's threads.
fn who_holds_threads(view: &View<'_>) -> Option<Text> {
    let routes = facts::by_thread_time(view).into_iter();
    let held = |route: &RouteBalance| facts::thread_share(route, &view.breakdown.routes);
    let mut held = routes.filter_map(|route| Some((one_line(&route.route), held(route)?)));
    let (route, share) = held.next()?;
    let share = numbers::share(share);
    let second = held
        .next()
        .filter(|(_, share)| *share >= SECOND_ROUTE_SHARE);
    Some(match second {
        None => text!(
            "{route} holds the threads for {share} of their busy time",
            route,
            share
        ),
        Some((other, its)) => text!(
            "{route} holds the threads for {share} of their busy time, {other} for {its}",
            route,
            share,
            other,
            its = numbers::share(its)
        ),
    })
}

/// Sentence on failed requests, where too many failed for any time to be trusted.
pub(crate) fn failed(view: &View<'_>) -> Option<Text> {
    let overall = &view.breakdown.overall;
    let failed = overall.errors + overall.checks_failed;
    let share = failed as f64 / overall.requests.max(1) as f64;
    let count = numbers::count(failed);
    (share >= findings::FAILED_SHARE_LOUD).then(|| match failed == overall.requests {
        true => text!(
            "Every request failed ({count}). Fix that before you read any of the times below.",
            count
        ),
        false => text!(
            "{share} of the requests failed ({count}). Fix that before you read any of the times below.",
            share = numbers::share(share),
            count
        ),
    })
}

/// Share of the time below which a gain is not worth being called the first thing to fix.
const WORTH_FIXING: f64 = 0.01;

/// Sentence on a run of hardly any page: nothing else on the page is worth doing before.
fn hollow(view: &View<'_>) -> Option<Text> {
    let mut numbered = (1_u32..).zip(view.findings);
    let (number, finding) = numbered.find(|(_, finding)| finding.rule == RuleId::HollowAnswers)?;
    Some(text!(
        "{title}. Before anything else (finding {number}): {remedy}.",
        title = finding.title,
        number,
        remedy = finding.remedy.text
    ))
}

/// The next thing to do.
pub(crate) fn fix_first(view: &View<'_>) -> Text {
    if let Some(sentence) = hollow(view) {
        return sentence;
    }
    match facts::fixes(view).next() {
        Some((number, finding)) => {
            let gain = match finding.estimated_gain.is_empty() {
                true => Text::default(),
                false => text!(" ({gain})", gain = finding.estimated_gain),
            };
            // 0 says that the gain is not known.
            let little = finding.gain_share > 0.0 && finding.gain_share < WORTH_FIXING;
            let title = &finding.title;
            match little {
                true => text!(
                    "Nothing that was found costs much. The most: {title}{gain}, finding {number}.",
                    title,
                    gain,
                    number
                ),
                // Hints stand last: there is nothing surer.
                false if finding.confidence == Confidence::Low => text!(
                    "Nothing is sure to help. A hint to check: {title}{gain}, finding {number}.",
                    title,
                    gain,
                    number
                ),
                // It says itself how many failed.
                false if finding.rule == RuleId::Errors => {
                    text!("{title}. Fix this first (finding {number}).", title, number)
                }
                false => text!(
                    "Fix first: {title}{gain}, finding {number}.",
                    title,
                    gain,
                    number
                ),
            }
        }
        None if view.breakdown.overall.answered == 0 => {
            text!("Look at the failures and troubles below first.")
        }
        None => text!("No rule found anything to fix; the balance below says where to look."),
    }
}

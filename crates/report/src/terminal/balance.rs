//! Distribution of each route's time: a bar, and the same in words.

use breakdown::RouteBalance;
use figures::counted;
use words::{Phrase, Text, phrase, text};

use super::page::{Ink, Page};
use super::terms::{TERMS, Term};
use crate::facts::{self, Percentiles};
use figures::numbers;
use figures::text::{left, one_line, right, width};

use crate::View;

const ROUTES_MAX: usize = 6;
/// Columns of a figure.
const CELL: usize = 10;
/// Columns left of a bar, and as many right of the bar.
const BAR_INDENT: usize = 4;
/// Heads of a route's figures, each with the least width of the page for the figure: a route's name
/// is more significant than a percentile.
const HEADS: [(Phrase, usize); 5] = [
    (phrase!("requests"), 0),
    (phrase!("threads"), 0),
    (phrase!("p50"), 90),
    (phrase!("p95"), 75),
    (phrase!("mean"), 0),
];
/// Shares of the queue between which *receive* says something. Less is nothing; and Puma reads a
/// request on a new connection only when a thread takes it, so that all of the queue is the queue
/// itself.
const RECEIVE_SHARE_TELLING: std::ops::RangeInclusive<f64> = 0.05..=0.8;
/// Share of the mean below which terms are added up as `rest`, so the shown terms sum to the mean.
const TERM_SHARE_MIN: f64 = 0.01;

pub(super) fn write(page: &mut Page, view: &View<'_>) {
    let routes = &view.breakdown.routes;
    if routes.is_empty() {
        return;
    }
    page.title(
        text!("WHERE THE TIME GOES"),
        text!("by route, most thread time first; means per request, sent to answered"),
    );
    let heads = figures(page, HEADS.map(|(head, _)| page.written(head)));
    let room = page.columns().saturating_sub(width(&heads));
    page.line(&[(Ink::Faint, &format!("{}{heads}", left("", room)))]);
    let ordered = facts::by_thread_time(view);
    let (shown, others) = ordered.split_at(ordered.len().min(ROUTES_MAX));
    for route in shown {
        head(page, route, routes);
        body(page, route, view.recording.meta.same_host);
    }
    if !others.is_empty() {
        let overall = &view.breakdown.overall;
        let share = others
            .iter()
            .map(|route| facts::time_share(route, overall))
            .sum();
        let share = numbers::share(share);
        let sentence = match others.len() {
            1 => text!("1 more route takes {share} of the time (see --json)", share),
            count => text!(
                "{count} more routes take {share} of the time (see --json)",
                count,
                share
            ),
        };
        page.inked(2, Ink::Faint, sentence);
    }
}

/// The figures for which the page has room.
fn figures(page: &Page, cells: [String; HEADS.len()]) -> String {
    let shown = cells.iter().zip(HEADS);
    let shown = shown.filter(|(_, (_, columns_min))| page.columns() >= *columns_min);
    shown.map(|(cell, _)| right(cell, CELL)).collect()
}

fn head(page: &mut Page, route: &RouteBalance, routes: &[RouteBalance]) {
    let found = Percentiles::of(&route.service);
    let mean = match route.service.len() {
        0 => None,
        count => {
            let sum: f64 = route.service.iter().map(|time| time.as_millis_f64()).sum();
            Some(sum / count as f64)
        }
    };
    let cells = [
        numbers::count(route.requests),
        facts::thread_share(route, routes)
            .map_or_else(|| numbers::UNKNOWN.to_owned(), numbers::share),
        numbers::duration_ms_or_unknown(found.p50),
        numbers::duration_ms_or_unknown(found.p95),
        numbers::duration_ms_or_unknown(mean),
    ];
    let cells = figures(page, cells);
    let room = page.columns().saturating_sub(width(&cells));
    let name = left(&format!("  {}", one_line(&route.route)), room);
    page.line(&[(Ink::Strong, &name), (Ink::Plain, &cells)]);
}

fn body(page: &mut Page, route: &RouteBalance, same_host: bool) {
    let bad = [
        (route.errors, counted!(route.errors, "error")),
        (
            route.checks_failed,
            counted!(route.checks_failed, "failed check"),
        ),
    ];
    let bad = bad.into_iter().filter(|(count, _)| *count > 0);
    let bad = Text::list(bad.map(|(_, counted)| counted), text!(", "));
    if !bad.is_empty() {
        page.inked(4, Ink::Bad, bad);
    }
    if route.unanswered > 0 {
        let count = numbers::count(route.unanswered);
        page.text(4, text!("{count} still unanswered at the end", count));
    }
    if route.answered <= route.unseen {
        page.inked(4, Ink::Faint, text!("not seen inside the app"));
        return;
    }
    bar(page, route);
    words(page, route, same_host);
    if route.unseen > 0 {
        let sentence = text!(
            "{count} of them not seen inside the app",
            count = numbers::count(route.unseen)
        );
        page.inked(4, Ink::Faint, sentence);
    }
}

/// Draws each term as a run of the term's letter, in proportion. Negative ones (unaccounted may be)
/// have none.
fn bar(page: &mut Page, route: &RouteBalance) {
    let values = TERMS
        .each_ref()
        .map(|term| (term.value)(&route.balance).max(0.0));
    let cells = page.columns().saturating_sub(2 * BAR_INDENT).max(1);
    let cells: Vec<(Ink, String)> = TERMS
        .iter()
        .zip(cells_of(&values, cells))
        .map(|(term, cells)| (Ink::Bar(term.colour), term.letter.to_string().repeat(cells)))
        .collect();
    let indent = " ".repeat(BAR_INDENT);
    let mut pieces = vec![(Ink::Plain, indent.as_str())];
    pieces.extend(cells.iter().map(|(ink, text)| (*ink, text.as_str())));
    page.line(&pieces);
}

/// Distributes `cells` over the values by rounding the running sum, so the parts always add up.
fn cells_of(values: &[f64], cells: usize) -> Vec<usize> {
    let sum: f64 = values.iter().sum();
    if !sum.is_finite() || sum <= 0.0 {
        return vec![0; values.len()];
    }
    let (mut reached, mut drawn) = (0.0, 0);
    values
        .iter()
        .map(|value| {
            reached += value;
            let end = ((reached / sum * cells as f64).round() as usize).min(cells);
            let own = end - drawn;
            drawn = end;
            own
        })
        .collect()
}

/// Writes the greatest terms first, each with a letter; unaccounted always.
fn words(page: &mut Page, route: &RouteBalance, same_host: bool) {
    let mean = route.seen_mean_ms;
    let value = |term: &Term| (term.value)(&route.balance);
    let named = |term: &&Term| term.letter == '?' || value(term) >= mean * TERM_SHARE_MIN;
    let (mut shown, rest): (Vec<&Term>, Vec<&Term>) = TERMS.iter().partition(named);
    shown.sort_by(|a, b| {
        let order = |term: &Term| (term.letter == '?', -value(term));
        let ((a_last, a_value), (b_last, b_value)) = (order(a), order(b));
        a_last.cmp(&b_last).then(a_value.total_cmp(&b_value))
    });
    let mut items: Vec<Text> = shown
        .into_iter()
        .map(|term| {
            text!(
                "{letter} {name} {part}",
                letter = term.letter,
                name = term.name_on(same_host),
                part = part(value(term), mean)
            )
        })
        .collect();
    let rest: f64 = rest.into_iter().map(value).sum();
    if rest > 0.0 {
        items.insert(
            items.len() - 1,
            text!("rest {part}", part = part(rest, mean)),
        );
    }
    let (queue, receive) = (route.balance.queue, route.balance.receive);
    if receive > mean * TERM_SHARE_MIN && RECEIVE_SHARE_TELLING.contains(&(receive / queue)) {
        let receive = numbers::duration_ms(receive);
        items.push(text!(
            "(of queue, {receive} until puma had read the request)",
            receive
        ));
    }
    flow(page, &items);
}

fn part(value: f64, mean: f64) -> String {
    match mean > 0.0 {
        true => format!(
            "{} {}",
            numbers::duration_ms(value),
            numbers::share(value / mean)
        ),
        false => numbers::duration_ms(value),
    }
}

/// Items side by side, never broken inside.
fn flow(page: &mut Page, items: &[Text]) {
    let mut line = String::from("   ");
    for item in items {
        let item = page.written(item);
        if width(&line) + 1 + width(&item) > page.columns() && line.trim() != "" {
            page.text(0, line.trim_end());
            line = String::from("   ");
        }
        line.push(' ');
        line.push_str(&item);
        line.push(' ');
    }
    page.text(0, line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::cells_of;

    #[test]
    fn cells_add_up() {
        let check = |values: &[f64], expected: &[usize]| assert_eq!(cells_of(values, 10), expected);
        check(&[1.0, 1.0], &[5, 5]);
        check(&[1.0, 1.0, 1.0], &[3, 4, 3]);
        check(&[0.0, 2.0, 0.0], &[0, 10, 0]);
        check(&[0.001, 100.0], &[0, 10]);
        check(&[0.0, 0.0], &[0, 0]);
        check(&[f64::INFINITY, 1.0], &[0, 0]);
        check(&[f64::MAX, f64::MAX], &[0, 0]);
    }
}

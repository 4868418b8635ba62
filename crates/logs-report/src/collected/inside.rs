//! What agents recorded inside of an app, on the terminal's page.

use collect::follow::Inside;
use collect::layers::TERMS;
use collect::message::RouteTime;
use console::columns::Columns;
use figures::{counted, numbers};
use words::{Phrase, phrase, text};

/// Lines of a paragraph.
const LINES_MAX: usize = 4;
/// States of a route named with a share.
const STATES_SHOWN: usize = 4;
/// Smallest share named.
const SHARE_MIN: f64 = 0.005;

/// Words for the states, in the order of [`collect::message::STATES`].
const STATES: [Phrase; 8] = [
    phrase!("gvl wait"),
    phrase!("gc"),
    phrase!("sql"),
    phrase!("http"),
    phrase!("lock"),
    phrase!("sleep"),
    phrase!("other io"),
    phrase!("running"),
];

/// Words for the terms of an app in the balance, in the order of [`TERMS`].
fn terms() -> [Phrase; TERMS.len()] {
    let [gvl_wait, gc, sql, http, lock, sleep, other_io, running] = STATES;
    let (queue, missed) = (phrase!("queue"), phrase!("unaccounted"));
    [
        queue, gvl_wait, gc, sql, http, lock, sleep, other_io, running, missed,
    ]
}

/// Returns the terms of an app in the balance, the largest first, such as
/// `sql 6.20 ms 62%, gvl wait 2.00 ms 20%`.
pub(super) fn told(terms_s: &[f64; TERMS.len()]) -> String {
    let all_s: f64 = terms_s.iter().sum();
    let parts = terms_s.iter().copied().zip(terms());
    let words = |seconds: f64, name: &str, share: &str| {
        format!("{name} {} {share}", numbers::duration_ms(seconds * 1e3))
    };
    largest(parts.collect(), all_s, TERMS.len(), words)
}

/// Adds the routes and the statements of an app, at most `limit` of each, or all for 0.
pub(super) fn add(columns: &mut Columns, host: &str, inside: &Inside, limit: usize) {
    let end = &inside.end;
    columns.add_gap();
    let head = text!(
        "inside of the app on {host}: {requests}; {server}, serving processes: {processes}",
        host,
        requests = counted!(end.requests, "request"),
        server = figures::line::one_line(&end.server),
        processes = numbers::count(end.processes)
    );
    columns.add_line(0, &head, LINES_MAX);
    for note in end.error.iter().chain(&end.notes) {
        columns.add_paragraph(2, note, LINES_MAX);
    }
    if end.dropped > 0 {
        let lost = text!(
            "{records} lost: a ring was full",
            records = counted!(end.dropped, "record")
        );
        columns.add_line(2, &lost, LINES_MAX);
    }
    let shown = match limit {
        0 => usize::MAX,
        limit => limit,
    };
    add_routes(columns, inside, shown);
    add_statements(columns, inside, shown);
}

fn add_routes(columns: &mut Columns, inside: &Inside, shown: usize) {
    if inside.routes.is_empty() {
        return;
    }
    columns.add_titles(&[
        text!("requests"),
        text!("time"),
        text!("mean"),
        text!("waited"),
        text!("failed"),
    ]);
    let all_ns: u64 = inside.routes.iter().map(|one| one.time_ns).sum();
    for one in inside.routes.iter().take(shown) {
        match one.route.is_empty() {
            true => columns.add_line(2, &text!("requests whose route has no name"), LINES_MAX),
            false => columns.add_paragraph(2, &figures::line::one_line(&one.route), LINES_MAX),
        }
        let mean = |nanos: u64| numbers::duration_ns(nanos as f64 / one.requests.max(1) as f64);
        columns.add_figures(&[
            numbers::count(one.requests),
            numbers::share(one.time_ns as f64 / all_ns.max(1) as f64),
            mean(one.time_ns),
            mean(one.waited_ns),
            numbers::count(one.failed),
        ]);
        columns.add_paragraph(6, &states(one), LINES_MAX);
    }
}

/// Returns the largest states of a route, such as `sql 62 %, gvl wait 20 %`.
fn states(route: &RouteTime) -> String {
    let states = route.states_ns.map(|nanos| nanos as f64);
    let parts = states.into_iter().zip(STATES);
    let words = |_, name: &str, share: &str| format!("{name} {share}");
    largest(
        parts.collect(),
        route.time_ns.max(1) as f64,
        STATES_SHOWN,
        words,
    )
}

/// Returns the largest parts of `all` by `words` of the part, name and share.
fn largest(
    mut parts: Vec<(f64, Phrase)>,
    all: f64,
    shown: usize,
    words: impl Fn(f64, &str, &str) -> String,
) -> String {
    let language = console::language::chosen();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named = parts.into_iter().take(shown).filter_map(|(part, name)| {
        let share = part / all;
        let is_told = share >= SHARE_MIN;
        is_told.then(|| words(part, &name.written_in(language), &numbers::share(share)))
    });
    named.collect::<Vec<_>>().join(", ")
}

fn add_statements(columns: &mut Columns, inside: &Inside, shown: usize) {
    if inside.statements.is_empty() {
        return;
    }
    columns.add_titles(&[text!("calls"), text!("time"), text!("mean"), text!("rows")]);
    let all_ns: u64 = inside.statements.iter().map(|one| one.time_ns).sum();
    for one in inside.statements.iter().take(shown) {
        columns.add_paragraph(2, &figures::line::one_line(&one.digest), LINES_MAX);
        columns.add_figures(&[
            numbers::count(one.count),
            numbers::share(one.time_ns as f64 / all_ns.max(1) as f64),
            numbers::duration_ns(one.time_ns as f64 / one.count.max(1) as f64),
            numbers::count(one.rows),
        ]);
        if !one.site.is_empty() {
            columns.add_paragraph(6, &figures::line::one_line(&one.site), LINES_MAX);
        }
    }
}

//! Rows loaded, made into objects, and then only counted or added up.

use super::wide_columns::is_compressed;
use crate::rule_id::RuleId;
use breakdown::{RouteBalance, SqlSummary};
use figures::counted;
use recording::Handled;
use words::text;

use crate::context::Context;
use crate::costs::Shares;
use crate::demand::Demand;
use crate::query;
use crate::text::{fit, ms, percent, place, times, title};
use crate::types::{Confidence, Finding, Remedy, Safety};
use figures::numbers;

/// Rows per execution from which making objects costs more than a statement does.
const ROWS_MIN: f64 = 20.0;
/// Bytes of the response per loaded row below which the response does not show the rows: an id in
/// markup or JSON has more.
const BODY_BYTES_MAX: f64 = 4.0;
/// Smallest gain worth a change, unless the rows take most of a route.
const GAIN_MIN: f64 = 0.05;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let statements = context.breakdown.sql.iter();
    statements
        .filter_map(|sql| finding(context, sql, route(context, sql)?))
        .collect()
}

/// Returns the route loading most of the statement's rows, if no route with the statement can show
/// the rows.
fn route<'a>(context: &Context<'a>, sql: &SqlSummary) -> Option<&'a RouteBalance> {
    let rows = sql.rows_each();
    let plain = query::read(&sql.digest).filter(|query| !query.grouped)?;
    let repeats = sql.routes.iter().map(|(_, each)| *each);
    // An existence check or a lookup by key returns few; what is issued again and again is
    // `n-plus-one`.
    if rows < ROWS_MIN || plain.limited || repeats.fold(0.0, f64::max) >= ROWS_MIN {
        return None;
    }
    let mut most = None;
    for (name, each) in &sql.routes {
        let route = context.route(name)?;
        // What changes something may need rows without showing any, and so may a redirect.
        let shows = name.starts_with("GET ") && route.shown_bytes > 0.0;
        let holds_rows = route.shown_bytes >= BODY_BYTES_MAX * rows * each.max(1.0);
        // A list of similar rows shrinks to a few bytes each.
        if !shows || holds_rows || is_compressed(route) {
            return None;
        }
        most = most.or(Some(route));
    }
    most
}

fn finding(context: &Context<'_>, sql: &SqlSummary, route: &RouteBalance) -> Option<Finding> {
    let below = below(context, sql);
    let rows = sql.rows_each();
    // One row is still made of the result.
    let saved = below.times(1.0 - 1.0 / rows);
    let gain = context.gain(&saved);
    let worth = context.worth(&saved, gain.share >= GAIN_MIN)?;
    let at = place(sql.called_from.first().map(String::as_str));
    let mut evidence = vec![
        text!(
            "{rows} rows in {executions}, {held} in all with the GVL below that line",
            rows = numbers::count(sql.rows),
            executions = counted!(sql.count, "execution"),
            held = ms(saved.held_ms())
        ),
        text!(
            "the response of {route} has {size} on average, less than the rows' ids",
            route = route.route,
            size = numbers::bytes(route.shown_bytes as u64)
        ),
        fit(&sql.digest, 160).into(),
    ];
    evidence.extend(worth.evidence());
    Some(Finding {
        rule: RuleId::RowsInRuby,
        route: route.route.clone(),
        title: title(text!(
            "{rows} rows are loaded per request at {at}, and none is shown",
            rows = times(rows),
            at
        )),
        why: text!(
            "each row is read, sent and made into an object, only to be counted or added up: the database does \
             that without"
        ),
        evidence,
        remedy: Remedy {
            text: text!(
                "ask the database: `sum(:column)`, `count`, `maximum(:column)` or `exists?` in ActiveRecord, `sum` \
                 and `count` in Sequel, SUM() and COUNT() in SQL; where only one column is needed, `pluck` makes no \
                 objects"
            ),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!(
            "{gain}: {share} of the GVL's time on {route} goes into these rows",
            gain = gain.text,
            share = percent(share_of_route(context, &saved, &route.route)),
            route = route.route
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: worth.confidence(Confidence::Medium),
    })
}

/// Returns the demand below the lines issuing the statement, making objects of rows included, from
/// each request by the number of rows; the driver's time without a sample.
fn below(context: &Context<'_>, sql: &SqlSummary) -> Demand {
    let driver = context.statement_demand(sql, 1.0);
    let sampled = context
        .sites_of(sql)
        .into_iter()
        .filter_map(|(route, site)| {
            let Shares { issuing, rows } = context.shares_below(route, site)?;
            Some(context.held_demand(route, issuing + rows))
        })
        .sum::<Demand>();
    if sampled.held_ms() > driver.held_ms() {
        context.placed_by(sampled, |handled| rows(handled, sql))
    } else {
        driver
    }
}

/// Returns the rows of a statement in one request.
fn rows(handled: &Handled, sql: &SqlSummary) -> f64 {
    let uses = handled.sql.iter().filter(|used| used.digest == sql.id);
    uses.map(|used| used.rows as f64).sum()
}

fn share_of_route(context: &Context<'_>, saved: &Demand, name: &str) -> f64 {
    context.joined.route_named(name).map_or(0.0, |at| {
        let (held, _) = context.held_of(at);
        (saved.held_ms() / held.max(1e-9)).min(1.0)
    })
}

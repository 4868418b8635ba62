//! Statements waiting for the database with the GVL held: no other thread of the worker runs
//! meanwhile.
//!
//! Observed with mysql2's prepared statements, whose rows are fetched without letting go
//! (`mysql_stmt_store_result`), and with SQLite while another process has the lock.

use crate::rule_id::RuleId;
use breakdown::SqlSummary;
use database::Kind;
use figures::numbers;
use recording::{BurstKind, Handled};
use words::{Text, text};

use crate::context::Context;
use crate::text::{fit, ms, percent, place, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Time with the GVL in SQL per request below which only the driver's own work is measured.
const HELD_MIN_MS: f64 = 5.0;
/// Share of CPU in the held time up to which a route waits, and does not work: SQLite, for one,
/// works with the GVL held.
const CPU_SHARE_MAX: f64 = 0.3;
/// Share of the workers' time with the GVL held in SQL from which there is a finding. Chosen by
/// judgement.
const WORKER_SHARE_MIN: f64 = 0.1;
/// Requests with CPU readings needed for a route.
const SAMPLED_MIN: usize = 3;

/// Time with the GVL held in SQL, on one route.
struct Held<'a> {
    route: &'a str,
    requests: u64,
    /// Milliseconds in SQL with the GVL, over all requests of the route.
    sql_ms: f64,
    /// Upper bound of the share of `sql_ms` on a core.
    cpu_share: f64,
    /// Source of `cpu_share`.
    known_by: Text,
}

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let places = 0..context.joined.routes.len();
    let waits: Vec<Held<'_>> = places
        .filter_map(|place| held(context, place))
        .filter(|held| held.cpu_share <= CPU_SHARE_MAX)
        .collect();
    finding(context, &waits).into_iter().collect()
}

fn held<'a>(context: &'a Context<'_>, place: usize) -> Option<Held<'a>> {
    let of_route = context
        .joined
        .requests
        .iter()
        .filter(|request| request.route == place);
    let handled: Vec<&Handled> = of_route.filter_map(|request| request.handled).collect();
    let sql_ms: f64 = handled.iter().map(|handled| sql_ms(handled)).sum();
    if sql_ms < HELD_MIN_MS * handled.len().max(1) as f64 {
        return None;
    }
    // Either is an upper bound. The few that were sampled may all be ones whose rows had come
    // before they were fetched.
    let bounds = [by_samples(&handled), by_process(context)];
    let (cpu_share, known_by) = bounds
        .into_iter()
        .flatten()
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Held {
        route: &context.joined.routes[place],
        requests: context.joined.in_all(handled.len() as u64),
        sql_ms: sql_ms * context.joined.weight,
        cpu_share,
        known_by,
    })
}

fn sql_ms(handled: &Handled) -> f64 {
    handled.parts.sql_running.as_millis_f64()
}

/// Returns the share by the CPU time of sampled requests' threads: all of the CPU but the part
/// outside of calls.
fn by_samples(handled: &[&Handled]) -> Option<(f64, Text)> {
    let sampled = handled.iter().filter_map(|handled| {
        let cpu = handled.cpu?;
        let in_calls = cpu.total_cpu.as_millis_f64() - cpu.running_cpu.as_millis_f64();
        Some((in_calls, sql_ms(handled)))
    });
    let sampled: Vec<(f64, f64)> = sampled.collect();
    let cpu: f64 = sampled.iter().map(|(cpu, _)| cpu).sum();
    let held: f64 = sampled.iter().map(|(_, held)| held).sum();
    let known_by = text!("CPU time of {count} of its requests", count = sampled.len());
    (sampled.len() >= SAMPLED_MIN && held > 0.0).then(|| (cpu / held, known_by))
}

/// Returns the share by the CPU time of the app's processes: no part of the app can have used more.
fn by_process(context: &Context<'_>) -> Option<(f64, Text)> {
    let cores = f64::from(context.recording.meta.cores.max(1));
    let window_ms = context.recording.window.length().as_millis_f64();
    let app_ms = crate::host::shares(context.recording)?.app * cores * window_ms;
    let handled = context
        .joined
        .requests
        .iter()
        .filter_map(|request| request.handled);
    let held = handled.map(sql_ms).sum::<f64>() * context.joined.weight;
    (held > 0.0).then(|| (app_ms / held, text!("CPU time of the whole app")))
}

fn finding(context: &Context<'_>, waits: &[Held<'_>]) -> Option<Finding> {
    let most = waits.iter().max_by(|a, b| a.sql_ms.total_cmp(&b.sql_ms))?;
    let target = &context.recording.meta.target;
    let held_ms: f64 = waits.iter().map(|held| held.sql_ms).sum();
    let workers_ms =
        context.recording.window.length().as_millis_f64() * f64::from(target.workers.max(1));
    if held_ms < WORKER_SHARE_MIN * workers_ms {
        return None;
    }
    let each = ms(most.sql_ms / most.requests as f64);
    // The wait itself stays, but threads then wait side by side.
    let gain = context.gain(&context.everywhere(
        BurstKind::Running,
        held_ms * (1.0 - 1.0 / f64::from(target.threads.max(1))),
    ));
    let issues = |sql: &&SqlSummary| sql.routes.iter().any(|(name, _)| name == most.route);
    let mut evidence = vec![text!(
        "of {each} per request in SQL with the GVL held, at most {share} was on a core, by {known_by} ({requests} \
         requests)",
        each,
        share = percent(most.cpu_share),
        known_by = most.known_by,
        requests = numbers::count(most.requests)
    )];
    evidence.extend(context.breakdown.sql.iter().find(issues).map(|sql| {
        let site = place(sql.called_from.first().map(String::as_str));
        text!(
            "{count} × at {site}: {statement}",
            count = numbers::count(sql.count),
            site,
            statement = fit(&sql.digest, 160)
        )
    }));
    Some(Finding {
        rule: RuleId::GvlInSql,
        route: most.route.to_owned(),
        title: title(text!(
            "{route} waits {each} for the database with the GVL held",
            route = most.route,
            each
        )),
        why: text!(
            "while a driver waits without releasing the GVL, no other thread of the worker runs at all"
        ),
        evidence,
        remedy: remedy(context.database_kind()),
        estimated_gain: text!(
            "{gain}: {time} in all, during which every thread stands still",
            gain = gain.text,
            time = ms(held_ms)
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        // Where others take the cores, what is not on one may wait for one.
        confidence: if context.host_is_shared() {
            Confidence::Low
        } else {
            Confidence::High
        },
    })
}

fn remedy(database: Option<Kind>) -> Remedy {
    let text = if database == Some(Kind::Sqlite) {
        text!(
            "make the statement short (an index, fewer rows per transaction, WAL) and keep other processes from holding the lock; more workers with fewer threads each lose less"
        )
    } else {
        text!(
            "with mysql2, use client.query with escaped values in place of prepare and execute: a prepared \
             statement's rows are fetched with the GVL held, a query's without; or make the statement short; \
             more workers with fewer threads each lose less"
        )
    };
    Remedy {
        text: text.to_owned(),
        exact: None,
        safety: Safety::Code,
    }
}

//! Connections and prepared statements of a database that are made anew again and again.

use recording::DatabaseFacts;

use crate::context::Context;
use crate::numbers;
use crate::text::{percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// New connections a request that saw SQL, from which there is no pool. Found by weighing.
const CONNECTIONS_PER_REQUEST_MIN: f64 = 0.5;
/// Below so many there was hardly a run.
const COUNT_MIN: u64 = 100;
/// Statements closed of those prepared, below which they are forgotten.
const CLOSED_SHARE_MAX: f64 = 0.1;
/// Executions a prepared statement, below which preparing was in vain.
const EXECUTIONS_MAX: f64 = 2.0;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let Some(database) = &context.recording.database else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    findings.extend(connections(context, database));
    findings.extend(prepared(database));
    findings
}

fn connections(context: &Context<'_>, database: &DatabaseFacts) -> Option<Finding> {
    let made = database
        .growth("Connections")
        .or_else(|| database.growth("sessions"))?;
    let requests = context
        .joined
        .requests
        .iter()
        .filter(|request| {
            request
                .handled
                .is_some_and(|handled| handled.statements > 0)
        })
        .count();
    let each = made as f64 / requests.max(1) as f64;
    (made >= COUNT_MIN && each >= CONNECTIONS_PER_REQUEST_MIN).then(|| {
        finding(
            "connection-per-request",
            &format!(
                "a new database connection for nearly every request: {}",
                numbers::count(made)
            ),
            "connecting takes round trips, a thread of the server, and loses what it had prepared",
            format!("{made} connections were made for {requests} requests with statements"),
            "keep connections in a pool with one for each thread",
        )
    })
}

fn prepared(database: &DatabaseFacts) -> Option<Finding> {
    let prepared = database.growth("Com_stmt_prepare")?;
    let closed = database.growth("Com_stmt_close")?;
    let executed = database.growth("Com_stmt_execute")?;
    let forgotten = (closed as f64) < CLOSED_SHARE_MAX * prepared as f64;
    let in_vain = (executed as f64) < EXECUTIONS_MAX * prepared as f64;
    (prepared >= COUNT_MIN && forgotten && in_vain).then(|| {
        finding(
            "prepared-statements",
            &format!(
                "prepared statements are never closed: {} made",
                numbers::count(prepared)
            ),
            "each is a round trip, and stays on the server until its connection ends",
            format!(
                "{prepared} prepared, {closed} closed ({}), {executed} executed",
                percent(closed as f64 / prepared as f64)
            ),
            "prepare each statement once a connection and use it again, or close it after use",
        )
    })
}

fn finding(rule: &'static str, what: &str, why: &str, evidence: String, remedy: &str) -> Finding {
    Finding {
        rule,
        route: String::new(),
        title: title(what),
        why: why.to_owned(),
        evidence: vec![evidence],
        remedy: Remedy {
            text: remedy.to_owned(),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: "unknown: the server counts these, but not their time".to_owned(),
        gain_share: 0.0,
        confidence: Confidence::High,
    }
}

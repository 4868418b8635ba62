//! Connections and prepared statements of a database created again and again.

use crate::rule_id::RuleId;
use figures::numbers;
use recording::{ActKind, DatabaseFacts};
use words::{Text, text};

use crate::acts::ActSum;
use crate::context::Context;
use crate::demand::Demand;
use crate::text::{called_from, ms, percent, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// New connections per request with SQL from which there is no pool. Chosen by judgement.
const CONNECTIONS_PER_REQUEST_MIN: f64 = 0.5;
/// Below so many there was hardly a run.
const COUNT_MIN: u64 = 100;
/// Share of prepared statements closed below which the app forgets to close statements.
const CLOSED_SHARE_MAX: f64 = 0.1;
/// Executions a prepared statement, below which preparing was in vain.
const EXECUTIONS_MAX: f64 = 2.0;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let database = context.recording.database.as_ref();
    let findings = [connections(context, database), prepared(context, database)];
    findings.into_iter().flatten().collect()
}

/// Activities of one kind, as recorded in the app.
struct Done<'a> {
    count: u64,
    time_ms: f64,
    /// The line with most of the activity.
    most: Option<&'a ActSum<'a>>,
}

impl<'a> Done<'a> {
    fn of(context: &'a Context<'_>, kind: ActKind) -> Done<'a> {
        let acts = context.acts.iter().filter(|act| act.kind == kind);
        Done {
            count: acts.clone().map(|act| act.count).sum(),
            time_ms: acts.clone().map(|act| act.time_ms).sum(),
            most: acts.clone().next(),
        }
    }

    fn evidence(&self) -> Vec<Text> {
        let mut evidence = Vec::new();
        if self.count > 0 {
            let each = ms(self.time_ms / self.count as f64);
            evidence.push(text!(
                "{each} each, {time} in all, as the app waited for it",
                each,
                time = ms(self.time_ms)
            ));
        }
        let site = self
            .most
            .map(|act| act.site)
            .filter(|site| !site.is_empty());
        evidence.extend(site.map(called_from));
        evidence
    }
}

fn connections(context: &Context<'_>, database: Option<&DatabaseFacts>) -> Option<Finding> {
    let done = Done::of(context, ActKind::Connect);
    let counted = database.and_then(|database| {
        database
            .growth("Connections")
            .or_else(|| database.growth("sessions"))
    });
    // The server counts all its clients; the app's own view wins where there is one.
    let made = if done.count > 0 { done.count } else { counted? };
    let asking = |handled: &recording::Handled| handled.statements > 0 || !handled.acts.is_empty();
    let requests = context.joined.requests.iter();
    let requests = requests
        .filter(|request| request.handled.is_some_and(asking))
        .count();
    let requests = context.joined.in_all(requests as u64);
    let each = made as f64 / requests.max(1) as f64;
    if made < COUNT_MIN || each < CONNECTIONS_PER_REQUEST_MIN {
        return None;
    }
    let mut evidence = vec![text!(
        "{made} connections were made for {requests} requests with statements",
        made,
        requests
    )];
    evidence.extend(done.evidence());
    Some(finding(
        context,
        &done,
        Texts {
            rule: RuleId::ConnectionPerRequest,
            what: text!(
                "a new database connection for nearly every request: {count}",
                count = numbers::count(made)
            ),
            why: text!(
                "connecting takes round trips and a thread of the server, and throws away the prepared statements"
            ),
            remedy: text!("keep connections in a pool, one per thread"),
        },
        evidence,
    ))
}

fn prepared(context: &Context<'_>, database: Option<&DatabaseFacts>) -> Option<Finding> {
    let done = Done::of(context, ActKind::Prepare);
    let on_server = |database: &DatabaseFacts| {
        Some((
            database.growth("Com_stmt_prepare")?,
            database.growth("Com_stmt_close")?,
            database.growth("Com_stmt_execute")?,
        ))
    };
    let (prepared, closed, executed) = match database.and_then(on_server) {
        Some(counted) => counted,
        None => {
            let statements = context.breakdown.sql.iter().map(|sql| sql.count).sum();
            let closed = Done::of(context, ActKind::Close).count;
            (done.count, closed, statements)
        }
    };
    let forgotten = (closed as f64) < CLOSED_SHARE_MAX * prepared as f64;
    let in_vain = (executed as f64) < EXECUTIONS_MAX * prepared as f64;
    if prepared < COUNT_MIN || !forgotten || !in_vain {
        return None;
    }
    let mut evidence = vec![text!(
        "{prepared} prepared, {closed} closed ({share}), {executed} executed",
        prepared,
        closed,
        share = percent(closed as f64 / prepared as f64),
        executed
    )];
    evidence.extend(done.evidence());
    Some(finding(
        context,
        &done,
        Texts {
            rule: RuleId::PreparedStatements,
            what: text!(
                "prepared statements are never closed: {count} made",
                count = numbers::count(prepared)
            ),
            why: text!(
                "preparing is a round trip, and each stays on the server until its connection ends"
            ),
            remedy: text!(
                "prepare each statement once per connection and reuse it, or close it after use"
            ),
        },
        evidence,
    ))
}

struct Texts {
    rule: RuleId,
    what: Text,
    why: Text,
    remedy: Text,
}

fn finding(context: &Context<'_>, done: &Done<'_>, texts: Texts, evidence: Vec<Text>) -> Finding {
    let saved = done.most.map_or(Demand::default(), |act| {
        context.sql_demand(context.route_of(act), done.time_ms)
    });
    let gain = context.gain(&saved);
    let estimated_gain = match done.count {
        0 => text!("unknown: the server counts these, but not their time"),
        _ => text!(
            "{gain}: −{time} in all, nearly all the time spent on it",
            gain = gain.text,
            time = ms(done.time_ms)
        ),
    };
    let route = done.most.map(|act| context.route_of(act).to_owned());
    Finding {
        rule: texts.rule,
        route: route.unwrap_or_default(),
        title: title(texts.what),
        why: texts.why,
        evidence,
        remedy: Remedy {
            text: texts.remedy,
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain,
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::High,
    }
}

//! Statements waiting for a row locked by another transaction.

use crate::rule_id::RuleId;
use breakdown::SqlSummary;
use database::Kind;
use figures::counted;
use recording::ActKind;
use words::{Text, text};

use crate::acts::ActSum;
use crate::context::Context;
use crate::demand::Demand;
use crate::lookups;
use crate::query;
use crate::rules::transaction_open;
use crate::text::{called_from, fit, ms, percent, place, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Mean time from which a locking statement is examined: a write to the disk takes some
/// milliseconds.
const MEAN_MS_MIN: f64 = 5.0;
/// Factor of the mean over the quickest executions from which a statement waits: the same work by
/// the same plan varies less.
const QUICKEST_TIMES: f64 = 4.0;
/// The quickest executions: as a quantile, since the least of many is an accident.
const QUICKEST: f64 = 0.1;
/// Executions from which a quantile says something.
const EXECUTIONS_MIN: usize = 20;
/// Smallest gain worth a change, unless the wait takes most of a route.
const GAIN_MIN: f64 = 0.05;
/// Time per request in another activity from which the activity is named as a reason for holding
/// the lock.
const HELD_MS_MIN: f64 = 1.0;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let locking = context
        .breakdown
        .sql
        .iter()
        .filter(|sql| query::waits_for_rows(&sql.digest));
    let open = transaction_open::routes(context);
    let is_elsewhere =
        |sql: &&SqlSummary| !sql.routes.iter().any(|(route, _)| open.contains(route));
    // What keeps the rows locked is the cause, and is said there.
    let locking = locking.filter(is_elsewhere);
    locking.filter_map(|sql| finding(context, sql)).collect()
}

/// A statement's waits for rows, if considerable.
pub(crate) struct RowWait {
    times: Times,
    /// The waits of all executions.
    pub(crate) demand: Demand,
}

impl RowWait {
    pub(crate) fn of(context: &Context<'_>, sql: &SqlSummary) -> Option<RowWait> {
        // SQLite locks no rows: a writer has the whole file.
        let has_rows = context.database_kind() != Some(Kind::Sqlite);
        if !has_rows || !query::waits_for_rows(&sql.digest) {
            return None;
        }
        let times = times(context, sql)?;
        (times.mean >= MEAN_MS_MIN && times.mean >= QUICKEST_TIMES * times.quickest).then(|| {
            RowWait {
                demand: context.statement_demand(sql, times.waits()),
                times,
            }
        })
    }

    /// Returns the share of waiting in the statement's time.
    pub(crate) fn share(&self) -> f64 {
        self.times.waits()
    }

    /// Returns the mean wait of an execution, milliseconds.
    pub(crate) fn each_ms(&self) -> f64 {
        self.times.mean - self.times.quickest
    }
}

/// Lengths of executions without waits for the GVL, milliseconds.
struct Times {
    quickest: f64,
    mean: f64,
    /// Source of the quickest time, in words.
    whose: Text,
}

impl Times {
    /// Share of waiting in the mean.
    fn waits(&self) -> f64 {
        1.0 - self.quickest / self.mean
    }
}

/// Returns the times of a statement with the quickest as baseline: an own execution, a lookup of
/// the row by the same key without a lock, or a write to a row of the table once locked. The latter
/// two matter where all executions wait.
fn times(context: &Context<'_>, sql: &SqlSummary) -> Option<Times> {
    let own = own_times(context, sql)?;
    let query = query::read(&sql.digest);
    let table = query.as_ref().and_then(|query| query.tables.first());
    let without = table.zip(query.as_ref()).and_then(|(table, query)| {
        lookups::quickest_ms(context, Some(&table.name), Some(&query.equal))
    });
    let without = without.map(|ms| (ms, text!("without the lock")));
    let other = without.or_else(|| {
        let ms = writing_ms(context, &table?.name)?;
        Some((ms, text!("for writing to the locked row")))
    });
    Some(match other {
        Some((quickest, whose)) if quickest < own.quickest => Times {
            quickest,
            whose,
            ..own
        },
        _ => own,
    })
}

/// Mean time of the quickest UPDATE of a table, milliseconds.
fn writing_ms(context: &Context<'_>, table: &str) -> Option<f64> {
    let brief = format!("UPDATE {table}");
    let updates = context.breakdown.sql.iter();
    let updates = updates.filter(|sql| query::brief(&sql.digest).eq_ignore_ascii_case(&brief));
    updates.map(lookups::mean_ms).min_by(f64::total_cmp)
}

fn own_times(context: &Context<'_>, sql: &SqlSummary) -> Option<Times> {
    let handled = context
        .joined
        .requests
        .iter()
        .filter_map(|request| request.handled);
    let used = handled
        .flat_map(|handled| &handled.sql)
        .filter(|used| used.digest == sql.id && used.count > 0);
    let mut each: Vec<f64> = used
        .map(|used| (used.time - used.gvl_wait).as_millis_f64() / f64::from(used.count))
        .collect();
    if each.len() < EXECUTIONS_MIN {
        return None;
    }
    each.sort_by(f64::total_cmp);
    Some(Times {
        quickest: each[(each.len() as f64 * QUICKEST) as usize],
        mean: each.iter().sum::<f64>() / each.len() as f64,
        whose: text!("for the quickest tenth"),
    })
}

fn finding(context: &Context<'_>, sql: &SqlSummary) -> Option<Finding> {
    let wait = RowWait::of(context, sql)?;
    let times = &wait.times;
    let gain = context.gain(&wait.demand);
    let worth = context.worth(&wait.demand, gain.share >= GAIN_MIN)?;
    let (route, _) = sql.routes.first()?;
    let at = place(sql.called_from.first().map(String::as_str));
    let mut evidence = vec![
        text!(
            "{mean} on average over {executions}, {quickest} {whose}: {share} of its time is waiting",
            mean = ms(times.mean),
            executions = counted!(sql.count, "execution"),
            quickest = ms(times.quickest),
            whose = times.whose,
            share = percent(times.waits())
        ),
        fit(&sql.digest, 160).into(),
    ];
    evidence.extend(sql.called_from.first().map(|site| called_from(site)));
    evidence.extend(held_for(context, route));
    evidence.extend(worth.evidence());
    Some(Finding {
        rule: RuleId::RowLock,
        route: route.clone(),
        title: title(text!(
            "{route} waits {time} for a locked row: {statement} at {at}",
            route,
            time = ms(wait.each_ms()),
            statement = query::brief(&sql.digest),
            at
        )),
        why: text!(
            "a transaction keeps the rows that it locked until it ends, whatever else it does meanwhile, and all others that want them wait"
        ),
        evidence,
        remedy: Remedy {
            text: text!(
                "do what is slow before the transaction begins, and lock last; count with one statement \
                 (`update_counters`, `SET n = n + 1`) instead of reading, locking and writing; or give hot counters \
                 more than one row"
            ),
            exact: None,
            safety: Safety::Code,
        },
        estimated_gain: text!("{gain}, if nobody waits", gain = gain.text),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: worth.confidence(match query::verb(&sql.digest).as_str() {
            "SELECT" => Confidence::High,
            _ => Confidence::Medium,
        }),
    })
}

/// Returns other waits of the same requests: the lock may be held meanwhile.
fn held_for(context: &Context<'_>, route: &str) -> Option<Text> {
    let on_route = |act: &&ActSum<'_>| {
        matches!(act.kind, ActKind::Sleep | ActKind::OtherIo | ActKind::Lock)
            && context.route_of(act) == route
            && act.each_ms() >= HELD_MS_MIN
    };
    let longest = context
        .acts
        .iter()
        .filter(on_route)
        .max_by(|a, b| a.time_ms.total_cmp(&b.time_ms))?;
    let what = match longest.kind {
        ActKind::Sleep => text!("sleep"),
        ActKind::Lock => text!("wait for another lock"),
        _ => text!("wait"),
    };
    Some(text!(
        "the same requests {what} {time} at {place}: if that is before COMMIT, the rows stay locked meanwhile",
        what,
        time = ms(longest.each_ms()),
        place = place(Some(longest.site))
    ))
}

//! Settings of the database, with the cost of each in the run.

mod mysql;
mod postgres;
mod sqlite;

use std::collections::{HashMap, HashSet};

use crate::exact::Exact;
use crate::rule_id::RuleId;
use breakdown::SqlSummary;
use database::Kind;
use recording::{DatabaseFacts, HostSample, ProcessRole, TextId};
use words::{Text, text};

use crate::context::Context;
use crate::demand::{Demand, Gain};
use crate::query;
use crate::rules::row_lock::RowWait;
use crate::text::{ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the handlers' time taken by writes from which a safer setting is put in question.
const WRITES_SHARE_MIN: f64 = 0.03;
/// Share of the wanted pages read from disk from which memory is too small.
const MISSES_MIN: f64 = 0.01;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let Some(database) = &context.recording.database else {
        return Vec::new();
    };
    let advice = match context.database_kind() {
        Some(Kind::Postgres) => postgres::advice(context, database),
        Some(Kind::Sqlite) => sqlite::advice(context, database),
        Some(Kind::Mysql) => mysql::advice(context, database),
        None => Vec::new(),
    };
    advice.into_iter().map(Finding::from).collect()
}

/// Advice on one setting.
struct Advice {
    /// Subject in the title.
    what: Text,
    why: Text,
    evidence: Vec<Text>,
    remedy: Text,
    exact: Option<Exact>,
    gain: Text,
    share: f64,
    /// The gain by replay, where there is one.
    replayed: Option<whatif::Gain>,
    confidence: Confidence,
}

impl From<Advice> for Finding {
    fn from(advice: Advice) -> Finding {
        Finding {
            rule: RuleId::DatabaseSettings,
            route: String::new(),
            title: title(advice.what),
            why: advice.why,
            evidence: advice.evidence,
            remedy: Remedy {
                text: advice.remedy,
                exact: advice.exact,
                safety: Safety::Careful,
            },
            estimated_gain: advice.gain,
            gain_share: advice.share,
            gain: advice.replayed,
            confidence: advice.confidence,
        }
    }
}

/// Time of statements ending with a flush, from the app's point of view: each COMMIT, and writes of
/// requests without one.
struct Writes {
    count: f64,
    time_ms: f64,
    /// Share of the handlers' time.
    share: f64,
    gain: Gain,
}

impl Writes {
    fn of(context: &Context<'_>) -> Writes {
        const VERBS: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "REPLACE"];
        let transactions = Transactions::of(context);
        let (mut count, mut demand) = (0.0, Demand::default());
        for sql in &context.breakdown.sql {
            let verb = query::verb(&sql.digest);
            let (flushed, share) = match verb.as_str() {
                "COMMIT" => (1.0, 1.0),
                verb if VERBS.contains(&verb) => {
                    let alone = transactions.outside(sql);
                    // Waits for rows end with others' transactions.
                    let waits = RowWait::of(context, sql).map_or(0.0, |wait| wait.share());
                    (alone, alone * (1.0 - waits))
                }
                _ => continue,
            };
            count += flushed * sql.count as f64;
            demand = demand.plus(context.statement_demand(sql, share));
        }
        let time_ms = demand.sum();
        Writes {
            count,
            time_ms,
            share: context.share_inside(time_ms),
            gain: context.gain(&demand),
        }
    }

    fn matter(&self) -> bool {
        self.count > 0.0 && self.share >= WRITES_SHARE_MIN
    }

    fn evidence(&self) -> Text {
        text!(
            "{count} statements that write took {time}, {each} each",
            count = self.count.round() as u64,
            time = ms(self.time_ms),
            each = ms(self.time_ms / self.count.max(1.0))
        )
    }

    /// Text of the gain, at most the whole time: the flush's part is not recorded apart from the
    /// rest.
    fn gain_text(&self) -> Text {
        text!(
            "up to {gain}: the flushes within {time} of writing",
            gain = self.gain.text,
            time = ms(self.time_ms)
        )
    }
}

/// Time of each statement, and the part in requests without a COMMIT: there each write is a
/// transaction. In the others, recordings do not say which writes the COMMIT is for.
struct Transactions {
    /// By digest, in milliseconds: all, and outside of transactions.
    times: HashMap<TextId, (f64, f64)>,
}

impl Transactions {
    fn of(context: &Context<'_>) -> Transactions {
        let texts = context.recording.texts.iter();
        let commits: HashSet<TextId> = texts
            .filter(|(_, text)| query::verb(text) == "COMMIT")
            .map(|(id, _)| id)
            .collect();
        let mut times: HashMap<TextId, (f64, f64)> = HashMap::new();
        let requests = context.joined.requests.iter();
        for handled in requests.filter_map(|request| request.handled) {
            let inside = handled
                .sql
                .iter()
                .any(|used| commits.contains(&used.digest));
            for used in &handled.sql {
                let time = used.time.as_millis_f64();
                let (all, outside) = times.entry(used.digest).or_default();
                *all += time;
                *outside += if inside { 0.0 } else { time };
            }
        }
        Transactions { times }
    }

    /// Returns the share of a statement's time outside of transactions, 0 to 1; 1 where the
    /// recording has no time of the statement.
    fn outside(&self, sql: &SqlSummary) -> f64 {
        match self.times.get(&sql.id) {
            Some((all, outside)) if *all > 0.0 => outside / all,
            _ => 1.0,
        }
    }
}

/// Returns a size of the memory for pages, in bytes: the data with room to grow, but no more than
/// half of what the server's host has available in addition. The other half is for connections,
/// other processes and the system's cache. `None` where the run did not sample the host, or the
/// host has no room.
fn memory_for(context: &Context<'_>, present: u64, data: u64) -> Option<u64> {
    let is_server = |sample: &&HostSample| {
        let mut processes = sample.processes.iter();
        processes.any(|process| process.role == ProcessRole::Database)
    };
    let host = context.recording.host.iter().rev().find(is_server)?;
    let room = present.saturating_add(host.memory_available / 2);
    let wanted = data.checked_next_power_of_two()?.min(room);
    (wanted > present).then_some(wanted)
}

/// Whether a server's switch is on, in any spelling.
fn is_on(database: &DatabaseFacts, name: &str) -> bool {
    let value = database.setting(name).unwrap_or_default();
    ["1", "on", "yes", "true"]
        .iter()
        .any(|on| value.eq_ignore_ascii_case(on))
}

/// Returns the growth of a counter per second.
fn rate(database: &DatabaseFacts, name: &str) -> f64 {
    let grown = database.growth(name).unwrap_or(0) as f64;
    grown / database.seconds().max(f64::MIN_POSITIVE)
}

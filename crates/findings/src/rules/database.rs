//! Settings of the database, with the cost of each in the run.

mod mysql;
mod postgres;
mod sqlite;

use crate::exact::Exact;
use crate::rule_id::RuleId;
use database::Kind;
use recording::DatabaseFacts;
use words::{Text, text};

use crate::context::Context;
use crate::demand::{Demand, Gain};
use crate::query;
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
            gain: None,
            confidence: advice.confidence,
        }
    }
}

/// Time of writing statements, from the app's point of view.
struct Writes {
    count: u64,
    time_ms: f64,
    /// Share of the handlers' time.
    share: f64,
    gain: Gain,
}

impl Writes {
    fn of(context: &Context<'_>) -> Writes {
        const VERBS: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "REPLACE", "COMMIT"];
        let writes = context.breakdown.sql.iter();
        let (count, demand) = writes
            .filter(|sql| VERBS.contains(&query::verb(&sql.digest).as_str()))
            .fold((0, Demand::default()), |(count, demand), sql| {
                (
                    count + sql.count,
                    demand.plus(context.statement_demand(sql, 1.0)),
                )
            });
        let time_ms = demand.sum();
        Writes {
            count,
            time_ms,
            share: context.share_inside(time_ms),
            gain: context.gain(&demand),
        }
    }

    fn matter(&self) -> bool {
        self.count > 0 && self.share >= WRITES_SHARE_MIN
    }

    fn evidence(&self) -> Text {
        text!(
            "{count} statements that write took {time}, {each} each",
            count = self.count,
            time = ms(self.time_ms),
            each = ms(self.time_ms / self.count.max(1) as f64)
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

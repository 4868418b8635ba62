//! Facts reported by a database server, at the start and at the end of the measured window.

use crate::{TextId, Timestamp};

/// Settings, counters and statement counters of the app's database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseFacts {
    /// Time of the first reading of the counters.
    pub start: Timestamp,
    /// Time of the last reading; equal to `start` when the reading failed.
    pub end: Timestamp,
    /// Settings in the server's spelling, such as `innodb_buffer_pool_size`, as of the end of the
    /// run. Similar facts computed from settings have names in brackets: `(data bytes)`.
    pub settings: Vec<Setting>,
    /// Cumulative counters at both instants.
    pub counters: Vec<Counter>,
    /// Cost of each statement to the server between both instants, the one with most time first.
    pub statements: Vec<StatementFacts>,
    /// Large columns of the tables read by the costliest statements.
    pub columns: Vec<ColumnFacts>,
    /// Facts not readable, and why, a sentence each without a full stop.
    pub notes: Vec<String>,
}

/// One setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Name in the spelling of the database server or the process.
    pub name: String,
    /// Value in the spelling of the database server or the process.
    pub value: String,
}

/// One cumulative counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Name in the spelling of the database server or the process.
    pub name: String,
    /// At [`DatabaseFacts::start`].
    pub before: u64,
    /// At [`DatabaseFacts::end`].
    pub after: u64,
}

/// Cost of one statement to the server, whoever sent the statement. A number not counted by the
/// server is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementFacts {
    /// The statement without literals, by `sql-digest`: equal to the app's digest.
    pub digest: TextId,
    /// Executions.
    pub count: u64,
    /// Time in the server, nanoseconds.
    pub time_ns: u64,
    /// Rows read to find the ones sent.
    pub rows_examined: u64,
    /// Rows sent to the client.
    pub rows_sent: u64,
    /// Rows sorted.
    pub rows_sorted: u64,
    /// Temporary tables made.
    pub tmp_tables: u64,
    /// Temporary tables on disk.
    pub tmp_tables_on_disk: u64,
    /// Pages or blocks read, from memory or from disk.
    pub pages: u64,
}

/// A column whose values may be large: text, binary data, documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnFacts {
    /// Table of the column.
    pub table: String,
    /// Name of the column.
    pub column: String,
    /// Whether the column holds bytes rather than text.
    pub binary: bool,
    /// Mean length of a value, bytes, from a sample or the server's statistics.
    pub bytes_mean: u64,
}

impl DatabaseFacts {
    /// A setting's value.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().find(|setting| setting.name == name);
        found.map(|setting| setting.value.as_str())
    }

    /// Returns the value of a numeric setting.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.setting(name)?.parse().ok()
    }

    /// Growth of a counter; `None` when unknown, reset in between, or read once only.
    pub fn growth(&self, name: &str) -> Option<u64> {
        let counter = self.counters.iter().find(|counter| counter.name == name)?;
        counter
            .after
            .checked_sub(counter.before)
            .filter(|_| self.end > self.start)
    }

    /// Seconds between both readings.
    pub fn seconds(&self) -> f64 {
        self.end.since(self.start).as_secs_f64()
    }
}

//! Time of a lookup by an index in a run: the cost of a statement on the same table without waiting
//! or searching.

use breakdown::SqlSummary;
use recording::{Access, PlanStep};

use crate::context::Context;
use crate::query::{self, Column};

/// Rows per execution up to which a statement is a lookup by a key.
const ROWS_MAX: f64 = 2.0;
/// Rows of a table from which a statement reading all rows is no lookup: smaller tables are read as
/// fast as by an index.
const SCANNED_ROWS_MIN: u64 = 100;
/// Cost of a row found by an index and returned, milliseconds. Chosen by judgement; 5 to 20 µs in
/// the drivers.
const ROW_MS: f64 = 0.02;
/// Largest share of a statement's time saved by an index without a lookup in the run for
/// comparison. Chosen by judgement.
pub(crate) const GAIN_MAX: f64 = 0.9;

/// Largest share of an aggregate's time saved by an index: the rows behind the one returned may be
/// many. A guess.
pub(crate) const SAVED_OF_AGGREGATE: f64 = 0.5;

/// Factor over the time of a lookup by a fitting index from which a statement searches. Chosen by
/// judgement: plans of one table by one index differ by less.
pub(crate) const SLOWER_MIN: f64 = 5.0;
/// Milliseconds of a statement below which another index, or another condition, is not worthwhile.
pub(crate) const MEAN_MS_MIN: f64 = 0.5;

/// Returns the mean time in the driver of the run's quickest statement finding a row or two by
/// equality, without waits for the GVL, in ms; `None` without such a statement. `table` and `by`
/// restrict the statements to a table and to lookups by the same columns. Statements whose plan
/// reads a whole table are left out.
pub(crate) fn quickest_ms(
    context: &Context<'_>,
    table: Option<&str>,
    by: Option<&[Column]>,
) -> Option<f64> {
    let scans =
        |step: &PlanStep| step.access == Access::FullScan && step.table_rows >= SCANNED_ROWS_MIN;
    let is_scan = |sql: &SqlSummary| {
        let mut explained = context.recording.explained.iter();
        explained.any(|of| of.digest == sql.id && of.steps.iter().any(scans))
    };
    let looks_up = |sql: &&SqlSummary| {
        let query = query::read(&sql.digest).filter(|_| !query::locks(&sql.digest));
        query.is_some_and(|query| {
            let [of] = query.tables.as_slice() else {
                return false;
            };
            let same = by.is_none_or(|columns| names(columns) == names(&query.equal));
            table.is_none_or(|table| of.name.eq_ignore_ascii_case(table))
                && !query.equal.is_empty()
                && same
                && sql.rows_each() <= ROWS_MAX
                && !query.grouped
                && !is_scan(sql)
        })
    };
    let found = context.breakdown.sql.iter().filter(looks_up);
    found.map(mean_ms).min_by(f64::total_cmp)
}

/// Mean time of an execution in the driver, without waits for the GVL.
pub(crate) fn mean_ms(sql: &SqlSummary) -> f64 {
    (sql.time_ms - sql.gvl_wait_ms).max(0.0) / sql.count.max(1) as f64
}

/// Returns the expected time of an execution with an index leading to the returned rows, in ms.
/// `quickest` is the time of the run's quickest lookup.
pub(crate) fn by_key_ms(sql: &SqlSummary, quickest: f64) -> f64 {
    quickest + ROW_MS * sql.rows_each()
}

/// Returns the share of a statement's time saved by an index leading to the returned rows, 0 to 1.
pub(crate) fn saved_by_key(sql: &SqlSummary, quickest: f64) -> f64 {
    (1.0 - by_key_ms(sql, quickest) / mean_ms(sql)).clamp(0.0, 1.0)
}

/// Returns the share of a statement's time saved by an index where the statement reads a table from
/// end to end, 0 to 1. By the index the statement is a lookup like another one, and reads the
/// returned rows only; of the rows that an aggregate reads nothing is known.
pub(crate) fn saved_of_scan(context: &Context<'_>, sql: &SqlSummary, table_rows: u64) -> f64 {
    let wanted = sql.rows_each() / table_rows.max(1) as f64;
    let lookup = context.lookup_ms().map(|ms| ms / mean_ms(sql));
    // However little, what a known lookup leaves is all that an index can save. The statement may
    // be the run's quickest lookup itself.
    let saved = match lookup.filter(|lookup| *lookup != 1.0) {
        Some(lookup) => (1.0 - lookup - wanted).clamp(0.0, 1.0),
        None => (1.0 - wanted).clamp(0.0, GAIN_MAX),
    };
    match query::aggregates(&sql.digest) {
        true => saved.min(SAVED_OF_AGGREGATE),
        false => saved,
    }
}

fn names(columns: &[Column]) -> Vec<String> {
    let mut names: Vec<String> = columns
        .iter()
        .map(|column| column.name.to_ascii_lowercase())
        .collect();
    names.sort();
    names
}

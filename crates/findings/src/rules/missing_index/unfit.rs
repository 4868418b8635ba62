//! An index in use but covering only a part of the conditions: the rest is searched among the
//! index's rows.

use breakdown::SqlSummary;
use recording::{Access, IndexColumns, PlanStep};

use crate::lookups::{self, MEAN_MS_MIN, SLOWER_MIN};
use crate::query::{self, Query};

/// Rows of a table below which any index serves.
const TABLE_ROWS_MIN: u64 = 1_000;

/// The columns compared for equality by a statement, and the column after for a range or an order.
pub(super) struct Asked<'a> {
    pub(super) equal: &'a [String],
    pub(super) tail: Option<&'a str>,
}

/// Returns the index used by a step though covering a part of the condition only, where another one
/// would serve much better. `quickest` is the time of the run's quickest lookup.
pub(super) fn of<'a>(
    query: &Query,
    step: &'a PlanStep,
    asked: &Asked<'_>,
    (sql, quickest): (&SqlSummary, Option<f64>),
) -> Option<&'a IndexColumns> {
    let Access::Index(name) = &step.access else {
        return None;
    };
    let used = step.indexes.iter().find(|index| index.name == *name)?;
    let wants = asked.equal.len() + usize::from(asked.tail.is_some());
    let returns_rows = !query.grouped && !query::aggregates(&sql.digest);
    let alone = query.tables.len() == 1 && returns_rows && !query::locks(&sql.digest);
    let leads = used.columns.first().is_some_and(|first| {
        let mut asked = asked.equal.iter().map(String::as_str).chain(asked.tail);
        asked.any(|column| column.eq_ignore_ascii_case(first))
    });
    let fits = step.indexes.iter().any(|index| asked.is_held_by(index));
    let searches = alone && wants >= 2 && leads && !fits && step.table_rows >= TABLE_ROWS_MIN;
    (searches && is_slow(sql, quickest?)).then_some(used)
}

fn is_slow(sql: &SqlSummary, quickest: f64) -> bool {
    let mean = lookups::mean_ms(sql);
    mean >= MEAN_MS_MIN && mean >= SLOWER_MIN * lookups::by_key_ms(sql, quickest)
}

impl Asked<'_> {
    /// Whether an index begins with all columns compared for equality, and continues with the
    /// bounded or ordered one.
    fn is_held_by(&self, index: &IndexColumns) -> bool {
        let count = self.equal.len();
        let Some(first) = index.columns.get(..count) else {
            return false;
        };
        let holds = |column: &String| first.iter().any(|held| held.eq_ignore_ascii_case(column));
        let next = index.columns.get(count);
        let goes_on = |tail: &str| next.is_some_and(|held| held.eq_ignore_ascii_case(tail));
        self.equal.iter().all(holds) && self.tail.is_none_or(goes_on)
    }
}

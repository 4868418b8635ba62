//! Measures the cost of `random_page_cost`: ranges of indexed columns read by the planner by
//! another plan under the setting advised, and how much longer the present plan takes.
//!
//! Statements are counts over a range of an index, with and without the rows themselves, in a
//! read-only transaction. Only tables small enough to be read whole in a moment are asked.

use std::time::{Duration, Instant};

use capture::Catalogue;
use doctor::snapshot::Ranges;

/// Value advised for disks without moving parts.
const ADVISED: f64 = 1.1;
/// Widths of ranges: multiples of 1/20 of the rows.
const WIDTHS: usize = 20;
/// Ranges timed, of the ranges with a changed plan.
const TIMED: usize = 5;
const DEADLINE: Duration = Duration::from_millis(800);
/// Longest statement, ms.
const STATEMENT_MS: u32 = 200;

/// Table, column, and the bounds of the column's histogram as literals, of indexes on tables of 4
/// to 256 MB: tables read most first.
const INDEXES: &str = "
    SELECT c.oid::regclass::text, quote_ident(a.attname),
      array_to_string(ARRAY(SELECT quote_literal(b) || '::' || format_type(a.atttypid, NULL)
        FROM unnest(s.histogram_bounds::text::text[]) WITH ORDINALITY AS u (b, n) ORDER BY n), E'\\n')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_index i ON i.indrelid = c.oid
      JOIN pg_class x ON x.oid = i.indexrelid
      JOIN pg_am m ON m.oid = x.relam AND m.amname = 'btree'
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
      JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname
    WHERE c.relkind = 'r' AND c.relpages BETWEEN 500 AND 32000 AND NOT c.relrowsecurity AND NOT s.inherited
      AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND i.indisvalid AND i.indpred IS NULL
      AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype,
        'date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype)
      AND array_length(s.histogram_bounds::text::text[], 1) > 20
      AND has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE')
    ORDER BY pg_stat_get_blocks_fetched(c.oid) DESC, c.relpages DESC, i.indexrelid LIMIT 3";

/// Compares the plans of ranges under the present `random_page_cost` and the one advised; `None`
/// where nothing can be asked: no such index, or no right to read.
pub(super) fn compare(server: &mut Catalogue, present: f64) -> Option<Ranges> {
    let ranges: Vec<String> = server
        .rows(INDEXES)
        .ok()?
        .into_iter()
        .filter_map(ranges)
        .flatten()
        .collect();
    if ranges.is_empty() {
        return None;
    }
    server.rows("BEGIN").ok()?;
    let mut session = Session { server, present };
    let compared = session.compare(&ranges);
    session.server.rows("ROLLBACK").ok()?;
    compared
}

/// Returns the statements for one index.
fn ranges(row: Vec<Option<String>>) -> Option<Vec<String>> {
    let [table, column, bounds] = <[Option<String>; 3]>::try_from(row).ok()?;
    let (table, column, bounds) = (table?, column?, bounds?);
    let bounds: Vec<&str> = bounds.lines().collect();
    let last = bounds.len().checked_sub(1)?;
    let mut statements = Vec::new();
    for width in 1..=WIDTHS {
        let wide = (last * width / WIDTHS).max(1);
        // Elsewhere in the table each time, by the golden ratio.
        let place = (width as f64 * 0.618_033_988_749_895).fract();
        let from = ((last - wide) as f64 * place) as usize;
        let (low, high) = (bounds[from], bounds[from + wide]);
        statements.extend(["*", "t"].map(|counted| {
            format!("SELECT count({counted}) FROM ONLY {table} AS t WHERE t.{column} BETWEEN {low} AND {high}")
        }));
    }
    Some(statements)
}

/// A transaction in which ranges are planned and read.
struct Session<'a> {
    server: &'a mut Catalogue,
    /// The present `random_page_cost`.
    present: f64,
}

impl Session<'_> {
    fn compare(&mut self, ranges: &[String]) -> Option<Ranges> {
        let begin = Instant::now();
        self.server
            .rows(&format!("SET LOCAL statement_timeout = {STATEMENT_MS}"))
            .ok()?;
        let mut changed = Vec::new();
        for sql in ranges {
            if self.plan(sql, self.present)? != self.plan(sql, ADVISED)? {
                changed.push(sql.as_str());
            }
        }
        let mut more_ns = Vec::new();
        for sql in spread(&changed) {
            if begin.elapsed() > DEADLINE {
                break;
            }
            match self.longer(sql) {
                Some(ns) => more_ns.push(ns),
                // One statement too long ends the transaction.
                None => break,
            }
        }
        Some(Ranges {
            asked: ranges.len() as u32,
            changed: changed.len() as u32,
            more_ns: stats::mean(&more_ns),
            timed: more_ns.len() as u32,
        })
    }

    fn plan(&mut self, sql: &str, cost: f64) -> Option<Vec<Vec<Option<String>>>> {
        let sql = format!("SET LOCAL random_page_cost = {cost}; EXPLAIN (COSTS OFF) {sql}");
        self.server.rows(&sql).ok()
    }

    /// Returns how much longer a range takes under the present setting, ns.
    fn longer(&mut self, sql: &str) -> Option<f64> {
        let costs = [self.present, ADVISED];
        // What neither has in memory yet is read first.
        for cost in costs {
            self.time(sql, cost)?;
        }
        let [a, b] = costs;
        let (first, second) = (self.time(sql, a)?, self.time(sql, b)?);
        let (third, fourth) = (self.time(sql, b)?, self.time(sql, a)?);
        Some((first + fourth - second - third) / 2.0)
    }

    fn time(&mut self, sql: &str, cost: f64) -> Option<f64> {
        let set = format!("SET LOCAL random_page_cost = {cost}");
        self.server.rows(&set).ok()?;
        let begin = Instant::now();
        self.server.rows(sql).ok()?;
        Some(begin.elapsed().as_nanos() as f64)
    }
}

/// Returns at most [`TIMED`] of the statements, evenly spread.
fn spread<'a>(statements: &[&'a str]) -> Vec<&'a str> {
    let count = statements.len();
    let timed = count.min(TIMED);
    (0..timed)
        .map(|at| statements[(2 * at + 1) * count / (2 * timed)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{WIDTHS, ranges, spread};

    #[test]
    fn ranges_have_all_widths_and_stay_within_the_bounds() {
        let bounds: Vec<String> = (0..101).map(|n| format!("'{n}'::integer")).collect();
        let row = ["facts", "\"shelf\"", &bounds.join("\n")];
        let statements = ranges(row.map(|text| Some(text.to_owned())).to_vec()).expect("some");
        assert_eq!(statements.len(), 2 * WIDTHS);
        let last = statements.last().expect("one");
        let whole = "WHERE t.\"shelf\" BETWEEN '0'::integer AND '100'::integer";
        assert!(last.ends_with(whole), "{last}");
        assert_eq!(ranges(vec![Some("facts".to_owned()), None, None]), None);
    }

    #[test]
    fn few_of_many_are_timed_evenly() {
        assert_eq!(spread(&[]), [""; 0]);
        assert_eq!(spread(&["a", "b"]), ["a", "b"]);
        let many: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(spread(&many), ["5", "15", "25", "35", "45"]);
    }
}

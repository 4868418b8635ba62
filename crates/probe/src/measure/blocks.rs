//! Measures the cost of a block missing in PostgreSQL's buffers with statements sent twice, each of
//! which reads a run of blocks of the table with most misses. Rows are named by place (`ctid`), so
//! that no index is read, and one statement's blocks fit even the smallest buffers.
//!
//! The read from the kernel's cache, which [`super::reads`] measures, is a part of the cost only:
//! the server also finds a buffer to give up, takes the old block out of its table of buffers and
//! enters the new one. On the other hand a block just read is in the core's caches, and one that
//! was found in large buffers comes from memory: what that takes is no cost of the miss.

use std::time::Instant;

use capture::Catalogue;

use super::memory;
use super::misses::DEADLINE;

/// Blocks of a statement: many against a round trip, few against the 128 buffers of 1 MB.
const BLOCKS: usize = 48;
/// Statements at most, each sent twice; few enough to read no large part of a table.
const STATEMENTS: usize = 60;
/// Least number of statements with at least half of the blocks missing; fewer say nothing.
const MISSED_MIN: usize = 10;

/// Number, name, blocks and bytes of a row of the table with most misses; of several, the largest.
const TABLE: &str = "
    SELECT c.oid::text, c.oid::regclass::text,
      (pg_relation_size(c.oid) / current_setting('block_size')::bigint)::text,
      (current_setting('block_size')::float8 * c.relpages / greatest(c.reltuples, 1))::text
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am a ON a.oid = c.relam
    WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND NOT c.relrowsecurity AND a.amname = 'heap'
      AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND c.relpages >= 1000
      AND has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE')
    ORDER BY pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid) DESC, c.relpages DESC
    LIMIT 1";

/// Returns the additional nanoseconds per block not in the server's buffers; `None` where
/// unmeasurable: no table of some size, everything in the buffers, or no right to read.
pub(super) fn cost(server: &mut Catalogue) -> Option<f64> {
    let row = server.rows(TABLE).ok()?.into_iter().next()?;
    let [number, name, blocks, row] = <[Option<String>; 4]>::try_from(row).ok()?;
    let row_bytes: f64 = row?.parse().ok()?;
    let table = Table {
        number: number?.parse().ok()?,
        name: name?,
        blocks: blocks?.parse().ok()?,
    };
    // The counts of a transaction are those of its own session alone, and need no flush.
    server.rows("BEGIN").ok()?;
    let pairs = table.pairs(server);
    server.rows("ROLLBACK").ok()?;
    let missing_ns = per_block(&pairs?)?;
    let found_ns = memory::first_touch(BLOCKS, row_bytes)?;
    Some(missing_ns - found_ns).filter(|ns| *ns > 0.0)
}

/// A statement sent twice.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    /// How much longer the first took, ns.
    more_ns: f64,
    /// Blocks read by the server for the first and not for the second.
    blocks: f64,
}

/// The median over statements: what was interrupted, or waited for a disk among reads of the
/// kernel's cache, is not usual.
fn per_block(pairs: &[Pair]) -> Option<f64> {
    let missed = pairs
        .iter()
        .filter(|pair| pair.blocks >= BLOCKS as f64 / 2.0);
    let each: Vec<f64> = missed.map(|pair| pair.more_ns / pair.blocks).collect();
    let median = stats::median(&each).filter(|_| each.len() >= MISSED_MIN)?;
    (median > 0.0).then_some(median)
}

/// A table for reads by place.
struct Table {
    number: u32,
    name: String,
    blocks: u64,
}

impl Table {
    /// Sends the statements until the deadline.
    fn pairs(&self, server: &mut Catalogue) -> Option<Vec<Pair>> {
        let begin = Instant::now();
        let mut pairs = Vec::new();
        // The first statement reads the catalogue.
        server.rows(&self.statement(STATEMENTS)).ok()?;
        for turn in 0..STATEMENTS {
            let sql = self.statement(turn);
            let (first_ns, first) = self.sent(server, &sql)?;
            let (second_ns, second) = self.sent(server, &sql)?;
            pairs.push(Pair {
                more_ns: first_ns - second_ns,
                blocks: first - second,
            });
            if begin.elapsed() > DEADLINE {
                break;
            }
        }
        Some(pairs)
    }

    /// Sends a statement: returns the time taken, ns, and the blocks read for the statement.
    fn sent(&self, server: &mut Catalogue, sql: &str) -> Option<(f64, f64)> {
        let before = self.reads(server)?;
        let begin = Instant::now();
        server.rows(sql).ok()?;
        let ns = begin.elapsed().as_nanos() as f64;
        Some((ns, self.reads(server)? - before))
    }

    /// Returns the blocks of the table read in the present transaction.
    fn reads(&self, server: &mut Catalogue) -> Option<f64> {
        let number = self.number;
        let rows = server.rows(&format!(
            "SELECT pg_stat_get_xact_blocks_fetched({number}) - pg_stat_get_xact_blocks_hit({number})"
        ));
        rows.ok()?.first()?.first()?.as_ref()?.parse().ok()
    }

    /// Reads a run of blocks, elsewhere in the table in each turn: multiples of the golden ratio.
    fn statement(&self, turn: usize) -> String {
        let place = (turn as f64 * 0.618_033_988_749_895).fract();
        let from = (place * self.blocks.saturating_sub(BLOCKS as u64) as f64) as u64;
        let places = (0..BLOCKS as u64).map(|at| format!("\"({},1)\"", from + at));
        format!(
            "SELECT count(*) FROM ONLY {} WHERE ctid = ANY ('{{{}}}'::tid[])",
            self.name,
            places.collect::<Vec<_>>().join(",")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS, MISSED_MIN, Pair, Table, per_block};

    #[test]
    fn statements_that_missed_little_state_nothing() {
        let pair = |more_ns: f64, blocks: f64| Pair { more_ns, blocks };
        let all = BLOCKS as f64;
        let mut pairs = vec![pair(all * 1e3, all); MISSED_MIN];
        assert_eq!(per_block(&pairs), Some(1e3));
        assert_eq!(per_block(&pairs[1..]), None);
        pairs.extend([pair(1e9, all), pair(1e9, 2.0), pair(1e9, 0.0)]);
        assert_eq!(per_block(&pairs), Some(1e3));
        assert_eq!(per_block(&[pair(-5.0, all); MISSED_MIN]), None);
    }

    #[test]
    fn blocks_stay_within_the_table() {
        let table = Table {
            number: 7,
            name: "facts".to_owned(),
            blocks: 60,
        };
        let sql = table.statement(3);
        let places = sql.split('"').filter_map(|word| {
            let (block, _) = word.strip_prefix('(')?.split_once(',')?;
            block.parse::<u64>().ok()
        });
        let places: Vec<u64> = places.collect();
        assert_eq!(places.len(), BLOCKS, "{sql}");
        assert!(places.iter().all(|block| *block < 60), "{sql}");
    }
}

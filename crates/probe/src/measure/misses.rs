//! Measures what a page missing in the memory of a MySQL or MariaDB costs: lookups of primary keys
//! spread over the largest table, some in a row, followed by as many of the last key alone.
//! [`super::blocks`] has PostgreSQL's.
//!
//! The disk's own time is the smaller part where the disk is fast: the server also makes room and
//! checks the page, and the client waits so long that its core falls asleep. Cores fall into
//! deeper sleep, and caches grow colder, the more misses follow each other, as an app's do.

use std::time::{Duration, Instant};

use capture::Catalogue;

use super::client::Client;

const LOOKUPS: usize = 2000;
/// Lookups in a row. None but the last is repeated: a small pool that keeps pages free for
/// `innodb_lru_scan_depth` has given up the others by then.
const IN_A_ROW: usize = 40;
/// Longest time for the lookups of one server.
pub(super) const DEADLINE: Duration = Duration::from_millis(500);
/// Fewer pages read say nothing about each.
const READS_MIN: f64 = 20.0;

/// Table and column, quoted: the largest table with a single whole number as the primary key.
const LARGEST: &str = "
    SELECT CONCAT('`', REPLACE(t.TABLE_NAME, '`', '``'), '`'), CONCAT('`', REPLACE(c.COLUMN_NAME, '`', '``'), '`')
    FROM information_schema.TABLES t JOIN information_schema.COLUMNS c
      ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
    WHERE t.TABLE_SCHEMA = DATABASE() AND t.ENGINE = 'InnoDB' AND c.COLUMN_KEY = 'PRI'
      AND c.DATA_TYPE IN ('int', 'bigint')
      AND 1 = (SELECT COUNT(*) FROM information_schema.COLUMNS k WHERE k.TABLE_SCHEMA = t.TABLE_SCHEMA
               AND k.TABLE_NAME = t.TABLE_NAME AND k.COLUMN_KEY = 'PRI')
    ORDER BY t.DATA_LENGTH DESC LIMIT 1";

/// Returns the additional nanoseconds per page not in the server's memory; `None` where
/// unmeasurable: no such table, everything in memory, or no right to read.
///
/// The client waits for the lookups; without one the server's own connection does.
pub(super) fn cost(server: &mut Catalogue, mut client: Option<Client>) -> Option<f64> {
    let table = Table::largest(server)?;
    // A server at rest keeps free pages: only those after the first half have to make room.
    let begin = Instant::now();
    let half_until =
        |end: Duration| move |done: usize| done >= LOOKUPS / 2 || begin.elapsed() > end;
    let mut times = |server: &mut Catalogue, row: &[String]| match &mut client {
        Some(client) => client.times(row),
        None => times(server, row),
    };
    let first = half_until(DEADLINE / 2);
    let done = table.lookups(0, first, |row| times(server, row))?.0;
    let before = reads(server)?;
    let second = half_until(DEADLINE);
    let more_ns = table.lookups(done, second, |row| times(server, row))?.1;
    per_page(more_ns, reads(server)? - before)
}

/// Returns the pages read by the server since the start.
fn reads(server: &mut Catalogue) -> Option<f64> {
    let rows = server.rows("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_reads'");
    rows.ok()?.first()?.get(1)?.as_ref()?.parse().ok()
}

fn per_page(more_ns: f64, pages: f64) -> Option<f64> {
    (pages >= READS_MIN && more_ns > 0.0).then(|| more_ns / pages)
}

/// Sends statements; returns the time of all, and of as many times the last one alone, ns.
fn times(server: &mut Catalogue, row: &[String]) -> Option<(f64, f64)> {
    let again = vec![row.last()?.clone(); row.len()];
    let mut time = |statements: &[String]| {
        let begin = Instant::now();
        for sql in statements {
            server.rows(sql).ok()?;
        }
        Some(begin.elapsed().as_nanos() as f64)
    };
    Some((time(row)?, time(&again)?))
}

/// A table for look-ups by key.
struct Table {
    name: String,
    key: String,
    least: i64,
    greatest: i64,
}

impl Table {
    fn largest(server: &mut Catalogue) -> Option<Table> {
        let row = server.rows(LARGEST).ok()?.into_iter().next()?;
        let [name, key] = <[Option<String>; 2]>::try_from(row).ok()?;
        let (name, key) = (name?, key?);
        let ends = server.rows(&format!("SELECT MIN({key}), MAX({key}) FROM {name}"));
        let ends = ends.ok()?.into_iter().next()?;
        let mut ends = ends.into_iter().map(|end| end?.parse().ok());
        let (least, greatest) = (ends.next()??, ends.next()??);
        Some(Table {
            name,
            key,
            least,
            greatest,
        })
    }

    /// Sends rows of lookups, each followed by repetitions of its last one, until `is_over` holds
    /// of the count of lookups; returns the count and how much longer all rows took than the
    /// repetitions, ns. `from` lookups were sent before; `times` sends a row and gives both times.
    fn lookups(
        &self,
        from: usize,
        is_over: impl Fn(usize) -> bool,
        mut times: impl FnMut(&[String]) -> Option<(f64, f64)>,
    ) -> Option<(usize, f64)> {
        let (mut done, mut more_ns) = (0, 0.0);
        while !is_over(done) {
            let turns = from + done..from + done + IN_A_ROW;
            let row: Vec<String> = turns.map(|turn| self.lookup(turn)).collect();
            let (all, again) = times(&row)?;
            more_ns += all - again;
            done += IN_A_ROW;
        }
        Some((done, more_ns))
    }

    /// Reads one row: the first from a key on. Multiples of the golden ratio spread the keys.
    fn lookup(&self, turn: usize) -> String {
        let Table { name, key, .. } = self;
        let width = self.greatest.saturating_sub(self.least) as f64;
        let place = (turn as f64 * 0.618_033_988_749_895).fract();
        let from = self.least.saturating_add((width * place) as i64);
        format!(
            "SELECT {key} FROM {name} FORCE INDEX (PRIMARY) WHERE {key} >= {from} ORDER BY {key} LIMIT 1"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, per_page};

    #[test]
    fn few_pages_and_lookups_that_took_no_longer_state_nothing() {
        assert_eq!(per_page(2e6, 40.0), Some(5e4));
        assert_eq!(per_page(2e6, 19.0), None);
        assert_eq!(per_page(-1.0, 40.0), None);
    }

    #[test]
    fn lookups_stay_within_the_table_at_any_ends() {
        let table = Table {
            name: "`facts`".to_owned(),
            key: "`id`".to_owned(),
            least: i64::MIN,
            greatest: i64::MAX,
        };
        assert!(
            table
                .lookup(0)
                .contains("WHERE `id` >= -9223372036854775808 ")
        );
        assert!(table.lookup(7).contains("ORDER BY `id` LIMIT 1"));
    }
}

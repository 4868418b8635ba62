//! Measures what a page missing in a server's memory costs: lookups of random primary keys in the
//! largest table, each followed by the same lookup again.
//!
//! The disk's own time is the smaller part where the disk is fast: the server also makes room,
//! checks the page, and lets the client wait so long that its core falls asleep.

use std::time::{Duration, Instant};

use capture::{Catalogue, ExplainLimits};
use database::Kind;

const LOOKUPS: u64 = 100;
const DEADLINE: Duration = Duration::from_millis(400);
/// Fewer pages read say nothing about each.
const READS_MIN: f64 = 20.0;

/// Statements of one kind of server.
struct Dialect {
    /// Name, key column, least and greatest key of the largest table with one whole number as its
    /// primary key are asked for by this statement: table and column, quoted.
    largest: &'static str,
    /// `{table}`, `{key}` and `{id}` are filled in. Reads the row itself, not only the key's index.
    lookup: &'static str,
}

const MYSQL: Dialect = Dialect {
    largest: "SELECT CONCAT('`', REPLACE(t.TABLE_NAME, '`', '``'), '`'), CONCAT('`', REPLACE(c.COLUMN_NAME, '`', '``'), '`')
        FROM information_schema.TABLES t JOIN information_schema.COLUMNS c
          ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
        WHERE t.TABLE_SCHEMA = DATABASE() AND t.ENGINE = 'InnoDB' AND c.COLUMN_KEY = 'PRI' AND c.DATA_TYPE IN ('int', 'bigint')
          AND 1 = (SELECT COUNT(*) FROM information_schema.COLUMNS k WHERE k.TABLE_SCHEMA = t.TABLE_SCHEMA
                   AND k.TABLE_NAME = t.TABLE_NAME AND k.COLUMN_KEY = 'PRI')
        ORDER BY t.DATA_LENGTH DESC LIMIT 1",
    lookup: "SELECT {key} FROM {table} FORCE INDEX (PRIMARY) WHERE {key} >= {id} ORDER BY {key} LIMIT 1",
};
const POSTGRES: Dialect = Dialect {
    largest: "SELECT i.indrelid::regclass::text, quote_ident(a.attname)
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
          JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indisprimary AND i.indnatts = 1 AND c.relkind = 'r' AND a.atttypid IN ('int4'::regtype, 'int8'::regtype)
          AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
        ORDER BY c.relpages DESC LIMIT 1",
    lookup: "EXPLAIN (ANALYZE, BUFFERS) SELECT ctid FROM {table} WHERE {key} >= {id} ORDER BY {key} LIMIT 1",
};

/// Nanoseconds more for each page not in the server's memory; `None` where nothing shows them:
/// no such table, all of it in memory, or no right to read it.
pub(super) fn cost(url: &str) -> Option<f64> {
    let limits = ExplainLimits {
        connect: Duration::from_secs(1),
        statement: Duration::from_secs(1),
        ..ExplainLimits::default()
    };
    let mut server = Catalogue::open(url, limits).ok()?;
    match server.kind() {
        Kind::Mysql => mysql(&mut server),
        Kind::Postgres => postgres(&mut server),
        Kind::Sqlite => None,
    }
}

/// By the time at the client, and the server's counter of pages read.
fn mysql(server: &mut Catalogue) -> Option<f64> {
    let table = Table::largest(server, &MYSQL)?;
    let pages = |server: &mut Catalogue| {
        let rows = server.rows("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_reads'");
        rows.ok()?.first()?.get(1)?.as_ref()?.parse::<f64>().ok()
    };
    let before = pages(server)?;
    let more = table.lookups(server, |server, sql| {
        let begin = Instant::now();
        server.rows(sql).ok()?;
        Some((begin.elapsed().as_nanos() as f64, 0.0))
    })?;
    per_page(more.0, pages(server)? - before)
}

/// By the server's own time and blocks of each lookup.
fn postgres(server: &mut Catalogue) -> Option<f64> {
    let table = Table::largest(server, &POSTGRES)?;
    let (more, blocks) = table.lookups(server, |server, sql| {
        let rows = server.rows(sql).ok()?;
        let lines: Vec<String> = rows
            .into_iter()
            .filter_map(|row| row.into_iter().next()?)
            .collect();
        explained(&lines)
    })?;
    per_page(more, blocks)
}

fn per_page(more_ns: f64, pages: f64) -> Option<f64> {
    (pages >= READS_MIN && more_ns > 0.0).then(|| more_ns / pages)
}

/// Execution time, ns, and blocks read from outside, of the text of an `EXPLAIN (ANALYZE, BUFFERS)`.
/// The first line with buffers is the whole statement's; those of planning stand behind.
fn explained(lines: &[String]) -> Option<(f64, f64)> {
    let time = lines
        .iter()
        .find_map(|line| line.trim().strip_prefix("Execution Time: "))?;
    let ms: f64 = time.trim_end_matches(" ms").parse().ok()?;
    let executed = lines
        .iter()
        .take_while(|line| !line.starts_with("Planning"));
    let buffers = executed
        .map(|line| line.trim())
        .find(|line| line.starts_with("Buffers:"));
    let read = buffers.and_then(|line| {
        line.split_whitespace()
            .find_map(|word| word.strip_prefix("read="))
    });
    Some((
        ms * 1e6,
        read.map_or(0.0, |count| count.parse().unwrap_or(0.0)),
    ))
}

/// A table whose rows are looked up, by its key.
struct Table {
    name: String,
    key: String,
    lookup: &'static str,
    least: i64,
    greatest: i64,
}

impl Table {
    fn largest(server: &mut Catalogue, dialect: &Dialect) -> Option<Table> {
        let row = server.rows(dialect.largest).ok()?.into_iter().next()?;
        let [name, key] = <[Option<String>; 2]>::try_from(row).ok()?;
        let (name, key) = (name?, key?);
        let ends = server
            .rows(&format!("SELECT MIN({key}), MAX({key}) FROM {name}"))
            .ok()?;
        let mut ends = ends
            .into_iter()
            .next()?
            .into_iter()
            .map(|end| end?.parse::<i64>().ok());
        let (least, greatest) = (ends.next()??, ends.next()??);
        Some(Table {
            name,
            key,
            lookup: dialect.lookup,
            least,
            greatest,
        })
    }

    fn sql(&self, id: i64) -> String {
        self.lookup
            .replace("{table}", &self.name)
            .replace("{key}", &self.key)
            .replace("{id}", &id.to_string())
    }

    /// Sends each lookup twice; returns how much longer the first ones took in all, and how many
    /// more pages `run` counted for them.
    fn lookups(
        &self,
        server: &mut Catalogue,
        run: impl Fn(&mut Catalogue, &str) -> Option<(f64, f64)>,
    ) -> Option<(f64, f64)> {
        let width = self.greatest.checked_sub(self.least)? as f64;
        let begin = Instant::now();
        let mut more = (0.0, 0.0);
        for turn in 1..=LOOKUPS {
            if begin.elapsed() > DEADLINE {
                break;
            }
            // Multiples of the golden ratio spread evenly, and no two are neighbours.
            let place = (turn as f64 * 0.618_033_988_749_895).fract();
            let sql = self.sql(self.least + (width * place) as i64);
            let (first, again) = (run(server, &sql)?, run(server, &sql)?);
            more = (more.0 + first.0 - again.0, more.1 + first.1 - again.1);
        }
        Some(more)
    }
}

#[cfg(test)]
mod tests {
    use super::{explained, per_page};

    #[test]
    fn time_and_blocks_of_a_plan_are_those_of_its_execution() {
        let lines = [
            "Limit  (cost=0.42..0.50 rows=1 width=10) (actual time=0.020..0.021 rows=1 loops=1)",
            "  Buffers: shared hit=2 read=3",
            "  ->  Index Scan using facts_pkey on facts  (actual time=0.019..0.019 rows=1 loops=1)",
            "        Buffers: shared hit=2 read=3",
            "Planning:",
            "  Buffers: shared hit=12 read=7",
            "Planning Time: 0.110 ms",
            "Execution Time: 0.045 ms",
        ];
        let lines = lines.map(str::to_owned);
        assert_eq!(explained(&lines), Some((45_000.0, 3.0)));
        assert_eq!(explained(&lines[..2]), None);
    }

    #[test]
    fn few_pages_and_lookups_that_took_no_longer_state_nothing() {
        assert_eq!(per_page(2e6, 40.0), Some(5e4));
        assert_eq!(per_page(2e6, 19.0), None);
        assert_eq!(per_page(-1.0, 40.0), None);
    }
}

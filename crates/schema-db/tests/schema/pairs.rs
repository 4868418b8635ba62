//! Random pairs of schemas: the second is reached from the first, with all rows valid in both.

use std::ops::Range;

use schema_db::Database;

use crate::bench::{Bench, Scratch, approach, reach};

/// Pairs of a dialect per test run; `HAKARU_SCHEMA_PAIRS` sets others for a long run ([`seeds`]).
const PAIRS: u64 = 40;

/// Rows in each table before the change.
pub const ROWS: usize = 3;

/// Number of failures ending a long run; more would add no information.
const FAILURES_MAX: usize = 10;

/// What a generator makes of a seed.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Statements of the first schema.
    pub from: String,
    /// Statements of the second.
    pub to: String,
    /// Statements inserting rows into the first schema.
    pub rows: Vec<String>,
    /// Queries whose answers must be the same before and after.
    pub survivors: Vec<String>,
    /// Queries for every row and stored value, which must be the same where nothing was allowed.
    pub everything: Vec<String>,
}

/// Name and columns of a table with rows. Names are SQL.
pub struct Filled {
    /// The table's name.
    pub name: String,
    /// Names of the columns beside `id`, and whether each is computed.
    pub columns: Vec<(String, bool)>,
}

impl Filled {
    /// Collects a table's name and columns, each column with a flag for computed ones. `quoted` is
    /// the dialect's quoting of names.
    pub fn new<'a>(
        quoted: fn(&str) -> String,
        name: &str,
        columns: impl Iterator<Item = (&'a str, bool)>,
    ) -> Filled {
        Filled {
            name: quoted(name),
            columns: columns
                .map(|(name, computed)| (quoted(name), computed))
                .collect(),
        }
    }
}

impl Pair {
    /// Rows for all tables of the first schema, and queries for everything valid in both. `value`
    /// is a row's number as a value of any type; `shown` prints a column equally before and after a
    /// change of type.
    pub fn new(
        (from, to): (String, String),
        (before, after): (&[Filled], &[Filled]),
        value: fn(usize) -> String,
        shown: fn(&str) -> String,
    ) -> Pair {
        let rows = before.iter();
        let rows = rows.flat_map(|table| (1..=ROWS).map(|row| insert(table, &value(row))));
        let mut pair = Pair {
            from,
            to,
            rows: rows.collect(),
            survivors: Vec::new(),
            everything: Vec::new(),
        };
        let select = |table: &Filled, columns: &mut dyn Iterator<Item = &str>| {
            let columns: Vec<String> = columns.map(shown).collect();
            let columns = columns.join(", ");
            format!("SELECT {columns} FROM {} ORDER BY id", table.name)
        };
        for table in before {
            let stored = table.columns.iter().filter(|column| !column.1);
            let stored = stored.map(|(name, _)| name.as_str());
            let all = select(table, &mut std::iter::once("id").chain(stored));
            pair.everything.push(all);
        }
        for table in before {
            let Some(after) = after.iter().find(|after| after.name == table.name) else {
                continue;
            };
            let kept = table.columns.iter().filter(|column| !column.1);
            let kept = kept.filter(|column| after.columns.contains(column));
            let kept = kept.map(|(name, _)| name.as_str());
            let all = select(table, &mut std::iter::once("id").chain(kept));
            pair.survivors.push(all);
        }
        pair
    }
}

fn insert(table: &Filled, value: &str) -> String {
    let plain = table.columns.iter().filter(|(_, is_computed)| !is_computed);
    let names: Vec<&str> = std::iter::once("id")
        .chain(plain.map(|(name, _)| name.as_str()))
        .collect();
    let values = vec![value; names.len()].join(", ");
    format!(
        "INSERT INTO {} ({}) VALUES ({values})",
        table.name,
        names.join(", ")
    )
}

/// Seeds: `500` is a number of pairs, `17..20` a range.
fn seeds() -> Range<u64> {
    let Ok(asked) = std::env::var("HAKARU_SCHEMA_PAIRS") else {
        return 0..PAIRS;
    };
    let (first, end) = asked.split_once("..").unwrap_or(("0", &asked));
    first.parse().unwrap()..end.parse().unwrap()
}

/// Tests the requested pairs and reports failures with seeds. The servers of a dialect share the
/// seeds: `share` is the number of the server and the number of servers.
pub fn run(bench: &dyn Bench, share: (u64, u64), generate: &dyn Fn(u64) -> Pair) {
    let seeds = seeds();
    let mut failed = Vec::new();
    let mut tried = 0;
    for seed in seeds.clone().filter(|seed| seed % share.1 == share.0) {
        tried += 1;
        let pair = generate(seed);
        if let Err(message) = one(bench, &pair) {
            failed.push(format!(
                "seed {seed}: {message}\nfrom\n{}\nto\n{}",
                pair.from, pair.to
            ));
        }
        if failed.len() == FAILURES_MAX {
            break;
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    println!("{tried} pairs of the seeds {seeds:?}");
}

fn one(bench: &dyn Bench, pair: &Pair) -> Result<(), String> {
    keeps_everything(bench, pair)?;
    let mut scratch = filled(bench, pair)?;
    let before = answers(&mut *scratch, &pair.survivors)?;
    reach(&mut *scratch, &pair.to)?;
    let after = answers(&mut *scratch, &pair.survivors)?;
    if before != after {
        return Err(format!("the rows were {before:?} and are {after:?}"));
    }
    let mut direct = bench.empty();
    reach(&mut *direct, &pair.to)?;
    let (ours, wanted) = (scratch.catalogue(), direct.catalogue());
    if ours != wanted {
        return Err(format!("the catalogue is {ours:#?} and not {wanted:#?}"));
    }
    Ok(())
}

/// A database with the first schema and all rows.
fn filled<'a>(bench: &'a dyn Bench, pair: &Pair) -> Result<Box<dyn Scratch + 'a>, String> {
    let mut scratch = bench.empty();
    reach(&mut *scratch, &pair.from)?;
    for sql in &pair.rows {
        let done = scratch.database().execute(sql);
        done.map_err(|error| format!("{}\n  at: {sql}", error.message))?;
    }
    Ok(scratch)
}

/// A plan without permissions succeeds, and preserves every row and every stored value.
fn keeps_everything(bench: &dyn Bench, pair: &Pair) -> Result<(), String> {
    let mut scratch = filled(bench, pair)?;
    let before = answers(&mut *scratch, &pair.everything)?;
    let plan = approach(&mut *scratch, &pair.to)?;
    let after = answers(&mut *scratch, &pair.everything)
        .map_err(|error| format!("lost without a yes: {error}\nby\n{plan}"))?;
    match before == after {
        true => Ok(()),
        false => Err(format!(
            "nobody allowed it, but the rows were {before:?} and are {after:?}\nby\n{plan}"
        )),
    }
}

fn answers(
    scratch: &mut dyn Scratch,
    queries: &[String],
) -> Result<Vec<Vec<Vec<Option<String>>>>, String> {
    let database: &mut dyn Database = scratch.database();
    let all = queries.iter().map(|sql| database.query(sql));
    all.collect::<Result<_, _>>().map_err(|error| error.message)
}

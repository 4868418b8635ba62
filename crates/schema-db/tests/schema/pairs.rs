//! Random pairs of schemas: from the first to the second, which must be reached with the rows that both have room for.

use schema_db::Database;

use crate::bench::{Bench, Scratch, reach};

/// Pairs that every test run tries; `HAKARU_SCHEMA_PAIRS` sets another number for a long run.
const PAIRS: u64 = 30;

/// Rows in each table before the change.
pub const ROWS: usize = 3;

/// What a generator makes of a seed.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Statements of the first schema.
    pub from: String,
    /// Statements of the second.
    pub to: String,
    /// Statements that fill the first.
    pub rows: Vec<String>,
    /// Queries whose answers must be the same before and after.
    pub survivors: Vec<String>,
}

/// Tries as many pairs as asked for; the seed of one that fails is told.
pub fn run(bench: &dyn Bench, generate: &dyn Fn(u64) -> Pair) {
    let asked = std::env::var("HAKARU_SCHEMA_PAIRS");
    let pairs = asked.map_or(PAIRS, |text| text.parse().unwrap());
    for seed in 0..pairs {
        let pair = generate(seed);
        if let Err(message) = one(bench, &pair) {
            panic!(
                "seed {seed}: {message}\nfrom\n{}\nto\n{}",
                pair.from, pair.to
            );
        }
    }
    println!("{pairs} pairs, seeds 0 to {}", pairs - 1);
}

fn one(bench: &dyn Bench, pair: &Pair) -> Result<(), String> {
    let mut scratch = bench.empty();
    reach(&mut *scratch, &pair.from)?;
    for sql in &pair.rows {
        let done = scratch.database().execute(sql);
        done.map_err(|error| format!("{}\n  at: {sql}", error.message))?;
    }
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

fn answers(
    scratch: &mut dyn Scratch,
    queries: &[String],
) -> Result<Vec<Vec<Vec<Option<String>>>>, String> {
    let database: &mut dyn Database = scratch.database();
    let all = queries.iter().map(|sql| database.query(sql));
    all.collect::<Result<_, _>>().map_err(|error| error.message)
}

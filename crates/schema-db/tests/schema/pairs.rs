//! Random pairs of schemas: the second is reached from the first, with all rows valid in both.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fastrand::Rng;
use schema::Schema;
use schema_db::Database;

use crate::bench::{Bench, Scratch, approach_from, create, load, reach_from, remember_answers};

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

/// One form of an object, with prerequisites.
pub struct Form {
    /// The statements, in order.
    pub sql: &'static [&'static str],
    /// The tables with rows, each with the columns beside `id`. Names are SQL.
    pub tables: &'static [(&'static str, &'static [&'static str])],
}

/// A form without rows.
pub const fn bare(sql: &'static [&'static str]) -> Form {
    form(sql, &[])
}

/// A form whose tables have rows.
pub const fn form(
    sql: &'static [&'static str],
    tables: &'static [(&'static str, &'static [&'static str])],
) -> Form {
    Form { sql, tables }
}

impl Form {
    /// A third of the kinds, each in one form.
    pub fn some(random: &mut Rng, kinds: &[&'static [Form]]) -> Vec<&'static Form> {
        let kinds = kinds.iter().filter(|_| random.u8(..3) == 0);
        let kinds: Vec<_> = kinds.collect();
        let one = |forms: &&'static [Form]| &forms[random.usize(..forms.len())];
        kinds.into_iter().map(one).collect()
    }

    /// What of the forms is filled with rows.
    pub fn filled(forms: &[&Form]) -> impl Iterator<Item = Filled> {
        let tables = forms.iter().flat_map(|form| form.tables);
        tables.map(|(name, columns)| Filled {
            name: (*name).to_owned(),
            columns: columns
                .iter()
                .map(|column| ((*column).to_owned(), false))
                .collect(),
        })
    }

    /// The statements of the forms, each with a semicolon.
    pub fn text(forms: &[&Form]) -> String {
        let sql = forms.iter().flat_map(|form| form.sql);
        sql.map(|sql| format!("{sql};\n")).collect()
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

/// Progress of a long run, in a file per server, for going on where the run was stopped.
///
/// Lines: what the generator makes (another generator starts afresh), the next seed, then the seeds
/// that failed.
struct Progress {
    file: Option<PathBuf>,
    made: u64,
    next: u64,
    failed: Vec<u64>,
}

impl Progress {
    /// Continues what `HAKARU_SCHEMA_PAIRS_FOLDER` has of the server.
    fn of(server: &str, seeds: &Range<u64>, generate: &dyn Fn(u64) -> Pair) -> Progress {
        let mut hasher = DefaultHasher::new();
        for seed in 0..20 {
            let pair = generate(seed);
            (pair.from, pair.to, pair.rows).hash(&mut hasher);
        }
        let folder = std::env::var_os("HAKARU_SCHEMA_PAIRS_FOLDER").map(PathBuf::from);
        let mut progress = Progress {
            file: folder.map(|folder| folder.join(server)),
            made: hasher.finish(),
            next: seeds.start,
            failed: Vec::new(),
        };
        let file = progress.file.as_ref();
        let text = file.and_then(|file| std::fs::read_to_string(file).ok());
        let lines = text.iter().flat_map(|text| text.lines());
        let numbers: Vec<u64> = lines.map(|line| line.parse().unwrap()).collect();
        if let [made, next, failed @ ..] = numbers.as_slice()
            && *made == progress.made
        {
            progress.next = *next;
            progress.failed = failed.to_vec();
        }
        progress
    }

    /// Notes a seed as done.
    fn note(&mut self, seed: u64, is_failed: bool) {
        self.next = seed + 1;
        self.failed.extend(is_failed.then_some(seed));
        let Some(file) = &self.file else { return };
        let numbers = [self.made, self.next].into_iter();
        let numbers = numbers.chain(self.failed.iter().copied());
        let text: String = numbers.map(|number| format!("{number}\n")).collect();
        std::fs::write(file, text).unwrap();
    }
}

/// When a piece of a long run ends: `HAKARU_SCHEMA_PAIRS_SECONDS` from now.
fn end() -> Option<Instant> {
    let seconds = std::env::var("HAKARU_SCHEMA_PAIRS_SECONDS").ok()?;
    Some(Instant::now() + Duration::from_secs(seconds.parse().unwrap()))
}

/// Tests the requested pairs and reports failures with seeds. The servers of a dialect share the
/// seeds: `share` is the number of the server and the number of servers.
pub fn run(bench: &dyn Bench, server: &str, share: (u64, u64), generate: &dyn Fn(u64) -> Pair) {
    let (seeds, end) = (seeds(), end());
    let mut progress = Progress::of(server, &seeds, generate);
    let mut failed = Vec::new();
    let mut tried = 0;
    let first = progress.next.max(seeds.start);
    for seed in (first..seeds.end).filter(|seed| seed % share.1 == share.0) {
        if failed.len() == FAILURES_MAX || end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        tried += 1;
        let pair = generate(seed);
        let done = one(bench, &pair);
        progress.note(seed, done.is_err());
        failed.extend(done.err().map(|message| {
            format!(
                "seed {seed}: {message}\nfrom\n{}\nto\n{}",
                pair.from, pair.to
            )
        }));
    }
    let (next, known) = (progress.next, &progress.failed);
    println!("{server}: {tried} pairs of {seeds:?} up to {next}; failed so far: {known:?}");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

fn one(bench: &dyn Bench, pair: &Pair) -> Result<(), String> {
    remember_answers();
    let from = keeps_everything(bench, pair)?;
    // The same statements as the first time, when an export showed what they make.
    let mut scratch = bench.empty();
    create(&mut *scratch, &pair.from)?;
    fill(&mut *scratch, pair)?;
    let before = answers(&mut *scratch, &pair.survivors)?;
    reach_from(&mut *scratch, &from, &pair.to)?;
    let after = answers(&mut *scratch, &pair.survivors)?;
    if before != after {
        return Err(format!("the rows were {before:?} and are {after:?}"));
    }
    let (mut direct, _) = made(bench, &pair.to)?;
    let (ours, wanted) = (scratch.catalogue(), direct.catalogue());
    if !scratch.is_reached(&ours, &wanted) {
        return Err(differences(&ours, &wanted));
    }
    Ok(())
}

/// Lines of only one of two catalogues.
fn differences(ours: &[String], wanted: &[String]) -> String {
    let without = |one: &[String], other: &[String]| -> Vec<String> {
        let lines = one.iter().filter(|line| !other.contains(line));
        lines.cloned().collect()
    };
    let (more, less) = (without(ours, wanted), without(wanted, ours));
    format!("the catalogue has {more:#?} and lacks {less:#?}")
}

/// A database with a schema.
type Made<'a> = (Box<dyn Scratch + 'a>, Schema);

/// A database with a schema.
fn made<'a>(bench: &'a dyn Bench, text: &str) -> Result<Made<'a>, String> {
    let mut scratch = bench.empty();
    let nothing = load("", &scratch.database().server().clone())?;
    let holds = reach_from(&mut *scratch, &nothing, text)?;
    Ok((scratch, holds))
}

/// Inserts all rows.
fn fill(scratch: &mut dyn Scratch, pair: &Pair) -> Result<(), String> {
    for sql in &pair.rows {
        let done = scratch.database().execute(sql);
        done.map_err(|error| format!("{}\n  at: {sql}", error.message))?;
    }
    Ok(())
}

/// A plan without permissions succeeds, and preserves every row and every stored value. Returns the
/// first schema as the server has it.
fn keeps_everything(bench: &dyn Bench, pair: &Pair) -> Result<Schema, String> {
    let (mut scratch, from) = made(bench, &pair.from)?;
    fill(&mut *scratch, pair)?;
    let before = answers(&mut *scratch, &pair.everything)?;
    let plan = approach_from(&mut *scratch, &from, &pair.to)?;
    let after = answers(&mut *scratch, &pair.everything)
        .map_err(|error| format!("lost without a yes: {error}\nby\n{plan}"))?;
    match before == after {
        true => Ok(from),
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

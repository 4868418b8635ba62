//! The locks that a plan states, compared with what the server holds: each statement runs in a
//! transaction, and another session reads `pg_locks` before that ends.

use schema::{Allowed, Hazard, ObjectKind, PlanOptions, Statement};
use schema_db::Database;

use super::{Databases, pairs, server};
use crate::bench::{self, Scratch};

/// Modes of locks of tables, the weakest first.
const MODES: [&str; 8] = [
    "ACCESS SHARE",
    "ROW SHARE",
    "ROW EXCLUSIVE",
    "SHARE UPDATE EXCLUSIVE",
    "SHARE",
    "SHARE ROW EXCLUSIVE",
    "EXCLUSIVE",
    "ACCESS EXCLUSIVE",
];

/// The strongest lock without a statement: others read and write meanwhile.
const UNSTATED: usize = 3;

/// Random pairs whose statements are tried.
const PAIRS: u64 = 30;

const BEFORE: &str = "CREATE TABLE a (id bigint NOT NULL PRIMARY KEY);
CREATE TABLE t (id bigint NOT NULL, a_id bigint, name varchar(20), n integer, CONSTRAINT t_a FOREIGN KEY (a_id) REFERENCES a (id));
CREATE INDEX t_n ON t (n);";

const AFTER: &str = "CREATE TABLE a (id bigint NOT NULL PRIMARY KEY);
CREATE TABLE t (id bigint NOT NULL PRIMARY KEY, a_id bigint NOT NULL, name varchar(40), n integer DEFAULT 3,
  CONSTRAINT t_name UNIQUE (name), CONSTRAINT t_low CHECK (n > 0),
  CONSTRAINT t_a FOREIGN KEY (a_id) REFERENCES a (id) ON DELETE CASCADE);
CREATE INDEX t_n ON t (n, id);";

#[test]
fn locks_are_what_the_plan_states() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        let bench = Databases::new(variable, None);
        let mut failed = changed(&bench, BEFORE, AFTER, true);
        failed.extend(changed(&bench, BEFORE, AFTER, false));
        failed.extend(changed(&bench, AFTER, BEFORE, false));
        for seed in 0..PAIRS {
            let pair = pairs::pair(seed);
            failed.extend(changed(&bench, &pair.from, &pair.to, seed % 2 == 0));
        }
        failed.sort();
        failed.dedup();
        assert!(failed.is_empty(), "{variable}:\n{}", failed.join("\n"));
    }
}

/// Changes a database statement by statement; what was stated wrongly.
fn changed(bench: &Databases, from: &str, to: &str, is_online: bool) -> Vec<String> {
    let (name, database) = bench.make();
    let mut scratch = super::OneDatabase {
        bench,
        name: name.clone(),
        database: Some(database),
    };
    let mut other = server(&bench.url, Some(&name));
    bench::reach(&mut scratch, from).unwrap();
    let desired = bench::load(to, &scratch.database().server().clone()).unwrap();
    let options = PlanOptions {
        server: Some(scratch.database().server().clone()),
        index_concurrently: is_online,
        online: is_online,
        ..PlanOptions::default()
    };
    let current = bench::exported(&mut scratch).unwrap();
    let mut plan = schema::plan(&current, &desired, &options).unwrap();
    plan.hold_back(&Allowed {
        all: true,
        named: Vec::new(),
    });
    let before = highest(scratch.database());
    // What would block others for long is held back still, and fails nothing here.
    let wrong = plan
        .applied()
        .filter_map(|statement| tried(scratch.database(), &mut other, statement, before));
    wrong.collect()
}

/// The highest number of a relation.
fn highest(database: &mut dyn Database) -> u32 {
    let found = database
        .query("SELECT max(oid)::text FROM pg_class")
        .unwrap();
    found[0][0].as_ref().unwrap().parse().unwrap()
}

fn tried(
    database: &mut dyn Database,
    other: &mut dyn Database,
    statement: &Statement,
    before: u32,
) -> Option<String> {
    if statement.hazards.contains(&Hazard::NotTransactional) {
        database.execute(&statement.sql).unwrap();
        return None;
    }
    let process = database.query("SELECT pg_backend_pid()::text").unwrap();
    let process = process[0][0].clone().unwrap();
    database.execute("BEGIN").unwrap();
    // What the statement itself makes is locked, and nobody waits for it.
    database.execute("SET CONSTRAINTS ALL IMMEDIATE").unwrap();
    let highest = highest(database);
    database
        .execute(&statement.sql)
        .unwrap_or_else(|error| panic!("{}\n  at: {}", error.message, statement.sql));
    let held = other
        .query(&format!(
            "SELECT DISTINCT (relation <= {before})::text, upper(regexp_replace(replace(mode, 'Lock', ''), '([a-z])([A-Z])', '\\1 \\2', 'g')) FROM pg_locks l \
             JOIN pg_database d ON d.oid = l.database AND d.datname = current_database() \
             WHERE pid = {process} AND granted AND locktype = 'relation' AND relation BETWEEN 16384 AND {highest}"
        ))
        .unwrap();
    database.execute("COMMIT").unwrap();
    let place = |mode: &str| MODES.iter().position(|known| *known == mode);
    let strongest = |are_old: bool| {
        let rows = held
            .iter()
            .filter(|row| !are_old || row[0].as_deref() == Some("true"));
        let modes = rows.map(|row| place(row[1].as_deref().unwrap()).unwrap());
        modes.max().unwrap_or(0)
    };
    let (held, of_old) = (strongest(false), strongest(true));
    let stated = statement.hazards.iter().filter_map(|hazard| match hazard {
        Hazard::Lock(mode) => Some(place(mode).unwrap()),
        _ => None,
    });
    let stated = stated.max();
    // Routines and types are locked as such, and what is stated is about them.
    let is_of_table = !matches!(
        statement.object.kind,
        ObjectKind::Function
            | ObjectKind::Type
            | ObjectKind::Domain
            | ObjectKind::Aggregate
            | ObjectKind::CompositeType
    ) && !statement.sql.starts_with("ALTER TYPE");
    let is_right = match stated {
        Some(stated) if is_of_table => held == stated,
        Some(stated) => held <= stated,
        // Nobody waits for what the plan has made.
        None => of_old <= UNSTATED,
    };
    let said = stated.map_or("nothing", |stated| MODES[stated]);
    (!is_right).then(|| format!("{}: states {said}, holds {}", statement.sql, MODES[held]))
}

//! `--online` under load: changes of a table with many rows, in use by a reader and a writer.
//!
//! Both send at a fixed rate whatever the server does, so that a wait counts from when a request
//! was due. Printed: the longest wait during each change, and what failed.

mod changes;
mod users;

use std::error::Error;
use std::time::{Duration, Instant};

use schema::{Allowed, PlanOptions, Product, Source};
use schema_db::mysql::MysqlAddress;
use schema_db::online::{Run, Waits};
use schema_db::postgres::PostgresAddress;
use schema_db::runner::{self, Scratch, Settings};
use schema_db::{Database, DbError};

use crate::options::value;
use changes::{CHANGES, Shape};
use users::Users;

/// Longest tolerated wait of a request.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Rows inserted by one statement.
const ROWS_PER_INSERT: u64 = 5_000;

/// Waits as used by `hakaru schema apply --online`.
const WAITS: Waits = Waits {
    lock: Duration::from_millis(500),
    tries: 30,
};

const SERVERS: [(&str, &str); 3] = [
    ("PostgreSQL", "HAKARU_TEST_POSTGRES_URL"),
    ("MySQL", "HAKARU_TEST_MYSQL_URL"),
    ("MariaDB", "HAKARU_TEST_MARIADB118_URL"),
];

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Runs the benchmark; options are `--rows N`, and `--server NAME` for a single server.
pub(crate) fn run(arguments: &[String]) -> Fallible<bool> {
    let rows = value(arguments, "rows", 1_000_000_u64)?;
    let only = value(arguments, "server", String::new())?;
    let mut is_kept = true;
    for (name, variable) in SERVERS {
        if only.is_empty() || only.eq_ignore_ascii_case(name) {
            let url = std::env::var(variable)
                .map_err(|_| format!("{variable} is not set; see dev/README.md"))?;
            println!("{name}, {rows} rows, {} changes", CHANGES.len());
            is_kept &= on_server(&url, rows)?;
        }
    }
    Ok(is_kept)
}

fn on_server(url: &str, rows: u64) -> Fallible<bool> {
    let mut admin = connect(url)?;
    let name = format!("hakaru_online_{}", std::process::id());
    done(admin.execute(&format!("CREATE DATABASE {name}")))?;
    let (before, _) = url
        .rsplit_once('/')
        .ok_or("an address without a database")?;
    let measured = measured(&format!("{before}/{name}"), rows);
    done(admin.execute(&format!("DROP DATABASE {name}")))?;
    measured
}

fn measured(url: &str, rows: u64) -> Fallible<bool> {
    let mut database = connect(url)?;
    let mut shape = Shape::first();
    for statement in shape.text().split_terminator(";\n") {
        done(database.execute(statement))?;
    }
    fill(database.as_mut(), rows)?;
    let users = Users::start([connect(url)?, connect(url)?], rows);
    let mut is_kept = true;
    for change in CHANGES {
        let before = shape.clone();
        (change.make)(&mut shape);
        users.forget();
        let start = Instant::now();
        let outcome = apply(database.as_mut(), &shape);
        let took = start.elapsed();
        let seen = users.seen();
        let said = match &outcome {
            Ok(0) => String::new(),
            Ok(left) => format!("{left} held back"),
            Err(error) => format!("FAILED: {error}"),
        };
        let is_good = seen.pause <= PAUSE_MAX && seen.failed == 0 && outcome.is_ok();
        println!(
            "  {:32} {:7.2} s  longest wait {:6.0} ms of {:5} requests, {} failed  {said}{}",
            change.name,
            took.as_secs_f64(),
            seen.pause.as_secs_f64() * 1e3,
            seen.total(),
            seen.failed,
            if is_good { "" } else { "  MISSED" },
        );
        if let Some(error) = seen.error {
            println!("      {error}");
        }
        is_kept &= is_good;
        if outcome != Ok(0) {
            shape = before;
        }
    }
    users.end();
    Ok(is_kept)
}

/// Carries out what can be online; how many statements cannot.
fn apply(database: &mut dyn Database, shape: &Shape) -> Result<usize, String> {
    let server = database.server().clone();
    let settings = Settings {
        options: PlanOptions {
            server: Some(server.clone()),
            online: true,
            index_concurrently: true,
            ..PlanOptions::default()
        },
        allowed: Allowed {
            all: true,
            named: Vec::new(),
        },
        scratch: Scratch::Auto,
        keep: &|_| true,
    };
    let source = Source {
        name: "wanted".to_owned(),
        text: shape.text(),
    };
    let said = |error: runner::RunError| error.to_string();
    let (mut wanted, _) = runner::read(&[source], &server, &settings).map_err(said)?;
    let prepared = runner::prepare(database, &mut wanted, &settings).map_err(said)?;
    let steps = prepared.steps();
    let run = Run {
        waits: WAITS,
        plan_id: runner::plan_id(steps.iter().map(|step| step.sql.as_str())),
        had_journal: prepared.cut_off.is_some(),
        outside: None,
    };
    let refused = schema_db::online::carry_out(database, &steps, run, &mut |_| {});
    let refused = refused.map_err(|error| error.message)?;
    Ok(prepared.plan.statements.len() - steps.len() + refused.len())
}

fn fill(database: &mut dyn Database, rows: u64) -> Fallible<()> {
    let product = database.server().product;
    let is_postgres = product == Product::Postgres;
    if !is_postgres {
        let depth = match product {
            Product::MariaDb => "max_recursive_iterations",
            _ => "cte_max_recursion_depth",
        };
        done(database.execute(&format!("SET SESSION {depth} = {ROWS_PER_INSERT}")))?;
    }
    done(database.execute("INSERT INTO p VALUES (1), (2), (3)"))?;
    for first in (1..=rows).step_by(ROWS_PER_INSERT as usize) {
        let last = rows.min(first + ROWS_PER_INSERT - 1);
        let values = "i, 0, 'some name', 'a note that is some letters long', 1 + i % 3, i % 7, i";
        let sql = match is_postgres {
            true => format!(
                "INSERT INTO t SELECT {values} FROM generate_series({first}, {last}) AS s (i)"
            ),
            false => format!(
                "INSERT INTO t WITH RECURSIVE s (i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM s WHERE i < {last}) \
                 SELECT {values} FROM s"
            ),
        };
        done(database.execute(&sql))?;
    }
    if is_postgres {
        done(database.execute("ANALYZE t"))?;
    }
    Ok(())
}

fn done<T>(result: Result<T, DbError>) -> Fallible<T> {
    result.map_err(|error| error.message.into())
}

fn connect(url: &str) -> Fallible<Box<dyn Database>> {
    if url.starts_with("postgres") {
        let address = PostgresAddress {
            url: Some(url.to_owned()),
            ..PostgresAddress::default()
        };
        return Ok(Box::new(done(schema_db::postgres::connect(&address))?));
    }
    let address = done(MysqlAddress::from_url(url))?;
    Ok(Box::new(done(schema_db::mysql::connect(&address))?))
}

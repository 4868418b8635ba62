//! The schema engine: comparing generated schemas, hostile texts, and reading servers.
//!
//! Each case runs in a process of its own, so that its peak memory is its own. Texts are generated
//! here, of the sizes that the bounds were set for.

mod scale;

use std::error::Error;
use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

use schema::{PlanOptions, Product, Server, Source};
use schema_db::Database;
use schema_db::mysql::MysqlAddress;
use schema_db::postgres::PostgresAddress;
use squawk_parser::{EntryPoint, LexedStr};

/// The least of so many repetitions counts.
const REPETITIONS: usize = 5;

/// Length of a hostile text.
const HOSTILE_BYTES: usize = 10_000_000;

/// Tables on a server.
const EXPORTED_TABLES: usize = 2_000;

struct Case {
    name: &'static str,
    seconds_max: f64,
    mib_max: Option<f64>,
    /// Repeats the work and returns the seconds of the fastest pass.
    work: fn() -> Result<f64, Box<dyn Error>>,
}

const CASES: [Case; 9] = [
    Case {
        name: "MySQL: 2,000 tables compared with themselves",
        seconds_max: 0.1,
        mib_max: Some(100.0),
        work: mysql_with_itself,
    },
    Case {
        name: "PostgreSQL: a plan between two times 1,400 tables",
        seconds_max: 0.3,
        mib_max: None,
        work: postgres_plan,
    },
    Case {
        name: "MariaDB: 2,000 tables exported",
        seconds_max: 1.0,
        mib_max: None,
        work: || mysql_export("HAKARU_TEST_MARIADB_URL"),
    },
    Case {
        name: "MySQL: 2,000 tables exported",
        seconds_max: 1.0,
        mib_max: None,
        work: || mysql_export("HAKARU_TEST_MYSQL_URL"),
    },
    Case {
        name: "PostgreSQL: 2,000 tables exported",
        seconds_max: 1.0,
        mib_max: None,
        work: || postgres_export("HAKARU_TEST_POSTGRES_URL"),
    },
    Case {
        name: "PostgreSQL 18: 2,000 tables exported",
        seconds_max: 1.0,
        mib_max: None,
        work: || postgres_export("HAKARU_TEST_POSTGRES18_URL"),
    },
    Case {
        name: "hostile texts of 10 MB, slowest: MySQL",
        seconds_max: 5.0,
        mib_max: None,
        work: || hostile(Product::Mysql),
    },
    Case {
        name: "hostile texts of 10 MB, slowest: PostgreSQL",
        seconds_max: 5.0,
        mib_max: None,
        work: || hostile(Product::Postgres),
    },
    Case {
        name: "hostile texts of 10 MB, slowest: SQLite",
        seconds_max: 5.0,
        mib_max: None,
        work: || hostile(Product::Sqlite),
    },
];

/// Repeated part of a hostile text, with the text before.
const HOSTILE: [(&str, &str); 8] = [
    ("", ";"),
    ("CREATE TABLE t (a int DEFAULT ", "("),
    ("CREATE TABLE t (a int DEFAULT (1", "+(1"),
    ("CREATE TABLE t (a text DEFAULT '", "''"),
    ("", "/*"),
    ("", "$a$;"),
    ("CREATE TABLE t (", "a int,"),
    ("CREATE VIEW v AS SELECT ", "1,"),
];

/// Runs every case, or with `--one NAME` a single case in the same process.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    if let [flag, name] = arguments
        && flag == "--one"
    {
        return one(name);
    }
    let program = std::env::current_exe()?;
    let mut is_kept = true;
    for case in CASES.iter().chain(&scale::CASES) {
        let output = Command::new(&program)
            .args(["schema", "--one", case.name])
            .output()?;
        print!("{}", String::from_utf8_lossy(&output.stdout));
        is_kept &= output.status.success();
    }
    Ok(is_kept)
}

fn one(name: &str) -> Result<bool, Box<dyn Error>> {
    let case = CASES
        .iter()
        .chain(&scale::CASES)
        .find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("no case is called {name:?}"))?;
    let seconds = match (case.work)() {
        Ok(seconds) => seconds,
        Err(error) => {
            println!("{:55} failed: {error}", case.name);
            return Ok(false);
        }
    };
    let mib = peak_mib()?;
    let is_kept = seconds <= case.seconds_max && case.mib_max.is_none_or(|most| mib <= most);
    let bound = match case.mib_max {
        Some(most) => format!("≤ {:.0} ms, ≤ {most:.0} MiB", case.seconds_max * 1e3),
        None => format!("≤ {:.0} ms", case.seconds_max * 1e3),
    };
    let verdict = if is_kept { "" } else { "  MISSED" };
    println!(
        "{:55} {:8.1} ms {mib:6.0} MiB   asked: {bound}{verdict}",
        case.name,
        seconds * 1e3
    );
    Ok(is_kept)
}

fn peak_mib() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: f64 = line
        .and_then(|rest| rest.trim().strip_suffix(" kB"))
        .ok_or("no VmHWM")?
        .parse()?;
    Ok(kib / 1024.0)
}

/// Returns the seconds of the fastest repetition. What the work returns is freed after the clock
/// has stopped: the program ends without freeing its schemas.
fn fastest<T>(mut work: impl FnMut() -> Result<T, Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        let kept = work()?;
        least = least.min(start.elapsed().as_secs_f64());
        drop(kept);
    }
    Ok(least)
}

fn read(text: &str, product: Product) -> Result<schema::Schema, Box<dyn Error>> {
    let source = Source {
        name: "generated.sql".to_owned(),
        text: text.to_owned(),
    };
    Ok(schema::read(&[source], &Server::unknown(product))?.schema)
}

fn read_both(
    from: &str,
    to: &str,
    product: Product,
) -> Result<(schema::Schema, schema::Schema), Box<dyn Error>> {
    let source = |text: &str| {
        [Source {
            name: "generated.sql".to_owned(),
            text: text.to_owned(),
        }]
    };
    let sides = (&source(from)[..], &source(to)[..]);
    let (from, to) = schema::read_both(sides, &Server::unknown(product))?;
    Ok((from.schema, to.schema))
}

/// Parses by the grammar below the PostgreSQL reader, each statement alone as the reader does, for
/// the cost of the grammar.
fn parse_alone(text: &str) {
    for statement in text.split_inclusive(";\n") {
        let input = LexedStr::new(statement).to_input();
        std::hint::black_box(EntryPoint::SourceFile.parse(&input));
    }
}

fn mysql_with_itself() -> Result<f64, Box<dyn Error>> {
    let text = mysql_tables(2_000);
    println!("  {} bytes", text.len());
    fastest(|| {
        let (from, to) = read_both(&text, &text, Product::Mysql)?;
        let plan = schema::plan(&from, &to, &PlanOptions::default())?;
        match plan.statements.len() {
            0 => Ok((from, to)),
            left => Err(format!("{left} statements between equal schemas").into()),
        }
    })
}

fn postgres_plan() -> Result<f64, Box<dyn Error>> {
    let (before, after) = (
        postgres_tables(1_400, ""),
        postgres_tables(1_400, "    added text,\n"),
    );
    println!("  {} bytes", before.len());
    let parser = fastest(|| {
        parse_alone(&before);
        parse_alone(&after);
        Ok(())
    })?;
    println!(
        "  {:8.1} ms for squawk-parser alone, on one core, with both texts",
        parser * 1e3
    );
    fastest(|| {
        let (from, to) = read_both(&before, &after, Product::Postgres)?;
        let plan = schema::plan(&from, &to, &PlanOptions::default())?;
        match plan.statements.len() {
            1_400.. => Ok((from, to, plan)),
            found => Err(format!("{found} statements instead of one a table").into()),
        }
    })
}

fn hostile(product: Product) -> Result<f64, Box<dyn Error>> {
    let mut slowest: f64 = 0.0;
    for (head, piece) in HOSTILE {
        let text = format!("{head}{}", piece.repeat(HOSTILE_BYTES / piece.len()));
        let start = Instant::now();
        // Most are no SQL, which is an answer as well.
        let _ = read(&text, product);
        let seconds = start.elapsed().as_secs_f64();
        println!("  {:8.1} ms {head}{piece}…", seconds * 1e3);
        slowest = slowest.max(seconds);
    }
    Ok(slowest)
}

fn mysql_export(variable: &str) -> Result<f64, Box<dyn Error>> {
    let mut address = MysqlAddress::from_url(&server(variable)?).map_err(|error| error.message)?;
    let connect =
        |address: &MysqlAddress| schema_db::mysql::connect(address).map_err(|error| error.message);
    let mut admin = connect(&address)?;
    let name = format!("hakaru_bench_{}", std::process::id());
    execute(&mut admin, &format!("CREATE DATABASE {name}"))?;
    address.database.clone_from(&name);
    let measured = connect(&address)
        .map_err(Into::into)
        .and_then(|mut database| {
            for table in mysql_tables(EXPORTED_TABLES).split_inclusive(";\n") {
                execute(&mut database, table)?;
            }
            exports(&mut database)
        });
    execute(&mut admin, &format!("DROP DATABASE {name}"))?;
    measured
}

fn postgres_export(variable: &str) -> Result<f64, Box<dyn Error>> {
    let connect = |dbname: Option<&str>| -> Result<_, Box<dyn Error>> {
        let address = PostgresAddress {
            url: Some(server(variable)?),
            dbname: dbname.map(str::to_owned),
            ..PostgresAddress::default()
        };
        Ok(schema_db::postgres::connect(&address).map_err(|error| error.message)?)
    };
    let mut admin = connect(None)?;
    let name = format!("hakaru_bench_{}", std::process::id());
    execute(&mut admin, &format!("CREATE DATABASE {name}"))?;
    let measured = connect(Some(&name)).and_then(|mut database| {
        // One after the other: a transaction with all of them needs more locks than a server has.
        for statement in postgres_tables(EXPORTED_TABLES, "").split_inclusive(";\n") {
            execute(&mut database, statement)?;
        }
        exports(&mut database)
    });
    execute(&mut admin, &format!("DROP DATABASE {name}"))?;
    measured
}

fn server(variable: &str) -> Result<String, Box<dyn Error>> {
    std::env::var(variable).map_err(|_| format!("{variable} is not set").into())
}

fn execute(database: &mut dyn Database, sql: &str) -> Result<(), Box<dyn Error>> {
    Ok(database.execute(sql).map_err(|error| error.message)?)
}

fn exports(database: &mut dyn Database) -> Result<f64, Box<dyn Error>> {
    fastest(|| {
        let text = database.export().map_err(|error| error.message)?;
        match text.matches("CREATE TABLE").count() {
            EXPORTED_TABLES => Ok(()),
            found => Err(format!("{found} tables instead of {EXPORTED_TABLES}").into()),
        }
    })
}

/// About 400 bytes each.
fn mysql_tables(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let _ = write!(
            text,
            "CREATE TABLE `table_{number}` (\n  `id` bigint unsigned NOT NULL AUTO_INCREMENT,\n  \
             `name` varchar(255) NOT NULL DEFAULT '',\n  `price` decimal(10,2) DEFAULT NULL,\n  \
             `state` enum('new','done') NOT NULL DEFAULT 'new' COMMENT 'where it stands',\n  \
             `created_at` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,\n  PRIMARY KEY (`id`),\n  \
             KEY `by_name` (`name`,`created_at`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n"
        );
    }
    text
}

/// About 1,430 bytes each; `column` is one more in the middle.
fn postgres_tables(count: usize, column: &str) -> String {
    let mut text = String::new();
    for number in 0..count {
        let _ = write!(
            text,
            "CREATE TABLE public.table_{number} (\n    id bigint GENERATED BY DEFAULT AS IDENTITY,\n{column}"
        );
        for place in 0..15 {
            let _ = writeln!(
                text,
                "    column_{place} character varying(255) DEFAULT ''::character varying NOT NULL,"
            );
        }
        let _ = write!(
            text,
            "    CONSTRAINT table_{number}_pkey PRIMARY KEY (id),\n    \
             CONSTRAINT table_{number}_check CHECK ((length((column_0)::text) > 0))\n);\n\
             CREATE INDEX table_{number}_by_1 ON public.table_{number} USING btree (column_1, column_2);\n"
        );
    }
    text
}

//! What a PostgreSQL's own lookups and plans cost, asked by the real program.

use std::process::Command;

use serde_json::Value;

use crate::support::{document, program};

/// A database of 1,700 blocks with a column in no order of the rows, and a copy of the database's
/// files: no block of the copy is in the server's buffers.
const MAKE: &str = "
  run.('DROP DATABASE IF EXISTS doctor_blocks_copy')
  run.('DROP DATABASE IF EXISTS doctor_blocks')
  run.('CREATE DATABASE doctor_blocks')
  made = PG.connect(ENV['DATABASE_URL'].sub(%r{/[^/]*\\z}, '/doctor_blocks'))
  made.exec(\"CREATE TABLE facts (id INT PRIMARY KEY, shelf INT NOT NULL, pad CHAR(200) NOT NULL)\")
  made.exec(\"INSERT INTO facts SELECT n, n * 7919 % 1000, 'x' FROM generate_series(1, 50000) n\")
  made.exec('CREATE INDEX ON facts (shelf)')
  made.exec('VACUUM ANALYZE facts')
  made.close
  run.('CREATE DATABASE doctor_blocks_copy TEMPLATE doctor_blocks STRATEGY file_copy')
";
const DROP: &str = "
  run.('DROP DATABASE doctor_blocks_copy')
  run.('DROP DATABASE doctor_blocks')
";

fn ruby(url: &str, script: &str) {
    let connect = "
      require 'pg'
      server = PG.connect(ENV['DATABASE_URL'])
      server.exec('SET client_min_messages = warning')
      run = ->(sql) { server.exec(sql) }
    ";
    let output = Command::new("ruby")
        .args(["-e", &format!("{connect}{script}")])
        .env("DATABASE_URL", url)
        .output()
        .expect("a Ruby");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Doctor's document on a database of a server.
fn of_database(url: &str, name: &str) -> Value {
    let (server, _) = url.rsplit_once('/').expect("a database");
    let folder = tempfile::tempdir().expect("a folder");
    let database = format!("{server}/{name}");
    let mut command = program();
    command
        .args(["doctor", "--json", "--only", "database", "--database"])
        .arg(&database)
        .current_dir(folder.path());
    document(&mut command)
}

#[test]
fn blocks_that_are_missing_and_ranges_are_measured_and_nothing_is_written() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        let url = std::env::var(variable)
            .unwrap_or_else(|_| panic!("{variable} is not set; run with cargo xtask with-servers"));
        ruby(&url, MAKE);
        // Everything is in the buffers of the one, and nothing of the other.
        let (warm, cold) = (
            of_database(&url, "doctor_blocks"),
            of_database(&url, "doctor_blocks_copy"),
        );
        ruby(&url, DROP);
        let server = |document: &Value| document["snapshot"]["databases"][0].clone();
        assert!(server(&warm)["miss_ns"].is_null(), "{variable}");
        let miss_ns = server(&cold)["miss_ns"].as_f64();
        assert!(
            miss_ns.is_some_and(|ns| ns > 0.0),
            "{variable}: {miss_ns:?}"
        );
        let ranges = &server(&warm)["ranges"];
        assert_eq!(ranges["asked"], 80, "{variable}: {ranges}");
        let changed = ranges["changed"].as_u64();
        assert!(changed > Some(0), "{variable}: {ranges}");
    }
}

/// Indexes of which only the last two are double.
const INDEXES: &str = "
  run.('DROP DATABASE IF EXISTS doctor_indexes')
  run.('CREATE DATABASE doctor_indexes')
  made = PG.connect(ENV['DATABASE_URL'].sub(%r{/[^/]*\\z}, '/doctor_indexes'))
  made.exec('CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b TEXT, c INT)')
  made.exec('CREATE INDEX by_pattern ON t (a text_pattern_ops)')
  made.exec('CREATE INDEX by_text ON t (a, b)')
  made.exec('CREATE INDEX with_payload ON t (b) INCLUDE (c)')
  made.exec('CREATE INDEX by_pair ON t (b, c)')
  made.exec('CREATE INDEX by_one ON t (c)')
  made.exec('CREATE INDEX by_two ON t (c, a)')
  made.close
";

#[test]
fn indexes_with_other_operators_or_without_the_order_are_not_double() {
    let variable = "HAKARU_TEST_POSTGRES_URL";
    let url = std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set; run with cargo xtask with-servers"));
    ruby(&url, INDEXES);
    let document = of_database(&url, "doctor_indexes");
    ruby(&url, "run.('DROP DATABASE doctor_indexes')");
    let double = &document["snapshot"]["databases"][0]["lists"]["double indexes"];
    assert_eq!(
        *double,
        serde_json::json!(["by_one is the beginning of by_two"])
    );
}

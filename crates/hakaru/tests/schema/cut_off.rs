//! Interrupted runs: killed after each statement, or disconnected by the server. The next run ends
//! at the wanted schema.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::program::{Folder, Said, said};
use crate::server::{Door, Scratch};

/// The schema before: tables with a row each, and a view, unwanted and protected from a drop.
const BEFORE: [&str; 8] = [
    "CREATE TABLE t0 (id int NOT NULL PRIMARY KEY, a int)",
    "CREATE TABLE t1 (id int NOT NULL PRIMARY KEY, a int)",
    "CREATE TABLE gone (id int NOT NULL PRIMARY KEY)",
    "INSERT INTO t0 VALUES (1, 10)",
    "INSERT INTO t1 VALUES (2, 20)",
    "INSERT INTO gone VALUES (3)",
    "CREATE VIEW v0 AS SELECT id FROM t0",
    "CREATE INDEX t1_a ON t1 (a)",
];

/// Fewest statements of the plan.
const STATEMENTS_MIN: usize = 20;

/// The schema after: new tables, columns, indexes and views.
fn wanted() -> String {
    let mut sql = String::new();
    for table in ["t0", "t1"] {
        sql += &format!("CREATE TABLE {table} (id int NOT NULL PRIMARY KEY, a int, b int);\n");
        sql += &format!("CREATE INDEX {table}_b ON {table} (b);\n");
    }
    sql += "CREATE INDEX t1_a ON t1 (a);\nCREATE VIEW v0 AS SELECT id FROM t0;\n";
    for number in 0..9 {
        sql += &format!("CREATE TABLE n{number} (id int NOT NULL PRIMARY KEY, a int);\n");
        sql += &format!("CREATE INDEX n{number}_a ON n{number} (a);\n");
    }
    sql
}

fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(&[&["schema"], arguments].concat());
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The statements of the plan.
fn planned(folder: &Folder, place: &str) -> Vec<String> {
    let said = folder
        .schema(&[
            "plan",
            place,
            "--to",
            "schema.sql",
            "--scratch",
            "never",
            "--json",
        ])
        .ended(0);
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let statements = json["statements"].as_array().unwrap().iter();
    let applied = statements.filter(|statement| statement["held_back"].is_null());
    applied
        .map(|statement| statement["sql"].as_str().unwrap().to_owned())
        .collect()
}

/// Kills the program after each statement in turn; a further run must then finish the work.
fn killed_after_each_statement(variable: &str, more: &[&str]) {
    let folder = Folder::new();
    folder.write("schema.sql", wanted());
    let first = Scratch::on(variable);
    first.execute(&BEFORE);
    let statements = planned(&folder, &first.url);
    assert!(statements.len() >= STATEMENTS_MIN, "{statements:#?}");
    for statement in &statements {
        let scratch = Scratch::on(variable);
        scratch.execute(&BEFORE);
        let mut door = Door::new(&scratch, statement);
        let place = scratch.url_at(&door.address);
        let apply = ["apply", &place, "--to", "schema.sql", "--scratch", "never"];
        let mut child = spawn(&folder, &[&apply, more].concat());
        door.wait();
        child.kill().unwrap();
        child.wait().unwrap();
        door.slam();
        ends_as_wanted(&folder, &scratch, more);
    }
}

#[track_caller]
fn ends_as_wanted(folder: &Folder, scratch: &Scratch, more: &[&str]) {
    let apply = ["apply", &scratch.url, "--to", "schema.sql"];
    // 3: all is as wanted, as the run itself has looked, but for the table that nobody wants.
    folder.schema(&[&apply, more].concat()).ended(3);
    assert_eq!(scratch.ask("SELECT a FROM t0"), ["10"]);
    assert_eq!(scratch.ask("SELECT a FROM t1"), ["20"]);
    assert_eq!(scratch.ask("SELECT id FROM gone"), ["3"]);
    // Other tests have journals on the same server.
    let (_, own) = scratch.url.rsplit_once('/').unwrap();
    let tables = scratch.ask(&format!(
        "SELECT table_name FROM information_schema.tables \
         WHERE table_name = '_hakaru_journal' AND table_schema IN ('public', '{own}')"
    ));
    assert_eq!(tables, [""; 0], "the journal is gone");
}

#[test]
fn sqlite_killed_at_each_statement() {
    let folder = Folder::new();
    folder.write("schema.sql", wanted());
    folder.sqlite("first.db", &BEFORE.join(";"));
    let statements = planned(&folder, "sqlite:first.db");
    assert!(statements.len() >= STATEMENTS_MIN, "{statements:#?}");
    for number in 1..=statements.len() {
        let name = format!("{number}.db");
        folder.sqlite(&name, &BEFORE.join(";"));
        let place = format!("sqlite:{name}");
        let mut child = spawn(&folder, &["apply", &place, "--to", "schema.sql"]);
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let start = format!("{number}/{} ", statements.len());
        let reached = lines
            .map_while(Result::ok)
            .any(|line| line.starts_with(&start));
        assert!(reached, "no line {start}");
        child.kill().unwrap();
        child.wait().unwrap();
        folder
            .schema(&["apply", &place, "--to", "schema.sql"])
            .ended(3);
        assert_eq!(folder.ask(&name, "SELECT a FROM t0"), ["10"]);
        assert_eq!(folder.ask(&name, "SELECT id FROM gone"), ["3"]);
    }
}

#[test]
fn mariadb_killed_after_each_statement() {
    killed_after_each_statement("HAKARU_TEST_MARIADB_URL", &[]);
}

#[test]
fn mariadb_118_killed_after_each_statement() {
    killed_after_each_statement("HAKARU_TEST_MARIADB118_URL", &[]);
}

#[test]
fn mysql_killed_after_each_statement() {
    killed_after_each_statement("HAKARU_TEST_MYSQL_URL", &[]);
}

#[test]
fn postgres_killed_after_each_statement() {
    killed_after_each_statement("HAKARU_TEST_POSTGRES_URL", &[]);
}

#[test]
fn postgres_18_killed_after_each_statement_without_a_transaction() {
    killed_after_each_statement("HAKARU_TEST_POSTGRES18_URL", &["--no-transaction"]);
}

/// The server goes in the middle of a run.
fn left_by_the_server(variable: &str) -> Said {
    let folder = Folder::new();
    folder.write("schema.sql", wanted());
    let scratch = Scratch::on(variable);
    scratch.execute(&BEFORE);
    let statements = planned(&folder, &scratch.url);
    let mut door = Door::new(&scratch, &statements[statements.len() / 2]);
    let place = scratch.url_at(&door.address);
    let child = spawn(
        &folder,
        &["apply", &place, "--to", "schema.sql", "--scratch", "never"],
    );
    door.wait();
    door.slam();
    let said = said(&child.wait_with_output().unwrap());
    ends_as_wanted(&folder, &scratch, &[]);
    said
}

#[test]
fn a_server_that_goes_midway_is_named_with_what_is_done() {
    left_by_the_server("HAKARU_TEST_MARIADB_URL")
        .ended(9)
        .has_err("run again when it is back")
        .has_err(" statements are done; run again to go on from there");
    left_by_the_server("HAKARU_TEST_POSTGRES_URL")
        .ended(9)
        .has_err("run again when it is back")
        .has_err("nothing was changed");
}

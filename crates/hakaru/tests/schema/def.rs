//! The drop-in names: flags, texts and exit codes, on SQLite and between files.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::program::{Folder, Said, feed, said};
use crate::server::Scratch;

/// A folder with the drop-in names.
fn folder() -> Folder {
    let folder = Folder::new();
    let output = folder.command(&["links", "."]).output().unwrap();
    said(&output)
        .ended(0)
        .has_out("./mysqldef\n./psqldef\n./sqlite3def\n./benchmark-driver\n");
    folder
}

/// Runs a drop-in with a wanted schema on standard input.
fn run(folder: &Folder, tool: &str, arguments: &[&str], wanted: &str) -> Said {
    let child = Command::new(folder.path().join(tool))
        .args(arguments)
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    said(&feed(child, wanted))
}

const WANTED: &str = "CREATE TABLE users (\n  id integer NOT NULL\n);\n";

#[test]
fn dry_run_apply_and_export_print_what_sqldef_prints() {
    let folder = folder();
    let sqlite3def =
        |arguments: &[&str], wanted: &str| run(&folder, "sqlite3def", arguments, wanted);
    let shown = sqlite3def(&["app.db", "--dry-run"], WANTED).ended(0).out;
    assert_eq!(
        shown,
        "-- dry run --\nBEGIN;\nCREATE TABLE users (\n  id integer NOT NULL\n);\nCOMMIT;\n"
    );
    assert_eq!(
        sqlite3def(&["app.db", "--export"], "").ended(0).out,
        "-- No table exists --\n"
    );
    let applied = sqlite3def(&["app.db"], WANTED).ended(0).out;
    assert_eq!(applied, shown.replace("-- dry run --", "-- Apply --"));
    for arguments in [
        &["app.db"][..],
        &["app.db", "--check"],
        &["app.db", "--dry-run", "--enable-drop"],
    ] {
        assert_eq!(
            sqlite3def(arguments, WANTED).ended(0).out,
            "-- Nothing is modified --\n"
        );
    }
    let two = WANTED.to_owned() + "CREATE TABLE posts (\n  id integer\n);\n";
    sqlite3def(&["app.db", "--apply"], &two).ended(0);
    assert_eq!(
        sqlite3def(&["app.db", "--export"], "").ended(0).out,
        "CREATE TABLE users (\n  id integer NOT NULL\n);\n\nCREATE TABLE posts (\n  id integer\n);\n"
    );
}

#[test]
fn drops_are_skipped_unless_enabled() {
    let folder = folder();
    folder.sqlite(
        "app.db",
        "CREATE TABLE users (id integer NOT NULL); CREATE TABLE old (id integer);",
    );
    let sqlite3def = |arguments: &[&str]| run(&folder, "sqlite3def", arguments, WANTED);
    let skipped = "BEGIN;\n-- Skipped: DROP TABLE \"old\";\nCOMMIT;\n";
    assert_eq!(
        sqlite3def(&["app.db"]).ended(0).out,
        format!("-- Apply --\n{skipped}")
    );
    assert_eq!(
        sqlite3def(&["app.db", "--check"]).ended(2).out,
        format!("-- dry run --\n{skipped}")
    );
    let only = ["app.db", "--config-inline", "target_tables: users"];
    assert_eq!(
        sqlite3def(&only).ended(0).out,
        "-- Nothing is modified --\n"
    );
    folder.write("drop.yml", "enable_drop: true\n");
    sqlite3def(&["app.db", "--config", "drop.yml"])
        .ended(0)
        .has_out("BEGIN;\nDROP TABLE \"old\";\nCOMMIT;\n");
    sqlite3def(&["app.db", "--config-inline", "enable_dorp: true"])
        .ended(1)
        .has_err("enable_dorp");
}

#[test]
fn a_file_can_stand_for_the_database() {
    let folder = folder();
    folder.write("current.sql", "CREATE TABLE a (id integer);");
    folder.write("1.sql", "CREATE TABLE a (id integer);");
    folder.write("2.sql", "CREATE TABLE b (id integer);");
    let shown = run(
        &folder,
        "sqlite3def",
        &["current.sql", "-f", "1.sql,2.sql"],
        "",
    )
    .ended(0)
    .out;
    assert_eq!(
        shown,
        "-- dry run --\nBEGIN;\nCREATE TABLE b (id integer);\nCOMMIT;\n"
    );
    let same = ["current.sql", "--file", "current.sql"];
    for tool in ["mysqldef", "psqldef", "sqlite3def"] {
        let said = run(&folder, tool, &same, "");
        assert_eq!(
            said.out, "-- Nothing is modified --\n",
            "{tool}: {}",
            said.err
        );
    }
}

#[test]
fn the_old_spelling_of_a_rename_is_warned_about() {
    let folder = folder();
    folder.write("current.sql", "CREATE TABLE t (a int);");
    for (tool, quote) in [("mysqldef", "`"), ("psqldef", "\""), ("sqlite3def", "\"")] {
        let wanted = "CREATE TABLE t (\n  b int -- @rename from=a\n);\n";
        let said = run(&folder, tool, &["current.sql"], wanted).ended(0);
        let warning = "-- WARNING: @rename is deprecated. Please use @renamed instead.\n";
        assert!(said.err.contains(warning), "{tool}: {}", said.err);
        let name = format!("{quote}b{quote}");
        assert!(said.out.contains(&name), "{tool}: {}", said.out);
    }
}

#[test]
fn mistakes_end_with_1_and_are_named() {
    let folder = folder();
    let sqlite3def =
        |arguments: &[&str], wanted: &str| run(&folder, "sqlite3def", arguments, wanted).ended(1);
    sqlite3def(&[], "").has_out("No database is specified!\n\nUsage: sqlite3def");
    sqlite3def(&["a", "b"], "").has_out("Multiple databases are given: [a b]\n");
    sqlite3def(&["--skip-view", "a"], "").has_out("unexpected argument '--skip-view'");
    sqlite3def(&["app.db", "--file", "missing.sql"], "")
        .has_err("Failed to read '[missing.sql]': cannot read missing.sql");
    sqlite3def(
        &["app.db"],
        "CREATE TABLE a (id integer,\n  PRIMARY KEY id)\n",
    )
    .has_err("found syntax error when parsing DDL \"")
    .has_err(" at line 2, column ");
    sqlite3def(&["no/such/folder/app.db"], WANTED).has_err("cannot open no/such/folder/app.db");
}

#[test]
fn versions_and_help() {
    let folder = folder();
    let version = run(&folder, "mysqldef", &["--version"], "").ended(0).out;
    assert!(version.starts_with("3.11.20 (hakaru "), "{version}");
    for (tool, flag) in [
        ("mysqldef", "--enable-cleartext-plugin"),
        ("psqldef", "--skip-partition"),
    ] {
        run(&folder, tool, &["--help"], "").ended(0).has_out(flag);
    }
}

#[test]
fn the_names_replace_nothing_unasked() {
    let folder = folder();
    let links = |arguments: &[&str]| {
        let arguments = [&["links", "."], arguments].concat();
        said(&folder.command(&arguments).output().unwrap())
    };
    links(&[]).ended(0);
    let path: PathBuf = folder.path().join("psqldef");
    std::fs::remove_file(&path).unwrap();
    folder.write("psqldef", "mine");
    links(&[])
        .ended(1)
        .has_err("./psqldef is there already and something else");
    assert_eq!(folder.read("psqldef"), "mine");
    links(&["--force"]).ended(0);
    said(&folder.command(&["links", "new/bin"]).output().unwrap()).ended(0);
    assert!(folder.path().join("new/bin/psqldef").exists());
    assert!(std::fs::read_link(&path).is_ok());
}

/// A drop-in on a server: applied, then nothing to do, then exported to what gives nothing to do
/// again.
fn on_server(tool: &str, variable: &str, quote: &str) {
    let folder = folder();
    let scratch = Scratch::on(variable);
    let (login, rest) = scratch
        .url
        .split_once("://")
        .unwrap()
        .1
        .split_once('@')
        .unwrap();
    let (user, password) = login.split_once(':').unwrap();
    let (address, database) = rest.split_once('/').unwrap();
    let (host, port) = address.split_once(':').unwrap();
    let ways = match tool {
        "mysqldef" => ["-u", "-p", "-h", "-P"],
        _ => ["-U", "-W", "-h", "-p"],
    };
    let login = [
        ways[0], user, ways[1], password, ways[2], host, ways[3], port, database,
    ];
    let run = |more: &[&str], wanted: &str| run(&folder, tool, &[&login, more].concat(), wanted);
    let first = "CREATE TABLE users (\n  id bigint NOT NULL PRIMARY KEY,\n  old int\n);\n";
    let applied = run(&[], first).ended(0).out;
    assert_eq!(applied, format!("-- Apply --\nBEGIN;\n{first}COMMIT;\n"));
    assert_eq!(run(&[], first).ended(0).out, "-- Nothing is modified --\n");
    let second = "CREATE TABLE users (\n  id bigint NOT NULL PRIMARY KEY\n);\n";
    let dropped = format!("DROP COLUMN {quote}old{quote};\n");
    let skipped = run(&["--check"], second).ended(2).out;
    assert!(
        skipped.contains("-- Skipped: ALTER TABLE") && skipped.contains(&dropped),
        "{skipped}"
    );
    run(&["--enable-drop"], second).ended(0).has_out(&dropped);
    let exported = run(&["--export"], "").ended(0).out;
    assert_eq!(
        run(&["--dry-run"], &exported).ended(0).out,
        "-- Nothing is modified --\n"
    );
    let before = run(&["--dry-run", "--before-apply", "SELECT 1;"], first)
        .ended(0)
        .out;
    assert!(
        before.starts_with("-- dry run --\nBEGIN;\nSELECT 1;\nALTER TABLE"),
        "{before}"
    );
}

#[test]
fn mysqldef_on_a_server() {
    on_server("mysqldef", "HAKARU_TEST_MARIADB_URL", "`");
    on_server("mysqldef", "HAKARU_TEST_MYSQL_URL", "`");
}

#[test]
fn psqldef_on_a_server() {
    on_server("psqldef", "HAKARU_TEST_POSTGRES_URL", "\"");
}

#[test]
fn tls_is_asked_for_by_sqldefs_flags() {
    let folder = folder();
    let address = |scratch: &Scratch| {
        let (_, rest) = scratch.url.rsplit_once('@').unwrap();
        let (host, database) = rest.split_once('/').unwrap();
        let port = host.rsplit_once(':').unwrap().1.to_owned();
        (port, database.to_owned())
    };
    let mysqldef = |scratch: &Scratch, flags: &[&str]| {
        let (port, database) = address(scratch);
        let login = ["-uhakaru", "-phakaru", "-P", &port, &database, "--export"];
        run(&folder, "mysqldef", &[&login, flags].concat(), "")
    };
    // This one speaks no TLS, the newer one shows a certificate that nobody signed.
    let (plain, secure) = (
        Scratch::on("HAKARU_TEST_MARIADB_URL"),
        Scratch::on("HAKARU_TEST_MARIADB118_URL"),
    );
    mysqldef(&plain, &["--ssl-mode=PREFERRED"]).ended(0);
    mysqldef(&plain, &["--ssl-mode=REQUIRED"])
        .ended(1)
        .has_err("speaks no TLS");
    mysqldef(&secure, &["--ssl-mode=preferred"]).ended(0);
    mysqldef(&secure, &["--ssl-mode=REQUIRED"])
        .ended(1)
        .has_err("certificate");
    mysqldef(&secure, &["--ssl-ca=missing.pem"])
        .ended(1)
        .has_err("missing.pem");
    let postgres = Scratch::on("HAKARU_TEST_POSTGRES_URL");
    let (port, database) = address(&postgres);
    for (mode, words) in [
        ("verify-full", "TLS"),
        ("maybe", "sslmode=maybe is not known"),
    ] {
        let mut command = Command::new(folder.path().join("psqldef"));
        command.args(["-U", "hakaru", "-p", &port, &database, "--export"]);
        command.env("PGSSLMODE", mode).env("HOME", folder.path());
        said(&command.output().unwrap()).ended(1).has_err(words);
    }
}

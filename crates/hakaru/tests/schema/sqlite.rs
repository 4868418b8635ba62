//! Plan, check, apply and export on SQLite.

use std::process::{Command, Stdio};

use crate::program::{Folder, feed, said};

const BEFORE: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, nick TEXT, name TEXT);
INSERT INTO users VALUES (1, 'a', 'Anne'), (2, 'b', 'Ben');";

const AFTER: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users (id));
CREATE INDEX posts_by_user ON posts (user_id);
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.sqlite("app.db", BEFORE);
    folder.write("schema.sql", AFTER);
    folder
}

#[test]
fn a_plan_says_what_each_statement_can_harm_and_changes_nothing() {
    let folder = folder();
    let said = folder.schema(&["plan", "--from", "sqlite:app.db", "--to", "schema.sql"]);
    said.ended(0)
        .has_out("--   rewrites: table users is written anew\n")
        .has_out("SELECT * FROM \"users\" WHERE \"name\" IS NULL")
        .has_out("--   held back: to apply it, say --allow drop-column:users.nick\n")
        .has_out("CREATE INDEX posts_by_user ON posts (user_id);\n")
        .has_err("1 held back");
    let tables = "SELECT name FROM sqlite_schema";
    assert_eq!(folder.ask("app.db", tables), ["users"]);
}

#[test]
fn apply_holds_back_what_nobody_allowed_and_a_second_run_has_nothing_else_to_do() {
    let folder = folder();
    let apply = ["apply", "sqlite:app.db", "--to", "schema.sql"];
    folder.schema(&apply).ended(3).has_err("1/");
    let nicks = "SELECT nick FROM users ORDER BY id";
    assert_eq!(folder.ask("app.db", nicks), ["a", "b"]);
    folder
        .schema(&apply)
        .ended(3)
        .has_err("0 statements to apply, 1 held back");
    let allowed = [&apply[..], &["--allow", "drop-column:users.nick"]].concat();
    folder.schema(&allowed).ended(0);
    folder.schema(&apply).ended(0).has_out("-- nothing to do\n");
    let names = "SELECT name FROM users ORDER BY id";
    assert_eq!(folder.ask("app.db", names), ["Anne", "Ben"]);
    let columns = "SELECT name FROM pragma_table_info('users')";
    assert_eq!(folder.ask("app.db", columns), ["id", "name"]);
}

#[test]
fn check_tells_by_its_code_whether_two_schemas_differ() {
    let folder = folder();
    let check = ["check", "sqlite:app.db", "--to", "schema.sql"];
    folder.schema(&check).ended(2);
    folder
        .schema(&[
            "apply",
            "sqlite:app.db",
            "--to",
            "schema.sql",
            "--enable-drop",
        ])
        .ended(0);
    folder
        .schema(&check)
        .ended(0)
        .has_err("the two schemas are the same");
    folder.schema(&["check", "--no-such-flag"]).ended(1);
    folder
        .schema(&["check", "schema.sql", "--to", "schema.sql"])
        .ended(1)
        .has_err("--dialect");
}

#[test]
fn any_two_places_can_be_compared() {
    let folder = folder();
    folder.write("schema/1.sql", AFTER.lines().next().unwrap());
    let rest: Vec<&str> = AFTER.lines().skip(1).collect();
    folder.write("schema/sub/2.sql", rest.join("\n"));
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "commit",
            "-q",
            "-m",
            "m",
        ],
    ] {
        let mut git = Command::new("git");
        let done = git
            .args(arguments)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .status();
        assert!(done.unwrap().success(), "git {arguments:?}");
    }
    let same = |from: &str, to: &str| {
        let arguments = ["check", "--from", from, "--to", to, "--dialect", "sqlite"];
        folder.schema(&arguments).ended(0);
    };
    same("schema.sql", "schema/");
    same("git:HEAD:schema.sql", "schema/");
    same("git:HEAD:schema", "schema.sql");
    folder.write("schema.sql", "CREATE TABLE other (id);");
    let arguments = [
        "schema",
        "plan",
        "--from",
        "git:HEAD:schema.sql",
        "--to",
        "-",
        "--dialect",
        "sqlite",
    ];
    let child = folder
        .command(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = feed(
        child,
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);",
    );
    said(&output).ended(0).has_out("-- DROP TABLE \"posts\";");
    folder
        .schema(&["plan", "--from", "-", "--to", "-", "--dialect", "sqlite"])
        .ended(1)
        .has_err("standard input can be only one of the two");
}

#[test]
fn a_plan_is_json_for_programs() {
    let folder = folder();
    let said = folder
        .schema(&["plan", "sqlite:app.db", "--to", "schema.sql", "--json"])
        .ended(0);
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["format"], "hakaru-schema-plan");
    assert_eq!(json["version"], 1);
    let statements = json["statements"].as_array().unwrap();
    let held: Vec<_> = statements
        .iter()
        .filter(|s| !s["held_back"].is_null())
        .collect();
    assert_eq!(held.len(), 1, "{json:#}");
    assert_eq!(held[0]["permission"], "drop-column:users.nick");
    assert_eq!(held[0]["hazards"][0]["kind"], "data-loss");
}

#[test]
fn an_exported_schema_is_the_same_schema_in_one_file_and_in_many() {
    let folder = folder();
    folder
        .schema(&[
            "apply",
            "sqlite:app.db",
            "--to",
            "schema.sql",
            "--enable-drop",
        ])
        .ended(0);
    let said = folder.schema(&["export", "sqlite:app.db"]).ended(0);
    folder.write("exported.sql", &said.out);
    folder
        .schema(&["check", "sqlite:app.db", "--to", "exported.sql"])
        .ended(0);
    folder
        .schema(&["export", "sqlite:app.db", "--split", "split"])
        .ended(0)
        .has_err("wrote 2 files");
    assert!(
        folder
            .read("split/20-table-posts.sql")
            .contains("posts_by_user")
    );
    folder
        .schema(&["check", "sqlite:app.db", "--to", "split"])
        .ended(0);
    folder
        .schema(&["export", "sqlite:app.db", "--split", "split"])
        .ended(1)
        .has_err("name an empty folder");
}

#[test]
fn a_failed_statement_leaves_everything_as_it_was() {
    let folder = Folder::new();
    folder.sqlite(
        "app.db",
        "CREATE TABLE a (n); INSERT INTO a VALUES (1), (1);",
    );
    folder.write(
        "schema.sql",
        "CREATE TABLE a (n); CREATE TABLE b (n); CREATE UNIQUE INDEX i ON a (n);",
    );
    folder
        .schema(&["apply", "sqlite:app.db", "--to", "schema.sql"])
        .ended(1)
        .has_err("CREATE UNIQUE INDEX i ON a (n)")
        .has_err("nothing was changed");
    assert_eq!(
        folder.ask("app.db", "SELECT name FROM sqlite_schema"),
        ["a"]
    );
}

#[test]
fn what_is_not_compared_has_a_code_of_its_own_until_it_is_allowed() {
    let folder = folder();
    folder.write("wanted.sql", "CREATE TABLE a (b); GRANT ALL ON a TO me;\n");
    let plain = ["plan", "sqlite:app.db", "--to", "wanted.sql"];
    folder
        .schema(&plain)
        .ended(13)
        .has_err("not seen: statement, 1: ");
    let allowed = folder.schema(&[&plain[..], &["--json", "--allow-unseen"]].concat());
    let allowed = allowed.ended(0);
    let plan: serde_json::Value = serde_json::from_str(&allowed.out).unwrap();
    assert_eq!(plan["unseen"][0]["kind"], "statement");
    folder.sqlite("app.db", "PRAGMA user_version = 3");
    folder
        .schema(&["export", "sqlite:app.db"])
        .ended(13)
        .has_err("not seen: pragma, 1: user_version = 3");
}

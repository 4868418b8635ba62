//! Stored plans, executed later.

use crate::program::Folder;

fn planned(more: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.sqlite(
        "app.db",
        "CREATE TABLE a (id, old); CREATE TABLE b (id); INSERT INTO b VALUES (1);",
    );
    folder.write("schema.sql", "CREATE TABLE a (id, n); CREATE TABLE c (id);");
    let plan = [
        "plan",
        "sqlite:app.db",
        "--to",
        "schema.sql",
        "--out",
        "plan.json",
    ];
    folder
        .schema(&[&plan, more].concat())
        .ended(0)
        .has_err("wrote plan.json");
    folder
}

const TABLES: &str = "SELECT name FROM sqlite_schema ORDER BY name";

#[test]
fn a_kept_plan_does_what_it_said_and_no_more() {
    let folder = planned(&["--allow", "drop-column:a.old"]);
    // What is wanted may change; the plan does not.
    folder.write("schema.sql", "");
    folder.schema(&["apply", "plan.json"]).ended(3);
    assert_eq!(folder.ask("app.db", TABLES), ["a", "b", "c"]);
    let columns = "SELECT name FROM pragma_table_info('a')";
    assert_eq!(folder.ask("app.db", columns), ["id", "n"]);
    folder.schema(&["apply", "plan.json"]).ended(11);
}

#[test]
fn it_is_refused_when_the_server_changed_meanwhile() {
    let folder = planned(&[]);
    folder.sqlite("app.db", "CREATE TABLE d (id)");
    folder
        .schema(&["apply", "plan.json"])
        .ended(11)
        .has_err("is not as it was when plan.json was made; make a new plan");
    assert_eq!(folder.ask("app.db", TABLES), ["a", "b", "d"]);
}

#[test]
fn rows_may_change_meanwhile_and_another_server_may_be_named() {
    let folder = planned(&["--enable-drop"]);
    folder.sqlite("app.db", "INSERT INTO b VALUES (2)");
    std::fs::copy(folder.path().join("app.db"), folder.path().join("copy.db")).unwrap();
    folder
        .schema(&["apply", "plan.json", "--from", "sqlite:copy.db"])
        .ended(0);
    assert_eq!(folder.ask("copy.db", TABLES), ["a", "c"]);
    assert_eq!(folder.ask("app.db", TABLES), ["a", "b"]);
}

#[test]
fn what_is_no_plan_is_said() {
    let folder = planned(&[]);
    folder.write("other.json", "{}");
    folder
        .schema(&["apply", "other.json"])
        .ended(1)
        .has_err("it is no plan");
    folder
        .schema(&["apply", "missing.json"])
        .ended(1)
        .has_err("cannot use missing.json");
    folder
        .schema(&["apply", "plan.json", "--enable-drop"])
        .ended(1)
        .has_err("says itself what may be destroyed");
    folder
        .schema(&["apply", "sqlite:app.db"])
        .ended(1)
        .has_err("what is wanted?");
    folder
        .schema(&["apply", "schema.sql", "--to", "schema.sql"])
        .ended(1)
        .has_err("only a server can be changed");
}

//! `--online`: the same schema as without the flag, by steps without long waits.

mod mysql;

use crate::program::Folder;
use crate::server::{Scratch, connect};

const BEFORE: &str = "CREATE TABLE a (id bigint NOT NULL PRIMARY KEY);
CREATE TABLE t (id bigint NOT NULL, a_id bigint, name varchar(20), n integer);";

const AFTER: &str = "CREATE TABLE a (id bigint NOT NULL PRIMARY KEY);
CREATE TABLE t (id bigint NOT NULL PRIMARY KEY, a_id bigint NOT NULL, name varchar(40), n integer DEFAULT 3,
  CONSTRAINT t_name UNIQUE (name), CONSTRAINT t_n CHECK (n > 0), CONSTRAINT t_a FOREIGN KEY (a_id) REFERENCES a (id));
CREATE INDEX t_new ON t (a_id, n);";

fn reached(variable: &str) {
    let (folder, server, offline) = (Folder::new(), Scratch::on(variable), Scratch::on(variable));
    folder.write("before.sql", BEFORE);
    folder.write("after.sql", AFTER);
    for url in [&server.url, &offline.url] {
        let apply = ["apply", url.as_str(), "--to", "before.sql"];
        folder.schema(&apply).ended(0);
    }
    let plain = ["apply", &offline.url, "--to", "after.sql"];
    folder.schema(&plain).ended(0);
    let online = ["apply", &server.url, "--to", "after.sql", "--online"];
    folder
        .schema(&online)
        .ended(0)
        .has_out("CREATE UNIQUE INDEX CONCURRENTLY")
        .has_out("VALIDATE CONSTRAINT t_a");
    let check = ["check", &server.url, "--to", "after.sql", "--online"];
    folder.schema(&check).ended(0);
    let export = |url: &str| folder.schema(&["export", url]).ended(0).out;
    assert_eq!(export(&server.url), export(&offline.url));
}

#[test]
fn the_online_way_ends_where_the_other_does_on_postgresql_15() {
    reached("HAKARU_TEST_POSTGRES_URL");
}

#[test]
fn the_online_way_ends_where_the_other_does_on_postgresql_18() {
    reached("HAKARU_TEST_POSTGRES18_URL");
}

#[test]
fn what_gets_no_lock_gives_up_and_what_rewrites_is_held_back() {
    let (folder, server) = (Folder::new(), Scratch::on("HAKARU_TEST_POSTGRES_URL"));
    server.execute(&["CREATE TABLE t (id integer NOT NULL, n integer)"]);
    folder.write(
        "wide.sql",
        "CREATE TABLE t (id bigint NOT NULL, n integer);",
    );
    let wide = ["apply", &server.url, "--to", "wide.sql", "--online"];
    folder
        .schema(&wide)
        .ended(3)
        .has_out("--allow offline-column:t.id");
    folder.write(
        "more.sql",
        "CREATE TABLE t (id integer NOT NULL, n integer DEFAULT 1);",
    );
    let mut reader = connect(&server.url);
    reader.execute("BEGIN").unwrap();
    reader.query("SELECT * FROM t").unwrap();
    let more = ["apply", &server.url, "--to", "more.sql", "--online"];
    let hurried = [&more[..], &["--online-wait", "10ms", "--online-tries", "3"]].concat();
    folder.schema(&hurried).ended(7).has_err("try 2 of 3");
    reader.execute("COMMIT").unwrap();
    folder.schema(&more).ended(0);
}

#[test]
fn a_kept_plan_knows_that_it_is_for_tables_in_use() {
    let (folder, server) = (Folder::new(), Scratch::on("HAKARU_TEST_POSTGRES_URL"));
    server.execute(&["CREATE TABLE t (id integer NOT NULL, n integer)"]);
    folder.write(
        "more.sql",
        "CREATE TABLE t (id integer NOT NULL, n integer DEFAULT 1);",
    );
    let plan = [
        "plan",
        &server.url,
        "--to",
        "more.sql",
        "--out",
        "plan.json",
    ];
    folder.schema(&plan).ended(0);
    folder
        .schema(&["apply", "plan.json", "--from", &server.url, "--online"])
        .ended(1)
        .has_err("make it anew with --online");
    folder.schema(&[&plan[..], &["--online"]].concat()).ended(0);
    let mut reader = connect(&server.url);
    reader.execute("BEGIN").unwrap();
    reader.query("SELECT * FROM t").unwrap();
    let apply = ["apply", "plan.json", "--from", &server.url];
    let hurried = [
        &apply[..],
        &["--online-wait", "10ms", "--online-tries", "3"],
    ]
    .concat();
    folder.schema(&hurried).ended(7).has_err("try 2 of 3");
    reader.execute("COMMIT").unwrap();
    folder.schema(&apply).ended(0);
}

#[test]
fn what_a_failed_build_left_goes_whatever_it_is_called() {
    let (folder, server) = (Folder::new(), Scratch::on("HAKARU_TEST_POSTGRES_URL"));
    let table = "CREATE TABLE \"a ON b\" (id integer NOT NULL, \"c (d\" integer)";
    let index = "CREATE UNIQUE INDEX \"i ON j (k\" ON \"a ON b\" (\"c (d\")";
    server.execute(&[table, "INSERT INTO \"a ON b\" VALUES (1, 7), (2, 7)"]);
    folder.write("wanted.sql", format!("{table};\n{index};\n"));
    let apply = ["apply", &server.url, "--to", "wanted.sql", "--online"];
    let beside = ["apply", &server.url, "--to", "wanted.sql", "--concurrently"];
    let invalid = "SELECT count(*)::text FROM pg_index WHERE NOT indisvalid";
    for apply in [&apply, &beside, &apply] {
        folder
            .schema(apply)
            .ended(1)
            .has_err("the next run removes it before it builds again");
        assert_eq!(server.ask(invalid), ["1"]);
    }
    server.execute(&["UPDATE \"a ON b\" SET \"c (d\" = id"]);
    let said = folder.schema(&apply).ended(0);
    assert!(!said.err.contains("not seen"), "{}", said.err);
    assert_eq!(server.ask(invalid), ["0"]);
    let check = ["check", &server.url, "--to", "wanted.sql"];
    folder.schema(&check).ended(0);
}

/// Replaces `k`: the old one stays until the rows fit the new one, then only one is left.
fn replaced(before: &str, after: &str) {
    let (folder, server) = (Folder::new(), Scratch::on("HAKARU_TEST_POSTGRES_URL"));
    let table =
        "CREATE TABLE t (id integer NOT NULL PRIMARY KEY, a integer NOT NULL, b integer NOT NULL)";
    let rows = "INSERT INTO t VALUES (1, 1, 7), (2, 2, 7)";
    server.execute(&[table, before, rows]);
    folder.write("wanted.sql", format!("{table};\n{after};\n"));
    let state = "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 't'::regclass \
                 AND indisvalid AND NOT indisprimary ORDER BY 1";
    let old = server.ask(state);
    let apply = ["apply", &server.url, "--to", "wanted.sql", "--online"];
    folder.schema(&apply).ended(1);
    assert_eq!(server.ask(state), old, "{after}");
    server.execute(&["UPDATE t SET b = id"]);
    folder.schema(&apply);
    let check = ["check", &server.url, "--to", "wanted.sql", "--online"];
    folder.schema(&check).ended(0);
    assert_eq!(server.ask(state).len(), old.len());
}

#[test]
fn what_is_replaced_goes_when_the_new_one_is_there() {
    let indexes = [
        "CREATE UNIQUE INDEX k ON t (a)",
        "CREATE UNIQUE INDEX k ON t (b)",
    ];
    replaced(indexes[0], indexes[1]);
    let keys = [
        "ALTER TABLE t ADD CONSTRAINT k UNIQUE (a)",
        "ALTER TABLE t ADD CONSTRAINT k UNIQUE (b)",
    ];
    replaced(keys[0], keys[1]);
}

/// The foreign keys and checks in force, without constraints still to be validated.
const IN_FORCE: &str = "SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint \
                        WHERE conrelid = 't'::regclass AND contype IN ('f', 'c') AND convalidated ORDER BY 1";

#[test]
fn a_foreign_key_and_a_check_are_in_force_until_the_rows_fit_the_new_ones() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        let (folder, server) = (Folder::new(), Scratch::on(variable));
        let tables =
            "CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE q (id integer PRIMARY KEY);";
        let of = |parent: &str, least: u8| {
            format!(
                "{tables} CREATE TABLE t (id integer PRIMARY KEY, a integer, b integer, \
                 CONSTRAINT one FOREIGN KEY (a) REFERENCES {parent} (id), \
                 CONSTRAINT other FOREIGN KEY (b) REFERENCES {parent} (id) ON DELETE CASCADE, \
                 CONSTRAINT low CHECK (a > {least}));"
            )
        };
        folder.write("before.sql", of("p", 0));
        folder.write("wanted.sql", of("q", 2));
        let first = ["apply", &server.url, "--to", "before.sql"];
        folder.schema(&first).ended(0);
        let old = server.ask(IN_FORCE);
        let apply = ["apply", &server.url, "--to", "wanted.sql", "--online"];
        server.execute(&[
            "INSERT INTO p VALUES (1), (7)",
            "INSERT INTO t VALUES (1, 1, 7)",
        ]);
        folder.schema(&apply).ended(1).has_err("low");
        assert_eq!(server.ask(IN_FORCE), old);
        server.execute(&["UPDATE t SET a = 7"]);
        folder.schema(&apply).ended(1).has_err("foreign key");
        let now = server.ask(IN_FORCE);
        assert!(now.contains(&old[2]) && now.contains(&old[1]), "{now:?}");
        server.execute(&["INSERT INTO q VALUES (7)"]);
        folder.schema(&apply).ended(0);
        let check = ["check", &server.url, "--to", "wanted.sql", "--online"];
        folder.schema(&check).ended(0);
        assert_eq!(server.ask(IN_FORCE).len(), old.len());
    }
}

//! Roles and users as part of a schema, on real servers.

use crate::program::Folder;
use crate::server::Scratch;

/// What differs between servers: statements with `APP` and `READERS` as the names.
struct Case {
    variable: &'static str,
    /// Creates both, with a table.
    made: &'static [&'static str],
    /// Replacements in the text: the role may do less, and more.
    changed: &'static [(&'static str, &'static str)],
    /// Words of the held-back statements.
    held_back: &'static [&'static str],
    /// Removes both.
    gone: &'static [&'static str],
}

const POSTGRES: Case = Case {
    variable: "HAKARU_TEST_POSTGRES_URL",
    made: &[
        "CREATE ROLE READERS NOINHERIT",
        "CREATE USER APP CONNECTION LIMIT 5 VALID UNTIL '2030-01-31' PASSWORD 'x9secret'",
        "ALTER ROLE APP SET search_path = app, \"$user\"",
        "ALTER ROLE APP SET work_mem = '8MB'",
        "GRANT READERS TO APP WITH ADMIN OPTION",
        "COMMENT ON ROLE APP IS 'it''s the app'",
        "CREATE TABLE t (a int)",
        "GRANT SELECT ON t TO READERS",
    ],
    changed: &[
        ("CONNECTION LIMIT 5", "CREATEDB"),
        (" WITH ADMIN OPTION", ""),
        ("8MB", "9MB"),
    ],
    held_back: &[
        "opens access: APP without CONNECTION LIMIT 5",
        "--allow revoke-membership:APP.READERS",
    ],
    gone: &["DROP TABLE t", "DROP ROLE APP", "DROP ROLE READERS"],
};

const MYSQL: Case = Case {
    variable: "HAKARU_TEST_MYSQL_URL",
    made: &[
        "CREATE ROLE READERS",
        "CREATE USER APP@localhost IDENTIFIED BY 'x9secret' REQUIRE SSL WITH MAX_USER_CONNECTIONS 5",
        "GRANT READERS TO APP@localhost WITH ADMIN OPTION",
        "GRANT RELOAD, PROCESS ON *.* TO APP@localhost",
        "CREATE TABLE t (a int)",
        "GRANT SELECT ON t TO READERS",
    ],
    changed: &[
        (" REQUIRE SSL", ""),
        (" WITH ADMIN OPTION", ""),
        ("CONNECTIONS 5", "CONNECTIONS 9"),
        ("RELOAD, ", "RELOAD, SHUTDOWN, "),
        (", PROCESS", ""),
    ],
    held_back: &[
        "opens access: APP@localhost without REQUIRE SSL",
        "--allow revoke-membership:APP@localhost.READERS",
        "--allow revoke-role-privilege:APP@localhost.process",
    ],
    gone: &[
        "DROP TABLE t",
        "DROP USER APP@localhost",
        "DROP ROLE READERS",
    ],
};

#[test]
fn roles_of_postgres_go_there_and_change() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        go_and_change(&Case {
            variable,
            ..POSTGRES
        });
    }
}

#[test]
fn roles_and_users_of_mysql_go_there_and_change() {
    for variable in [
        "HAKARU_TEST_MYSQL_URL",
        "HAKARU_TEST_MARIADB_URL",
        "HAKARU_TEST_MARIADB118_URL",
    ] {
        go_and_change(&Case { variable, ..MYSQL });
    }
}

fn go_and_change(case: &Case) {
    let scratch = Scratch::on(case.variable);
    let folder = Folder::new();
    let url = scratch.url.as_str();
    // Roles are the whole server's, on which other tests run.
    let (app, readers) = (own("app"), own("readers"));
    let named = |sql: &str| sql.replace("APP", &app).replace("READERS", &readers);
    let execute = |statements: &[&str]| {
        let all: Vec<String> = statements.iter().map(|sql| named(sql)).collect();
        scratch.execute(&all.iter().map(String::as_str).collect::<Vec<_>>());
    };
    let roles = ["--role", &app, "--role", &readers];
    let exported = || {
        let said = folder.schema(&[&["export", url], &roles[..]].concat());
        said.ended(0).out.clone()
    };
    let all = [&roles[..], &["--managed-role", &readers]].concat();
    let plan = |more: &[&str]| {
        let to = ["plan", url, "--to", "schema.sql"];
        folder.schema(&[&to[..], &all, more].concat())
    };
    execute(case.made);
    let text = named(&case.made.join(";\n"));
    folder.write("schema.sql", &text);
    plan(&[]).ended(0).has_err("nothing to do");

    let export = exported();
    assert!(!export.contains("x9secret"), "{export}");
    execute(case.gone);
    let statements: Vec<&str> = export.split(";\n").map(str::trim).collect();
    let statements = statements.into_iter().filter(|sql| !sql.is_empty());
    scratch.execute(&statements.collect::<Vec<_>>());
    assert_eq!(exported(), export, "{}", case.variable);

    let mut changed = case.made.join(";\n");
    for (from, to) in case.changed {
        assert!(changed.contains(from), "{from}");
        changed = changed.replacen(from, to, 1);
    }
    folder.write("schema.sql", named(&changed));
    let said = plan(&[]);
    case.held_back
        .iter()
        .fold(said, |said, words| said.has_out(&named(words)));
    plan(&["--enable-drop", "--out", "plan.json"]).ended(0);
    folder
        .schema(&["apply", "plan.json", "--from", url])
        .ended(0);
    plan(&[]).ended(0).has_err("nothing to do");

    // A text that creates no role changes none; without the option its statements are named.
    let table = "CREATE TABLE t (a int)";
    folder.write("schema.sql", table);
    folder
        .schema(&[&["plan", url, "--to", "schema.sql"], &roles[..]].concat())
        .ended(0)
        .has_err("nothing to do");
    folder.write(
        "schema.sql",
        named(&format!("CREATE ROLE READERS; {table}")),
    );
    folder
        .schema(&["plan", url, "--to", "schema.sql"])
        .ended(13)
        .has_err("kept as it is and not compared: CREATE ROLE");
    execute(case.gone);
}

fn own(name: &str) -> String {
    format!("hakaru_{name}_{}", std::process::id())
}

#[test]
fn sqlite_has_none() {
    let folder = Folder::new();
    folder.sqlite("app.db", "CREATE TABLE a (id)");
    folder
        .schema(&["export", "sqlite:app.db", "--role", "app"])
        .ended(1)
        .has_err("SQLite has no roles");
}

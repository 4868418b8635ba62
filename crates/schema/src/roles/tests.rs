use crate::{Allowed, PlanOptions, Product, Schema, Server, Source};

fn read(product: Product, text: &str) -> (Schema, usize) {
    let source = Source {
        name: "text".to_owned(),
        text: text.to_owned(),
    };
    let names = ["app".to_owned(), "readers".to_owned()];
    let loaded = crate::read_with_roles(&[source], &Server::unknown(product), &names).unwrap();
    (loaded.schema, loaded.notes.len())
}

/// The statements from one text to another, held-back ones behind `--`.
fn way(product: Product, from: &str, to: &str) -> Vec<String> {
    let (from, to) = (read(product, from).0, read(product, to).0);
    let mut plan = crate::plan(&from, &to, &PlanOptions::default()).unwrap();
    plan.hold_back(&Allowed::default());
    plan.statements.iter().map(crate::Statement::line).collect()
}

#[test]
fn a_postgres_role_is_created_with_all_that_the_text_says() {
    let text = "CREATE USER app WITH CONNECTION LIMIT 5 VALID UNTIL '2030-01-31' PASSWORD 'x';
        ALTER ROLE app SET search_path = app, \"$user\";
        ALTER ROLE app IN DATABASE d SET work_mem TO '8MB';
        GRANT readers TO app WITH ADMIN OPTION; COMMENT ON ROLE app IS 'the app''s';
        CREATE ROLE readers NOLOGIN;";
    let expected = [
        "CREATE ROLE app CONNECTION LIMIT 5 LOGIN VALID UNTIL '2030-01-31 00:00:00+00' PASSWORD 'x'",
        "CREATE ROLE readers",
        "GRANT readers TO app WITH ADMIN TRUE, INHERIT TRUE",
        "ALTER ROLE app SET search_path TO 'app', '$user'",
        "ALTER ROLE app IN DATABASE d SET work_mem TO '8MB'",
        "COMMENT ON ROLE app IS 'the app''s'",
    ];
    assert_eq!(way(Product::Postgres, "", text), expected);
    assert!(way(Product::Postgres, text, text).is_empty());
    // Nothing is dropped or altered without a role in the text.
    assert!(way(Product::Postgres, text, "").is_empty());
}

#[test]
fn what_a_role_may_no_longer_do_waits_for_a_yes() {
    let from = "CREATE ROLE app LOGIN CREATEDB CONNECTION LIMIT 5; GRANT readers TO app;
        ALTER ROLE app SET work_mem TO '8MB'";
    let to = "CREATE ROLE app CREATEROLE LOGIN CONNECTION LIMIT 7";
    let expected = [
        "ALTER ROLE app CONNECTION LIMIT 7",
        "ALTER ROLE app CREATEROLE",
        "-- ALTER ROLE app NOCREATEDB",
        "-- REVOKE readers FROM app",
        "-- ALTER ROLE app RESET work_mem",
    ];
    assert_eq!(way(Product::Postgres, from, to), expected);
    let to = "CREATE ROLE app LOGIN CREATEDB CONNECTION LIMIT 3; GRANT readers TO app WITH INHERIT FALSE;
        ALTER ROLE app SET work_mem TO '9MB'";
    let expected = [
        "ALTER ROLE app SET work_mem TO '9MB'",
        "-- ALTER ROLE app CONNECTION LIMIT 3",
        "-- GRANT readers TO app WITH INHERIT FALSE",
    ];
    assert_eq!(way(Product::Postgres, from, to), expected);
    let to =
        "CREATE ROLE app LOGIN CREATEDB; GRANT readers TO app; ALTER ROLE app SET work_mem = '8MB'";
    assert_eq!(
        way(Product::Postgres, from, to),
        ["-- ALTER ROLE app CONNECTION LIMIT -1"]
    );
}

#[test]
fn statements_about_others_stay_in_the_text_and_are_noted() {
    let noted = |text: &str| read(Product::Postgres, text).1;
    let created = "CREATE ROLE app;\n";
    assert_eq!(noted(created), 0);
    for left in [
        "CREATE ROLE other",
        "ALTER ROLE ALL SET work_mem = '8MB'",
        "ALTER ROLE app RENAME TO other",
        "GRANT app TO other",
        "CREATE ROLE readers ROLE other",
        "ALTER ROLE app VALID UNTIL 'tomorrow'",
        "GRANT readers TO app, other",
    ] {
        assert_eq!(noted(&format!("{created}{left};")), 1, "{left}");
    }
    // A role that no text creates is nobody's to alter.
    assert_eq!(noted("GRANT readers TO app"), 1);
    let (schema, _) = read(Product::Postgres, "CREATE ROLE app; CREATE TABLE t (a int)");
    assert_eq!(schema.statements()[0], "CREATE ROLE app");
    assert_eq!(schema.compared().len(), 1);
}

#[test]
fn a_user_of_mysql_is_created_and_altered() {
    let text = "CREATE ROLE readers; CREATE USER app@'%' IDENTIFIED WITH caching_sha2_password BY 'x'
        DEFAULT ROLE readers REQUIRE SSL WITH MAX_USER_CONNECTIONS 5 PASSWORD EXPIRE NEVER ACCOUNT LOCK;
        GRANT readers TO app; GRANT RELOAD, PROCESS ON *.* TO app WITH GRANT OPTION;";
    let expected = [
        "CREATE USER `app`@`%` IDENTIFIED WITH caching_sha2_password BY 'x' REQUIRE SSL WITH MAX_USER_CONNECTIONS 5 ACCOUNT LOCK PASSWORD EXPIRE NEVER",
        "CREATE ROLE `readers`@`%`",
        "GRANT USAGE ON *.* TO `app`@`%` WITH GRANT OPTION",
        "GRANT PROCESS ON *.* TO `app`@`%` WITH GRANT OPTION",
        "GRANT RELOAD ON *.* TO `app`@`%` WITH GRANT OPTION",
        "GRANT `readers`@`%` TO `app`@`%`",
        "SET DEFAULT ROLE `readers`@`%` TO `app`@`%`",
    ];
    assert_eq!(way(Product::Mysql, "", text), expected);
    assert!(way(Product::Mysql, text, text).is_empty());
    let to = "CREATE ROLE readers; CREATE USER app WITH MAX_USER_CONNECTIONS 9 ACCOUNT LOCK; GRANT RELOAD ON *.* TO app";
    let expected = [
        "ALTER USER `app`@`%` WITH MAX_USER_CONNECTIONS 9",
        "-- ALTER USER `app`@`%` REQUIRE NONE",
        "-- REVOKE GRANT OPTION ON *.* FROM `app`@`%`",
        "-- REVOKE PROCESS ON *.* FROM `app`@`%`",
        "-- REVOKE `readers`@`%` FROM `app`@`%`",
        "-- SET DEFAULT ROLE NONE TO `app`@`%`",
    ];
    assert_eq!(way(Product::Mysql, text, to), expected);
    let role = way(
        Product::MariaDb,
        "",
        "CREATE ROLE readers; SET DEFAULT ROLE readers FOR app;
        CREATE USER app IDENTIFIED VIA unix_socket; GRANT ALL ON *.* TO app",
    );
    assert_eq!(role[0], "CREATE USER `app` IDENTIFIED VIA unix_socket");
    assert_eq!(role[3], "SET DEFAULT ROLE `readers` FOR `app`");
}

#[test]
fn a_user_without_a_password_is_not_created() {
    let from = read(Product::Mysql, "").0;
    let plan = |text: &str| {
        let to = read(Product::Mysql, text).0;
        crate::plan(&from, &to, &PlanOptions::default())
    };
    let error = plan("CREATE USER app@localhost").unwrap_err();
    assert!(error.message.contains("states no password"), "{error}");
    assert!(plan("CREATE USER app@localhost ACCOUNT LOCK").is_ok());
    let random = "CREATE USER app@localhost IDENTIFIED BY RANDOM PASSWORD REQUIRE SSL";
    assert_eq!(
        plan(random).unwrap().statements[0].sql,
        "CREATE USER `app`@`localhost` IDENTIFIED BY RANDOM PASSWORD REQUIRE SSL"
    );
}

#[test]
fn a_login_on_several_lines_is_one_line_of_a_plan() {
    let text = "CREATE USER app@localhost IDENTIFIED WITH caching_sha2_password -- strong
        BY 'x' # hidden
        REQUIRE SUBJECT 's' AND ISSUER \"i\" PASSWORD EXPIRE INTERVAL 90 DAY;";
    let expected = "CREATE USER `app`@`localhost` IDENTIFIED WITH caching_sha2_password BY 'x' \
        REQUIRE ISSUER 'i' SUBJECT 's' PASSWORD EXPIRE INTERVAL 90 DAY";
    assert_eq!(way(Product::Mysql, "", text), [expected]);
}

#[test]
fn inheritance_comes_back_with_a_yes_only() {
    let role = "CREATE ROLE app LOGIN";
    let check = |from: &str, to: &str, expected: &[&str]| {
        assert_eq!(way(Product::Postgres, from, to), expected, "{from} to {to}");
    };
    let member = format!("{role}; GRANT readers TO app");
    let bars = format!("{role} NOINHERIT; GRANT readers TO app");
    let expected = [
        "-- ALTER ROLE app INHERIT",
        "-- GRANT readers TO app WITH INHERIT TRUE",
    ];
    check(&bars, &member, &expected);
    let barred = format!("{member} WITH INHERIT FALSE");
    check(&barred, &member, &expected[1..]);
}

#[test]
fn attributes_beside_a_password_count_and_the_password_at_creation() {
    let text = "CREATE ROLE app; ALTER ROLE app WITH NOSUPERUSER INHERIT LOGIN PASSWORD 'SCRAM-SHA-256$x';";
    assert_eq!(
        way(Product::Postgres, "", text),
        ["CREATE ROLE app LOGIN PASSWORD 'SCRAM-SHA-256$x'"]
    );
    assert_eq!(
        way(Product::Postgres, "CREATE ROLE app", text),
        ["ALTER ROLE app LOGIN"]
    );
    let text =
        "CREATE USER app ACCOUNT LOCK; ALTER USER app IDENTIFIED BY 'x' REQUIRE SSL ACCOUNT UNLOCK";
    assert_eq!(
        way(Product::MariaDb, "", text),
        ["CREATE USER `app` IDENTIFIED BY 'x' REQUIRE SSL"]
    );
}

#[test]
fn settings_are_numbers_names_and_strings() {
    let check = |setting: &str, expected: &str| {
        let text = format!("CREATE ROLE app; ALTER ROLE app SET {setting}");
        let expected = format!("ALTER ROLE app SET {expected}");
        assert_eq!(
            way(Product::Postgres, "", &text)[1..],
            [expected],
            "{setting}"
        );
    };
    check("random_page_cost = 1.1", "random_page_cost TO '1.1'");
    check("work_mem TO\r\n'8MB'", "work_mem TO '8MB'");
    check(
        "search_path = a, -- first\n \"B\"",
        "search_path TO 'a', 'B'",
    );
    check("app.path = E'C:\\\\x'", "app.path TO E'C:\\\\x'");
    let noted = read(
        Product::Postgres,
        "CREATE ROLE app; ALTER ROLE app SET a = 1 + 1",
    )
    .1;
    assert_eq!(noted, 1);
}

#[test]
fn all_privileges_are_no_list_of_single_ones() {
    let app = "CREATE USER app IDENTIFIED BY 'x';";
    let (all, one) = ("GRANT ALL ON *.* TO app", "GRANT RELOAD ON *.* TO app");
    let check = |product: Product, from: &str, to: &str, expected: &[&str]| {
        let (from, to) = (format!("{app} {from}"), format!("{app} {to}"));
        assert_eq!(way(product, &from, &to), expected, "{from} to {to}");
    };
    check(
        Product::MariaDb,
        one,
        all,
        &["GRANT ALL PRIVILEGES ON *.* TO `app`"],
    );
    let back = [
        "-- REVOKE ALL PRIVILEGES ON *.* FROM `app`",
        "-- GRANT RELOAD ON *.* TO `app`",
    ];
    check(Product::MariaDb, all, one, &back);
    let monitor = "GRANT REPLICATION CLIENT ON *.* TO app";
    let stored = "GRANT BINLOG MONITOR ON *.* TO app";
    check(Product::MariaDb, stored, monitor, &[]);
    // On MySQL the server has the list of its version, so that the statement is noted.
    check(Product::Mysql, one, all, &[]);
    assert_eq!(read(Product::Mysql, &format!("{app} {all}")).1, 1);
    let new = way(Product::Mysql, "", &format!("{app} {all}"));
    assert_eq!(new[1], "GRANT ALL PRIVILEGES ON *.* TO `app`@`%`");
}

#[test]
fn default_roles_may_be_all_memberships() {
    let text = "CREATE USER app IDENTIFIED BY 'x'; GRANT a, b TO app; SET DEFAULT ROLE ALL TO app";
    let all = way(Product::Mysql, "", text);
    assert_eq!(
        all.last().unwrap(),
        "SET DEFAULT ROLE `a`@`%`, `b`@`%` TO `app`@`%`"
    );
    let others = "CREATE USER app ACCOUNT LOCK; SET DEFAULT ROLE a TO other";
    assert_eq!(read(Product::Mysql, others).1, 1);
}

#[test]
fn who_could_log_in_as_anybody_is_not_created() {
    let from = read(Product::Mysql, "").0;
    let is_made = |way: &str| {
        let to = read(Product::Mysql, &format!("create user app@localhost {way}")).0;
        crate::plan(&from, &to, &PlanOptions::default()).is_ok()
    };
    for closed in [
        "identified by 'x'",
        "IDENTIFIED WITH 'caching_sha2_password' AS '$A$005$x'",
        "IDENTIFIED WITH auth_socket",
        "IDENTIFIED VIA unix_socket OR mysql_native_password USING 'invalid'",
    ] {
        assert!(is_made(closed), "{closed}");
    }
    for open in [
        "IDENTIFIED BY ''",
        "IDENTIFIED WITH caching_sha2_password",
        "",
    ] {
        assert!(!is_made(open), "{open}");
    }
}

#[test]
fn passwords_are_forgotten_and_other_logins_kept() {
    let forgotten = |text: &str| {
        let mut schema = read(Product::Mysql, text).0;
        schema.forget_logins();
        schema.statements().remove(0)
    };
    let rules = "FAILED_LOGIN_ATTEMPTS 3 PASSWORD EXPIRE DEFAULT COMMENT 'c'";
    assert_eq!(
        forgotten(&format!(
            "CREATE USER app IDENTIFIED WITH 'caching_sha2_password' AS '$A$x' {rules}"
        )),
        "CREATE USER `app`@`%` IDENTIFIED BY RANDOM PASSWORD FAILED_LOGIN_ATTEMPTS 3 COMMENT 'c'"
    );
    assert_eq!(
        forgotten("CREATE USER app IDENTIFIED WITH auth_socket"),
        "CREATE USER `app`@`%` IDENTIFIED WITH auth_socket"
    );
}

#[test]
fn what_is_cut_leaves_places_and_comments_whole() {
    let text =
        "COMMENT ON ROLE app IS 'Gr\u{f6}\u{df}e'; CREATE ROLE app; CREATE TABLE t (a int,,)";
    let source = Source {
        name: "text".to_owned(),
        text: text.to_owned(),
    };
    let server = Server::unknown(Product::Postgres);
    let names = ["app".to_owned()];
    let error = crate::read_with_roles(&[source], &server, &names).unwrap_err();
    let comma = text.chars().take_while(|letter| *letter != '(').count();
    assert!(
        error.column > comma && error.column < comma + 12,
        "{error:?}"
    );
    let noted = |text: &str| read(Product::Mysql, text).1;
    assert_eq!(
        noted("CREATE USER app IDENTIFIED BY 'x' /*!80016 ACCOUNT LOCK */"),
        1
    );
    assert_eq!(noted("CREATE USER app IDENTIFIED BY 'x' COMMENT"), 1);
    assert_eq!(noted("CREATE ROLE app -- x\n"), 0);
}

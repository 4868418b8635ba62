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
    let text = |statement: crate::Statement| match statement.held_back {
        Some(_) => format!("-- {}", statement.sql),
        None => statement.sql,
    };
    plan.statements.into_iter().map(text).collect()
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
        "ALTER ROLE app PASSWORD 'x'",
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

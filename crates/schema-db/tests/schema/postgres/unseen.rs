//! What is not compared is named.

use schema_db::{Database, runner};

use super::Databases;
use crate::bench::{self, Bench};

/// Statements, and kind and name of what each adds.
const OBJECTS: [(&str, &str, &str); 2] = [
    (
        "DO $$ BEGIN EXECUTE format('REVOKE USAGE ON LANGUAGE plpgsql FROM %I', \
             (SELECT pg_get_userbyid(lanowner) FROM pg_language WHERE lanname = 'plpgsql')); END $$",
        "privilege of an owner",
        "USAGE on language plpgsql",
    ),
    (
        "CREATE TABLE t (a int PRIMARY KEY); ALTER TABLE t REPLICA IDENTITY USING INDEX t_pkey",
        "replica identity",
        "public.t",
    ),
];

#[test]
fn what_is_not_compared_is_named() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        let bench = Databases::new(variable, None);
        // Some of this is in no schema, so that cleaning the database would leave it.
        let (name, mut database) = bench.make();
        let database: &mut dyn Database = &mut database;
        let all = |database: &mut dyn Database| -> Vec<(String, String)> {
            let unseen = database.unseen().unwrap().into_iter();
            unseen.map(|each| (each.kind, each.name)).collect()
        };
        assert_eq!(all(database), [], "{variable}: an empty database");
        let mut expected = Vec::new();
        for (sql, kind, name) in OBJECTS {
            database.execute(sql).unwrap();
            expected.push((kind.to_owned(), name.to_owned()));
            expected.sort();
            let mut found = all(database);
            found.sort();
            assert_eq!(found, expected, "{variable}: {sql}");
        }
        super::server(&bench.url, None)
            .execute(&format!("DROP DATABASE {name} WITH (FORCE)"))
            .unwrap();
    }
}

#[test]
fn nothing_of_the_whole_server_is_made_where_a_schema_is_tried_out() {
    let bench = Databases::new("HAKARU_TEST_POSTGRES_URL", None);
    let mut scratch = bench.empty();
    let database = scratch.database();
    let role = format!("hakaru_tried_{}", std::process::id());
    let text = format!(
        "CREATE ROLE {role}; ALTER DATABASE postgres SET work_mem = '6MB'; CREATE TABLE t (a int DEFAULT (1 + 1));"
    );
    database.execute("CREATE TABLE t (a int)").unwrap();
    let from = bench::load_whole(&database.export().unwrap(), &database.server().clone()).unwrap();
    let source = schema::Source {
        name: "wanted".to_owned(),
        text,
    };
    let mut wanted = schema::read(&[source], database.server()).unwrap().schema;
    let settings = runner::Settings {
        options: schema::PlanOptions::default(),
        allowed: schema::Allowed::default(),
        scratch: runner::Scratch::Always,
        keep: &|_| true,
    };
    let plan = runner::plan(&from, &mut wanted, Some(database), &settings).unwrap();
    assert_eq!(plan.statements.len(), 1);
    let made = format!(
        "SELECT rolname FROM pg_roles WHERE rolname = '{role}' UNION ALL SELECT 'a setting' FROM pg_db_role_setting \
         WHERE 'work_mem=6MB' = ANY (setconfig)"
    );
    assert_eq!(database.query(&made).unwrap(), [[None::<String>; 0]; 0]);
}

#[test]
fn an_index_of_a_partitioned_table_reaches_its_partitions() {
    let bench = Databases::new("HAKARU_TEST_POSTGRES_URL", None);
    let mut scratch = bench.empty();
    let made = [
        "CREATE TABLE p (id int, at date NOT NULL) PARTITION BY RANGE (at)",
        "CREATE TABLE p_rest PARTITION OF p DEFAULT",
        "CREATE UNIQUE INDEX i ON p (id, at)",
    ];
    bench::run(&mut *scratch, made.into_iter()).unwrap();
    let text = scratch.database().export().unwrap();
    let mut other = bench.empty();
    bench::reach(&mut *other, &text).unwrap();
    let valid = "SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indrelid \
                 WHERE relname IN ('p', 'p_rest') AND indisvalid AND indisunique";
    let rows = other.database().query(valid).unwrap();
    assert_eq!(rows, [[Some("2".to_owned())]]);
}

/// What a database has, what is wanted, and what must be so afterwards.
const MADE_AGAIN: [([&str; 5], &str, &str); 6] = [
    (
        [
            "CREATE TABLE t (a int)",
            "CREATE VIEW v AS SELECT a FROM t",
            "GRANT SELECT ON v TO PUBLIC",
            "GRANT SELECT ON v TO user2",
            "ALTER VIEW v OWNER TO user1",
        ],
        "CREATE TABLE t (a bigint); CREATE VIEW v AS SELECT a FROM t;",
        "SELECT viewowner = 'user1' AND (SELECT atttypid = 'bigint'::regtype FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'a') \
             AND has_table_privilege('user3', 'v', 'SELECT') FROM pg_views WHERE viewname = 'v'",
    ),
    (
        [
            "CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
            "REVOKE ALL ON FUNCTION f(int) FROM PUBLIC",
            "GRANT EXECUTE ON FUNCTION f(int) TO user2 WITH GRANT OPTION",
            "ALTER FUNCTION f(int) OWNER TO user1",
            "CREATE TABLE t (a int)",
        ],
        "CREATE FUNCTION f(a int) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT 2::bigint'; CREATE TABLE t (a int);",
        "SELECT proowner = 'user1'::regrole AND prorettype = 'bigint'::regtype AND NOT has_function_privilege('user3', oid, 'EXECUTE') \
             AND has_function_privilege('user2', oid, 'EXECUTE WITH GRANT OPTION') FROM pg_proc WHERE proname = 'f'",
    ),
    (
        [
            "CREATE TABLE t (a int)",
            "CREATE VIEW v AS SELECT a FROM t",
            "ALTER VIEW v OWNER TO user1",
            "REVOKE INSERT ON v FROM user1",
            "CREATE TABLE u (a int)",
        ],
        "CREATE TABLE t (a bigint); CREATE VIEW v AS SELECT a FROM t; CREATE TABLE u (a int);",
        "SELECT viewowner = 'user1' AND has_table_privilege('user1', 'v', 'SELECT') AND NOT has_table_privilege('user1', 'v', 'INSERT') \
             FROM pg_views WHERE viewname = 'v'",
    ),
    (
        [
            "CREATE TYPE mood AS ENUM ('sad', 'glad')",
            "CREATE TABLE t (a mood)",
            "ALTER TYPE mood OWNER TO user1",
            "REVOKE USAGE ON TYPE mood FROM user1",
            "CREATE DOMAIN pos AS int",
        ],
        "CREATE TYPE mood AS ENUM ('glad'); CREATE TABLE t (a mood); CREATE DOMAIN pos AS int;",
        "SELECT typowner = 'user1'::regrole AND NOT typacl @> array[makeaclitem('user1'::regrole, 'user1'::regrole, 'USAGE', false)] \
             FROM pg_type WHERE typname = 'mood'",
    ),
    (
        [
            "CREATE TYPE \"Spot\" AS (x int, y int)",
            "ALTER TYPE \"Spot\" OWNER TO user1",
            "CREATE SCHEMA app",
            "CREATE TYPE app.fr AS RANGE (SUBTYPE = float8)",
            "ALTER TYPE app.fr OWNER TO user2",
        ],
        "CREATE TYPE \"Spot\" AS (y int, x int); CREATE SCHEMA app; CREATE TYPE app.fr AS RANGE (SUBTYPE = int8);",
        "SELECT count(*) = 2 FROM pg_type WHERE (typname, typowner) IN (('Spot', 'user1'::regrole), ('fr', 'user2'::regrole))",
    ),
    (
        [
            "CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "ALTER FUNCTION f(int) OWNER TO user1",
            "REVOKE ALL ON FUNCTION f(int) FROM PUBLIC",
            "REVOKE ALL ON FUNCTION f(int) FROM user1",
            "CREATE TABLE t (a int)",
        ],
        "CREATE FUNCTION f(a int) RETURNS bigint LANGUAGE sql AS 'SELECT 2::bigint'; CREATE TABLE t (a int);",
        "SELECT proowner = 'user1'::regrole AND prorettype = 'bigint'::regtype AND NOT has_function_privilege('user1', oid, 'EXECUTE') \
             FROM pg_proc WHERE proname = 'f'",
    ),
];

#[test]
fn what_is_made_again_keeps_its_owner_and_who_may_reach_it() {
    let bench = Databases::new("HAKARU_TEST_POSTGRES_URL", None);
    for (made, text, asked) in MADE_AGAIN {
        let mut scratch = bench.empty();
        bench::run(&mut *scratch, made.into_iter()).unwrap();
        let mut wanted = bench::load(text, &super::unknown()).unwrap();
        let settings = runner::Settings {
            options: schema::PlanOptions::default(),
            allowed: schema::Allowed {
                all: true,
                named: Vec::new(),
            },
            scratch: runner::Scratch::Auto,
            keep: &|_| true,
        };
        let prepared = runner::prepare(scratch.database(), &mut wanted, &settings).unwrap();
        let steps = prepared.steps();
        bench::run(&mut *scratch, steps.iter().map(|step| step.sql.as_str())).unwrap();
        let rows = scratch.database().query(asked).unwrap();
        assert_eq!(rows, [[Some("t".to_owned())]], "{text}");
    }
}

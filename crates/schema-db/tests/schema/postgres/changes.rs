//! Changes of objects of each kind: what is said, what waits for a yes, and that it is then so.

use schema::{Allowed, PlanOptions};
use schema_db::Database;

use super::Databases;
use crate::bench::{self, Bench};

/// What a database has, what is wanted, and the plan; what waits begins with `--`.
const CHANGES: [(&str, &str, &[&str]); 16] = [
    (
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE ft (a int, b int) SERVER s; \
         CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'; \
         CREATE TRIGGER one BEFORE INSERT ON ft FOR EACH ROW EXECUTE FUNCTION f(); \
         CREATE TRIGGER two BEFORE INSERT ON ft FOR EACH ROW EXECUTE FUNCTION f(); \
         CREATE TRIGGER same BEFORE UPDATE ON ft FOR EACH ROW EXECUTE FUNCTION f()",
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE ft (a integer, b integer) SERVER s; \
         CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'; \
         CREATE TRIGGER one BEFORE INSERT OR DELETE ON ft FOR EACH ROW EXECUTE FUNCTION f(); \
         CREATE TRIGGER same BEFORE UPDATE ON ft FOR EACH ROW EXECUTE PROCEDURE f(); ALTER TABLE ft DISABLE TRIGGER same; \
         COMMENT ON TRIGGER same ON ft IS 'off';",
        &[
            "DROP TRIGGER one ON public.ft",
            "CREATE TRIGGER one BEFORE INSERT OR DELETE ON public.ft FOR EACH ROW EXECUTE FUNCTION public.f()",
            "ALTER TABLE public.ft DISABLE TRIGGER same",
            "COMMENT ON TRIGGER same ON public.ft IS 'off'",
            "-- DROP TRIGGER two ON public.ft",
        ],
    ),
    (
        "CREATE TABLE t (a int PRIMARY KEY, b int); CREATE INDEX i ON t (b); INSERT INTO t VALUES (1, 2)",
        "CREATE TABLE t (a int, b int, PRIMARY KEY (a) USING INDEX TABLESPACE hakaru_space) TABLESPACE hakaru_space; \
         CREATE INDEX i ON t (b) TABLESPACE hakaru_space;",
        &[
            "ALTER INDEX public.t_pkey SET TABLESPACE hakaru_space",
            "ALTER TABLE public.t SET TABLESPACE hakaru_space",
            "ALTER INDEX public.i SET TABLESPACE hakaru_space",
        ],
    ),
    (
        "CREATE TABLE t (a int PRIMARY KEY USING INDEX TABLESPACE hakaru_space, b int) TABLESPACE hakaru_space; \
         CREATE INDEX i ON t (b) TABLESPACE hakaru_space; CREATE INDEX j ON t (b, a) TABLESPACE hakaru_space",
        "CREATE TABLE t (a int PRIMARY KEY, b int); CREATE INDEX i ON t (a); ALTER INDEX i SET TABLESPACE hakaru_space;",
        &[
            "DROP INDEX public.i",
            "CREATE INDEX i ON public.t (a)",
            "ALTER INDEX public.i SET TABLESPACE hakaru_space",
            "-- ALTER TABLE public.t SET TABLESPACE pg_default",
            "-- ALTER INDEX public.t_pkey SET TABLESPACE pg_default",
            "-- DROP INDEX public.j",
        ],
    ),
    (
        "CREATE TYPE addr AS (street text, house int); CREATE TABLE t OF addr (house WITH OPTIONS NOT NULL)",
        "CREATE TYPE addr AS (street text, house integer, zip text); CREATE TABLE t OF addr (house WITH OPTIONS NOT NULL);",
        &[
            "ALTER TABLE public.t NOT OF",
            "ALTER TYPE public.addr ADD ATTRIBUTE zip text",
            "ALTER TABLE public.t ADD COLUMN zip text",
            "ALTER TABLE public.t OF public.addr",
        ],
    ),
    (
        "CREATE TYPE addr AS (street text, house int); CREATE TABLE t OF addr; INSERT INTO t VALUES ('x', 1)",
        "CREATE TYPE addr AS (street text); CREATE TABLE t OF addr;",
        &[
            "-- ALTER TABLE public.t NOT OF",
            "-- ALTER TYPE public.addr DROP ATTRIBUTE house",
            "-- ALTER TABLE public.t DROP COLUMN house",
            "-- ALTER TABLE public.t OF public.addr",
        ],
    ),
    (
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; \
         CREATE FOREIGN TABLE ft (a int OPTIONS (x '1'), b text) SERVER s OPTIONS (t 'one')",
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; \
         CREATE FOREIGN TABLE ft (a bigint OPTIONS (x '2') NOT NULL DEFAULT 3, c text) SERVER s OPTIONS (t 'two', u 'x');",
        &[
            "-- ALTER FOREIGN TABLE public.ft DROP COLUMN b",
            "ALTER FOREIGN TABLE public.ft ALTER COLUMN a TYPE bigint",
            "ALTER FOREIGN TABLE public.ft ALTER COLUMN a SET DEFAULT 3",
            "ALTER FOREIGN TABLE public.ft ALTER COLUMN a SET NOT NULL",
            "ALTER FOREIGN TABLE public.ft ADD COLUMN c text",
            "ALTER FOREIGN TABLE public.ft OPTIONS (SET t 'two', ADD u 'x')",
            "ALTER FOREIGN TABLE ONLY public.ft ALTER COLUMN a OPTIONS (SET x '2')",
        ],
    ),
    (
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE ft (a int) SERVER s",
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;",
        &["-- DROP FOREIGN TABLE public.ft"],
    ),
    (
        "CREATE TYPE addr AS (street text, house int); CREATE TABLE t (a addr); INSERT INTO t VALUES (('x', 1))",
        "CREATE TYPE addr AS (street text, zip text); CREATE TABLE t (a addr);",
        &[
            "-- ALTER TYPE public.addr DROP ATTRIBUTE house",
            "ALTER TYPE public.addr ADD ATTRIBUTE zip text",
        ],
    ),
    (
        "CREATE TYPE addr AS (street text, house int)",
        "CREATE TYPE addr AS (street text, house bigint);",
        &["-- ALTER TYPE public.addr ALTER ATTRIBUTE house TYPE bigint"],
    ),
    (
        "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY); \
         CREATE PUBLICATION p FOR TABLE ONLY t WITH (publish = 'insert')",
        "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE u;",
        &[
            "ALTER PUBLICATION p SET (publish = 'insert,update,delete,truncate')",
            "ALTER PUBLICATION p ADD TABLE public.u",
            "-- ALTER PUBLICATION p DROP TABLE public.t",
        ],
    ),
    (
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s VERSION '1' FOREIGN DATA WRAPPER w OPTIONS (host 'a', port '1'); \
         CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS (\"user\" 'x', password 'secret')",
        "CREATE FOREIGN DATA WRAPPER w OPTIONS (debug 'true'); \
         CREATE SERVER s VERSION '2' FOREIGN DATA WRAPPER w OPTIONS (host 'b', dbname 'd');",
        &[
            "ALTER FOREIGN DATA WRAPPER w OPTIONS (ADD debug 'true')",
            "ALTER SERVER s VERSION '2' OPTIONS (DROP port, ADD dbname 'd', SET host 'b')",
            "-- DROP USER MAPPING FOR PUBLIC SERVER s",
        ],
    ),
    (
        "CREATE TEXT SEARCH DICTIONARY d (TEMPLATE = simple, stopwords = 'english'); \
         CREATE TEXT SEARCH CONFIGURATION c (PARSER = \"default\"); \
         ALTER TEXT SEARCH CONFIGURATION c ADD MAPPING FOR word, email WITH d",
        "CREATE TEXT SEARCH DICTIONARY d (TEMPLATE = simple, accept = 'false'); \
         CREATE TEXT SEARCH CONFIGURATION c (PARSER = \"default\"); \
         ALTER TEXT SEARCH CONFIGURATION public.c ADD MAPPING FOR word WITH public.d, simple;",
        &[
            "ALTER TEXT SEARCH DICTIONARY public.d (stopwords, accept = 'false')",
            "ALTER TEXT SEARCH CONFIGURATION public.c ALTER MAPPING FOR word WITH public.d, simple",
            "-- ALTER TEXT SEARCH CONFIGURATION public.c DROP MAPPING FOR email",
        ],
    ),
    (
        "CREATE OPERATOR FAMILY f USING btree; ALTER OPERATOR FAMILY f USING btree ADD FUNCTION 1 (int4, int8) btint48cmp(int4, int8)",
        "CREATE OPERATOR FAMILY f USING btree;",
        &["-- ALTER OPERATOR FAMILY public.f USING btree DROP FUNCTION 1 (integer, bigint)"],
    ),
    (
        "CREATE TABLE t (a int, b int); CREATE INDEX i ON t (a); CREATE INDEX j ON t (b); ALTER TABLE t CLUSTER ON i; \
         CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING; ALTER TABLE t DISABLE RULE r",
        "CREATE TABLE t (a int, b int); CREATE INDEX i ON t (a); CREATE INDEX j ON t (b); ALTER TABLE t CLUSTER ON j; \
         CREATE RULE r AS ON DELETE TO public.t DO INSTEAD NOTHING;",
        &[
            "ALTER TABLE ONLY public.t CLUSTER ON j",
            "ALTER TABLE ONLY public.t ENABLE RULE r",
        ],
    ),
    (
        "CREATE SUBSCRIPTION s CONNECTION 'host=a password=x' PUBLICATION p WITH (connect = false, slot_name = NONE, streaming = off)",
        "CREATE SUBSCRIPTION s CONNECTION 'host=b' PUBLICATION p, q WITH (connect = false, slot_name = NONE, streaming = off);",
        &[
            "-- ALTER SUBSCRIPTION s CONNECTION 'host=b'",
            "-- ALTER SUBSCRIPTION s SET PUBLICATION p, q WITH (refresh = false)",
        ],
    ),
    (
        "CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0')",
        "CREATE AGGREGATE public.total(integer) (SFUNC = int4pl, STYPE = integer, INITCOND = '1');",
        &[
            "CREATE OR REPLACE AGGREGATE public.total(integer) (SFUNC = int4pl, STYPE = integer, INITCOND = '1')",
        ],
    ),
];

#[test]
fn objects_are_changed_where_the_server_can() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        let bench = Databases::new(variable, None);
        for (made, text, expected) in CHANGES {
            let (name, mut database) = bench.make();
            let database: &mut dyn Database = &mut database;
            database.execute(made).unwrap();
            let server = database.server().clone();
            let wanted = bench::load(text, &server).unwrap();
            let mut plan = |allowed: bool| {
                let from = bench::load(&database.export().unwrap(), &server).unwrap();
                let mut plan = schema::plan(&from, &wanted, &PlanOptions::default()).unwrap();
                plan.hold_back(&Allowed {
                    all: allowed,
                    named: Vec::new(),
                });
                if allowed {
                    for statement in plan.applied() {
                        database.execute(&statement.sql).unwrap();
                    }
                }
                plan
            };
            let found = plan(false);
            let line = |statement: &schema::Statement| match statement.held_back {
                None => statement.sql.clone(),
                Some(_) => format!("-- {}", statement.sql),
            };
            let found: Vec<String> = found.statements.iter().map(line).collect();
            assert_eq!(found, expected, "{variable}: {made}");
            plan(true);
            let rest = plan(false);
            assert!(rest.statements.is_empty(), "{}", bench::spelled(&rest));
            if made.contains("SUBSCRIPTION") {
                database.execute("DROP SUBSCRIPTION s").unwrap();
            }
            super::server(&bench.url, None)
                .execute(&format!("DROP DATABASE {name} WITH (FORCE)"))
                .unwrap();
        }
    }
}

#[test]
fn a_table_and_an_index_made_again_keep_what_was_said_of_them() {
    let bench = Databases::new("HAKARU_TEST_POSTGRES_URL", None);
    let mut scratch = bench.empty();
    let made = [
        "CREATE TABLE t (a int, b int)",
        "CREATE INDEX i ON t (a)",
        "ALTER TABLE t CLUSTER ON i",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE RULE r AS ON INSERT TO v DO INSTEAD NOTHING",
    ];
    bench::run(&mut *scratch, made.into_iter()).unwrap();
    let text = "CREATE TABLE t (a bigint, b int); CREATE INDEX i ON t (a, b); ALTER TABLE t CLUSTER ON i; \
         CREATE VIEW v AS SELECT a FROM t; CREATE RULE r AS ON INSERT TO v DO INSTEAD NOTHING;";
    bench::reach(&mut *scratch, text).unwrap();
    let exported = scratch.database().export().unwrap();
    for part in ["CLUSTER ON i", "CREATE RULE r"] {
        assert!(exported.contains(part), "{exported}");
    }
}

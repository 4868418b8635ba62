//! Each kind of object: made on the server, exported, loaded into an empty database, exported
//! again.

use schema::Server;
use schema_db::Database;

use super::Databases;
use crate::bench::{self, dumped};

/// Statements creating and changing objects of one kind, with prerequisites.
const KINDS: [(&str, &str); 12] = [
    (
        "procedure",
        "CREATE TABLE t (a int); CREATE PROCEDURE fill(n int DEFAULT 3, INOUT done int DEFAULT 0) LANGUAGE plpgsql SECURITY DEFINER \
             SET search_path = public AS 'BEGIN INSERT INTO t VALUES (n); done := 1; END'; \
         CREATE PROCEDURE empty() BEGIN ATOMIC DELETE FROM t; END; COMMENT ON PROCEDURE empty() IS 'all of it';",
    ),
    (
        "aggregate",
        "CREATE FUNCTION joined(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, '''') || $2'; \
         CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0', COMBINEFUNC = int4pl, PARALLEL = SAFE); \
         CREATE AGGREGATE words(text) (SFUNC = joined, STYPE = text); COMMENT ON AGGREGATE total(int) IS 'sum';",
    ),
    (
        "composite type",
        "CREATE TYPE addr AS (street text COLLATE \"C\", house numeric(6,2)); CREATE TYPE person AS (name text, home addr); \
         CREATE TABLE t (who person, others addr[]); CREATE FUNCTION house(addr) RETURNS numeric LANGUAGE sql AS 'SELECT $1.house'; \
         COMMENT ON TYPE addr IS 'where';",
    ),
    (
        "range type",
        "CREATE TYPE fr AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = float8mi); CREATE TABLE t (a fr, EXCLUDE USING gist (a WITH &&));",
    ),
    (
        "domain",
        "CREATE DOMAIN pos AS int DEFAULT 1 NOT NULL CONSTRAINT over CHECK (VALUE > 0); CREATE DOMAIN few AS pos CHECK (VALUE < 9); \
         CREATE TABLE t (a few); COMMENT ON DOMAIN pos IS 'above 0';",
    ),
    (
        "collation",
        "CREATE COLLATION num (provider = icu, locale = 'en-u-kn-true', deterministic = false); CREATE COLLATION app_c FROM \"C\"; \
         CREATE TABLE t (a text COLLATE num); COMMENT ON COLLATION num IS 'by number';",
    ),
    (
        "cast and operator",
        "CREATE TYPE pair AS (a int, b int); CREATE FUNCTION same(pair, pair) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1.a = $2.a'; \
         CREATE FUNCTION as_int(pair) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1.a'; \
         CREATE OPERATOR === (LEFTARG = pair, RIGHTARG = pair, FUNCTION = same, COMMUTATOR = ===, RESTRICT = eqsel, JOIN = eqjoinsel); \
         CREATE CAST (pair AS int) WITH FUNCTION as_int(pair) AS ASSIGNMENT; COMMENT ON CAST (pair AS int) IS 'first';",
    ),
    (
        "rule",
        "CREATE TABLE t (a int); CREATE TABLE gone (a int); CREATE VIEW v AS SELECT a FROM t; \
         CREATE RULE keep AS ON DELETE TO t DO ALSO INSERT INTO gone VALUES (old.a); \
         CREATE RULE put AS ON INSERT TO v DO INSTEAD INSERT INTO t VALUES (new.a); COMMENT ON RULE keep ON t IS 'nothing is lost';",
    ),
    (
        "event trigger",
        "CREATE FUNCTION on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; \
         CREATE EVENT TRIGGER et ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'DROP TABLE') EXECUTE FUNCTION on_ddl(); \
         COMMENT ON EVENT TRIGGER et IS 'watches';",
    ),
    (
        "statistics",
        "CREATE TABLE t (a int, b int); CREATE STATISTICS s (ndistinct, dependencies) ON a, b FROM t; \
         CREATE STATISTICS e ON (a + b) FROM t; COMMENT ON STATISTICS s IS 'both';",
    ),
    (
        "foreign server",
        "CREATE FOREIGN DATA WRAPPER far OPTIONS (debug 'true'); \
         CREATE SERVER there TYPE 'x' VERSION '1' FOREIGN DATA WRAPPER far OPTIONS (host 'h', port '1'); COMMENT ON SERVER there IS 'away';",
    ),
    (
        "table",
        "CREATE TABLE p (id int GENERATED ALWAYS AS IDENTITY (START WITH 7 INCREMENT BY 3 CACHE 5) PRIMARY KEY, a text COMPRESSION pglz, \
             b text, c int DEFAULT 1) WITH (fillfactor = 70); CREATE TABLE q (d int) INHERITS (p); \
         ALTER TABLE p ALTER COLUMN b SET STORAGE EXTERNAL; ALTER TABLE ONLY p ALTER COLUMN c SET STATISTICS 500; \
         CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT $1 * 2; END; \
         CREATE INDEX i ON p (twice(c)) WHERE b IS NOT NULL; COMMENT ON INDEX i IS 'twice';",
    ),
];

#[test]
fn every_kind_goes_there_and_comes_back() {
    for variable in ["HAKARU_TEST_POSTGRES_URL", "HAKARU_TEST_POSTGRES18_URL"] {
        let bench = Databases::new(variable, None);
        let mut failed = Vec::new();
        for (kind, made) in KINDS {
            // Some of this is in no schema, so that cleaning a database would leave it.
            let ((one, mut database), (other, mut copy)) = (bench.make(), bench.make());
            let mut done = round_trip(&mut database, &mut copy, made);
            let dump = |name: &str| {
                let words = ["--schema-only".to_owned(), address(&bench.url, name)];
                dumped(variable, &words)
            };
            let raw = dump(&one);
            if raw != dump(&other) {
                failed.push(format!("{kind}: {raw}\nbecame\n{}", dump(&other)));
            }
            done = done.and_then(|()| is_read_whole(&raw, &mut database));
            failed.extend(done.err().map(|error| format!("{kind}: {error}")));
            drop((database, copy));
            let mut admin = super::server(&bench.url, None);
            for name in [one, other] {
                let gone = format!("DROP DATABASE {name} WITH (FORCE)");
                admin.execute(&gone).unwrap();
            }
        }
        assert!(failed.is_empty(), "{variable}: {}", failed.join("\n"));
    }
}

fn round_trip(
    database: &mut dyn Database,
    copy: &mut dyn Database,
    made: &str,
) -> Result<(), String> {
    let message = |error: schema_db::DbError| error.message;
    database.execute(made).map_err(message)?;
    let unseen = database.unseen().map_err(message)?;
    if !unseen.is_empty() {
        return Err(format!("not seen: {unseen:?}"));
    }
    let exported = database.export().map_err(message)?;
    let schema = bench::load_whole(&exported, &database.server().clone())?;
    for sql in schema.statements() {
        let done = copy.execute(&sql);
        done.map_err(|error| format!("{}\n  at: {sql}", error.message))?;
    }
    let again = copy.export().map_err(message)?;
    let copied = bench::load_whole(&again, &copy.server().clone())?;
    let (first, second) = (schema.statements(), copied.statements());
    if first != second {
        return Err(format!("{first:#?}\nbecame\n{second:#?}"));
    }
    let options = schema::PlanOptions::default();
    let plan = schema::plan(&copied, &schema, &options).map_err(|error| error.to_string())?;
    match plan.statements.is_empty() {
        true => Ok(()),
        false => Err(bench::spelled(&plan)),
    }
}

/// The server's address with another database.
fn address(url: &str, name: &str) -> String {
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

/// `pg_dump`'s output is read completely: everything in the database, and nothing else.
fn is_read_whole(dump: &str, database: &mut dyn Database) -> Result<(), String> {
    let server: Server = database.server().clone();
    let read = bench::load_whole(dump, &server)?;
    let exported = database.export().map_err(|error| error.message)?;
    let exported = bench::load(&exported, &server)?;
    for (from, to) in [(&exported, &read), (&read, &exported)] {
        let options = schema::PlanOptions::default();
        let plan = schema::plan(from, to, &options).map_err(|error| error.to_string())?;
        if !plan.statements.is_empty() {
            return Err(bench::spelled(&plan));
        }
    }
    Ok(())
}

#[test]
fn an_event_trigger_sees_nothing_of_a_schema_that_is_tried_out() {
    let bench = Databases::new("HAKARU_TEST_POSTGRES_URL", None);
    let mut scratch = bench::Bench::empty(&bench);
    let statements = [
        "CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'",
        "CREATE EVENT TRIGGER et ON ddl_command_end EXECUTE FUNCTION no()",
        "CREATE TABLE t (a int)",
    ];
    let statements = statements.map(str::to_owned);
    let stored = scratch.database().read_back(&statements).unwrap();
    for part in ["CREATE EVENT TRIGGER et", "CREATE TABLE public.t"] {
        assert!(stored.contains(part), "{stored}");
    }
}

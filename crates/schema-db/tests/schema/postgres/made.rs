//! CREATE statements of each kind of object.

/// Statements creating and changing objects of one kind, with prerequisites.
pub(super) const KINDS: [(&str, &str); 35] = [
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
         CREATE AGGREGATE words(text) (SFUNC = joined, STYPE = text); COMMENT ON AGGREGATE total(int) IS 'sum'; \
         CREATE AGGREGATE every(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0'); COMMENT ON AGGREGATE every(*) IS 'rows';",
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
         CREATE TABLE t (a few); COMMENT ON DOMAIN pos IS 'above 0'; \
         COMMENT ON CONSTRAINT over ON DOMAIN pos IS 'not 0';",
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
    (
        "publication",
        "CREATE TABLE t (id int PRIMARY KEY, a int, b text); CREATE TABLE \"U\" (id int PRIMARY KEY); CREATE SCHEMA app; \
         CREATE PUBLICATION everything FOR ALL TABLES WITH (publish = 'insert, delete'); \
         CREATE PUBLICATION partly FOR TABLE t (id, a) WHERE (id > 5), \"U\" WITH (publish_via_partition_root = true); \
         CREATE PUBLICATION whole FOR TABLES IN SCHEMA app; COMMENT ON PUBLICATION partly IS 'a part';",
    ),
    (
        "subscription",
        "CREATE SUBSCRIPTION sub CONNECTION 'host=127.0.0.1 port=1 dbname=x' PUBLICATION p, \"Q\" \
             WITH (connect = false, slot_name = NONE, binary = true); COMMENT ON SUBSCRIPTION sub IS 'from there'; \
         CREATE SUBSCRIPTION other CONNECTION 'host=127.0.0.1 port=1' PUBLICATION p \
             WITH (connect = false, slot_name = 'a', disable_on_error = true, streaming = on, synchronous_commit = 'local'); \
         ALTER SUBSCRIPTION other SET (slot_name = NONE);",
    ),
    (
        "user mapping",
        "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER there FOREIGN DATA WRAPPER far; \
         CREATE USER MAPPING FOR PUBLIC SERVER there OPTIONS (\"user\" 'me', dbname 'it''s'); \
         CREATE USER MAPPING FOR user1 SERVER there;",
    ),
    (
        "text search",
        "CREATE TEXT SEARCH PARSER pars (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype, \
             HEADLINE = prsd_headline); CREATE TEXT SEARCH TEMPLATE tmpl (INIT = dsimple_init, LEXIZE = dsimple_lexize); \
         CREATE TEXT SEARCH DICTIONARY words (TEMPLATE = tmpl, stopwords = 'english'); \
         CREATE TEXT SEARCH DICTIONARY stem (TEMPLATE = snowball, language = 'english', stopwords = 'english'); \
         CREATE TEXT SEARCH CONFIGURATION own (PARSER = pars); \
         ALTER TEXT SEARCH CONFIGURATION own ADD MAPPING FOR asciiword, word WITH stem, words; \
         CREATE TEXT SEARCH CONFIGURATION copied (COPY = english); \
         ALTER TEXT SEARCH CONFIGURATION copied ALTER MAPPING FOR asciiword WITH words; \
         CREATE TABLE t (a text, b tsvector GENERATED ALWAYS AS (to_tsvector('own', a)) STORED); \
         CREATE INDEX i ON t USING gin (to_tsvector('copied', a)); \
         COMMENT ON TEXT SEARCH CONFIGURATION own IS 'c'; COMMENT ON TEXT SEARCH DICTIONARY words IS 'd'; \
         COMMENT ON TEXT SEARCH PARSER pars IS 'p'; COMMENT ON TEXT SEARCH TEMPLATE tmpl IS 't';",
    ),
    (
        "operator class and family",
        "CREATE TYPE pair AS (a int, b int); \
         CREATE FUNCTION pair_cmp(pair, pair) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1.a - $2.a'; \
         CREATE OPERATOR FAMILY pairs USING btree; \
         CREATE FUNCTION lt(pair, pair) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1.a < $2.a'; \
         CREATE OPERATOR <<< (LEFTARG = pair, RIGHTARG = pair, FUNCTION = lt); \
         CREATE OPERATOR CLASS by_a FOR TYPE pair USING btree FAMILY pairs AS OPERATOR 1 <<<, FUNCTION 1 pair_cmp(pair, pair); \
         CREATE OPERATOR CLASS backwards FOR TYPE int USING btree AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, \
             OPERATOR 5 <, FUNCTION 1 btint4cmp(int, int); \
         CREATE OPERATOR FAMILY mixed USING btree; \
         ALTER OPERATOR FAMILY mixed USING btree ADD OPERATOR 1 < (int4, int8), FUNCTION 1 (int4, int8) btint48cmp(int4, int8); \
         CREATE TABLE t (a int); CREATE INDEX i ON t (a backwards); \
         COMMENT ON OPERATOR CLASS backwards USING btree IS 'down'; COMMENT ON OPERATOR FAMILY mixed USING btree IS 'm';",
    ),
    (
        "conversion",
        "CREATE CONVERSION conv FOR 'UTF8' TO 'LATIN1' FROM utf8_to_iso8859_1; \
         CREATE DEFAULT CONVERSION other FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8; COMMENT ON CONVERSION conv IS 'c';",
    ),
    (
        "language and transform",
        "CREATE FUNCTION pl_call() RETURNS language_handler LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_call_handler'; \
         CREATE FUNCTION pl_inline(internal) RETURNS void LANGUAGE c STRICT AS '$libdir/plpgsql', 'plpgsql_inline_handler'; \
         CREATE TRUSTED LANGUAGE pl HANDLER pl_call INLINE pl_inline; \
         CREATE FUNCTION f() RETURNS int LANGUAGE pl AS 'BEGIN RETURN 1; END'; COMMENT ON LANGUAGE pl IS 'l'; \
         CREATE TRANSFORM FOR int LANGUAGE pl (FROM SQL WITH FUNCTION prsd_lextype(internal), TO SQL WITH FUNCTION int4recv(internal)); \
         COMMENT ON TRANSFORM FOR int LANGUAGE pl IS 't';",
    ),
    (
        "access method",
        "CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler; CREATE TABLE t (a int) USING heap2; \
         CREATE ACCESS METHOD gist2 TYPE INDEX HANDLER gisthandler; COMMENT ON ACCESS METHOD heap2 IS 'again';",
    ),
    (
        "base type",
        "CREATE TYPE num; CREATE FUNCTION num_in(cstring) RETURNS num LANGUAGE internal IMMUTABLE STRICT AS 'int4in'; \
         CREATE FUNCTION num_out(num) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out'; \
         CREATE TYPE num (INPUT = num_in, OUTPUT = num_out, INTERNALLENGTH = 4, PASSEDBYVALUE, ALIGNMENT = int4, DEFAULT = '7', \
             CATEGORY = 'N'); COMMENT ON TYPE num IS 'a number'; CREATE TABLE t (a num, b num[]); \
         CREATE FUNCTION twice(num) RETURNS num LANGUAGE sql IMMUTABLE AS 'SELECT $1';",
    ),
    (
        "clustered table",
        "CREATE TABLE t (a int PRIMARY KEY, b int); CREATE INDEX i ON t (b); ALTER TABLE t CLUSTER ON i; \
         CREATE TABLE u (a int PRIMARY KEY); ALTER TABLE u CLUSTER ON u_pkey;",
    ),
    (
        "states",
        "CREATE TABLE t (a int, b int); CREATE TABLE gone (a int); \
         CREATE RULE keep AS ON DELETE TO t DO ALSO INSERT INTO gone VALUES (old.a); ALTER TABLE t DISABLE RULE keep; \
         CREATE RULE also AS ON UPDATE TO t DO ALSO NOTHING; ALTER TABLE t ENABLE ALWAYS RULE also; \
         CREATE FUNCTION on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; \
         CREATE EVENT TRIGGER et ON ddl_command_end EXECUTE FUNCTION on_ddl(); ALTER EVENT TRIGGER et DISABLE; \
         CREATE EVENT TRIGGER es ON ddl_command_end EXECUTE FUNCTION on_ddl(); ALTER EVENT TRIGGER es ENABLE REPLICA;",
    ),
    (
        "statistics targets and column options",
        "CREATE TABLE p (a int, b int DEFAULT 1, c text) WITH (toast.autovacuum_enabled = false, fillfactor = 70); \
         CREATE TABLE q (d int) INHERITS (p); ALTER TABLE ONLY q ALTER COLUMN a SET STATISTICS 50; \
         ALTER TABLE ONLY q ALTER COLUMN b SET DEFAULT 2; ALTER TABLE ONLY p ALTER COLUMN a SET (n_distinct = 5); \
         CREATE STATISTICS s ON a, b FROM p; ALTER STATISTICS s SET STATISTICS 300; \
         CREATE INDEX i ON p ((a + b)); ALTER INDEX i ALTER COLUMN 1 SET STATISTICS 200; \
         CREATE VIEW v AS SELECT a, b FROM p; ALTER VIEW v ALTER COLUMN a SET DEFAULT 4;",
    ),
    (
        "composite type",
        "CREATE TYPE addr AS (street text, house int); COMMENT ON COLUMN addr.street IS 'its name'; COMMENT ON TYPE addr IS 'where';",
    ),
    (
        "foreign data wrapper",
        "CREATE FOREIGN DATA WRAPPER far VALIDATOR postgresql_fdw_validator; COMMENT ON FOREIGN DATA WRAPPER far IS 'f'; \
         CREATE SERVER there FOREIGN DATA WRAPPER far OPTIONS (host 'h');",
    ),
    (
        "privileges",
        "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN pos AS int; CREATE TYPE \"Spot\" AS (x int); \
         CREATE FOREIGN DATA WRAPPER far; CREATE SERVER there FOREIGN DATA WRAPPER far; CREATE SCHEMA app; \
         CREATE TABLE t (a int, b int); CREATE VIEW v AS SELECT a FROM t; CREATE SEQUENCE s; \
         CREATE FUNCTION closed() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; \
         CREATE PROCEDURE act() LANGUAGE sql AS 'SELECT 1'; \
         GRANT USAGE ON TYPE mood TO user1; GRANT USAGE ON DOMAIN pos TO user2 WITH GRANT OPTION; \
         REVOKE ALL ON TYPE \"Spot\" FROM PUBLIC; GRANT USAGE ON TYPE \"Spot\" TO user3; \
         GRANT USAGE ON FOREIGN DATA WRAPPER far TO user1; GRANT USAGE ON FOREIGN SERVER there TO PUBLIC, user1; \
         REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC; GRANT USAGE ON LANGUAGE plpgsql TO user1; \
         REVOKE EXECUTE ON FUNCTION closed() FROM PUBLIC; GRANT EXECUTE ON FUNCTION closed() TO user1; \
         REVOKE ALL ON PROCEDURE act() FROM PUBLIC; GRANT SELECT ON t, v TO PUBLIC; GRANT UPDATE (a) ON t TO PUBLIC; \
         GRANT USAGE ON SEQUENCE s TO PUBLIC; GRANT USAGE ON SCHEMA app TO PUBLIC; GRANT CREATE ON SCHEMA public TO PUBLIC; \
         CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int); REVOKE EXECUTE ON FUNCTION total(int) FROM PUBLIC; \
         CREATE AGGREGATE every(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0'); REVOKE ALL ON FUNCTION every() FROM PUBLIC; \
         GRANT EXECUTE ON FUNCTION total(int), every() TO user1 WITH GRANT OPTION;",
    ),
    (
        "default privileges",
        "CREATE SCHEMA app; ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT ON TABLES TO user1; \
         ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO user2 WITH GRANT OPTION; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO user3; \
         ALTER DEFAULT PRIVILEGES FOR ROLE user1 IN SCHEMA app GRANT USAGE ON SEQUENCES TO PUBLIC, user2; \
         ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC; ALTER DEFAULT PRIVILEGES GRANT ALL ON TYPES TO user3; \
         ALTER DEFAULT PRIVILEGES FOR ROLE user1, user2 GRANT USAGE ON SCHEMAS TO user3; \
         ALTER DEFAULT PRIVILEGES FOR USER user2 REVOKE ALL ON TYPES FROM PUBLIC; \
         ALTER DEFAULT PRIVILEGES IN SCHEMA app GRANT EXECUTE ON ROUTINES TO user1;",
    ),
    (
        "privileges taken from owners",
        "CREATE TABLE t (a int, b int); REVOKE DELETE, UPDATE ON t FROM CURRENT_USER; GRANT UPDATE (a) ON t TO CURRENT_USER; \
         CREATE TABLE none (a int); REVOKE ALL ON none FROM CURRENT_USER; GRANT SELECT ON none TO user1; \
         CREATE TABLE other (id int GENERATED ALWAYS AS IDENTITY, n serial); ALTER TABLE other OWNER TO user1; \
         REVOKE ALL ON other FROM user1; GRANT SELECT, INSERT ON other TO user1 WITH GRANT OPTION; \
         REVOKE UPDATE ON SEQUENCE other_id_seq, other_n_seq FROM user1; \
         CREATE VIEW v AS SELECT a FROM t; REVOKE INSERT ON v FROM CURRENT_USER; CREATE SEQUENCE s; ALTER SEQUENCE s OWNER TO user2; \
         REVOKE USAGE ON SEQUENCE s FROM user2; CREATE SCHEMA app; REVOKE CREATE ON SCHEMA app FROM CURRENT_USER; \
         CREATE SCHEMA \"App\"; ALTER SCHEMA \"App\" OWNER TO user3; REVOKE ALL ON SCHEMA \"App\" FROM user3; \
         CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'; REVOKE ALL ON FUNCTION f(int) FROM CURRENT_USER; \
         CREATE PROCEDURE act() LANGUAGE sql AS 'SELECT 1'; ALTER PROCEDURE act() OWNER TO user1; \
         REVOKE ALL ON PROCEDURE act() FROM PUBLIC, user1; CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int); \
         ALTER AGGREGATE total(int) OWNER TO user1; REVOKE EXECUTE ON FUNCTION total(int) FROM user1; \
         CREATE TYPE mood AS ENUM ('sad'); REVOKE USAGE ON TYPE mood FROM CURRENT_USER; CREATE TYPE \"Spot\" AS (x int); \
         ALTER TYPE \"Spot\" OWNER TO user2; REVOKE USAGE ON TYPE \"Spot\" FROM user2; \
         CREATE FOREIGN DATA WRAPPER far; CREATE SERVER there FOREIGN DATA WRAPPER far; REVOKE USAGE ON FOREIGN SERVER there FROM CURRENT_USER; \
         CREATE FOREIGN TABLE ft (a int) SERVER there; REVOKE INSERT ON ft FROM CURRENT_USER; \
         REVOKE USAGE ON FOREIGN DATA WRAPPER far FROM CURRENT_USER;",
    ),
    (
        "default privileges taken from owners",
        "CREATE SCHEMA app; ALTER DEFAULT PRIVILEGES REVOKE DELETE ON TABLES FROM CURRENT_USER; \
         ALTER DEFAULT PRIVILEGES FOR ROLE user1 REVOKE ALL ON TABLES FROM user1; ALTER DEFAULT PRIVILEGES FOR ROLE user1 GRANT SELECT ON TABLES TO user1; \
         ALTER DEFAULT PRIVILEGES FOR ROLE user2 REVOKE EXECUTE ON FUNCTIONS FROM user2, PUBLIC; \
         ALTER DEFAULT PRIVILEGES FOR ROLE user2 IN SCHEMA app GRANT USAGE ON SEQUENCES TO user2; \
         ALTER DEFAULT PRIVILEGES FOR ROLE user3 GRANT INSERT ON TABLES TO user3 WITH GRANT OPTION; \
         ALTER DEFAULT PRIVILEGES FOR ROLE user3 REVOKE USAGE ON TYPES FROM user3;",
    ),
    (
        "tablespace",
        "CREATE TABLE t (a int PRIMARY KEY USING INDEX TABLESPACE hakaru_space, b int, c int, UNIQUE (b)) TABLESPACE hakaru_space; \
         CREATE INDEX i ON t (c) TABLESPACE hakaru_space; CREATE INDEX j ON t (c, b); \
         CREATE TABLE u (a int, EXCLUDE USING btree (a WITH =) USING INDEX TABLESPACE hakaru_space); \
         CREATE MATERIALIZED VIEW v TABLESPACE hakaru_space AS SELECT a FROM t; CREATE INDEX k ON v (a) TABLESPACE hakaru_space; \
         CREATE TABLE \"P\" (a int, b int, PRIMARY KEY (a)) PARTITION BY RANGE (a) TABLESPACE hakaru_space; \
         CREATE TABLE p_one PARTITION OF \"P\" FOR VALUES FROM (1) TO (2); ALTER TABLE p_one SET TABLESPACE pg_default; \
         CREATE TABLE p_two PARTITION OF \"P\" FOR VALUES FROM (2) TO (3);",
    ),
    (
        "owners",
        "CREATE SCHEMA app; ALTER SCHEMA app OWNER TO user1; CREATE TABLE t (a int); ALTER TABLE t OWNER TO user2; \
         CREATE FUNCTION f(a int, b text DEFAULT 'x') RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; \
         ALTER FUNCTION f(int, text) OWNER TO user1; REVOKE ALL ON FUNCTION f(int, text) FROM PUBLIC; \
         GRANT EXECUTE ON FUNCTION f(int, text) TO user3; CREATE PROCEDURE act() LANGUAGE sql AS 'SELECT 1'; \
         ALTER PROCEDURE act() OWNER TO user2; CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int); \
         ALTER AGGREGATE total(int) OWNER TO user1; CREATE AGGREGATE every(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0'); \
         ALTER AGGREGATE every(*) OWNER TO user2; CREATE TYPE mood AS ENUM ('sad'); ALTER TYPE mood OWNER TO user1; \
         CREATE DOMAIN pos AS int; ALTER DOMAIN pos OWNER TO user2; CREATE TYPE \"Spot\" AS (x int); ALTER TYPE \"Spot\" OWNER TO user3; \
         CREATE TYPE fr AS RANGE (SUBTYPE = float8); ALTER TYPE fr OWNER TO user1; \
         CREATE COLLATION own FROM \"C\"; ALTER COLLATION own OWNER TO user2; \
         CREATE CONVERSION conv FOR 'UTF8' TO 'LATIN1' FROM utf8_to_iso8859_1; ALTER CONVERSION conv OWNER TO user1; \
         CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq); ALTER OPERATOR === (int, int) OWNER TO user1; \
         CREATE OPERATOR FAMILY fam USING btree; ALTER OPERATOR FAMILY fam USING btree OWNER TO user2; \
         CREATE TEXT SEARCH DICTIONARY words (TEMPLATE = simple); ALTER TEXT SEARCH DICTIONARY words OWNER TO user1; \
         CREATE TEXT SEARCH CONFIGURATION own (COPY = simple); ALTER TEXT SEARCH CONFIGURATION own OWNER TO user2; \
         CREATE STATISTICS pair ON a, (a + 1) FROM t; ALTER STATISTICS pair OWNER TO user3; \
         CREATE FOREIGN DATA WRAPPER far; CREATE SERVER there FOREIGN DATA WRAPPER far; ALTER SERVER there OWNER TO user1; \
         CREATE PUBLICATION partly FOR TABLE t; ALTER PUBLICATION partly OWNER TO user2;",
    ),
    (
        "storage of an inherited column",
        "CREATE TABLE p (a text, b numeric, c text); ALTER TABLE p ALTER COLUMN a SET STORAGE EXTERNAL; CREATE TABLE q (d int) INHERITS (p); \
         ALTER TABLE ONLY q ALTER COLUMN b SET STORAGE PLAIN; ALTER TABLE ONLY q ALTER COLUMN c SET COMPRESSION pglz; \
         CREATE TABLE r () INHERITS (q); ALTER TABLE ONLY r ALTER COLUMN a SET STORAGE MAIN;",
    ),
    (
        "foreign table",
        "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER there FOREIGN DATA WRAPPER far; CREATE SCHEMA app; CREATE TYPE mood AS ENUM ('sad'); \
         CREATE FOREIGN TABLE app.ft (id int OPTIONS (column_name 'it''s', \"Key\" 'true') NOT NULL, at timestamptz DEFAULT now(), \
             t text COLLATE \"C\", m mood, g int GENERATED ALWAYS AS (id * 2) STORED, CONSTRAINT few CHECK (id < 9)) \
             SERVER there OPTIONS (table_name 'x', schema_name 'y'); COMMENT ON FOREIGN TABLE app.ft IS 'away'; \
         COMMENT ON COLUMN app.ft.t IS 'text'; ALTER FOREIGN TABLE app.ft OWNER TO user1; GRANT SELECT ON app.ft TO user2; \
         CREATE VIEW v AS SELECT id, t FROM app.ft; CREATE TABLE p (id int, at date) PARTITION BY RANGE (id); \
         CREATE FOREIGN TABLE p_old PARTITION OF p FOR VALUES FROM (1) TO (10) SERVER there OPTIONS (table_name 'old'); \
         CREATE TABLE parent (a int, b text); CREATE FOREIGN TABLE child (c int) INHERITS (parent) SERVER there; \
         ALTER FOREIGN TABLE ONLY app.ft ALTER COLUMN id SET STATISTICS 50; \
         CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'; \
         CREATE TRIGGER one BEFORE UPDATE OF id ON app.ft FOR EACH ROW WHEN (new.id > 3) EXECUTE FUNCTION act('x'); \
         CREATE TRIGGER two AFTER INSERT ON app.ft FOR EACH STATEMENT EXECUTE FUNCTION act(); \
         ALTER FOREIGN TABLE app.ft DISABLE TRIGGER two; COMMENT ON TRIGGER one ON app.ft IS 'above';",
    ),
    (
        "typed table",
        "CREATE TYPE addr AS (street text COLLATE \"C\", house numeric(6,2), tags text[]); \
         CREATE TABLE t OF addr (house WITH OPTIONS DEFAULT 3 NOT NULL, PRIMARY KEY (street)); CREATE TABLE u OF addr; \
         ALTER TABLE u ADD CONSTRAINT few CHECK (house < 9); CREATE VIEW v AS SELECT street FROM t;",
    ),
];

/// The same of version 17 and later.
pub(super) const SINCE_17: [(&str, &str); 1] = [(
    "maintenance",
    "CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t; GRANT MAINTAIN ON t TO user1; GRANT ALL ON t TO user2; \
     GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON t TO user3; GRANT MAINTAIN, SELECT ON v TO user3 WITH GRANT OPTION; \
     ALTER DEFAULT PRIVILEGES GRANT MAINTAIN ON TABLES TO user1; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO user2;",
)];

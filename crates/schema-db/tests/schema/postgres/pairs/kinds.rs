//! Objects of kinds beside the four tables, each in one of several forms.

use crate::pairs::{Form, bare, form};

/// Forms by kind.
pub(super) const KINDS: [&[Form]; 21] = [
    RANGE,
    COLLATION,
    OPERATOR,
    OPERATOR_CLASS,
    CAST,
    TEXT_SEARCH,
    FOREIGN,
    PUBLICATION,
    EVENT_TRIGGER,
    INHERITANCE,
    PARTITIONS,
    TYPED,
    SEQUENCE,
    SCHEMA,
    CONVERSION,
    ACCESS_METHOD,
    COLUMN_OPTIONS,
    TABLE_OPTIONS,
    VIEWS,
    IDENTITY,
    DOMAIN,
];

const RANGE: &[Form] = &[
    bare(&["CREATE TYPE span AS RANGE (SUBTYPE = integer)"]),
    bare(&["CREATE TYPE span AS RANGE (SUBTYPE = bigint)"]),
    bare(&["CREATE TYPE span AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = float8mi)"]),
    bare(&[
        "CREATE TYPE span AS RANGE (SUBTYPE = integer)",
        "COMMENT ON TYPE span IS 'from, to'",
    ]),
];

const COLLATION: &[Form] = &[
    bare(&["CREATE COLLATION own FROM \"C\""]),
    bare(&["CREATE COLLATION own FROM \"POSIX\""]),
    bare(&["CREATE COLLATION own (provider = icu, locale = 'de')"]),
    bare(&[
        "CREATE COLLATION own (provider = icu, locale = 'de', deterministic = false)",
        "COMMENT ON COLLATION own IS 'as in books'",
    ]),
];

const OPERATOR: &[Form] = &[
    bare(&["CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4eq)"]),
    bare(&[
        "CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4eq, COMMUTATOR = ===)",
    ]),
    bare(&[
        "CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4ne, RESTRICT = neqsel)",
    ]),
    bare(&["CREATE OPERATOR === (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8eq)"]),
];

const OPERATOR_CLASS: &[Form] = &[
    form(
        &[
            "CREATE OPERATOR CLASS backwards FOR TYPE integer USING btree AS OPERATOR 1 >(integer,integer), \
             OPERATOR 2 >=(integer,integer), OPERATOR 3 =(integer,integer), OPERATOR 4 <=(integer,integer), OPERATOR 5 <(integer,integer), \
             FUNCTION 1 (integer, integer) btint4cmp(integer,integer)",
            "CREATE TABLE classed (id bigint PRIMARY KEY, x integer)",
            "CREATE INDEX classed_x ON classed (x backwards)",
        ],
        &[("classed", &["x"])],
    ),
    form(
        &[
            "CREATE OPERATOR FAMILY mixed USING btree",
            "CREATE TABLE classed (id bigint PRIMARY KEY, x integer)",
            "CREATE INDEX classed_x ON classed (x)",
        ],
        &[("classed", &["x"])],
    ),
];

const CAST: &[Form] = &[
    bare(&[
        "CREATE TYPE coin AS (x integer)",
        "CREATE FUNCTION worth(coin) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1.x'",
        "CREATE CAST (coin AS integer) WITH FUNCTION worth(coin)",
    ]),
    bare(&[
        "CREATE TYPE coin AS (x integer)",
        "CREATE FUNCTION worth(coin) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1.x'",
        "CREATE CAST (coin AS integer) WITH FUNCTION worth(coin) AS ASSIGNMENT",
    ]),
    bare(&[
        "CREATE TYPE coin AS (x integer, y integer)",
        "CREATE FUNCTION worth(coin) RETURNS integer LANGUAGE sql STABLE AS 'SELECT $1.x + $1.y'",
        "CREATE CAST (coin AS integer) WITH FUNCTION worth(coin) AS IMPLICIT",
    ]),
];

const TEXT_SEARCH: &[Form] = &[
    bare(&[
        "CREATE TEXT SEARCH DICTIONARY words (TEMPLATE = simple)",
        "CREATE TEXT SEARCH CONFIGURATION own (PARSER = \"default\")",
    ]),
    bare(&[
        "CREATE TEXT SEARCH DICTIONARY words (TEMPLATE = simple, stopwords = 'english')",
        "CREATE TEXT SEARCH CONFIGURATION own (PARSER = \"default\")",
        "ALTER TEXT SEARCH CONFIGURATION own ADD MAPPING FOR asciiword WITH words",
    ]),
    bare(&[
        "CREATE TEXT SEARCH DICTIONARY words (TEMPLATE = simple, accept = false)",
        "CREATE TEXT SEARCH CONFIGURATION own (PARSER = \"default\")",
        "ALTER TEXT SEARCH CONFIGURATION own ADD MAPPING FOR asciiword, word WITH words, simple",
    ]),
];

const FOREIGN: &[Form] = &[
    bare(&[
        "CREATE FOREIGN DATA WRAPPER far",
        "CREATE SERVER there VERSION '1' FOREIGN DATA WRAPPER far",
        "CREATE FOREIGN TABLE away (id bigint, x integer) SERVER there",
    ]),
    bare(&[
        "CREATE FOREIGN DATA WRAPPER far OPTIONS (debug 'true')",
        "CREATE SERVER there VERSION '1' FOREIGN DATA WRAPPER far OPTIONS (host 'h', port '1')",
        "CREATE USER MAPPING FOR user1 SERVER there OPTIONS (\"user\" 'me')",
        "CREATE FOREIGN TABLE away (id bigint NOT NULL, x bigint OPTIONS (column_name 'X')) SERVER there OPTIONS (table_name 'a')",
    ]),
    bare(&[
        "CREATE FOREIGN DATA WRAPPER far",
        "CREATE SERVER there VERSION '2' FOREIGN DATA WRAPPER far OPTIONS (host 'i')",
        "CREATE USER MAPPING FOR user1 SERVER there",
        "CREATE FOREIGN TABLE away (id bigint, x integer DEFAULT 2, y text) SERVER there OPTIONS (table_name 'b')",
        "CREATE TRIGGER away_seen BEFORE UPDATE ON away FOR EACH ROW EXECUTE FUNCTION noted()",
    ]),
];

const PUBLICATION: &[Form] = &[
    bare(&["CREATE PUBLICATION news FOR ALL TABLES"]),
    bare(&["CREATE PUBLICATION news FOR ALL TABLES WITH (publish = 'insert, delete')"]),
    bare(&["CREATE PUBLICATION news FOR TABLES IN SCHEMA public"]),
    form(
        &[
            "CREATE TABLE told (id bigint PRIMARY KEY, x integer)",
            "CREATE PUBLICATION news FOR TABLE told (id) WHERE (id > 5)",
        ],
        &[("told", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE told (id bigint PRIMARY KEY, x integer)",
            "CREATE PUBLICATION news FOR TABLE told WITH (publish_via_partition_root = true)",
        ],
        &[("told", &["x"])],
    ),
];

const EVENT_TRIGGER: &[Form] = &[
    bare(&[
        "CREATE FUNCTION on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
        "CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION on_ddl()",
    ]),
    bare(&[
        "CREATE FUNCTION on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN NULL; END'",
        "CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'DROP TABLE') EXECUTE FUNCTION on_ddl()",
    ]),
    bare(&[
        "CREATE FUNCTION on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
        "CREATE EVENT TRIGGER watch ON sql_drop EXECUTE FUNCTION on_ddl()",
        "ALTER EVENT TRIGGER watch DISABLE",
    ]),
];

const INHERITANCE: &[Form] = &[
    form(
        &[
            "CREATE TABLE base (id bigint PRIMARY KEY, x integer)",
            "CREATE TABLE child (y integer) INHERITS (base)",
        ],
        &[("base", &["x"]), ("child", &["x", "y"])],
    ),
    form(
        &[
            "CREATE TABLE base (id bigint PRIMARY KEY, x integer DEFAULT 2)",
            "CREATE TABLE child (y integer, z integer) INHERITS (base)",
            "ALTER TABLE ONLY child ALTER COLUMN x SET DEFAULT 3",
        ],
        &[("base", &["x"]), ("child", &["x", "y", "z"])],
    ),
    form(
        &[
            "CREATE TABLE base (id bigint PRIMARY KEY, x bigint, w integer, CHECK (x > -5))",
            "CREATE TABLE child (y bigint NOT NULL) INHERITS (base)",
        ],
        &[("base", &["x", "w"]), ("child", &["x", "w", "y"])],
    ),
];

const PARTITIONS: &[Form] = &[
    form(
        &[
            "CREATE TABLE parts (id bigint NOT NULL, x integer) PARTITION BY RANGE (id)",
            "CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (1) TO (4)",
        ],
        &[("parts", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE parts (id bigint NOT NULL, x bigint, PRIMARY KEY (id)) PARTITION BY RANGE (id)",
            "CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (1) TO (4)",
            "CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (4) TO (9)",
            "CREATE INDEX parts_x ON parts (x)",
        ],
        &[("parts", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE parts (id bigint NOT NULL, x integer, y integer DEFAULT 2) PARTITION BY RANGE (id)",
            "CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (1) TO (4)",
            "CREATE TABLE parts_rest PARTITION OF parts DEFAULT",
            "CREATE UNIQUE INDEX parts_once ON parts (id)",
        ],
        &[("parts", &["x", "y"])],
    ),
];

const TYPED: &[Form] = &[
    form(
        &[
            "CREATE TYPE shape AS (id bigint, x integer)",
            "CREATE TABLE typed OF shape (PRIMARY KEY (id))",
        ],
        &[("typed", &["x"])],
    ),
    form(
        &[
            "CREATE TYPE shape AS (id bigint, x integer)",
            "CREATE TABLE typed OF shape (x WITH OPTIONS DEFAULT 3, CHECK (x < 9))",
        ],
        &[("typed", &["x"])],
    ),
    form(
        &[
            "CREATE TYPE shape AS (id bigint, x integer, y text)",
            "CREATE TABLE typed OF shape",
        ],
        &[("typed", &["x", "y"])],
    ),
    form(
        &["CREATE TABLE typed (id bigint PRIMARY KEY, x integer)"],
        &[("typed", &["x"])],
    ),
];

const SEQUENCE: &[Form] = &[
    bare(&["CREATE SEQUENCE counts"]),
    bare(&["CREATE SEQUENCE counts AS integer START WITH 5 INCREMENT BY 2"]),
    bare(&["CREATE SEQUENCE counts MAXVALUE 900 CYCLE CACHE 5"]),
    form(
        &[
            "CREATE TABLE counted (id bigint PRIMARY KEY, x integer)",
            "CREATE SEQUENCE counts OWNED BY counted.x",
        ],
        &[("counted", &["x"])],
    ),
];

const SCHEMA: &[Form] = &[
    form(
        &[
            "CREATE SCHEMA app",
            "CREATE TABLE app.kept (id bigint PRIMARY KEY, x integer)",
        ],
        &[("app.kept", &["x"])],
    ),
    form(
        &[
            "CREATE SCHEMA app",
            "COMMENT ON SCHEMA app IS 'its own'",
            "CREATE TYPE app.mood AS ENUM ('1', '2', '3')",
            "CREATE TABLE app.kept (id bigint PRIMARY KEY, x bigint, m app.mood)",
            "CREATE VIEW app.seen AS SELECT id, m FROM app.kept",
        ],
        &[("app.kept", &["x", "m"])],
    ),
];

const CONVERSION: &[Form] = &[
    bare(&["CREATE CONVERSION conv FOR 'UTF8' TO 'LATIN1' FROM utf8_to_iso8859_1"]),
    bare(&["CREATE DEFAULT CONVERSION conv FOR 'UTF8' TO 'LATIN1' FROM utf8_to_iso8859_1"]),
    bare(&[
        "CREATE CONVERSION conv FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8",
        "COMMENT ON CONVERSION conv IS 'back'",
    ]),
];

const ACCESS_METHOD: &[Form] = &[
    form(
        &[
            "CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler",
            "CREATE TABLE stored (id bigint PRIMARY KEY, x integer) USING heap2",
        ],
        &[("stored", &["x"])],
    ),
    form(
        &["CREATE TABLE stored (id bigint PRIMARY KEY, x integer)"],
        &[("stored", &["x"])],
    ),
    form(
        &["CREATE UNLOGGED TABLE stored (id bigint PRIMARY KEY, x bigint)"],
        &[("stored", &["x"])],
    ),
];

const COLUMN_OPTIONS: &[Form] = &[
    form(
        &["CREATE TABLE fine (id bigint PRIMARY KEY, x text COLLATE \"C\")"],
        &[("fine", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE fine (id bigint PRIMARY KEY, x text COMPRESSION pglz)",
            "ALTER TABLE fine ALTER COLUMN x SET STORAGE EXTERNAL",
            "ALTER TABLE ONLY fine ALTER COLUMN x SET STATISTICS 500",
        ],
        &[("fine", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE fine (id bigint PRIMARY KEY, x text)",
            "ALTER TABLE ONLY fine ALTER COLUMN x SET (n_distinct = 5)",
            "CREATE INDEX fine_both ON fine ((id + 1))",
            "ALTER INDEX fine_both ALTER COLUMN 1 SET STATISTICS 200",
        ],
        &[("fine", &["x"])],
    ),
];

const TABLE_OPTIONS: &[Form] = &[
    form(
        &[
            "CREATE TABLE tuned (id bigint PRIMARY KEY, x integer) WITH (fillfactor = 70)",
            "ALTER TABLE ONLY tuned REPLICA IDENTITY FULL",
        ],
        &[("tuned", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE tuned (id bigint PRIMARY KEY, x integer NOT NULL) WITH (fillfactor = 90, autovacuum_enabled = false)",
            "CREATE UNIQUE INDEX tuned_x ON tuned (x)",
            "ALTER TABLE ONLY tuned REPLICA IDENTITY USING INDEX tuned_x",
        ],
        &[("tuned", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE tuned (id bigint PRIMARY KEY, x bigint)",
            "CREATE INDEX tuned_x ON tuned (x) TABLESPACE hakaru_space",
            "ALTER TABLE tuned CLUSTER ON tuned_x",
        ],
        &[("tuned", &["x"])],
    ),
    form(
        &["CREATE TABLE tuned (id bigint PRIMARY KEY, x integer) TABLESPACE hakaru_space"],
        &[("tuned", &["x"])],
    ),
];

const VIEWS: &[Form] = &[
    form(
        &[
            "CREATE TABLE looked (id bigint PRIMARY KEY, x integer)",
            "CREATE VIEW look AS SELECT id, x FROM looked",
            "CREATE VIEW look_again AS SELECT id FROM look",
        ],
        &[("looked", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE looked (id bigint PRIMARY KEY, x bigint)",
            "CREATE VIEW look WITH (security_barrier = true) AS SELECT id, x FROM looked WITH LOCAL CHECK OPTION",
            "ALTER VIEW look ALTER COLUMN x SET DEFAULT 4",
            "CREATE MATERIALIZED VIEW look_again AS SELECT id FROM look",
            "CREATE UNIQUE INDEX look_once ON look_again (id)",
        ],
        &[("looked", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE looked (id bigint PRIMARY KEY, x integer)",
            "CREATE RECURSIVE VIEW look (id) AS SELECT id FROM looked UNION ALL SELECT id + 1 FROM look WHERE id < 3",
        ],
        &[("looked", &["x"])],
    ),
];

const IDENTITY: &[Form] = &[
    form(
        &[
            "CREATE TABLE numbered (id bigint PRIMARY KEY, x integer GENERATED BY DEFAULT AS IDENTITY)",
        ],
        &[("numbered", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE numbered (id bigint PRIMARY KEY, x bigint GENERATED BY DEFAULT AS IDENTITY (START WITH 7 INCREMENT BY 3))",
        ],
        &[("numbered", &["x"])],
    ),
    form(
        &["CREATE TABLE numbered (id bigint PRIMARY KEY, x integer NOT NULL)"],
        &[("numbered", &["x"])],
    ),
    form(
        &["CREATE TABLE numbered (id bigint PRIMARY KEY, x serial)"],
        &[("numbered", &["x"])],
    ),
];

const DOMAIN: &[Form] = &[
    form(
        &[
            "CREATE DOMAIN whole AS integer CHECK (VALUE > -5)",
            "CREATE DOMAIN few AS whole CHECK (VALUE < 9)",
            "CREATE TABLE held (id bigint PRIMARY KEY, x few)",
        ],
        &[("held", &["x"])],
    ),
    form(
        &[
            "CREATE DOMAIN whole AS integer DEFAULT 1",
            "CREATE DOMAIN few AS whole NOT NULL",
            "CREATE TABLE held (id bigint PRIMARY KEY, x few, y whole)",
            "COMMENT ON DOMAIN few IS 'not many'",
        ],
        &[("held", &["x", "y"])],
    ),
    form(
        &[
            "CREATE DOMAIN few AS bigint CONSTRAINT low CHECK (VALUE < 100)",
            "CREATE TABLE held (id bigint PRIMARY KEY, x few)",
        ],
        &[("held", &["x"])],
    ),
];

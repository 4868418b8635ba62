//! Each kind of object: created on the server from hand-written SQL, exported, loaded into an empty
//! database, exported again.

use super::OnServer;
use crate::bench::{self, Bench, Scratch};

/// Statements creating objects of one kind, with prerequisites.
struct Kind {
    name: &'static str,
    /// Variables of the only servers with the feature.
    variables: &'static [&'static str],
    made: &'static [&'static str],
}

const MYSQL: &str = "HAKARU_TEST_MYSQL_URL";
const MARIADB: &str = "HAKARU_TEST_MARIADB_URL";
const NEWER_MARIADB: &str = "HAKARU_TEST_MARIADB118_URL";
const ALL: &[&str] = &[MYSQL, MARIADB, NEWER_MARIADB];
const MARIADBS: &[&str] = &[MARIADB, NEWER_MARIADB];

const fn kind(
    name: &'static str,
    variables: &'static [&'static str],
    made: &'static [&'static str],
) -> Kind {
    Kind {
        name,
        variables,
        made,
    }
}

const KINDS: &[Kind] = &[
    kind(
        "procedure",
        ALL,
        &[
            "CREATE TABLE t (a int)",
            "CREATE PROCEDURE fill(IN n int, OUT done int) MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT 'it''s; all' \
             BEGIN DECLARE i int DEFAULT 0; one: WHILE i < n DO INSERT INTO t VALUES (i); SET i = i + 1; END WHILE one; SET done = i; END",
        ],
    ),
    kind(
        "function",
        ALL,
        &[
            "CREATE FUNCTION `twice me`(n decimal(8,2)) RETURNS varchar(20) CHARSET utf8mb4 DETERMINISTIC NO SQL RETURN concat(n * 2, ';')",
        ],
    ),
    kind(
        "event",
        ALL,
        &[
            "CREATE TABLE t (a int)",
            "CREATE EVENT e ON SCHEDULE EVERY '1:30' HOUR_MINUTE STARTS '2031-01-01 00:00:00' ENDS '2032-01-01 00:00:00' \
             ON COMPLETION PRESERVE DISABLE COMMENT 'cleans' DO BEGIN DELETE FROM t; DELETE FROM t; END",
            "CREATE EVENT once ON SCHEDULE AT '2031-01-01 00:00:00' ON COMPLETION PRESERVE DISABLE DO DELETE FROM t",
        ],
    ),
    kind(
        "trigger",
        ALL,
        &[
            "CREATE TABLE t (a int, b int)",
            "CREATE TRIGGER second BEFORE INSERT ON t FOR EACH ROW SET NEW.b = NEW.a",
            "CREATE TRIGGER first BEFORE INSERT ON t FOR EACH ROW PRECEDES second BEGIN IF NEW.a IS NULL THEN SET NEW.a = 1; END IF; END",
            "CREATE TRIGGER last AFTER DELETE ON t FOR EACH ROW SET @gone = OLD.a",
        ],
    ),
    kind(
        "view",
        ALL,
        &[
            "CREATE TABLE t (a int, `B c` varchar(9))",
            "CREATE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW z AS SELECT a, `B c` AS `d e` FROM t WHERE a > 1 WITH LOCAL CHECK OPTION",
            "CREATE VIEW a (x) AS SELECT count(*) FROM z GROUP BY a HAVING count(*) > 2",
        ],
    ),
    kind(
        "partition",
        ALL,
        &[
            "CREATE TABLE r (a int, b date) PARTITION BY RANGE (year(b)) SUBPARTITION BY HASH (a) SUBPARTITIONS 2 \
             (PARTITION p0 VALUES LESS THAN (2000), PARTITION p1 VALUES LESS THAN MAXVALUE COMMENT = 'rest')",
            "CREATE TABLE l (a int, b varchar(9)) PARTITION BY LIST COLUMNS (a, b) (PARTITION x VALUES IN ((1, 'a'), (2, NULL)))",
            "CREATE TABLE h (a int NOT NULL PRIMARY KEY) PARTITION BY LINEAR HASH (a) PARTITIONS 3",
            "CREATE TABLE k (a int NOT NULL PRIMARY KEY) PARTITION BY KEY () PARTITIONS 2",
        ],
    ),
    kind(
        "generated column",
        ALL,
        &[
            "CREATE TABLE t (a int, b int AS (a + 1), c varchar(20) GENERATED ALWAYS AS (concat('x''', a)) STORED COMMENT 'made', KEY (c), KEY (b))",
        ],
    ),
    kind(
        "check",
        ALL,
        &[
            "CREATE TABLE t (a int CHECK (a > 0), b varchar(9), CONSTRAINT `few of` CHECK (b IN ('x', 'it''s') OR a BETWEEN 1 AND 9))",
        ],
    ),
    kind(
        "fulltext and spatial index",
        ALL,
        &[
            "CREATE TABLE t (id int PRIMARY KEY, a text, b text, p point NOT NULL, FULLTEXT KEY words (a, b), SPATIAL KEY place (p))",
        ],
    ),
    kind(
        "invisible column",
        ALL,
        &["CREATE TABLE t (a int, b int DEFAULT 3 INVISIBLE COMMENT 'hidden')"],
    ),
    kind(
        "foreign key",
        ALL,
        &[
            "CREATE TABLE z (id int PRIMARY KEY, up int, CONSTRAINT self FOREIGN KEY (up) REFERENCES z (id) ON DELETE SET NULL)",
            "CREATE TABLE a (id int PRIMARY KEY, z int, FOREIGN KEY (z) REFERENCES z (id) ON DELETE CASCADE ON UPDATE CASCADE)",
        ],
    ),
    kind(
        "table",
        ALL,
        &[
            "CREATE TABLE t (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, e enum('a','b,c') NOT NULL DEFAULT 'b,c', s set('x','y'), \
             j json, y year, bits bit(3) DEFAULT b'101', at timestamp(3) NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), \
             l varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'it''s', KEY part (l(5) DESC) COMMENT 'some') \
             COMMENT='a /* b */ c; d' ROW_FORMAT=DYNAMIC STATS_PERSISTENT=1",
            "CREATE TABLE m (a int) ENGINE=MyISAM MAX_ROWS=100 DEFAULT CHARSET=latin1",
        ],
    ),
    kind(
        "tablespace of a table",
        &[MYSQL],
        &["CREATE TABLE t (a int) TABLESPACE=innodb_system"],
    ),
    kind(
        "functional, multi-valued and hidden index",
        &[MYSQL],
        &[
            "CREATE TABLE t (a int, b varchar(9), j json, KEY hidden (a) INVISIBLE, KEY low ((lower(b))), KEY many ((CAST(j->'$.x' AS unsigned ARRAY))), \
             CONSTRAINT lax CHECK (a > 1) NOT ENFORCED)",
        ],
    ),
    kind(
        "ngram index and system of coordinates",
        &[MYSQL],
        &[
            "CREATE TABLE t (id int PRIMARY KEY, a text, p point NOT NULL SRID 4326, v vector(3), FULLTEXT KEY f (a) WITH PARSER ngram)",
        ],
    ),
    kind(
        "system versioning",
        MARIADBS,
        &[
            "CREATE TABLE t (a int, b int WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING",
            "CREATE TABLE u (a int, f timestamp(6) GENERATED ALWAYS AS ROW START, g timestamp(6) GENERATED ALWAYS AS ROW END, \
             PERIOD FOR SYSTEM_TIME (f, g)) WITH SYSTEM VERSIONING",
            "CREATE TABLE w (a int) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME (PARTITION past HISTORY, PARTITION now CURRENT)",
        ],
    ),
    kind(
        "default that counts by a sequence",
        MARIADBS,
        &[
            "CREATE SEQUENCE z START WITH 7",
            "CREATE TABLE a (id bigint NOT NULL DEFAULT nextval(z) PRIMARY KEY, n int DEFAULT (nextval(z) + 1))",
        ],
    ),
    kind(
        "sequence",
        MARIADBS,
        &[
            "CREATE SEQUENCE s START WITH 5 INCREMENT BY 3 MINVALUE 2 MAXVALUE 999 CACHE 10 CYCLE",
            "CREATE TABLE t (a int, u uuid DEFAULT uuid())",
        ],
    ),
    kind(
        "period",
        MARIADBS,
        &[
            "CREATE TABLE t (id int, a date, b date, PERIOD FOR valid (a, b), UNIQUE KEY one (id, valid WITHOUT OVERLAPS), KEY lost (id) IGNORED)",
        ],
    ),
    kind(
        "package",
        MARIADBS,
        &[
            "CREATE PACKAGE pack COMMENT 'it''s' AS FUNCTION one RETURN int; PROCEDURE two(a int, b OUT int); END",
            "CREATE PACKAGE BODY pack AS hidden int := 5; FUNCTION one RETURN int AS BEGIN RETURN hidden; END; \
             PROCEDURE two(a int, b OUT int) AS c int; BEGIN IF a IS NULL THEN c := 2; END IF; b := c; END; BEGIN hidden := 7; END",
            "CREATE PACKAGE alone AS PROCEDURE act; END",
        ],
    ),
    kind(
        "vector index",
        &[NEWER_MARIADB],
        &[
            "CREATE TABLE t (id int PRIMARY KEY, v vector(3) NOT NULL, VECTOR INDEX near (v) M=16 DISTANCE=cosine)",
        ],
    ),
];

/// A role and a user with privileges of each kind.
const PRIVILEGES: &[&str] = &[
    "CREATE TABLE t (a int, b int)",
    "CREATE VIEW v AS SELECT a FROM t",
    "CREATE PROCEDURE p() SELECT 1",
    "CREATE FUNCTION f() RETURNS int DETERMINISTIC RETURN 1",
    "CREATE ROLE IF NOT EXISTS kinds_reader",
    "CREATE USER IF NOT EXISTS kinds_app@localhost",
    "GRANT SELECT, LOCK TABLES ON * TO kinds_reader",
    "GRANT ALL ON * TO kinds_app@localhost WITH GRANT OPTION",
    "GRANT ALL PRIVILEGES ON t TO kinds_app@localhost",
    "GRANT SELECT (a), UPDATE (a, b) ON t TO kinds_reader",
    "GRANT SELECT ON v TO kinds_reader",
    "GRANT EXECUTE ON PROCEDURE p TO kinds_app@localhost WITH GRANT OPTION",
    "GRANT ALL ON FUNCTION f TO kinds_reader",
];

/// The same of packages.
const ON_PACKAGES: &[&str] = &[
    "CREATE PACKAGE pack AS FUNCTION one RETURN int; END",
    "CREATE PACKAGE BODY pack AS FUNCTION one RETURN int AS BEGIN RETURN 1; END; END",
    "CREATE ROLE IF NOT EXISTS kinds_packer",
    "GRANT EXECUTE ON PACKAGE pack TO kinds_packer",
    "GRANT ALL ON PACKAGE BODY pack TO kinds_packer WITH GRANT OPTION",
];

#[test]
fn privileges_on_packages_go_there_and_come_back() {
    let privileges = kind("privileges on packages", MARIADBS, ON_PACKAGES);
    for variable in MARIADBS {
        let bench = OnServer::new(variable);
        let done = round_trip(&bench, &privileges);
        let other = ON_PACKAGES[0].replace("END", "FUNCTION two RETURN int; END");
        let body = "CREATE PACKAGE BODY pack AS FUNCTION one RETURN int AS BEGIN RETURN 1; END; \
                    FUNCTION two RETURN int AS BEGIN RETURN 2; END; END";
        let remade = format!("{other};\n{body};\n");
        let done = done.and_then(|()| remade_keeps_privileges(&bench, ON_PACKAGES, &remade, 2));
        let mut scratch = bench.empty();
        scratch
            .database()
            .execute("DROP ROLE kinds_packer")
            .unwrap();
        done.unwrap_or_else(|error| panic!("{variable}: {error}"));
    }
}

/// A recreated routine or package keeps the privileges of others: so many statements.
fn remade_keeps_privileges(
    bench: &OnServer,
    made: &[&str],
    wanted: &str,
    count: usize,
) -> Result<(), String> {
    let mut scratch = bench.empty();
    bench::run(&mut *scratch, made.iter().copied())?;
    bench::reach(&mut *scratch, wanted)?;
    let exported = scratch.database().export().map_err(|error| error.message)?;
    match exported.matches("GRANT ").count() == count + exported.matches("GRANT OPTION").count() {
        true => Ok(()),
        false => Err(format!("not {count} grants in\n{exported}")),
    }
}

#[test]
fn a_recreated_routine_keeps_its_privileges() {
    let made = [
        "CREATE PROCEDURE p() SELECT 1",
        "CREATE FUNCTION f() RETURNS int DETERMINISTIC RETURN 1",
        "CREATE ROLE IF NOT EXISTS kinds_caller",
        "GRANT EXECUTE ON PROCEDURE p TO kinds_caller",
        "GRANT ALTER ROUTINE ON FUNCTION f TO kinds_caller WITH GRANT OPTION",
    ];
    let wanted =
        "CREATE PROCEDURE p() SELECT 2;\nCREATE FUNCTION f() RETURNS int DETERMINISTIC RETURN 2;\n";
    for variable in ALL {
        let bench = OnServer::new(variable);
        let done = remade_keeps_privileges(&bench, &made, wanted, 2);
        let mut scratch = bench.empty();
        scratch
            .database()
            .execute("DROP ROLE kinds_caller")
            .unwrap();
        done.unwrap_or_else(|error| panic!("{variable}: {error}"));
    }
}

#[test]
fn privileges_go_there_and_come_back() {
    let privileges = kind("privileges", ALL, PRIVILEGES);
    for variable in ALL {
        let bench = OnServer::new(variable);
        let done = round_trip(&bench, &privileges);
        let done = done.and_then(|()| managed(&bench));
        let mut scratch = bench.empty();
        for sql in ["DROP ROLE kinds_reader", "DROP USER kinds_app@localhost"] {
            scratch.database().execute(sql).unwrap();
        }
        done.unwrap_or_else(|error| panic!("{variable}: {error}"));
    }
}

/// What a managed role may do becomes what the text says, and nobody else's privileges change.
fn managed(bench: &OnServer) -> Result<(), String> {
    let mut scratch = bench.empty();
    bench::run(&mut *scratch, PRIVILEGES.iter().copied())?;
    let server = scratch.database().server().clone();
    let mut wanted = written(&kind("privileges", ALL, &PRIVILEGES[..6]));
    wanted.push_str(
        "GRANT SELECT, SHOW VIEW ON * TO kinds_reader; GRANT UPDATE (b) ON t TO kinds_reader WITH GRANT OPTION;",
    );
    let options = schema::PlanOptions {
        managed_roles: vec!["kinds_reader".to_owned()],
        ..schema::PlanOptions::default()
    };
    let plan = |from: &schema::Schema| {
        let to = bench::load(&wanted, &server)?;
        schema::plan(from, &to, &options).map_err(|error| error.to_string())
    };
    let mut first = plan(&bench::exported(&mut *scratch)?)?;
    let revoked = |statement: &&schema::Statement| statement.verb == schema::Verb::Revoke;
    first.hold_back(&schema::Allowed::default());
    if first.applied().any(|statement| revoked(&statement)) {
        return Err(format!("nobody allowed it: {}", bench::spelled(&first)));
    }
    let all = first.statements.iter().map(|each| each.sql.as_str());
    bench::run(&mut *scratch, all)?;
    let text = bench::spelled(&plan(&bench::exported(&mut *scratch)?)?);
    let exported = scratch.database().export().map_err(|error| error.message)?;
    match text.is_empty() && exported.matches("kinds_app").count() == 3 {
        true => Ok(()),
        false => Err(format!("{text}\nis left to do in\n{exported}")),
    }
}

/// What is there in the server's own words.
fn shown(scratch: &mut dyn Scratch) -> Vec<String> {
    const NAMES: &str = "
        SELECT CASE TABLE_TYPE WHEN 'VIEW' THEN 'VIEW' ELSE 'TABLE' END, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
        UNION ALL SELECT 'TRIGGER', TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()
        UNION ALL SELECT 'EVENT', EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()
        UNION ALL SELECT ROUTINE_TYPE, ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()
        ORDER BY 1, 2";
    let database = scratch.database();
    let own = database.query("SELECT DATABASE()").unwrap();
    let own = own[0][0].clone().unwrap();
    let names = database.query(NAMES).unwrap();
    let mut texts = Vec::new();
    for row in names {
        let (kind, name) = (row[0].as_deref().unwrap(), row[1].as_deref().unwrap());
        let rows = database
            .query(&format!("SHOW CREATE {kind} `{name}`"))
            .unwrap();
        // The last columns of a trigger say when it was made.
        let columns = rows[0].iter().flatten().take(3);
        texts.extend(columns.map(|text| text.replace(&format!("`{own}`."), "")));
    }
    texts
}

fn round_trip(bench: &OnServer, kind: &Kind) -> Result<(), String> {
    let (mut one, mut other) = (bench.empty(), bench.empty());
    let message = |error: schema_db::DbError| error.message;
    bench::run(&mut *one, kind.made.iter().copied())?;
    let unseen = one.database().unseen().map_err(message)?;
    if !unseen.is_empty() {
        return Err(format!("not seen: {unseen:?}"));
    }
    let first = one.database().export().map_err(message)?;
    let schema = bench::load_whole(&first, &one.database().server().clone())?;
    let statements = schema.statements();
    bench::run(&mut *other, statements.iter().map(String::as_str))?;
    let second = other.database().export().map_err(message)?;
    let copied = bench::load_whole(&second, &other.database().server().clone())?;
    let (shown_first, shown_second) = (shown(&mut *one), shown(&mut *other));
    if first != second || shown_first != shown_second {
        return Err(format!(
            "{first}\n{shown_first:#?}\nbecame\n{second}\n{shown_second:#?}"
        ));
    }
    let plan = schema::plan(&copied, &schema, &schema::PlanOptions::default());
    let plan = plan.map_err(|error| error.to_string())?;
    // As it was written is the same as it is stored, too, where the server is asked.
    match plan.statements.is_empty() {
        true => bench::reach(&mut *one, &written(kind)),
        false => Err(bench::spelled(&plan)),
    }
}

fn written(kind: &Kind) -> String {
    let statements = kind.made.iter();
    statements.map(|sql| format!("{sql};\n")).collect()
}

#[test]
fn every_kind_goes_there_and_comes_back() {
    let mut failed = Vec::new();
    for variable in ALL {
        let bench = OnServer::new(variable);
        let kinds = KINDS
            .iter()
            .filter(|kind| kind.variables.contains(variable));
        let mut count = 0;
        for kind in kinds {
            count += 1;
            let done = round_trip(&bench, kind);
            let error = done.err();
            failed.extend(error.map(|error| format!("{variable}, {}: {error}", kind.name)));
        }
        println!("{variable}: {count} kinds");
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// What is not read is said by kind and name.
#[test]
fn what_is_not_read_is_said() {
    let made: [(&str, &[&str], &str); 2] = [
        (
            MYSQL,
            &[
                "CREATE TABLE t (a int)",
                "INSERT INTO t VALUES (1), (2)",
                "ANALYZE TABLE t UPDATE HISTOGRAM ON a WITH 2 BUCKETS",
            ],
            "histogram",
        ),
        (MARIADB, &["CREATE TABLE t (a int)"], ""),
    ];
    for (variable, statements, kind) in made {
        let bench = OnServer::new(variable);
        let mut scratch = bench.empty();
        for sql in statements {
            scratch.database().query(sql).unwrap();
        }
        let unseen = scratch.database().unseen().unwrap();
        let is_said = unseen.iter().any(|unseen| unseen.kind == kind);
        assert_eq!(is_said, !kind.is_empty(), "{variable}: {unseen:?}");
    }
}

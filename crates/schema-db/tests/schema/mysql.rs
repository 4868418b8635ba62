//! MySQL and MariaDB: the servers used by tests, with the applicable cases.

mod conversions;
mod features;
mod kinds;
mod pairs;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use schema::{Product, Server, Version};
use schema_db::mysql::{self, Mysql, MysqlAddress};
use schema_db::{Database, DbError, Unseen};
use serde_json::Value;

use crate::bench::{self, Bench, Scratch};
use crate::cases::{self, Exception};
use crate::losses::Change;
use crate::real;

const FILE: &str = "cases-mysql.json";

/// Name of the own database in the cases.
const CASE_DATABASE: &str = "mysqldef_test";

struct OnServer {
    address: MysqlAddress,
}

impl OnServer {
    fn new(variable: &str) -> OnServer {
        let url = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} is not set; `cargo xtask with-servers` sets it")
        });
        let address = MysqlAddress::from_url(&url).unwrap();
        // Nobody needs these databases after a power cut, and waiting for the disk is most of the
        // time.
        let mut first = mysql::connect(&address).unwrap();
        for setting in ["innodb_flush_log_at_trx_commit = 0", "sync_binlog = 0"] {
            first.execute(&format!("SET GLOBAL {setting}")).unwrap();
        }
        OnServer { address }
    }

    fn server(&self) -> Server {
        mysql::connect(&self.address).unwrap().server().clone()
    }
}

/// A database called by the cases' name in texts.
struct InDatabase {
    inner: Mysql,
    server: Server,
    name: String,
}

impl Bench for OnServer {
    fn empty(&self) -> Box<dyn Scratch> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hakaru_case_{}_{number}", std::process::id());
        let mut first = mysql::connect(&self.address).unwrap();
        first.execute(&format!("CREATE DATABASE {name}")).unwrap();
        let inner = mysql::connect(&MysqlAddress {
            database: name.clone(),
            ..self.address.clone()
        })
        .unwrap();
        let server = Server {
            database: Some(CASE_DATABASE.to_owned()),
            ..inner.server().clone()
        };
        Box::new(InDatabase {
            inner,
            server,
            name,
        })
    }
}

impl Drop for InDatabase {
    fn drop(&mut self) {
        let dropped = self.inner.execute(&format!("DROP DATABASE {}", self.name));
        if let (Err(error), false) = (dropped, std::thread::panicking()) {
            panic!("{}", error.message);
        }
    }
}

impl Database for InDatabase {
    fn server(&self) -> &Server {
        &self.server
    }

    fn export(&mut self) -> Result<String, DbError> {
        let text = self.inner.export()?;
        Ok(text.replace(&format!("`{}`.", self.name), &format!("`{CASE_DATABASE}`.")))
    }

    fn unseen(&mut self) -> Result<Vec<Unseen>, DbError> {
        self.inner.unseen()
    }

    fn execute(&mut self, sql: &str) -> Result<(), DbError> {
        // sqldef's texts of views say the database that they are in.
        let own = sql.replace(CASE_DATABASE, &self.name);
        self.inner.execute(&own)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        self.inner.query(sql)
    }

    fn is_transactional(&self) -> bool {
        self.inner.is_transactional()
    }

    fn lock(&mut self, patience: Duration) -> Result<(), DbError> {
        self.inner.lock(patience)
    }

    fn set_lock_timeout(&mut self, timeout: Duration) -> Result<(), DbError> {
        self.inner.set_lock_timeout(timeout)
    }

    fn read_back(&mut self, statements: &[String]) -> Result<String, DbError> {
        self.inner.read_back(statements)
    }
}

/// Catalogue queries, without names generated and numbered by servers.
const QUERIES: [&str; 9] = [
    "SELECT 'table', TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_COLLATION, TABLE_COMMENT, CREATE_OPTIONS \
     FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()",
    // MariaDB says the database of a sequence in a default.
    "SELECT 'column', TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME, REPLACE(COLUMN_DEFAULT, CONCAT('`', DATABASE(), '`.'), ''), IS_NULLABLE, COLUMN_TYPE, CHARACTER_SET_NAME, \
         COLLATION_NAME, COLUMN_KEY, EXTRA, COLUMN_COMMENT, GENERATION_EXPRESSION \
     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()",
    "SELECT 'index', TABLE_NAME, LOWER(INDEX_NAME), SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE, COLLATION, SUB_PART, INDEX_TYPE, INDEX_COMMENT \
     FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()",
    "SELECT 'key', k.TABLE_NAME, IF(k.CONSTRAINT_NAME LIKE '%\\_ibfk\\_%', '-', k.CONSTRAINT_NAME), k.ORDINAL_POSITION, k.COLUMN_NAME, \
         k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, REPLACE(r.UPDATE_RULE, 'NO ACTION', 'RESTRICT'), \
         REPLACE(r.DELETE_RULE, 'NO ACTION', 'RESTRICT') \
     FROM information_schema.KEY_COLUMN_USAGE AS k JOIN information_schema.REFERENTIAL_CONSTRAINTS AS r \
         ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME \
     WHERE k.TABLE_SCHEMA = DATABASE()",
    "SELECT 'check', IF(CONSTRAINT_NAME LIKE '%\\_chk\\_%' OR CONSTRAINT_NAME LIKE 'CONSTRAINT\\_%', '-', CONSTRAINT_NAME), CHECK_CLAUSE \
     FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()",
    "SELECT 'view', TABLE_NAME, REPLACE(VIEW_DEFINITION, CONCAT('`', DATABASE(), '`.'), ''), CHECK_OPTION, SECURITY_TYPE \
     FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()",
    "SELECT 'trigger', TRIGGER_NAME, EVENT_MANIPULATION, EVENT_OBJECT_TABLE, ACTION_ORDER, ACTION_STATEMENT, ACTION_TIMING \
     FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() \
     UNION ALL SELECT 'event', EVENT_NAME, INTERVAL_VALUE, INTERVAL_FIELD, STATUS, EVENT_DEFINITION, CONCAT(ON_COMPLETION, EVENT_COMMENT) \
     FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()",
    "SELECT 'routine', ROUTINE_NAME, ROUTINE_TYPE, DTD_IDENTIFIER, ROUTINE_DEFINITION, IS_DETERMINISTIC, ROUTINE_COMMENT \
     FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() \
     UNION ALL SELECT 'parameter', SPECIFIC_NAME, ORDINAL_POSITION, PARAMETER_MODE, PARAMETER_NAME, DTD_IDENTIFIER, '' \
     FROM information_schema.PARAMETERS WHERE SPECIFIC_SCHEMA = DATABASE()",
    "SELECT 'partition', TABLE_NAME, PARTITION_NAME, PARTITION_ORDINAL_POSITION, PARTITION_METHOD, PARTITION_EXPRESSION, PARTITION_DESCRIPTION \
     FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() AND PARTITION_NAME IS NOT NULL",
];

impl Scratch for InDatabase {
    fn database(&mut self) -> &mut dyn Database {
        self
    }

    fn can_be_asked(&self) -> bool {
        true
    }

    fn catalogue(&mut self) -> Vec<String> {
        let rows = QUERIES
            .iter()
            .flat_map(|query| self.inner.query(query).unwrap());
        let mut lines: Vec<String> = rows
            .map(|row| {
                row.iter()
                    .map(|value| value.as_deref().unwrap_or("-"))
                    .collect::<Vec<_>>()
                    .join(" | ")
            })
            .collect();
        lines.sort();
        lines
    }

    /// A named key keeps the name where none is wanted.
    fn is_reached(&self, ours: &[String], wanted: &[String]) -> bool {
        let as_wanted = ours.iter().map(|line| match nameless(line) {
            Some(nameless) if !wanted.contains(line) && wanted.contains(&nameless) => nameless,
            _ => line.clone(),
        });
        let mut as_wanted: Vec<String> = as_wanted.collect();
        as_wanted.sort();
        as_wanted == wanted
    }
}

/// A foreign key's line of the catalogue as if the server had named the key.
fn nameless(line: &str) -> Option<String> {
    let mut fields: Vec<&str> = line.split(" | ").collect();
    if fields.first() != Some(&"key") {
        return None;
    }
    *fields.get_mut(2)? = "-";
    Some(fields.join(" | "))
}

/// Whether a case is for such a server.
fn is_for(case: &Value, product: Product) -> bool {
    let is_old = case["max_version"].as_str().is_some();
    let word = match product {
        Product::MariaDb => "mariadb",
        _ => "mysql",
    };
    let is_flavor = match case["flavor"].as_str() {
        None => true,
        Some(flavor) => match flavor.strip_prefix('!') {
            Some(not) => not != word,
            None => flavor == word,
        },
    };
    is_flavor && !is_old
}

const TIDB: &str = "TiDB's own syntax, which no server here has";

/// Cases not accepted by any server here.
const OF_OTHERS: [Exception; 4] = [
    ("tests_tables/AddAutoRandom", TIDB),
    ("tests_tables/ChangeAutoIdCache", TIDB),
    ("tests_tables/ChangeShardRowIdBits", TIDB),
    ("tests_tables/AddShardRowIdBits", TIDB),
];

fn on_server(variable: &str, product: Product, exceptions: &[Exception]) {
    let all: Vec<Exception> = OF_OTHERS.iter().chain(exceptions).copied().collect();
    cases::on_server(
        FILE,
        &OnServer::new(variable),
        &|case| is_for(case, product),
        &all,
    );
}

#[test]
fn every_case_on_mariadb() {
    let vectors = (
        "tests_mariadb/DropVectorIndex",
        "MariaDB has vectors from 11.7 on",
    );
    on_server("HAKARU_TEST_MARIADB_URL", Product::MariaDb, &[vectors]);
}

#[test]
fn every_case_on_the_newer_mariadb() {
    on_server("HAKARU_TEST_MARIADB118_URL", Product::MariaDb, &[]);
}

#[test]
fn every_case_on_mysql() {
    on_server("HAKARU_TEST_MYSQL_URL", Product::Mysql, &[]);
}

fn as_sqldef_on_server(variable: &str, product: Product) {
    let applies = |case: &Value| is_for(case, product);
    let bench = OnServer::new(variable);
    cases::on_server_as_sqldef(FILE, &bench, &applies, &OF_OTHERS);
    cases::features_as_sqldef(&bench, features::OF_SQLDEFS_ORDER.into_iter());
}

#[test]
fn every_case_in_sqldefs_order_on_the_newer_mariadb() {
    as_sqldef_on_server("HAKARU_TEST_MARIADB118_URL", Product::MariaDb);
}

#[test]
fn every_case_in_sqldefs_order_on_mysql() {
    as_sqldef_on_server("HAKARU_TEST_MYSQL_URL", Product::Mysql);
}

/// Where sqldef's text is not what we want to write.
const SPELLED_OTHERWISE: [Exception; 1] = [(
    "tests_tables/AddAutoRandom",
    "TiDB's own; sqldef leaves the old name without quotes here and nowhere else",
)];

#[test]
fn the_drop_in_spelling_is_sqldefs() {
    let is_old = |case: &Value| case["max_version"].as_str().is_some();
    let is_mariadb = |case: &Value| case["flavor"].as_str() == Some("mariadb");
    let old = Server {
        version: Some(Version(5, 7, 0)),
        ..Server::unknown(Product::Mysql)
    };
    cases::spelled_as_sqldef(FILE, &old, &is_old, &[]);
    cases::spelled_as_sqldef(FILE, &Server::unknown(Product::MariaDb), &is_mariadb, &[]);
    let is_other = |case: &Value| !is_old(case) && !is_mariadb(case);
    cases::spelled_as_sqldef(
        FILE,
        &Server::unknown(Product::Mysql),
        &is_other,
        &SPELLED_OTHERWISE,
    );
}

fn real_files(variable: &str) {
    let bench = OnServer::new(variable);
    // OpenEMR's widest tables do not fit into a page when all their columns are full.
    let mut first = mysql::connect(&bench.address).unwrap();
    first.execute("SET GLOBAL innodb_strict_mode = 0").unwrap();
    real::files("mysql-", &bench.server(), &bench);
}

#[test]
fn real_schemas_are_reached_on_mariadb() {
    real_files("HAKARU_TEST_MARIADB_URL");
}

#[test]
fn real_schemas_are_reached_on_the_newer_mariadb() {
    real_files("HAKARU_TEST_MARIADB118_URL");
}

#[test]
fn real_schemas_are_reached_on_mysql() {
    real_files("HAKARU_TEST_MYSQL_URL");
}

fn random_pairs(variable: &str, share: (u64, u64)) {
    let bench = OnServer::new(variable);
    let is_mariadb = bench.server().product == Product::MariaDb;
    let generate = |seed| pairs::pair(seed, is_mariadb);
    crate::pairs::run(&bench, variable, share, &generate);
}

#[test]
fn random_pairs_on_mariadb() {
    random_pairs("HAKARU_TEST_MARIADB_URL", (0, 3));
}

#[test]
fn random_pairs_on_the_newer_mariadb() {
    random_pairs("HAKARU_TEST_MARIADB118_URL", (1, 3));
}

#[test]
fn random_pairs_on_mysql() {
    random_pairs("HAKARU_TEST_MYSQL_URL", (2, 3));
}

fn views_on(variable: &str) {
    let bench = OnServer::new(variable);
    let mut scratch = bench.empty();
    let server = scratch.database().server().clone();
    let desired = bench::load(features::VIEWS, &server).unwrap();
    let statements = desired.statements();
    bench::run(&mut *scratch, statements.iter().map(String::as_str)).unwrap();
    let plan = bench::plan_to(&mut *scratch, &desired).unwrap();
    assert_eq!(bench::spelled(&plan), "");
}

#[test]
fn views_are_recognised_on_mariadb() {
    views_on("HAKARU_TEST_MARIADB_URL");
}

#[test]
fn views_are_recognised_on_the_newer_mariadb() {
    views_on("HAKARU_TEST_MARIADB118_URL");
}

#[test]
fn views_are_recognised_on_mysql() {
    views_on("HAKARU_TEST_MYSQL_URL");
}

#[test]
fn events_do_nothing_where_a_schema_is_tried_out() {
    for variable in ["HAKARU_TEST_MARIADB_URL", "HAKARU_TEST_MYSQL_URL"] {
        let bench = OnServer::new(variable);
        let mut scratch = bench.empty();
        let event = "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM other.precious";
        let read = scratch.database().read_back(&[event.to_owned()]).unwrap();
        assert!(
            read.contains(" DISABLE ") && !read.contains(" ENABLE "),
            "{read}"
        );
    }
}

fn features_on(variable: &str, product: Product) {
    let bench = OnServer::new(variable);
    let applies = |feature: &&features::Feature| feature.product.is_none_or(|only| only == product);
    let pairs = features::FEATURES.iter().filter(applies);
    cases::features(&bench, pairs.map(|feature| (feature.from, feature.to)));
}

#[test]
fn features_on_mariadb() {
    features_on("HAKARU_TEST_MARIADB_URL", Product::MariaDb);
}

#[test]
fn features_on_the_newer_mariadb() {
    features_on("HAKARU_TEST_MARIADB118_URL", Product::MariaDb);
    let bench = OnServer::new("HAKARU_TEST_MARIADB118_URL");
    cases::features(&bench, features::OF_THE_NEWER_MARIADB.into_iter());
}

#[test]
fn features_on_mysql() {
    features_on("HAKARU_TEST_MYSQL_URL", Product::Mysql);
}

/// A server set leniently for old applications: a `NULL` becomes 0, and long values are truncated,
/// with a warning.
#[test]
fn a_lenient_server_loses_no_value() {
    for variable in ["HAKARU_TEST_MARIADB_URL", "HAKARU_TEST_MYSQL_URL"] {
        let bench = OnServer::new(variable);
        let mut first = mysql::connect(&bench.address).unwrap();
        let mode = first.query("SELECT @@GLOBAL.sql_mode").unwrap();
        let mode = mode[0][0].clone().unwrap_or_default();
        first.execute("SET GLOBAL sql_mode = ''").unwrap();
        let scratch = bench.empty();
        first
            .execute(&format!("SET GLOBAL sql_mode = '{mode}'"))
            .unwrap();
        let mut scratch = scratch;
        let database = scratch.database();
        database.execute("CREATE TABLE t (a int NULL)").unwrap();
        database.execute("INSERT INTO t VALUES (NULL)").unwrap();
        let changed = database.execute("ALTER TABLE t MODIFY a int NOT NULL");
        assert!(changed.is_err(), "{variable} cut a value");
        let kept = database.query("SELECT a FROM t").unwrap();
        assert_eq!(kept, [[None::<String>]], "{variable}");
    }
}

/// What both know, and what MariaDB alone does.
const CHANGES: [Change; 9] = [
    Change {
        made: &[
            "CREATE TABLE t (a int) PARTITION BY LIST (a) (PARTITION p VALUES IN (1, 2))",
            "INSERT INTO t VALUES (1), (2)",
        ],
        wanted: "CREATE TABLE t (a int) PARTITION BY LIST (a) (PARTITION p VALUES IN (1));",
        asked: "SELECT a FROM t ORDER BY a",
    },
    // The counter goes to a column that waits for the one that has it.
    Change {
        made: &[
            "CREATE TABLE t (a bigint AUTO_INCREMENT PRIMARY KEY, b int)",
            "INSERT INTO t VALUES (1, 1)",
        ],
        wanted: "CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL AUTO_INCREMENT UNIQUE);",
        asked: "SELECT a, b FROM t",
    },
    Change {
        made: &[
            "CREATE TABLE t (a bigint AUTO_INCREMENT PRIMARY KEY, b bigint)",
            "INSERT INTO t VALUES (1, 1)",
        ],
        wanted: "CREATE TABLE t (c int NOT NULL AUTO_INCREMENT UNIQUE, b int, a int PRIMARY KEY);",
        asked: "SELECT a, b FROM t",
    },
    // An index moves to another column, while one on its former column waits for a loss.
    Change {
        made: &[
            "CREATE TABLE t (id bigint PRIMARY KEY, a varchar(9), KEY one (a), KEY two (id, a))",
            "INSERT INTO t VALUES (1, '1')",
        ],
        wanted: "CREATE TABLE t (id int PRIMARY KEY, b int, a enum('1'), KEY one (b), KEY two (id, b));",
        asked: "SELECT id, a FROM t",
    },
    Change {
        made: &[
            "CREATE TABLE t (id bigint PRIMARY KEY, a varchar(9), KEY one (a), KEY two (id, a))",
            "INSERT INTO t VALUES (1, '1')",
        ],
        wanted: "CREATE TABLE t (id int PRIMARY KEY, b int, a varchar(20), KEY one (b), KEY two (id, b));",
        asked: "SELECT id, a FROM t",
    },
    // The index of a foreign key stays until the one that takes its place is made.
    Change {
        made: &[
            "CREATE TABLE u (id int PRIMARY KEY)",
            "CREATE TABLE t (id int PRIMARY KEY, a varchar(9), r int, FOREIGN KEY (r) REFERENCES u (id), KEY k (id, a))",
            "INSERT INTO u VALUES (1)",
            "INSERT INTO t VALUES (1, 1, 1)",
        ],
        wanted: "CREATE TABLE u (id bigint PRIMARY KEY);
            CREATE TABLE t (id bigint PRIMARY KEY, a int AS (id) VIRTUAL, b int, r bigint, KEY own (r, id),
            CONSTRAINT up FOREIGN KEY (r) REFERENCES u (id) ON DELETE CASCADE, KEY k (b));",
        asked: "SELECT id, a, r FROM t",
    },
    Change {
        made: &["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)"],
        wanted: "CREATE TABLE t (a int, b int) ENGINE=MEMORY;",
        asked: "SELECT a FROM t",
    },
    Change {
        made: &[
            "CREATE TABLE t (a int) WITH SYSTEM VERSIONING",
            "INSERT INTO t VALUES (1)",
            "UPDATE t SET a = 2",
        ],
        wanted: "CREATE TABLE t (a int, b int);",
        asked: "SELECT a FROM t FOR SYSTEM_TIME ALL ORDER BY a",
    },
    Change {
        made: &[
            "CREATE TABLE t (id int, a date NOT NULL, b date NOT NULL, PERIOD FOR span (a, b), \
             UNIQUE KEY one (id, span WITHOUT OVERLAPS))",
            "INSERT INTO t VALUES (1, '2001-01-01', '2001-01-02')",
        ],
        wanted: "CREATE TABLE t (id int);",
        asked: "SELECT id, a, b FROM t",
    },
];

#[test]
fn rows_are_not_lost_without_a_yes() {
    for variable in ["HAKARU_TEST_MARIADB_URL", "HAKARU_TEST_MARIADB118_URL"] {
        crate::losses::check(&OnServer::new(variable), &CHANGES);
    }
    let bench = OnServer::new("HAKARU_TEST_MYSQL_URL");
    // MySQL has no system versioning and no periods.
    crate::losses::check(&bench, &CHANGES[..7]);
}

/// One column loses values, one may, and another keeps all.
#[test]
fn to_allow_one_loss_allows_no_other_and_needs_none() {
    for variable in ["HAKARU_TEST_MARIADB118_URL", "HAKARU_TEST_MYSQL_URL"] {
        let bench = OnServer::new(variable);
        let mut scratch = bench.empty();
        let made = "CREATE TABLE t (id int PRIMARY KEY, a int, b int, c int NULL, KEY by_a (a), KEY by_c (c));";
        bench::reach(&mut *scratch, made).unwrap();
        let wanted = "CREATE TABLE t (id int PRIMARY KEY, a int GENERATED ALWAYS AS (id + 1) STORED, b tinyint, \
             c int NOT NULL, d int, KEY by_a (a), UNIQUE KEY by_b (b), UNIQUE KEY by_c (c));";
        bench::run(
            &mut *scratch,
            ["INSERT INTO t (id, a, b, c) VALUES (1, 777, 5, 9)"].into_iter(),
        )
        .unwrap();
        bench::approach(&mut *scratch, wanted).unwrap();
        let kept = "SELECT id, a, b, c, d FROM t";
        let rows = scratch.database().query(kept).unwrap();
        let texts: Vec<Option<&str>> = rows[0].iter().map(Option::as_deref).collect();
        assert_eq!(texts, [Some("1"), Some("777"), Some("5"), Some("9"), None]);
        bench::approach_with(&mut *scratch, wanted, &["alter-column:t.b"]).unwrap();
        let rows = scratch.database().query(kept).unwrap();
        assert_eq!(rows[0][1].as_deref(), Some("777"));
        let of_b = "SELECT DATA_TYPE, COLUMN_KEY FROM information_schema.COLUMNS \
                    WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_NAME = 'b'";
        let types = scratch.database().query(of_b).unwrap();
        assert_eq!(
            types,
            [[Some("tinyint".to_owned()), Some("UNI".to_owned())]]
        );
        bench::reach(&mut *scratch, wanted).unwrap();
    }
}

#[test]
fn what_killed_runs_left_is_removed() {
    for variable in ["HAKARU_TEST_MARIADB_URL", "HAKARU_TEST_MYSQL_URL"] {
        let bench = OnServer::new(variable);
        crate::left::is_removed(bench.empty().database(), "SHOW DATABASES");
    }
}

/// Statements of a text, and what a server's own program prints of the database made by the
/// statements.
fn read_whole(variable: &str, command: &str, statements: &str) {
    let bench = OnServer::new(variable);
    let mut scratch = bench.empty();
    for statement in statements.split(";\n") {
        scratch.database().execute(statement).unwrap();
    }
    let name = scratch.database().query("SELECT DATABASE()").unwrap();
    let name: String = name.into_iter().flatten().flatten().collect();
    let address = &bench.address;
    let password = address.password.as_deref().unwrap_or_default();
    let common = [
        "--host=127.0.0.1".to_owned(),
        format!("--port={}", address.port),
        format!("--user={}", address.user),
        format!("--password={password}"),
        "--routines".to_owned(),
        "--events".to_owned(),
    ];
    for more in [
        &["--no-data"][..],
        &["--hex-blob", "--skip-opt", "--create-options"],
        &[],
    ] {
        let more = more.iter().map(|word| (*word).to_owned());
        let words: Vec<String> = common
            .iter()
            .cloned()
            .chain(more)
            .chain([name.clone()])
            .collect();
        let dump = bench::printed(command, &words);
        let desired = bench::load_whole(&dump, &bench.server()).unwrap();
        let exported = bench::exported(&mut *scratch).unwrap();
        for (from, to) in [(&desired, &exported), (&exported, &desired)] {
            let plan = schema::plan(from, to, &schema::PlanOptions::default()).unwrap();
            assert_eq!(bench::spelled(&plan), "", "{variable} {words:?}");
        }
    }
}

#[test]
fn what_mysqldump_writes_is_read_whole() {
    let command = std::env::var("HAKARU_TEST_MYSQL_DUMP")
        .expect("`cargo xtask with-servers` says where mysqldump is");
    let command = format!("{command} --no-defaults");
    read_whole("HAKARU_TEST_MYSQL_URL", &command, features::DUMPED);
}

#[test]
fn what_mariadb_dump_writes_is_read_whole() {
    let command = "mariadb-dump --no-defaults --skip-ssl";
    let statements = format!("{};\n{}", features::DUMPED, features::DUMPED_BY_MARIADB);
    for variable in ["HAKARU_TEST_MARIADB_URL", "HAKARU_TEST_MARIADB118_URL"] {
        read_whole(variable, command, &statements);
    }
}

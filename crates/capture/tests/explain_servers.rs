//! Plans from real servers. Their addresses come from the environment; `bin/test` starts them.

use capture::{ExplainLimits, Explained, SkipReason, explain};
use mysql::prelude::Queryable;
use recording::{Access, PlanStep, TextId};

/// Equal tables in both dialects; the names are the test's own, since the database is shared.
const TABLES: [&str; 4] = [
    "CREATE TABLE explain_user (id INT PRIMARY KEY, name VARCHAR(50))",
    "CREATE TABLE explain_message (
        id INT PRIMARY KEY, channel_id INT, user_id INT, content VARCHAR(50))",
    "CREATE INDEX explain_message_user ON explain_message (user_id, content)",
    "CREATE INDEX explain_user_name ON explain_user (name)",
];

/// Enough rows for an index to be worth using.
const ROWS: u64 = 3_000;

const SCAN: &str = "SELECT * FROM explain_message m WHERE m.channel_id = 7 ORDER BY m.content";
const BY_KEY: &str = "SELECT * FROM explain_message WHERE id = 7";
const BY_INDEX: &str = "SELECT u.id FROM explain_user AS u WHERE u.name = 'u7'";
const JOIN: &str = "SELECT u.name FROM explain_message m JOIN explain_user u ON u.id = m.user_id";
const PREPARED_MYSQL: &str = "SELECT id FROM explain_message WHERE user_id = ? LIMIT ?";
const PREPARED_POSTGRES: &str = "SELECT id FROM explain_message WHERE user_id = $1 LIMIT $2";
const NOWHERE: &str = "SELECT * FROM explain_nowhere WHERE secret = 'hunter2'";

fn address(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set; run bin/test, which starts the servers"))
}

fn explained(url: &str, statements: &[&str]) -> Explained {
    let named = |sql: &&str| (TextId::of(sql.as_bytes()), (*sql).to_owned());
    let candidates: Vec<(TextId, String)> = statements.iter().map(named).collect();
    explain(url, &candidates, ExplainLimits::default()).expect("the server answers")
}

fn step<'a>(explained: &'a Explained, sql: &str, table: &str) -> &'a PlanStep {
    let digest = TextId::of(sql.as_bytes());
    explained
        .statements
        .iter()
        .find(|statement| statement.digest == digest)
        .and_then(|statement| statement.steps.iter().find(|step| step.table == table))
        .unwrap_or_else(|| panic!("no step on {table} for {sql} in {explained:#?}"))
}

/// What holds on both.
fn check_plans(explained: &Explained, prepared: &str, refused: &str) {
    let scan = step(explained, SCAN, "explain_message");
    assert_eq!(scan.access, Access::FullScan);
    assert!(scan.sorts);
    assert_eq!(scan.columns, ["id", "channel_id", "user_id", "content"]);
    assert!(scan.table_rows.abs_diff(ROWS) < ROWS / 10, "{scan:?}");
    assert!(scan.rows.abs_diff(ROWS) < ROWS / 10, "{scan:?}");
    let index = scan
        .indexes
        .iter()
        .find(|index| index.name == "explain_message_user");
    assert_eq!(
        index.expect("the index is listed").columns,
        ["user_id", "content"]
    );
    assert!(scan.indexes.iter().any(|index| index.columns == ["id"]));

    let index = |name: &str| Access::Index(name.to_owned());
    let access = |sql, table| step(explained, sql, table).access.clone();
    assert_eq!(access(BY_KEY, "explain_message"), Access::PrimaryKey);
    assert_eq!(access(BY_INDEX, "explain_user"), index("explain_user_name"));
    assert_eq!(
        access(prepared, "explain_message"),
        index("explain_message_user")
    );
    step(explained, JOIN, "explain_message");
    step(explained, JOIN, "explain_user");
    let skipped = [(
        TextId::of(NOWHERE.as_bytes()),
        SkipReason::Refused(refused.to_owned()),
    )];
    assert_eq!(explained.skipped, skipped);
}

#[test]
fn mariadb_tells_how_it_reads() {
    let url = address("HAKARU_TEST_MARIADB_URL");
    let (_, rest) = url.split_once(':').unwrap();
    let options = mysql::Opts::from_url(&format!("mysql:{rest}")).unwrap();
    let options = mysql::OptsBuilder::from_opts(options).prefer_socket(false);
    let mut database = mysql::Conn::new(options).unwrap();
    database
        .query_drop("DROP TABLE IF EXISTS explain_user, explain_message")
        .unwrap();
    for statement in TABLES {
        database.query_drop(statement).unwrap();
    }
    for (table, values) in [
        ("explain_user", "seq, concat('u', seq)"),
        ("explain_message", "seq, seq % 90, seq, 'x'"),
    ] {
        let fill = format!("INSERT INTO {table} SELECT {values} FROM seq_1_to_{ROWS}");
        database.query_drop(fill).unwrap();
    }
    database
        .query_drop("ANALYZE TABLE explain_user, explain_message")
        .unwrap();
    let statements = [SCAN, BY_KEY, BY_INDEX, JOIN, PREPARED_MYSQL, NOWHERE];
    let explained = explained(&format!("{url}?pool=5&encoding=utf8mb4"), &statements);
    database
        .query_drop("DROP TABLE explain_user, explain_message")
        .unwrap();
    check_plans(&explained, PREPARED_MYSQL, "MySQL 1146");
}

#[test]
fn postgres_tells_how_it_reads() {
    let url = address("HAKARU_TEST_POSTGRES_URL");
    let mut database = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    database
        .batch_execute("DROP TABLE IF EXISTS explain_user, explain_message")
        .unwrap();
    database.batch_execute(&TABLES.join(";")).unwrap();
    let fill = format!(
        "INSERT INTO explain_user SELECT n, 'u' || n FROM generate_series(1, {ROWS}) n;
         INSERT INTO explain_message SELECT n, n % 90, n, 'x' FROM generate_series(1, {ROWS}) n;
         ANALYZE explain_user; ANALYZE explain_message"
    );
    database.batch_execute(&fill).unwrap();
    let statements = [SCAN, BY_KEY, BY_INDEX, JOIN, PREPARED_POSTGRES, NOWHERE];
    let explained = explained(&format!("{url}?pool=5"), &statements);
    database
        .batch_execute("DROP TABLE explain_user, explain_message")
        .unwrap();
    check_plans(&explained, PREPARED_POSTGRES, "SQLSTATE 42P01");
}

#[test]
fn a_user_who_must_speak_tls_gets_plans() {
    let url = address("HAKARU_TEST_MYSQL_URL");
    let (_, rest) = url.split_once(':').unwrap();
    let options = mysql::Opts::from_url(&format!("mysql:{rest}")).unwrap();
    let options = mysql::OptsBuilder::from_opts(options).prefer_socket(false);
    let mut admin = mysql::Conn::new(options).unwrap();
    for statement in [
        "DROP USER IF EXISTS explain_tls",
        "CREATE USER explain_tls IDENTIFIED BY 'hunter2' REQUIRE SSL",
        "GRANT SELECT ON *.* TO explain_tls",
    ] {
        admin.query_drop(statement).unwrap();
    }
    let (_, place) = rest.rsplit_once('@').unwrap();
    let secured = format!("mysql://explain_tls:hunter2@{place}");
    let plain = explain(
        &format!("{secured}?ssl-mode=DISABLED"),
        &[],
        ExplainLimits::default(),
    );
    let answers = [
        explained(&secured, &["SELECT user FROM mysql.user"]),
        explained(
            &format!("{secured}?ssl_mode=required"),
            &["SELECT user FROM mysql.user"],
        ),
    ];
    admin.query_drop("DROP USER explain_tls").unwrap();
    let refused = plain.expect_err("without TLS it is refused").to_string();
    assert!(refused.starts_with("cannot ask 127.0.0.1:"), "{refused}");
    assert!(!refused.contains("hunter2"), "{refused}");
    for answer in answers {
        assert_eq!(answer.statements.len(), 1, "{:?}", answer.skipped);
    }
    let unknown = explain(
        &format!("{secured}?ssl-mode=perhaps"),
        &[],
        ExplainLimits::default(),
    );
    let unknown = unknown.expect_err("there is no such mode").to_string();
    assert!(unknown.contains("ssl-mode=perhaps"), "{unknown}");
}

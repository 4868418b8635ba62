//! Plans of the costliest SELECTs, by EXPLAIN on a separate connection.
//!
//! What is sent, and what not:
//! - only a single SELECT that locks nothing and writes nowhere ([`statement::Statement`] decides),
//!   behind EXPLAIN, which plans and does not run it, in a session set to read only;
//! - with the literals of one execution, which stay in memory: neither results nor errors repeat
//!   them.
//!
//! Where the statement has placeholders, a plan that fits any value is asked for: SQLite plans with
//! them unbound, PostgreSQL 16 and later has `GENERIC_PLAN`; elsewhere `'1'` stands for each, since
//! a text constant is turned into whatever type the column has and so lets an index be used (behind
//! LIMIT and OFFSET `1`). A statement that cannot be explained is counted, never fatal.
//!
//! TLS is spoken as the address asks for (`sslmode=verify-full`, `ssl-mode=REQUIRED`,
//! `sslrootcert`, `ssl-ca` …), and where the server offers it.

pub(crate) mod mysql;
pub(crate) mod postgres;
pub(crate) mod sqlite;
mod statement;

use database::Kind;
use database_client::tls::Tls;
use database_client::unescaped;
use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use recording::{Access, ColumnFacts, ExplainedStatement, IndexColumns, PlanStep, TextId};
use statement::Statement;

/// Bounds on what explaining may take.
#[derive(Clone, Copy, Debug)]
pub struct ExplainLimits {
    /// For making the connection.
    pub connect: Duration,
    /// For one statement.
    pub statement: Duration,
    /// Limit on the time of all statements; the rest is skipped.
    pub total: Duration,
    /// Most statements.
    pub statements_max: usize,
}

impl Default for ExplainLimits {
    /// Enough for a healthy server to explain everything, short enough not to be waited for.
    fn default() -> Self {
        ExplainLimits {
            connect: Duration::from_secs(3),
            statement: Duration::from_secs(2),
            total: Duration::from_secs(10),
            statements_max: 30,
        }
    }
}

/// Plans from the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// Kind and version, such as `mariadb 10.11.14`; the kind alone when the version is unknown.
    pub server: String,
    /// Explained statements in the order of the candidates.
    pub statements: Vec<ExplainedStatement>,
    /// Large columns of the tables in the plans.
    pub columns: Vec<ColumnFacts>,
    /// Statements without a plan, and the reason.
    pub skipped: Vec<(TextId, SkipReason)>,
}

/// Reason for a statement not explained. Never holds the server's words, which may repeat literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// Not a single SELECT without locks and writes.
    NotAPlainSelect,
    /// The database refused the statement, with the server's own code.
    Refused(String),
    /// The plan was not understood.
    Unreadable,
    /// A limit on time or number was reached before the statement's turn.
    Limit,
}

/// Reason for no statement being explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplainError {
    /// The address is of an unknown kind. The error does not repeat it, since an address may hold a
    /// password.
    UnknownAddress,
    /// The database cannot be reached.
    Connect {
        /// Address without user and password.
        database: String,
        /// Error of the driver.
        reason: String,
    },
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExplainError::UnknownAddress => f.write_str(
                "the database address begins with none of sqlite:, mysql2://, mysql://, mariadb://, \
                 trilogy://, postgres://, postgresql://, or cannot be read; correct DATABASE_URL",
            ),
            ExplainError::Connect { database, reason } => write!(
                f,
                "cannot ask {database} for its plans: {reason}; missing indexes will not be found"
            ),
        }
    }
}

impl std::error::Error for ExplainError {}

/// Explains the candidates, costliest first, each a digest's name with the SQL of one execution.
pub fn explain(
    database_url: &str,
    candidates: &[(TextId, String)],
    limits: ExplainLimits,
) -> Result<Explained, ExplainError> {
    let (kind, rest) = kind_of(database_url)?;
    match kind {
        Kind::Sqlite => {
            let mut server = sqlite::Sqlite::open(rest, limits)?;
            Ok(explain_on(&mut server, candidates, limits))
        }
        Kind::Mysql => {
            let mut server = mysql::Mysql::connect(rest, limits)?;
            Ok(explain_on(&mut server, candidates, limits))
        }
        Kind::Postgres => {
            let mut server = postgres::Postgres::connect(rest, limits)?;
            Ok(explain_on(&mut server, candidates, limits))
        }
    }
}

/// Returns the kind of an address, and the rest of the address.
pub(crate) fn kind_of(database_url: &str) -> Result<(Kind, &str), ExplainError> {
    Kind::of_address(database_url).ok_or(ExplainError::UnknownAddress)
}

/// A table as named by a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct TableName {
    schema: Option<String>,
    table: String,
}

/// One step of a plan, before the table's facts are known.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    table: TableName,
    access: Access,
    /// Rows of the step; `None` where the database reports none, or something else: then all rows
    /// of a full scan, and unknown otherwise.
    rows: Option<u64>,
    sorts: bool,
}

/// Facts about a table from the catalogue.
#[derive(Clone, Debug, Default)]
struct TableFacts {
    rows: u64,
    columns: Vec<String>,
    indexes: Vec<IndexColumns>,
    /// Name of the primary key's index, where a plan may name one.
    primary: Option<String>,
}

/// A kind of database.
trait Server {
    /// Returns the kind and version, such as `sqlite 3.50.1`.
    fn describe(&mut self) -> String;
    fn plan(&mut self, statement: &Statement<'_>) -> Result<Vec<Step>, SkipReason>;
    /// `None` when the name is of no table, such as a view's or a table function's.
    fn table(&mut self, name: &TableName) -> Result<Option<TableFacts>, SkipReason>;
    /// Returns columns of text or bytes with possibly long values, and the mean length: by the
    /// server's statistics, or of the first [`SAMPLED_ROWS`] rows. Of the values only their lengths
    /// are read.
    fn large_columns(&mut self, name: &TableName) -> Result<Vec<ColumnFacts>, SkipReason>;
}

/// Most rows read to measure values, without statistics in the server.
const SAMPLED_ROWS: u32 = 20;

fn explain_on(
    server: &mut dyn Server,
    candidates: &[(TextId, String)],
    limits: ExplainLimits,
) -> Explained {
    let deadline = Instant::now() + limits.total;
    let mut tables = HashMap::new();
    let mut explained = Explained {
        server: server.describe(),
        ..Explained::default()
    };
    for (index, (digest, sql)) in candidates.iter().enumerate() {
        let outcome = match index < limits.statements_max && Instant::now() < deadline {
            true => explain_one(server, sql, &mut tables),
            false => Err(SkipReason::Limit),
        };
        match outcome {
            Ok(steps) => explained.statements.push(ExplainedStatement {
                digest: *digest,
                steps,
            }),
            Err(reason) => explained.skipped.push((*digest, reason)),
        }
    }
    explained.columns = large_columns(server, &tables, deadline);
    explained
}

/// Returns the large columns of the plans' tables, as far as there is time.
fn large_columns(server: &mut dyn Server, tables: &Tables, deadline: Instant) -> Vec<ColumnFacts> {
    let mut names: Vec<&TableName> = tables
        .iter()
        .filter(|(_, facts)| facts.is_some())
        .map(|(name, _)| name)
        .collect();
    names.sort();
    names
        .into_iter()
        .take_while(|_| Instant::now() < deadline)
        .flat_map(|name| server.large_columns(name).unwrap_or_default())
        .collect()
}

type Tables = HashMap<TableName, Option<TableFacts>>;

fn explain_one(
    server: &mut dyn Server,
    sql: &str,
    tables: &mut Tables,
) -> Result<Vec<PlanStep>, SkipReason> {
    let statement = Statement::plain_select(sql).ok_or(SkipReason::NotAPlainSelect)?;
    let mut steps = Vec::new();
    for step in server.plan(&statement)? {
        if !tables.contains_key(&step.table) {
            let facts = server.table(&step.table)?;
            tables.insert(step.table.clone(), facts);
        }
        if let Some(facts) = &tables[&step.table] {
            steps.push(joined(step, facts));
        }
    }
    Ok(steps)
}

fn joined(step: Step, facts: &TableFacts) -> PlanStep {
    let access = match step.access {
        Access::Index(name) if facts.primary.as_ref() == Some(&name) => Access::PrimaryKey,
        access => access,
    };
    let rows = match (step.rows, &access) {
        (Some(rows), _) => rows,
        (None, Access::FullScan) => facts.rows,
        (None, _) => 0,
    };
    PlanStep {
        table: step.table.table,
        access,
        rows,
        table_rows: facts.rows,
        sorts: step.sorts,
        indexes: facts.indexes.clone(),
        columns: facts.columns.clone(),
    }
}

/// Splits an address into the address without the query, and the query's settings. Frameworks put
/// settings of their own there (`pool=5`), which drivers refuse.
fn split_query(address: &str) -> (&str, Vec<(&str, String)>) {
    let (address, query) = address.split_once('?').unwrap_or((address, ""));
    let settings = query.split('&').filter_map(|pair| pair.split_once('='));
    let settings = settings.map(|(key, value)| (key, unescaped(value)));
    (address, settings.collect())
}

/// Returns the last value of a setting.
fn setting(settings: &[(&str, String)], key: &str) -> Option<String> {
    let mut all = settings.iter().rev();
    all.find(|(name, _)| *name == key)
        .map(|(_, value)| value.clone())
}

/// Returns what of TLS an address asks for.
fn tls_of(
    settings: &[(&str, String)],
    take: impl Fn(&mut Tls, &str, &str) -> Result<(), String>,
) -> Result<Tls, String> {
    let mut tls = Tls::default();
    for (key, value) in settings {
        take(&mut tls, key, value)?;
    }
    Ok(tls)
}

/// `//user:password@host/name` without user and password.
fn without_secrets(address: &str) -> &str {
    let address = address.trim_start_matches('/');
    address.rsplit_once('@').map_or(address, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_show_no_secret() {
        assert_eq!(without_secrets("//me:p@ss@db:3306/chat"), "db:3306/chat");
        assert_eq!(without_secrets("//db/chat"), "db/chat");
        let unknown = explain("oracle://me:secret@db", &[], ExplainLimits::default()).unwrap_err();
        assert!(!unknown.to_string().contains("secret"));
    }

    #[test]
    fn settings_of_frameworks_are_left_out() {
        let check = |address: &str, expected: (&str, Option<&str>)| {
            let (rest, settings) = split_query(address);
            assert_eq!((rest, setting(&settings, "socket").as_deref()), expected);
        };
        check("//db/chat", ("//db/chat", None));
        check("//db/chat?pool=5", ("//db/chat", None));
        check(
            "//db/chat?pool=5&socket=%2Frun%2Fdb.sock",
            ("//db/chat", Some("/run/db.sock")),
        );
    }

    #[test]
    fn a_server_that_is_not_there_is_named_without_password() {
        for scheme in ["mysql2", "postgres"] {
            // Port 1 is reserved and nobody listens on it.
            let url = format!("{scheme}://me:secret@127.0.0.1:1/chat?pool=5");
            let error = explain(&url, &[], ExplainLimits::default()).unwrap_err();
            let said = error.to_string();
            assert!(
                said.starts_with("cannot ask 127.0.0.1:1/chat for its plans: "),
                "{said}"
            );
            assert!(!said.contains("secret"), "{said}");
        }
    }
}

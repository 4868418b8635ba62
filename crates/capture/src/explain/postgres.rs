//! PostgreSQL: `EXPLAIN (FORMAT JSON)` and the system catalogue.

use std::sync::mpsc::channel;
use std::time::Duration;

use ::postgres::{Client, Config, Error};
use database_client::ConnectError;
use database_client::tls::Tls;
use recording::{Access, ColumnFacts, IndexColumns};
use serde_json::Value;

use super::statement::Statement;
use super::{ExplainError, ExplainLimits, Server, SkipReason, Step, TableFacts, TableName};

/// The first version with plans for open placeholders.
const GENERIC_PLAN_SINCE: i32 = 160_000;
/// Deeper plans are not followed.
const DEPTH_MAX: usize = 100;

pub(crate) struct Postgres {
    pub(crate) client: Client,
    generic_plans: bool,
}

impl Postgres {
    /// Connects to `//user:password@host:port/name`, or to the socket in the folder `?host=`.
    pub(crate) fn connect(address: &str, limits: ExplainLimits) -> Result<Postgres, ExplainError> {
        let (address, settings) = super::split_query(address);
        let refused = |reason: String| ExplainError::Connect {
            database: super::without_secrets(address).to_owned(),
            reason,
        };
        let failed = |error: Error| refused(sentence(&error));
        let take = |tls: &mut Tls, key: &str, value: &str| tls.take_libpq(key, value).map(drop);
        let tls = super::tls_of(&settings, take).map_err(refused)?;
        let mut config: Config = format!("postgres:{address}")
            .parse()
            .map_err(|_| ExplainError::UnknownAddress)?;
        if let Some(folder) = super::setting(&settings, "host") {
            config.host(&folder);
        }
        let milliseconds = limits.statement.as_millis();
        config
            .application_name("hakaru")
            .connect_timeout(limits.connect)
            .tcp_user_timeout(limits.statement + limits.connect)
            .options(&format!(
                "-c default_transaction_read_only=on -c statement_timeout={milliseconds} \
                 -c lock_timeout={milliseconds}"
            ));
        let silent = || refused("the server accepts connections and says nothing".to_owned());
        let longest = limits.connect + limits.statement;
        let connected = in_time(config, tls, longest).ok_or_else(silent)?;
        let mut client = connected.map_err(|error| match error {
            ConnectError::Settings(reason) => refused(reason),
            ConnectError::Driver(error) => failed(error),
        })?;
        let version = client
            .query_one("SELECT current_setting('server_version_num')::int4", &[])
            .map_err(failed)?
            .get::<_, i32>(0);
        Ok(Postgres {
            client,
            generic_plans: version >= GENERIC_PLAN_SINCE,
        })
    }

    fn explain(&mut self, options: &str, sql: &str) -> Result<Value, SkipReason> {
        // Prepared, since the protocol then takes one statement only.
        let sql = format!("EXPLAIN (FORMAT JSON, VERBOSE{options}) {sql}");
        let row = self.client.query_one(&sql, &[]).map_err(refused)?;
        let plan: Json = row.try_get(0).map_err(refused)?;
        serde_json::from_str(&plan.0).map_err(|_| SkipReason::Unreadable)
    }

    /// Reads large columns, with lengths found by ANALYZE. They are of the values as stored, so
    /// compressed and moved out of line; a long one may be longer than said here.
    fn read_large_columns(&mut self, name: &TableName) -> Result<Vec<ColumnFacts>, Error> {
        let rows = self.client.query(
            "SELECT a.attname::text, a.atttypid = 'bytea'::regtype, coalesce(s.avg_width, 0)
             FROM pg_catalog.pg_attribute a
             JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             LEFT JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
                  AND s.attname = a.attname
             WHERE c.relname = $1 AND n.nspname = coalesce($2, current_schema())
               AND a.attnum > 0 AND NOT a.attisdropped
               AND a.atttypid IN ('bytea'::regtype, 'text'::regtype, 'json'::regtype, 'jsonb'::regtype)
             ORDER BY a.attnum",
            &[&name.table, &name.schema],
        )?;
        rows.iter()
            .map(|row| {
                Ok(ColumnFacts {
                    table: name.table.clone(),
                    column: row.try_get(0)?,
                    binary: row.try_get(1)?,
                    bytes_mean: row.try_get::<_, i32>(2)?.max(0) as u64,
                })
            })
            .collect()
    }

    fn read_table(&mut self, name: &TableName) -> Result<Option<TableFacts>, Error> {
        // A table has −1 for its rows until it is analysed, a minute or more after it was filled;
        // the statistics know what was inserted at once.
        let table = self.client.query_opt(
            "SELECT c.oid,
                    greatest(c.reltuples::float8, pg_catalog.pg_stat_get_live_tuples(c.oid)::float8),
                    ARRAY(SELECT attname::text FROM pg_catalog.pg_attribute
                          WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum)
             FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             WHERE c.relname = $1 AND n.nspname = coalesce($2, current_schema())
               AND c.relkind IN ('r', 'p', 'm')",
            &[&name.table, &name.schema],
        )?;
        let Some(table) = table else {
            return Ok(None);
        };
        let rows: f64 = table.try_get(1)?;
        let mut facts = TableFacts {
            rows: rows.max(0.0) as u64,
            columns: table.try_get(2)?,
            ..TableFacts::default()
        };
        // A partial index serves only the queries it was made for, so it is left out.
        let indexes = self.client.query(
            "SELECT c.relname::text, i.indisprimary,
                    ARRAY(SELECT pg_catalog.pg_get_indexdef(i.indexrelid, k, true)
                          FROM generate_series(1, i.indnkeyatts) k)
             FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
             WHERE i.indrelid = $1 AND i.indisvalid AND i.indpred IS NULL ORDER BY c.relname",
            &[&table.try_get::<_, u32>(0)?],
        )?;
        for index in indexes {
            let name: String = index.try_get(0)?;
            let columns: Vec<String> = index.try_get(2)?;
            if index.try_get(1)? {
                facts.primary = Some(name.clone());
            }
            let columns = columns.iter().map(|column| unquoted(column)).collect();
            facts.indexes.push(IndexColumns { name, columns });
        }
        Ok(Some(facts))
    }
}

impl Server for Postgres {
    fn describe(&mut self) -> String {
        let version = self
            .client
            .query_one("SELECT current_setting('server_version')", &[])
            .map(|row| row.get::<_, String>(0))
            .unwrap_or_default();
        let number = version.split(' ').next().unwrap_or_default();
        format!("postgresql {number}").trim_end().to_owned()
    }

    fn plan(&mut self, statement: &Statement<'_>) -> Result<Vec<Step>, SkipReason> {
        let generic = match statement.has_placeholders() && self.generic_plans {
            true => self.explain(", GENERIC_PLAN", statement.sql()).ok(),
            false => None,
        };
        let plan = match generic {
            Some(plan) => plan,
            None => self.explain("", &statement.with_constants())?,
        };
        steps(&plan).ok_or(SkipReason::Unreadable)
    }

    fn table(&mut self, name: &TableName) -> Result<Option<TableFacts>, SkipReason> {
        self.read_table(name).map_err(refused)
    }

    fn large_columns(&mut self, name: &TableName) -> Result<Vec<ColumnFacts>, SkipReason> {
        self.read_large_columns(name).map_err(refused)
    }
}

/// The text of a value of type json.
struct Json(String);

impl<'a> ::postgres::types::FromSql<'a> for Json {
    fn from_sql(
        _: &::postgres::types::Type,
        raw: &'a [u8],
    ) -> Result<Json, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Json(std::str::from_utf8(raw)?.to_owned()))
    }

    ::postgres::types::accepts!(JSON);
}

fn refused(error: Error) -> SkipReason {
    let code = error.code().map(|code| format!("SQLSTATE {}", code.code()));
    SkipReason::Refused(code.unwrap_or_else(|| "driver".to_owned()))
}

/// Connects; `None` after too long a time. The driver's own limit ends with TCP's handshake, so
/// that a server which accepts and is silent would be waited for without end; the thread that waits
/// for it ends with this process.
fn in_time(
    config: Config,
    tls: Tls,
    longest: Duration,
) -> Option<Result<Client, ConnectError<Error>>> {
    let (done, connected) = channel();
    std::thread::spawn(move || {
        // Nobody listens any more when it came too late.
        let _ = done.send(database_client::postgres::connect(config, &tls));
    });
    connected.recv_timeout(longest).ok()
}

/// The driver keeps the reason of a failed connection in the error's source.
fn sentence(error: &Error) -> String {
    use std::error::Error as _;
    match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

fn unquoted(column: &str) -> String {
    match column
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inner) => inner.replace("\"\"", "\""),
        None => column.to_owned(),
    }
}

/// The steps of `[{"Plan": …}]`.
fn steps(plan: &Value) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    collect(plan.get(0)?.get("Plan")?, &mut steps, DEPTH_MAX);
    Some(steps)
}

fn collect(node: &Value, steps: &mut Vec<Step>, depth_left: usize) {
    if depth_left == 0 {
        return;
    }
    let before = steps.len();
    steps.extend(step(node));
    for child in children(node) {
        collect(child, steps, depth_left - 1);
    }
    let sorts = matches!(text(node, "Node Type"), Some("Sort" | "Incremental Sort"));
    if let (true, Some(first)) = (sorts, steps.get_mut(before)) {
        first.sorts = true;
    }
}

fn step(node: &Value) -> Option<Step> {
    let table = TableName {
        schema: text(node, "Schema").map(str::to_owned),
        table: text(node, "Relation Name")?.to_owned(),
    };
    let conditional = |node: &Value| node.get("Index Cond").is_some();
    let index = |node: &Value| text(node, "Index Name").map(str::to_owned);
    let access = match text(node, "Node Type")? {
        "Seq Scan" | "Sample Scan" => Access::FullScan,
        "Index Scan" | "Index Only Scan" if !conditional(node) => Access::FullScan,
        "Index Scan" | "Index Only Scan" => index(node).map_or(Access::Other, Access::Index),
        "Bitmap Heap Scan" => first_index(node, DEPTH_MAX).map_or(Access::Other, Access::Index),
        _ => Access::Other,
    };
    let rows = match access {
        // The plan has the rows returned, not the rows read.
        Access::FullScan => None,
        _ => node
            .get("Plan Rows")
            .and_then(Value::as_f64)
            .map(|rows| rows as u64),
    };
    Some(Step {
        table,
        access,
        rows,
        sorts: false,
    })
}

/// Returns the first index of a scan: a bitmap heap scan's index stands at a child, or at several
/// below an AND or OR.
fn first_index(node: &Value, depth_left: usize) -> Option<String> {
    if depth_left == 0 {
        return None;
    }
    children(node).find_map(|child| match text(child, "Index Name") {
        Some(name) => Some(name.to_owned()),
        None => first_index(child, depth_left - 1),
    })
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node.get("Plans")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn text<'a>(node: &'a Value, key: &str) -> Option<&'a str> {
    node.get(key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(plan: &str, expected: &[(&str, Access, Option<u64>, bool)]) {
        let plan: Value = serde_json::from_str(&format!("[{{\"Plan\": {plan}}}]")).unwrap();
        let found: Vec<_> = steps(&plan)
            .unwrap()
            .into_iter()
            .map(|step| (step.table.table, step.access, step.rows, step.sorts))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(table, access, rows, sorts)| {
                ((*table).to_owned(), access.clone(), *rows, *sorts)
            })
            .collect();
        assert_eq!(found, expected, "{plan}");
    }

    #[test]
    fn nodes_of_plans() {
        let index = |name: &str| Access::Index(name.to_owned());
        check(
            r#"{"Node Type": "Limit", "Plans": [{"Node Type": "Sort", "Sort Key": ["id DESC"], "Plans": [
                {"Node Type": "Seq Scan", "Relation Name": "message", "Schema": "public",
                 "Alias": "m", "Plan Rows": 100, "Filter": "(channel_id = 1)"}]}]}"#,
            &[("message", Access::FullScan, None, true)],
        );
        check(
            r#"{"Node Type": "Nested Loop", "Plans": [
                {"Node Type": "Index Scan", "Relation Name": "message", "Index Name": "message_pkey",
                 "Index Cond": "(id = 1)", "Plan Rows": 1},
                {"Node Type": "Index Only Scan", "Relation Name": "user", "Index Name": "user_name",
                 "Plan Rows": 5}]}"#,
            &[
                ("message", index("message_pkey"), Some(1), false),
                ("user", Access::FullScan, None, false),
            ],
        );
        check(
            r#"{"Node Type": "Bitmap Heap Scan", "Relation Name": "message", "Plan Rows": 12, "Plans": [
                {"Node Type": "BitmapOr", "Plans": [
                    {"Node Type": "Bitmap Index Scan", "Index Name": "a"},
                    {"Node Type": "Bitmap Index Scan", "Index Name": "b"}]}]}"#,
            &[("message", index("a"), Some(12), false)],
        );
        check(r#"{"Node Type": "Result"}"#, &[]);
        assert_eq!(steps(&Value::Null), None);
    }

    #[test]
    fn names_lose_their_quotes() {
        assert_eq!(unquoted("\"order\""), "order");
        assert_eq!(unquoted("\"a\"\"b\""), "a\"b");
        assert_eq!(unquoted("lower(name)"), "lower(name)");
    }
}

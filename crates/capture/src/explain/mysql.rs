//! MySQL and MariaDB: classic `EXPLAIN` and `information_schema`.

use ::mysql::prelude::Queryable;
use ::mysql::{Conn, Error, Opts, OptsBuilder, Params, Row, Value};
use database_client::tls::Tls;
use recording::{Access, ColumnFacts, IndexColumns};

use super::statement::Statement;
use super::{ExplainError, ExplainLimits, Server, SkipReason, Step, TableFacts, TableName};

pub(crate) struct Mysql {
    pub(crate) connection: Conn,
}

/// The used columns of a row of EXPLAIN.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    table: Option<String>,
    access_type: Option<String>,
    key: Option<String>,
    rows: Option<u64>,
    extra: String,
}

impl Mysql {
    /// Connects to `//user:password@host:port/name`.
    pub(crate) fn connect(address: &str, limits: ExplainLimits) -> Result<Mysql, ExplainError> {
        let (address, settings) = super::split_query(address);
        let refused = |reason: String| ExplainError::Connect {
            database: super::without_secrets(address).to_owned(),
            reason,
        };
        let failed = |error: Error| refused(error.to_string());
        let tls = super::tls_of(&settings, Tls::take_mysql).map_err(refused)?;
        let socket = super::setting(&settings, "socket");
        let is_socket = socket.is_some();
        let options = Opts::from_url(&format!("mysql:{address}"))
            .map_err(|_| ExplainError::UnknownAddress)?;
        let options = OptsBuilder::from_opts(options)
            .socket(socket)
            // The address is meant as it is written; by default the driver would move to a socket.
            .prefer_socket(false)
            .tcp_connect_timeout(Some(limits.connect))
            .read_timeout(Some(limits.statement))
            .write_timeout(Some(limits.statement));
        let connected = database_client::mysql::connect(&options, &tls, is_socket);
        let mut connection = connected.map_err(|error| refused(error.to_string()))?;
        connection
            .query_drop("SET SESSION TRANSACTION READ ONLY")
            .map_err(failed)?;
        // One of the two exists, by maker. The read timeout stands behind both.
        let seconds = limits.statement.as_secs_f64();
        let bounded = connection.query_drop(format!("SET max_statement_time = {seconds:.3}"));
        if bounded.is_err() {
            let milliseconds = limits.statement.as_millis();
            let _ = connection.query_drop(format!("SET max_execution_time = {milliseconds}"));
        }
        Ok(Mysql { connection })
    }
}

impl Server for Mysql {
    fn describe(&mut self) -> String {
        let version: Option<String> = self
            .connection
            .query_first("SELECT VERSION()")
            .ok()
            .flatten();
        kind_and_version(&version.unwrap_or_default())
    }

    fn plan(&mut self, statement: &Statement<'_>) -> Result<Vec<Step>, SkipReason> {
        // Prepared, since the protocol then takes one statement only.
        let sql = format!("EXPLAIN {}", statement.with_constants());
        let rows: Vec<Row> = self.connection.exec(sql, Params::Empty).map_err(refused)?;
        let lines: Vec<Line> = rows.iter().map(line).collect();
        let aliases = statement.tables();
        Ok(steps(&lines, |alias| {
            aliases
                .get(&alias.to_lowercase())
                .cloned()
                .unwrap_or(TableName {
                    schema: None,
                    table: alias.to_owned(),
                })
        }))
    }

    fn table(&mut self, name: &TableName) -> Result<Option<TableFacts>, SkipReason> {
        self.read_table(name).map_err(refused)
    }

    fn large_columns(&mut self, name: &TableName) -> Result<Vec<ColumnFacts>, SkipReason> {
        self.read_large_columns(name).map_err(refused)
    }
}

impl Mysql {
    fn read_large_columns(&mut self, name: &TableName) -> Result<Vec<ColumnFacts>, Error> {
        let of = (name.schema.as_deref(), name.table.as_str());
        let columns: Vec<(String, bool)> = self.connection.exec(
            "SELECT COLUMN_NAME, DATA_TYPE LIKE '%blob' OR DATA_TYPE LIKE '%binary'
             FROM information_schema.COLUMNS
             WHERE TABLE_SCHEMA = coalesce(?, database()) AND TABLE_NAME = ?
               AND (DATA_TYPE LIKE '%blob' OR DATA_TYPE LIKE '%text' OR DATA_TYPE = 'json'
                    OR (DATA_TYPE LIKE 'var%' AND CHARACTER_MAXIMUM_LENGTH > 255))
             ORDER BY ORDINAL_POSITION",
            of,
        )?;
        let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
        let schema = name.schema.as_deref();
        let table = schema.map_or_else(String::new, |schema| quoted(schema) + ".");
        let table = table + &quoted(&name.table);
        let mut large = Vec::new();
        for (column, binary) in columns {
            let mean: Option<Option<f64>> = self.connection.query_first(format!(
                "SELECT AVG(size) FROM (SELECT OCTET_LENGTH({}) AS size FROM {table} LIMIT {}) sizes",
                quoted(&column),
                super::SAMPLED_ROWS,
            ))?;
            large.push(ColumnFacts {
                table: name.table.clone(),
                column,
                binary,
                bytes_mean: mean.flatten().unwrap_or(0.0) as u64,
            });
        }
        Ok(large)
    }

    fn read_table(&mut self, name: &TableName) -> Result<Option<TableFacts>, Error> {
        let of = (name.schema.as_deref(), name.table.as_str());
        let columns: Vec<String> = self.connection.exec(
            "SELECT COLUMN_NAME FROM information_schema.COLUMNS
             WHERE TABLE_SCHEMA = coalesce(?, database()) AND TABLE_NAME = ?
             ORDER BY ORDINAL_POSITION",
            of,
        )?;
        if columns.is_empty() {
            return Ok(None);
        }
        let rows: Option<Option<u64>> = self.connection.exec_first(
            "SELECT TABLE_ROWS FROM information_schema.TABLES
             WHERE TABLE_SCHEMA = coalesce(?, database()) AND TABLE_NAME = ?",
            of,
        )?;
        // The column is null for an expression (MySQL 8); its text is in a column MariaDB lacks.
        let parts: Vec<(String, Option<String>)> = self.connection.exec(
            "SELECT INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS
             WHERE TABLE_SCHEMA = coalesce(?, database()) AND TABLE_NAME = ?
             ORDER BY INDEX_NAME, SEQ_IN_INDEX",
            of,
        )?;
        Ok(Some(TableFacts {
            rows: rows.flatten().unwrap_or(0),
            columns,
            indexes: indexes(parts),
            primary: Some("PRIMARY".to_owned()),
        }))
    }
}

/// `10.11.14-MariaDB-0+deb12u2` is `mariadb 10.11.14`; `8.4.3` is `mysql 8.4.3`.
fn kind_and_version(version: &str) -> String {
    let kind = match version.contains("MariaDB") {
        true => "mariadb",
        false => "mysql",
    };
    let number = version.split('-').next().unwrap_or_default();
    format!("{kind} {number}").trim_end().to_owned()
}

fn indexes(parts: Vec<(String, Option<String>)>) -> Vec<IndexColumns> {
    let mut indexes: Vec<IndexColumns> = Vec::new();
    for (name, column) in parts {
        let column = column.unwrap_or_else(|| "(expression)".to_owned());
        match indexes.last_mut() {
            Some(index) if index.name == name => index.columns.push(column),
            _ => indexes.push(IndexColumns {
                name,
                columns: vec![column],
            }),
        }
    }
    indexes
}

fn refused(error: Error) -> SkipReason {
    SkipReason::Refused(match error {
        Error::MySqlError(error) => format!("MySQL {}", error.code),
        Error::IoError(error) => format!("connection: {}", error.kind()),
        _ => "driver".to_owned(),
    })
}

fn line(row: &Row) -> Line {
    let text = |name: &str| -> Option<String> {
        let columns = row.columns_ref();
        let index = columns
            .iter()
            .position(|column| column.name_str().eq_ignore_ascii_case(name))?;
        match row.as_ref(index)? {
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Value::Int(number) => Some(number.to_string()),
            Value::UInt(number) => Some(number.to_string()),
            _ => None,
        }
    };
    Line {
        table: text("table"),
        access_type: text("type"),
        key: text("key"),
        rows: text("rows").and_then(|rows| rows.parse().ok()),
        extra: text("Extra").unwrap_or_default(),
    }
}

fn steps(lines: &[Line], table_of: impl Fn(&str) -> TableName) -> Vec<Step> {
    lines
        .iter()
        .filter_map(|line| {
            // `<derived2>`, `<union1,2>`, `<subquery2>` are results of other lines.
            let alias = line
                .table
                .as_deref()
                .filter(|table| !table.starts_with('<'))?;
            Some(Step {
                table: table_of(alias),
                access: access(line),
                rows: line.rows,
                sorts: line.extra.contains("Using filesort"),
            })
        })
        .collect()
}

fn access(line: &Line) -> Access {
    match (line.access_type.as_deref(), &line.key) {
        (Some("ALL" | "index"), _) => Access::FullScan,
        (Some("system") | None, _) | (_, None) => Access::Other,
        // `joined` calls the one named PRIMARY by its right name.
        (_, Some(key)) => Access::Index(key.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(alias: &str) -> TableName {
        TableName {
            schema: None,
            table: format!("the {alias}"),
        }
    }

    /// Checks a line in the client's layout: table, type, key, rows, Extra.
    fn check(table: &str, how: &str, key: &str, extra: &str, expected: Option<(Access, bool)>) {
        let given = |text: &str| (text != "NULL").then(|| text.to_owned());
        let line = Line {
            table: given(table),
            access_type: given(how),
            key: given(key),
            rows: Some(9),
            extra: extra.to_owned(),
        };
        let expected = expected.map(|(access, sorts)| Step {
            table: named(table),
            access,
            rows: Some(9),
            sorts,
        });
        assert_eq!(steps(&[line], named), Vec::from_iter(expected));
    }

    #[test]
    fn makers_are_told_apart_by_their_version() {
        assert_eq!(
            kind_and_version("10.11.14-MariaDB-0+deb12u2"),
            "mariadb 10.11.14"
        );
        assert_eq!(kind_and_version("8.4.3"), "mysql 8.4.3");
        assert_eq!(kind_and_version(""), "mysql");
    }

    #[test]
    fn lines_of_plans() {
        let index = |name: &str| Access::Index(name.to_owned());
        let full = || Access::FullScan;
        check(
            "m",
            "ALL",
            "NULL",
            "Using where; Using filesort",
            Some((full(), true)),
        );
        check(
            "m",
            "index",
            "PRIMARY",
            "Using index",
            Some((full(), false)),
        );
        check(
            "m",
            "ref",
            "channel",
            "Using where",
            Some((index("channel"), false)),
        );
        check(
            "m",
            "range",
            "PRIMARY",
            "Using where",
            Some((index("PRIMARY"), false)),
        );
        check(
            "m",
            "index_merge",
            "a,b",
            "Using union(a,b)",
            Some((index("a,b"), false)),
        );
        check("m", "const", "PRIMARY", "", Some((index("PRIMARY"), false)));
        check("m", "system", "NULL", "", Some((Access::Other, false)));
        check("<derived2>", "ALL", "NULL", "", None);
        check("NULL", "NULL", "NULL", "Impossible WHERE", None);
    }

    #[test]
    fn columns_of_indexes_are_gathered() {
        let part = |name: &str, column: Option<&str>| (name.to_owned(), column.map(str::to_owned));
        let found = indexes(vec![
            part("PRIMARY", Some("id")),
            part("both", Some("a")),
            part("both", None),
        ]);
        let names: Vec<_> = found
            .iter()
            .map(|index| (index.name.as_str(), index.columns.join(",")))
            .collect();
        assert_eq!(
            names,
            [
                ("PRIMARY", "id".to_owned()),
                ("both", "a,(expression)".to_owned())
            ]
        );
    }
}

//! SQLite: `EXPLAIN QUERY PLAN` and the schema pragmas, on the file opened read-only.

use std::path::Path;

use recording::{Access, ColumnFacts, IndexColumns};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::statement::Statement;
use super::{ExplainError, ExplainLimits, Server, SkipReason, Step, TableFacts, TableName};

pub(crate) struct Sqlite {
    pub(crate) database: Connection,
}

/// A line of the plan.
struct Line {
    parent: i64,
    detail: String,
}

impl Sqlite {
    /// Opens `path`, `//path` or `///path` (which mean the same file in different frameworks'
    /// tongues).
    pub(crate) fn open(address: &str, limits: ExplainLimits) -> Result<Sqlite, ExplainError> {
        let (address, _) = super::split_query(address);
        let path = match address.strip_prefix("//") {
            Some(path) => path,
            None => address,
        };
        let failed = |error: rusqlite::Error| ExplainError::Connect {
            database: path.to_owned(),
            reason: error.to_string(),
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(Path::new(path), flags).map_err(failed)?;
        database.busy_timeout(limits.statement).map_err(failed)?;
        database
            .pragma_update(None, "query_only", true)
            .map_err(failed)?;
        // Opening alone reads nothing.
        database
            .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            .map_err(failed)?;
        Ok(Sqlite { database })
    }
}

impl Server for Sqlite {
    /// Returns a name without a version: the SQLite linked here is not the app's.
    fn describe(&mut self) -> String {
        "sqlite".to_owned()
    }

    fn plan(&mut self, statement: &Statement<'_>) -> Result<Vec<Step>, SkipReason> {
        let sql = format!("EXPLAIN QUERY PLAN {}", statement.sql());
        let mut prepared = self.database.prepare(&sql).map_err(refused)?;
        // Raw, since placeholders stay unbound.
        let mut rows = prepared.raw_query();
        let mut lines = Vec::new();
        while let Some(row) = rows.next().map_err(refused)? {
            lines.push(Line {
                parent: row.get(1).map_err(refused)?,
                detail: row.get(3).map_err(refused)?,
            });
        }
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
        let read = || self.read_table(&name.table);
        read().map_err(refused)
    }

    fn large_columns(&mut self, name: &TableName) -> Result<Vec<ColumnFacts>, SkipReason> {
        self.read_large_columns(&name.table).map_err(refused)
    }
}

impl Sqlite {
    /// Reads large columns from the values, as a type says little here: `length` of a value reads
    /// only the header.
    fn read_large_columns(&self, table: &str) -> rusqlite::Result<Vec<ColumnFacts>> {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let mut columns = self
            .database
            .prepare("SELECT name, upper(type) FROM pragma_table_info(?1) ORDER BY cid")?;
        let columns: Vec<(String, String)> = columns
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let mut large = Vec::new();
        for (column, kind) in columns {
            let binary = kind.contains("BLOB");
            if !binary
                && !["TEXT", "CLOB", "JSON"]
                    .iter()
                    .any(|part| kind.contains(part))
            {
                continue;
            }
            let mean: Option<f64> = self.database.query_row(
                &format!(
                    "SELECT avg(size) FROM (SELECT length({}) AS size FROM {} LIMIT {})",
                    quoted(&column),
                    quoted(table),
                    super::SAMPLED_ROWS,
                ),
                [],
                |row| row.get(0),
            )?;
            large.push(ColumnFacts {
                table: table.to_owned(),
                column,
                binary,
                bytes_mean: mean.unwrap_or(0.0) as u64,
            });
        }
        Ok(large)
    }

    fn read_table(&self, table: &str) -> rusqlite::Result<Option<TableFacts>> {
        let mut columns = self
            .database
            .prepare("SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid")?;
        let columns: Vec<(String, i64)> = columns
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        if columns.is_empty() {
            return Ok(None);
        }
        let mut facts = TableFacts {
            rows: self.rows(table),
            columns: columns.iter().map(|(name, _)| name.clone()).collect(),
            ..TableFacts::default()
        };
        let mut indexes = self
            .database
            .prepare("SELECT name, origin FROM pragma_index_list(?1) WHERE partial = 0")?;
        let indexes: Vec<(String, String)> = indexes
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (name, origin) in indexes {
            facts.indexes.push(self.index(&name)?);
            if origin == "pk" {
                facts.primary = Some(name);
            }
        }
        if facts.primary.is_none() {
            facts.indexes.extend(rowid_key(columns));
        }
        Ok(Some(facts))
    }

    fn index(&self, name: &str) -> rusqlite::Result<IndexColumns> {
        let mut statement = self
            .database
            .prepare("SELECT name FROM pragma_index_info(?1) ORDER BY seqno")?;
        let columns = statement.query_map([name], |row| row.get::<_, Option<String>>(0))?;
        let columns: Vec<Option<String>> = columns.collect::<rusqlite::Result<_>>()?;
        Ok(IndexColumns {
            name: name.to_owned(),
            columns: columns
                .into_iter()
                // SQLite does not report an indexed expression's text.
                .map(|column| column.unwrap_or_else(|| "(expression)".to_owned()))
                .collect(),
        })
    }

    /// Row count of ANALYZE, otherwise the greatest rowid, which is found at once and is near the
    /// count where rows are seldom deleted. Counting would read the whole table.
    fn rows(&self, table: &str) -> u64 {
        let analyzed = "SELECT stat FROM sqlite_stat1 WHERE tbl = ?1 LIMIT 1";
        let counted = self
            .database
            .query_row(analyzed, [table], |row| row.get::<_, String>(0))
            .optional()
            .unwrap_or(None)
            .and_then(|stat| stat.split(' ').next()?.parse().ok());
        let greatest = || {
            let sql = format!("SELECT max(rowid) FROM \"{}\"", table.replace('"', "\"\""));
            let read = self
                .database
                .query_row(&sql, [], |row| row.get::<_, Option<i64>>(0));
            u64::try_from(read.ok()??).ok()
        };
        counted.or_else(greatest).unwrap_or(0)
    }
}

/// The key of a table with the rowid as primary key, and so without an index for the key.
fn rowid_key(columns: Vec<(String, i64)>) -> Option<IndexColumns> {
    let mut keys: Vec<(i64, String)> = columns
        .into_iter()
        .filter(|(_, position)| *position > 0)
        .map(|(name, position)| (position, name))
        .collect();
    keys.sort();
    (!keys.is_empty()).then(|| IndexColumns {
        name: "PRIMARY KEY".to_owned(),
        columns: keys.into_iter().map(|(_, name)| name).collect(),
    })
}

fn refused(error: rusqlite::Error) -> SkipReason {
    let code = error.sqlite_error().map(|error| error.extended_code);
    SkipReason::Refused(code.map_or("unknown".to_owned(), |code| format!("SQLite {code}")))
}

/// The steps reading a table. A sort is recorded at the first step beside it, the outermost loop.
fn steps(lines: &[Line], table_of: impl Fn(&str) -> TableName) -> Vec<Step> {
    let mut steps: Vec<(i64, Step)> = Vec::new();
    for line in lines {
        if let Some((alias, access)) = table_step(&line.detail) {
            let step = Step {
                table: table_of(alias),
                access,
                rows: None,
                sorts: false,
            };
            steps.push((line.parent, step));
        } else if line.detail.starts_with("USE TEMP B-TREE FOR")
            && line.detail.ends_with("ORDER BY")
        {
            let beside = steps.iter_mut().find(|(parent, _)| *parent == line.parent);
            if let Some((_, step)) = beside {
                step.sorts = true;
            }
        }
    }
    steps.into_iter().map(|(_, step)| step).collect()
}

/// `SCAN m`, `SEARCH TABLE message AS m USING INDEX i (channel_id=?)`: before and since SQLite
/// 3.36.
fn table_step(detail: &str) -> Option<(&str, Access)> {
    let (search, rest) = match detail.split_once(' ')? {
        ("SCAN", rest) => (false, rest),
        ("SEARCH", rest) => (true, rest),
        _ => return None,
    };
    let rest = rest.strip_prefix("TABLE ").unwrap_or(rest);
    let (alias, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (alias, rest) = match rest.strip_prefix("AS ") {
        Some(rest) => rest.split_once(' ').unwrap_or((rest, "")),
        None => (alias, rest),
    };
    let no_table = ["CONSTANT", "SUBQUERY"].contains(&alias)
        || alias.starts_with('(')
        || rest.starts_with("VALUES CLAUSE")
        || alias.ends_with("-ROW");
    if no_table {
        return None;
    }
    Some((alias, access(search, rest)))
}

fn access(search: bool, how: &str) -> Access {
    let how = how.strip_prefix("USING ").unwrap_or(how);
    if how.starts_with("AUTOMATIC") || (!search && !how.starts_with("VIRTUAL")) {
        // An automatic index is built for this one execution from all rows.
        return Access::FullScan;
    }
    if how.starts_with("INTEGER PRIMARY KEY") || how.starts_with("PRIMARY KEY") {
        return Access::PrimaryKey;
    }
    let name = how
        .strip_prefix("COVERING INDEX ")
        .or_else(|| how.strip_prefix("INDEX "));
    match name.and_then(|name| name.split(" (").next()) {
        Some(name) => Access::Index(name.to_owned()),
        None => Access::Other,
    }
}

#[cfg(test)]
mod tests {
    use recording::{PlanStep, TextId};

    use super::*;
    use crate::explain::{Explained, explain};

    #[test]
    fn lines_of_plans() {
        let check = |detail: &str, expected: Option<(&str, Access)>| {
            assert_eq!(table_step(detail), expected, "{detail}");
        };
        let index = |name: &str| Access::Index(name.to_owned());
        check("SCAN m", Some(("m", Access::FullScan)));
        check("SCAN TABLE message AS m", Some(("m", Access::FullScan)));
        check("SCAN TABLE message", Some(("message", Access::FullScan)));
        check(
            "SCAN m USING COVERING INDEX i",
            Some(("m", Access::FullScan)),
        );
        check(
            "SEARCH m USING INDEX i (channel_id=? AND id>?)",
            Some(("m", index("i"))),
        );
        check(
            "SEARCH TABLE message AS m USING COVERING INDEX i (a=?)",
            Some(("m", index("i"))),
        );
        check(
            "SEARCH u USING INTEGER PRIMARY KEY (rowid=?)",
            Some(("u", Access::PrimaryKey)),
        );
        check(
            "SEARCH u USING PRIMARY KEY (a=?)",
            Some(("u", Access::PrimaryKey)),
        );
        check(
            "SEARCH u USING AUTOMATIC COVERING INDEX (a=?)",
            Some(("u", Access::FullScan)),
        );
        check("SCAN f VIRTUAL TABLE INDEX 0:", Some(("f", Access::Other)));
        check("SCAN CONSTANT ROW", None);
        check("SCAN 2-ROW VALUES CLAUSE", None);
        check("SCAN (subquery-1)", None);
        check("USE TEMP B-TREE FOR ORDER BY", None);
        check("MULTI-INDEX OR", None);
    }

    const SCHEMA: &str = "
        CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE message (
            id INTEGER PRIMARY KEY, channel_id INTEGER, user_id INTEGER, content TEXT);
        CREATE INDEX message_user ON message (user_id, lower(content));
        CREATE TABLE haveread (user_id INT, channel_id INT, PRIMARY KEY (user_id, channel_id));
        INSERT INTO message (channel_id) VALUES (1), (1), (2);
    ";

    fn explained(candidates: &[&str]) -> Explained {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("chat.db");
        let database = Connection::open(&path).unwrap();
        database.execute_batch(SCHEMA).unwrap();
        let named = |sql: &&str| (TextId::of(sql.as_bytes()), (*sql).to_owned());
        let candidates: Vec<(TextId, String)> = candidates.iter().map(named).collect();
        let url = format!("sqlite:{}", path.display());
        explain(&url, &candidates, ExplainLimits::default()).unwrap()
    }

    fn step_of(sql: &str) -> PlanStep {
        let mut explained = explained(&[sql]);
        assert_eq!(explained.skipped, []);
        explained.statements.remove(0).steps.remove(0)
    }

    #[test]
    fn a_scan_with_sort_names_table_columns_and_indexes() {
        let sql = "SELECT * FROM message m WHERE m.channel_id = ? ORDER BY m.content LIMIT ?";
        let index = |name: &str, columns: &[&str]| IndexColumns {
            name: name.to_owned(),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        };
        let expected = PlanStep {
            table: "message".to_owned(),
            access: Access::FullScan,
            rows: 3,
            table_rows: 3,
            sorts: true,
            indexes: vec![
                index("message_user", &["user_id", "(expression)"]),
                index("PRIMARY KEY", &["id"]),
            ],
            columns: ["id", "channel_id", "user_id", "content"]
                .map(str::to_owned)
                .into(),
        };
        assert_eq!(step_of(sql), expected);
    }

    #[test]
    fn keys_and_indexes_are_told_apart() {
        let check =
            |sql: &str, expected: Access| assert_eq!(step_of(sql).access, expected, "{sql}");
        check("SELECT * FROM user WHERE id = 7", Access::PrimaryKey);
        check(
            "SELECT * FROM message WHERE user_id = 7",
            Access::Index("message_user".to_owned()),
        );
        check(
            "SELECT * FROM user WHERE name = 'x'",
            Access::Index("sqlite_autoindex_user_1".to_owned()),
        );
        check(
            "SELECT * FROM haveread WHERE user_id = 1 AND channel_id = 2",
            Access::PrimaryKey,
        );
    }

    #[test]
    fn what_cannot_be_explained_is_counted() {
        let explained = explained(&[
            "DELETE FROM user",
            "SELECT * FROM nowhere WHERE secret = 'hunter2'",
            "SELECT 1",
        ]);
        assert_eq!(explained.statements.len(), 1);
        let reasons: Vec<_> = explained
            .skipped
            .into_iter()
            .map(|(_, reason)| reason)
            .collect();
        let refused = SkipReason::Refused("SQLite 1".to_owned());
        assert_eq!(reasons, [SkipReason::NotAPlainSelect, refused]);
    }

    #[test]
    fn limits_are_kept() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("chat.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(SCHEMA)
            .unwrap();
        let candidates = vec![
            (TextId(1), "SELECT 1".to_owned()),
            (TextId(2), "SELECT 2".to_owned()),
        ];
        let limits = ExplainLimits {
            statements_max: 1,
            ..ExplainLimits::default()
        };
        let explained =
            explain(&format!("sqlite:{}", path.display()), &candidates, limits).unwrap();
        assert_eq!(explained.statements.len(), 1);
        assert_eq!(explained.skipped, [(TextId(2), SkipReason::Limit)]);
    }

    #[test]
    fn a_missing_file_is_an_error_and_is_not_made() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("none.db");
        let error = explain(
            &format!("sqlite:{}", path.display()),
            &[],
            ExplainLimits::default(),
        );
        assert!(error.unwrap_err().to_string().starts_with("cannot ask "));
        assert!(!path.exists());
    }
}

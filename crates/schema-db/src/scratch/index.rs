//! One index, created and dropped again.

use schema::Product;
use schema::mysql::backticked;

use super::has_backticks;
use crate::{Database, DbError};

/// An index, named as in a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Name of the index.
    pub name: String,
    /// Name of the table.
    pub table: String,
}

impl Index {
    /// Of `CREATE [UNIQUE] INDEX [CONCURRENTLY] name ON table …`; `None` for any other statement.
    pub fn of_statement(sql: &str) -> Option<Index> {
        let mut words = Words(sql);
        let mut word = words.next()?;
        if !word.eq_ignore_ascii_case("create") {
            return None;
        }
        word = words.next()?;
        if word.eq_ignore_ascii_case("unique") {
            word = words.next()?;
        }
        if !word.eq_ignore_ascii_case("index") {
            return None;
        }
        word = words.next()?;
        if word.eq_ignore_ascii_case("concurrently") {
            word = words.next()?;
        }
        let on = words.next()?;
        let table = words.next()?;
        on.eq_ignore_ascii_case("on")
            .then_some(Index { name: word, table })
    }

    /// Whether the index exists.
    ///
    /// # Errors
    /// Whatever the server says.
    pub fn is_there(&self, database: &mut dyn Database) -> Result<bool, DbError> {
        let (name, table) = (literal(&self.name), literal(&self.table));
        let sql = match database.server().product {
            Product::Sqlite => {
                format!("SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = {name}")
            }
            Product::Postgres => {
                format!("SELECT 1 FROM pg_indexes WHERE indexname = {name} AND tablename = {table}")
            }
            Product::Mysql | Product::MariaDb => format!(
                "SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE() \
                 AND table_name = {table} AND index_name = {name} LIMIT 1"
            ),
        };
        Ok(!database.query(&sql)?.is_empty())
    }

    /// Returns the statement dropping the index.
    pub fn drop_statement(&self, product: Product) -> String {
        if has_backticks(product) {
            let (index, table) = (backticked(&self.name), backticked(&self.table));
            format!("DROP INDEX {index} ON {table}")
        } else {
            format!("DROP INDEX \"{}\"", self.name.replace('"', "\"\""))
        }
    }
}

/// A text in SQL. Backslashes never occur in names made by a finding, and are doubled for servers
/// that read them.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Words and quoted names, without the quotes.
struct Words<'a>(&'a str);

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.0 = self.0.trim_start();
        let first = self.0.chars().next()?;
        if first == '"' || first == '`' {
            let mut name = String::new();
            let mut rest = self.0[1..].chars();
            loop {
                let letter = rest.next()?;
                if letter != first {
                    name.push(letter);
                } else if rest.as_str().starts_with(first) {
                    name.push(first);
                    rest.next();
                } else {
                    break;
                }
            }
            self.0 = rest.as_str();
            return Some(name);
        }
        let end = self.0.find(|c: char| c.is_whitespace() || c == '(');
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, expected: Option<(&str, &str)>) {
        let expected = expected.map(|(name, table)| Index {
            name: name.to_owned(),
            table: table.to_owned(),
        });
        assert_eq!(Index::of_statement(sql), expected, "{sql}");
    }

    #[test]
    fn an_index_is_read_from_its_statement() {
        check("CREATE INDEX a ON b (c)", Some(("a", "b")));
        check(
            "create unique index `a``b` on `group`(c)",
            Some(("a`b", "group")),
        );
        check(
            "CREATE INDEX CONCURRENTLY \"a b\" ON \"B\" (c)",
            Some(("a b", "B")),
        );
        check("ALTER TABLE b ADD INDEX a (c)", None);
        check("CREATE INDEX a", None);
        check("", None);
    }

    #[test]
    fn names_are_quoted_when_it_is_dropped() {
        let index = Index {
            name: "a`b".to_owned(),
            table: "t".to_owned(),
        };
        assert_eq!(
            index.drop_statement(Product::MariaDb),
            "DROP INDEX `a``b` ON `t`"
        );
        assert_eq!(index.drop_statement(Product::Sqlite), "DROP INDEX \"a`b\"");
    }

    #[test]
    fn it_comes_and_goes_on_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = crate::sqlite::open(&folder.path().join("a.db")).unwrap();
        database.execute("CREATE TABLE t (a INTEGER)").unwrap();
        let sql = "CREATE INDEX t_a ON t (a)";
        let index = Index::of_statement(sql).unwrap();
        assert!(!index.is_there(&mut database).unwrap());
        database.execute(sql).unwrap();
        assert!(index.is_there(&mut database).unwrap());
        let statement = index.drop_statement(database.server().product);
        database.execute(&statement).unwrap();
        assert!(!index.is_there(&mut database).unwrap());
    }
}

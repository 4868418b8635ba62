//! One column of a table.

use schema::SyntaxError;

use super::options::Options;
use super::table::{Item, Table};
use super::types::Asked;
use super::{default, index};
use crate::ruby::{Kind, Value};

/// Whether a column is the primary key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Primary {
    Yes,
    /// When requested by options.
    WhereSaid,
}

/// A requested column.
pub(super) struct Column {
    pub(super) name: String,
    /// The type's word.
    pub(super) word: String,
    pub(super) at: usize,
    pub(super) primary: Primary,
    /// The options are the table's too, whose comment, charset and collation are not the column's.
    pub(super) is_table_beside: bool,
}

impl<'a> Table<'a> {
    /// Adds a column, with comment and index.
    pub(super) fn column(
        &mut self,
        column: &Column,
        options: &Options<'a>,
        renamed_from: Option<String>,
    ) -> Result<(), SyntaxError> {
        let file = self.file;
        let line = file.line(column.at);
        let is_primary = column.primary == Primary::Yes || options.flag("primary_key")?;
        let sql = self.column_sql(column, options, is_primary)?;
        let renamed = match column.is_table_beside {
            true => None,
            false => options.word("renamed_from")?.or(renamed_from),
        };
        self.columns.push(Item {
            line,
            sql,
            renamed_from: renamed,
        });
        if column.is_table_beside {
            return Ok(());
        }
        if let Some(comment) = options.word("comment")? {
            let spelling = file.spelling;
            let name = format!(
                "{}.{}",
                spelling.table(&self.name),
                spelling.name(&column.name)
            );
            self.comment(line, "COLUMN", &name, &comment);
        }
        if let Some(value) = options.value("index") {
            let own = match &value.kind {
                Kind::Hash(pairs) => Options::new(file.source, pairs),
                _ => Options::new(file.source, &[]),
            };
            let columns = std::slice::from_ref(&column.name);
            let written = index::with_columns(self, columns, None, &own)?;
            self.index(line, written);
        }
        // Ridgepole's own: whether it looks at the column, and where it stands.
        options.ignore(&[
            "ignore",
            "first",
            "after",
            "type",
            "using",
            "cast_as",
            "auto_increment",
        ]);
        options.finish()
    }

    fn column_sql(
        &self,
        column: &Column,
        options: &Options<'a>,
        is_primary: bool,
    ) -> Result<String, SyntaxError> {
        let spelling = self.file.spelling;
        let is_counted = is_primary
            && matches!(column.word.as_str(), "primary_key" | "integer" | "bigint")
            && options.given("default").is_none();
        if is_counted && spelling.is_sqlite() {
            return Ok(format!(
                "{} integer PRIMARY KEY AUTOINCREMENT NOT NULL",
                spelling.name(&column.name)
            ));
        }
        let is_no_counter = options.given("auto_increment").is_some_and(Value::is_false);
        let asked = self.asked(column, options, is_counted)?;
        let data_type = asked
            .sql(spelling)
            .or_else(|message| self.file.fail(asked.at, &message))?;
        let mut sql = format!("{} {data_type}", spelling.name(&column.name));
        let is_null_refused = is_primary
            || matches!(
                options.given("null").map(|value| &value.kind),
                Some(Kind::Bool(false))
            );
        let default = self.default(&asked, options, is_primary, is_null_refused)?;
        if spelling.is_mysql()
            && data_type.starts_with("timestamp")
            && !is_null_refused
            && default.is_none()
        {
            sql.push_str(" NULL");
        }
        sql.push_str(&self.text_options(column, options)?);
        sql.push_str(&self.generated(options)?);
        sql.extend(default.map(|default| format!(" DEFAULT {default}")));
        if is_null_refused {
            sql.push_str(" NOT NULL");
        }
        let is_counter = options.flag("auto_increment")? || (is_counted && !is_no_counter);
        if spelling.is_mysql() && is_counter {
            sql.push_str(" AUTO_INCREMENT");
        }
        if is_primary {
            sql.push_str(" PRIMARY KEY");
        }
        if let (true, false) = (spelling.is_mysql(), column.is_table_beside) {
            let comment = options.word("comment")?;
            sql.extend(comment.map(|comment| format!(" COMMENT {}", spelling.text(&comment))));
        }
        Ok(sql)
    }

    /// Requested type of a column; on PostgreSQL an auto-increment key has a special one.
    fn asked(
        &self,
        column: &Column,
        options: &Options<'a>,
        is_counted: bool,
    ) -> Result<Asked, SyntaxError> {
        let spelling = self.file.spelling;
        let is_long = column.word != "integer" || options.number("limit")? == Some(8);
        let word = match column.word.as_str() {
            "primary_key" | "integer" | "bigint" if is_counted && spelling.is_postgres() => {
                if is_long {
                    "bigserial"
                } else {
                    "serial"
                }
            }
            "primary_key" => "bigint",
            word => word,
        };
        let is_fine = self.file.release >= (7, 0);
        let mut asked = Asked::new(word, column.at, options, is_fine)?;
        if word.ends_with("serial") || word == "bigint" {
            asked.limit = None;
        }
        if word == "timestamp" && asked.precision.is_none() && spelling.is_mysql() {
            asked.precision = Some(clock_digits(options.given("default")));
        }
        Ok(asked)
    }

    fn default(
        &self,
        asked: &Asked,
        options: &Options<'a>,
        is_primary: bool,
        is_null_refused: bool,
    ) -> Result<Option<String>, SyntaxError> {
        let spelling = self.file.spelling;
        match options.given("default") {
            None if is_primary && asked.word == "uuid" && spelling.is_postgres() => {
                Ok(Some("gen_random_uuid()".to_owned()))
            }
            None => Ok(None),
            Some(value) if value.kind == Kind::Nil && is_null_refused => Ok(None),
            Some(value) => default::sql(value, asked, spelling, options).map(Some),
        }
    }

    fn text_options(&self, column: &Column, options: &Options<'a>) -> Result<String, SyntaxError> {
        if column.is_table_beside {
            return Ok(String::new());
        }
        let (charset, collation) = (options.word("charset")?, options.word("collation")?);
        let mut sql = String::new();
        if self.file.spelling.is_mysql() {
            sql.extend(charset.map(|charset| format!(" CHARACTER SET {charset}")));
            sql.extend(collation.map(|collation| format!(" COLLATE {collation}")));
        } else if let Some(collation) = collation {
            sql.push_str(&format!(" COLLATE \"{collation}\""));
        }
        Ok(sql)
    }

    fn generated(&self, options: &Options<'a>) -> Result<String, SyntaxError> {
        let Some(expression) = options.expression("as")? else {
            options.ignore(&["stored"]);
            return Ok(String::new());
        };
        let is_stored = options.value("stored").is_some();
        let kind = match (is_stored, self.file.spelling.is_postgres()) {
            (true, _) => " STORED",
            (false, false) => " VIRTUAL",
            // PostgreSQL 18 has them, and takes them where nothing is said.
            (false, true) => "",
        };
        Ok(format!(" GENERATED ALWAYS AS ({expression}){kind}"))
    }
}

/// Digits of a second in a default such as `CURRENT_TIMESTAMP(6)`, which a column of other
/// precision refuses: ActiveRecord's dumper leaves out the 6 of a `timestamp`.
fn clock_digits(default: Option<&Value>) -> Option<u64> {
    let Some(Kind::Lambda(sql)) = default.map(|value| &value.kind) else {
        return None;
    };
    let sql = sql.to_lowercase();
    let digits = sql
        .trim_start_matches('(')
        .strip_prefix("current_timestamp(")?;
    digits.split(')').next()?.parse().ok()
}

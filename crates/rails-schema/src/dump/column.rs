//! Columns and primary keys in ActiveRecord's words.

use schema::outline::{Column, Table};

use super::Dumper;
use super::literal::{list, quoted, symbol, text};
use super::types::{self, Word};

/// Options of `create_table` for the primary key.
pub(super) struct Key {
    pub(super) options: String,
    /// Column defined by the options.
    pub(super) column: Option<String>,
}

type Pairs = Vec<(&'static str, String)>;

impl Dumper<'_> {
    pub(super) fn primary_key(&self, table: &Table) -> Key {
        let name = match table.primary_key.as_slice() {
            [name] => name,
            [] => {
                return Key {
                    options: ", id: false".to_owned(),
                    column: None,
                };
            }
            several => {
                let options = format!(", primary_key: {}", list(several));
                return Key {
                    options,
                    column: None,
                };
            }
        };
        let column = table.columns.iter().find(|column| column.name == *name);
        let Some(column) = column.filter(|column| !self.is_bare_rowid(column)) else {
            return Key {
                options: ", id: false".to_owned(),
                column: None,
            };
        };
        let mut options = match name.as_str() {
            "id" => String::new(),
            name => format!(", primary_key: {}", quoted(name)),
        };
        let (word, mut pairs) = self.described(table, column, true);
        let is_usual = match (column.is_counted, column.data_type.as_str()) {
            (false, _) => false,
            (true, _) if self.spelling.is_sqlite() => true,
            (true, data_type) => data_type.starts_with("bigint"),
        };
        let word = match (
            column.is_counted && self.spelling.is_postgres(),
            word.as_str(),
        ) {
            (true, ":integer") => ":serial".to_owned(),
            _ => word,
        };
        if !column.is_counted && matches!(word.as_str(), ":integer" | ":bigint") {
            pairs.push(("default", "nil".to_owned()));
        }
        match (is_usual, pairs.is_empty()) {
            (true, true) => {}
            (false, true) => options.push_str(&format!(", id: {word}")),
            (_, false) => {
                pairs.insert(0, ("type", word));
                options.push_str(&format!(", id: {{ {} }}", joined(&pairs)));
            }
        }
        Key {
            options,
            column: Some(name.clone()),
        }
    }

    /// SQLite's rowid under another name without AUTOINCREMENT, for which there is no word.
    fn is_bare_rowid(&self, column: &Column) -> bool {
        self.spelling.is_sqlite() && column.data_type == "integer" && !column.is_counted
    }

    pub(super) fn column(&self, table: &Table, column: &Column) -> String {
        let is_key = table.primary_key == [column.name.clone()];
        if is_key && self.is_bare_rowid(column) {
            let null = if column.is_not_null {
                ", null: false"
            } else {
                ""
            };
            let name = quoted(&column.name);
            return format!("t.column {name}, \"integer PRIMARY KEY\"{null}");
        }
        let (word, mut pairs) = self.described(table, column, false);
        if column.is_not_null {
            pairs.push(("null", "false".to_owned()));
        }
        let is_word = word.starts_with(':') && !word.starts_with(":\"");
        let mut line = match (&column.generated, is_word) {
            (Some(_), _) => {
                pairs.insert(0, ("type", word));
                format!("t.virtual {}", quoted(&column.name))
            }
            (None, true) => format!("t.{} {}", &word[1..], quoted(&column.name)),
            (None, false) => format!("t.column {}, {word}", quoted(&column.name)),
        };
        if !pairs.is_empty() {
            line.push_str(&format!(", {}", joined(&pairs)));
        }
        line
    }

    /// The type's word, and everything but whether NULL is refused.
    fn described(&self, table: &Table, column: &Column, is_key: bool) -> (String, Pairs) {
        let enums = &self.outline.enums;
        let is_enum = enums.iter().any(|(name, _)| *name == column.data_type);
        let (mut word, mut pairs) = match types::word(&column.data_type, self.spelling) {
            _ if is_enum => {
                let pairs = vec![("enum_type", quoted(&column.data_type))];
                (":enum".to_owned(), pairs)
            }
            Word::Known { word, options } => (symbol(&word), options),
            Word::Sql(sql) => (quoted(&sql), Vec::new()),
        };
        let is_serial = column.is_counted && self.spelling.is_postgres() && !is_key;
        if is_serial {
            word = match word.as_str() {
                ":integer" => ":serial",
                _ => ":bigserial",
            }
            .to_owned();
        }
        let mut flag = |is_set: bool, name: &'static str| {
            pairs.extend(is_set.then(|| (name, "true".to_owned())));
        };
        flag(column.is_unsigned, "unsigned");
        flag(column.is_array, "array");
        flag(
            column.is_counted && self.spelling.is_mysql() && !is_key,
            "auto_increment",
        );
        if let Some(default) = self.default(column, &word).filter(|_| !is_serial) {
            pairs.push(("default", default));
        }
        if let Some((expression, is_stored)) = &column.generated {
            pairs.push(("as", text(expression)));
            if *is_stored {
                pairs.push(("stored", "true".to_owned()));
            }
        }
        // What a column has from its table is not its own.
        let own = |value: &Option<String>, of_table: &Option<String>| {
            value.clone().filter(|_| value != of_table)
        };
        for (name, value) in [
            ("charset", own(&column.charset, &table.charset)),
            ("collation", own(&column.collation, &table.collation)),
            ("comment", column.comment.clone()),
        ] {
            pairs.extend(value.as_ref().map(|value| (name, quoted(value))));
        }
        (word, pairs)
    }

    /// A literal where the meaning is plain, else SQL in a lambda.
    fn default(&self, column: &Column, word: &str) -> Option<String> {
        let sql = column.default.as_deref();
        if let Some(update) = &column.on_update {
            let sql = sql.unwrap_or("NULL");
            return Some(format!(
                "-> {{ {} }}",
                text(&format!("{sql} ON UPDATE {update}"))
            ));
        }
        let sql = sql?;
        let literal = match word {
            _ if column.is_array => None,
            ":string" | ":text" | ":enum" => string(sql, self.spelling.is_mysql()),
            ":integer" | ":bigint" => number(sql),
            ":boolean" => boolean(sql),
            _ => None,
        };
        Some(literal.unwrap_or_else(|| format!("-> {{ {} }}", text(sql))))
    }
}

fn joined(pairs: &Pairs) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    pairs.join(", ")
}

/// Content of an SQL string literal, with an optional PostgreSQL cast.
fn string(sql: &str, has_escapes: bool) -> Option<String> {
    let inside = sql.strip_prefix('\'')?;
    let (inside, behind) = inside.rsplit_once('\'')?;
    let is_whole = behind.is_empty() || (behind.starts_with("::") && !behind.contains(['(', '[']));
    let text = inside.replace("''", "\u{0}");
    let has_more = text.contains('\'') || (has_escapes && text.contains('\\'));
    (is_whole && !has_more).then(|| quoted(&text.replace('\u{0}', "'")))
}

fn number(sql: &str) -> Option<String> {
    let plain = sql.trim_matches('\'');
    plain.parse::<i64>().ok().map(|number| number.to_string())
}

fn boolean(sql: &str) -> Option<String> {
    match sql.trim_matches('\'').to_lowercase().as_str() {
        "true" | "1" => Some("true".to_owned()),
        "false" | "0" => Some("false".to_owned()),
        _ => None,
    }
}

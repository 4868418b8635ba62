//! `create_table` and the block.

use schema::SyntaxError;

use super::File;
use super::column::{Column, Primary};
use super::constraint;
use super::index;
use super::options::{Options, words};
use super::out::Out;
use crate::names;
use crate::ruby::{Call, Key, Kind, Value};

/// Calls changing an existing table, not used in schema files.
const CHANGES: [&str; 8] = [
    "remove",
    "rename",
    "change",
    "change_default",
    "change_null",
    "remove_index",
    "rename_index",
    "remove_references",
];

/// SQL and the line of the Ruby source.
pub(super) struct Item {
    pub(super) line: usize,
    pub(super) sql: String,
    pub(super) renamed_from: Option<String>,
}

/// A table while reading the block.
pub(super) struct Table<'a> {
    pub(super) file: &'a File<'a>,
    pub(super) name: String,
    pub(super) columns: Vec<Item>,
    /// Constraints behind the columns, as required by SQLite.
    constraints: Vec<Item>,
    /// Statements behind `CREATE TABLE`.
    pub(super) after: Vec<Item>,
}

/// Writes the statements creating a table.
pub(super) fn create<'a>(
    file: &'a File<'a>,
    call: &'a Call,
    out: &mut Out,
) -> Result<(), SyntaxError> {
    let options = file.options(call);
    let mut table = Table {
        file,
        name: file.word(call, 0)?,
        columns: Vec::new(),
        constraints: Vec::new(),
        after: Vec::new(),
    };
    let line = file.line(call.at);
    let suffix = table.head(call, &options, line)?;
    if let Some(block) = &call.block {
        for call in &block.calls {
            if call.receiver != block.parameter {
                return file.fail(call.at, OUTSIDE);
            }
            table.call(call)?;
        }
    }
    for (owner, call) in &file.outside {
        if *owner != table.name {
            continue;
        }
        let sql = constraint::named(file, owner, call, &call.arguments[1..])?;
        table.constraint_item(line, sql);
    }
    let renamed = options.word("renamed_from")?.or(call.renamed_from.clone());
    options.finish()?;
    table.write(line, &suffix, renamed.as_deref(), out);
    Ok(())
}

/// Why a call in a table's block is refused.
const OUTSIDE: &str = "only what the block's own table does can be read here";

impl<'a> Table<'a> {
    /// Reads table options and the primary key, and returns the SQL behind the parentheses.
    fn head(
        &mut self,
        call: &'a Call,
        options: &Options<'a>,
        line: usize,
    ) -> Result<String, SyntaxError> {
        options.ignore(&["force", "if_not_exists"]);
        for name in ["as", "temporary"] {
            if let Some(value) = options.value(name) {
                return self
                    .file
                    .fail(value.at, "such a table is no part of a schema");
            }
        }
        self.primary_key(call, options, line)?;
        let spelling = self.file.spelling;
        let mut suffix = String::new();
        let (charset, collation) = (options.word("charset")?, options.word("collation")?);
        if spelling.is_mysql() {
            for (word, value) in [(" DEFAULT CHARSET=", charset), (" COLLATE=", collation)] {
                suffix.extend(value.map(|value| format!("{word}{value}")));
            }
        }
        if let Some(text) = options.word("options")? {
            suffix.push_str(&format!(" {text}"));
        }
        if let Some(comment) = options.word("comment")? {
            match spelling.is_mysql() {
                true => suffix.push_str(&format!(" COMMENT={}", spelling.text(&comment))),
                false => self.comment(line, "TABLE", &spelling.table(&self.name), &comment),
            }
        }
        Ok(suffix)
    }

    /// Reads the primary key, explicit or implicit.
    fn primary_key(
        &mut self,
        call: &'a Call,
        options: &Options<'a>,
        line: usize,
    ) -> Result<(), SyntaxError> {
        let id = options.given("id");
        let key = options.value("primary_key");
        let names = key.map(|key| words(self.file.source, key)).transpose()?;
        let is_several = key.is_some_and(|key| matches!(key.kind, Kind::List(_)));
        options.ignore(&[
            "limit",
            "default",
            "precision",
            "scale",
            "unsigned",
            "auto_increment",
            "null",
        ]);
        if id.is_some_and(Value::is_false) {
            return Ok(());
        }
        if let (Some(names), true) = (&names, is_several) {
            let names = self.file.spelling.names(names);
            self.constraint_item(line, format!("PRIMARY KEY ({names})"));
            return Ok(());
        }
        let name = names.and_then(|names| names.into_iter().next());
        let inside: &[(Key, Value)] = match id.map(|id| &id.kind) {
            Some(Kind::Hash(pairs)) => pairs,
            _ => &[],
        };
        let word = match id {
            Some(id) if inside.is_empty() => id.word().unwrap_or("primary_key").to_owned(),
            _ => Options::new(self.file.source, inside)
                .word("type")?
                .unwrap_or("primary_key".to_owned()),
        };
        let own = Options::new(self.file.source, inside);
        // A comment, charset or collation beside `id:` is the table's.
        let own = match inside.is_empty() {
            true => own.with(&call.options),
            false => own,
        };
        let column = Column {
            name: name.unwrap_or("id".to_owned()),
            word,
            at: call.at,
            primary: Primary::Yes,
            is_table_beside: inside.is_empty(),
        };
        self.column(&column, &own, None)
    }

    fn call(&mut self, call: &'a Call) -> Result<(), SyntaxError> {
        let options = self.file.options(call);
        let name = call.name.as_str();
        if CHANGES.contains(&name) {
            return self.file.fail(
                call.at,
                "a schema file makes tables, it does not change them",
            );
        }
        match name {
            "index" => {
                let written = index::of_table(self, call, &call.arguments, &options)?;
                self.index(self.file.line(call.at), written);
                options.finish()
            }
            "check_constraint"
            | "foreign_key"
            | "exclusion_constraint"
            | "unique_constraint"
            | "unique_key" => self.constraint(call),
            "timestamps" => self.timestamps(call, options),
            "references" | "belongs_to" => self.references(call, &options),
            "column" => {
                let (name, word) = (self.file.word(call, 0)?, self.file.word(call, 1)?);
                self.plain(call, &options, &[name], &word)
            }
            "virtual" => {
                let word = options.word("type")?.unwrap_or_default();
                let names = self.names(call)?;
                self.plain(call, &options, &names, &word)
            }
            "primary_key" => {
                let word = call.arguments.get(1).and_then(Value::word);
                let column = Column {
                    name: self.file.word(call, 0)?,
                    word: word.unwrap_or("primary_key").to_owned(),
                    at: call.at,
                    primary: Primary::Yes,
                    is_table_beside: false,
                };
                self.column(&column, &options, call.renamed_from.clone())
            }
            word => {
                let names = self.names(call)?;
                self.plain(call, &options, &names, word)
            }
        }
    }

    fn names(&self, call: &Call) -> Result<Vec<String>, SyntaxError> {
        self.file.argument(call, 0)?;
        let names = call.arguments.iter();
        let names: Result<Vec<_>, _> = names.map(|value| words(self.file.source, value)).collect();
        Ok(names?.concat())
    }

    fn plain(
        &mut self,
        call: &'a Call,
        options: &Options<'a>,
        names: &[String],
        word: &str,
    ) -> Result<(), SyntaxError> {
        for name in names {
            let column = Column {
                name: name.clone(),
                word: word.to_owned(),
                at: call.at,
                primary: Primary::WhereSaid,
                is_table_beside: false,
            };
            self.column(&column, options, call.renamed_from.clone())?;
        }
        Ok(())
    }

    fn timestamps(&mut self, call: &'a Call, options: Options<'a>) -> Result<(), SyntaxError> {
        let names = ["created_at".to_owned(), "updated_at".to_owned()];
        let options = options.with(&self.file.fine);
        self.plain(call, &options, &names, "datetime")
    }

    fn references(&mut self, call: &'a Call, options: &Options<'a>) -> Result<(), SyntaxError> {
        let file = self.file;
        let line = file.line(call.at);
        let own = options.without(&["polymorphic", "index", "foreign_key", "type"]);
        let polymorphic = options.value("polymorphic");
        let index = options.given("index");
        let foreign = options.value("foreign_key");
        let word = options.word("type")?;
        let default = if file.spelling.is_sqlite() {
            "integer"
        } else {
            "bigint"
        };
        let word = word.as_deref().unwrap_or(default);
        let inside = |value: Option<&'a Value>| -> &'a [(Key, Value)] {
            match value.map(|value| &value.kind) {
                Some(Kind::Hash(pairs)) => pairs,
                _ => &[],
            }
        };
        for name in self.names(call)? {
            let mut columns = vec![format!("{name}_id")];
            if polymorphic.is_some() {
                let kind = format!("{name}_type");
                let null = call.options.iter().position(|(key, _)| key.name == "null");
                let null = null.map_or(&[][..], |place| &call.options[place..=place]);
                let own = Options::new(file.source, inside(polymorphic)).with(null);
                self.plain(call, &own, std::slice::from_ref(&kind), "string")?;
                columns.insert(0, kind);
            }
            self.plain(call, &own, &columns[columns.len() - 1..], word)?;
            if !index.is_some_and(Value::is_false) {
                let own = Options::new(file.source, inside(index));
                let default = match (polymorphic.is_some(), file.release >= (6, 1)) {
                    (true, true) => Some(format!("index_{}_on_{name}", self.name)),
                    _ => None,
                };
                let written = index::with_columns(self, &columns, default, &own)?;
                self.index(line, written);
            }
            if foreign.is_some() {
                let own = Options::new(file.source, inside(foreign));
                let to = own
                    .word("to_table")?
                    .unwrap_or_else(|| names::plural(&name));
                let sql = constraint::foreign(
                    file,
                    &self.name,
                    &to,
                    Some(&columns[columns.len() - 1]),
                    &own,
                )?;
                self.constraint_item(line, sql.inside());
            }
        }
        Ok(())
    }

    fn constraint(&mut self, call: &'a Call) -> Result<(), SyntaxError> {
        let line = self.file.line(call.at);
        let sql = constraint::of(self.file, &self.name, call, &call.arguments)?;
        match sql.has_to_be_added() {
            true => {
                let sql = sql.added(self.file.spelling, &self.name);
                self.push_after(line, sql);
            }
            false => self.constraint_item(line, sql.inside()),
        }
        Ok(())
    }

    pub(super) fn constraint_item(&mut self, line: usize, sql: String) {
        self.constraints.push(Item {
            line,
            sql,
            renamed_from: None,
        });
    }

    pub(super) fn push_after(&mut self, line: usize, sql: String) {
        self.after.push(Item {
            line,
            sql,
            renamed_from: None,
        });
    }

    /// Adds an index: on MySQL inside `CREATE TABLE`, elsewhere behind.
    pub(super) fn index(&mut self, line: usize, written: index::Written) {
        match self.file.spelling.is_mysql() {
            true => self.constraint_item(line, written.inside),
            false => written
                .statements
                .into_iter()
                .for_each(|sql| self.push_after(line, sql)),
        }
    }

    pub(super) fn comment(&mut self, line: usize, kind: &str, name: &str, comment: &str) {
        if self.file.spelling.is_postgres() {
            let comment = self.file.spelling.text(comment);
            self.push_after(line, format!("COMMENT ON {kind} {name} IS {comment}"));
        }
    }

    fn write(&self, line: usize, suffix: &str, renamed: Option<&str>, out: &mut Out) {
        let hint = |from: Option<&str>| match from {
            Some(from) => format!(" -- @renamed from=\"{from}\""),
            None => String::new(),
        };
        let name = self.file.spelling.table(&self.name);
        out.write(line, &format!("CREATE TABLE {name} ({}", hint(renamed)));
        let count = self.columns.len() + self.constraints.len();
        for (number, item) in self.columns.iter().chain(&self.constraints).enumerate() {
            let comma = if number + 1 < count { "," } else { "" };
            let hint = hint(item.renamed_from.as_deref());
            // The key that nobody wrote a line for stands beside the table's name.
            if number > 0 || item.line > line || renamed.is_some() {
                out.write(line, "\n");
            }
            // SQLite keeps the text as it is written, so that gaps would stay in it.
            let line = if self.file.spelling.is_sqlite() {
                0
            } else {
                item.line
            };
            out.write(line, &format!("  {}{comma}{hint}", item.sql));
        }
        out.write(line, &format!("\n){suffix};\n"));
        for item in &self.after {
            out.write(item.line, &format!("{};\n", item.sql));
        }
    }
}

//! Parts of the model as SQL, in Hakaru's and in sqldef's spelling.

use super::expr::{self, Expr};
use super::lexer::{Kind, backticked, literal};
use super::model::{Check, Column, ForeignKey, Index, IndexKind, Key, Name, Part, Table, Value};
use crate::{PlanOptions, Style};

/// How names and expressions are spelled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printer {
    pub is_drop_in: bool,
    keeps_quoting: bool,
    is_mariadb: bool,
}

impl Printer {
    pub fn new(options: &PlanOptions, is_mariadb: bool) -> Printer {
        Printer {
            is_drop_in: options.style == Style::Sqldef,
            keeps_quoting: options.style == Style::Sqldef && options.keep_quoting,
            is_mariadb,
        }
    }

    pub fn name(&self, name: &Name) -> String {
        match self.keeps_quoting && !name.is_quoted {
            true => name.text.clone(),
            false => backticked(&name.text),
        }
    }

    pub fn names(&self, names: &[Name]) -> String {
        let names: Vec<String> = names.iter().map(|name| self.name(name)).collect();
        names.join(", ")
    }

    fn expr(&self, expr: &Expr) -> String {
        match self.is_drop_in {
            true => expr.drop_in(),
            false => expr.text.clone(),
        }
    }

    /// Prints a column's name and definition.
    pub fn column(&self, table: &Table, column: &Column) -> String {
        format!(
            "{} {}",
            self.name(&column.name),
            self.definition(table, column, true)
        )
    }

    /// Prints the definition; without AUTO_INCREMENT where a key has to be created first.
    pub fn definition(&self, table: &Table, column: &Column, has_counter: bool) -> String {
        let mut text = self.data_type(column);
        if let Some(generated) = &column.generated {
            let how = if generated.is_stored {
                "STORED"
            } else {
                "VIRTUAL"
            };
            text = format!(
                "{text} GENERATED ALWAYS AS ({}) {how}",
                self.expr(&generated.expr)
            );
        }
        let mut primary = table.indexes.iter().filter(|index| index.is_primary());
        let is_primary =
            primary.any(|index| index.parts.iter().any(|part| part.is_of(&column.name)));
        let can_be_not_null = column.generated.is_none() || column.nullable == Some(false);
        match column.nullable {
            _ if column.generated.is_some() && self.is_mariadb => {}
            Some(true) if !is_primary => text.push_str(" NULL"),
            Some(false) => text.push_str(" NOT NULL"),
            _ if is_primary && can_be_not_null => text.push_str(" NOT NULL"),
            _ => {}
        }
        if let Some(default) = &column.default {
            text.push_str(&self.default(default));
        }
        if let Some(on_update) = &column.on_update {
            text = format!("{text} ON UPDATE {}", self.expr(on_update));
        }
        if column.is_auto_increment && has_counter {
            text.push_str(" AUTO_INCREMENT");
        }
        for other in &column.others {
            text = format!("{text} {other}");
        }
        if column.is_invisible {
            text.push_str(" INVISIBLE");
        }
        if let Some(comment) = &column.comment {
            text = format!("{text} COMMENT {}", literal(comment));
        }
        if let Some(srid) = &column.srid {
            text = format!("{text} /*!80003 SRID {srid} */");
        }
        for check in &column.checks {
            text = format!("{text} CHECK ({})", self.expr(&check.expr));
        }
        text
    }

    fn data_type(&self, column: &Column) -> String {
        let data_type = &column.data_type;
        let mut text = data_type.name.clone();
        if !data_type.arguments.is_empty() {
            text = format!("{text}({})", data_type.arguments.join(", "));
        }
        if data_type.is_unsigned {
            text.push_str(" UNSIGNED");
        }
        if data_type.is_zerofill {
            text.push_str(" ZEROFILL");
        }
        if data_type.is_binary {
            text.push_str(" BINARY");
        }
        if let Some(charset) = &data_type.charset {
            text = format!("{text} CHARACTER SET {charset}");
        }
        if let Some(collation) = &data_type.collation {
            text = format!("{text} COLLATE {collation}");
        }
        text
    }

    fn default(&self, value: &Value) -> String {
        match value {
            Value::Literal(expr) if self.is_drop_in => {
                format!(" DEFAULT {}", drop_in_number(&expr.drop_in()))
            }
            Value::Literal(expr) => format!(" DEFAULT {}", expr.text),
            Value::Expression(expr) if self.is_drop_in => format!(" DEFAULT({})", expr.drop_in()),
            Value::Expression(expr) => format!(" DEFAULT ({})", expr.text),
        }
    }

    /// Kind, name and parts, as behind ADD.
    pub fn index(&self, index: &Index) -> String {
        let kind = match index.kind {
            IndexKind::Primary => {
                let comment = index.comment.as_deref().map(literal);
                let comment = comment.map(|comment| format!(" COMMENT {comment}"));
                let parts = self.parts(&index.parts);
                return format!("PRIMARY KEY ({parts}){}", comment.unwrap_or_default());
            }
            IndexKind::Unique => "UNIQUE ",
            IndexKind::Plain => "",
            IndexKind::Fulltext => "FULLTEXT ",
            IndexKind::Spatial => "SPATIAL ",
            IndexKind::Vector => "VECTOR ",
        };
        let word = if index.word.is_empty() {
            "KEY"
        } else {
            index.word
        };
        let room = if index.is_inline && self.is_drop_in {
            ""
        } else {
            " "
        };
        let mut text = format!(
            "{kind}{word} {}{room}({})",
            self.name(&index.name),
            self.parts(&index.parts)
        );
        if let Some(using) = &index.using {
            let word = if self.is_drop_in { "using" } else { "USING" };
            text = format!("{text} {word} {using}");
        }
        for other in &index.others {
            text = format!("{text} {other}");
        }
        if let Some(comment) = &index.comment {
            text = format!("{text} COMMENT {}", literal(comment));
        }
        if let Some(parser) = &index.parser {
            let word = if self.is_drop_in { "parser" } else { "PARSER" };
            text = format!("{text} WITH {word} {parser}");
        }
        if index.is_invisible {
            text.push_str(if self.is_mariadb {
                " IGNORED"
            } else {
                " INVISIBLE"
            });
        }
        text
    }

    /// The clause setting an index's visibility to the optimizer.
    pub fn visibility(&self, index: &Index) -> String {
        let word = match (self.is_mariadb, index.is_invisible) {
            (true, true) => "IGNORED",
            (true, false) => "NOT IGNORED",
            (false, true) => "INVISIBLE",
            (false, false) => "VISIBLE",
        };
        format!("ALTER INDEX {} {word}", self.name(&index.name))
    }

    fn parts(&self, parts: &[Part]) -> String {
        let parts = parts.iter().map(|part| {
            let mut text = match &part.key {
                Key::Column(name) => self.name(name),
                Key::Expr(expr) if expr::is_enclosed(&expr.text) => self.expr(expr),
                Key::Expr(expr) => format!("({})", self.expr(expr)),
            };
            if let Some(length) = &part.length {
                text = format!("{text}({length})");
            }
            if part.is_descending {
                text.push_str(" DESC");
            }
            if part.is_period {
                text.push_str(" WITHOUT OVERLAPS");
            }
            text
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Prints a foreign key with the constraint's name, as behind ADD.
    pub fn foreign_key(&self, key: &ForeignKey) -> String {
        let mut text = match &key.name {
            Some(name) => format!("CONSTRAINT {} FOREIGN KEY", self.name(name)),
            None => "FOREIGN KEY".to_owned(),
        };
        if let Some(index) = key.index.as_ref().filter(|_| key.name.is_none()) {
            text = format!("{text} {}", backticked(index));
        }
        let parent = match &key.database {
            Some(database) => format!("{}.{}", backticked(database), self.name(&key.table)),
            None => self.name(&key.table),
        };
        text = format!(
            "{text} ({}) REFERENCES {parent} ({})",
            self.names(&key.columns),
            self.names(&key.references)
        );
        for (event, action) in [("DELETE", &key.on_delete), ("UPDATE", &key.on_update)] {
            if let Some(action) = action {
                text = format!("{text} ON {event} {action}");
            }
        }
        text
    }

    /// Prints a check with the constraint's name, as behind ADD.
    pub fn check(&self, check: &Check) -> String {
        let name = match &check.name {
            Some(name) => format!("CONSTRAINT {} ", self.name(name)),
            None => String::new(),
        };
        let unenforced = if check.is_enforced {
            ""
        } else {
            " NOT ENFORCED"
        };
        format!("{name}CHECK ({}){unenforced}", self.expr(&check.expr))
    }

    /// Prints a whole table from the model, with the foreign keys selected by `keeps`.
    pub fn table(&self, table: &Table, keeps: &dyn Fn(&ForeignKey) -> bool) -> String {
        let columns = table
            .columns
            .iter()
            .map(|column| self.column(table, column));
        let indexes = table.indexes.iter().filter(|index| !index.is_implied);
        let keys = table.foreign_keys.iter().filter(|key| keeps(key));
        let items: Vec<String> = columns
            .chain(table.periods.iter().cloned())
            .chain(indexes.map(|index| self.index(index)))
            .chain(keys.map(|key| self.foreign_key(key)))
            .chain(table.checks.iter().map(|check| self.check(check)))
            .map(|item| format!("  {item}"))
            .collect();
        let mut text = format!(
            "CREATE TABLE {} (\n{}\n)",
            self.name(&table.name),
            items.join(",\n")
        );
        for option in options(table) {
            text = format!("{text} {option}");
        }
        if let Some(partitioning) = &table.partitioning {
            text = format!("{text}\n{}", partitions(partitioning));
        }
        text
    }
}

/// All options as written.
pub(super) fn options(table: &Table) -> Vec<String> {
    let options = &table.options;
    let mut texts = Vec::new();
    let named = [
        ("ENGINE", &options.engine),
        ("DEFAULT CHARSET", &options.charset),
        ("COLLATE", &options.collation),
        ("ROW_FORMAT", &options.row_format),
        ("AUTO_INCREMENT", &options.auto_increment),
    ];
    texts.extend(
        named
            .iter()
            .filter_map(|(word, value)| Some(format!("{word}={}", value.as_ref()?))),
    );
    if let Some(comment) = &options.comment {
        texts.push(format!("COMMENT={}", literal(comment)));
    }
    texts.extend(
        options
            .others
            .iter()
            .map(|(word, value)| option(word, value)),
    );
    texts
}

/// Prints an option with an optional value.
pub(super) fn option(word: &str, value: &str) -> String {
    match (word, value) {
        (word, "") => word.to_owned(),
        // The grammar has no `=` here.
        ("STORAGE", value) => format!("STORAGE {value}"),
        (word, value) => format!("{word}={value}"),
    }
}

/// `PARTITION BY …`
pub(super) fn partitions(partitioning: &super::model::Partitioning) -> String {
    if partitioning.partitions.is_empty() {
        return partitioning.head.clone();
    }
    let texts: Vec<&str> = partitioning
        .partitions
        .iter()
        .map(|partition| partition.text.as_str())
        .collect();
    format!("{} (\n {})", partitioning.head, texts.join(",\n "))
}

/// Minimum of decimals in sqldef's output.
const DROP_IN_DIGITS: usize = 6;

fn drop_in_number(text: &str) -> String {
    let is_fraction = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
        && text.contains('.');
    match text.split_once('.') {
        Some((whole, digits)) if is_fraction => format!("{whole}.{digits:0<DROP_IN_DIGITS$}"),
        _ => text.to_owned(),
    }
}

impl Expr {
    /// Prints the expression as sqldef does.
    pub(super) fn drop_in(&self) -> String {
        expr::drop_in_text(&self.text)
    }
}

/// Prints a body as sqldef does: one line per statement and per start or end of a block.
pub(super) fn drop_in_body(text: &str) -> String {
    let tokens = expr::lexed(text);
    let is_block = tokens.first().is_some_and(|token| token.is("BEGIN"));
    if !is_block {
        return expr::drop_in(&tokens);
    }
    let mut lines: Vec<String> = Vec::new();
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        let is_first = at == start;
        let ends = token.is_op(";")
            || (is_first && (token.is("BEGIN") || token.is("DECLARE")))
            || tokens
                .get(at + 1)
                .is_some_and(|next| next.is("BEGIN") && next.kind == Kind::Word);
        if ends || at + 1 == tokens.len() {
            lines.push(expr::drop_in(&tokens[start..=at]));
            start = at + 1;
        }
    }
    lines.join("\n")
}

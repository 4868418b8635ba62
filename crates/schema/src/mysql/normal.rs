//! The form of a table as stored by a server: generated names, implied indexes, one spelling for
//! equal definitions.

mod charset;
mod keys;
pub(super) mod routine;
mod types;
mod value;

use super::lexer::unquoted;
use super::model::{Column, ColumnNorm, Table, TableNorm, Value};
use crate::{Product, Server, Version};

/// First version ignoring the display width of integers.
const NO_WIDTHS: Version = Version(8, 0, 17);

/// What depends on the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub is_mariadb: bool,
    /// `int` is stored as `int(11)`.
    pub has_widths: bool,
    /// `REFERENCES` behind a column counts.
    pub has_inline_references: bool,
    /// Unicode texts are compared by UCA 14 unless something else is asked for.
    pub is_uca1400: bool,
    pub is_known: bool,
}

impl Rules {
    pub fn of(server: &Server) -> Rules {
        let is_mariadb = server.product == Product::MariaDb;
        let from = |version: Version| server.version.is_none_or(|known| known >= version);
        Rules {
            is_mariadb,
            has_widths: is_mariadb || !from(NO_WIDTHS),
            has_inline_references: is_mariadb || from(Version(9, 0, 0)),
            is_uca1400: is_mariadb && from(Version(11, 5, 0)),
            is_known: server.version.is_some(),
        }
    }
}

/// Converts a table into the server's normal form.
pub(super) fn settle(table: &mut Table, server: &Server) {
    let rules = Rules::of(server);
    if !rules.has_inline_references {
        table.foreign_keys.retain(|key| !key.is_inline);
    }
    if !rules.is_mariadb {
        checks_to_table(table);
        // The server takes it only with parentheses, which the text lacks.
        let has_typed = |column: &Column| matches!(&column.default, Some(Value::Expression(expr)) if value::typed(&expr.norm).is_some());
        table.is_moved |= table.columns.iter().any(has_typed);
    }
    keys::name(table);
    keys::imply(table);
    let texts = charset::Texts::of_table(&table.options, server, &rules);
    table.norm = table_norm(table, &texts);
    let primary = table.primary();
    let norms: Vec<ColumnNorm> = table
        .columns
        .iter()
        .map(|column| {
            column_norm(
                column,
                primary.is_some_and(|primary| {
                    primary.parts.iter().any(|part| part.is_of(&column.name))
                }),
                &texts,
                &rules,
            )
        })
        .collect();
    for (column, norm) in table.columns.iter_mut().zip(norms) {
        column.norm = norm;
    }
    keys::norms(table, &rules);
}

/// Moves column checks to the table: MySQL stores none with columns.
fn checks_to_table(table: &mut Table) {
    for column in &mut table.columns {
        for mut check in std::mem::take(&mut column.checks) {
            check.is_inline = Some(column.name.text.clone());
            table.checks.push(check);
        }
    }
}

fn table_norm(table: &Table, texts: &charset::Texts) -> TableNorm {
    let options = &table.options;
    let others = options.others.iter();
    let mut others: Vec<String> = others
        .filter_map(|(word, value)| option_norm(word, value))
        .collect();
    others.sort();
    TableNorm {
        engine: engine_norm(options.engine.as_deref()),
        charset: texts.charset.clone(),
        collation: texts.collation.clone(),
        comment: options.comment.clone().unwrap_or_default(),
        row_format: options.row_format.clone(),
        others,
        periods: table
            .periods
            .iter()
            .filter_map(|period| period_norm(period))
            .collect(),
    }
}

/// Normal form of a period; `None` for the system-time period, which belongs to versioning.
pub(super) fn period_norm(period: &str) -> Option<String> {
    let norm = period.replace([' ', '`'], "").to_lowercase();
    (!norm.starts_with("periodforsystem_time(")).then_some(norm)
}

/// Servers print one of an engine's names.
fn engine_norm(engine: Option<&str>) -> String {
    let engine = match engine.unwrap_or("innodb") {
        "innobase" => "innodb",
        "merge" => "mrg_myisam",
        "heap" => "memory",
        "ndb" => "ndbcluster",
        engine => engine,
    };
    engine.to_owned()
}

/// `None` for what goes without saying, and for what servers do not keep.
fn option_norm(word: &str, value: &str) -> Option<String> {
    let mut value = match value.starts_with(['\'', '"']) {
        true => unquoted(value),
        false => value.replace([' ', '`'], ""),
    };
    // Case means something in names of tables and in what other programs read.
    let is_exact = matches!(
        word,
        "UNION" | "CONNECTION" | "ENGINE_ATTRIBUTE" | "SECONDARY_ENGINE_ATTRIBUTE"
    );
    if !is_exact {
        value = value.to_lowercase();
    }
    let is_plain = matches!(
        (word, value.as_str()),
        ("UNION", "()")
            | ("INSERT_METHOD", "no")
            | ("TABLESPACE", "innodb_file_per_table")
            | ("STORAGE", "memory" | "default")
            | ("PASSWORD", _)
            | ("CONNECTION" | "COMPRESSION", "")
            | ("ENGINE_ATTRIBUTE" | "SECONDARY_ENGINE_ATTRIBUTE", "")
            | ("SECONDARY_ENGINE", "null")
    );
    (!is_plain).then(|| format!("{word}={value}"))
}

fn column_norm(
    column: &Column,
    is_primary: bool,
    table: &charset::Texts,
    rules: &Rules,
) -> ColumnNorm {
    let data_type = types::stored(&column.data_type, rules);
    let texts = types::is_text(&data_type.name).then(|| table.of_column(&data_type, rules));
    let is_json = rules.is_mariadb && column.data_type.name == "json";
    let (charset, collation) = match texts {
        Some(texts) => (texts.charset, texts.collation),
        None => (None, None),
    };
    let mut checks: Vec<String> = column
        .checks
        .iter()
        .map(|check| check.expr.norm.clone())
        .collect();
    if is_json && checks.is_empty() {
        checks.push(format!("json_valid({})", column.name.text.to_lowercase()));
    }
    checks.sort();
    let is_nullable = !(is_primary
        || column.is_auto_increment
        || column.nullable == Some(false)
        || column
            .others
            .iter()
            .any(|other| other.starts_with("GENERATED ALWAYS AS ROW")));
    let mut rest: Vec<String> = column.others.clone();
    rest.sort();
    if let Some(srid) = column.srid.as_ref().filter(|_| !rules.is_mariadb) {
        rest.push(format!("SRID {srid}"));
    }
    for (is, word) in [
        (column.is_auto_increment, "AUTO_INCREMENT"),
        (column.is_invisible, "INVISIBLE"),
    ] {
        if is {
            rest.push(word.to_owned());
        }
    }
    rest.extend(
        column
            .comment
            .as_ref()
            .map(|comment| format!("COMMENT {comment}")),
    );
    let stored = data_type.print();
    ColumnNorm {
        charset,
        collation,
        is_nullable,
        default: column
            .default
            .as_ref()
            .and_then(|default| value::default(default, &data_type, rules)),
        on_update: column
            .on_update
            .as_ref()
            .map(|expr| value::time(&expr.norm)),
        generated: column
            .generated
            .as_ref()
            .map(|generated| (generated.expr.norm.clone(), generated.is_stored)),
        checks,
        rest,
        data_type: stored,
    }
}

impl ColumnNorm {
    /// Whether a server stores both alike; an unknown character set equals any.
    pub fn is_same(&self, other: &ColumnNorm) -> bool {
        self.is_same_type(other)
            && self.is_nullable == other.is_nullable
            && self.default == other.default
            && self.on_update == other.on_update
            && self.generated == other.generated
            && self.checks == other.checks
            && self.rest == other.rest
    }

    /// The same of the data type alone.
    pub fn is_same_type(&self, other: &ColumnNorm) -> bool {
        self.data_type == other.data_type
            && is_alike(&self.charset, &other.charset)
            && is_alike(&self.collation, &other.collation)
    }
}

impl TableNorm {
    /// Whether a server stores both alike; an unknown character set equals any.
    pub fn is_same(&self, other: &TableNorm) -> bool {
        self.engine == other.engine
            && is_alike(&self.charset, &other.charset)
            && is_alike(&self.collation, &other.collation)
            && self.comment == other.comment
            && self.row_format == other.row_format
            && self.others == other.others
            && self.periods == other.periods
    }
}

pub(super) fn is_alike(one: &Option<String>, other: &Option<String>) -> bool {
    one.is_none() || other.is_none() || one == other
}

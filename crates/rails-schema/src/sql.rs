//! A schema file's calls as SQL.

mod column;
mod constraint;
mod default;
mod index;
mod options;
mod out;
mod quote;
mod table;
mod types;

use schema::{Server, Source, SyntaxError};

use crate::ruby::{self, Call, Key, Kind, Value};
use crate::{Converted, Require};
use options::{Options, words};
use out::Out;
pub(crate) use quote::Spelling;

/// Limit on transitively required files.
const REQUIRES_MAX: usize = 1_000;

/// Kinds of objects managed by a file beside tables. Other kinds are left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// `create_view` of Scenic, or executed SQL.
    pub views: bool,
    /// `create_function` and `create_trigger` of Fx, or executed SQL.
    pub programs: bool,
    /// Whether the dumper sorted the columns, and the order is insignificant (ActiveRecord 8.1 and
    /// later).
    pub is_unordered: bool,
    /// Schemas used as qualifiers (PostgreSQL); the default one is always managed.
    pub schemas: Vec<String>,
}

/// A version of ActiveRecord, as far as semantics depend on one.
pub(crate) type Release = (u32, u32);

/// What files before ActiveRecord 7 mean, which name no version.
const UNVERSIONED: Release = (6, 1);

/// Version for files without `ActiveRecord::Schema`: Ridgepole executes such files on the installed
/// ActiveRecord.
const RIDGEPOLE: Release = (8, 0);

/// The first whose dumper sorts columns by name.
const SORTED: Release = (8, 1);

/// A file being read.
pub(crate) struct File<'a> {
    pub(crate) source: &'a Source,
    pub(crate) spelling: Spelling,
    pub(crate) release: Release,
    /// Default options of `timestamps`.
    fine: Vec<(Key, Value)>,
    /// Constraints written outside of `create_table`, moved into `CREATE TABLE` for SQLite, by
    /// table.
    outside: Vec<(String, &'a Call)>,
}

impl<'a> File<'a> {
    pub(crate) fn fail<T>(&self, at: usize, message: &str) -> Result<T, SyntaxError> {
        Err(SyntaxError::at(self.source, at, message))
    }

    fn options(&self, call: &'a Call) -> Options<'a> {
        Options::new(self.source, &call.options)
    }

    /// From 1.
    fn line(&self, at: usize) -> usize {
        self.source.text[..at].matches('\n').count() + 1
    }

    /// Name in a positional argument of a call.
    fn word(&self, call: &Call, number: usize) -> Result<String, SyntaxError> {
        let value = self.argument(call, number)?;
        value.word().map(str::to_owned).map_or_else(
            || self.fail(value.at, "expected a name, as a string or symbol"),
            Ok,
        )
    }

    fn argument<'c>(&self, call: &'c Call, number: usize) -> Result<&'c Value, SyntaxError> {
        match call.arguments.get(number) {
            Some(value) => Ok(value),
            None => self.fail(
                call.at,
                &format!("`{}` needs {} arguments", call.name, number + 1),
            ),
        }
    }

    /// Whether `deferrable:` and the like say something, as SQL.
    fn deferral(&self, options: &Options<'_>) -> Result<&'static str, SyntaxError> {
        let Some(value) = options.value("deferrable") else {
            return Ok("");
        };
        match (&value.kind, value.word()) {
            (Kind::Bool(true), _) | (_, Some("immediate")) => Ok(" DEFERRABLE INITIALLY IMMEDIATE"),
            (_, Some("deferred")) => Ok(" DEFERRABLE INITIALLY DEFERRED"),
            _ => self.fail(value.at, "`deferrable:` takes :immediate or :deferred"),
        }
    }
}

/// Reads a file and all required ones.
///
/// # Errors
/// See [`crate::convert`].
pub fn read(
    source: &Source,
    server: &Server,
    require: &mut Require<'_>,
    converted: &mut Converted,
) -> Result<(), SyntaxError> {
    if converted.sources.len() >= REQUIRES_MAX {
        let message = "too many files are required; do two of them require each other?";
        return Err(SyntaxError::at(source, 0, message));
    }
    let calls = ruby::parse(source)?;
    let mut file = File {
        source,
        spelling: Spelling::of(server),
        release: RIDGEPOLE,
        fine: fine(),
        outside: Vec::new(),
    };
    let defined = calls
        .iter()
        .find(|call| call.receiver.as_deref() == Some("ActiveRecord::Schema"));
    let calls: Vec<&Call> = match defined {
        None => calls.iter().collect(),
        Some(define) => {
            file.release = release(&file, define)?;
            converted.said.is_unordered = file.release >= SORTED;
            let other = calls.iter().find(|call| !std::ptr::eq(*call, define));
            if let Some(other) = other {
                return file.fail(other.at, "nothing else can stand beside the schema");
            }
            define.block.iter().flat_map(|block| &block.calls).collect()
        }
    };
    file.outside = outside(&file, &calls)?;
    let mut out = Out::new();
    for call in calls {
        if call.name == "require" || call.name == "require_relative" {
            let name = file.word(call, 0)?;
            let required = require(source, &name);
            let required = required.or_else(|message| file.fail(call.at, &message))?;
            read(&required, server, require, converted)?;
        } else {
            statement(&file, call, &mut out, &mut converted.said)?;
        }
    }
    converted.sources.push(Source {
        name: source.name.clone(),
        text: out.text,
    });
    Ok(())
}

fn fine() -> Vec<(Key, Value)> {
    let pair = |name: &str, kind| {
        let key = Key {
            at: 0,
            name: name.to_owned(),
        };
        (key, Value { at: 0, kind })
    };
    let precision = Kind::Number("6".to_owned());
    vec![
        pair("null", Kind::Bool(false)),
        pair("precision", precision),
    ]
}

fn release(file: &File<'_>, define: &Call) -> Result<Release, SyntaxError> {
    let Some(value) = &define.subscript else {
        return Ok(UNVERSIONED);
    };
    let text = match &value.kind {
        Kind::Number(text) | Kind::Text(text) => text.as_str(),
        _ => "",
    };
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => Ok((major, minor)),
        _ => file.fail(value.at, "expected a version such as 7.2"),
    }
}

/// Constraints to move into `CREATE TABLE`, as SQLite requires.
fn outside<'a>(
    file: &File<'_>,
    calls: &[&'a Call],
) -> Result<Vec<(String, &'a Call)>, SyntaxError> {
    let is_constraint = |call: &&&Call| {
        matches!(
            call.name.as_str(),
            "add_foreign_key" | "add_check_constraint"
        )
    };
    let own = calls.iter().filter(is_constraint);
    own.filter(|_| file.spelling.is_sqlite())
        .map(|call| Ok((file.word(call, 0)?, *call)))
        .collect()
}

fn statement<'a>(
    file: &File<'a>,
    call: &'a Call,
    out: &mut Out,
    said: &mut Said,
) -> Result<(), SyntaxError> {
    let line = file.line(call.at);
    let name = call.arguments.first().and_then(Value::word);
    if let (Some((schema, _)), true) = (
        name.and_then(|name| name.split_once('.')),
        call.name != "execute",
    ) {
        said.schemas.push(schema.to_owned());
    }
    if let Some(receiver) = &call.receiver {
        return file.fail(call.at, &format!("what `{receiver}` does cannot be read"));
    }
    let sql = match call.name.as_str() {
        "create_table" => return table::create(file, call, out),
        "add_index" => index::outside(file, call)?,
        "add_foreign_key" | "add_check_constraint" if file.spelling.is_sqlite() => return Ok(()),
        "add_foreign_key"
        | "add_check_constraint"
        | "add_exclusion_constraint"
        | "add_unique_constraint"
        | "add_unique_key" => constraint::outside(file, call)?,
        "create_enum" => create_enum(file, call)?,
        "enable_extension" => enable_extension(file, call)?,
        "create_schema" => {
            let name = file.word(call, 0)?;
            vec![format!("CREATE SCHEMA {}", file.spelling.name(&name))]
        }
        "create_view" => {
            said.views = true;
            vec![create_view(file, call)?]
        }
        "create_function" | "create_trigger" => {
            said.programs = true;
            vec![program(file, call)?]
        }
        "execute" => {
            (said.views, said.programs) = (true, true);
            vec![execute(file, call)?]
        }
        name => {
            let message = format!(
                "`{name}` is nothing that makes a schema; {}",
                "create_table, add_index, add_foreign_key and their like are read"
            );
            return file.fail(call.at, &message);
        }
    };
    for sql in sql {
        out.write(line, &format!("{sql};\n"));
    }
    Ok(())
}

fn create_enum(file: &File<'_>, call: &Call) -> Result<Vec<String>, SyntaxError> {
    if !file.spelling.is_postgres() {
        return Ok(Vec::new());
    }
    let name = file.word(call, 0)?;
    let labels = match call.arguments.get(2) {
        // Rails 6.1 wrote the labels one by one.
        Some(_) => {
            let labels = call.arguments[1..].iter();
            let labels: Result<Vec<_>, _> = labels.map(|value| words(file.source, value)).collect();
            labels?.concat()
        }
        None => words(file.source, file.argument(call, 1)?)?,
    };
    let labels: Vec<String> = labels
        .iter()
        .map(|label| file.spelling.text(label))
        .collect();
    Ok(vec![format!(
        "CREATE TYPE {} AS ENUM ({})",
        file.spelling.table(&name),
        labels.join(", ")
    )])
}

fn enable_extension(file: &File<'_>, call: &Call) -> Result<Vec<String>, SyntaxError> {
    let name = file.word(call, 0)?;
    let (schema, name) = match name.rsplit_once('.') {
        Some((schema, name)) => (Some(schema), name),
        None => (None, name.as_str()),
    };
    // Every database has it; servers do not dump it either.
    if !file.spelling.is_postgres() || name == "plpgsql" {
        return Ok(Vec::new());
    }
    let schema = schema.map(|schema| format!(" SCHEMA {}", file.spelling.name(schema)));
    Ok(vec![format!(
        "CREATE EXTENSION IF NOT EXISTS {}{}",
        file.spelling.name(name),
        schema.unwrap_or_default()
    )])
}

/// Scenic's views.
fn create_view(file: &File<'_>, call: &Call) -> Result<String, SyntaxError> {
    let options = file.options(call);
    let name = file.spelling.table(&file.word(call, 0)?);
    let Some(query) = options.word("sql_definition")? else {
        return file.fail(call.at, "a view has to say its sql_definition");
    };
    let kind = match options.value("materialized") {
        Some(_) => "MATERIALIZED VIEW",
        None => "VIEW",
    };
    options.finish()?;
    let query = query.trim().trim_end_matches(';');
    Ok(format!("CREATE {kind} {name} AS {query}"))
}

/// Fx's functions and triggers.
fn program(file: &File<'_>, call: &Call) -> Result<String, SyntaxError> {
    let options = file.options(call);
    let Some(text) = options.word("sql_definition")? else {
        return file.fail(call.at, "this has to say its sql_definition");
    };
    options.ignore(&["version", "on"]);
    options.finish()?;
    Ok(text.trim().trim_end_matches(';').to_owned())
}

fn execute(file: &File<'_>, call: &Call) -> Result<String, SyntaxError> {
    if call.block.is_some() {
        return file.fail(
            call.at,
            "whether this is executed is decided by Ruby; leave the block out",
        );
    }
    let sql = file.word(call, 0)?;
    Ok(sql.trim().trim_end_matches(';').to_owned())
}

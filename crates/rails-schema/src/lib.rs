//! Rails' `db/schema.rb` and Ridgepole's `Schemafile` as SQL, and a schema as `schema.rb`.
//!
//! Nothing is run: a file is read as literal Ruby (`ruby`), and what needs a Ruby is an error with
//! its place. What a call means in SQL depends on the server and on the version of ActiveRecord
//! that the file names (`sql`); names that a file leaves out are those that ActiveRecord would give
//! (`names`). The SQL stands on the very lines of its Ruby, so that messages about it name the
//! right line. The other way round `dump` writes an outline of a schema as `schema.rb`.
//!
//! Pure: reads no file; a `require` is resolved by the caller.

mod dump;
mod names;
mod ruby;
mod sql;

use schema::{Server, Source, SyntaxError};

pub use dump::{Dumped, Lost, dump};
pub use sql::{Said, read};

/// Tables internal to ActiveRecord, omitted from schema files.
pub const INTERNAL_TABLES: [&str; 2] = ["schema_migrations", "ar_internal_metadata"];

/// Whether a source is a Ruby schema, by name, or else by the first line.
pub fn is_ruby(source: &Source) -> bool {
    let (_, file) = source
        .name
        .rsplit_once(['/', ':'])
        .unwrap_or(("", &source.name));
    if file.ends_with(".rb") || file == "Schemafile" || file.ends_with(".schema") {
        return true;
    }
    let is_nameless = source.name == "-" || source.name == "standard input";
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let first = source.text.lines().map(str::trim).find(is_code);
    is_nameless
        && first.is_some_and(|line| {
            ["ActiveRecord::Schema", "create_table ", "create_table("]
                .iter()
                .any(|word| line.starts_with(word))
        })
}

/// Returns the file named by a `require`, or why reading failed.
pub type Require<'a> = dyn FnMut(&Source, &str) -> Result<Source, String> + 'a;

/// What a Ruby file says, as SQL for a server.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The files in SQL, under the original names.
    pub sources: Vec<Source>,
    /// Kinds of objects managed by the files.
    pub said: Said,
}

/// Reads Ruby files as SQL.
///
/// # Errors
/// The first place that is not literal Ruby, or that means nothing on this server.
pub fn convert(
    source: &Source,
    server: &Server,
    require: &mut Require<'_>,
) -> Result<Converted, SyntaxError> {
    let mut converted = Converted {
        sources: Vec::new(),
        said: Said::default(),
    };
    read(source, server, require, &mut converted)?;
    Ok(converted)
}

//! Changes of a database: reaching a schema, dropping an index.

use schema::{Allowed, PlanOptions, Source};
use schema_db::scratch::{self, Index};
use schema_db::{Database, apply, runner};

/// Drops an index, if present.
pub(crate) fn drop_index_of(database: &mut dyn Database, index: &Index) -> Result<(), String> {
    if !index.is_there(database).map_err(|error| error.message)? {
        return Ok(());
    }
    let sql = index.drop_statement(database.server().product);
    database.execute(&sql).map_err(|error| error.message)
}

/// Returns settings with everything allowed.
pub(crate) fn settings() -> runner::Settings<'static> {
    runner::Settings {
        options: PlanOptions::default(),
        allowed: Allowed {
            all: true,
            ..Allowed::default()
        },
        scratch: runner::Scratch::Auto,
        keep: &|_| true,
    }
}

/// Brings a database to the schema of the given texts, whatever is dropped on the way.
pub(crate) fn reach(database: &mut dyn Database, texts: &[Source]) -> Result<(), String> {
    let settings = settings();
    let server = database.server().clone();
    let said = |error: runner::RunError| error.to_string();
    let (mut wanted, _) = runner::read(texts, &server, &settings).map_err(said)?;
    let prepared = runner::prepare(database, &mut wanted, &settings).map_err(said)?;
    let steps = prepared.steps();
    let options = apply::Options {
        transaction: true,
        plan_id: runner::plan_id(steps.iter().map(|step| step.sql.as_str())),
    };
    let had_journal = prepared.cut_off.is_some();
    runner::carry_out(database, &steps, options, had_journal, &mut |_| {})
        .map_err(|error| error.message)
}

/// Drops an index of the database at `address`, if present.
pub(crate) fn drop_index(address: &str, index: &Index) -> Result<(), String> {
    let mut database = scratch::open(address).map_err(|error| error.message)?;
    drop_index_of(database.as_mut(), index)
}

/// Brings the database at `address` back to the schema `before`. With `made`, the schema that a
/// killed comparison may have left, only where the database still has that one: whatever else has
/// been added since would be dropped. Returns whether the database has the schema `before` now.
pub(crate) fn restore_schema(
    address: &str,
    before: &str,
    made: Option<&str>,
) -> Result<bool, String> {
    let mut database = scratch::open(address).map_err(|error| error.message)?;
    let source = |name: &str, text: &str| Source {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let before = [source("the schema as it was", before)];
    if let Some(made) = made {
        if is_at(database.as_mut(), &before)? {
            return Ok(true);
        }
        let made = [source("the schema tried", made)];
        if !is_at(database.as_mut(), &made)? {
            return Ok(false);
        }
    }
    reach(database.as_mut(), &before).map(|()| true)
}

/// Returns whether the database has the schema of the given texts.
fn is_at(database: &mut dyn Database, texts: &[Source]) -> Result<bool, String> {
    let settings = settings();
    let server = database.server().clone();
    let said = |error: runner::RunError| error.to_string();
    let (mut wanted, _) = runner::read(texts, &server, &settings).map_err(said)?;
    let prepared = runner::prepare(database, &mut wanted, &settings).map_err(said)?;
    Ok(prepared.steps().is_empty())
}

//! The server's normal form of a schema, read from a temporary database.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Postgres, PostgresAddress, connect};
use crate::{Database, DbError};

/// Databases left by killed runs: older than any run waits for a schema to be stored, and without
/// connections.
const LEFT: &str = "
    SELECT datname FROM pg_database d
    WHERE datname ~ '^hakaru_readback_[0-9]+_' AND split_part(datname, '_', 3)::numeric < extract(epoch FROM now()) - 600
        AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid)";

const SUBSCRIPTIONS: &str = "
    SELECT quote_ident(subname) FROM pg_subscription JOIN pg_database b ON b.oid = subdbid WHERE datname = current_database()";

/// Creates a database, executes the statements, reads the schema, and drops the database; drops
/// databases left by killed runs too.
pub(super) fn read_back(postgres: &mut Postgres, statements: &[String]) -> Result<String, DbError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: only the uniqueness of the number matters.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    for left in postgres.query(LEFT)?.into_iter().flatten().flatten() {
        // Another run may be doing so, or the database may be somebody else's to drop.
        let _ = postgres.execute(&format!("DROP DATABASE IF EXISTS {left}"));
    }
    let now = postgres.query("SELECT floor(extract(epoch FROM now()))::text")?;
    let now: String = now.into_iter().flatten().flatten().collect();
    let name = format!("hakaru_readback_{now}_{}_{count}", std::process::id());
    // The same locale and no objects of anybody: what is in `template1` is not part of the schema.
    let create = format!("CREATE DATABASE {name} TEMPLATE template0");
    postgres.execute(&create)?;
    let text = filled(postgres, &name, statements);
    let dropped = postgres.execute(&format!("DROP DATABASE {name} WITH (FORCE)"));
    let text = text?;
    dropped.map(|()| text)
}

fn filled(postgres: &Postgres, name: &str, statements: &[String]) -> Result<String, DbError> {
    let address = PostgresAddress {
        dbname: Some(name.to_owned()),
        ..postgres.address.clone()
    };
    let mut scratch = connect(&address)?;
    let default_schema = postgres
        .server
        .default_schema
        .as_deref()
        .unwrap_or("public");
    let quoted = format!("\"{}\"", default_schema.replace('"', "\"\""));
    if default_schema != "public" {
        scratch.execute(&format!("CREATE SCHEMA {quoted}"))?;
    }
    scratch.execute(&format!("SET search_path = {quoted}"))?;
    let is_watched = |statement: &&String| {
        let is_about = |word: &str| statement.starts_with(&format!("{word} EVENT TRIGGER"));
        is_about("CREATE") || is_about("ALTER")
    };
    let (last, first): (Vec<&String>, Vec<&String>) = statements.iter().partition(is_watched);
    // What watches over statements must not see those that only try a schema out.
    for statement in first.into_iter().chain(last) {
        // An extension that this server lacks, or a role, hides only what needs it.
        if !is_calling(statement) {
            let _ = scratch.execute(statement);
        }
    }
    let text = scratch.export();
    // A database with subscriptions is not dropped.
    for subscription in scratch
        .query(SUBSCRIPTIONS)?
        .into_iter()
        .flatten()
        .flatten()
    {
        let gone = format!(
            "ALTER SUBSCRIPTION {subscription} SET (slot_name = NONE); DROP SUBSCRIPTION {subscription}"
        );
        scratch.execute(&gone)?;
    }
    text
}

/// Whether a statement would make a subscription that calls its publisher.
fn is_calling(statement: &str) -> bool {
    let words = statement.to_lowercase().replace([' ', '\n'], "");
    words.starts_with("createsubscription") && !words.contains("connect=false")
}

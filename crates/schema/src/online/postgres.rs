//! PostgreSQL: constraints added unvalidated and validated later, and indexes built concurrently.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{TEMPORARY, altered, bare, may_fail, name, offline};
use crate::plan::{Online, Way};
use crate::postgres::Schema;
use crate::postgres::model::Table;
use crate::{Hazard, Statement, Verb};

const ACCESS_EXCLUSIVE: Hazard = Hazard::Lock("ACCESS EXCLUSIVE");
const SHARE_ROW_EXCLUSIVE: Hazard = Hazard::Lock("SHARE ROW EXCLUSIVE");
const SHARE_UPDATE_EXCLUSIVE: Hazard = Hazard::Lock("SHARE UPDATE EXCLUSIVE");

const IN_PARTS: &str =
    "the table is partitioned, and the server does this for all partitions at once";
const REWRITTEN: &str = "nobody can read or write the table while it is written anew";
const EXCLUDED: &str = "nobody can read or write the table while the server compares its rows";

/// The steps of one statement.
pub(super) fn steps(
    statement: &Statement,
    from: &Schema,
    made: &HashSet<String>,
) -> Vec<Statement> {
    if let Some(rest) = statement.sql.strip_prefix("DROP INDEX ") {
        return drop_index(statement, rest, from);
    }
    if is_index(&statement.sql) {
        return index(statement, from, made);
    }
    let Some((table, action)) = altered(&statement.sql) else {
        return vec![statement.clone()];
    };
    if made.contains(table) {
        return vec![statement.clone()];
    }
    if statement
        .hazards
        .iter()
        .any(|hazard| matches!(hazard, Hazard::Rewrite(_)))
    {
        return offline(statement, REWRITTEN);
    }
    let constraint = action.strip_prefix("ADD CONSTRAINT ").map(name);
    match constraint {
        Some((key, body)) => add(statement, from, table, key, body),
        None => match action.strip_prefix("ALTER COLUMN ").map(name) {
            Some((column, "SET NOT NULL")) => not_null(statement, table, column),
            _ if statement.verb == Verb::Validate => vec![patient(statement.clone())],
            _ => vec![statement.clone()],
        },
    }
}

fn is_index(sql: &str) -> bool {
    sql.starts_with("CREATE INDEX ") || sql.starts_with("CREATE UNIQUE INDEX ")
}

/// Steps of a `CREATE INDEX`. The planner has written CONCURRENTLY wherever possible and worth it.
fn index(statement: &Statement, from: &Schema, made: &HashSet<String>) -> Vec<Statement> {
    let on = statement
        .sql
        .split_once(" ON ")
        .map(|(_, rest)| name(rest.trim_start_matches("ONLY ")).0);
    match on {
        Some(on) if !made.contains(on) && is_partitioned(from, &plain(on)) => {
            offline(statement, IN_PARTS)
        }
        _ => vec![statement.clone()],
    }
}

fn drop_index(statement: &Statement, rest: &str, from: &Schema) -> Vec<Statement> {
    let index = plain(rest);
    if is_in_parts(from, index.rsplit('.').next().unwrap_or_default()) {
        return vec![statement.clone()];
    }
    let mut hazards = bare(statement);
    hazards.extend([SHARE_UPDATE_EXCLUSIVE, Hazard::NotTransactional]);
    vec![Statement {
        sql: format!("DROP INDEX CONCURRENTLY {rest}"),
        hazards,
        online: with(Way::Patient),
        // What an earlier run left is ours to take away.
        unasked: statement.unasked || index.contains(TEMPORARY),
        ..statement.clone()
    }]
}

fn add(statement: &Statement, from: &Schema, table: &str, key: &str, body: &str) -> Vec<Statement> {
    let is_in_parts = is_partitioned(from, &plain(table));
    let word = body.split(|letter: char| !letter.is_alphanumeric()).next();
    match word {
        Some("FOREIGN") if is_in_parts => offline(statement, IN_PARTS),
        Some("FOREIGN") => believed(statement, table, key, SHARE_ROW_EXCLUSIVE),
        Some("CHECK") => believed(statement, table, key, ACCESS_EXCLUSIVE),
        Some("UNIQUE" | "PRIMARY") if is_in_parts => offline(statement, IN_PARTS),
        Some("UNIQUE" | "PRIMARY") => keyed(statement, from, table, key, body),
        Some("EXCLUDE") => offline(statement, EXCLUDED),
        _ => vec![statement.clone()],
    }
}

/// New rows are checked from now on, old ones afterwards.
fn believed(statement: &Statement, table: &str, key: &str, lock: Hazard) -> Vec<Statement> {
    if statement.sql.ends_with(" NOT VALID") || statement.sql.ends_with(" NOT ENFORCED") {
        return vec![statement.clone()];
    }
    let added = format!("{} NOT VALID", statement.sql);
    let mut hazards = bare(statement);
    hazards.push(lock);
    let proof = format!("ALTER TABLE {table} VALIDATE CONSTRAINT {key}");
    let mut proved = vec![SHARE_UPDATE_EXCLUSIVE];
    proved.extend(may_fail(statement));
    vec![
        Statement {
            sql: added,
            hazards,
            ..statement.clone()
        },
        patient(step(statement, proof, Verb::Validate, proved)),
    ]
}

/// Steps of a constraint with an index: a concurrent build, then `ADD CONSTRAINT … USING INDEX`.
fn keyed(
    statement: &Statement,
    from: &Schema,
    table: &str,
    key: &str,
    body: &str,
) -> Vec<Statement> {
    let (kind, rest) = match body.strip_prefix("PRIMARY KEY") {
        Some(rest) => ("PRIMARY KEY", rest.trim_start()),
        None => ("UNIQUE", body.trim_start_matches("UNIQUE").trim_start()),
    };
    let (items, after) = match rest.strip_prefix("NULLS NOT DISTINCT") {
        Some(items) => (items.trim_start(), " NULLS NOT DISTINCT"),
        None => (
            rest.strip_prefix("NULLS DISTINCT")
                .unwrap_or(rest)
                .trim_start(),
            "",
        ),
    };
    // A key over periods needs an exclusion, which is not built so.
    if rest.contains("WITHOUT OVERLAPS") {
        return offline(statement, EXCLUDED);
    }
    let (items, options) = match items
        .find(" DEFERRABLE")
        .or_else(|| items.find(" NOT DEFERRABLE"))
    {
        Some(at) => items.split_at(at),
        None => (items, ""),
    };
    let (columns, storage) = closed(items);
    let (included, storage) = match storage.trim_start().strip_prefix("INCLUDE") {
        Some(rest) => {
            let (included, storage) = closed(rest.trim_start());
            (format!(" INCLUDE {included}"), storage)
        }
        None => (String::new(), storage),
    };
    let index = temporary(&[&plain(table), key]);
    let built = format!(
        "CREATE UNIQUE INDEX CONCURRENTLY {index} ON {table} {columns}{included}{after}{storage}"
    );
    let mut building = vec![SHARE_UPDATE_EXCLUSIVE, Hazard::NotTransactional];
    building.extend(may_fail(statement));
    let mut first = step(statement, built, Verb::Create, building);
    first.online = with(build(from, table, &index));
    let mut steps = vec![first];
    if kind == "PRIMARY KEY" {
        for column in columns.trim_matches(['(', ')']).split(", ") {
            if may_be_null(from, &plain(table), &plain(column)) {
                steps.extend(not_null(statement, table, column));
            }
        }
    }
    let taken =
        format!("ALTER TABLE {table} ADD CONSTRAINT {key} {kind} USING INDEX {index}{options}");
    let mut hazards = bare(statement);
    hazards.push(ACCESS_EXCLUSIVE);
    steps.push(Statement {
        sql: taken,
        hazards,
        ..statement.clone()
    });
    steps
}

/// Steps of `SET NOT NULL`, behind a validated check: the server then reads no rows.
fn not_null(statement: &Statement, table: &str, column: &str) -> Vec<Statement> {
    let check = temporary(&[&plain(table), column]);
    let mut proof = vec![SHARE_UPDATE_EXCLUSIVE];
    proof.extend(may_fail(statement));
    let lines = [
        (
            format!("ADD CONSTRAINT {check} CHECK ({column} IS NOT NULL) NOT VALID"),
            Verb::Add,
            vec![ACCESS_EXCLUSIVE],
        ),
        (
            format!("VALIDATE CONSTRAINT {check}"),
            Verb::Validate,
            proof,
        ),
        (
            format!("ALTER COLUMN {column} SET NOT NULL"),
            Verb::Alter,
            vec![ACCESS_EXCLUSIVE],
        ),
        (
            format!("DROP CONSTRAINT {check}"),
            Verb::Relax,
            vec![ACCESS_EXCLUSIVE],
        ),
    ];
    let step = |(action, verb, hazards)| {
        let made = step(
            statement,
            format!("ALTER TABLE {table} {action}"),
            verb,
            hazards,
        );
        match verb {
            Verb::Validate => patient(made),
            _ => made,
        }
    };
    lines.into_iter().map(step).collect()
}

/// Way of building an index on an existing table.
fn build(from: &Schema, on: &str, index: &str) -> Way {
    table(from, &plain(on)).map_or(Way::Patient, |table| Way::Build {
        schema: table.name.schema.clone(),
        table: table.name.name.clone(),
        index: index.to_owned(),
    })
}

fn with(way: Way) -> Online {
    Online {
        way,
        ..Online::default()
    }
}

/// Marks a statement as patient. Nobody queues behind its lock.
fn patient(statement: Statement) -> Statement {
    Statement {
        online: with(Way::Patient),
        ..statement
    }
}

fn step(of: &Statement, sql: String, verb: Verb, hazards: Vec<Hazard>) -> Statement {
    Statement {
        unasked: of.unasked,
        ..Statement::plain(sql, verb, of.object.clone(), hazards)
    }
}

/// Splits a text behind the parenthesis closing the first one.
fn closed(text: &str) -> (&str, &str) {
    let (mut depth, mut is_quoted) = (0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => {
                depth -= 1;
                if depth == 0 {
                    return text.split_at(at + 1);
                }
            }
            _ => {}
        }
    }
    (text, "")
}

fn plain(name: &str) -> String {
    name.trim().replace('"', "")
}

/// A name of ours for what goes again; of the same length however long the others are.
pub(super) fn temporary(parts: &[&str]) -> String {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    format!("{TEMPORARY}{:016x}", hasher.finish())
}

fn table<'s>(schema: &'s Schema, named: &str) -> Option<&'s Table> {
    let mut tables = schema.tables.values();
    tables.find(|table| {
        table.name.shown(&schema.default_schema) == named
            || format!("{}.{}", table.name.schema, table.name.name) == named
    })
}

fn is_partitioned(schema: &Schema, named: &str) -> bool {
    table(schema, named).is_some_and(|table| table.partition_by.is_some())
}

fn may_be_null(schema: &Schema, named: &str, column: &str) -> bool {
    let column = table(schema, named).and_then(|table| table.columns.get(column));
    column.is_some_and(|column| !column.not_null)
}

/// Whether an index of the given name belongs to a partitioned table.
fn is_in_parts(schema: &Schema, index: &str) -> bool {
    let mut tables = schema.tables.values();
    tables.any(|table| table.partition_by.is_some() && table.indexes.contains(index))
}

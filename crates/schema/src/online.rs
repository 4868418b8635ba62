//! Plans for tables in use: each change in steps with short locks only. A change without such steps
//! is held back.
//!
//! Works on statements as the planners spell them, so the way to the wanted schema stays one thing
//! and its execution another; the executor gets values ([`crate::plan::Online`]). What a plan
//! creates has no rows and no users yet and is left as it is.

mod mysql;
mod postgres;
mod swap;

use std::collections::{HashMap, HashSet};

use crate::{Dialect, Hazard, ObjectKind, Plan, PlanOptions, Schema, Statement, Verb};

/// Begins the names of what is there only while a plan is carried out.
pub const TEMPORARY: &str = "hakaru_online_";

/// Rewrites a plan for execution beside readers and writers.
pub(crate) fn rewrite(plan: Plan, from: &Schema, options: &PlanOptions) -> Plan {
    let plan = leftovers_first(plan);
    let made = made(&plan);
    let dialect = match from {
        Schema::Postgres(_) => Dialect::Postgres,
        Schema::Mysql(_) => Dialect::Mysql,
        Schema::Sqlite(_) => Dialect::Sqlite,
    };
    let ways = |statement: &Statement| match from {
        Schema::Postgres(from) => postgres::steps(statement, from, &made),
        Schema::Mysql(_) => mysql::steps(statement, &made, options),
        // One writer at a time whatever is done.
        Schema::Sqlite(_) => vec![statement.clone()],
    };
    let mut parts: Vec<Vec<Statement>> = plan.statements.iter().map(ways).collect();
    let homes = match dialect {
        Dialect::Postgres => swap::late_drops(&plan.statements, &mut parts),
        _ => HashMap::new(),
    };
    let mut plan = spread(&plan, parts, &homes);
    for statement in &mut plan.statements {
        statement.online.table = table_of(&statement.sql, dialect);
    }
    plan
}

/// Moves drops of temporary constraints to the front: an earlier run left them, and this one may
/// use the same names again.
fn leftovers_first(plan: Plan) -> Plan {
    let is_left = |statement: &Statement| {
        let key =
            altered(&statement.sql).and_then(|(_, action)| action.strip_prefix("DROP CONSTRAINT "));
        key.is_some_and(|key| key.starts_with(TEMPORARY))
    };
    let mut order: Vec<usize> = (0..plan.statements.len()).collect();
    order.sort_by_key(|at| !is_left(&plan.statements[*at]));
    let mut places = vec![0; order.len()];
    for (place, at) in order.iter().enumerate() {
        places[*at] = place;
    }
    let moved = order.iter().map(|at| {
        let mut statement = plan.statements[*at].clone();
        match is_left(&statement) {
            true => statement.needs.clear(),
            false => {
                let needs = statement.needs.iter().map(|at| places[*at]);
                statement.needs = needs.collect();
            }
        }
        statement
    });
    Plan {
        statements: moved.collect(),
    }
}

/// Names of the tables created by the plan, as spelled in the plan.
fn made(plan: &Plan) -> HashSet<String> {
    let creates = plan.statements.iter().filter_map(|statement| {
        let is_table = statement.verb == Verb::Create && statement.object.kind == ObjectKind::Table;
        let rest = statement.sql.strip_prefix("CREATE TABLE ")?;
        is_table.then(|| name(rest).0.to_owned())
    });
    creates.collect()
}

/// Replaces statements by steps. Each step needs the one before; dependents of the statement need
/// the last. A statement without steps is a part of another one, its home.
fn spread(plan: &Plan, parts: Vec<Vec<Statement>>, homes: &HashMap<usize, usize>) -> Plan {
    let mut ends: Vec<usize> = Vec::new();
    let mut total = 0;
    for part in &parts {
        ends.push(total + part.len().max(1) - 1);
        total += part.len();
    }
    for (at, home) in homes {
        ends[*at] = ends[*home];
    }
    let mut statements: Vec<Statement> = Vec::new();
    let mut carried: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, (part, before)) in parts.into_iter().zip(&plan.statements).enumerate() {
        let needs = before.needs.iter().map(|needed| ends[*needed]);
        let home = homes.get(&at).copied().unwrap_or(at);
        carried.entry(home).or_default().extend(needs);
        for (index, mut statement) in part.into_iter().enumerate() {
            statement.needs = match index {
                0 => carried.remove(&at).unwrap_or_default(),
                _ => vec![statements.len() - 1],
            };
            // What was a part of it before is no need of its own.
            statement.needs.retain(|needed| *needed != ends[at]);
            statements.push(statement);
        }
    }
    Plan { statements }
}

/// Splits off the qualified or plain name at the beginning of a text and the blank behind.
fn name(text: &str) -> (&str, &str) {
    let mut quote = None;
    let end = text.char_indices().find(|(_, letter)| match quote {
        Some(open) => {
            if *letter == open {
                quote = None;
            }
            false
        }
        None if matches!(letter, '"' | '`') => {
            quote = Some(*letter);
            false
        }
        None => letter.is_whitespace() || *letter == '(',
    });
    let end = end.map_or(text.len(), |(at, _)| at);
    (&text[..end], text[end..].trim_start())
}

/// Splits an `ALTER TABLE` into the table's name as spelled and the rest.
fn altered(sql: &str) -> Option<(&str, &str)> {
    let rest = sql.strip_prefix("ALTER TABLE ")?;
    Some(name(rest.strip_prefix("ONLY ").unwrap_or(rest)))
}

/// Name of a statement's table as stored by the server: without quotes.
fn table_of(sql: &str, dialect: Dialect) -> Option<String> {
    let table = match altered(sql) {
        Some((table, _)) => table,
        None => indexed(sql)?,
    };
    let quote = match dialect {
        Dialect::Mysql => '`',
        _ => '"',
    };
    Some(table.replace(quote, ""))
}

/// Name of the table of a `CREATE INDEX`, as spelled.
fn indexed(sql: &str) -> Option<&str> {
    let rest = sql.strip_prefix("CREATE ")?;
    let rest = rest.strip_prefix("UNIQUE ").unwrap_or(rest);
    let rest = rest.strip_prefix("INDEX ")?;
    let rest = rest.strip_prefix("CONCURRENTLY ").unwrap_or(rest);
    let on = name(rest).1.strip_prefix("ON ")?;
    Some(name(on.strip_prefix("ONLY ").unwrap_or(on)).0)
}

/// Hazards of the statement without locks and row checks. Each step states its own.
fn bare(statement: &Statement) -> Vec<Hazard> {
    let mut hazards = statement.hazards.clone();
    hazards.retain(|hazard| !matches!(hazard, Hazard::Lock(_) | Hazard::MayFail { .. }));
    hazards
}

/// What rows may stand in the way of.
fn may_fail(statement: &Statement) -> impl Iterator<Item = Hazard> + '_ {
    let hazards = statement.hazards.iter();
    hazards
        .filter(|hazard| matches!(hazard, Hazard::MayFail { .. }))
        .cloned()
}

/// Returns the statement, held back until waits are allowed.
fn offline(statement: &Statement, why: &str) -> Vec<Statement> {
    let mut statement = statement.clone();
    statement.hazards.push(Hazard::Offline(why.to_owned()));
    vec![statement]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_where_their_quotes_do() {
        assert_eq!(name("\"a b\".c ADD x"), ("\"a b\".c", "ADD x"));
        assert_eq!(name("`t`(a)"), ("`t`", "(a)"));
        assert_eq!(name("t"), ("t", ""));
    }

    #[test]
    fn the_table_of_a_statement_is_found() {
        let of = |sql| table_of(sql, Dialect::Postgres);
        assert_eq!(of("ALTER TABLE \"t\" ADD a int").unwrap(), "t");
        assert_eq!(of("CREATE INDEX i ON s.t (a)").unwrap(), "s.t");
        assert_eq!(
            of("CREATE UNIQUE INDEX \"a ON b\" ON s.t (a)").unwrap(),
            "s.t"
        );
        assert_eq!(of("DROP VIEW v"), None);
    }
}

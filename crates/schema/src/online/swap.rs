//! PostgreSQL: an object is dropped once the replacement exists, so nobody works without one.

use std::collections::HashMap;

use super::{TEMPORARY, altered, name};
use crate::plan::Way;
use crate::{Hazard, Statement, Verb};

/// Moves each drop before a replacement into the steps of the replacement; `parts` are the steps of
/// each statement. Returns the replacement of each drop, by indices in the plan.
pub(super) fn late_drops(
    statements: &[Statement],
    parts: &mut [Vec<Statement>],
) -> HashMap<usize, usize> {
    let replacements = replacements(statements);
    let mut homes = HashMap::new();
    for at in 0..statements.len() {
        let gone = &statements[at];
        let swapped = match gone.verb {
            Verb::Aside => again(statements, at)
                .and_then(|home| Some((home, index(&parts[at], &parts[home])?))),
            Verb::Relax => replacements.get(&at).and_then(|home| {
                let steps = constraint(gone, &statements[*home], &parts[*home])?;
                Some((*home, steps))
            }),
            _ => None,
        };
        if let Some((home, steps)) = swapped {
            parts[at].clear();
            parts[home] = steps;
            homes.insert(at, home);
        }
    }
    homes
}

/// The statement right behind, where it creates the same object.
fn again(statements: &[Statement], at: usize) -> Option<usize> {
    let comes = statements.get(at + 1)?;
    let is_same = comes.verb == Verb::Create && comes.object == statements[at].object;
    is_same.then_some(at + 1)
}

/// The statements adding a constraint in place of a dropped one, by index of the drop. Between the
/// two may stand only what needs neither of them gone: other foreign keys and exclusions.
fn replacements(statements: &[Statement]) -> HashMap<usize, usize> {
    let mut found: HashMap<usize, usize> = HashMap::new();
    for (at, comes) in statements.iter().enumerate() {
        if comes.verb == Verb::Add {
            let is_drop = |needed: &&usize| {
                let gone = &statements[**needed];
                let is_same = gone.object == comes.object || **needed + 1 == at;
                **needed < at && gone.verb == Verb::Relax && is_same
            };
            let drop = comes.needs.iter().find(is_drop);
            found.extend(drop.map(|drop| (*drop, at)));
        }
    }
    let is_loose = |at: usize| {
        let added = match statements[at].verb {
            Verb::Add => Some(at),
            Verb::Relax => found.get(&at).copied(),
            _ => None,
        };
        let body = added.and_then(|added| body(&statements[added]));
        body.is_some_and(|(_, body)| body.starts_with("FOREIGN") || body.starts_with("EXCLUDE"))
    };
    // How many of the others stand before each.
    let mut fixed = vec![0];
    for at in 0..statements.len() {
        fixed.push(fixed[at] + usize::from(!is_loose(at)));
    }
    found.retain(|gone, home| fixed[gone + 1] == fixed[*home]);
    found
}

/// Name and body of an added constraint.
fn body(statement: &Statement) -> Option<(&str, &str)> {
    let (_, action) = altered(&statement.sql)?;
    action.strip_prefix("ADD CONSTRAINT ").map(name)
}

/// An index built beside writers under a temporary name, renamed once the old one is dropped.
fn index(gone: &[Statement], comes: &[Statement]) -> Option<Vec<Statement>> {
    let ([gone], [comes]) = (gone, comes) else {
        return None;
    };
    let Way::Build {
        schema,
        table,
        index,
    } = &comes.online.way
    else {
        return None;
    };
    let old = gone.sql.strip_prefix("DROP INDEX CONCURRENTLY ")?;
    let (before, rest) = comes.sql.split_once("INDEX CONCURRENTLY ")?;
    let (spelled, _) = name(rest);
    let place = old.strip_suffix(spelled)?;
    let ours = super::postgres::temporary(&[schema, table, index]);
    let mut built = comes.clone();
    built.sql = format!(
        "{before}INDEX CONCURRENTLY {ours}{}",
        &rest[spelled.len()..]
    );
    built.online.way = Way::Build {
        schema: schema.clone(),
        table: table.clone(),
        index: ours.clone(),
    };
    let named = Statement::plain(
        format!("ALTER INDEX {place}{ours} RENAME TO {spelled}"),
        Verb::Rename,
        comes.object.clone(),
        vec![Hazard::Lock("SHARE UPDATE EXCLUSIVE")],
    );
    Some(vec![built, gone.clone(), named])
}

/// Replaces a constraint: one with an index in one statement, once the new index is built; another
/// one once the rows are known to fit the new one.
fn constraint(gone: &Statement, comes: &Statement, steps: &[Statement]) -> Option<Vec<Statement>> {
    let (table, drop) = altered(&gone.sql)?;
    let (same, _) = altered(&comes.sql)?;
    let (key, body) = body(comes)?;
    let old = drop.strip_prefix("DROP CONSTRAINT ")?;
    if table != same || key.starts_with(TEMPORARY) || steps.iter().any(Statement::is_offline) {
        return None;
    }
    if body.starts_with("FOREIGN") || body.starts_with("CHECK") {
        return Some(proved(gone, table, (old, key), steps));
    }
    let start = format!("ALTER TABLE {table} ADD CONSTRAINT {key} ");
    let at = steps.iter().position(|step| step.sql.starts_with(&start))?;
    let mut steps = steps.to_vec();
    let step = &mut steps[at];
    let added = altered(&step.sql)?.1.to_owned();
    step.sql = format!("ALTER TABLE {table} {drop}, {added}");
    step.hazards
        .retain(|hazard| !matches!(hazard, Hazard::Lock(_)));
    step.hazards.extend(gone.hazards.iter().cloned());
    Some(steps)
}

/// The old constraint is in force until the new one is, under a temporary name if both have the
/// same.
fn proved(
    gone: &Statement,
    table: &str,
    (old, key): (&str, &str),
    steps: &[Statement],
) -> Vec<Statement> {
    let mut steps = steps.to_vec();
    if old != key {
        steps.push(gone.clone());
        return steps;
    }
    let ours = super::postgres::temporary(&[table, key]);
    for step in &mut steps {
        step.sql = step.sql.replacen(
            &format!("CONSTRAINT {key}"),
            &format!("CONSTRAINT {ours}"),
            1,
        );
    }
    let named = Statement::plain(
        format!("ALTER TABLE {table} RENAME CONSTRAINT {ours} TO {key}"),
        Verb::Rename,
        gone.object.clone(),
        vec![Hazard::Lock("ACCESS EXCLUSIVE")],
    );
    steps.extend([gone.clone(), named]);
    steps
}

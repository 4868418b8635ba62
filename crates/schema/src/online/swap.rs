//! PostgreSQL: an object is dropped once the replacement exists, so nobody works without one.

use super::{TEMPORARY, altered, name};
use crate::plan::Way;
use crate::{Hazard, Statement, Verb};

/// Moves each drop right before a replacement into the steps of the replacement. `parts` are the
/// steps of each statement.
pub(super) fn late_drops(statements: &[Statement], parts: &mut [Vec<Statement>]) {
    for (at, pair) in statements.windows(2).enumerate() {
        let [gone, comes] = pair else { continue };
        let swapped = match (gone.verb, comes.verb) {
            (Verb::Aside, Verb::Create) if gone.object == comes.object => {
                index(&parts[at], &parts[at + 1])
            }
            (Verb::Relax, Verb::Add) if comes.needs.contains(&at) => {
                constraint(gone, comes, &parts[at + 1])
            }
            _ => None,
        };
        if let Some(steps) = swapped {
            parts[at].clear();
            parts[at + 1] = steps;
        }
    }
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

/// Replaces a constraint in one statement, once the new index is built.
fn constraint(gone: &Statement, comes: &Statement, steps: &[Statement]) -> Option<Vec<Statement>> {
    let (table, drop) = altered(&gone.sql)?;
    let (same, added) = altered(&comes.sql)?;
    let key = name(added.strip_prefix("ADD CONSTRAINT ")?).0;
    if table != same || !drop.starts_with("DROP CONSTRAINT ") || key.starts_with(TEMPORARY) {
        return None;
    }
    let start = format!("ALTER TABLE {table} ADD CONSTRAINT {key} ");
    let at = steps.iter().position(|step| step.sql.starts_with(&start))?;
    let is_offline = |step: &Statement| step.is_offline();
    if steps.iter().any(is_offline) {
        return None;
    }
    let mut steps = steps.to_vec();
    let step = &mut steps[at];
    let added = altered(&step.sql)?.1.to_owned();
    step.sql = format!("ALTER TABLE {table} {drop}, {added}");
    step.hazards
        .retain(|hazard| !matches!(hazard, Hazard::Lock(_)));
    step.hazards.extend(gone.hazards.iter().cloned());
    Some(steps)
}

//! MySQL and MariaDB: each `ALTER TABLE` names the cheapest algorithm, so a copy is refused.

use std::collections::HashSet;

use super::{altered, offline};
use crate::plan::{Online, Way, offline_permission};
use crate::{Hazard, ObjectKind, PlanOptions, Statement};

const COPIED: &str = "the server copies the table and lets nobody write meanwhile; an outside program can do it (--online-command)";

/// The statement with the cheapest way asked for; what only copying does is held back, unless
/// allowed.
pub(super) fn steps(
    statement: &Statement,
    made: &HashSet<String>,
    options: &PlanOptions,
) -> Vec<Statement> {
    let Some((table, action)) = altered(&statement.sql) else {
        return vec![statement.clone()];
    };
    let is_allowed = options.offline.contains(&offline_permission(statement));
    if made.contains(table) || is_allowed || action.starts_with("RENAME TO") {
        return vec![statement.clone()];
    }
    let is_copied = || {
        let mut hazards = statement.hazards.iter();
        hazards.any(|hazard| matches!(hazard, Hazard::Rewrite(_)))
    };
    // The planner has put apart what is copied for sure.
    if !options.outside && statement.object.kind == ObjectKind::Column && is_copied() {
        return offline(statement, COPIED);
    }
    // Only a copy compares the rows with those of the other table.
    let needs_copy = !options.outside;
    if needs_copy
        && (action.starts_with("ADD CONSTRAINT") && action.contains("FOREIGN KEY")
            || action.starts_with("ADD FOREIGN KEY"))
    {
        return offline(statement, COPIED);
    }
    if action.starts_with("ADD PARTITION") || action.starts_with("DROP PARTITION") {
        return vec![statement.clone()];
    }
    if needs_copy && action.contains("PARTITION") {
        return offline(statement, COPIED);
    }
    let mut hazards = statement.hazards.clone();
    hazards.retain(|hazard| !matches!(hazard, Hazard::Lock(_)));
    hazards.push(Hazard::Lock("NONE"));
    vec![Statement {
        hazards,
        sql: format!("ALTER TABLE {table} ALGORITHM=INSTANT, {action}"),
        online: Online {
            way: Way::Cheapest {
                table: table.to_owned(),
                action: action.to_owned(),
            },
            ..Online::default()
        },
        ..statement.clone()
    }]
}

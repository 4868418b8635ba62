//! What is made again belongs to whoever makes it, and may reach what that user may: so it is given back to its owner.

use schema::{Dialect, Hazard, Object, Plan, Statement, Verb};

use crate::{Database, DbError};

/// Views that are not this user's: the name as plans show it, and what gives the view back.
const VIEWS: &str = "
    SELECT CASE WHEN nspname = current_schema() THEN relname ELSE nspname || '.' || relname END,
        format('ALTER %s %I.%I OWNER TO %I', CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, nspname, relname,
            pg_get_userbyid(relowner))
    FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind IN ('v', 'm') AND pg_get_userbyid(relowner) <> current_user";

/// Adds what gives views back that the plan drops to make them again.
pub(super) fn give_back(plan: &mut Plan, database: &mut dyn Database) -> Result<(), DbError> {
    let is_view = |statement: &Statement| statement.object.kind == "view";
    let goes = |statement: &Statement| is_view(statement) && statement.verb == Verb::Aside;
    if database.server().dialect() != Dialect::Postgres || !plan.statements.iter().any(goes) {
        return Ok(());
    }
    for row in database.query(VIEWS)? {
        let [Some(name), Some(sql)] = row.as_slice() else {
            continue;
        };
        let is_it = |statement: &Statement| is_view(statement) && statement.object.name == *name;
        let statements = &plan.statements;
        let made = statements
            .iter()
            .position(|each| is_it(each) && each.verb == Verb::Create);
        let Some(made) = made.filter(|_| statements.iter().any(|each| is_it(each) && goes(each)))
        else {
            continue;
        };
        plan.statements.push(Statement {
            sql: sql.clone(),
            object: Object {
                kind: "owner",
                name: name.clone(),
            },
            hazards: vec![Hazard::Lock("ACCESS EXCLUSIVE")],
            verb: Verb::Alter,
            unasked: false,
            needs: vec![made],
            held_back: None,
        });
    }
    Ok(())
}

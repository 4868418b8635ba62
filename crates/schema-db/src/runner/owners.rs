//! Owners and privileges of recreated objects. A new object belongs to the creating role, with the
//! server's default privileges, so the former owner and privileges are restored.

use schema::{Dialect, Hazard, Object, ObjectKind, Plan, Statement, Verb};

use crate::{Database, DbError};

/// Query for views with another owner: the name in plans, and the statement restoring the owner.
/// The plan itself grants the privileges.
const VIEWS: &str = "
    SELECT CASE WHEN nspname = current_schema() THEN relname ELSE nspname || '.' || relname END, action
    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace, LATERAL (
        SELECT format('ALTER %s %I.%I OWNER TO %I', CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, nspname, relname,
            pg_get_userbyid(relowner)) AS action
        WHERE pg_get_userbyid(relowner) <> current_user
    ) AS actions WHERE relkind IN ('v', 'm') ORDER BY 1, action";

/// Query for types with another owner: both spellings of the name in plans, and the statement
/// restoring the owner.
const TYPES: &str = "
    SELECT before || typname, before || quote_ident(typname), format('ALTER TYPE %I.%I OWNER TO %I', nspname, typname, pg_get_userbyid(typowner))
    FROM pg_type t JOIN pg_namespace n ON n.oid = typnamespace LEFT JOIN pg_class c ON c.oid = typrelid,
        LATERAL (SELECT CASE WHEN nspname = current_schema() THEN '' ELSE nspname || '.' END AS before) AS schemas
    WHERE pg_get_userbyid(typowner) <> current_user AND (typtype IN ('e', 'd', 'r') OR (typtype = 'b' AND typcategory <> 'A') OR relkind = 'c')";

/// Kinds of types in plans.
const TYPE_KINDS: [ObjectKind; 5] = [
    ObjectKind::Type,
    ObjectKind::Domain,
    ObjectKind::CompositeType,
    ObjectKind::RangeType,
    ObjectKind::BaseType,
];

/// Query for the statements restoring a function; `{old}` is the existing function, `{new}` the
/// function afterwards.
const FUNCTION: &str = "
    SELECT action FROM pg_proc p, LATERAL (
        SELECT 1 AS step, 'REVOKE ALL ON ROUTINE {new} FROM PUBLIC' AS action WHERE proacl IS NOT NULL
        UNION ALL
        SELECT 2, format('GRANT EXECUTE ON ROUTINE {new} TO %s%s',
            CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
            CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
        FROM aclexplode(proacl) WHERE grantee <> proowner
        UNION ALL
        SELECT 2, 'REVOKE ALL ON ROUTINE {new} FROM CURRENT_USER' WHERE proacl IS NOT NULL
            AND NOT EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = proowner)
        UNION ALL
        SELECT 3, format('ALTER ROUTINE {new} OWNER TO %I', pg_get_userbyid(proowner))
        WHERE pg_get_userbyid(proowner) <> current_user
    ) AS actions WHERE p.oid = to_regprocedure('{old}') ORDER BY step, action";

/// Adds the statements restoring owner and privileges of recreated views and functions.
pub(super) fn give_back(plan: &mut Plan, database: &mut dyn Database) -> Result<(), DbError> {
    if database.server().dialect() != Dialect::Postgres {
        return Ok(());
    }
    give_back_types(plan, database)?;
    let goes = |statement: &Statement| statement.verb == Verb::Aside;
    if !plan.statements.iter().any(goes) {
        return Ok(());
    }
    let has_views = plan
        .statements
        .iter()
        .any(|each| goes(each) && each.object.kind == ObjectKind::View);
    let views = match has_views {
        true => database.query(VIEWS)?,
        false => Vec::new(),
    };
    let mut made = plan.statements.len();
    while let Some(at) = made.checked_sub(1) {
        made = at;
        let Statement { object, verb, .. } = &plan.statements[at];
        if *verb != Verb::Create || !matches!(object.kind, ObjectKind::View | ObjectKind::Function)
        {
            continue;
        }
        let mut before = plan.statements[..at].iter();
        let Some(gone) = before.find(|each| goes(each) && each.object == *object) else {
            continue;
        };
        let actions: Vec<String> = match object.kind {
            ObjectKind::View => {
                let own = views
                    .iter()
                    .filter(|row| row[0].as_ref() == Some(&object.name));
                own.filter_map(|row| row[1].clone()).collect()
            }
            _ => of_function(gone, &object.name, database)?,
        };
        let name = object.name.clone();
        let is_given = is_given(plan, &name);
        for sql in actions.into_iter().rev() {
            let statement = again(sql, name.clone());
            match statement.object.kind {
                ObjectKind::Owner if is_given => {}
                // Whoever gives it away may give nobody a privilege on it any more.
                ObjectKind::Owner => plan.push_after(at, statement),
                _ => plan.insert_after(at, statement),
            }
        }
    }
    Ok(())
}

/// Adds the statements restoring the owners of recreated types. An existing type is created only in
/// the place of another.
fn give_back_types(plan: &mut Plan, database: &mut dyn Database) -> Result<(), DbError> {
    let is_type = |statement: &Statement| {
        statement.verb == Verb::Create && TYPE_KINDS.contains(&statement.object.kind)
    };
    if !plan.statements.iter().any(is_type) {
        return Ok(());
    }
    let types = database.query(TYPES)?;
    for at in 0..plan.statements.len() {
        let statement = &plan.statements[at];
        let name = statement.object.name.clone();
        let is_named = |spelled: &Option<String>| spelled.as_ref() == Some(&name);
        let mut rows = types.iter();
        let found = rows.find(|row| row[..2].iter().any(is_named));
        let found = found.filter(|_| is_type(statement) && !is_given(plan, &name));
        if let Some(sql) = found.and_then(|row| row[2].clone()) {
            plan.push_after(at, again(sql, name));
        }
    }
    Ok(())
}

/// Whether the plan itself gives the object to somebody.
fn is_given(plan: &Plan, name: &str) -> bool {
    let mut statements = plan.statements.iter();
    statements.any(|each| each.object.kind == ObjectKind::Owner && each.object.name == name)
}

/// Statements restoring the function dropped by `gone`, for the one shown in plans as `name`.
fn of_function(
    gone: &Statement,
    name: &str,
    database: &mut dyn Database,
) -> Result<Vec<String>, DbError> {
    let old = gone.sql.trim_start_matches("DROP FUNCTION ");
    let old = old.trim_start_matches("DROP PROCEDURE ");
    let (Some((bare, _)), Some((_, arguments))) = (old.rsplit_once('('), name.rsplit_once('('))
    else {
        return Ok(Vec::new());
    };
    let new = format!("{bare}({arguments}");
    let quoted = |text: &str| text.replace('\'', "''");
    let query = FUNCTION
        .replace(
            "format('GRANT EXECUTE ON ROUTINE {new}",
            "format('GRANT EXECUTE ON ROUTINE {format}",
        )
        .replace(
            "format('ALTER ROUTINE {new}",
            "format('ALTER ROUTINE {format}",
        )
        .replace("{format}", &quoted(&new).replace('%', "%%"))
        .replace("{new}", &quoted(&new))
        .replace("{old}", &quoted(old));
    let rows = database.query(&query)?;
    Ok(rows.into_iter().flatten().flatten().collect())
}

fn again(sql: String, name: String) -> Statement {
    let kind = if sql.starts_with("ALTER") {
        ObjectKind::Owner
    } else {
        ObjectKind::Privilege
    };
    Statement {
        sql,
        object: Object { kind, name },
        hazards: vec![Hazard::Lock("ACCESS EXCLUSIVE")],
        verb: Verb::Alter,
        unasked: false,
        needs: Vec::new(),
        held_back: None,
        online: schema::plan::Online::default(),
    }
}

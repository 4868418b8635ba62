//! Owners and privileges of recreated objects. A new object belongs to the creating role, with the
//! server's default privileges, so the former owner and privileges are restored.

use schema::{Dialect, Hazard, Object, Plan, Statement, Verb};

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
    let goes = |statement: &Statement| statement.verb == Verb::Aside;
    if database.server().dialect() != Dialect::Postgres || !plan.statements.iter().any(goes) {
        return Ok(());
    }
    let has_views = plan
        .statements
        .iter()
        .any(|each| goes(each) && each.object.kind == "view");
    let views = match has_views {
        true => database.query(VIEWS)?,
        false => Vec::new(),
    };
    let mut made = plan.statements.len();
    while let Some(at) = made.checked_sub(1) {
        made = at;
        let Statement { object, verb, .. } = &plan.statements[at];
        if *verb != Verb::Create || !matches!(object.kind, "view" | "function") {
            continue;
        }
        let mut before = plan.statements[..at].iter();
        let Some(gone) = before.find(|each| goes(each) && each.object == *object) else {
            continue;
        };
        let actions: Vec<String> = match object.kind {
            "view" => {
                let own = views
                    .iter()
                    .filter(|row| row[0].as_ref() == Some(&object.name));
                own.filter_map(|row| row[1].clone()).collect()
            }
            _ => of_function(gone, &object.name, database)?,
        };
        let name = object.name.clone();
        for sql in actions.into_iter().rev() {
            let statement = again(sql, name.clone());
            match statement.object.kind {
                // Whoever gives it away may give nobody a privilege on it any more.
                "owner" => plan.push_after(at, statement),
                _ => plan.insert_after(at, statement),
            }
        }
    }
    Ok(())
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
        "owner"
    } else {
        "privilege"
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

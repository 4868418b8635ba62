//! Roles of the server as statements, without passwords.

use schema::postgres::NAME_LISTS;
use schema::{MEMBERSHIP_OPTIONS, Version};

/// The query for statements creating roles by name.
pub(super) fn query(names: &[String], version: Option<Version>) -> String {
    let names = names
        .iter()
        .map(|name| format!("'{}'", name.replace('\'', "''")));
    let names = names.collect::<Vec<_>>().join(", ");
    let has_options = version.is_none_or(|version| version >= MEMBERSHIP_OPTIONS);
    let lists = NAME_LISTS.map(|name| format!("'{name}'")).join(", ");
    let options = match has_options {
        true => {
            "format(' WITH ADMIN %s, INHERIT %s, SET %s', bool_or(admin_option)::text, bool_or(inherit_option)::text, bool_or(set_option)::text)"
        }
        false => "CASE WHEN bool_or(admin_option) THEN ' WITH ADMIN OPTION' ELSE '' END",
    };
    format!(
        "WITH named AS (SELECT * FROM pg_roles WHERE rolname IN ({names}))
        , setting AS (
            SELECT rolname, datname, split_part(one, '=', 1) AS name, substr(one, strpos(one, '=') + 1) AS value
            FROM pg_db_role_setting s JOIN named r ON r.oid = setrole LEFT JOIN pg_database d ON d.oid = setdatabase
                CROSS JOIN unnest(setconfig) AS one)
        , statement (part, rolname, sql) AS (
            SELECT 1, rolname, 'CREATE ROLE ' || quote_ident(rolname)
                || CASE WHEN rolsuper THEN ' SUPERUSER' ELSE '' END || CASE WHEN rolcreatedb THEN ' CREATEDB' ELSE '' END
                || CASE WHEN rolcreaterole THEN ' CREATEROLE' ELSE '' END || CASE WHEN rolcanlogin THEN ' LOGIN' ELSE '' END
                || CASE WHEN rolreplication THEN ' REPLICATION' ELSE '' END || CASE WHEN rolbypassrls THEN ' BYPASSRLS' ELSE '' END
                || CASE WHEN rolinherit THEN '' ELSE ' NOINHERIT' END
                || CASE WHEN rolconnlimit < 0 THEN '' ELSE ' CONNECTION LIMIT ' || rolconnlimit END
                || CASE WHEN isfinite(rolvaliduntil)
                    THEN to_char(rolvaliduntil AT TIME ZONE 'UTC', ' \"VALID UNTIL ''\"YYYY-MM-DD HH24:MI:SS\"+00''\"') ELSE '' END
            FROM named
            UNION ALL
            SELECT 2, m.rolname, format('GRANT %I TO %I', g.rolname, m.rolname) || {options}
            FROM pg_auth_members JOIN pg_roles g ON g.oid = roleid JOIN named m ON m.oid = member GROUP BY g.rolname, m.rolname
            UNION ALL
            SELECT 3, rolname, format('ALTER ROLE %I', rolname) || COALESCE(' IN DATABASE ' || quote_ident(datname), '')
                || format(' SET %s TO ', name) || CASE WHEN name IN ({lists}) THEN value ELSE quote_literal(value) END
            FROM setting
            UNION ALL
            SELECT 4, rolname, format('COMMENT ON ROLE %I IS %L', rolname, shobj_description(oid, 'pg_authid'))
            FROM named WHERE shobj_description(oid, 'pg_authid') IS NOT NULL)
        SELECT sql || E';\\n' FROM statement ORDER BY part, rolname, sql"
    )
}

//! Owners and privileges, apart from what the server made and what extensions gave.

/// Objects with privileges: `class` is what [`acldefault`] calls the kind, `given` is what
/// everybody has on a new one, `is_made` whether our statements create
/// the object, with a known owner.
///
/// [`acldefault`]: https://www.postgresql.org/docs/18/functions-info.html
macro_rules! objects {
    () => {
        "
    , object (classid, oid, kind, class, name, acl, owner, given) AS (
        SELECT 'pg_class'::regclass::oid, oid, CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
            CASE relkind WHEN 'S' THEN 's' ELSE 'r' END, full_name, relacl, relowner, NULL
        FROM relation WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
        UNION ALL
        SELECT 'pg_namespace'::regclass, n.oid, 'SCHEMA', 'n', quote_ident(n.nspname), nspacl, nspowner, CASE n.nspname WHEN 'public' THEN 'USAGE' END
        FROM ours JOIN pg_namespace n ON n.oid = ours.oid
        UNION ALL
        SELECT 'pg_proc'::regclass, p.oid, CASE prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, 'f',
            format('%I.%I(%s)', nspname, proname,
                CASE prokind WHEN 'a' THEN oidvectortypes(proargtypes) ELSE pg_get_function_identity_arguments(p.oid) END),
            proacl, proowner, 'EXECUTE'
        FROM pg_proc p JOIN ours n ON n.oid = pronamespace
        UNION ALL
        SELECT 'pg_type'::regclass, t.oid, 'TYPE', 'T', format('%I.%I', nspname, typname), typacl, typowner, 'USAGE'
        FROM pg_type t JOIN ours n ON n.oid = typnamespace
        UNION ALL SELECT 'pg_language'::regclass, oid, 'LANGUAGE', 'l', quote_ident(lanname), lanacl, lanowner, 'USAGE' FROM pg_language
        UNION ALL
        SELECT 'pg_foreign_data_wrapper'::regclass, oid, 'FOREIGN DATA WRAPPER', 'F', quote_ident(fdwname), fdwacl, fdwowner, NULL
        FROM pg_foreign_data_wrapper
        UNION ALL
        SELECT 'pg_foreign_server'::regclass, oid, 'FOREIGN SERVER', 'S', quote_ident(srvname), srvacl, srvowner, NULL FROM pg_foreign_server)
    , changed AS (SELECT object.*, kind = 'SCHEMA' OR (oid >= 16384 AND NOT EXISTS (SELECT FROM foreign_to_us e
                WHERE e.classid = object.classid AND e.objid = object.oid)) AS is_made FROM object
        WHERE acl IS NOT NULL AND NOT EXISTS (SELECT FROM pg_init_privs i
            WHERE i.objoid = object.oid AND i.classoid = object.classid AND i.objsubid = 0 AND i.initprivs::text[] = acl::text[]))
    , taken AS (SELECT kind, name, owner, is_made, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS privileges
        FROM changed, aclexplode(acldefault(class::\"char\", owner)) AS usual
        WHERE grantee = owner AND NOT EXISTS (SELECT FROM aclexplode(acl) AS entry
            WHERE entry.grantee = owner AND entry.privilege_type = usual.privilege_type)
        GROUP BY kind, name, owner, is_made)"
    };
}

pub(in crate::postgres) use objects;

/// Query for privileges. Those of everybody and of the owner on a new object are stated where
/// revoked. An owner without a statement is not named here either.
pub(super) const PRIVILEGES: &str = concat!(
    objects!(),
    "
    , granted AS (
        SELECT kind, name, '' AS columns, owner, given, entry.* FROM changed, aclexplode(acl) AS entry
            WHERE grantee <> owner OR (is_made AND is_grantable)
        UNION ALL
        SELECT 'TABLE', full_name, format(' (%s)', string_agg(quote_ident(attname), ', ' ORDER BY attname)), relowner, NULL,
            entry.grantor, entry.grantee, entry.privilege_type, entry.is_grantable
        FROM relation r JOIN pg_attribute ON attrelid = r.oid AND NOT attisdropped AND attacl IS NOT NULL, aclexplode(attacl) AS entry
        GROUP BY full_name, relowner, entry.grantor, entry.grantee, entry.privilege_type, entry.is_grantable)
    , named AS (SELECT granted.*, CASE WHEN grantee = 0 THEN 'PUBLIC'
            WHEN grantee = owner AND pg_get_userbyid(owner) = current_user THEN 'CURRENT_USER'
            ELSE quote_ident(pg_get_userbyid(grantee)) END AS role FROM granted)
    SELECT statement FROM (
        SELECT kind, name, '' AS role, format('REVOKE %s ON %s %s FROM PUBLIC', given, kind, name) AS statement
        FROM changed WHERE given IS NOT NULL
            AND NOT EXISTS (SELECT FROM aclexplode(acl) AS entry WHERE grantee = 0 AND privilege_type = given)
        UNION ALL
        SELECT kind, name, '', format('REVOKE %s ON %s %s FROM %s', privileges, kind, name,
            CASE pg_get_userbyid(owner) WHEN current_user THEN 'CURRENT_USER' ELSE quote_ident(pg_get_userbyid(owner)) END)
        FROM taken WHERE is_made
        UNION ALL
        SELECT kind, name, role, format('GRANT %s ON %s %s TO %s%s', string_agg(DISTINCT privilege_type || columns, ', '), kind, name, role,
            CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
        FROM named
        WHERE grantee <> 0 OR given IS DISTINCT FROM privilege_type
        GROUP BY kind, name, role, is_grantable) AS all_of_them
    ORDER BY kind, name, role, statement"
);

/// Query for privileges on objects made later: what differs from the server's own for a role, and
/// what a schema adds. The connected role is not named.
pub(super) const DEFAULTS: &str = "
    , changed AS (SELECT defaclrole AS owner, defaclnamespace AS schema, defaclacl AS acl,
            CASE defaclnamespace WHEN 0 THEN acldefault(CASE defaclobjtype WHEN 'S' THEN 's' ELSE defaclobjtype END, defaclrole)
                END AS usual,
            format('ALTER DEFAULT PRIVILEGES%s%s', CASE WHEN pg_get_userbyid(defaclrole) <> current_user
                THEN format(' FOR ROLE %I', pg_get_userbyid(defaclrole)) END, ' IN SCHEMA ' || quote_ident(nspname)) AS head,
            CASE defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'FUNCTIONS' WHEN 'T' THEN 'TYPES'
                WHEN 'n' THEN 'SCHEMAS' ELSE 'LARGE OBJECTS' END AS kind
        FROM pg_default_acl LEFT JOIN pg_namespace n ON n.oid = defaclnamespace
        WHERE nspname IS NULL OR n.oid IN (SELECT oid FROM ours))
    , part AS (
        SELECT head, kind, 'GRANT' AS verb, owner, grantee, privilege_type, is_grantable
        FROM changed, aclexplode(acl) AS entry WHERE NOT EXISTS (SELECT FROM aclexplode(usual) AS u
            WHERE u.grantee = entry.grantee AND u.privilege_type = entry.privilege_type AND u.is_grantable = entry.is_grantable)
        UNION ALL
        SELECT head, kind, 'REVOKE', owner, grantee, privilege_type, false
        FROM changed, aclexplode(usual) AS entry WHERE NOT EXISTS (SELECT FROM aclexplode(acl) AS a
            WHERE a.grantee = entry.grantee AND a.privilege_type = entry.privilege_type))
    SELECT format('%s %s %s ON %s %s %s%s', head, verb, string_agg(privilege_type, ', ' ORDER BY privilege_type), kind,
        CASE verb WHEN 'GRANT' THEN 'TO' ELSE 'FROM' END,
        CASE WHEN grantee = 0 THEN 'PUBLIC' WHEN grantee = owner AND pg_get_userbyid(owner) = current_user THEN 'CURRENT_USER'
            ELSE quote_ident(pg_get_userbyid(grantee)) END,
        CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
    FROM part GROUP BY head, kind, verb, owner, grantee, is_grantable ORDER BY 1";

/// Query for owners of other objects than relations, in the server's own words for kind and name.
pub(super) const OWNERS: &str = "
    , owned (classid, objid, owner) AS (
        SELECT 'pg_proc'::regclass, p.oid, proowner FROM pg_proc p JOIN ours n ON n.oid = pronamespace
        UNION ALL
        SELECT 'pg_type'::regclass, t.oid, typowner FROM pg_type t JOIN ours n ON n.oid = typnamespace
            LEFT JOIN pg_class c ON c.oid = typrelid
            WHERE (typtype IN ('e', 'd', 'r') OR (typtype = 'b' AND typcategory <> 'A') OR c.relkind = 'c')
        UNION ALL SELECT 'pg_namespace'::regclass, n.oid, nspowner FROM pg_namespace n JOIN ours o ON o.oid = n.oid WHERE n.nspname <> 'public'
        UNION ALL SELECT 'pg_collation'::regclass, c.oid, collowner FROM pg_collation c JOIN ours n ON n.oid = collnamespace
        UNION ALL SELECT 'pg_conversion'::regclass, c.oid, conowner FROM pg_conversion c JOIN ours n ON n.oid = connamespace
        UNION ALL SELECT 'pg_operator'::regclass, o.oid, oprowner FROM pg_operator o JOIN ours n ON n.oid = oprnamespace
        UNION ALL SELECT 'pg_opclass'::regclass, o.oid, opcowner FROM pg_opclass o JOIN ours n ON n.oid = opcnamespace
        UNION ALL SELECT 'pg_opfamily'::regclass, o.oid, opfowner FROM pg_opfamily o JOIN ours n ON n.oid = opfnamespace
        UNION ALL SELECT 'pg_ts_dict'::regclass, d.oid, dictowner FROM pg_ts_dict d JOIN ours n ON n.oid = dictnamespace
        UNION ALL SELECT 'pg_ts_config'::regclass, c.oid, cfgowner FROM pg_ts_config c JOIN ours n ON n.oid = cfgnamespace
        UNION ALL SELECT 'pg_statistic_ext'::regclass, s.oid, stxowner FROM pg_statistic_ext s JOIN ours n ON n.oid = stxnamespace
        UNION ALL SELECT 'pg_foreign_data_wrapper'::regclass, oid, fdwowner FROM pg_foreign_data_wrapper
        UNION ALL SELECT 'pg_foreign_server'::regclass, oid, srvowner FROM pg_foreign_server
        UNION ALL SELECT 'pg_language'::regclass, oid, lanowner FROM pg_language
        UNION ALL SELECT 'pg_event_trigger'::regclass, oid, evtowner FROM pg_event_trigger
        UNION ALL SELECT 'pg_publication'::regclass, oid, pubowner FROM pg_publication
        UNION ALL SELECT 'pg_subscription'::regclass, oid, subowner FROM pg_subscription
            WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database()))
    SELECT format('ALTER %s %s OWNER TO %I', CASE type WHEN 'statistics object' THEN 'STATISTICS' ELSE upper(replace(type, '-', ' ')) END,
        CASE type WHEN 'aggregate' THEN replace(identity, '()', '(*)') ELSE identity END, pg_get_userbyid(owner))
    FROM owned, LATERAL pg_identify_object(classid, objid, 0) AS o
    WHERE objid >= 16384 AND pg_get_userbyid(owner) <> current_user
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = owned.classid AND d.objid = owned.objid AND deptype IN ('e', 'i'))
    ORDER BY owned.classid, owned.objid";

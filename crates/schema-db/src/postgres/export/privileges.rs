//! Privileges, apart from those of owners, of what the server made, and of what extensions gave.

/// Query for privileges. Those of everybody on a new object are stated where revoked. `MAINTAIN`
/// came with version 17 and is not read.
pub(super) const PRIVILEGES: &str = "
    , object (classid, oid, kind, name, acl, owner, given) AS (
        SELECT 'pg_class'::regclass::oid, oid, CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, full_name, relacl, relowner, NULL
        FROM relation WHERE relkind IN ('r', 'p', 'v', 'm', 'S')
        UNION ALL
        SELECT 'pg_namespace'::regclass, n.oid, 'SCHEMA', quote_ident(n.nspname), nspacl, nspowner, CASE n.nspname WHEN 'public' THEN 'USAGE' END
        FROM ours JOIN pg_namespace n ON n.oid = ours.oid
        UNION ALL
        SELECT 'pg_proc'::regclass, p.oid, CASE prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END,
            format('%I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid)), proacl, proowner, 'EXECUTE'
        FROM pg_proc p JOIN ours n ON n.oid = pronamespace WHERE prokind IN ('f', 'w', 'p')
        UNION ALL
        SELECT 'pg_type'::regclass, t.oid, 'TYPE', format('%I.%I', nspname, typname), typacl, typowner, 'USAGE'
        FROM pg_type t JOIN ours n ON n.oid = typnamespace
        UNION ALL SELECT 'pg_language'::regclass, oid, 'LANGUAGE', quote_ident(lanname), lanacl, lanowner, 'USAGE' FROM pg_language
        UNION ALL
        SELECT 'pg_foreign_data_wrapper'::regclass, oid, 'FOREIGN DATA WRAPPER', quote_ident(fdwname), fdwacl, fdwowner, NULL
        FROM pg_foreign_data_wrapper
        UNION ALL
        SELECT 'pg_foreign_server'::regclass, oid, 'FOREIGN SERVER', quote_ident(srvname), srvacl, srvowner, NULL FROM pg_foreign_server)
    , changed AS (SELECT object.* FROM object
        WHERE acl IS NOT NULL AND NOT EXISTS (SELECT FROM pg_init_privs i
            WHERE i.objoid = object.oid AND i.classoid = object.classid AND i.objsubid = 0 AND i.initprivs::text[] = acl::text[]))
    , granted AS (
        SELECT kind, name, '' AS columns, owner, given, entry.* FROM changed, aclexplode(acl) AS entry
        UNION ALL
        SELECT 'TABLE', full_name, format(' (%s)', string_agg(quote_ident(attname), ', ' ORDER BY attname)), relowner, NULL,
            entry.grantor, entry.grantee, entry.privilege_type, entry.is_grantable
        FROM relation r JOIN pg_attribute ON attrelid = r.oid, aclexplode(attacl) AS entry
        GROUP BY full_name, relowner, entry.grantor, entry.grantee, entry.privilege_type, entry.is_grantable)
    , named AS (SELECT granted.*, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role FROM granted)
    SELECT statement FROM (
        SELECT kind, name, '' AS role, format('REVOKE %s ON %s %s FROM PUBLIC', given, kind, name) AS statement
        FROM changed WHERE given IS NOT NULL
            AND NOT EXISTS (SELECT FROM aclexplode(acl) AS entry WHERE grantee = 0 AND privilege_type = given)
        UNION ALL
        SELECT kind, name, role, format('GRANT %s ON %s %s TO %s%s', string_agg(DISTINCT privilege_type || columns, ', '), kind, name, role,
            CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
        FROM named
        WHERE grantee <> owner AND privilege_type <> 'MAINTAIN' AND (grantee <> 0 OR given IS DISTINCT FROM privilege_type)
        GROUP BY kind, name, role, is_grantable) AS all_of_them
    ORDER BY kind, name, role, statement";

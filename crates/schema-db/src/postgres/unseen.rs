//! What the catalogue holds and [`super::export`] does not read: one query for all kinds.

use ::postgres::Client;

use super::{connect, export};
use crate::{DbError, Unseen};

/// Kind and name of each. What belongs to an extension comes with it, and what the server brought
/// has a number below 16384.
const QUERY: &str = "
    , ours_only AS (SELECT classid, objid FROM pg_depend WHERE deptype IN ('e', 'i'))
    , routine AS (SELECT p.*, format('%I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid)) AS full_name
        FROM pg_proc p JOIN ours n ON n.oid = pronamespace
        WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid)
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i'))
    , owned AS (
        SELECT 'table' AS kind, full_name AS name, relowner AS owner FROM relation WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
        UNION ALL SELECT 'function', full_name, proowner FROM routine
        UNION ALL SELECT 'schema', quote_ident(n.nspname), nspowner
            FROM ours JOIN pg_namespace n ON n.oid = ours.oid WHERE n.nspname <> 'public')
    , usual AS (SELECT owner FROM owned GROUP BY owner ORDER BY count(*) DESC, owner LIMIT 1)
    , found (kind, name, classid, objid) AS (
        SELECT 'base type', format('%I.%I', nspname, typname), 'pg_type'::regclass::oid, t.oid
            FROM pg_type t JOIN ours n ON n.oid = typnamespace
            WHERE (typtype = 'b' AND typelem = 0) OR (typtype = 'b' AND typelem <> 0 AND typarray <> 0)
        UNION ALL
        SELECT 'state of a rule', format('%I on %s', rulename, full_name), 'pg_rewrite'::regclass, w.oid
            FROM pg_rewrite w JOIN relation r ON r.oid = ev_class WHERE rulename <> '_RETURN' AND ev_enabled <> 'O'
        UNION ALL
        SELECT 'state of an event trigger', quote_ident(evtname), 'pg_event_trigger'::regclass, oid
            FROM pg_event_trigger WHERE evtenabled <> 'O'
        UNION ALL SELECT 'publication', quote_ident(pubname), 'pg_publication'::regclass, oid FROM pg_publication
        UNION ALL
        SELECT 'subscription', quote_ident(subname), 'pg_subscription'::regclass, s.oid
            FROM pg_subscription s JOIN pg_database b ON b.oid = subdbid WHERE datname = current_database()
        UNION ALL
        SELECT 'conversion', format('%I.%I', nspname, conname), 'pg_conversion'::regclass, c.oid
            FROM pg_conversion c JOIN ours n ON n.oid = connamespace
        UNION ALL
        SELECT 'operator class', format('%I.%I', nspname, opcname), 'pg_opclass'::regclass, c.oid
            FROM pg_opclass c JOIN ours n ON n.oid = opcnamespace
        UNION ALL
        SELECT 'operator family', format('%I.%I', nspname, opfname), 'pg_opfamily'::regclass, f.oid
            FROM pg_opfamily f JOIN ours n ON n.oid = opfnamespace
        UNION ALL SELECT 'language', quote_ident(lanname), 'pg_language'::regclass, oid FROM pg_language WHERE oid >= 16384
        UNION ALL SELECT 'access method', quote_ident(amname), 'pg_am'::regclass, oid FROM pg_am WHERE oid >= 16384
        UNION ALL SELECT 'transform', format_type(trftype, NULL), 'pg_transform'::regclass, oid FROM pg_transform WHERE oid >= 16384
        UNION ALL
        SELECT 'text search configuration', format('%I.%I', nspname, cfgname), 'pg_ts_config'::regclass, c.oid
            FROM pg_ts_config c JOIN ours n ON n.oid = cfgnamespace
        UNION ALL
        SELECT 'text search dictionary', format('%I.%I', nspname, dictname), 'pg_ts_dict'::regclass, d.oid
            FROM pg_ts_dict d JOIN ours n ON n.oid = dictnamespace
        UNION ALL
        SELECT 'text search parser', format('%I.%I', nspname, prsname), 'pg_ts_parser'::regclass, p.oid
            FROM pg_ts_parser p JOIN ours n ON n.oid = prsnamespace
        UNION ALL
        SELECT 'text search template', format('%I.%I', nspname, tmplname), 'pg_ts_template'::regclass, t.oid
            FROM pg_ts_template t JOIN ours n ON n.oid = tmplnamespace
        UNION ALL SELECT 'foreign table', full_name, 'pg_class'::regclass, oid FROM relation WHERE relkind = 'f'
        UNION ALL SELECT 'user mapping', format('%s on %I', usename, srvname), 0::oid, 0::oid FROM pg_user_mappings
        UNION ALL
        SELECT 'default privileges', format('of %I%s', pg_get_userbyid(defaclrole), coalesce(' in ' || quote_ident(nspname), '')),
                0::oid, 0::oid
            FROM pg_default_acl d LEFT JOIN pg_namespace n ON n.oid = defaclnamespace
        UNION ALL
        SELECT 'owner', format('%I of %s %s', pg_get_userbyid(owner), kind, name), 0::oid, 0::oid
            FROM owned WHERE owner <> (SELECT owner FROM usual)
        UNION ALL
        SELECT 'revoked privilege', format('EXECUTE on %s from PUBLIC', full_name), 0::oid, 0::oid
            FROM routine WHERE proacl IS NOT NULL
                AND NOT EXISTS (SELECT FROM aclexplode(proacl) AS a WHERE a.grantee = 0)
        UNION ALL
        SELECT 'privilege of PUBLIC', format('%s on %s', privilege_type, full_name), 0::oid, 0::oid
            FROM relation, aclexplode(relacl) AS acl WHERE grantee = 0
        UNION ALL
        SELECT 'security label', format('%s of %s %s', provider, objtype, objname), 0::oid, 0::oid FROM pg_seclabels
        UNION ALL
        SELECT 'invalid index', r.full_name, 0::oid, 0::oid
            FROM pg_index i JOIN relation r ON r.oid = indexrelid WHERE NOT indisvalid
        UNION ALL
        SELECT 'CLUSTER ON', r.full_name, 0::oid, 0::oid
            FROM pg_index i JOIN relation r ON r.oid = indexrelid WHERE indisclustered
        UNION ALL SELECT 'replica identity', full_name, 0::oid, 0::oid
            FROM relation WHERE relkind IN ('r', 'p') AND relreplident NOT IN ('d', 'n')
        UNION ALL
        SELECT 'statistics target of an inherited column', format('%s.%I', full_name, attname), 0::oid, 0::oid
            FROM relation r JOIN pg_attribute ON attrelid = r.oid
            WHERE NOT attislocal AND NOT relispartition AND attnum > 0 AND coalesce(attstattarget, -1) >= 0
        UNION ALL
        SELECT 'tablespace', format('%I of %s', spcname, full_name), 0::oid, 0::oid
            FROM relation r JOIN pg_tablespace s ON s.oid = reltablespace)
    SELECT kind, name FROM found
    WHERE NOT EXISTS (SELECT FROM ours_only e WHERE e.classid = found.classid AND e.objid = found.objid)
    ORDER BY kind, name";

/// Queries all kinds in one snapshot.
pub(super) fn unseen(client: &mut Client) -> Result<Vec<Unseen>, DbError> {
    let failed = |error| connect::failed(&error, Some("the list of what is not compared"));
    client.batch_execute(export::BEGIN).map_err(failed)?;
    let rows = client.query(&format!("{}{QUERY}", export::OURS), &[]);
    client.batch_execute("ROLLBACK").map_err(failed)?;
    let one = |row: &::postgres::Row| Unseen {
        kind: row.get(0),
        name: row.get(1),
    };
    Ok(rows.map_err(failed)?.iter().map(one).collect())
}

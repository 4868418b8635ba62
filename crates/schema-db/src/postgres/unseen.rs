//! What the catalogue holds and [`super::export`] does not read: one query for all kinds.

use ::postgres::Client;

use super::{connect, export};
use crate::{DbError, Unseen};

/// Kind and name of each. What belongs to an extension comes with it, and what the server brought
/// has a number below 16384.
const QUERY: &str = concat!(
    export::objects!(),
    "
    , ours_only AS (SELECT classid, objid FROM pg_depend WHERE deptype IN ('e', 'i'))
    , found (kind, name, classid, objid) AS (
        SELECT 'announced type', format('%I.%I', nspname, typname), 'pg_type'::regclass::oid, t.oid
            FROM pg_type t JOIN ours n ON n.oid = typnamespace WHERE typtype = 'p'
        UNION ALL
        SELECT 'subscription', quote_ident(subname), 'pg_subscription'::regclass, s.oid
            FROM pg_subscription s JOIN pg_database b ON b.oid = subdbid
            WHERE datname = current_database() AND NOT has_column_privilege('pg_subscription', 'subconninfo', 'SELECT')
        UNION ALL
        SELECT 'enabled subscription', quote_ident(subname), 'pg_subscription'::regclass, s.oid
            FROM pg_subscription s JOIN pg_database b ON b.oid = subdbid WHERE datname = current_database() AND subenabled
        UNION ALL
        SELECT 'options of a user mapping', format('%s on %I', usename, srvname), 0::oid, 0::oid
            FROM pg_user_mappings WHERE umoptions IS NULL AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
        UNION ALL
        SELECT 'password of a user mapping', format('%s on %I', usename, srvname), 0::oid, 0::oid
            FROM pg_user_mappings, pg_options_to_table(umoptions) WHERE option_name ~* 'passw|secret|token'
        UNION ALL
        SELECT 'privilege of an owner', format('%s on %s %s', privileges, lower(kind), name), 0::oid, 0::oid
            FROM taken WHERE NOT is_made
        UNION ALL
        SELECT 'invalid index', r.full_name, 0::oid, 0::oid
            FROM pg_index i JOIN relation r ON r.oid = indexrelid WHERE NOT indisvalid
        UNION ALL SELECT 'replica identity', full_name, 0::oid, 0::oid
            FROM relation WHERE relkind IN ('r', 'p') AND relreplident NOT IN ('d', 'n')
        UNION ALL
        SELECT 'tablespace', format('%I of %s', spcname, full_name), 0::oid, 0::oid
            FROM relation r JOIN pg_tablespace s ON s.oid = reltablespace
            WHERE spcname = 'pg_default' OR (relispartition AND relkind IN ('i', 'I')))
    SELECT kind, name FROM found
    WHERE NOT EXISTS (SELECT FROM ours_only e WHERE e.classid = found.classid AND e.objid = found.objid)
    ORDER BY kind, name"
);

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

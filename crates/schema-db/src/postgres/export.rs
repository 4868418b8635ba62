//! The catalogue as SQL, in a fixed number of queries within one snapshot.
//!
//! The server writes the statements itself (`pg_get_…def`), with an empty search path so that every
//! name carries its schema. What belongs to an extension is left out, and so is what comes with
//! something else: the parts of a partitioned table's keys and indexes, the sequence of an identity
//! column.

#[macro_use]
mod items;
mod foreign;
mod kept;
mod privileges;

pub(super) use privileges::objects;

use ::postgres::{Client, Statement};

use schema::Server;

use super::connect;
use crate::DbError;

/// Starts a snapshot with qualified names, and without unsuitable plans: the server has no size
/// estimate for a `WITH`, and would join by nested loops, or compile a query executed once, or
/// start processes for it.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ''; \
    SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_nestloop = off";

/// Begins every statement list: which schemas are ours, and what belongs to extensions.
pub(super) const OURS: &str = "
    WITH ours AS (SELECT oid, nspname FROM pg_namespace n
            WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
                AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_namespace'::regclass
                    AND d.objid = n.oid AND d.deptype = 'e')),
        foreign_to_us AS (SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'),
        relation AS (SELECT c.*, quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS full_name FROM pg_class c
            JOIN ours n ON n.oid = c.relnamespace
            WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid)
                AND c.relpersistence <> 't')
";

/// In an order in which an empty server takes the statements.
const QUERIES: [&str; 30] = [
    SCHEMAS,
    EXTENSIONS,
    kept::FIRST,
    kept::EARLY,
    TYPES,
    kept::TYPES,
    SEQUENCES,
    FUNCTIONS,
    kept::CALLS,
    kept::METHODS,
    TABLES,
    foreign::TABLES,
    foreign::COLUMNS,
    PARTS,
    INDEXES,
    VIEWS,
    FOREIGN_KEYS,
    TRIGGERS,
    SECURITY,
    kept::LATE,
    kept::SETTINGS,
    kept::PUBLICATIONS,
    kept::PUBLISHED,
    kept::SUBSCRIPTIONS,
    DETAILS,
    COMMENTS,
    kept::COMMENTS,
    privileges::OWNERS,
    privileges::PRIVILEGES,
    privileges::DEFAULTS,
];

const SCHEMAS: &str = "
    SELECT format('CREATE SCHEMA %I', nspname) FROM ours WHERE nspname <> 'public' ORDER BY nspname";

const EXTENSIONS: &str = "
    SELECT format('CREATE EXTENSION %I WITH SCHEMA %I', extname, nspname)
    FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname <> 'plpgsql' ORDER BY pg_extension.oid";

const TYPES: &str = "
    SELECT CASE typtype
        WHEN 'e' THEN format('CREATE TYPE %I.%I AS ENUM (%s)', nspname, typname,
            (SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid))
        ELSE format('CREATE DOMAIN %I.%I AS %s', nspname, typname, format_type(typbasetype, typtypmod))
            || CASE WHEN typcollation NOT IN (0, (SELECT b.typcollation FROM pg_type b WHERE b.oid = t.typbasetype))
                THEN (SELECT format(' COLLATE %I.%I', cn.nspname, collname) FROM pg_collation c
                    JOIN pg_namespace cn ON cn.oid = collnamespace WHERE c.oid = t.typcollation) ELSE '' END
            || coalesce(' DEFAULT ' || pg_get_expr(typdefaultbin, 0), '')
            || CASE WHEN typnotnull THEN ' NOT NULL' ELSE '' END
            || coalesce((SELECT string_agg(format(' CONSTRAINT %I %s', conname, pg_get_constraintdef(k.oid)), '' ORDER BY conname)
                FROM pg_constraint k WHERE contypid = t.oid AND contype = 'c'), '')
            || CASE WHEN typdefaultbin IS NULL AND EXISTS (SELECT FROM pg_type b
                    WHERE b.oid = t.typbasetype AND b.typtype = 'd' AND b.typdefaultbin IS NOT NULL)
                THEN format(E';\\nALTER DOMAIN %I.%I DROP DEFAULT', nspname, typname) ELSE '' END
        END
    FROM pg_type t JOIN ours n ON n.oid = typnamespace
    WHERE typtype IN ('e', 'd')
        AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_type'::regclass AND e.objid = t.oid)
    ORDER BY t.oid";

const SEQUENCES: &str = "
    SELECT format('CREATE %sSEQUENCE %s AS %s START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s',
        CASE relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END,
        full_name, format_type(seqtypid, NULL), seqstart, seqincrement, seqmin, seqmax, seqcache,
        CASE WHEN seqcycle THEN ' CYCLE' ELSE '' END)
    FROM relation r JOIN pg_sequence s ON s.seqrelid = r.oid
    WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = r.oid AND d.deptype = 'i')
    ORDER BY r.oid";

const FUNCTIONS: &str = "
    SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN ours n ON n.oid = pronamespace
    WHERE prokind IN ('f', 'w', 'p')
        AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid)
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i')
    ORDER BY p.oid";

const TABLES: &str = concat!(
    items!("'r', 'p'"),
    "    SELECT format(E'CREATE %sTABLE %s (%s)', CASE relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END, full_name,
            coalesce(E'\\n    ' || string_agg(item.text, E',\\n    ' ORDER BY kind, number, rank) || E'\\n', ''))
        || coalesce(' INHERITS (' || (SELECT string_agg(format('%I.%I', pn.nspname, p.relname), ', ' ORDER BY inhseqno)
            FROM pg_inherits JOIN pg_class p ON p.oid = inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace
            WHERE inhrelid = r.oid AND NOT r.relispartition) || ')', '')
        || CASE WHEN relkind = 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(r.oid) ELSE '' END
        || coalesce((SELECT ' USING ' || quote_ident(amname) FROM pg_am WHERE pg_am.oid = relam AND amname <> 'heap'), '')
        || coalesce(' WITH (' || array_to_string(r.reloptions || (SELECT array_agg('toast.' || option) FROM pg_class o, unnest(o.reloptions) AS option
            WHERE o.oid = r.reltoastrelid), ', ') || ')', '')
    FROM relation r LEFT JOIN item ON item.relid = r.oid
    WHERE relkind IN ('r', 'p')
    GROUP BY r.oid, full_name, relpersistence, relkind, relam, reloptions, reltoastrelid, relispartition
    ORDER BY r.oid"
);

/// What is said of tables after all are there.
const PARTS: &str = "
    SELECT format('ALTER TABLE ONLY %s ATTACH PARTITION %s %s', p.full_name, r.full_name, pg_get_expr(r.relpartbound, r.oid))
    FROM relation r JOIN pg_inherits ON inhrelid = r.oid JOIN relation p ON p.oid = inhparent
    WHERE r.relispartition AND r.relkind IN ('r', 'p', 'f')
    UNION ALL
    SELECT format('ALTER SEQUENCE %s OWNED BY %s.%I', s.full_name, t.full_name, attname)
    FROM pg_depend d JOIN relation s ON s.oid = objid AND s.relkind = 'S' JOIN relation t ON t.oid = refobjid
    JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
    WHERE d.classid = 'pg_class'::regclass AND refobjsubid > 0 AND deptype = 'a'";

/// Query for index definitions without `ON ONLY`, so the one of a partitioned table includes the
/// partitions' indexes.
const INDEXES: &str = "
    SELECT CASE r.relkind WHEN 'I' THEN regexp_replace(pg_get_indexdef(i.indexrelid), '^(CREATE (UNIQUE )?INDEX .*?) ON ONLY ', '\\1 ON ')
        ELSE pg_get_indexdef(i.indexrelid) END
    FROM pg_index i JOIN relation r ON r.oid = indexrelid JOIN relation t ON t.oid = indrelid
    WHERE t.relkind IN ('r', 'p') AND NOT r.relispartition AND i.indisvalid
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
    ORDER BY indexrelid";

const VIEWS: &str = "
    SELECT statement FROM (
        SELECT r.oid, 0 AS part, format('CREATE %sVIEW %s%s AS%s', CASE relkind WHEN 'm' THEN 'MATERIALIZED ' ELSE '' END,
            full_name, coalesce(' WITH (' || array_to_string(reloptions, ', ') || ')', ''),
            E'\\n' || rtrim(pg_get_viewdef(r.oid), ';') || CASE WHEN relkind = 'm' AND NOT relispopulated
                THEN E'\\n WITH NO DATA' ELSE '' END) AS statement
        FROM relation r WHERE relkind IN ('v', 'm')
        UNION ALL
        SELECT indrelid, 1, pg_get_indexdef(i.indexrelid)
        FROM pg_index i JOIN relation t ON t.oid = indrelid WHERE t.relkind = 'm') AS all_of_them
    ORDER BY oid, part";

const FOREIGN_KEYS: &str = "
    SELECT format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s', full_name, conname, pg_get_constraintdef(k.oid))
    FROM pg_constraint k JOIN relation r ON r.oid = conrelid
    WHERE contype = 'f' AND conislocal AND conparentid = 0 ORDER BY r.oid, conname";

const TRIGGERS: &str = "
    SELECT statement FROM (
        SELECT 0 AS part, r.oid, pg_get_triggerdef(t.oid) AS statement FROM pg_trigger t JOIN relation r ON r.oid = tgrelid
        WHERE NOT tgisinternal AND tgparentid = 0
        UNION ALL
        SELECT 1, r.oid, format('ALTER TABLE %s %s TRIGGER %I', full_name,
            CASE tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE REPLICA' END, tgname)
        FROM pg_trigger t JOIN relation r ON r.oid = tgrelid
        WHERE NOT tgisinternal AND tgparentid = 0 AND tgenabled <> 'O' AND r.relkind IN ('r', 'p', 'f')) AS all_of_them
    ORDER BY part, oid, statement";

const SECURITY: &str = "
    SELECT format('ALTER TABLE %s %s ROW LEVEL SECURITY', full_name, word)
    FROM relation, LATERAL (VALUES ('ENABLE', relrowsecurity), ('FORCE', relforcerowsecurity)) AS v (word, is_on)
    WHERE is_on AND relkind IN ('r', 'p')
    UNION ALL
    SELECT format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', polname, full_name,
            CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
            CASE polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
            (SELECT string_agg(CASE role WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(role)) END, ', ')
                FROM unnest(polroles) AS role))
        || coalesce(' USING (' || pg_get_expr(polqual, polrelid) || ')', '')
        || coalesce(' WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')', '')
    FROM pg_policy p JOIN relation r ON r.oid = polrelid";

const DETAILS: &str = "
    SELECT format('ALTER TABLE ONLY %s ALTER COLUMN %I SET %s', full_name, attname, what)
    FROM relation r JOIN pg_attribute a ON attrelid = r.oid JOIN pg_type t ON t.oid = atttypid,
    LATERAL (VALUES
        (CASE WHEN attstorage <> typstorage OR (NOT attislocal AND NOT relispartition AND EXISTS (SELECT FROM pg_inherits
                JOIN pg_attribute p ON p.attrelid = inhparent WHERE inhrelid = r.oid AND p.attname = a.attname AND p.attstorage <> a.attstorage))
            THEN 'STORAGE ' || CASE attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL'
            WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END END),
        (CASE attcompression WHEN 'p' THEN 'COMPRESSION pglz' WHEN 'l' THEN 'COMPRESSION lz4' END),
        (CASE WHEN attstattarget >= 0 THEN 'STATISTICS ' || attstattarget END)) AS v (what)
    WHERE attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p') AND what IS NOT NULL
        AND (attstorage <> typstorage OR NOT attislocal OR attcompression <> '' OR attstattarget >= 0)
    UNION ALL
    SELECT format('ALTER TABLE ONLY %s REPLICA IDENTITY %s', full_name,
        CASE relreplident WHEN 'n' THEN 'NOTHING' WHEN 'f' THEN 'FULL' ELSE
            (SELECT format('USING INDEX %I', i.relname) FROM pg_index JOIN pg_class i ON i.oid = indexrelid
            WHERE indrelid = r.oid AND indisreplident) END)
    FROM relation r WHERE relkind IN ('r', 'p') AND relreplident NOT IN ('d')
    UNION ALL
    SELECT format('ALTER %s %s OWNER TO %I', CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
        WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, full_name, pg_get_userbyid(relowner))
    FROM relation r WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND pg_get_userbyid(relowner) <> current_user
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = r.oid
            AND d.deptype IN ('i', 'a') AND relkind = 'S')
    ORDER BY 1";

const COMMENTS: &str = "
    SELECT format('COMMENT ON %s IS %L', target, description) FROM (
        SELECT CASE WHEN objsubid > 0 THEN format('COLUMN %s.%I', full_name, attname) ELSE
            CASE relkind WHEN 'v' THEN 'VIEW ' WHEN 'm' THEN 'MATERIALIZED VIEW ' WHEN 'S' THEN 'SEQUENCE '
                WHEN 'i' THEN 'INDEX ' WHEN 'I' THEN 'INDEX ' ELSE 'TABLE ' END || full_name END AS target, description, r.oid, objsubid
        FROM pg_description d JOIN relation r ON r.oid = objoid AND d.classoid = 'pg_class'::regclass
        LEFT JOIN pg_attribute ON attrelid = objoid AND attnum = objsubid AND objsubid > 0
        WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'i', 'I')
        UNION ALL
        SELECT format('CONSTRAINT %I ON %s', conname, full_name), description, 0, 0
        FROM pg_description d JOIN pg_constraint k ON k.oid = objoid AND d.classoid = 'pg_constraint'::regclass
        JOIN relation r ON r.oid = conrelid
        UNION ALL
        SELECT format('CONSTRAINT %I ON DOMAIN %I.%I', conname, nspname, typname), description, 0, 0
        FROM pg_description d JOIN pg_constraint k ON k.oid = objoid AND d.classoid = 'pg_constraint'::regclass
        JOIN pg_type t ON t.oid = contypid JOIN ours n ON n.oid = typnamespace
        WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_type'::regclass AND e.objid = t.oid)
        UNION ALL
        SELECT format('TRIGGER %I ON %s', tgname, full_name), description, 0, 0
        FROM pg_description d JOIN pg_trigger t ON t.oid = objoid AND d.classoid = 'pg_trigger'::regclass
        JOIN relation r ON r.oid = tgrelid
        UNION ALL
        SELECT format('POLICY %I ON %s', polname, full_name), description, 0, 0
        FROM pg_description d JOIN pg_policy p ON p.oid = objoid AND d.classoid = 'pg_policy'::regclass
        JOIN relation r ON r.oid = polrelid
        UNION ALL
        SELECT format('%s %I.%I', CASE typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END, nspname, typname), description, 0, 0
        FROM pg_description d JOIN pg_type t ON t.oid = objoid AND d.classoid = 'pg_type'::regclass
        JOIN ours n ON n.oid = typnamespace WHERE typtype IN ('d', 'e')
            AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_type'::regclass AND e.objid = t.oid)
        UNION ALL
        SELECT format('%s %I.%I(%s)', CASE prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, nspname, proname,
            pg_get_function_identity_arguments(p.oid)), description, 0, 0
        FROM pg_description d JOIN pg_proc p ON p.oid = objoid AND d.classoid = 'pg_proc'::regclass
        JOIN ours n ON n.oid = pronamespace WHERE prokind IN ('f', 'w', 'p')
            AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid)
        UNION ALL
        SELECT format('SCHEMA %I', nspname), description, 0, 0
        FROM pg_description d JOIN ours n ON n.oid = objoid AND d.classoid = 'pg_namespace'::regclass WHERE nspname <> 'public'
    ) AS commented ORDER BY oid, objsubid, target";

/// Whether the user may read how publishers are reached.
const READS_CONNECTIONS: &str =
    "SELECT has_column_privilege('pg_subscription', 'subconninfo', 'SELECT')";

/// Reads everything in one snapshot. The queries are prepared once for each connection, since
/// planning them takes longer than answering them where there is little to read.
pub(super) fn export(
    client: &mut Client,
    prepared: &mut Vec<Statement>,
    server: &Server,
) -> Result<String, DbError> {
    client
        .batch_execute(BEGIN)
        .map_err(|error| connect::failed(&error, Some(BEGIN)))?;
    let text = statements(client, prepared, server);
    let end = client
        .batch_execute("ROLLBACK")
        .map_err(|error| connect::failed(&error, Some("ROLLBACK")));
    let text = text?;
    end.map(|()| text)
}

/// The queries for a server, as far as the user may ask them.
fn queries(client: &mut Client, server: &Server) -> Result<Vec<&'static str>, DbError> {
    let failed = |error| connect::failed(&error, Some(READS_CONNECTIONS));
    let row = client.query_one(READS_CONNECTIONS, &[]).map_err(failed)?;
    let reads_connections: bool = row.get(0);
    let is_old = server.version.is_some_and(|version| version.0 < 15);
    let queries = QUERIES.into_iter().map(|query| match query {
        kept::PUBLISHED if is_old => kept::PUBLISHED_14,
        query => query,
    });
    let is_allowed = |query: &&str| *query != kept::SUBSCRIPTIONS || reads_connections;
    Ok(queries.filter(is_allowed).collect())
}

fn statements(
    client: &mut Client,
    prepared: &mut Vec<Statement>,
    server: &Server,
) -> Result<String, DbError> {
    let mut text = String::new();
    for (at, query) in queries(client, server)?.into_iter().enumerate() {
        let failed = |error| connect::failed(&error, Some(query));
        if prepared.len() == at {
            let statement = client.prepare(&format!("{OURS}{query}")).map_err(failed)?;
            prepared.push(statement);
        }
        for row in client.query(&prepared[at], &[]).map_err(failed)? {
            if let Some(statement) = row.get::<_, Option<&str>>(0) {
                text.push_str(statement.trim_end());
                text.push_str(";\n");
            }
        }
    }
    Ok(text)
}

//! PostgreSQL's catalogue as lines, equal for equal databases; column positions are omitted.

use schema_db::Database;
use schema_db::postgres::Postgres;

const QUERIES: [&str; 43] = [
    "SELECT 'schema', nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'",
    "SELECT 'extension', extname FROM pg_extension",
    "SELECT 'relation', n.nspname, c.relname, c.relkind, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity, \
         c.reloptions, c.relispartition, pg_get_expr(c.relpartbound, c.oid), \
         CASE c.relkind WHEN 'p' THEN pg_get_partkeydef(c.oid) WHEN 'v' THEN pg_get_viewdef(c.oid) WHEN 'm' THEN pg_get_viewdef(c.oid) END \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace",
    "SELECT 'column', n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, \
         a.attgenerated, a.attstorage, a.attcompression, pg_get_expr(d.adbin, d.adrelid), a.attcollation::regcollation, \
         col_description(c.oid, a.attnum) \
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
     LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
     WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
    "SELECT 'constraint', n.nspname, conrelid::regclass, contypid::regtype, conname, contype, convalidated, condeferrable, \
         condeferred, pg_get_constraintdef(k.oid), obj_description(k.oid) \
     FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE contype <> 'n'",
    "SELECT 'index', n.nspname, pg_get_indexdef(i.indexrelid), obj_description(i.indexrelid) \
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace",
    "SELECT 'type', n.nspname, t.typname, t.typtype, format_type(t.typbasetype, t.typtypmod), t.typnotnull, t.typdefault, \
         obj_description(t.oid), (SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid) \
     FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.typtype IN ('e', 'd')",
    "SELECT 'function', n.nspname, pg_get_functiondef(p.oid), obj_description(p.oid) \
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.prokind IN ('f', 'p')",
    "SELECT 'aggregate', n.nspname, a.aggfnoid::regprocedure, aggtransfn, aggtranstype::regtype, agginitval, aggfinalfn \
     FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid JOIN pg_namespace n ON n.oid = p.pronamespace",
    "SELECT 'attribute', n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnum \
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind = 'c' AND NOT a.attisdropped",
    "SELECT 'rule', n.nspname, c.relname, pg_get_ruledef(r.oid), r.ev_enabled \
     FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class JOIN pg_namespace n ON n.oid = c.relnamespace WHERE r.rulename <> '_RETURN'",
    "SELECT 'statistics', n.nspname, pg_get_statisticsobjdef(s.oid) \
     FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace",
    "SELECT 'trigger', n.nspname, c.relname, pg_get_triggerdef(t.oid), t.tgenabled, obj_description(t.oid) \
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT t.tgisinternal",
    "SELECT 'policy', n.nspname, c.relname, polname, polcmd, polpermissive, \
         ARRAY(SELECT CASE role WHEN 0 THEN 'public' ELSE role::regrole::text END FROM unnest(polroles) AS role), \
         pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid) \
     FROM pg_policy p JOIN pg_class c ON c.oid = polrelid JOIN pg_namespace n ON n.oid = c.relnamespace",
    "SELECT 'sequence', n.nspname, schemaname, sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, \
         cache_size FROM pg_sequences JOIN pg_namespace n ON n.nspname = schemaname",
    "SELECT 'comment', n.nspname, c.relname, obj_description(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind <> 'i'",
    "SELECT 'range', n.nspname, t.typname, rngsubtype::regtype, rngsubdiff, obj_description(t.oid) \
     FROM pg_range r JOIN pg_type t ON t.oid = rngtypid JOIN pg_namespace n ON n.oid = t.typnamespace",
    "SELECT 'collation', n.nspname, collname, collprovider, collisdeterministic, collcollate, \
         coalesce(to_jsonb(l)->>'colllocale', to_jsonb(l)->>'colliculocale'), obj_description(l.oid) \
     FROM pg_collation l JOIN pg_namespace n ON n.oid = collnamespace",
    "SELECT 'operator', n.nspname, o.oid::regoperator, oprcode, oprcom::regoperator, oprrest \
     FROM pg_operator o JOIN pg_namespace n ON n.oid = oprnamespace",
    "SELECT 'operator class', n.nspname, opcname, opcintype::regtype, opcdefault, amname \
     FROM pg_opclass o JOIN pg_namespace n ON n.oid = opcnamespace JOIN pg_am a ON a.oid = opcmethod",
    "SELECT 'operator family', n.nspname, opfname FROM pg_opfamily o JOIN pg_namespace n ON n.oid = opfnamespace",
    "SELECT 'cast', castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext FROM pg_cast WHERE oid >= 16384",
    "SELECT 'dictionary', n.nspname, dictname, dicttemplate::regproc, dictinitoption \
     FROM pg_ts_dict d JOIN pg_namespace n ON n.oid = dictnamespace",
    "SELECT 'configuration', n.nspname, cfgname, maptokentype, mapseqno, mapdict::regdictionary \
     FROM pg_ts_config c JOIN pg_namespace n ON n.oid = cfgnamespace LEFT JOIN pg_ts_config_map m ON m.mapcfg = c.oid",
    "SELECT 'conversion', n.nspname, conname, conforencoding, contoencoding, condefault, obj_description(v.oid) \
     FROM pg_conversion v JOIN pg_namespace n ON n.oid = connamespace",
    "SELECT 'wrapper', fdwname, fdwoptions FROM pg_foreign_data_wrapper",
    "SELECT 'server', srvname, srvtype, srvversion, srvoptions FROM pg_foreign_server",
    "SELECT 'mapping', srvname, usename, umoptions FROM pg_user_mappings",
    "SELECT 'foreign table', n.nspname, c.relname, ftoptions \
     FROM pg_foreign_table f JOIN pg_class c ON c.oid = ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace",
    "SELECT 'publication', pubname, puballtables, pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot, \
         ARRAY(SELECT concat_ws('.', schemaname, tablename, ARRAY(SELECT unnest(attnames) ORDER BY 1), rowfilter) FROM pg_publication_tables t WHERE t.pubname = p.pubname \
             ORDER BY 1), \
         ARRAY(SELECT pnnspid::regnamespace FROM pg_publication_namespace s WHERE s.pnpubid = p.oid ORDER BY 1) \
     FROM pg_publication p",
    "SELECT 'event trigger', evtname, evtevent, evttags, evtenabled, evtfoid::regproc FROM pg_event_trigger",
    "SELECT 'parent', n.nspname, c.relname, inhparent::regclass, inhseqno \
     FROM pg_inherits i JOIN pg_class c ON c.oid = inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace",
    "SELECT 'access method', amname, amtype, amhandler FROM pg_am WHERE oid >= 16384",
    // Whether a column is the table's own too follows from its history, which no text has.
    "SELECT 'column option', n.nspname, c.relname, attname, attstattarget, attoptions, attfdwoptions, attinhcount \
     FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE attnum > 0 AND NOT attisdropped AND c.relkind IN ('r', 'p', 'f', 'v', 'm', 'i')",
    "SELECT 'storage', n.nspname, c.relname, relreplident, spcname, amname, reloftype::regtype \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace s ON s.oid = reltablespace \
     LEFT JOIN pg_am a ON a.oid = relam",
    "SELECT 'index state', n.nspname, c.relname, indisclustered, indisreplident, indisvalid \
     FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace",
    "SELECT 'owner', n.nspname, c.relname, relowner::regrole FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace",
    "SELECT 'function owner', n.nspname, p.oid::regprocedure, proowner::regrole FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace",
    "SELECT 'type owner', n.nspname, t.typname, typowner::regrole FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace",
    "SELECT 'privilege', n.nspname, c.relname, g.grantor::regrole, g.grantee::regrole, privilege_type, is_grantable \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, \
         aclexplode(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::\"char\", relowner))) AS g",
    "SELECT 'column privilege', n.nspname, c.relname, attname, g.grantor::regrole, g.grantee::regrole, privilege_type, is_grantable \
     FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(attacl) AS g \
     WHERE NOT attisdropped",
    "SELECT 'function privilege', n.nspname, p.oid::regprocedure, g.grantor::regrole, g.grantee::regrole, is_grantable \
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS g",
    "SELECT 'type privilege', n.nspname, t.typname, g.grantor::regrole, g.grantee::regrole, is_grantable \
     FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace, aclexplode(coalesce(typacl, acldefault('T', typowner))) AS g",
];

/// All lines, sorted.
pub(super) fn lines(database: &mut Postgres) -> Vec<String> {
    database.execute("SET search_path = ''").unwrap();
    let mut lines = Vec::new();
    for query in QUERIES {
        let ours = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";
        let sql = match query {
            query if !query.contains("n.nspname") => query.to_owned(),
            query if query.contains(" WHERE ") => format!("{query} AND {ours}"),
            query => format!("{query} WHERE {ours}"),
        };
        for row in database.query(&sql).unwrap() {
            let values = row.iter().map(|value| value.as_deref().unwrap_or("-"));
            lines.push(values.collect::<Vec<_>>().join(" | "));
        }
    }
    database.execute("RESET search_path").unwrap();
    lines.sort();
    lines
}

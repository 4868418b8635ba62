//! Objects compared by words, each as one statement in a fixed form per kind.

/// Collations. What the catalogue calls a locale depends on the
/// version.
pub(super) const EARLY: &str = "
    SELECT format('CREATE COLLATION %I.%I (%s)', nspname, collname, concat_ws(', ',
            'provider = ' || CASE collprovider WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END,
            CASE WHEN collprovider = 'c' AND collcollate <> collctype THEN format('lc_collate = %L, lc_ctype = %L', collcollate, collctype)
                ELSE format('locale = %L', coalesce(j ->> 'colllocale', j ->> 'colliculocale', collcollate)) END,
            CASE WHEN NOT collisdeterministic THEN 'deterministic = false' END,
            'rules = ' || quote_literal(j ->> 'collicurules')))
    FROM pg_collation c JOIN ours n ON n.oid = collnamespace, to_jsonb(c) AS j
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_collation'::regclass AND e.objid = c.oid)
    ORDER BY 1";

/// What others use without naming it, or only in strings: languages, access methods, foreign data
/// and text search. Passwords are in no export.
pub(super) const FIRST: &str = "
    , named AS (SELECT classid, objid FROM foreign_to_us)
    SELECT statement FROM (
        SELECT 0 AS step, lanname AS name, format('CREATE %sLANGUAGE %I HANDLER %s%s%s', CASE WHEN lanpltrusted THEN 'TRUSTED ' ELSE '' END,
            lanname, lanplcallfoid::regproc, CASE WHEN laninline <> 0 THEN format(' INLINE %s', laninline::regproc) ELSE '' END,
            CASE WHEN lanvalidator <> 0 THEN format(' VALIDATOR %s', lanvalidator::regproc) ELSE '' END) AS statement
        FROM pg_language l WHERE l.oid >= 16384
            AND NOT EXISTS (SELECT FROM named e WHERE e.classid = 'pg_language'::regclass AND e.objid = l.oid)
        UNION ALL
        SELECT 0, amname, format('CREATE ACCESS METHOD %I TYPE %s HANDLER %s', amname, CASE amtype WHEN 'i' THEN 'INDEX' ELSE 'TABLE' END,
            amhandler::regproc)
        FROM pg_am a WHERE a.oid >= 16384
            AND NOT EXISTS (SELECT FROM named e WHERE e.classid = 'pg_am'::regclass AND e.objid = a.oid)
        UNION ALL
        SELECT 1, fdwname, format('CREATE FOREIGN DATA WRAPPER %I%s%s%s', fdwname,
            CASE WHEN fdwhandler <> 0 THEN format(' HANDLER %s', fdwhandler::regproc) ELSE '' END,
            CASE WHEN fdwvalidator <> 0 THEN format(' VALIDATOR %s', fdwvalidator::regproc) ELSE '' END,
            coalesce((SELECT ' OPTIONS (' || string_agg(format('%I %L', option_name, option_value), ', ' ORDER BY option_name) || ')'
                FROM pg_options_to_table(fdwoptions)), ''))
        FROM pg_foreign_data_wrapper w
        WHERE NOT EXISTS (SELECT FROM named e WHERE e.classid = 'pg_foreign_data_wrapper'::regclass AND e.objid = w.oid)
        UNION ALL
        SELECT 2, srvname, format('CREATE SERVER %I%s%s FOREIGN DATA WRAPPER %I%s', srvname,
            coalesce(' TYPE ' || quote_literal(srvtype), ''), coalesce(' VERSION ' || quote_literal(srvversion), ''), fdwname,
            coalesce((SELECT ' OPTIONS (' || string_agg(format('%I %L', option_name, option_value), ', ' ORDER BY option_name) || ')'
                FROM pg_options_to_table(srvoptions)), ''))
        FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = srvfdw
        WHERE NOT EXISTS (SELECT FROM named e WHERE e.classid = 'pg_foreign_server'::regclass AND e.objid = s.oid)
        UNION ALL
        SELECT 3, format('%s %s', srvname, usename), format('CREATE USER MAPPING FOR %s SERVER %I%s',
            CASE WHEN umuser = 0 THEN 'PUBLIC' ELSE quote_ident(usename) END, srvname,
            coalesce((SELECT ' OPTIONS (' || string_agg(format('%I %L', option_name, option_value), ', ' ORDER BY option_name) || ')'
                FROM pg_options_to_table(umoptions) WHERE option_name !~* 'passw|secret|token'), ''))
        FROM pg_user_mappings
        UNION ALL
        SELECT 4, format('%I.%I', nspname, prsname), format('CREATE TEXT SEARCH PARSER %I.%I (%s)', nspname, prsname, concat_ws(', ',
            format('START = %s', prsstart::regproc), format('GETTOKEN = %s', prstoken::regproc), format('END = %s', prsend::regproc),
            CASE WHEN prsheadline <> 0 THEN format('HEADLINE = %s', prsheadline::regproc) END, format('LEXTYPES = %s', prslextype::regproc)))
        FROM pg_ts_parser p JOIN ours n ON n.oid = prsnamespace
        WHERE NOT EXISTS (SELECT FROM named e WHERE e.classid = 'pg_ts_parser'::regclass AND e.objid = p.oid)
        UNION ALL
        SELECT 5, format('%I.%I', nspname, tmplname), format('CREATE TEXT SEARCH TEMPLATE %I.%I (%s)', nspname, tmplname, concat_ws(', ',
            CASE WHEN tmplinit <> 0 THEN format('INIT = %s', tmplinit::regproc) END, format('LEXIZE = %s', tmpllexize::regproc)))
        FROM pg_ts_template t JOIN ours n ON n.oid = tmplnamespace
        WHERE NOT EXISTS (SELECT FROM named e WHERE e.classid = 'pg_ts_template'::regclass AND e.objid = t.oid)
        UNION ALL
        SELECT 6, format('%I.%I', n.nspname, dictname), format('CREATE TEXT SEARCH DICTIONARY %I.%I (%s)', n.nspname, dictname, concat_ws(', ',
            format('TEMPLATE = %I.%I', tn.nspname, tmplname), nullif(dictinitoption, '')))
        FROM pg_ts_dict d JOIN ours n ON n.oid = dictnamespace
        JOIN pg_ts_template t ON t.oid = dicttemplate JOIN pg_namespace tn ON tn.oid = tmplnamespace
        WHERE NOT EXISTS (SELECT FROM named e WHERE e.classid = 'pg_ts_dict'::regclass AND e.objid = d.oid)
        UNION ALL
        SELECT 7, format('%I.%I', n.nspname, cfgname), format('CREATE TEXT SEARCH CONFIGURATION %I.%I (PARSER = %I.%I)', n.nspname, cfgname,
            pn.nspname, prsname)
        FROM pg_ts_config c JOIN ours n ON n.oid = cfgnamespace
        JOIN pg_ts_parser p ON p.oid = cfgparser JOIN pg_namespace pn ON pn.oid = prsnamespace
        WHERE NOT EXISTS (SELECT FROM named e WHERE e.classid = 'pg_ts_config'::regclass AND e.objid = c.oid)
        UNION ALL
        SELECT 8, format('%I.%I %s', n.nspname, cfgname, alias), format('ALTER TEXT SEARCH CONFIGURATION %I.%I ADD MAPPING FOR %s WITH %s',
            n.nspname, cfgname, alias, string_agg(format('%I.%I', dn.nspname, dictname), ', ' ORDER BY mapseqno))
        FROM pg_ts_config c JOIN ours n ON n.oid = cfgnamespace JOIN pg_ts_config_map ON mapcfg = c.oid
        JOIN pg_ts_dict d ON d.oid = mapdict JOIN pg_namespace dn ON dn.oid = dictnamespace,
        LATERAL (SELECT alias FROM ts_token_type(cfgparser) WHERE tokid = maptokentype) AS token
        WHERE NOT EXISTS (SELECT FROM named e WHERE e.classid = 'pg_ts_config'::regclass AND e.objid = c.oid)
        GROUP BY n.nspname, cfgname, alias) AS all_of_them
    ORDER BY step, name";

/// Base types, composite types and ranges.
pub(super) const TYPES: &str = "
    SELECT format('CREATE TYPE %I.%I (%s)', nspname, typname, concat_ws(', ',
            'INTERNALLENGTH = ' || CASE typlen WHEN -1 THEN 'VARIABLE' ELSE typlen::text END,
            format('INPUT = %s, OUTPUT = %s', typinput::regproc, typoutput::regproc),
            CASE WHEN typreceive <> 0 THEN format('RECEIVE = %s', typreceive::regproc) END,
            CASE WHEN typsend <> 0 THEN format('SEND = %s', typsend::regproc) END,
            CASE WHEN typmodin <> 0 THEN format('TYPMOD_IN = %s', typmodin::regproc) END,
            CASE WHEN typmodout <> 0 THEN format('TYPMOD_OUT = %s', typmodout::regproc) END,
            CASE WHEN typanalyze <> 0 THEN format('ANALYZE = %s', typanalyze::regproc) END,
            CASE WHEN typsubscript <> 0 THEN format('SUBSCRIPT = %s', typsubscript::regproc) END,
            CASE WHEN typelem <> 0 THEN 'ELEMENT = ' || format_type(typelem, NULL) END,
            CASE WHEN typcollation <> 0 THEN 'COLLATABLE = true' END,
            'DEFAULT = ' || quote_literal(typdefault),
            CASE WHEN typcategory <> 'U' THEN 'CATEGORY = ' || quote_literal(typcategory::text) END,
            CASE WHEN typispreferred THEN 'PREFERRED = true' END,
            CASE WHEN typdelim <> ',' THEN 'DELIMITER = ' || quote_literal(typdelim::text) END,
            'ALIGNMENT = ' || CASE typalign WHEN 'c' THEN 'char' WHEN 's' THEN 'int2' WHEN 'i' THEN 'int4' ELSE 'double' END,
            'STORAGE = ' || CASE typstorage WHEN 'p' THEN 'plain' WHEN 'e' THEN 'external' WHEN 'x' THEN 'extended' ELSE 'main' END,
            CASE WHEN typbyval THEN 'PASSEDBYVALUE' END))
    FROM pg_type t JOIN ours n ON n.oid = typnamespace
    WHERE typtype = 'b' AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
        AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_type'::regclass AND e.objid = t.oid)
    UNION ALL
    SELECT format('CREATE TYPE %I.%I AS (%s)', nspname, typname,
        (SELECT coalesce(string_agg(format('%I %s%s', attname, format_type(atttypid, atttypmod),
                CASE WHEN attcollation <> 0 AND attcollation <> a.typcollation
                    THEN (SELECT format(' COLLATE %I.%I', cn.nspname, collname) FROM pg_collation o
                        JOIN pg_namespace cn ON cn.oid = collnamespace WHERE o.oid = attcollation) ELSE '' END), ', ' ORDER BY attnum), '')
            FROM pg_attribute JOIN pg_type a ON a.oid = atttypid
            WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped))
    FROM pg_type t JOIN ours n ON n.oid = typnamespace JOIN pg_class c ON c.oid = typrelid AND c.relkind = 'c'
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_type'::regclass AND e.objid = t.oid)
    UNION ALL
    SELECT format('CREATE TYPE %I.%I AS RANGE (%s)', n.nspname, t.typname, concat_ws(', ',
            'SUBTYPE = ' || format_type(rngsubtype, NULL),
            CASE WHEN NOT opcdefault THEN format('SUBTYPE_OPCLASS = %I.%I', cn.nspname, opcname) END,
            CASE WHEN rngcollation <> 0 AND rngcollation <> s.typcollation
                THEN (SELECT format('COLLATION = %I.%I', on_.nspname, collname) FROM pg_collation o
                    JOIN pg_namespace on_ ON on_.oid = collnamespace WHERE o.oid = rngcollation) END,
            CASE WHEN rngcanonical <> 0 THEN format('CANONICAL = %s', rngcanonical::regproc) END,
            CASE WHEN rngsubdiff <> 0 THEN format('SUBTYPE_DIFF = %s', rngsubdiff::regproc) END,
            format('MULTIRANGE_TYPE_NAME = %I.%I', mn.nspname, m.typname)))
    FROM pg_range JOIN pg_type t ON t.oid = rngtypid JOIN ours n ON n.oid = t.typnamespace
    JOIN pg_type s ON s.oid = rngsubtype JOIN pg_opclass o ON o.oid = rngsubopc JOIN pg_namespace cn ON cn.oid = opcnamespace
    JOIN pg_type m ON m.oid = rngmultitypid JOIN pg_namespace mn ON mn.oid = m.typnamespace
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_type'::regclass AND e.objid = t.oid)
    ORDER BY 1";

/// Aggregates, operators and casts.
pub(super) const CALLS: &str = "
    , called AS (SELECT classid, objid FROM pg_depend WHERE classid = 'pg_cast'::regclass AND deptype = 'i')
    SELECT format('CREATE AGGREGATE %I.%I(%s) (%s)', nspname, proname,
        CASE WHEN pronargs = 0 THEN '*' ELSE pg_get_function_identity_arguments(p.oid) END, concat_ws(', ',
            format('SFUNC = %s, STYPE = %s', aggtransfn::regproc, format_type(aggtranstype, NULL)),
            CASE WHEN aggtransspace > 0 THEN 'SSPACE = ' || aggtransspace END,
            CASE WHEN aggfinalfn <> 0 THEN format('FINALFUNC = %s', aggfinalfn::regproc) END,
            CASE WHEN aggfinalextra THEN 'FINALFUNC_EXTRA' END,
            CASE WHEN aggfinalfn <> 0 AND aggfinalmodify <> CASE aggkind WHEN 'n' THEN 'r' ELSE 'w' END THEN 'FINALFUNC_MODIFY = '
                || CASE aggfinalmodify WHEN 'r' THEN 'READ_ONLY' WHEN 's' THEN 'SHAREABLE' ELSE 'READ_WRITE' END END,
            CASE WHEN aggcombinefn <> 0 THEN format('COMBINEFUNC = %s', aggcombinefn::regproc) END,
            CASE WHEN aggserialfn <> 0 THEN format('SERIALFUNC = %s', aggserialfn::regproc) END,
            CASE WHEN aggdeserialfn <> 0 THEN format('DESERIALFUNC = %s', aggdeserialfn::regproc) END,
            'INITCOND = ' || quote_literal(agginitval),
            CASE WHEN aggmtransfn <> 0 THEN format('MSFUNC = %s, MINVFUNC = %s, MSTYPE = %s', aggmtransfn::regproc, aggminvtransfn::regproc,
                format_type(aggmtranstype, NULL)) END,
            CASE WHEN aggmtransspace > 0 THEN 'MSSPACE = ' || aggmtransspace END,
            CASE WHEN aggmfinalfn <> 0 THEN format('MFINALFUNC = %s', aggmfinalfn::regproc) END,
            CASE WHEN aggmfinalextra THEN 'MFINALFUNC_EXTRA' END,
            'MINITCOND = ' || quote_literal(aggminitval),
            CASE WHEN aggsortop <> 0 THEN (SELECT format('SORTOP = OPERATOR(%I.%s)', on_.nspname, oprname) FROM pg_operator o
                JOIN pg_namespace on_ ON on_.oid = oprnamespace WHERE o.oid = aggsortop) END,
            CASE proparallel WHEN 's' THEN 'PARALLEL = SAFE' WHEN 'r' THEN 'PARALLEL = RESTRICTED' END,
            CASE WHEN aggkind = 'h' THEN 'HYPOTHETICAL' END))
    FROM pg_aggregate a JOIN pg_proc p ON p.oid = aggfnoid JOIN ours n ON n.oid = pronamespace
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid)
    UNION ALL
    SELECT format('CREATE OPERATOR %I.%s (%s)', nspname, oprname, concat_ws(', ',
            format('FUNCTION = %s', oprcode::regproc),
            CASE WHEN oprleft <> 0 THEN 'LEFTARG = ' || format_type(oprleft, NULL) END,
            CASE WHEN oprright <> 0 THEN 'RIGHTARG = ' || format_type(oprright, NULL) END,
            (SELECT format('COMMUTATOR = OPERATOR(%I.%s)', cn.nspname, c.oprname) FROM pg_operator c
                JOIN pg_namespace cn ON cn.oid = c.oprnamespace WHERE c.oid = o.oprcom),
            (SELECT format('NEGATOR = OPERATOR(%I.%s)', cn.nspname, c.oprname) FROM pg_operator c
                JOIN pg_namespace cn ON cn.oid = c.oprnamespace WHERE c.oid = o.oprnegate),
            CASE WHEN oprrest <> 0 THEN format('RESTRICT = %s', oprrest::regproc) END,
            CASE WHEN oprjoin <> 0 THEN format('JOIN = %s', oprjoin::regproc) END,
            CASE WHEN oprcanhash THEN 'HASHES' END,
            CASE WHEN oprcanmerge THEN 'MERGES' END))
    FROM pg_operator o JOIN ours n ON n.oid = oprnamespace
    WHERE oprcode <> 0 AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_operator'::regclass AND e.objid = o.oid)
    UNION ALL
    SELECT format('CREATE CAST (%s AS %s) %s%s', format_type(castsource, NULL), format_type(casttarget, NULL),
        CASE castmethod WHEN 'f' THEN format('WITH FUNCTION %s', castfunc::regprocedure) WHEN 'i' THEN 'WITH INOUT' ELSE 'WITHOUT FUNCTION' END,
        CASE castcontext WHEN 'i' THEN ' AS IMPLICIT' WHEN 'a' THEN ' AS ASSIGNMENT' ELSE '' END)
    FROM pg_cast c
    WHERE c.oid >= 16384
        AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_cast'::regclass AND e.objid = c.oid)
        AND NOT EXISTS (SELECT FROM called e WHERE e.classid = 'pg_cast'::regclass AND e.objid = c.oid)
    ORDER BY 1";

/// Families and classes of operators, conversions and transforms. A member belongs to a class if
/// the server says so, else to the family.
pub(super) const METHODS: &str = "
    , member AS (
        SELECT refclassid, refobjid, 0 AS kind, amopstrategy AS number, format('OPERATOR %s %s%s (%s, %s)%s', amopstrategy,
            CASE nspname WHEN 'pg_catalog' THEN '' ELSE quote_ident(nspname) || '.' END, oprname,
            format_type(amoplefttype, NULL), format_type(amoprighttype, NULL),
            coalesce((SELECT format(' FOR ORDER BY %I.%I', sn.nspname, opfname) FROM pg_opfamily f
                JOIN pg_namespace sn ON sn.oid = opfnamespace WHERE f.oid = amopsortfamily), '')) AS item
        FROM pg_amop m JOIN pg_operator o ON o.oid = amopopr JOIN pg_namespace n ON n.oid = oprnamespace
        JOIN pg_depend d ON d.classid = 'pg_amop'::regclass AND d.objid = m.oid
            AND refclassid IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass)
        UNION ALL
        SELECT refclassid, refobjid, 1, amprocnum, format('FUNCTION %s (%s, %s) %s', amprocnum, format_type(amproclefttype, NULL),
            format_type(amprocrighttype, NULL), amproc::regprocedure)
        FROM pg_amproc m JOIN pg_depend d ON d.classid = 'pg_amproc'::regclass AND d.objid = m.oid
            AND refclassid IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass))
    SELECT statement FROM (
        SELECT 0 AS step, format('CREATE OPERATOR FAMILY %I.%I USING %I', nspname, opfname, amname) AS statement
        FROM pg_opfamily f JOIN ours n ON n.oid = opfnamespace JOIN pg_am m ON m.oid = opfmethod
        WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_opfamily'::regclass AND e.objid = f.oid)
        UNION ALL
        SELECT 1, format('CREATE OPERATOR CLASS %I.%I%s FOR TYPE %s USING %I FAMILY %I.%I AS %s', n.nspname, opcname,
            CASE WHEN opcdefault THEN ' DEFAULT' ELSE '' END, format_type(opcintype, NULL), amname, fn.nspname, opfname,
            coalesce(concat_ws(', ', CASE WHEN opckeytype <> 0 THEN 'STORAGE ' || format_type(opckeytype, NULL) END,
                (SELECT string_agg(item, ', ' ORDER BY kind, number, item) FROM member
                    WHERE refclassid = 'pg_opclass'::regclass AND refobjid = c.oid)), 'STORAGE ' || format_type(opcintype, NULL)))
        FROM pg_opclass c JOIN ours n ON n.oid = opcnamespace JOIN pg_am m ON m.oid = opcmethod
        JOIN pg_opfamily f ON f.oid = opcfamily JOIN pg_namespace fn ON fn.oid = opfnamespace
        WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_opclass'::regclass AND e.objid = c.oid)
        UNION ALL
        SELECT 2, format('ALTER OPERATOR FAMILY %I.%I USING %I ADD %s', nspname, opfname, amname, item)
        FROM pg_opfamily f JOIN ours n ON n.oid = opfnamespace JOIN pg_am m ON m.oid = opfmethod
        JOIN member ON refclassid = 'pg_opfamily'::regclass AND refobjid = f.oid
        WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_opfamily'::regclass AND e.objid = f.oid)
        UNION ALL
        SELECT 3, format('CREATE %sCONVERSION %I.%I FOR %L TO %L FROM %s', CASE WHEN condefault THEN 'DEFAULT ' ELSE '' END, nspname, conname,
            pg_encoding_to_char(conforencoding), pg_encoding_to_char(contoencoding), conproc::regproc)
        FROM pg_conversion c JOIN ours n ON n.oid = connamespace
        WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_conversion'::regclass AND e.objid = c.oid)
        UNION ALL
        SELECT 4, format('CREATE TRANSFORM FOR %s LANGUAGE %I (%s)', format_type(trftype, NULL), lanname, concat_ws(', ',
            CASE WHEN trffromsql <> 0 THEN format('FROM SQL WITH FUNCTION %s', trffromsql::regprocedure) END,
            CASE WHEN trftosql <> 0 THEN format('TO SQL WITH FUNCTION %s', trftosql::regprocedure) END))
        FROM pg_transform t JOIN pg_language l ON l.oid = trflang
        WHERE t.oid >= 16384
            AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_transform'::regclass AND e.objid = t.oid)) AS all_of_them
    ORDER BY step, statement";

/// Rules, statistics and event triggers.
pub(super) const LATE: &str = "
    SELECT rtrim(pg_get_ruledef(w.oid), ';') FROM pg_rewrite w JOIN relation r ON r.oid = ev_class WHERE rulename <> '_RETURN'
    UNION ALL
    SELECT pg_get_statisticsobjdef(s.oid) FROM pg_statistic_ext s JOIN ours n ON n.oid = stxnamespace
    UNION ALL
    SELECT format('CREATE EVENT TRIGGER %I ON %s%s EXECUTE FUNCTION %s()', evtname, evtevent,
        coalesce((SELECT E'\\n WHEN TAG IN (' || string_agg(quote_literal(tag), ', ' ORDER BY tag) || ')' FROM unnest(evttags) AS tag), ''),
        evtfoid::regproc)
    FROM pg_event_trigger t
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_event_trigger'::regclass AND e.objid = t.oid)
    ORDER BY 1";

/// States and settings of what is there.
pub(super) const SETTINGS: &str = "
    SELECT format('ALTER TABLE %s %s RULE %I', full_name,
        CASE ev_enabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE REPLICA' END, rulename)
    FROM pg_rewrite JOIN relation r ON r.oid = ev_class WHERE rulename <> '_RETURN' AND ev_enabled <> 'O'
    UNION ALL
    SELECT format('ALTER EVENT TRIGGER %I %s', evtname,
        CASE evtenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE REPLICA' END)
    FROM pg_event_trigger t WHERE evtenabled <> 'O'
        AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_event_trigger'::regclass AND e.objid = t.oid)
    UNION ALL
    SELECT format('ALTER TABLE %s OF %I.%I', full_name, nspname, typname)
    FROM relation r JOIN pg_type t ON t.oid = reloftype JOIN pg_namespace n ON n.oid = typnamespace WHERE reloftype <> 0
    UNION ALL
    SELECT format('ALTER STATISTICS %I.%I SET STATISTICS %s', nspname, stxname, stxstattarget)
    FROM pg_statistic_ext s JOIN ours n ON n.oid = stxnamespace WHERE coalesce(stxstattarget, -1) >= 0
    UNION ALL
    SELECT format('ALTER TABLE %s CLUSTER ON %I', t.full_name, r.relname)
    FROM pg_index JOIN relation r ON r.oid = indexrelid JOIN relation t ON t.oid = indrelid WHERE indisclustered
    UNION ALL
    SELECT format('ALTER %s %s SET TABLESPACE %I', CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'TABLE'
        ELSE 'INDEX' END, full_name, spcname)
    FROM relation r JOIN pg_tablespace s ON s.oid = reltablespace
    WHERE relkind IN ('r', 'p', 'm', 'i', 'I') AND spcname <> 'pg_default' AND NOT (relispartition AND relkind IN ('i', 'I'))
    UNION ALL
    SELECT format('ALTER %s %s ALTER COLUMN %s SET %s', CASE WHEN relkind IN ('i', 'I') THEN 'INDEX' ELSE 'TABLE ONLY' END, full_name,
        CASE WHEN relkind IN ('i', 'I') THEN attnum::text ELSE quote_ident(attname) END, what)
    FROM relation r JOIN pg_attribute ON attrelid = r.oid, LATERAL (VALUES
        (CASE WHEN relkind IN ('i', 'I', 'm', 'f') AND attstattarget >= 0 THEN 'STATISTICS ' || attstattarget END),
        (CASE WHEN relkind IN ('r', 'p', 'm', 'f') AND attoptions IS NOT NULL
            THEN format('(%s)', array_to_string(attoptions, ', ')) END)) AS v (what)
    WHERE (attstattarget >= 0 OR attoptions IS NOT NULL) AND attnum > 0 AND NOT attisdropped AND what IS NOT NULL
    UNION ALL
    SELECT format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s', full_name, attname, pg_get_expr(adbin, adrelid))
    FROM (SELECT * FROM relation WHERE relkind = 'v' OR (NOT relispartition AND oid IN (SELECT inhrelid FROM pg_inherits))) AS r
    JOIN pg_attribute a ON attrelid = r.oid JOIN pg_attrdef d ON adrelid = attrelid AND adnum = attnum
    WHERE attgenerated = '' AND (relkind = 'v' OR (NOT attislocal AND NOT EXISTS (
        SELECT FROM pg_inherits JOIN pg_attribute p ON p.attrelid = inhparent AND p.attname = a.attname
        JOIN pg_attrdef pd ON pd.adrelid = p.attrelid AND pd.adnum = p.attnum
        WHERE inhrelid = r.oid AND pg_get_expr(pd.adbin, pd.adrelid) = pg_get_expr(d.adbin, d.adrelid))))
    UNION ALL
    SELECT format('SECURITY LABEL FOR %I ON %s %s IS %L', provider, upper(objtype), objname, label)
    FROM pg_seclabels WHERE objtype NOT IN ('role', 'database', 'tablespace', 'large object')
    ORDER BY 1";

/// Publications.
pub(super) const PUBLICATIONS: &str = "
    SELECT format('CREATE PUBLICATION %I%s WITH (publish = %L%s%s)', pubname, CASE WHEN puballtables THEN ' FOR ALL TABLES' ELSE '' END,
        concat_ws(', ', CASE WHEN pubinsert THEN 'insert' END, CASE WHEN pubupdate THEN 'update' END, CASE WHEN pubdelete THEN 'delete' END,
            CASE WHEN pubtruncate THEN 'truncate' END),
        CASE WHEN pubviaroot THEN ', publish_via_partition_root = true' ELSE '' END,
        CASE WHEN j ->> 'pubgencols' = 's' THEN ', publish_generated_columns = stored' ELSE '' END)
    FROM pg_publication p, to_jsonb(p) AS j
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_publication'::regclass AND e.objid = p.oid)
    ORDER BY pubname";

/// Tables and schemas of publications.
pub(super) const PUBLISHED: &str = "
    SELECT format('ALTER PUBLICATION %I ADD TABLE ONLY %s%s%s', pubname, full_name,
        coalesce((SELECT ' (' || string_agg(quote_ident(attname), ', ' ORDER BY attnum) || ')' FROM pg_attribute
            WHERE attrelid = prrelid AND attnum = ANY (prattrs)), ''),
        coalesce(' WHERE (' || pg_get_expr(prqual, prrelid) || ')', ''))
    FROM pg_publication_rel JOIN pg_publication p ON p.oid = prpubid JOIN relation r ON r.oid = prrelid
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_publication'::regclass AND e.objid = p.oid)
    UNION ALL
    SELECT format('ALTER PUBLICATION %I ADD TABLES IN SCHEMA %I', pubname, nspname)
    FROM pg_publication_namespace JOIN pg_publication p ON p.oid = pnpubid JOIN ours n ON n.oid = pnnspid
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_publication'::regclass AND e.objid = p.oid)
    ORDER BY 1";

/// The same of PostgreSQL 14, whose publications have whole tables only.
pub(super) const PUBLISHED_14: &str = "
    SELECT format('ALTER PUBLICATION %I ADD TABLE ONLY %s', pubname, full_name)
    FROM pg_publication_rel JOIN pg_publication p ON p.oid = prpubid JOIN relation r ON r.oid = prrelid
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_publication'::regclass AND e.objid = p.oid)
    ORDER BY 1";

/// Subscriptions, readable only with the right to read passwords. They are made without a
/// connection, so that nothing is copied twice.
pub(super) const SUBSCRIPTIONS: &str = "
    SELECT format('CREATE SUBSCRIPTION %I CONNECTION %L PUBLICATION %s WITH (connect = false, slot_name = %s%s)', subname,
        regexp_replace(regexp_replace(subconninfo, '(^|\\s+)password\\s*=\\s*(''[^'']*''|\\S+)', '', 'g'), '^(postgres(ql)?://[^:@/]*):[^@/]*@', '\\1@'),
        (SELECT string_agg(quote_ident(name), ', ') FROM unnest(subpublications) AS name),
        coalesce(quote_literal(subslotname), 'NONE'), concat(
            CASE WHEN subbinary THEN ', binary = true' END,
            CASE WHEN j ->> 'substream' IN ('true', 't') THEN ', streaming = on' WHEN j ->> 'substream' = 'p' THEN ', streaming = parallel'
                ELSE ', streaming = off' END,
            CASE WHEN coalesce(j ->> 'subtwophasestate', 'd') <> 'd' THEN ', two_phase = on' END,
            CASE WHEN j ->> 'subdisableonerr' = 'true' THEN ', disable_on_error = true' END,
            CASE WHEN subsynccommit <> 'off' THEN format(', synchronous_commit = %L', subsynccommit) END,
            CASE WHEN j ->> 'subpasswordrequired' = 'false' THEN ', password_required = false' END,
            CASE WHEN j ->> 'subrunasowner' = 'true' THEN ', run_as_owner = true' END,
            CASE WHEN j ->> 'suborigin' <> 'any' THEN format(', origin = %s', j ->> 'suborigin') END,
            CASE WHEN j ->> 'subfailover' = 'true' THEN ', failover = true' END))
    FROM pg_subscription s, to_jsonb(s) AS j
    WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    ORDER BY subname";

/// Query for comments on the objects, in the server's own words for kind and name.
pub(super) const COMMENTS: &str = "
    SELECT format('COMMENT ON %s %s IS %L', CASE type WHEN 'statistics object' THEN 'STATISTICS' ELSE upper(replace(type, '-', ' ')) END,
        CASE type WHEN 'aggregate' THEN replace(identity, '()', '(*)') ELSE replace(identity, ' on language ', ' language ') END, description)
    FROM pg_description d, LATERAL pg_identify_object(classoid, objoid, 0) AS o
    WHERE objsubid = 0 AND objoid >= 16384 AND (schema IS NULL OR schema IN (SELECT nspname FROM ours))
        AND NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = classoid AND e.objid = objoid)
        AND (type IN ('access method', 'aggregate', 'cast', 'collation', 'conversion', 'event trigger', 'foreign-data wrapper', 'foreign table', 'language',
                'operator', 'operator class', 'operator family', 'publication', 'rule', 'server', 'statistics object', 'subscription',
                'text search configuration', 'text search dictionary', 'text search parser', 'text search template', 'transform')
            OR (type = 'type' AND EXISTS (SELECT FROM pg_type t WHERE t.oid = objoid AND typtype IN ('b', 'c', 'r'))))
    UNION ALL
    SELECT format('COMMENT ON COLUMN %s.%I IS %L', full_name, attname, description)
    FROM pg_description d JOIN relation r ON r.oid = objoid AND d.classoid = 'pg_class'::regclass
    JOIN pg_attribute ON attrelid = objoid AND attnum = objsubid WHERE relkind IN ('c', 'f')
    ORDER BY 1";

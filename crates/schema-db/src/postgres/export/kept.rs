//! Objects compared by words, each as one statement in a fixed form per kind.

/// Collations, foreign data wrappers and servers. What the catalogue calls a locale depends on the
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
    UNION ALL
    SELECT statement FROM (
        SELECT 0 AS step, fdwname AS name, format('CREATE FOREIGN DATA WRAPPER %I%s%s%s', fdwname,
            CASE WHEN fdwhandler <> 0 THEN format(' HANDLER %s', fdwhandler::regproc) ELSE '' END,
            CASE WHEN fdwvalidator <> 0 THEN format(' VALIDATOR %s', fdwvalidator::regproc) ELSE '' END,
            coalesce((SELECT format(' OPTIONS (%s)', string_agg(format('%I %L', option_name, option_value), ', ' ORDER BY option_name))
                FROM pg_options_to_table(fdwoptions)), '')) AS statement
        FROM pg_foreign_data_wrapper w
        WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_foreign_data_wrapper'::regclass AND e.objid = w.oid)
        UNION ALL
        SELECT 1, srvname, format('CREATE SERVER %I%s%s FOREIGN DATA WRAPPER %I%s', srvname,
            coalesce(' TYPE ' || quote_literal(srvtype), ''), coalesce(' VERSION ' || quote_literal(srvversion), ''), fdwname,
            coalesce((SELECT format(' OPTIONS (%s)', string_agg(format('%I %L', option_name, option_value), ', ' ORDER BY option_name))
                FROM pg_options_to_table(srvoptions)), ''))
        FROM pg_foreign_server JOIN pg_foreign_data_wrapper w ON w.oid = srvfdw) AS foreign_ones
    ORDER BY 1";

/// Composite types and ranges.
pub(super) const TYPES: &str = "
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
    , called AS (SELECT classid, objid FROM pg_depend WHERE deptype = 'i')
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

/// Rules, statistics and event triggers.
pub(super) const LATE: &str = "
    SELECT rtrim(pg_get_ruledef(w.oid), ';') FROM pg_rewrite w JOIN relation r ON r.oid = ev_class WHERE rulename <> '_RETURN'
    UNION ALL
    SELECT pg_get_statisticsobjdef(s.oid) FROM pg_statistic_ext s JOIN ours n ON n.oid = stxnamespace
    UNION ALL
    SELECT format('CREATE EVENT TRIGGER %I ON %s%s EXECUTE FUNCTION %s()', evtname, evtevent,
        coalesce((SELECT format(E'\\n WHEN TAG IN (%s)', string_agg(quote_literal(tag), ', ' ORDER BY tag)) FROM unnest(evttags) AS tag), ''),
        evtfoid::regproc)
    FROM pg_event_trigger t
    WHERE NOT EXISTS (SELECT FROM foreign_to_us e WHERE e.classid = 'pg_event_trigger'::regclass AND e.objid = t.oid)
    ORDER BY 1";

/// Query for comments on the objects.
pub(super) const COMMENTS: &str = "
    , said AS (SELECT classoid, objoid, description FROM pg_description WHERE objsubid = 0)
    SELECT format('COMMENT ON %s IS %L', target, description) FROM (
        SELECT format('COLLATION %I.%I', nspname, collname) AS target, description
        FROM said JOIN pg_collation c ON c.oid = objoid AND classoid = 'pg_collation'::regclass JOIN ours n ON n.oid = collnamespace
        UNION ALL
        SELECT format('FOREIGN DATA WRAPPER %I', fdwname), description
        FROM said JOIN pg_foreign_data_wrapper w ON w.oid = objoid AND classoid = 'pg_foreign_data_wrapper'::regclass WHERE w.oid >= 16384
        UNION ALL
        SELECT format('SERVER %I', srvname), description
        FROM said JOIN pg_foreign_server s ON s.oid = objoid AND classoid = 'pg_foreign_server'::regclass
        UNION ALL
        SELECT format('TYPE %I.%I', nspname, typname), description
        FROM said JOIN pg_type t ON t.oid = objoid AND classoid = 'pg_type'::regclass JOIN ours n ON n.oid = typnamespace
        WHERE typtype IN ('c', 'r')
        UNION ALL
        SELECT format('AGGREGATE %I.%I(%s)', nspname, proname,
            CASE WHEN pronargs = 0 THEN '*' ELSE pg_get_function_identity_arguments(p.oid) END), description
        FROM said JOIN pg_proc p ON p.oid = objoid AND classoid = 'pg_proc'::regclass JOIN ours n ON n.oid = pronamespace WHERE prokind = 'a'
        UNION ALL
        SELECT format('OPERATOR %I.%s (%s, %s)', nspname, oprname, CASE oprleft WHEN 0 THEN 'NONE' ELSE format_type(oprleft, NULL) END,
            format_type(oprright, NULL)), description
        FROM said JOIN pg_operator o ON o.oid = objoid AND classoid = 'pg_operator'::regclass JOIN ours n ON n.oid = oprnamespace
        UNION ALL
        SELECT format('CAST (%s AS %s)', format_type(castsource, NULL), format_type(casttarget, NULL)), description
        FROM said JOIN pg_cast c ON c.oid = objoid AND classoid = 'pg_cast'::regclass WHERE c.oid >= 16384
        UNION ALL
        SELECT format('RULE %I ON %s', rulename, full_name), description
        FROM said JOIN pg_rewrite w ON w.oid = objoid AND classoid = 'pg_rewrite'::regclass JOIN relation r ON r.oid = ev_class
        UNION ALL
        SELECT format('STATISTICS %I.%I', nspname, stxname), description
        FROM said JOIN pg_statistic_ext s ON s.oid = objoid AND classoid = 'pg_statistic_ext'::regclass JOIN ours n ON n.oid = stxnamespace
        UNION ALL
        SELECT format('EVENT TRIGGER %I', evtname), description
        FROM said JOIN pg_event_trigger t ON t.oid = objoid AND classoid = 'pg_event_trigger'::regclass) AS commented
    ORDER BY target";

//! Foreign tables.

/// Query for foreign tables without options of columns, which follow the table. A partition is
/// attached later, as a table of its own.
pub(super) const TABLES: &str = "
    , item AS (
        SELECT attrelid AS relid, 0 AS kind, attnum AS number, '' AS name,
            format('%I %s', attname, format_type(atttypid, atttypmod))
            || CASE WHEN attcollation <> 0 AND attcollation <> t.typcollation
                THEN (SELECT format(' COLLATE %I.%I', cn.nspname, collname) FROM pg_collation c
                    JOIN pg_namespace cn ON cn.oid = collnamespace WHERE c.oid = attcollation) ELSE '' END
            || CASE WHEN attgenerated <> '' THEN format(' GENERATED ALWAYS AS (%s) %s', pg_get_expr(adbin, adrelid),
                    CASE attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END)
                ELSE coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid), '') END
            || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END AS text
        FROM pg_attribute a JOIN relation r ON r.oid = attrelid AND r.relkind = 'f' JOIN pg_type t ON t.oid = atttypid
        LEFT JOIN pg_attrdef d ON adrelid = attrelid AND adnum = attnum
        WHERE attnum > 0 AND NOT attisdropped AND (attislocal OR r.relispartition)
        UNION ALL
        SELECT conrelid, 1, 0, conname, format('CONSTRAINT %I %s', conname, pg_get_constraintdef(k.oid))
        FROM pg_constraint k JOIN relation r ON r.oid = conrelid AND r.relkind = 'f' WHERE contype = 'c' AND conislocal)
    SELECT format('CREATE FOREIGN TABLE %s (%s)%s SERVER %I%s', full_name,
        (SELECT string_agg(item.text, ', ' ORDER BY kind, number, name) FROM item WHERE item.relid = r.oid),
        ' INHERITS (' || (SELECT string_agg(format('%I.%I', pn.nspname, p.relname), ', ' ORDER BY inhseqno)
            FROM pg_inherits JOIN pg_class p ON p.oid = inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace
            WHERE inhrelid = r.oid AND NOT r.relispartition) || ')',
        srvname, coalesce((SELECT ' OPTIONS (' || string_agg(format('%I %L', option_name, option_value), ', ' ORDER BY option_name) || ')'
            FROM pg_options_to_table(ftoptions)), ''))
    FROM pg_foreign_table f JOIN relation r ON r.oid = ftrelid JOIN pg_foreign_server s ON s.oid = ftserver
    ORDER BY r.oid";

/// Query for options of columns of foreign tables.
pub(super) const COLUMNS: &str = "
    SELECT format('ALTER FOREIGN TABLE ONLY %s ALTER COLUMN %I OPTIONS (%s)', full_name, attname,
        (SELECT string_agg(format('%I %L', option_name, option_value), ', ' ORDER BY option_name) FROM pg_options_to_table(attfdwoptions)))
    FROM relation r JOIN pg_attribute ON attrelid = r.oid
    WHERE relkind = 'f' AND attfdwoptions IS NOT NULL AND NOT attisdropped ORDER BY r.oid, attnum";

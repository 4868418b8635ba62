//! What stands in the parentheses of `CREATE TABLE` and `CREATE FOREIGN TABLE`.

/// Columns and constraints of relations of the kinds, gathered once for all.
macro_rules! items {
    ($kinds:literal) => {
        concat!(
            "
    , item AS (
        SELECT attrelid AS relid, 0 AS kind, attnum::text AS rank, attnum AS number,
            quote_ident(attname) || ' ' || format_type(atttypid, atttypmod)
            || CASE WHEN attcollation <> 0 AND attcollation <> t.typcollation
                THEN (SELECT format(' COLLATE %I.%I', cn.nspname, collname) FROM pg_collation c
                    JOIN pg_namespace cn ON cn.oid = collnamespace WHERE c.oid = attcollation) ELSE '' END
            || CASE WHEN attgenerated <> '' THEN format(' GENERATED ALWAYS AS (%s) %s', pg_get_expr(adbin, adrelid),
                    CASE attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END)
                WHEN attidentity <> '' THEN format(' GENERATED %s AS IDENTITY%s',
                    CASE attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, identity.options)
                ELSE coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid), '') END
            || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END AS text
        FROM pg_attribute a JOIN relation r ON r.oid = attrelid AND r.relkind IN (",
            $kinds,
            ")
        JOIN pg_type t ON t.oid = atttypid
        LEFT JOIN pg_attrdef d ON adrelid = attrelid AND adnum = attnum
        LEFT JOIN (SELECT refobjid, refobjsubid,
                format(' (START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s)',
                    seqstart, seqincrement, seqmin, seqmax, seqcache, CASE WHEN seqcycle THEN ' CYCLE' ELSE '' END) AS options
            FROM pg_depend JOIN pg_sequence ON seqrelid = objid
            WHERE classid = 'pg_class'::regclass AND deptype = 'i') AS identity
            ON attidentity <> '' AND refobjid = attrelid AND refobjsubid = attnum
        WHERE attnum > 0 AND NOT attisdropped AND (attislocal OR r.relispartition)
        UNION ALL
        SELECT conrelid, CASE contype WHEN 'p' THEN 1 WHEN 'u' THEN 2 ELSE 3 END, conname, 0,
            format('CONSTRAINT %I %s', conname, pg_get_constraintdef(k.oid))
        FROM pg_constraint k JOIN relation r ON r.oid = conrelid AND r.relkind IN (",
            $kinds,
            ")
        WHERE contype IN ('p', 'u', 'c', 'x') AND conislocal AND conparentid = 0)"
        )
    };
}

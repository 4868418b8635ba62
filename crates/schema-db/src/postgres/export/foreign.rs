//! Foreign tables.

/// Query for foreign tables without options of columns, which follow the table. A partition is
/// attached later, as a table of its own.
pub(super) const TABLES: &str = concat!(
    items!("'f'"),
    "
    SELECT format('CREATE FOREIGN TABLE %s (%s)%s SERVER %I%s', full_name,
        (SELECT string_agg(item.text, ', ' ORDER BY kind, number, rank) FROM item WHERE item.relid = r.oid),
        ' INHERITS (' || (SELECT string_agg(format('%I.%I', pn.nspname, p.relname), ', ' ORDER BY inhseqno)
            FROM pg_inherits JOIN pg_class p ON p.oid = inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace
            WHERE inhrelid = r.oid AND NOT r.relispartition) || ')',
        srvname, coalesce((SELECT ' OPTIONS (' || string_agg(format('%I %L', option_name, option_value), ', ' ORDER BY option_name) || ')'
            FROM pg_options_to_table(ftoptions)), ''))
    FROM pg_foreign_table f JOIN relation r ON r.oid = ftrelid JOIN pg_foreign_server s ON s.oid = ftserver
    ORDER BY r.oid"
);

/// Query for options of columns of foreign tables.
pub(super) const COLUMNS: &str = "
    SELECT format('ALTER FOREIGN TABLE ONLY %s ALTER COLUMN %I OPTIONS (%s)', full_name, attname,
        (SELECT string_agg(format('%I %L', option_name, option_value), ', ' ORDER BY option_name) FROM pg_options_to_table(attfdwoptions)))
    FROM relation r JOIN pg_attribute ON attrelid = r.oid
    WHERE relkind = 'f' AND attfdwoptions IS NOT NULL AND NOT attisdropped ORDER BY r.oid, attnum";

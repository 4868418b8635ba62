//! Questions to PostgreSQL.

use super::{Question, Rows};

/// Every version.
pub(super) const QUESTIONS: &[Question] = &[
    // A snapshot is stored and passed on: no passwords of other servers, no commands with keys, and
    // no settings of extensions, whose meaning is not known.
    Question {
        name: "settings",
        rows: Rows::Pairs,
        sql: "SELECT name, CASE unit WHEN '8kB' THEN (setting::numeric * 8192)::text
                WHEN 'kB' THEN (setting::numeric * 1024)::text
                WHEN 'MB' THEN (setting::numeric * 1048576)::text ELSE setting END
              FROM pg_settings WHERE name NOT LIKE '%passw%' AND name NOT LIKE '%passphrase%'
                AND name NOT LIKE '%conninfo%' AND name NOT LIKE '%command%' AND name NOT LIKE '%.%'",
    },
    Question {
        name: "counters",
        rows: Rows::Pairs,
        sql: "SELECT k.name, k.value::text FROM (SELECT sum(blks_hit) AS hit, sum(blks_read) AS read,
                sum(temp_files) AS files, sum(temp_bytes) AS bytes, sum(deadlocks) AS deadlocks,
                sum(xact_commit + xact_rollback) AS transactions,
                extract(epoch FROM now() - pg_postmaster_start_time())::bigint AS uptime
                FROM pg_stat_database) s,
              LATERAL (VALUES ('(blocks hit)', s.hit), ('(blocks read)', s.read), ('(temporary files)', s.files),
                ('(temporary bytes)', s.bytes), ('(deadlocks)', s.deadlocks),
                ('(transactions)', s.transactions), ('(uptime)', s.uptime)) AS k(name, value)",
    },
    Question {
        name: "(data bytes)",
        rows: Rows::Value,
        sql: "SELECT pg_database_size(current_database())::text",
    },
    Question {
        name: "(connections)",
        rows: Rows::Value,
        sql: "SELECT count(*)::text FROM pg_stat_activity WHERE backend_type = 'client backend'",
    },
    Question {
        name: "idle in transaction",
        rows: Rows::List,
        sql: "SELECT 'connection ' || pid || ' for ' || extract(epoch FROM now() - state_change)::int || ' s'
              FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND now() - state_change > '60 s'",
    },
    Question {
        name: "long transactions",
        rows: Rows::List,
        sql: "SELECT 'connection ' || pid || ' for ' || extract(epoch FROM now() - xact_start)::int || ' s'
              FROM pg_stat_activity WHERE backend_type = 'client backend' AND state = 'active'
                AND now() - xact_start > '60 s'",
    },
    Question {
        name: "dead rows",
        rows: Rows::List,
        sql: "SELECT schemaname || '.' || relname || ': ' || n_dead_tup || ' dead, ' || n_live_tup || ' live'
              FROM pg_stat_user_tables WHERE n_dead_tup > 10000 AND n_dead_tup > 0.2 * n_live_tup
              ORDER BY n_dead_tup DESC",
    },
    Question {
        name: "autovacuum off",
        rows: Rows::List,
        sql: "SELECT oid::regclass::text FROM pg_class WHERE 'autovacuum_enabled=false' = ANY (reloptions)
                OR 'autovacuum_enabled=off' = ANY (reloptions)",
    },
    Question {
        name: "never analysed",
        rows: Rows::List,
        sql: "SELECT schemaname || '.' || relname FROM pg_stat_user_tables
              WHERE last_analyze IS NULL AND last_autoanalyze IS NULL AND n_live_tup > 10000",
    },
    Question {
        name: "read whole",
        rows: Rows::List,
        sql: "SELECT schemaname || '.' || relname || ': ' || seq_scan || ' times, ' || n_live_tup || ' rows'
              FROM pg_stat_user_tables WHERE n_live_tup >= 10000 AND seq_scan > 100
                AND 100.0 * coalesce(idx_scan, 0) / (seq_scan + coalesce(idx_scan, 0)) < 95
              ORDER BY seq_tup_read DESC",
    },
    Question {
        name: "unused indexes",
        rows: Rows::List,
        sql: "SELECT s.schemaname || '.' || s.indexrelname FROM pg_stat_user_indexes s
              JOIN pg_index i USING (indexrelid)
              WHERE s.idx_scan = 0 AND NOT i.indisunique AND pg_relation_size(i.indexrelid) > 1048576",
    },
    Question {
        name: "invalid indexes",
        rows: Rows::List,
        // One that is being built holds this lock on its table, and is invalid until the end.
        sql: "SELECT i.indexrelid::regclass::text FROM pg_index i WHERE NOT i.indisvalid
                AND NOT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                  WHERE d.datname = current_database() AND l.relation = i.indrelid
                    AND l.mode = 'ShareUpdateExclusiveLock')",
    },
    // Classes of operators, collations and orders count too: LIKE needs text_pattern_ops.
    Question {
        name: "double indexes",
        rows: Rows::List,
        sql: "SELECT a.indexrelid::regclass::text || ' is the beginning of ' || b.indexrelid::regclass::text
              FROM pg_index a JOIN pg_index b ON a.indrelid = b.indrelid AND a.indexrelid <> b.indexrelid
              WHERE NOT a.indisunique AND NOT a.indisexclusion AND b.indisvalid
                AND a.indpred IS NULL AND b.indpred IS NULL AND a.indexprs IS NULL
                AND b.indexprs IS NULL AND b.indnkeyatts >= a.indnatts
                AND (b.indclass::text || ' ') LIKE (a.indclass::text || ' %')
                AND (b.indcollation::text || ' ') LIKE (a.indcollation::text || ' %')
                AND (b.indoption::text || ' ') LIKE (a.indoption::text || ' %')
                AND (b.indkey::text || ' ') LIKE (a.indkey::text || ' %')
                AND (a.indkey::text <> b.indkey::text OR a.indexrelid > b.indexrelid OR b.indisunique)
                AND (SELECT relam FROM pg_class WHERE oid = a.indexrelid) =
                    (SELECT relam FROM pg_class WHERE oid = b.indexrelid)",
    },
    Question {
        name: "tables without a primary key",
        rows: Rows::List,
        sql: "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
              WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
                AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)",
    },
    Question {
        name: "numbers nearly used up",
        rows: Rows::List,
        sql: "SELECT schemaname || '.' || sequencename || ' is at ' || last_value FROM pg_sequences
              WHERE last_value > 0.7 * max_value",
    },
    Question {
        name: "(oldest transaction id)",
        rows: Rows::Value,
        sql: "SELECT max(age(datfrozenxid))::text FROM pg_database",
    },
    Question {
        name: "idle replication slots",
        rows: Rows::List,
        sql: "SELECT slot_name || ' holds ' || pg_size_pretty(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery()
                THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, restart_lsn))
              FROM pg_replication_slots WHERE NOT active",
    },
    Question {
        name: "(replication lag)",
        rows: Rows::Value,
        // Of the server's copies, or of the server as a copy that has received more than replayed.
        sql: "SELECT CASE WHEN NOT pg_is_in_recovery()
                THEN (SELECT coalesce(max(extract(epoch FROM replay_lag)), 0) FROM pg_stat_replication)
                WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
                ELSE extract(epoch FROM now() - pg_last_xact_replay_timestamp()) END::text",
    },
    Question {
        name: "stopped replication",
        rows: Rows::List,
        sql: "SELECT 'pg_stat_wal_receiver is empty' WHERE pg_is_in_recovery()
                AND NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)
                AND EXISTS (SELECT 1 FROM pg_settings WHERE name = 'primary_conninfo' AND setting <> '')",
    },
    Question {
        name: "prepared transactions",
        rows: Rows::List,
        sql: "SELECT gid || ' for ' || extract(epoch FROM now() - prepared)::int || ' s'
              FROM pg_prepared_xacts WHERE now() - prepared > '60 s' ORDER BY prepared",
    },
    Question {
        name: "(pg_stat_statements)",
        rows: Rows::Value,
        sql: "SELECT count(*)::text FROM pg_extension WHERE extname = 'pg_stat_statements'",
    },
];

/// Version 14 and later.
pub(super) const SINCE_14: &[Question] = &[Question {
    name: "(sessions)",
    rows: Rows::Value,
    sql: "SELECT sum(sessions)::text FROM pg_stat_database",
}];

/// Version 17 and later.
pub(super) const SINCE_17: &[Question] = &[Question {
    name: "checkpoints",
    rows: Rows::Pairs,
    sql: "SELECT k.name, k.value::text FROM pg_stat_checkpointer s,
          LATERAL (VALUES ('(checkpoints timed)', s.num_timed), ('(checkpoints requested)', s.num_requested))
            AS k(name, value)",
}];

/// Version 16 and earlier.
pub(super) const BEFORE_17: &[Question] = &[Question {
    name: "checkpoints",
    rows: Rows::Pairs,
    sql: "SELECT k.name, k.value::text FROM pg_stat_bgwriter s,
          LATERAL (VALUES ('(checkpoints timed)', s.checkpoints_timed), ('(checkpoints requested)', s.checkpoints_req))
            AS k(name, value)",
}];

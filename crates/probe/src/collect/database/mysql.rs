//! Questions to MySQL and MariaDB.

use super::{Question, Rows};

/// Schemas of the server itself.
macro_rules! own_schemas {
    () => {
        "('mysql', 'information_schema', 'performance_schema', 'sys')"
    };
}

/// Columns of an index in order, each with the length of a prefix and the direction; an
/// expression, which has no column, is no other index's.
macro_rules! index_parts {
    () => {
        "GROUP_CONCAT(CONCAT(COALESCE(COLUMN_NAME, CONCAT('expression of ', INDEX_NAME)), '(',
           COALESCE(SUB_PART, ''), COALESCE(`COLLATION`, ''), ')') ORDER BY SEQ_IN_INDEX)"
    };
}

/// Both.
pub(super) const QUESTIONS: &[Question] = &[
    // A snapshot is stored and passed on: no passwords, also not those inside of other settings.
    Question {
        name: "settings",
        rows: Rows::Pairs,
        sql: "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE '%password%' AND Variable_name NOT LIKE '%pwd%'
              AND Variable_name NOT IN ('wsrep_sst_auth', 'wsrep_provider_options', 'init_connect')",
    },
    Question {
        name: "counters",
        rows: Rows::Pairs,
        sql: "SHOW GLOBAL STATUS",
    },
    Question {
        name: "(data bytes)",
        rows: Rows::Value,
        sql: concat!(
            "SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS UNSIGNED)
             FROM information_schema.TABLES WHERE ENGINE = 'InnoDB' AND TABLE_SCHEMA NOT IN ",
            own_schemas!()
        ),
    },
    Question {
        name: "tables without a primary key",
        rows: Rows::List,
        sql: concat!(
            "SELECT CONCAT(t.TABLE_SCHEMA, '.', t.TABLE_NAME) FROM information_schema.TABLES t
             LEFT JOIN information_schema.TABLE_CONSTRAINTS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA
               AND c.TABLE_NAME = t.TABLE_NAME AND c.CONSTRAINT_TYPE = 'PRIMARY KEY'
             WHERE t.TABLE_TYPE = 'BASE TABLE' AND c.CONSTRAINT_NAME IS NULL AND t.TABLE_SCHEMA NOT IN ",
            own_schemas!()
        ),
    },
    Question {
        name: "tables of MyISAM",
        rows: Rows::List,
        sql: concat!(
            "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES
             WHERE ENGINE = 'MyISAM' AND TABLE_SCHEMA NOT IN ",
            own_schemas!()
        ),
    },
    Question {
        name: "numbers nearly used up",
        rows: Rows::List,
        sql: concat!(
            "SELECT CONCAT(t.TABLE_SCHEMA, '.', t.TABLE_NAME, ' (', c.COLUMN_TYPE, ') is at ', t.AUTO_INCREMENT)
             FROM information_schema.TABLES t JOIN information_schema.COLUMNS c
               ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
             WHERE c.EXTRA LIKE '%auto_increment%' AND t.AUTO_INCREMENT > 0.7 *
               CASE c.DATA_TYPE WHEN 'tinyint' THEN 127 WHEN 'smallint' THEN 32767
                 WHEN 'mediumint' THEN 8388607 WHEN 'int' THEN 2147483647 ELSE 9223372036854775807 END
               * CASE WHEN c.COLUMN_TYPE LIKE '%unsigned%' THEN 2 ELSE 1 END
               AND t.TABLE_SCHEMA NOT IN ",
            own_schemas!()
        ),
    },
    Question {
        name: "double indexes",
        rows: Rows::List,
        sql: concat!(
            "SELECT CONCAT(a.TABLE_SCHEMA, '.', a.TABLE_NAME, '.', a.INDEX_NAME, ' is the beginning of ', b.INDEX_NAME)
             FROM (SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, MAX(NON_UNIQUE) AS free, ",
            index_parts!(),
            " AS parts FROM information_schema.STATISTICS WHERE INDEX_TYPE = 'BTREE' GROUP BY 1, 2, 3) a
             JOIN (SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, ",
            index_parts!(),
            " AS parts FROM information_schema.STATISTICS WHERE INDEX_TYPE = 'BTREE' GROUP BY 1, 2, 3) b
               ON a.TABLE_SCHEMA = b.TABLE_SCHEMA AND a.TABLE_NAME = b.TABLE_NAME AND a.INDEX_NAME <> b.INDEX_NAME
             WHERE a.free = 1 AND (LEFT(b.parts, CHAR_LENGTH(a.parts) + 1) = CONCAT(a.parts, ',')
                 OR (b.parts = a.parts AND (b.INDEX_NAME = 'PRIMARY' OR b.INDEX_NAME < a.INDEX_NAME)))
               AND a.TABLE_SCHEMA NOT IN ",
            own_schemas!()
        ),
    },
    Question {
        name: "(undo)",
        rows: Rows::Value,
        sql: "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len'",
    },
    Question {
        name: "long transactions",
        rows: Rows::List,
        sql: "SELECT CONCAT('connection ', trx_mysql_thread_id, ' since ', trx_started)
              FROM information_schema.INNODB_TRX WHERE trx_started < NOW() - INTERVAL 60 SECOND",
    },
];

/// MariaDB only.
pub(super) const MARIADB: &[Question] = &[Question {
    name: "replication",
    rows: Rows::Replicas,
    sql: "SHOW ALL SLAVES STATUS",
}];

/// MySQL only.
pub(super) const MYSQL: &[Question] = &[Question {
    name: "replication",
    rows: Rows::Replicas,
    sql: "SHOW REPLICA STATUS",
}];

/// Questions to a server with performance_schema.
pub(super) const MEASURED: &[Question] = &[
    Question {
        name: "statements without an index",
        rows: Rows::List,
        sql: "SELECT CONCAT(ROUND(SUM_TIMER_WAIT / 1e12, 1), ' s, ', COUNT_STAR, ' times: ', LEFT(DIGEST_TEXT, 120))
              FROM performance_schema.events_statements_summary_by_digest
              WHERE SUM_NO_INDEX_USED > 0 AND SUM_TIMER_WAIT > 1e12 AND SCHEMA_NAME IS NOT NULL
                AND SCHEMA_NAME NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')
                AND SUM_ROWS_EXAMINED > 1000 * COUNT_STAR
              ORDER BY SUM_TIMER_WAIT DESC LIMIT 10",
    },
    Question {
        name: "unused indexes",
        rows: Rows::List,
        sql: "SELECT CONCAT(OBJECT_SCHEMA, '.', OBJECT_NAME, '.', INDEX_NAME)
              FROM performance_schema.table_io_waits_summary_by_index_usage
              WHERE INDEX_NAME IS NOT NULL AND INDEX_NAME <> 'PRIMARY' AND COUNT_STAR = 0
                AND OBJECT_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')",
    },
];

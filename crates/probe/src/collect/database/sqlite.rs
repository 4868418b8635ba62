//! Questions to a SQLite file. `synchronous` and `busy_timeout` belong to the app's own connections
//! and cannot be asked here.

use super::{Question, Rows};

/// The file.
pub(super) const QUESTIONS: &[Question] = &[
    Question {
        name: "(file)",
        rows: Rows::Value,
        sql: "SELECT file FROM pragma_database_list WHERE name = 'main'",
    },
    Question {
        name: "journal_mode",
        rows: Rows::Value,
        sql: "PRAGMA journal_mode",
    },
    Question {
        name: "page_size",
        rows: Rows::Value,
        sql: "PRAGMA page_size",
    },
    Question {
        name: "page_count",
        rows: Rows::Value,
        sql: "PRAGMA page_count",
    },
    Question {
        name: "freelist_count",
        rows: Rows::Value,
        sql: "PRAGMA freelist_count",
    },
    Question {
        name: "auto_vacuum",
        rows: Rows::Value,
        sql: "PRAGMA auto_vacuum",
    },
    Question {
        name: "(analysed)",
        rows: Rows::Value,
        sql: "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'",
    },
    Question {
        name: "(indexes)",
        rows: Rows::Value,
        sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'index'",
    },
    Question {
        name: "double indexes",
        rows: Rows::List,
        sql: "WITH indexes AS (SELECT t.name AS tab, i.name AS ix, i.\"unique\" AS uni,
                (SELECT group_concat(part) FROM (SELECT coalesce(x.name, 'expression of ' || i.name) || x.coll || x.\"desc\" AS part
                  FROM pragma_index_xinfo(i.name) x WHERE x.key ORDER BY x.seqno)) AS cols
                FROM sqlite_schema t JOIN pragma_index_list(t.name) i WHERE t.type = 'table' AND i.partial = 0)
              SELECT a.ix || ' is the beginning of ' || b.ix FROM indexes a JOIN indexes b
              ON a.tab = b.tab AND a.ix <> b.ix WHERE a.uni = 0
                AND (substr(b.cols, 1, length(a.cols) + 1) = a.cols || ',' OR (a.cols = b.cols AND (a.ix > b.ix OR b.uni = 1)))",
    },
];

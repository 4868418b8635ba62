//! Objects of kinds beside the four tables, each in one of several forms.

use crate::pairs::{Form, form};

/// Forms by kind.
pub(super) const KINDS: [&[Form]; 7] = [VIRTUAL, TREE, COUNTER, KEYS, VIEWS, ANY, WHOLE_KEY];

const VIRTUAL: &[Form] = &[
    form(
        &["CREATE VIRTUAL TABLE words USING fts5(id, body)"],
        &[("words", &["body"])],
    ),
    form(
        &["CREATE VIRTUAL TABLE words USING fts5(id, body, tokenize = 'porter ascii')"],
        &[("words", &["body"])],
    ),
    form(
        &["CREATE VIRTUAL TABLE words USING fts5(id, body, more)"],
        &[("words", &["body", "more"])],
    ),
];

const TREE: &[Form] = &[
    form(
        &["CREATE VIRTUAL TABLE boxes USING rtree(id, x, y)"],
        &[("boxes", &["x", "y"])],
    ),
    form(
        &["CREATE VIRTUAL TABLE boxes USING rtree_i32(id, x, y)"],
        &[("boxes", &["x", "y"])],
    ),
];

const COUNTER: &[Form] = &[
    form(
        &["CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, x INTEGER)"],
        &[("counted", &["x"])],
    ),
    form(
        &["CREATE TABLE counted (id INTEGER PRIMARY KEY, x INTEGER NOT NULL)"],
        &[("counted", &["x"])],
    ),
    form(
        &["CREATE TABLE counted (id INT PRIMARY KEY, x TEXT)"],
        &[("counted", &["x"])],
    ),
];

const KEYS: &[Form] = &[
    form(
        &[
            "CREATE TABLE top (id INTEGER PRIMARY KEY, up INTEGER REFERENCES top (id))",
            "CREATE TABLE below (id INTEGER PRIMARY KEY, up INTEGER REFERENCES top (id) ON DELETE CASCADE)",
        ],
        &[("top", &["up"]), ("below", &["up"])],
    ),
    form(
        &[
            "CREATE TABLE top (id INTEGER PRIMARY KEY, up INTEGER, more TEXT)",
            "CREATE TABLE below (id INTEGER PRIMARY KEY, up INTEGER, FOREIGN KEY (up) REFERENCES top (id) DEFERRABLE INITIALLY DEFERRED)",
        ],
        &[("top", &["up", "more"]), ("below", &["up"])],
    ),
    form(
        &["CREATE TABLE top (id INTEGER PRIMARY KEY, up INTEGER UNIQUE)"],
        &[("top", &["up"])],
    ),
];

const VIEWS: &[Form] = &[
    form(
        &[
            "CREATE TABLE looked (id INTEGER PRIMARY KEY, x INTEGER)",
            "CREATE VIEW look AS SELECT id, x FROM looked",
            "CREATE VIEW look_again AS SELECT id FROM look",
            "CREATE TRIGGER put INSTEAD OF INSERT ON look BEGIN INSERT INTO looked VALUES (new.id, new.x); END",
        ],
        &[("looked", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE looked (id INTEGER PRIMARY KEY, x TEXT, y INTEGER DEFAULT 2)",
            "CREATE VIEW look (a, b) AS WITH w AS (SELECT id, x FROM looked) SELECT * FROM w",
            "CREATE TRIGGER put AFTER UPDATE OF x ON looked WHEN new.x > 1 BEGIN UPDATE looked SET y = ';' WHERE id = new.id; END",
        ],
        &[("looked", &["x", "y"])],
    ),
];

const ANY: &[Form] = &[
    form(
        &["CREATE TABLE loose (id INTEGER PRIMARY KEY, x)"],
        &[("loose", &["x"])],
    ),
    form(
        &["CREATE TABLE loose (id INTEGER PRIMARY KEY, x ANY, y INTEGER, z BLOB) STRICT"],
        &[("loose", &["x"])],
    ),
    form(
        &["CREATE TABLE loose (id INTEGER PRIMARY KEY, x NUMERIC, y AS (x * 2))"],
        &[("loose", &["x"])],
    ),
];

const WHOLE_KEY: &[Form] = &[
    form(
        &[
            "CREATE TABLE wide (id INTEGER, x TEXT COLLATE NOCASE, PRIMARY KEY (id, x DESC)) WITHOUT ROWID",
            "CREATE INDEX wide_x ON wide (lower(x)) WHERE x IS NOT NULL",
        ],
        &[("wide", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE wide (id INTEGER, x TEXT, PRIMARY KEY (x, id))",
            "CREATE UNIQUE INDEX wide_x ON wide (x COLLATE NOCASE)",
        ],
        &[("wide", &["x"])],
    ),
    form(
        &["CREATE TABLE wide (id INTEGER UNIQUE ON CONFLICT IGNORE, x TEXT)"],
        &[("wide", &["x"])],
    ),
];

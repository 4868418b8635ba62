//! Objects of kinds beside the four tables, each in one of several forms.

use crate::pairs::{Form, bare, form};

/// Forms by kind, which both products have.
pub(super) const OF_BOTH: [&[Form]; 9] = [
    FULLTEXT, ENGINE, COUNTER, JSON, SET, TIMES, TRIGGERS, VIEWS, CHAIN,
];

/// Forms by kind, of MariaDB only.
pub(super) const OF_MARIADB: [&[Form]; 4] = [PACKAGE, PERIOD, COUNTED, VERSIONED];

/// Forms by kind, of MySQL only.
pub(super) const OF_MYSQL: [&[Form]; 2] = [MANY_VALUED, ENFORCED];

const FULLTEXT: &[Form] = &[
    form(
        &["CREATE TABLE texts (id int PRIMARY KEY, body text, FULLTEXT KEY words (body))"],
        &[("texts", &["body"])],
    ),
    form(
        &[
            "CREATE TABLE texts (id int PRIMARY KEY, body text, more text, FULLTEXT KEY words (body, more) COMMENT 'both')",
        ],
        &[("texts", &["body", "more"])],
    ),
    form(
        &["CREATE TABLE texts (id int PRIMARY KEY, body mediumtext, KEY words (body(10)))"],
        &[("texts", &["body"])],
    ),
];

const ENGINE: &[Form] = &[
    form(
        &["CREATE TABLE plain (id int PRIMARY KEY, x int) ENGINE=InnoDB"],
        &[("plain", &["x"])],
    ),
    form(
        &["CREATE TABLE plain (id int PRIMARY KEY, x int) ENGINE=MyISAM MAX_ROWS=100"],
        &[("plain", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE plain (id int PRIMARY KEY, x bigint) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8",
        ],
        &[("plain", &["x"])],
    ),
];

const COUNTER: &[Form] = &[
    form(
        &["CREATE TABLE counted (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, x int)"],
        &[("counted", &["x"])],
    ),
    form(
        &["CREATE TABLE counted (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, x int)"],
        &[("counted", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE counted (id int NOT NULL PRIMARY KEY, x int NOT NULL AUTO_INCREMENT UNIQUE)",
        ],
        &[("counted", &["x"])],
    ),
    form(
        &["CREATE TABLE counted (id int NOT NULL PRIMARY KEY, x int)"],
        &[("counted", &["x"])],
    ),
];

const JSON: &[Form] = &[
    form(
        &["CREATE TABLE documents (id int PRIMARY KEY, x json)"],
        &[("documents", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE documents (id int PRIMARY KEY, x json NOT NULL COMMENT 'as sent', y int AS (json_extract(x, '$')) VIRTUAL)",
        ],
        &[("documents", &["x"])],
    ),
    form(
        &["CREATE TABLE documents (id int PRIMARY KEY, x longtext)"],
        &[("documents", &["x"])],
    ),
];

/// All forms give a member the same number, since what a row holds is shown as a number.
const SET: &[Form] = &[
    form(
        &["CREATE TABLE chosen (id int PRIMARY KEY, x set('1','2','3'))"],
        &[("chosen", &["x"])],
    ),
    form(
        &["CREATE TABLE chosen (id int PRIMARY KEY, x set('1','2','3','it''s'))"],
        &[("chosen", &["x"])],
    ),
    form(
        &["CREATE TABLE chosen (id int PRIMARY KEY, x set('1','2','3') NOT NULL DEFAULT '1,3')"],
        &[("chosen", &["x"])],
    ),
];

const TIMES: &[Form] = &[
    form(
        &["CREATE TABLE timed (id int PRIMARY KEY, x int, at datetime DEFAULT CURRENT_TIMESTAMP)"],
        &[("timed", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE timed (id int PRIMARY KEY, x int, at datetime(3) NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3))",
        ],
        &[("timed", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE timed (id int PRIMARY KEY, x bigint, at timestamp NULL DEFAULT '2001-02-03 04:05:06')",
        ],
        &[("timed", &["x"])],
    ),
];

const TRIGGERS: &[Form] = &[
    form(
        &[
            "CREATE TABLE watched (id int PRIMARY KEY, x int)",
            "CREATE TRIGGER watch_one BEFORE UPDATE ON watched FOR EACH ROW SET @one = NEW.x",
            "CREATE TRIGGER watch_two BEFORE UPDATE ON watched FOR EACH ROW SET @two = NEW.x",
        ],
        &[("watched", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE watched (id int PRIMARY KEY, x bigint)",
            "CREATE TRIGGER watch_one BEFORE UPDATE ON watched FOR EACH ROW SET @one = NEW.x + 1",
            "CREATE TRIGGER watch_two BEFORE UPDATE ON watched FOR EACH ROW PRECEDES watch_one SET @two = NEW.x",
        ],
        &[("watched", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE watched (id int PRIMARY KEY, x int, y int)",
            "CREATE TRIGGER watch_two AFTER UPDATE ON watched FOR EACH ROW BEGIN SET @two = 'a;b'; END",
        ],
        &[("watched", &["x", "y"])],
    ),
];

const VIEWS: &[Form] = &[
    form(
        &[
            "CREATE TABLE looked (id int PRIMARY KEY, x int)",
            "CREATE VIEW look AS SELECT id, x FROM looked",
            "CREATE VIEW look_again AS SELECT id FROM look",
        ],
        &[("looked", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE looked (id int PRIMARY KEY, x bigint)",
            "CREATE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW look AS SELECT id, x FROM looked WHERE x > 0 WITH LOCAL CHECK OPTION",
            "CREATE VIEW look_again (n) AS SELECT count(*) FROM look GROUP BY x HAVING count(*) > 2",
        ],
        &[("looked", &["x"])],
    ),
];

const CHAIN: &[Form] = &[
    form(
        &[
            "CREATE TABLE top (id int PRIMARY KEY, up int, CONSTRAINT self FOREIGN KEY (up) REFERENCES top (id))",
            "CREATE TABLE below (id int PRIMARY KEY, up int, FOREIGN KEY (up) REFERENCES top (id) ON DELETE CASCADE)",
        ],
        &[("top", &["up"]), ("below", &["up"])],
    ),
    form(
        &[
            "CREATE TABLE top (id bigint PRIMARY KEY, up bigint, CONSTRAINT self FOREIGN KEY (up) REFERENCES top (id) ON DELETE SET NULL)",
            "CREATE TABLE below (id bigint PRIMARY KEY, up bigint, CONSTRAINT under FOREIGN KEY (up) REFERENCES top (id))",
        ],
        &[("top", &["up"]), ("below", &["up"])],
    ),
    form(
        &["CREATE TABLE top (id int PRIMARY KEY, up int)"],
        &[("top", &["up"])],
    ),
];

const PACKAGE: &[Form] = &[
    bare(&[
        "CREATE PACKAGE pack AS FUNCTION one RETURN int; END",
        "CREATE PACKAGE BODY pack AS FUNCTION one RETURN int AS BEGIN RETURN 1; END; END",
    ]),
    bare(&[
        "CREATE PACKAGE pack COMMENT 'it''s' AS FUNCTION one RETURN int; PROCEDURE two(a int); END",
        "CREATE PACKAGE BODY pack AS FUNCTION one RETURN int AS BEGIN RETURN 1; END; PROCEDURE two(a int) AS BEGIN NULL; END; END",
    ]),
    bare(&["CREATE PACKAGE pack AS PROCEDURE act; END"]),
];

const PERIOD: &[Form] = &[
    form(
        &["CREATE TABLE valid (id int PRIMARY KEY, x int)"],
        &[("valid", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE valid (id int PRIMARY KEY, x int, since date NOT NULL DEFAULT '2001-01-01', until date NOT NULL DEFAULT '2002-01-01', \
             PERIOD FOR span (since, until), UNIQUE KEY one (id, span WITHOUT OVERLAPS))",
        ],
        &[("valid", &["x"])],
    ),
    form(
        &[
            "CREATE TABLE valid (id int PRIMARY KEY, x bigint, since date NOT NULL DEFAULT '2001-01-01', until date NOT NULL DEFAULT '2002-01-01', \
             PERIOD FOR span (since, until))",
        ],
        &[("valid", &["x"])],
    ),
];

const COUNTED: &[Form] = &[
    form(
        &[
            "CREATE SEQUENCE steps START WITH 5 INCREMENT BY 3",
            "CREATE TABLE stepped (id int PRIMARY KEY, x int DEFAULT nextval(steps))",
        ],
        &[("stepped", &["x"])],
    ),
    form(
        &[
            "CREATE SEQUENCE steps START WITH 5 MINVALUE 2 MAXVALUE 999 CACHE 10 CYCLE",
            "CREATE TABLE stepped (id int PRIMARY KEY, x int DEFAULT (nextval(steps) + 1))",
        ],
        &[("stepped", &["x"])],
    ),
    form(
        &["CREATE TABLE stepped (id int PRIMARY KEY, x int DEFAULT 3)"],
        &[("stepped", &["x"])],
    ),
];

const VERSIONED: &[Form] = &[
    form(
        &[
            "CREATE TABLE history (id int PRIMARY KEY, x int, y int WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING",
        ],
        &[("history", &["x", "y"])],
    ),
    form(
        &["CREATE TABLE history (id int PRIMARY KEY, x int, y int) WITH SYSTEM VERSIONING"],
        &[("history", &["x", "y"])],
    ),
    form(
        &["CREATE TABLE history (id int PRIMARY KEY, x int)"],
        &[("history", &["x"])],
    ),
];

const MANY_VALUED: &[Form] = &[
    form(
        &[
            "CREATE TABLE listed (id int PRIMARY KEY, x json, KEY many ((CAST(x->'$.a' AS unsigned ARRAY))))",
        ],
        &[("listed", &["x"])],
    ),
    form(
        &["CREATE TABLE listed (id int PRIMARY KEY, x json, y varchar(9), KEY low ((lower(y))))"],
        &[("listed", &["x", "y"])],
    ),
];

const ENFORCED: &[Form] = &[
    form(
        &[
            "CREATE TABLE checked (id int PRIMARY KEY, x int, CONSTRAINT lax CHECK (x > 9) NOT ENFORCED)",
        ],
        &[("checked", &["x"])],
    ),
    form(
        &["CREATE TABLE checked (id int PRIMARY KEY, x int, CONSTRAINT lax CHECK (x > 0))"],
        &[("checked", &["x"])],
    ),
];

//! What the corpus' cases leave out: each pair is reached there and back.

use schema::Product;

/// Servers that a pair is for, and the two texts.
pub(super) struct Feature {
    pub product: Option<Product>,
    pub from: &'static str,
    pub to: &'static str,
}

const fn both(from: &'static str, to: &'static str) -> Feature {
    Feature {
        product: None,
        from,
        to,
    }
}

const fn on(product: Product, from: &'static str, to: &'static str) -> Feature {
    Feature {
        product: Some(product),
        from,
        to,
    }
}

pub(super) const FEATURES: [Feature; 25] = [
    // Triggers of one event, in another order.
    both(
        "CREATE TABLE t (a int); CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1; \
         CREATE TRIGGER y BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 2;",
        "CREATE TABLE t (a int); CREATE TRIGGER y BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 2; \
         CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1; \
         CREATE TRIGGER z BEFORE INSERT ON t FOR EACH ROW PRECEDES x SET NEW.a = 3;",
    ),
    both(
        "CREATE TABLE t (a varchar(20), b varchar(40) COLLATE utf8mb4_bin) DEFAULT CHARSET=latin1 COMMENT='one'",
        "CREATE TABLE t (a varchar(20), b varchar(40)) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='it''s two; or not'",
    ),
    both(
        "CREATE TABLE t (a int) ENGINE=MyISAM",
        "CREATE TABLE t (a int) ENGINE=InnoDB ROW_FORMAT=DYNAMIC STATS_PERSISTENT=1",
    ),
    both(
        "CREATE TABLE t (a varchar(200), KEY k (a(10)))",
        "CREATE TABLE t (a varchar(200), KEY k (a(20) DESC) COMMENT 'longer')",
    ),
    both(
        "CREATE TABLE t (id int PRIMARY KEY, a text, FULLTEXT KEY f (a))",
        "CREATE TABLE t (id int PRIMARY KEY, a text, b text, FULLTEXT KEY f (a, b))",
    ),
    both(
        "CREATE TABLE t (id int PRIMARY KEY, p point NOT NULL)",
        "CREATE TABLE t (id int PRIMARY KEY, p point NOT NULL, SPATIAL KEY s (p))",
    ),
    both(
        "CREATE TABLE t (id int PRIMARY KEY, a int)",
        "CREATE TABLE t (id int PRIMARY KEY, a int INVISIBLE)",
    ),
    on(
        Product::Mysql,
        "CREATE TABLE t (a int, b varchar(9), KEY k (a) INVISIBLE, KEY f ((lower(b))))",
        "CREATE TABLE t (a int, b varchar(9), KEY k (a), KEY f ((upper(b))))",
    ),
    on(
        Product::MariaDb,
        "CREATE TABLE t (a int, KEY k (a) IGNORED)",
        "CREATE TABLE t (a int, KEY k (a))",
    ),
    on(
        Product::Mysql,
        "CREATE TABLE t (a int, CONSTRAINT c CHECK (a > 1) NOT ENFORCED)",
        "CREATE TABLE t (a int CHECK (a > 0), CONSTRAINT c CHECK (a > 1))",
    ),
    on(
        Product::MariaDb,
        "CREATE TABLE t (a int CHECK (a > 0), b uuid DEFAULT uuid(), c json)",
        "CREATE TABLE t (a int CHECK (a > 1), b uuid, c json DEFAULT '{}', d inet6)",
    ),
    on(
        Product::Mysql,
        "CREATE TABLE t (a json, b point NOT NULL SRID 4326, KEY m ((CAST(a->'$.x' AS unsigned ARRAY))))",
        "CREATE TABLE t (a json DEFAULT (json_object()), b point NOT NULL SRID 0)",
    ),
    both(
        "CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, a bit(3) DEFAULT b'101', b year DEFAULT 2000, c set('x','y') DEFAULT 'x,y')",
        "CREATE TABLE t (id bigint AUTO_INCREMENT, a bit(3) DEFAULT b'1', b year, c set('x','y','z'), UNIQUE KEY (id))",
    ),
    both(
        "CREATE TABLE t (a timestamp NULL, b datetime(3) DEFAULT now(3), c time(6), d date DEFAULT '2000-01-01', e float, f double(8,3))",
        "CREATE TABLE t (a timestamp NOT NULL DEFAULT current_timestamp ON UPDATE current_timestamp, b datetime, c time, e double, \
         f decimal(8,3) DEFAULT -1.5)",
    ),
    both(
        "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (a int, FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE)",
        "CREATE TABLE a (id bigint PRIMARY KEY); CREATE TABLE b (a bigint, KEY k (a), FOREIGN KEY (a) REFERENCES a (id) ON UPDATE SET NULL)",
    ),
    both(
        "CREATE TABLE a (id int PRIMARY KEY, b int, KEY (b), CONSTRAINT x FOREIGN KEY (b) REFERENCES b (id)); \
         CREATE TABLE b (id int PRIMARY KEY, a int, KEY (a), CONSTRAINT y FOREIGN KEY (a) REFERENCES a (id))",
        "CREATE TABLE c (id int PRIMARY KEY)",
    ),
    both(
        "CREATE TABLE t (a int NOT NULL, b int) PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))",
        "CREATE TABLE t (a int NOT NULL, b int) PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN (20), \
         PARTITION pm VALUES LESS THAN MAXVALUE)",
    ),
    both(
        "CREATE TABLE t (a int NOT NULL, b int NOT NULL, PRIMARY KEY (a)) PARTITION BY HASH (a) PARTITIONS 4",
        "CREATE TABLE t (a int NOT NULL, b int NOT NULL, PRIMARY KEY (b)) PARTITION BY KEY (b) PARTITIONS 2",
    ),
    both(
        "CREATE TABLE t (a int); CREATE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW v AS SELECT a FROM t WHERE a > 1 WITH CHECK OPTION",
        "CREATE TABLE t (a int, b int); CREATE VIEW w AS SELECT * FROM v; CREATE VIEW v (x, y) AS SELECT a, b FROM t",
    ),
    both(
        "CREATE TABLE v (a int)",
        "CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t",
    ),
    both(
        "CREATE TABLE t (a int); CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
        "CREATE TABLE t (a int); CREATE TRIGGER r AFTER INSERT ON t FOR EACH ROW BEGIN IF NEW.a THEN SET @a = ';'; END IF; END; \
         CREATE TRIGGER s BEFORE DELETE ON t FOR EACH ROW SET @b = OLD.a",
    ),
    both(
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2031-01-01 00:00:00' DISABLE DO SET @a = 1",
        "CREATE EVENT e ON SCHEDULE EVERY 2 DAY STARTS '2031-01-01 00:00:00' DISABLE COMMENT 'more' DO BEGIN SET @a = 1; END",
    ),
    both(
        "CREATE TABLE t (a int, b int AS (a + 1) VIRTUAL, c int AS (a * 2) STORED, KEY (c))",
        "CREATE TABLE t (a int, b int AS (a + 2) VIRTUAL, c int AS (a * 3) STORED, KEY (c))",
    ),
    both(
        "CREATE PROCEDURE p (IN a int) BEGIN SELECT a; END",
        "CREATE PROCEDURE p (IN a int) BEGIN SELECT a; SELECT ';'; END; CREATE FUNCTION f () RETURNS int DETERMINISTIC RETURN 1",
    ),
    on(
        Product::MariaDb,
        "CREATE SEQUENCE s; CREATE TABLE t (a int) WITH SYSTEM VERSIONING",
        "CREATE SEQUENCE s; CREATE TABLE t (a int)",
    ),
];

//! What the corpus' cases leave out: each pair is reached there and back.

use schema::Product;

/// The servers of a pair, and the two texts.
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

/// Views equal to the server's output without being read back.
pub(super) const VIEWS: &str = "
    CREATE TABLE users (id int PRIMARY KEY, Name varchar(20), parent int, born date);
    CREATE TABLE posts (id int PRIMARY KEY, user_id int, title varchar(40), price decimal(8,2));
    CREATE VIEW plain AS SELECT id, Name FROM users;
    CREATE VIEW renamed (`a b`, c) AS SELECT id AS x, coalesce(Name, 'none') FROM users AS u WHERE u.id > 0 AND NOT parent IS NULL;
    CREATE VIEW joined AS SELECT u.id, p.title AS what, p.price * 2 + 1 AS price FROM users u INNER JOIN posts AS p ON p.user_id = u.id
        LEFT OUTER JOIN users AS above ON above.id = u.parent WHERE p.title LIKE 'a%' AND u.id IN (1, 2, 3) ORDER BY u.id ASC, p.title DESC;
    CREATE VIEW counted AS SELECT user_id, count(*) AS posts, sum(price) AS total FROM posts GROUP BY user_id HAVING count(*) > 1;
    CREATE VIEW some AS SELECT DISTINCT title FROM posts WHERE price BETWEEN 1 AND 9 LIMIT 10 OFFSET 5;
    CREATE VIEW kept AS SELECT id, CASE WHEN parent IS NULL THEN 'top' ELSE 'below' END AS place FROM users
        WHERE born < '2000-01-01' WITH CHECK OPTION;
    CREATE VIEW crossed AS SELECT users.id AS one, posts.id AS other FROM users, posts WHERE users.id <> posts.id OR users.id = 0;
";

/// What MariaDB knows since version 11.7.
pub(super) const OF_THE_NEWER_MARIADB: [(&str, &str); 1] = [(
    "CREATE TABLE t (id int PRIMARY KEY, v vector(3) NOT NULL, VECTOR INDEX (v) m=16 distance=cosine)",
    "CREATE TABLE t (id int PRIMARY KEY, v vector(3) NOT NULL, VECTOR INDEX (v) M=8)",
)];

/// All kinds of objects written by `mysqldump`.
pub(super) const DUMPED: &str = "
    CREATE TABLE p (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, name varchar(20) COLLATE utf8mb4_bin DEFAULT 'it''s; -- no',
        at timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, data json, twice int GENERATED ALWAYS AS (hidden * 2) STORED,
        hidden int INVISIBLE, FULLTEXT KEY words (name), CONSTRAINT small CHECK (hidden < 100)) COMMENT='a /* b */ c' AUTO_INCREMENT=7;
    CREATE TABLE c (id int, p bigint unsigned, kind enum('a','b,c'), PRIMARY KEY (id), KEY (p), CONSTRAINT up FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE);
    CREATE TABLE l (id int, PRIMARY KEY (id)) PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (10), PARTITION b VALUES LESS THAN MAXVALUE);
    CREATE VIEW w AS SELECT id, name FROM p WHERE id > 1;
    CREATE VIEW v AS SELECT name FROM w;
    CREATE FUNCTION twice(n int) RETURNS int DETERMINISTIC RETURN n * 2;
    CREATE PROCEDURE fill(IN n int) BEGIN DECLARE i int DEFAULT 0; WHILE i < n DO INSERT INTO l VALUES (i); SET i = i + 1; END WHILE; END;
    CREATE TRIGGER t BEFORE INSERT ON c FOR EACH ROW BEGIN SET NEW.kind = 'a'; END;
    CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DISABLE DO DELETE FROM l";

/// Kinds written by `mariadb-dump` only.
pub(super) const DUMPED_BY_MARIADB: &str = "
    CREATE SEQUENCE numbers START WITH 5 INCREMENT BY 3 CACHE 7;
    CREATE TABLE numbered (id int DEFAULT (NEXT VALUE FOR numbers) PRIMARY KEY, at datetime(6), KEY ignored (at) IGNORED) ENGINE=Aria;
    CREATE TABLE past (id int PRIMARY KEY, a int) WITH SYSTEM VERSIONING;
    INSERT INTO past VALUES (1, 2);
    UPDATE past SET a = 3";

/// What the order of statements has to respect in sqldef's style.
pub(super) const OF_SQLDEFS_ORDER: [(&str, &str); 6] = [
    // The child goes, and its foreign key stands on the key that changes.
    (
        "CREATE TABLE parents (id int NOT NULL, code int NOT NULL, PRIMARY KEY (id)); \
         CREATE TABLE children (id int PRIMARY KEY, parent int, CONSTRAINT up FOREIGN KEY (parent) REFERENCES parents (id))",
        "CREATE TABLE parents (id int NOT NULL, code int NOT NULL, PRIMARY KEY (code))",
    ),
    // The same in two steps: a grandchild stands on the child.
    (
        "CREATE TABLE a (id int NOT NULL, code int NOT NULL, PRIMARY KEY (id)); \
         CREATE TABLE b (id int PRIMARY KEY, a int, CONSTRAINT b_a FOREIGN KEY (a) REFERENCES a (id)); \
         CREATE TABLE c (id int PRIMARY KEY, b int, CONSTRAINT c_b FOREIGN KEY (b) REFERENCES b (id))",
        "CREATE TABLE a (id int NOT NULL, code int NOT NULL, PRIMARY KEY (id, code))",
    ),
    // A numbered column of a renamed table, under another name, of another type, with its key and
    // without one.
    (
        "CREATE TABLE old_users (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, user_name varchar(50))",
        "CREATE TABLE users ( -- @renamed from=old_users\n user_id bigint NOT NULL AUTO_INCREMENT, -- @renamed from=id\n \
         name varchar(100), -- @renamed from=user_name\n is_active tinyint DEFAULT 1,\n PRIMARY KEY (user_id))",
    ),
    (
        "CREATE TABLE old_users (id int NOT NULL, user_name varchar(50))",
        "CREATE TABLE users ( -- @renamed from=old_users\n id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,\n \
         name varchar(100) -- @renamed from=user_name\n)",
    ),
    (
        "CREATE TABLE users (id int NOT NULL, name varchar(50))",
        "CREATE TABLE users (id bigint NOT NULL AUTO_INCREMENT, name varchar(50), KEY by_id (id))",
    ),
    // The index that came with a foreign key gives way to one that is written.
    (
        "CREATE TABLE authors (id int PRIMARY KEY); \
         CREATE TABLE books (id int PRIMARY KEY, author_id int, FOREIGN KEY (author_id) REFERENCES authors (id))",
        "CREATE TABLE authors (id int PRIMARY KEY); \
         CREATE TABLE books (id int PRIMARY KEY, author_id int, pages int CHECK (pages > 0), KEY by_author (author_id, pages), \
         FOREIGN KEY (author_id) REFERENCES authors (id))",
    ),
];

pub(super) const FEATURES: &[Feature] = &[
    // The server writes the table's block size to every index, and none takes it away.
    both(
        "CREATE TABLE t (id int PRIMARY KEY, x int, KEY (x)) ENGINE=MyISAM MAX_ROWS=100",
        "CREATE TABLE t (id int PRIMARY KEY, x bigint, KEY (x)) ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8",
    ),
    // A check does not let its column go under another name.
    both(
        "CREATE TABLE t (id int PRIMARY KEY, born int, CONSTRAINT known CHECK (born > 1900))",
        "CREATE TABLE t (id int PRIMARY KEY, year_of_birth int, -- @renamed from=born\n CONSTRAINT known CHECK (year_of_birth > 1900))",
    ),
    // A table gets a history, and a column none of its own.
    on(
        Product::MariaDb,
        "CREATE TABLE t (id int PRIMARY KEY, a int)",
        "CREATE TABLE t (id int PRIMARY KEY, a int WITHOUT SYSTEM VERSIONING, b int WITHOUT SYSTEM VERSIONING) \
         WITH SYSTEM VERSIONING",
    ),
    // A table whose history stays is altered with it.
    on(
        Product::MariaDb,
        "CREATE TABLE t (id int NOT NULL PRIMARY KEY, a int, b int) WITH SYSTEM VERSIONING",
        "CREATE TABLE t (id int NOT NULL PRIMARY KEY, a bigint, c int NOT NULL DEFAULT 3, KEY (a)) WITH SYSTEM VERSIONING",
    ),
    // What a routine takes and returns, and what it promises.
    both(
        "CREATE FUNCTION f(n int) RETURNS int DETERMINISTIC RETURN n * 2; CREATE PROCEDURE p(IN n int) SELECT 1;",
        "CREATE FUNCTION f(n int) RETURNS varchar(20) NOT DETERMINISTIC NO SQL RETURN n * 2; \
         CREATE PROCEDURE p(OUT m int) SQL SECURITY INVOKER COMMENT 'it''s 1' SELECT 2;",
    ),
    // Not dropped from the key that is added, or it is made anew for ever.
    both(
        "CREATE TABLE t (id int NOT NULL, b int, PRIMARY KEY (id) COMMENT 'one');",
        "CREATE TABLE t (id int NOT NULL, b int NOT NULL, PRIMARY KEY (id, b) COMMENT 'both');",
    ),
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
    on(
        Product::Mysql,
        "CREATE TABLE t (id int PRIMARY KEY, a text, FULLTEXT KEY f (a) WITH PARSER ngram)",
        "CREATE TABLE t (id int PRIMARY KEY, a text, FULLTEXT KEY f (a))",
    ),
    both(
        "CREATE EVENT e ON SCHEDULE EVERY 1 WEEK STARTS '2031-01-01 00:00:00' ENDS '2032-01-01 00:00:00' ON COMPLETION PRESERVE \
         DO SET @a = 1",
        "CREATE EVENT e ON SCHEDULE AT '2031-01-01 00:00:00' ON COMPLETION NOT PRESERVE DISABLE COMMENT 'once' DO SET @a = 1",
    ),
    both(
        "CREATE TABLE t (a int); CREATE SQL SECURITY INVOKER VIEW v AS SELECT a FROM t; CREATE ALGORITHM=TEMPTABLE VIEW w AS SELECT a FROM t",
        "CREATE TABLE t (a int); CREATE SQL SECURITY DEFINER VIEW v AS SELECT a FROM t; CREATE ALGORITHM=MERGE VIEW w AS SELECT a FROM t",
    ),
    on(
        Product::MariaDb,
        "CREATE TABLE t (id int, a date NOT NULL, b date NOT NULL, PERIOD FOR p (a, b))",
        "CREATE TABLE t (id int, a date NOT NULL, b date NOT NULL)",
    ),
    // Options that are taken back.
    both(
        "CREATE TABLE a (x int) ENGINE=MyISAM; CREATE TABLE b (x int) ENGINE=MyISAM; \
         CREATE TABLE t (x int) ENGINE=MERGE UNION=(a, b) INSERT_METHOD=LAST",
        "CREATE TABLE a (x int) ENGINE=MyISAM; CREATE TABLE b (x int) ENGINE=MyISAM; CREATE TABLE t (x int) ENGINE=MERGE",
    ),
    both(
        "CREATE TABLE t (x int) CONNECTION='mysql://other/T'",
        "CREATE TABLE t (x int)",
    ),
    both(
        "CREATE TABLE t (x int) ENGINE=MyISAM AVG_ROW_LENGTH=10 CHECKSUM=1 DELAY_KEY_WRITE=1 MAX_ROWS=100 MIN_ROWS=10 PACK_KEYS=1",
        "CREATE TABLE t (x int) ENGINE=MyISAM",
    ),
    both(
        "CREATE TABLE t (x int) STATS_PERSISTENT=1 STATS_AUTO_RECALC=0 STATS_SAMPLE_PAGES=9 KEY_BLOCK_SIZE=8",
        "CREATE TABLE t (x int)",
    ),
    on(
        Product::Mysql,
        "CREATE TABLE t (x int) TABLESPACE=innodb_system; CREATE TABLE u (x int) COMPRESSION='zlib' AUTOEXTEND_SIZE=4194304",
        "CREATE TABLE t (x int); CREATE TABLE u (x int) TABLESPACE=innodb_file_per_table",
    ),
    on(
        Product::MariaDb,
        "CREATE TABLE t (x int) PAGE_COMPRESSED=1 PAGE_COMPRESSION_LEVEL=5",
        "CREATE TABLE t (x int)",
    ),
    // Values that move between partitions, with a new name for one and one that goes between two
    // others.
    both(
        "CREATE TABLE t (a int) PARTITION BY LIST (a) (PARTITION p VALUES IN (1, 2), PARTITION q VALUES IN (3), PARTITION r VALUES IN (4, NULL))",
        "CREATE TABLE t (a int) PARTITION BY LIST (a) (PARTITION p VALUES IN (1), PARTITION s VALUES IN (3, 2), PARTITION r VALUES IN (4, NULL))",
    ),
    both(
        "CREATE TABLE t (a int, b varchar(9)) PARTITION BY LIST COLUMNS (a, b) (PARTITION p VALUES IN ((1, 'x'), (2, 'y')), \
         PARTITION q VALUES IN ((3, 'z')), PARTITION r VALUES IN ((4, 'a')))",
        "CREATE TABLE t (a int, b varchar(9)) PARTITION BY LIST COLUMNS (a, b) (PARTITION p VALUES IN ((1, 'x')), \
         PARTITION r VALUES IN ((4, 'a'), (2, 'y')), PARTITION s VALUES IN ((5, 'b')))",
    ),
    on(
        Product::MariaDb,
        "CREATE TABLE t (a int) PARTITION BY LIST (a) (PARTITION p VALUES IN (1, 2), PARTITION r DEFAULT)",
        "CREATE TABLE t (a int) PARTITION BY LIST (a) (PARTITION p VALUES IN (1), PARTITION q VALUES IN (3), PARTITION r DEFAULT)",
    ),
    // The body of a package goes with its head, changed or not.
    on(
        Product::MariaDb,
        "CREATE PACKAGE p AS FUNCTION one RETURN int; END; CREATE PACKAGE BODY p AS FUNCTION one RETURN int AS BEGIN RETURN 1; END; END; \
         CREATE PACKAGE q AS PROCEDURE act; END; CREATE PACKAGE BODY q AS PROCEDURE act AS BEGIN SET @a = 1; END; END; \
         CREATE PACKAGE gone AS PROCEDURE act; END; CREATE PACKAGE BODY gone AS PROCEDURE act AS BEGIN SET @a = 1; END; END",
        "CREATE PACKAGE p AS FUNCTION one RETURN int; PROCEDURE two; END; CREATE PACKAGE BODY p AS FUNCTION one RETURN int AS BEGIN RETURN 1; END; \
         PROCEDURE two AS BEGIN SET @a = 2; END; END; \
         CREATE PACKAGE q AS PROCEDURE act; END; CREATE PACKAGE BODY q AS PROCEDURE act AS BEGIN SET @a = 2; END; END",
    ),
    on(
        Product::MariaDb,
        "CREATE PACKAGE p COMMENT 'one' AS PROCEDURE act; END; CREATE PACKAGE BODY p AS PROCEDURE act AS BEGIN SET @a = 1; END; END",
        "CREATE PACKAGE p COMMENT 'two' AS PROCEDURE act; END; CREATE PACKAGE BODY p AS PROCEDURE act AS BEGIN SET @a = 1; END; END",
    ),
    // The server takes the bytes of an enumeration's number for letters of the text that follows,
    // so that an index would be on the first of them.
    on(
        Product::Mysql,
        "CREATE TABLE t (e enum('a1','a2') NOT NULL, s set('b1','b2') NOT NULL, f enum('a1','a2'), g enum('a1','a2'), \
         PRIMARY KEY (e, s), UNIQUE KEY once (f, e), KEY pair (s, f DESC), KEY wide (g), KEY hidden (f) INVISIBLE) DEFAULT CHARSET=latin1",
        "CREATE TABLE t (e varchar(20) NOT NULL, s char(20) CHARACTER SET utf8mb4 NOT NULL, f varbinary(20), g text, \
         PRIMARY KEY (e, s), UNIQUE KEY once (f, e), KEY pair (s, f DESC), KEY wide (g(9)), KEY hidden (f)) DEFAULT CHARSET=latin1",
    ),
    // Prefixes that only one of both types has, or both.
    both(
        "CREATE TABLE t (a varchar(20), b text, c blob, d varchar(10), e varchar(20) CHARACTER SET latin1, f char(8), \
         KEY (a(5)), KEY (b(5)), KEY (c(5)), KEY (d), KEY (e(5)), KEY (f(2)))",
        "CREATE TABLE t (a text, b varchar(5), c varbinary(20), d text, e varbinary(20), f varchar(30) CHARACTER SET latin1, \
         KEY (a(5)), KEY (b), KEY (c(5)), KEY (d(10)), KEY (e(5)), KEY (f(2)))",
    ),
];

//! Hostile texts: pieces of SQL glued by a seeded generator, and long repetitive ones. Nothing may
//! panic or overflow the stack, and whatever is read may be compared with itself.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;
use schema::{PlanOptions, Product, Server, Source, Style};

const PRODUCTS: [Product; 4] = [
    Product::Mysql,
    Product::MariaDb,
    Product::Postgres,
    Product::Sqlite,
];

/// Number of generated texts per run; `HAKARU_SCHEMA_FUZZ` sets another for a long run.
const TEXTS: u64 = 2_000;

/// Statements of all dialects, with what is hard to cut: quotes, comments, bodies, client
/// directives.
const SEEDS: &[&str] = &[
    "CREATE TABLE `a``b` (id int(11) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; \\'so\\'', n varchar(20) DEFAULT 'x',\n  PRIMARY KEY (id), UNIQUE KEY u (n(10) DESC), KEY f ((lower(n))), CONSTRAINT c CHECK (n in ('a', 'b'))) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 /*!50100 PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE) */;\n",
    "DELIMITER ;;\nCREATE DEFINER=`me`@`%` TRIGGER t BEFORE INSERT ON a FOR EACH ROW BEGIN IF NEW.n = ';' THEN SET NEW.n = 'x'; END IF; END ;;\nDELIMITER ;\n",
    "/*!40101 SET NAMES utf8 */;\nINSERT INTO a VALUES (1, 'a;b'), (2, NULL);\nCREATE ALGORITHM=MERGE VIEW v AS SELECT a.id AS i FROM a WHERE n LIKE '%;%' -- end;\n;\n",
    "CREATE TABLE public.users (id bigserial PRIMARY KEY, \"Nick\" text COLLATE \"C\" DEFAULT 'x'::text, tags text[] NOT NULL, at timestamp with time zone DEFAULT now(), total numeric(10,2) GENERATED ALWAYS AS (id * 2) STORED, CONSTRAINT c CHECK (((id > 0) AND (\"Nick\" = ANY (ARRAY['a', 'b']))))) PARTITION BY HASH (id);\n",
    "CREATE FUNCTION f(a integer DEFAULT 1) RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN RETURN NEW; -- ; $x$\nEND; $body$;\nCREATE TRIGGER t AFTER UPDATE OF id ON users FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION f('a');\n",
    "\\set ON_ERROR_STOP 1\nCOPY users (id, n) FROM stdin;\n1\ta;b\n\\.\nCREATE TYPE mood AS ENUM ('sad', 'ok'); ALTER TYPE mood ADD VALUE 'new' BEFORE 'ok'; COMMENT ON COLUMN users.id IS E'it\\'s';\n",
    "CREATE UNIQUE INDEX CONCURRENTLY i ON ONLY app.users USING gin (lower(n) text_pattern_ops DESC NULLS LAST) INCLUDE (id) WITH (fillfactor=70) WHERE (n IS NOT NULL); CREATE POLICY p ON users FOR SELECT TO public USING (true);\n",
    "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, 'n' TEXT CHECK (length(n) > 1) REFERENCES u (id) ON DELETE CASCADE DEFERRABLE, [x] ANY, y AS (x + 1) VIRTUAL) STRICT, WITHOUT ROWID; -- @renamed from=old\n",
    "CREATE TRIGGER IF NOT EXISTS tr INSTEAD OF DELETE ON v BEGIN DELETE FROM t WHERE id = CASE WHEN OLD.id THEN 1 ELSE 2 END; SELECT ';'; END;\nCREATE VIRTUAL TABLE fts USING fts5(a, content='t');\n",
    "ALTER TABLE t ADD COLUMN z int AFTER id, DROP COLUMN n, ADD CONSTRAINT fk FOREIGN KEY (a, b) REFERENCES u (c, d) ON UPDATE SET NULL; DROP TABLE IF EXISTS gone; -- caf\u{e9} \u{1f600}\n",
    "CREATE USER app WITH CONNECTION LIMIT 5 VALID UNTIL '2030-01-31' PASSWORD 'x''y' IN ROLE r; ALTER ROLE app IN DATABASE d SET search_path = a, \"B\"; ALTER USER app RESET x; GRANT r, s TO app WITH ADMIN OPTION, INHERIT FALSE GRANTED BY z; REVOKE ADMIN OPTION FOR r FROM app CASCADE; COMMENT ON ROLE app IS 'it''s \u{1f600}';\n",
    "CREATE USER app@'%' IDENTIFIED WITH p BY 'x', b IDENTIFIED BY RANDOM PASSWORD DEFAULT ROLE r REQUIRE SUBJECT 's' AND ISSUER 'i' WITH MAX_USER_CONNECTIONS 5 PASSWORD EXPIRE DEFAULT ACCOUNT LOCK COMMENT 'c'; CREATE ROLE r; GRANT r TO app, b WITH ADMIN OPTION; GRANT RELOAD, SHOW DATABASES ON *.* TO app WITH GRANT OPTION; SET DEFAULT ROLE r FOR app; ALTER USER app REQUIRE NONE;\n",
];

/// Opening pieces, left unclosed when glued in.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "[",
    "$$",
    "$a$",
    "/*",
    "*/",
    "/*!50100 ",
    "--",
    "#",
    "(",
    ")",
    ",",
    ";",
    "\\",
    "\\.\n",
    "E'",
    "U&\"",
    "x'",
    "DELIMITER //\n",
    "BEGIN",
    "END",
    "\0",
    "\u{feff}",
    "@renamed from=",
    "::",
    "1e",
    "0x",
    ".",
    "\u{1f600}",
    "CREATE",
    "AS",
];

fn text(rng: &mut Rng) -> String {
    let mut text: Vec<char> = SEEDS[rng.usize(..SEEDS.len())].chars().collect();
    for _ in 0..rng.usize(0..6) {
        let place = rng.usize(0..=text.len());
        match rng.u8(0..5) {
            0 => text.truncate(place),
            1 => {
                let end = rng.usize(place..=text.len().min(place + 20));
                text.drain(place..end);
            }
            2 => {
                let piece = PIECES[rng.usize(..PIECES.len())];
                text.splice(place..place, piece.chars());
            }
            3 => {
                let other: Vec<char> = SEEDS[rng.usize(..SEEDS.len())].chars().collect();
                let start = rng.usize(0..other.len());
                let end = rng.usize(start..=other.len());
                text.splice(place..place, other[start..end].iter().copied());
            }
            _ => {
                let end = text.len().min(place + rng.usize(0..40));
                let again: Vec<char> = text[place..end].to_vec();
                text.splice(place..place, again);
            }
        }
    }
    text.into_iter().collect()
}

/// Reads a text; on success, prints the schema and compares equal schemas in both spellings.
fn use_it(text: &str, product: Product) {
    let source = Source {
        name: "hostile.sql".to_owned(),
        text: text.to_owned(),
    };
    let roles = ["app", "b"].map(str::to_owned);
    let read = schema::read_with_roles(&[source], &Server::unknown(product), &roles);
    let Ok(loaded) = read else {
        return;
    };
    loaded.schema.statements();
    for style in [Style::Native, Style::Sqldef] {
        let options = PlanOptions {
            style,
            ..PlanOptions::default()
        };
        // An error is an answer; a panic is not.
        let _ = schema::plan(&loaded.schema, &loaded.schema, &options);
    }
}

#[test]
fn nothing_panics_on_what_a_generator_makes() {
    let asked = std::env::var("HAKARU_SCHEMA_FUZZ");
    let texts = asked.map_or(TEXTS, |number| number.parse().unwrap());
    for seed in 0..texts {
        let text = text(&mut Rng::with_seed(seed));
        for product in PRODUCTS {
            let done = catch_unwind(AssertUnwindSafe(|| use_it(&text, product)));
            assert!(done.is_ok(), "seed {seed}, {product:?}:\n{text}");
        }
    }
}

/// One piece again and again, between a head and a tail.
type Shape = (&'static str, &'static str, &'static str);

const SHAPES: &[Shape] = &[
    ("", ";", ""),
    ("CREATE TABLE t (a int DEFAULT ", "(", ""),
    ("CREATE TABLE t (a int DEFAULT (1", "+(1", ""),
    ("CREATE TABLE t (a int DEFAULT '", "''", ""),
    ("/*", "/*", ""),
    ("", "-- x\n", ""),
    ("", "'", ""),
    ("", "$a", ""),
    ("", "$a$;", ""),
    ("", "DELIMITER ;\n", ""),
    ("", "BEGIN ", ""),
    ("CREATE TABLE t (", "a int,", "b int);"),
    ("", "CREATE TABLE t (a int);", ""),
    ("CREATE VIEW v AS SELECT ", "1,", "1;"),
    ("", "\\", ""),
    ("", "/*!1 ", ""),
    ("CREATE VIEW v AS SELECT ", "NOT ", "1;"),
    ("CREATE VIEW v AS SELECT ", "- ", "1;"),
    ("CREATE VIEW v AS SELECT ", "CASE WHEN ", "1;"),
    ("CREATE VIEW v AS SELECT ", "ARRAY[", "1;"),
    ("CREATE VIEW v AS SELECT 1", " UNION SELECT 1", ";"),
    ("CREATE VIEW v AS SELECT * FROM a", " JOIN a", ";"),
    ("CREATE VIEW v AS SELECT * FROM a WHERE b", " AND b", ";"),
    ("CREATE VIEW v AS SELECT a", "::a", ";"),
    ("CREATE VIEW v AS SELECT a", ".a", ";"),
    ("CREATE VIEW v AS SELECT 1", " = 1", ";"),
    ("CREATE VIEW v AS SELECT 1", " || 1", ";"),
    ("", "ALTER TABLE a ADD b int;", ""),
    ("", "CREATE SCHEMA a ", ""),
    ("", "EXPLAIN ", ""),
    ("CREATE VIEW v AS ", "WITH a AS ", ""),
];

/// Size of deep texts, enough to overflow any stack growing with the text. `cargo xtask bench
/// schema` measures the time, on 10 MB of each.
const BYTES: usize = 60_000;

#[test]
fn no_shape_ends_the_stack() {
    // That of a thread is smaller than that of the program.
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let used = thread.spawn(|| {
        for (head, piece, tail) in SHAPES {
            let text = format!("{head}{}{tail}", piece.repeat(BYTES / piece.len()));
            PRODUCTS.iter().for_each(|product| use_it(&text, *product));
        }
    });
    used.unwrap().join().unwrap();
}

#[test]
fn a_table_that_cannot_be_read_is_never_passed_over() {
    let text = format!("CREATE TABLE t (a int DEFAULT {}", "(".repeat(BYTES));
    for product in PRODUCTS {
        let source = Source {
            name: "deep.sql".to_owned(),
            text: text.clone(),
        };
        let read = schema::read(&[source], &Server::unknown(product));
        assert!(read.is_err(), "{product:?}");
    }
}

//! Large or broken MySQL texts: every schema read equals a second reading. Hostile texts of all
//! dialects are in `hostile`.

use std::time::{Duration, Instant};

use fastrand::Rng;
use schema::{PlanOptions, Product, Schema, Server, Source, Style, SyntaxError};

/// Tables of the large schema, about 0.8 MB of text.
const TABLES: usize = 2_000;

/// Far above what an optimised build needs (0.1 s), since tests are not optimised and share the
/// machine.
const SELF_LIMIT: Duration = Duration::from_secs(20);

/// Number of broken texts.
const BROKEN: u64 = 2_000;

fn read(text: &str) -> Result<Schema, SyntaxError> {
    let source = Source {
        name: "load.sql".to_owned(),
        text: text.to_owned(),
    };
    let loaded = schema::read(&[source], &Server::unknown(Product::Mysql))?;
    Ok(loaded.schema)
}

fn many_tables() -> String {
    let mut text = String::new();
    for number in 0..TABLES {
        let parent = number / 2;
        text.push_str(&format!(
            "CREATE TABLE `table_{number}` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `parent_id` bigint unsigned DEFAULT NULL,
  `name` varchar(255) COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  `kind` enum('one','two') DEFAULT 'one' COMMENT 'which; of both',
  `size` decimal(10,2) GENERATED ALWAYS AS (`id` * 2) VIRTUAL,
  `created_at` datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  PRIMARY KEY (`id`),
  UNIQUE KEY `by_name` (`name`,`kind`),
  KEY `by_parent` (`parent_id`),
  CONSTRAINT `parent_{number}` FOREIGN KEY (`parent_id`) REFERENCES `table_{parent}` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n"
        ));
    }
    text
}

#[test]
fn a_large_schema_equals_itself() {
    let text = many_tables();
    let start = Instant::now();
    let (from, to) = (read(&text).unwrap(), read(&text).unwrap());
    let read = start.elapsed();
    for style in [Style::Native, Style::Sqldef] {
        let options = PlanOptions {
            style,
            ..PlanOptions::default()
        };
        assert_eq!(schema::plan(&from, &to, &options).unwrap().statements, []);
    }
    let took = start.elapsed();
    println!(
        "{TABLES} tables, {} bytes: read twice in {} ms, compared twice, all in {} ms",
        text.len(),
        read.as_millis(),
        took.as_millis()
    );
    assert!(took < SELF_LIMIT, "{took:?}");
}

const PIECES: [&str; 60] = [
    "CREATE",
    "TABLE",
    "ALTER",
    "DROP",
    "INDEX",
    "VIEW",
    "TRIGGER",
    "EVENT",
    "t",
    "`a b`",
    "a",
    "(",
    ")",
    ",",
    ";",
    "'it''s'",
    "'",
    "`",
    "\"x\"",
    "/*",
    "*/",
    "/*!50100 ",
    "--",
    "-- @renamed from=b\n",
    "#",
    "\n",
    "int",
    "varchar(10)",
    "enum('a','b')",
    "NOT",
    "NULL",
    "DEFAULT",
    "1",
    "-1.5",
    "b'1'",
    "PRIMARY",
    "KEY",
    "UNIQUE",
    "CONSTRAINT",
    "FOREIGN",
    "REFERENCES",
    "CHECK",
    "PARTITION",
    "BY",
    "RANGE",
    "VALUES",
    "LESS",
    "THAN",
    "MAXVALUE",
    "AS",
    "SELECT",
    "ON",
    "FOR",
    "EACH",
    "ROW",
    "BEGIN",
    "END",
    "DELIMITER $$\n",
    "$$",
    "é",
];

#[test]
fn broken_texts_equal_themselves() {
    let whole = many_tables();
    let whole: Vec<&str> = whole.split_inclusive(' ').take(200).collect();
    for seed in 0..BROKEN {
        let mut random = Rng::with_seed(seed);
        let mut text = String::new();
        for _ in 0..random.usize(1..80) {
            text.push_str(match random.u8(..3) {
                0 => whole[random.usize(..whole.len())],
                _ => PIECES[random.usize(..PIECES.len())],
            });
            if random.bool() {
                text.push(' ');
            }
        }
        if let Ok(schema) = read(&text) {
            // What was read can be written and compared, whatever it is.
            let _ = schema.statements();
            for style in [Style::Native, Style::Sqldef] {
                let options = PlanOptions {
                    style,
                    ..PlanOptions::default()
                };
                let plan = schema::plan(&schema, &schema, &options);
                assert_eq!(plan.unwrap().statements, [], "seed {seed}: {text}");
            }
        }
    }
}

mod tables;

use super::*;
use crate::{Allowed, Hazard, NoteKind, ObjectKind, Product, Statement, Style, Version};

fn server(product: Product) -> Server {
    Server {
        version: Some(match product {
            Product::MariaDb => Version(10, 11, 14),
            _ => Version(9, 7, 0),
        }),
        charset: Some("utf8mb4".to_owned()),
        collation: Some("utf8mb4_general_ci".to_owned()),
        database: Some("app".to_owned()),
        ..Server::unknown(product)
    }
}

fn read_on(sql: &str, product: Product) -> (Schema, Vec<Note>) {
    let source = Source {
        name: "-".to_owned(),
        text: sql.to_owned(),
    };
    read(&[source], &server(product)).unwrap()
}

fn planned(from: &str, to: &str, product: Product) -> Vec<Statement> {
    let (from, to) = (read_on(from, product).0, read_on(to, product).0);
    plan(&from, &to, &PlanOptions::default())
        .unwrap()
        .statements
}

#[track_caller]
fn check(from: &str, to: &str, expected: &[&str]) {
    let statements = planned(from, to, Product::Mysql);
    let found: Vec<&str> = statements.iter().map(|step| step.sql.as_str()).collect();
    assert_eq!(found, expected);
}

/// Both texts are stored alike.
#[track_caller]
fn same(product: Product, one: &str, other: &str) {
    for (from, to) in [(one, other), (other, one)] {
        let found: Vec<String> = planned(from, to, product)
            .into_iter()
            .map(|step| step.sql)
            .collect();
        assert_eq!(found, Vec::<String>::new(), "{from} -> {to}");
    }
}

#[test]
fn objects_come_and_go() {
    let table = "CREATE TABLE `t` (id int)";
    let view = "CREATE VIEW v AS SELECT id FROM t";
    check("", &format!("{view};\n{table};"), &[table, view]);
    check(
        &format!("{table};{view}"),
        "",
        &["DROP TABLE `t`", "DROP VIEW `v`"],
    );
    check(table, "create table t(id INT) -- the same", &[]);
    let other = "CREATE VIEW v AS SELECT 1";
    check(
        &format!("{table};{view}"),
        &format!("{table};{other}"),
        &["CREATE OR REPLACE VIEW v AS SELECT 1"],
    );
}

#[test]
fn one_table_is_altered_once() {
    check(
        "CREATE TABLE t (id int NOT NULL, a int, b varchar(10), KEY k (a))",
        "CREATE TABLE t (id int NOT NULL AUTO_INCREMENT, b varchar(20), c date, a int, PRIMARY KEY (id), KEY k (a, c)) COMMENT='x'",
        &[
            "ALTER TABLE `t` DROP INDEX `k`, MODIFY COLUMN `id` int NOT NULL AUTO_INCREMENT, \
           MODIFY COLUMN `b` varchar(20) AFTER `id`, ADD COLUMN `c` date AFTER `b`, \
           ADD PRIMARY KEY (`id`), ADD KEY `k` (`a`, `c`), COMMENT='x'",
        ],
    );
}

#[test]
fn what_destroys_stands_alone() {
    let from = "CREATE TABLE t (a int, b bigint, c int, KEY k (c))";
    let to = "CREATE TABLE t (a int, b int, d int)";
    check(
        from,
        to,
        &[
            "ALTER TABLE `t` ADD COLUMN `d` int AFTER `b`",
            "ALTER TABLE `t` MODIFY COLUMN `b` int",
            "ALTER TABLE `t` DROP INDEX `k`",
            "ALTER TABLE `t` DROP COLUMN `c`",
        ],
    );
    let mut plan = Plan {
        statements: planned(from, to, Product::Mysql),
    };
    plan.hold_back(&Allowed::default());
    assert_eq!(plan.applied().count(), 1);
    plan.hold_back(&Allowed {
        all: false,
        named: vec!["drop-column:t.c".to_owned(), "alter-column:t.b".to_owned()],
    });
    // The index would go with its column.
    assert_eq!(plan.applied().count(), 2);
}

#[test]
fn foreign_keys_wait_for_their_tables() {
    let a = "CREATE TABLE a (id int PRIMARY KEY, b int, FOREIGN KEY (b) REFERENCES b (id))";
    let b = "CREATE TABLE b (id int PRIMARY KEY)";
    check("", &format!("{a};{b}"), &[b, a]);
    check(
        &format!("{a};{b}"),
        "",
        &["DROP TABLE `a`", "DROP TABLE `b`"],
    );
    let circle = "CREATE TABLE b (id int PRIMARY KEY, a int, CONSTRAINT c FOREIGN KEY (a) REFERENCES a (id))";
    let statements = planned("", &format!("{a};{circle}"), Product::Mysql);
    let last = &statements.last().unwrap().sql;
    assert!(
        last.starts_with("ALTER TABLE `b` ADD CONSTRAINT `c`"),
        "{last}"
    );
    assert_eq!(
        planned(&format!("{a};{circle}"), "", Product::Mysql).len(),
        3
    );
}

#[test]
fn a_foreign_key_makes_room_for_its_columns() {
    let tables = |kind: &str| {
        format!(
            "CREATE TABLE p (id {kind} PRIMARY KEY);\
             CREATE TABLE c (p {kind}, KEY k (p), CONSTRAINT k FOREIGN KEY (p) REFERENCES p (id))"
        )
    };
    check(
        &tables("int"),
        &tables("bigint"),
        &[
            "ALTER TABLE `c` DROP FOREIGN KEY `k`",
            "ALTER TABLE `p` MODIFY COLUMN `id` bigint NOT NULL",
            "ALTER TABLE `c` MODIFY COLUMN `p` bigint",
            "ALTER TABLE `c` ADD CONSTRAINT `k` FOREIGN KEY (`p`) REFERENCES `p` (`id`)",
        ],
    );
}

#[test]
fn what_needs_a_statement_that_is_held_back_is_held_back_too() {
    let parent = "CREATE TABLE p (id int PRIMARY KEY)";
    let child = |kind: &str, key: &str| format!("CREATE TABLE c (p {kind}, n int, KEY k (p){key})");
    let from = format!("{parent}; {}", child("bigint", ""));
    let to = format!(
        "{parent}; {}; CREATE TABLE d (p int, m int, FOREIGN KEY (p) REFERENCES p (id))",
        child("int", ", CONSTRAINT k FOREIGN KEY (p) REFERENCES p (id)")
    );
    let mut plan = Plan {
        statements: planned(&from, &to, Product::Mysql),
    };
    plan.hold_back(&Allowed::default());
    let held: Vec<(ObjectKind, bool)> = plan
        .statements
        .iter()
        .map(|step| (step.object.kind, step.held_back.is_some()))
        .collect();
    // The column may lose values, the foreign key does not fit without that, and the new table
    // needs neither.
    assert_eq!(
        held,
        [
            (ObjectKind::Column, true),
            (ObjectKind::Table, false),
            (ObjectKind::Constraint, true)
        ]
    );
}

#[test]
fn old_names_are_told_by_comments() {
    check(
        "CREATE TABLE old (a int, b int, KEY k (a))",
        "CREATE TABLE new ( -- @renamed from=old\n a int,\n c int, -- @renamed from=b\n KEY l (a) -- @renamed from=k\n)",
        &[
            "ALTER TABLE `old` RENAME TO `new`",
            "ALTER TABLE `new` RENAME INDEX `k` TO `l`, CHANGE COLUMN `b` `c` int",
        ],
    );
    let (from, to) = (
        read_on("CREATE TABLE t (a int)", Product::Mysql).0,
        read_on(
            "CREATE TABLE t (a int,\nb int -- @renamed from=a\n)",
            Product::Mysql,
        )
        .0,
    );
    let error = plan(&from, &to, &PlanOptions::default()).unwrap_err();
    assert_eq!(
        error.message,
        "cannot rename column 'a' to 'b' - column 'a' still exists"
    );
}

#[test]
fn what_a_server_stores_alike_is_the_same() {
    let both = [Product::Mysql, Product::MariaDb];
    for product in both {
        let same = |one: &str, other: &str| {
            same(
                product,
                &format!("CREATE TABLE t ({one})"),
                &format!("CREATE TABLE t ({other})"),
            )
        };
        same(
            "a INTEGER PRIMARY KEY",
            "`a` int NOT NULL, PRIMARY KEY (`a`)",
        );
        same("a BOOL DEFAULT FALSE", "a tinyint(1) NULL DEFAULT '0'");
        same("a NUMERIC(5) DEFAULT 1", "a decimal(5,0) DEFAULT '1'");
        same("a int UNIQUE", "a int, UNIQUE KEY a (a)");
        same(
            "a varchar(9) COMMENT ''",
            "a varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        );
        same(
            "a datetime DEFAULT now() ON UPDATE now()",
            "a datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
        );
        same(
            "a int, b int AS (a+1)",
            "a int, b int GENERATED ALWAYS AS ((`a` + 1)) VIRTUAL",
        );
        same("a int, KEY (a) USING BTREE", "a int, KEY a (a)");
        same(
            "a int, CHECK (a>0 AND a<9)",
            "a int, CHECK (((`a` > 0) and (`a` < 9)))",
        );
        same(
            "a SERIAL",
            "a bigint unsigned NOT NULL AUTO_INCREMENT UNIQUE",
        );
    }
    same(
        Product::Mysql,
        "CREATE TABLE t (a int(11))",
        "CREATE TABLE t (a int)",
    );
    same(
        Product::MariaDb,
        "CREATE TABLE t (a int(11))",
        "CREATE TABLE t (a int)",
    );
    same(
        Product::MariaDb,
        "CREATE TABLE t (a json)",
        "CREATE TABLE t (a longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin CHECK (json_valid(`a`)))",
    );
}

#[test]
fn rows_that_stand_in_the_way_are_asked_for() {
    let statements = planned(
        "CREATE TABLE t (a int)",
        "CREATE TABLE t (a int NOT NULL, UNIQUE KEY u (a))",
        Product::Mysql,
    );
    let queries: Vec<&str> = statements[0]
        .hazards
        .iter()
        .filter_map(|hazard| match hazard {
            Hazard::MayFail { query, .. } => query.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(
        queries,
        [
            "SELECT * FROM `t` WHERE `a` IS NULL",
            "SELECT `a`, COUNT(*) FROM `t` GROUP BY `a` HAVING COUNT(*) > 1"
        ]
    );
}

#[test]
fn dumps_are_read_as_the_client_does() {
    let dump = "/*!40101 SET NAMES utf8 */;
        DROP TABLE IF EXISTS `t`;
        CREATE TABLE `t` (id int);
        INSERT INTO t VALUES (';');
        DELIMITER ;;
        /*!50003 CREATE*/ /*!50017 DEFINER=`root`@`%`*/ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END */;;
        DELIMITER ;
        CREATE INDEX i ON t (id);
        GRANT reader TO me;";
    let (schema, notes) = read_on(dump, Product::MariaDb);
    let expected = [
        "CREATE TABLE `t` (id int)",
        "CREATE INDEX i ON t (id)",
        "CREATE DEFINER=`root`@`%` TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END",
        "GRANT reader TO me",
    ];
    assert_eq!(schema.statements(), expected);
    assert_eq!(schema.compared(), expected[..3]);
    let kinds: Vec<(usize, NoteKind)> = notes.iter().map(|note| (note.line, note.kind)).collect();
    assert_eq!(
        kinds,
        [
            (1, NoteKind::Setting),
            (4, NoteKind::Data),
            (9, NoteKind::Opaque)
        ]
    );
}

#[test]
fn mistakes_have_a_place() {
    for (text, line, column) in [
        ("CREATE TABLE t (id int);\n  SELECT 'x", 2, 10),
        ("CREATE TABLE t (\n  id int,\n  CONSTRAINT\n)", 4, 1),
        ("CREATE TABLE t (id int nonsense)", 1, 24),
    ] {
        let source = Source {
            name: "a.sql".to_owned(),
            text: text.to_owned(),
        };
        let error = read(&[source], &server(Product::Mysql)).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{error}");
    }
}

#[test]
fn views_are_recognised_as_servers_print_them() {
    let table = "CREATE TABLE users (id int, name varchar(20), parent int)";
    let written = [
        "CREATE VIEW v (a, b) AS SELECT id, upper(name) FROM app.users WHERE parent IS NOT NULL AND id IN (1, 2)",
        "CREATE VIEW w AS SELECT u.name, p.name AS above FROM users u LEFT JOIN users p ON p.id = u.parent ORDER BY p.name DESC",
    ];
    let printed = [
        (
            Product::Mysql,
            "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `v` (`a`,`b`) AS select `users`.`id` AS `id`,\
             upper(`users`.`name`) AS `upper(name)` from `users` where ((`users`.`parent` is not null) and (`users`.`id` in (1,2)))",
            "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `w` AS select `u`.`name` AS `name`,\
             `p`.`name` AS `above` from (`users` `u` left join `users` `p` on((`p`.`id` = `u`.`parent`))) order by `p`.`name` desc",
        ),
        (
            Product::MariaDb,
            "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `v` AS select `users`.`id` AS `a`,\
             ucase(`users`.`name`) AS `b` from `users` where `users`.`parent` is not null and `users`.`id` in (1,2)",
            "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `w` AS select `u`.`name` AS `name`,\
             `p`.`name` AS `above` from (`users` `u` left join `users` `p` on(`p`.`id` = `u`.`parent`)) order by `p`.`name` desc",
        ),
    ];
    for (product, v, w) in printed {
        same(
            product,
            &format!("{table};{};{}", written[0], written[1]),
            &format!("{table};{v};{w}"),
        );
    }
}

#[test]
fn what_a_foreign_key_holds_back_is_the_key_and_its_columns() {
    let schema = |b: &str, a: &str, more: &str| {
        format!(
            "CREATE TABLE p (x int NOT NULL, y {b} NOT NULL, PRIMARY KEY (x, y));\n\
             CREATE TABLE t (id int NOT NULL PRIMARY KEY, a int {a}, b {b}, n varchar(9){more}, \
             KEY k (a, b), CONSTRAINT f FOREIGN KEY (a, b) REFERENCES p (x, y));"
        )
    };
    let from = schema("bigint", "NULL", "");
    let to = schema("int", "NOT NULL", ", c int, KEY c (c)");
    for product in [Product::Mysql, Product::MariaDb] {
        let mut plan = Plan {
            statements: planned(&from, &to, product),
        };
        plan.hold_back(&Allowed::default());
        let applied: Vec<&str> = plan.applied().map(|step| step.sql.as_str()).collect();
        assert_eq!(
            applied,
            ["ALTER TABLE `t` ADD COLUMN `c` int AFTER `n`, ADD KEY `c` (`c`)"]
        );
        plan.hold_back(&Allowed {
            all: true,
            named: Vec::new(),
        });
        assert_eq!(plan.applied().count(), plan.statements.len());
    }
}

#[test]
fn a_new_foreign_key_does_not_wait_for_the_order_of_other_columns() {
    let schema = |columns: &str, key: &str| {
        format!(
            "CREATE TABLE p (id int PRIMARY KEY);\n\
             CREATE TABLE t (id int PRIMARY KEY, {columns}, KEY k (a){key});"
        )
    };
    let from = schema("a int, b int, c int", "");
    let key = ", CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id)";
    let to = schema("b int AS (id), c int, a int", key);
    for product in [Product::Mysql, Product::MariaDb] {
        let mut plan = Plan {
            statements: planned(&from, &to, product),
        };
        assert!(
            plan.statements
                .iter()
                .any(|step| step.sql.contains("AFTER"))
        );
        plan.hold_back(&Allowed::default());
        let applied: Vec<&str> = plan.applied().map(|step| step.sql.as_str()).collect();
        let added = "ALTER TABLE `t` ADD CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `p` (`id`)";
        assert!(applied.contains(&added), "{:#?}", plan.statements);
    }
}

#[test]
fn what_is_the_whole_servers_or_another_databases_is_not_made() {
    let text = "CREATE FUNCTION f RETURNS STRING SONAME 'x.so';\n\
                CREATE VIEW other.v AS SELECT 1;\n\
                CREATE PROCEDURE IF NOT EXISTS `other`.p() SELECT 1;\n\
                CREATE EVENT other.e ON SCHEDULE EVERY 1 DAY DO SELECT 1;\n\
                CREATE USER u;\n\
                CREATE FUNCTION g() RETURNS int RETURN (SELECT soname FROM t LIMIT 1);\n\
                CREATE VIEW app.w AS SELECT 1;
                CREATE TABLE app.t (a int);
                CREATE TABLE IF NOT EXISTS other.t (b int);
                ALTER TABLE `other`.t ADD c int;
                CREATE UNIQUE INDEX i ON other.t (b);
                DROP TABLE IF EXISTS other.t;";
    let (schema, notes) = read_on(text, Product::Mysql);
    assert_eq!(schema.compared().len(), 3, "{:?}", schema.compared());
    let opaque = notes.iter().filter(|note| note.kind == NoteKind::Opaque);
    assert_eq!(opaque.count(), 9);
    // A text of them all is no longer one that also drops.
    let all = schema.statements();
    assert_eq!(all.len(), 11, "{all:?}");
    assert_eq!(all[4], "CREATE USER u");
    assert_eq!(all[10], "ALTER TABLE `other`.t ADD c int");
}

#[test]
fn an_engine_that_may_keep_no_rows_waits_for_a_yes() {
    let table = |engine: &str| format!("CREATE TABLE t (id int PRIMARY KEY) ENGINE={engine};");
    for (engine, waits) in [("BLACKHOLE", true), ("MEMORY", true), ("MyISAM", false)] {
        let mut plan = Plan {
            statements: planned(&table("InnoDB"), &table(engine), Product::MariaDb),
        };
        plan.hold_back(&Allowed::default());
        assert_eq!(plan.statements.len(), 1, "{engine}");
        assert_eq!(plan.applied().count() == 0, waits, "{engine}");
    }
}

#[test]
fn an_index_is_added_although_the_one_that_it_replaces_stays() {
    let schema = |key: &str| {
        format!(
            "CREATE TABLE p (id int PRIMARY KEY);\n\
             CREATE TABLE t (id int PRIMARY KEY, a int, b int, {key}, CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id));"
        )
    };
    let read = |text: &str| read_on(text, Product::Mysql).0;
    let (from, to) = (
        read(&schema("KEY `f` (`a`)")),
        read(&schema("KEY `ab` (`a`, `b`)")),
    );
    let options = PlanOptions {
        style: Style::Sqldef,
        holds_drops: true,
        ..PlanOptions::default()
    };
    let mut plan = plan(&from, &to, &options).unwrap();
    plan.hold_back(&Allowed::default());
    let applied: Vec<&str> = plan.applied().map(|step| step.sql.as_str()).collect();
    assert_eq!(applied, ["ALTER TABLE `t` ADD KEY `ab` (`a`, `b`)"]);
    assert_eq!(plan.statements.len(), 2);
}

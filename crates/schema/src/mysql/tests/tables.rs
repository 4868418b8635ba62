//! What tables have beside columns and keys: options and partitions.

use super::*;

#[test]
fn partitions_make_room_and_go() {
    let table = |list: &str| format!("CREATE TABLE t (a int) PARTITION BY RANGE (a) ({list})");
    let (one, two) = (
        "PARTITION p1 VALUES LESS THAN (1)",
        "PARTITION p2 VALUES LESS THAN (2)",
    );
    let max = "PARTITION pm VALUES LESS THAN MAXVALUE";
    check(
        &table(one),
        &table(&format!("{one}, {two}")),
        &["ALTER TABLE `t` ADD PARTITION (PARTITION p2 VALUES LESS THAN (2))"],
    );
    check(
        &table(&format!("{one}, {max}")),
        &table(&format!("{one}, {two}, {max}")),
        &[
            "ALTER TABLE `t` REORGANIZE PARTITION `pm` INTO (PARTITION p2 VALUES LESS THAN (2), PARTITION pm VALUES LESS THAN MAXVALUE)",
        ],
    );
    check(
        &table(&format!("{one}, {two}")),
        &table(one),
        &["ALTER TABLE `t` DROP PARTITION `p2`"],
    );
    check(
        &table(one),
        "CREATE TABLE t (a int)",
        &["ALTER TABLE `t` REMOVE PARTITIONING"],
    );
}

fn list(partitions: &[(&str, &str)]) -> String {
    let texts = partitions
        .iter()
        .map(|(name, values)| format!("PARTITION {name} VALUES IN ({values})"));
    let texts: Vec<String> = texts.collect();
    format!(
        "CREATE TABLE t (a int) PARTITION BY LIST (a) ({})",
        texts.join(", ")
    )
}

#[test]
fn values_move_between_the_partitions_that_they_concern() {
    let check = |from: &[(&str, &str)], to: &[(&str, &str)], expected: &[&str]| {
        check(&list(from), &list(to), expected);
    };
    let three = [("p", "1, 2"), ("q", "3"), ("r", "4")];
    check(
        &three,
        &[("p", "1"), ("q", "3, 2"), ("r", "4")],
        &[
            "ALTER TABLE `t` REORGANIZE PARTITION `p`, `q` INTO (PARTITION p VALUES IN (1), PARTITION q VALUES IN (3, 2))",
        ],
    );
    // A new name for the same values is no loss.
    check(
        &three,
        &[("p", "1, 2"), ("s", "3"), ("r", "4")],
        &["ALTER TABLE `t` REORGANIZE PARTITION `q` INTO (PARTITION s VALUES IN (3))"],
    );
    check(
        &three,
        &[("p", "1, 2"), ("r", "4, 3")],
        &["ALTER TABLE `t` REORGANIZE PARTITION `q`, `r` INTO (PARTITION r VALUES IN (4, 3))"],
    );
    // What goes lies between those that are to be neighbours.
    check(
        &three,
        &[("p", "1"), ("r", "4, 2"), ("s", "5")],
        &[
            "ALTER TABLE `t` DROP PARTITION `q`",
            "ALTER TABLE `t` REORGANIZE PARTITION `p`, `r` INTO (PARTITION p VALUES IN (1), PARTITION r VALUES IN (4, 2), \
             PARTITION s VALUES IN (5))",
        ],
    );
    check(&three, &[("r", "4"), ("q", "3"), ("p", "1, 2")], &[]);
}

#[test]
fn a_partition_that_is_in_the_way_holds_back_what_needs_its_place() {
    let from = list(&[("p", "1, 2"), ("q", "3"), ("r", "4")]);
    let to = list(&[("p", "1"), ("r", "4, 2")]);
    let mut plan = Plan {
        statements: planned(&from, &to, Product::Mysql),
    };
    plan.hold_back(&Allowed::default());
    assert_eq!(plan.applied().count(), 0);
}

#[test]
fn rows_without_a_partition_are_asked_for() {
    let check = |from: &str, to: &str, expected: Option<&str>| {
        let statements = planned(from, to, Product::Mysql);
        let hazards = statements.iter().flat_map(|step| &step.hazards);
        let queries: Vec<&str> = hazards
            .filter_map(|hazard| match hazard {
                Hazard::MayFail { query, .. } => query.as_deref(),
                _ => None,
            })
            .collect();
        assert_eq!(queries, Vec::from_iter(expected), "{to}");
    };
    let plain = "CREATE TABLE t (a int)";
    let two = [("p", "1, 2"), ("q", "NULL")];
    check(
        plain,
        &list(&two),
        Some("SELECT * FROM `t` WHERE NOT ((a) <=> 1 OR (a) <=> 2 OR (a) <=> NULL)"),
    );
    check(
        &list(&two),
        &list(&[("p", "1"), ("q", "NULL")]),
        Some("SELECT * FROM `t` WHERE NOT ((a) <=> 1 OR (a) <=> NULL)"),
    );
    check(&list(&two), &list(&[("p", "1, 2, 3"), ("q", "NULL")]), None);
    let range = |bound: &str| {
        format!(
            "CREATE TABLE t (a int) PARTITION BY RANGE (a + 1) (PARTITION p VALUES LESS THAN {bound})"
        )
    };
    check(
        plain,
        &range("(10)"),
        Some("SELECT * FROM `t` WHERE (a + 1) >= (10)"),
    );
    check(plain, &range("MAXVALUE"), None);
}

#[test]
fn options_are_taken_back() {
    let table = |options: &str| format!("CREATE TABLE t (a int) {options}");
    for (options, back) in [
        ("ENGINE=MERGE UNION=(x, y)", "ENGINE=innodb, UNION=()"),
        ("INSERT_METHOD=LAST", "INSERT_METHOD=NO"),
        ("TABLESPACE=fast", "TABLESPACE=innodb_file_per_table"),
        ("CONNECTION='mysql://other/t'", "CONNECTION=''"),
        ("STORAGE DISK", "STORAGE MEMORY"),
        ("ENGINE_ATTRIBUTE='{}'", "ENGINE_ATTRIBUTE=''"),
        ("STATS_PERSISTENT=1", "STATS_PERSISTENT=DEFAULT"),
        ("AVG_ROW_LENGTH=9", "AVG_ROW_LENGTH=0"),
    ] {
        let expected = format!("ALTER TABLE `t` {back}");
        check(&table(options), &table(""), &[expected.as_str()]);
    }
    let same = |one: &str, other: &str| same(Product::Mysql, &table(one), &table(other));
    same(
        "ENGINE=MERGE UNION=(x, y)",
        "ENGINE=MRG_MyISAM UNION=(`x`,`y`)",
    );
    same(
        "",
        "UNION=() INSERT_METHOD=NO TABLESPACE=`innodb_file_per_table` PASSWORD='x'",
    );
    check(
        &table("CONNECTION='a'"),
        &table("CONNECTION='A'"),
        &["ALTER TABLE `t` CONNECTION='A'"],
    );
}

#[test]
fn changes_of_partitions_are_folded_in() {
    let list =
        |partitions: &str| format!("CREATE TABLE t (a int) PARTITION BY RANGE (a) ({partitions})");
    let [low, high, top] = [
        "p VALUES LESS THAN (5)",
        "q VALUES LESS THAN (10)",
        "r VALUES LESS THAN (20)",
    ];
    let reorganized = format!(
        "{}; ALTER TABLE t REORGANIZE PARTITION q INTO (PARTITION {low}, PARTITION {high})",
        list(&format!("PARTITION {high}, PARTITION {top}"))
    );
    let all = list(&format!(
        "PARTITION {low}, PARTITION {high}, PARTITION {top}"
    ));
    same(Product::Mysql, &reorganized, &all);
    let hash =
        |count: u8| format!("CREATE TABLE t (a int) PARTITION BY HASH (a) PARTITIONS {count}");
    same(
        Product::Mysql,
        &format!(
            "{}; ALTER TABLE t COALESCE PARTITION 1; ALTER TABLE t ADD PARTITION PARTITIONS 2",
            hash(4)
        ),
        &hash(5),
    );
}

#[test]
fn changes_of_columns_views_and_versions_are_folded_in() {
    let view = |verb: &str, query: &str| format!("{verb} SQL SECURITY INVOKER VIEW v AS {query}");
    let altered = [view("CREATE", "SELECT 1"), view("ALTER", "SELECT 2")].join(";\n");
    let (read, notes) = read_on(&altered, Product::Mysql);
    assert_eq!(read.statements(), [view("CREATE", "SELECT 2")]);
    assert_eq!(notes, []);
    let check = |product: Product, alter: &str, from: &str, to: &str| {
        same(
            product,
            &format!("CREATE TABLE t ({from}); ALTER TABLE t {alter}"),
            &format!("CREATE TABLE t ({to})"),
        );
    };
    let plain = "a int, CONSTRAINT c CHECK (a > 0)";
    for (alter, to) in [
        (
            "ALTER CHECK c NOT ENFORCED",
            "a int, CONSTRAINT c CHECK (a > 0) NOT ENFORCED",
        ),
        (
            "ALTER COLUMN a SET INVISIBLE",
            "a int INVISIBLE, CONSTRAINT c CHECK (a > 0)",
        ),
        ("TRUNCATE PARTITION p, q", plain),
        ("IMPORT TABLESPACE", plain),
        (
            "EXCHANGE PARTITION p WITH TABLE u WITHOUT VALIDATION",
            plain,
        ),
    ] {
        check(Product::Mysql, alter, plain, to);
    }
    let versioned = |rest: &str| format!("CREATE TABLE t (a int) {rest}");
    let with = versioned("WITH SYSTEM VERSIONING");
    same(
        Product::MariaDb,
        &format!("{}; ALTER TABLE t ADD SYSTEM VERSIONING", versioned("")),
        &with,
    );
    same(
        Product::MariaDb,
        &format!("{with}; ALTER TABLE t DROP SYSTEM VERSIONING"),
        &versioned(""),
    );
    let period =
        "s timestamp(6) GENERATED ALWAYS AS ROW START, e timestamp(6) GENERATED ALWAYS AS ROW END";
    check(
        Product::MariaDb,
        "DROP PERIOD FOR SYSTEM_TIME",
        &format!("{period}, PERIOD FOR SYSTEM_TIME (s, e)"),
        period,
    );
}

fn on_mariadb(from: &str, to: &str) -> Vec<String> {
    let statements = planned(from, to, Product::MariaDb);
    statements.into_iter().map(|step| step.sql).collect()
}

#[test]
fn a_replaced_check_goes_before_a_column_that_it_is_on() {
    let found = on_mariadb(
        "CREATE TABLE t (id bigint NOT NULL, a varchar(40) NOT NULL, c varchar(20) NOT NULL, CHECK (a IS NULL OR id > 0))",
        "CREATE TABLE t (id bigint NOT NULL, a bigint GENERATED ALWAYS AS (id + 1) VIRTUAL, c enum('1','2'), CHECK (c IS NULL OR id > 0))",
    );
    let at = |text: &str| found.iter().position(|sql| sql.contains(text));
    let (check, column) = (at("DROP CONSTRAINT `CONSTRAINT_1`"), at("DROP COLUMN `a`"));
    assert!(check.is_some() && check <= column, "{found:#?}");
}

#[test]
fn a_column_is_put_in_its_place_after_a_new_one_with_a_foreign_key() {
    let found = on_mariadb(
        "CREATE TABLE alpha (id int NOT NULL PRIMARY KEY); \
         CREATE TABLE t (id int NOT NULL PRIMARY KEY, a decimal(10) NOT NULL DEFAULT '3', d enum('1','2','3'), b text, KEY (a, id));",
        "CREATE TABLE alpha (id mediumint NOT NULL PRIMARY KEY); \
         CREATE TABLE t (id mediumint NOT NULL PRIMARY KEY, d bigint unsigned NOT NULL DEFAULT '3', \
             a bigint GENERATED ALWAYS AS (id * 2 + 1) VIRTUAL, ref mediumint, KEY own (ref, id), \
             CONSTRAINT k FOREIGN KEY (ref) REFERENCES alpha (id), KEY (d, id));",
    );
    let is_placed = |sql: &String| sql.contains("MODIFY COLUMN `d`") && sql.contains("AFTER `id`");
    assert!(found.iter().any(is_placed), "{found:#?}");
}

#[test]
fn a_column_whose_type_waits_moves_once_the_others_are_there() {
    let found = on_mariadb(
        "CREATE TABLE t (id bigint PRIMARY KEY, a bigint GENERATED ALWAYS AS (id * 2 + 1) STORED, e text NOT NULL, c int, \
             s bigint unsigned NOT NULL, d varchar(20), UNIQUE KEY once (e(10), id));",
        "CREATE TABLE t (id int PRIMARY KEY, s enum('1','2'), e decimal(10), \
             a bigint GENERATED ALWAYS AS (id * 2 + 1) STORED, b int, KEY plain (s), UNIQUE KEY once (s, id));",
    );
    let at = |text: &str| found.iter().position(|sql| sql.contains(text));
    let moves = found.iter().filter(|sql| sql.contains("AFTER `s`"));
    assert_eq!(moves.count(), 1, "{found:#?}");
    assert!(at("MODIFY COLUMN `s`") < at("AFTER `s`"), "{found:#?}");
}

#[test]
fn an_index_is_added_with_the_type_that_it_needs() {
    let found = on_mariadb(
        "CREATE TABLE t (id bigint PRIMARY KEY, c bigint unsigned, s int, KEY late (id, s));",
        "CREATE TABLE t (id int unsigned PRIMARY KEY, c text, s int, KEY late (id, c(10)), KEY plain (c(10)));",
    );
    let at = |text: &str| found.iter().position(|sql| sql.contains(text));
    let (column, index) = (at("MODIFY COLUMN `c`"), at("ADD KEY `plain`"));
    assert!(column.is_some() && column <= index, "{found:#?}");
}

#[test]
fn a_foreign_key_waits_for_the_types_of_its_columns() {
    let from = "CREATE TABLE alpha (id int PRIMARY KEY, s text, KEY late (id, s(10))); CREATE TABLE t (id int PRIMARY KEY);";
    let to = "CREATE TABLE alpha (id bigint PRIMARY KEY, s decimal(10) NOT NULL, KEY late (id, s)); \
        CREATE TABLE t (id int PRIMARY KEY, ref bigint, CONSTRAINT k FOREIGN KEY (ref) REFERENCES alpha (id));";
    let mut plan = Plan {
        statements: planned(from, to, Product::MariaDb),
    };
    plan.hold_back(&Allowed::default());
    let applied: Vec<&str> = plan.applied().map(|step| step.sql.as_str()).collect();
    assert!(
        applied
            .iter()
            .all(|sql| !sql.contains("FOREIGN KEY") && !sql.contains("`alpha`")),
        "{applied:#?}"
    );
    assert!(
        applied.iter().any(|sql| sql.contains("ADD COLUMN `ref`")),
        "{applied:#?}"
    );
}

#[test]
fn a_column_that_is_computed_no_longer_loses_its_values_with_a_yes_only() {
    let check = |from: &str, to: &str, held: &[&str]| {
        let mut plan = Plan {
            statements: planned(from, to, Product::Mysql),
        };
        plan.hold_back(&Allowed::default());
        let waiting = plan.statements.iter();
        let waiting = waiting.filter(|step| step.held_back.is_some());
        let waiting: Vec<&str> = waiting.map(|step| step.object.name.as_str()).collect();
        assert_eq!(waiting, held, "{:#?}", plan.statements);
        assert_eq!(plan.applied().count(), 1, "{:#?}", plan.statements);
    };
    check(
        "CREATE TABLE t (a int, b int AS (a + 1) STORED)",
        "CREATE TABLE t (a int, b int, c int)",
        &["t.b"],
    );
    check(
        "CREATE TABLE t (a int, b int AS (a + 1) VIRTUAL)",
        "CREATE TABLE t (a int, b int AS (a + 1) STORED)",
        &[],
    );
}

#[test]
fn a_check_on_a_renamed_column_comes_again() {
    let from =
        "CREATE TABLE t (a int, d int, CONSTRAINT c CHECK (a > 0), CONSTRAINT e CHECK (d > 0))";
    let to = "CREATE TABLE t (b int, -- @renamed from=a\n d int, CONSTRAINT c CHECK (b > 0), CONSTRAINT e CHECK (d > 0))";
    let found = |product: Product| {
        let statements = planned(from, to, product).into_iter();
        statements.map(|step| step.sql).collect::<Vec<_>>()
    };
    let renamed = "CHANGE COLUMN `a` `b` int";
    let again =
        format!("ALTER TABLE `t` DROP CONSTRAINT `c`, {renamed}, ADD CONSTRAINT `c` CHECK (b > 0)");
    assert_eq!(found(Product::Mysql), [again]);
    let plain = format!("ALTER TABLE `t` {renamed}");
    assert_eq!(found(Product::MariaDb), [plain]);
}

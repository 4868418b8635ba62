//! Reading and planning on small texts; the results on SQLite itself are tested in `schema-db`.

use crate::{Allowed, Hazard, NoteKind, PlanOptions, Product, Server, Source, Style};

fn source(text: &str) -> Source {
    Source {
        name: "schema.sql".to_owned(),
        text: text.to_owned(),
    }
}

fn load(text: &str) -> crate::Loaded {
    crate::read(&[source(text)], &Server::unknown(Product::Sqlite)).unwrap()
}

fn plan_of(from: &str, to: &str) -> crate::Plan {
    let options = PlanOptions {
        style: Style::Native,
        keep_quoting: true,
        ..PlanOptions::default()
    };
    crate::plan(&load(from).schema, &load(to).schema, &options).unwrap()
}

/// The whole plan, everything allowed.
fn check(from: &str, to: &str, expected: &[&str]) {
    let plan = plan_of(from, to);
    let statements: Vec<&str> = plan
        .statements
        .iter()
        .map(|each| each.sql.as_str())
        .collect();
    assert_eq!(statements, expected);
}

fn same(from: &str, to: &str) {
    check(from, to, &[]);
}

#[test]
fn what_sqlite_takes_for_the_same_is_no_difference() {
    same(
        "CREATE TABLE t (id INTEGER PRIMARY KEY)",
        "create table if not exists [T] (\"ID\" integer, primary key (id))",
    );
    same(
        "CREATE TABLE t (a INT NULL DEFAULT NULL)",
        "CREATE TABLE t (a int)",
    );
    same(
        "CREATE TABLE t (a INT DEFAULT (1))",
        "CREATE TABLE t (a int DEFAULT 1)",
    );
    same(
        "CREATE TABLE t (a INT CHECK ((a != 1)))",
        "CREATE TABLE t (a int, CHECK (a <> 1))",
    );
    same(
        "CREATE TABLE t (a REFERENCES b ON DELETE NO ACTION NOT DEFERRABLE)",
        "CREATE TABLE t (a, FOREIGN KEY (a) REFERENCES b)",
    );
    same(
        "CREATE TABLE t (a); CREATE INDEX i ON t (a ASC)",
        "CREATE TABLE t (a); CREATE INDEX main.i ON T (A)",
    );
    same(
        "CREATE TABLE t (a); CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN SELECT 1; END",
        "CREATE TABLE t (a); CREATE TRIGGER IF NOT EXISTS g INSERT ON t BEGIN SELECT 1; END;",
    );
}

#[test]
fn changes_in_a_file_are_folded_in() {
    let text = "CREATE TABLE a (x, y CHECK (y > 0)); CREATE INDEX i ON a (x); CREATE TABLE gone (x);
        ALTER TABLE a RENAME TO b; ALTER TABLE b RENAME COLUMN x TO z; ALTER TABLE b ADD COLUMN n TEXT;
        ALTER TABLE b DROP COLUMN y; DROP TABLE IF EXISTS gone;";
    let folded = load(text).schema.statements();
    assert_eq!(
        folded,
        [
            "CREATE TABLE b (\n  z,\n  n TEXT\n)",
            "CREATE INDEX i ON \"b\" (\"z\")"
        ]
    );
    same(text, "CREATE TABLE b (z, n text); CREATE INDEX i ON b (z)");
}

#[test]
fn what_is_no_schema_is_noted() {
    let loaded = load(
        "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t (a);\nINSERT INTO t VALUES (';');\n\
         CREATE TABLE sqlite_sequence(name,seq);\nCREATE TEMP TABLE x (a);\nATTACH 'a' AS b;\nCOMMIT;\n.quit\n",
    );
    let notes: Vec<(usize, NoteKind)> = loaded
        .notes
        .iter()
        .map(|note| (note.line, note.kind))
        .collect();
    use NoteKind::{Data, Opaque, Setting};
    let mut expected = [
        (1, Setting),
        (2, Setting),
        (4, Data),
        (6, Opaque),
        (7, Opaque),
        (8, Setting),
        (9, Setting),
    ];
    expected.sort_by_key(|(line, _)| *line);
    let mut notes = notes;
    notes.sort_by_key(|(line, _)| *line);
    assert_eq!(notes, expected);
    assert_eq!(loaded.schema.statements(), ["CREATE TABLE t (a)"]);
}

#[test]
fn an_error_shows_the_place() {
    let broken = source("CREATE TABLE a (x);\nCREATE TABLE b (\n  x,\n  y REFERENCES (z)\n);");
    let error = crate::read(&[broken], &Server::unknown(Product::Sqlite)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "schema.sql:4:16: expected a name near `(`\n      y REFERENCES (z)\n                   ^"
    );
}

#[test]
fn simple_changes_are_simple_statements() {
    check(
        "CREATE TABLE t (a, b, c)",
        "CREATE TABLE t (a, c, d TEXT NOT NULL DEFAULT 'x' CHECK (d <> ''))",
        &[
            "ALTER TABLE t ADD COLUMN d TEXT NOT NULL DEFAULT 'x' CHECK (d <> '')",
            "ALTER TABLE t DROP COLUMN b",
        ],
    );
    check(
        "CREATE TABLE old (a, b); CREATE INDEX i ON old (b)",
        "CREATE TABLE new ( -- @renamed from=old\n a, c -- @renamed from=b\n);
         CREATE INDEX j ON new (c); -- @renamed from=i",
        &[
            "ALTER TABLE old RENAME TO new",
            "ALTER TABLE new RENAME COLUMN b TO c",
            "DROP INDEX i",
            "CREATE INDEX j ON new (c)",
        ],
    );
}

#[test]
fn what_alter_cannot_do_rebuilds_the_table() {
    check(
        "CREATE TABLE t (a, b TEXT); CREATE INDEX i ON t (a); CREATE TRIGGER g DELETE ON t BEGIN SELECT 1; END",
        "CREATE TABLE t (a NOT NULL, c DEFAULT CURRENT_TIMESTAMP); CREATE INDEX i ON t (a);
         CREATE TRIGGER g DELETE ON t BEGIN SELECT 1; END",
        &[
            "CREATE TABLE \"hakaru_new_t\" (\n  a NOT NULL,\n  c DEFAULT CURRENT_TIMESTAMP,\n  \"b\" text\n)",
            "PRAGMA foreign_keys = OFF",
            "INSERT INTO \"hakaru_new_t\" (\"a\", \"b\", rowid) SELECT \"a\", \"b\", rowid FROM \"t\"",
            "DROP TABLE \"t\"",
            "PRAGMA legacy_alter_table = ON",
            "ALTER TABLE \"hakaru_new_t\" RENAME TO \"t\"",
            "PRAGMA legacy_alter_table = OFF",
            "CREATE INDEX i ON t (a)",
            "CREATE TRIGGER g DELETE ON t BEGIN SELECT 1; END",
            "ALTER TABLE t DROP COLUMN b",
            "PRAGMA foreign_key_check",
        ],
    );
}

#[test]
fn what_is_not_allowed_holds_back_nothing_else() {
    let mut plan = plan_of(
        "CREATE TABLE t (a, b); CREATE INDEX i ON t (b); CREATE VIEW v AS SELECT b FROM t; CREATE TABLE u (x)",
        "CREATE TABLE t (a COLLATE NOCASE); CREATE VIEW w AS SELECT a FROM t",
    );
    plan.hold_back(&Allowed::default());
    let held: Vec<&str> = plan
        .statements
        .iter()
        .filter(|statement| statement.held_back.is_some())
        .map(|statement| statement.sql.as_str())
        .collect();
    assert_eq!(
        held,
        [
            "DROP VIEW v",
            "DROP TABLE u",
            "DROP INDEX i",
            "ALTER TABLE t DROP COLUMN b"
        ]
    );
    let allowed = Allowed {
        all: false,
        named: vec!["drop-column:t.b".to_owned(), "drop-view".to_owned()],
    };
    plan.hold_back(&allowed);
    let last = plan
        .statements
        .iter()
        .find(|each| each.sql.contains("DROP COLUMN"))
        .unwrap();
    assert!(last.held_back.is_some(), "its index is still there");
}

#[test]
fn a_rewriting_that_changes_values_is_held_back_with_what_needs_it() {
    let mut plan = plan_of(
        "CREATE TABLE t (a TEXT, b); CREATE TABLE u (a INTEGER)",
        "CREATE TABLE t (a INTEGER, c); CREATE INDEX i ON t (c); CREATE VIEW v AS SELECT c FROM t; CREATE TABLE u (a TEXT)",
    );
    plan.hold_back(&Allowed::default());
    let applied: Vec<&str> = plan.applied().map(|step| step.sql.as_str()).collect();
    // Whole numbers become texts without a loss.
    assert_eq!(applied[0], "CREATE TABLE \"hakaru_new_u\" (a TEXT)");
    assert!(
        applied
            .iter()
            .all(|sql| !sql.contains("\"t\"") && !sql.contains(" t")),
        "{applied:?}"
    );
    assert_eq!(applied.last(), Some(&"PRAGMA foreign_key_check"));
    plan.hold_back(&Allowed {
        all: false,
        named: vec!["rebuild-table:t".to_owned()],
    });
    let held = plan
        .statements
        .iter()
        .filter(|step| step.held_back.is_some());
    let held: Vec<&str> = held.map(|step| step.sql.as_str()).collect();
    assert_eq!(held, ["ALTER TABLE t DROP COLUMN b"]);
}

#[test]
fn a_rename_that_cannot_be_meant_is_refused() {
    let from = load("CREATE TABLE t (a)").schema;
    let to = load("CREATE TABLE t (a, b -- @renamed from=a\n)").schema;
    let error = crate::plan(&from, &to, &PlanOptions::default()).unwrap_err();
    assert_eq!(
        error.message,
        "cannot rename column 'a' to 'b' - column 'a' still exists"
    );
}

/// Returns the copying statement of a rebuild.
fn copying(from: &str, to: &str) -> String {
    let plan = plan_of(from, to);
    let mut texts = plan.statements.into_iter().map(|each| each.sql);
    let copy = texts.find(|sql| sql.starts_with("INSERT") && sql.contains("hakaru_new_"));
    copy.unwrap()
}

#[test]
fn a_new_rule_for_conflicts_loses_none_of_the_rows_that_are_there() {
    let from = "CREATE TABLE t (a TEXT, b TEXT)";
    for column in [
        "a TEXT UNIQUE ON CONFLICT REPLACE",
        "a TEXT NOT NULL ON CONFLICT IGNORE",
        "a TEXT PRIMARY KEY ON CONFLICT IGNORE",
    ] {
        let copy = copying(from, &format!("CREATE TABLE t ({column}, b TEXT)"));
        assert!(copy.starts_with("INSERT OR ABORT INTO "), "{copy}");
    }
    let copy = copying(from, "CREATE TABLE t (a TEXT UNIQUE, b TEXT)");
    assert!(copy.starts_with("INSERT INTO "), "{copy}");
}

#[test]
fn the_counter_is_found_under_the_name_as_it_was_written() {
    let plan = plan_of(
        "CREATE TABLE Users (id INTEGER PRIMARY KEY AUTOINCREMENT, a)",
        "CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, a NOT NULL)",
    );
    let mut texts = plan.statements.iter().map(|each| each.sql.as_str());
    let counter = texts.find(|sql| sql.contains("sqlite_sequence")).unwrap();
    assert!(counter.ends_with("WHERE name = 'Users'"), "{counter}");
}

#[test]
fn a_trigger_does_not_go_with_its_replaced_view() {
    let trigger = "CREATE TRIGGER g INSTEAD OF DELETE ON v BEGIN SELECT 1; END";
    let from = format!("CREATE TABLE t (a, b); CREATE VIEW v AS SELECT a FROM t; {trigger}");
    let to = "CREATE TABLE t (a, b); CREATE VIEW v AS SELECT a, b FROM t";
    let expected = [
        "DROP VIEW v",
        "CREATE VIEW v AS SELECT a, b FROM t",
        trigger,
        "DROP TRIGGER g",
    ];
    check(&from, to, &expected);
    let mut plan = plan_of(&from, to);
    plan.hold_back(&Allowed::default());
    let applied: Vec<&str> = plan.applied().map(|step| step.sql.as_str()).collect();
    assert_eq!(applied, expected[..3]);
}

/// Returns the conversions named by a plan, none of which is done without a yes.
fn conversions(from: &str, to: &str) -> Vec<String> {
    let hazards = plan_of(from, to).statements.into_iter();
    let hazards = hazards.flat_map(|each| each.hazards);
    let conversion = |hazard| match hazard {
        Hazard::LossyCast(what) => Some(what),
        _ => None,
    };
    hazards.filter_map(conversion).collect()
}

#[test]
fn any_keeps_values_as_they_are_in_strict_tables_alone() {
    let (strict, plain) = ("CREATE TABLE t (a ANY) STRICT", "CREATE TABLE t (a ANY)");
    let said = ["values of t.a are converted from BLOB to NUMERIC"];
    assert_eq!(conversions(strict, plain), said);
    assert_eq!(conversions(plain, strict), [""; 0]);
    let said = ["values of t.a are converted from TEXT to NUMERIC"];
    assert_eq!(conversions("CREATE TABLE t (a TEXT)", plain), said);
    assert_eq!(conversions("CREATE TABLE t (a TEXT)", strict), [""; 0]);
}

#[test]
fn a_column_that_waits_to_be_dropped_keeps_its_values() {
    let check = |from: &str, to: &str, expected: &str| {
        let plan = plan_of(from, to);
        let first = &plan.statements[0].sql;
        let expected = format!("\"b\" {expected}");
        assert!(first.contains(&expected), "{first}");
    };
    let strict = "CREATE TABLE t (a INTEGER, b ANY) STRICT";
    check(strict, "CREATE TABLE t (a INTEGER NOT NULL)", "blob");
    check(strict, "CREATE TABLE t (a INTEGER NOT NULL) STRICT", "any");
    let plain = "CREATE TABLE t (a INTEGER, b ANY)";
    check(plain, "CREATE TABLE t (a INTEGER NOT NULL)", "any");
    check(plain, "CREATE TABLE t (a INTEGER NOT NULL) STRICT", "any");
}

#[test]
fn a_number_with_a_fraction_becomes_a_text_with_a_yes_only() {
    let table = |kind: &str| format!("CREATE TABLE t (a {kind})");
    for (kind, word) in [
        ("REAL", "REAL"),
        ("DECIMAL(10, 2)", "NUMERIC"),
        ("", "BLOB"),
    ] {
        let said = format!("values of t.a are converted from {word} to TEXT");
        assert_eq!(conversions(&table(kind), &table("TEXT")), [said]);
        assert_eq!(conversions(&table(kind), &table("BLOB")), [""; 0]);
    }
    assert_eq!(
        conversions(&table("INTEGER"), &table("VARCHAR(20)")),
        [""; 0]
    );
}

#[test]
fn triggers_go_over_to_a_view_with_a_new_name() {
    let kept =
        |on: &str| format!("CREATE TRIGGER h INSTEAD OF INSERT ON {on} BEGIN SELECT 2; END;");
    let from = format!(
        "CREATE TABLE t (a, b); CREATE VIEW old_v AS SELECT a FROM t; {} \
         CREATE TRIGGER g INSTEAD OF UPDATE OF a ON old_v BEGIN SELECT 1; END;",
        kept("old_v")
    );
    let to = format!(
        "CREATE TABLE t (a, b); CREATE VIEW v AS SELECT a, b FROM t; -- @renamed from=old_v\n{}",
        kept("v")
    );
    let expected = [
        "DROP VIEW old_v",
        "CREATE VIEW v AS SELECT a, b FROM t",
        "CREATE TRIGGER g INSTEAD OF UPDATE OF a ON \"v\" BEGIN SELECT 1; END",
        kept("v").trim_end_matches(';'),
        "DROP TRIGGER g",
    ]
    .map(str::to_owned);
    let mut plan = plan_of(&from, &to);
    let texts: Vec<&str> = plan
        .statements
        .iter()
        .map(|each| each.sql.as_str())
        .collect();
    assert_eq!(texts, expected);
    plan.hold_back(&Allowed::default());
    let applied: Vec<&str> = plan.applied().map(|each| each.sql.as_str()).collect();
    assert_eq!(applied, expected[..4]);
}

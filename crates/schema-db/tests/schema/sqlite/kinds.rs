//! Each kind of object of SQLite: created from hand-written SQL, exported, loaded into an empty
//! file, exported again.

use super::{Files, server};
use crate::bench::{self, Bench};

/// Statements creating objects of one kind, with prerequisites.
const KINDS: [(&str, &[&str]); 10] = [
    (
        "virtual table",
        &[
            "CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize = 'porter ascii')",
            "CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1)",
        ],
    ),
    (
        "virtual table over another table",
        &[
            "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)",
            "CREATE VIRTUAL TABLE found USING fts5(body, content='t', content_rowid='id', prefix='2 3')",
            "CREATE VIRTUAL TABLE \"old one\" USING fts4(a, b, notindexed=b, tokenize=unicode61 \"remove_diacritics=0\")",
            "CREATE TRIGGER put AFTER INSERT ON t BEGIN INSERT INTO found (rowid, body) VALUES (new.id, new.body); END",
        ],
    ),
    (
        "strict table",
        &["CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL, c ANY, d BLOB) STRICT"],
    ),
    (
        "table without rowid",
        &["CREATE TABLE t (a TEXT, b INT, PRIMARY KEY (b, a DESC)) STRICT, WITHOUT ROWID"],
    ),
    (
        "trigger",
        &[
            "CREATE TABLE t (a int, b int)",
            "CREATE VIEW v AS SELECT a FROM t",
            "CREATE TRIGGER one AFTER UPDATE OF a, b ON t FOR EACH ROW WHEN new.a > 1 BEGIN UPDATE t SET b = ';'; DELETE FROM t WHERE a = old.a; END",
            "CREATE TRIGGER two INSTEAD OF INSERT ON v BEGIN INSERT INTO t VALUES (new.a, CASE WHEN new.a THEN 1 ELSE 2 END); END",
        ],
    ),
    (
        "view",
        &[
            "CREATE TABLE t (a int, \"b c\" text)",
            "CREATE VIEW z AS SELECT a, \"b c\" AS d FROM t -- why\n WHERE a > 1",
            "CREATE VIEW a (x, y) AS WITH w AS (SELECT a, d FROM z) SELECT * FROM w",
        ],
    ),
    (
        "generated column",
        &[
            "CREATE TABLE t (a int, b int AS (a * 2), c text GENERATED ALWAYS AS ('x''' || a) STORED)",
            "CREATE INDEX i ON t (b)",
        ],
    ),
    (
        "index",
        &[
            "CREATE TABLE t (a int, b text, UNIQUE (b COLLATE NOCASE))",
            "CREATE INDEX expression ON t (lower(b), a + 1 DESC)",
            "CREATE UNIQUE INDEX \"par tial\" ON t (a) WHERE b IS NOT NULL AND a > 0",
        ],
    ),
    (
        "foreign key",
        &[
            "CREATE TABLE z (id INTEGER PRIMARY KEY AUTOINCREMENT, a REFERENCES a ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED)",
            "CREATE TABLE a (id INTEGER PRIMARY KEY, CHECK (id > 0) ON CONFLICT FAIL)",
        ],
    ),
    (
        "table",
        &[
            "CREATE TABLE [odd name] (a int DEFAULT (1 + 2) NOT NULL ON CONFLICT IGNORE, `b` varchar(9) COLLATE RTRIM DEFAULT 'it''s', \"c\" /* d */ blob DEFAULT x'00ff')",
        ],
    ),
];

#[test]
fn every_kind_goes_there_and_comes_back() {
    let mut failed = Vec::new();
    for (kind, made) in KINDS {
        let done = round_trip(made);
        failed.extend(done.err().map(|error| format!("{kind}: {error}")));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

fn round_trip(made: &[&str]) -> Result<(), String> {
    // `sqlite3`'s `.schema` prints the same texts, and tables that belong to virtual ones as
    // comments.
    const STORED: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    let (mut one, mut other) = (Files.empty(), Files.empty());
    let message = |error: schema_db::DbError| error.message;
    bench::run(&mut *one, made.iter().copied())?;
    let unseen = one.database().unseen().map_err(message)?;
    if !unseen.is_empty() {
        return Err(format!("not seen: {unseen:?}"));
    }
    let first = one.database().export().map_err(message)?;
    let schema = bench::load_whole(&first, &server())?;
    let statements = schema.statements();
    bench::run(&mut *other, statements.iter().map(String::as_str))?;
    let second = other.database().export().map_err(message)?;
    let stored_first = one.database().query(STORED).map_err(message)?;
    let stored_second = other.database().query(STORED).map_err(message)?;
    if first != second || stored_first != stored_second {
        return Err(format!(
            "{first}\n{stored_first:?}\nbecame\n{second}\n{stored_second:?}"
        ));
    }
    let written: String = made.iter().map(|sql| format!("{sql};\n")).collect();
    let from = bench::load_whole(&second, &server())?;
    let wanted = bench::load_whole(&written, &server())?;
    let plan = schema::plan(&from, &wanted, &schema::PlanOptions::default());
    let plan = plan.map_err(|error| error.to_string())?;
    match plan.statements.is_empty() {
        true => Ok(()),
        false => Err(bench::spelled(&plan)),
    }
}

#[test]
fn what_the_shell_prints_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (kind, made)) in KINDS.iter().enumerate() {
        let path = folder.path().join(format!("{number}.db"));
        let mut database = schema_db::sqlite::open(&path).unwrap();
        for sql in *made {
            schema_db::Database::execute(&mut database, sql).unwrap();
        }
        let exported = schema_db::Database::export(&mut database).unwrap();
        let exported = bench::load_whole(&exported, &server()).unwrap();
        for command in [".schema", ".schema --indent", ".dump"] {
            let words = [path.display().to_string(), command.to_owned()];
            let printed = bench::printed("sqlite3", &words);
            let printed = bench::load_whole(&printed, &server())
                .unwrap_or_else(|error| panic!("{kind} {command}: {error}\n{printed}"));
            for (from, to) in [(&printed, &exported), (&exported, &printed)] {
                let plan = schema::plan(from, to, &schema::PlanOptions::default()).unwrap();
                assert_eq!(bench::spelled(&plan), "", "{kind} {command}");
            }
        }
    }
}

//! Whole schemas for PostgreSQL: Hakaru's own, or the ones in the folder `HAKARU_SCHEMA_CORPUS`
//! (`cargo xtask corpus`).

use std::cell::RefCell;
use std::path::PathBuf;

use schema::{NoteKind, ObjectKind, Product, Server, Source};

/// First words of statements allowed to be opaque: kinds stored as written, and objects present in
/// every database.
const OPAQUE: &[&str] = &[
    "ALTER AGGREGATE",
    "ALTER INDEX",
    "ALTER PROCEDURAL LANGUAGE",
    "COMMENT ON SCHEMA public",
    "CREATE AGGREGATE",
    "CREATE OPERATOR",
    "CREATE OR REPLACE PROCEDURAL LANGUAGE",
    "CREATE RULE",
];

fn corpus() -> PathBuf {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/corpus");
    std::env::var_os("HAKARU_SCHEMA_CORPUS").map_or_else(|| PathBuf::from(own), PathBuf::from)
}

/// Files with one schema each; file names of the other schemas contain Create.
fn single_files() -> Vec<String> {
    let entries = std::fs::read_dir(corpus().join("real")).expect("the corpus");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with("postgres-") && !name.contains("-Create"))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{} has no schema", corpus().display());
    names
}

fn source(file: &str) -> Source {
    let path = corpus().join("real").join(file);
    Source {
        name: file.to_owned(),
        text: std::fs::read_to_string(&path).expect("a file of the corpus"),
    }
}

#[test]
fn real_files_are_read_whole() {
    let musicbrainz = [
        "Types",
        "Tables",
        "PrimaryKeys",
        "Functions",
        "Indexes",
        "Views",
        "Constraints",
        "FKConstraints",
        "Triggers",
    ]
    .map(|part| format!("postgres-musicbrainz-Create{part}.sql"));
    let mut schemas: Vec<Vec<String>> = single_files().into_iter().map(|name| vec![name]).collect();
    if corpus().join("real").join(&musicbrainz[0]).exists() {
        schemas.push(musicbrainz.to_vec());
    }
    let mut files = 0;
    for names in schemas {
        files += names.len();
        let sources: Vec<Source> = names.iter().map(|name| source(name)).collect();
        let loaded = schema::read(&sources, &Server::unknown(Product::Postgres))
            .unwrap_or_else(|error| panic!("{error}"));
        for note in loaded
            .notes
            .iter()
            .filter(|note| note.kind == NoteKind::Opaque)
        {
            println!("{}:{}: opaque: {}", note.source, note.line, note.text);
            assert!(
                OPAQUE.iter().any(|start| note.text.starts_with(start)),
                "{}:{} should be understood: {}",
                note.source,
                note.line,
                note.text
            );
        }
    }
    println!("{files} files read");
}

/// What the engine writes of a schema means the same schema.
#[test]
fn what_is_written_reads_the_same() {
    let server = Server::unknown(Product::Postgres);
    for name in single_files() {
        let file = source(&name);
        let read = |sources: &[Source]| {
            let loaded = schema::read(sources, &server).unwrap_or_else(|error| panic!("{error}"));
            loaded.schema
        };
        let schema = read(&[file]);
        let text = schema.statements().join(";\n");
        let written = read(&[Source {
            name: format!("{name} as written"),
            text,
        }]);
        for (from, to) in [(&schema, &schema), (&schema, &written), (&written, &schema)] {
            let plan = schema::plan(from, to, &schema::PlanOptions::default()).expect("a plan");
            let statements: Vec<&str> = plan
                .statements
                .iter()
                .map(|each| each.sql.as_str())
                .collect();
            assert_eq!(statements, Vec::<&str>::new(), "{name}");
        }
    }
}

/// `export --split` finds a table's statements by leaving everything else out.
#[test]
fn a_table_alone_says_what_it_says_among_others() {
    let server = Server::unknown(Product::Postgres);
    for name in single_files() {
        let file = source(&name);
        let loaded = schema::read(&[file], &server).unwrap_or_else(|error| panic!("{error}"));
        let all = loaded.schema.statements();
        let tables = RefCell::new(Vec::new());
        loaded.schema.clone().retain(&|object| {
            if object.kind == ObjectKind::Table {
                tables.borrow_mut().push(object.clone());
            }
            true
        });
        let tables = tables.into_inner();
        assert!(tables.len() > 10, "{name}");
        for table in tables {
            let mut alone = loaded.schema.clone();
            alone.retain(&|object| object.kind != ObjectKind::Table || *object == table);
            let create = format!("CREATE TABLE public.{} ", table.name);
            let statements = alone.statements();
            let mut created = statements.iter().filter(|sql| sql.starts_with(&create));
            assert!(
                created.all(|sql| all.contains(sql)),
                "{}: {statements:#?}",
                table.name
            );
        }
    }
}

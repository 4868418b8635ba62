//! Whole schemas for MySQL and MariaDB: Hakaru's own, or the ones in the folder
//! `HAKARU_SCHEMA_CORPUS` (`cargo xtask corpus`).

use std::fs;
use std::path::PathBuf;

use schema::{NoteKind, PlanOptions, Product, Schema, Server, Source};

fn corpus() -> PathBuf {
    match std::env::var_os("HAKARU_SCHEMA_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/corpus")),
    }
}

fn read(name: &str, text: String, product: Product) -> (Schema, Vec<String>) {
    let source = Source {
        name: name.to_owned(),
        text,
    };
    let loaded = schema::read(&[source], &Server::unknown(product))
        .unwrap_or_else(|error| panic!("{error}"));
    let opaque = loaded
        .notes
        .iter()
        .filter(|note| note.kind == NoteKind::Opaque)
        .map(|note| format!("{name}:{}: opaque: {}", note.line, note.text))
        .collect();
    (loaded.schema, opaque)
}

#[test]
fn real_files_are_read_whole_and_equal_themselves() {
    let folder = corpus().join("real");
    let entries = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut files = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("mysql-") {
            continue;
        }
        files += 1;
        let text = fs::read_to_string(&path).unwrap();
        for product in [Product::Mysql, Product::MariaDb] {
            let (schema, opaque) = read(&name, text.clone(), product);
            let statements = schema.statements();
            for note in &opaque {
                println!("{note}");
            }
            assert!(!statements.is_empty(), "{name}");
            assert!(opaque.len() * 100 <= statements.len(), "{name}: {opaque:?}");
            let again = statements.join("\n$$\n");
            let (again, _) = read(&name, format!("DELIMITER $$\n{again}\n$$\n"), product);
            let plan = schema::plan(&schema, &again, &PlanOptions::default()).unwrap();
            assert_eq!(plan.statements, [], "{name}");
        }
    }
    println!("{files} files");
    assert!(files > 0, "no mysql-*.sql in {}", folder.display());
}

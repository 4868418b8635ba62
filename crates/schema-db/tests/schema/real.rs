//! The corpus' schemas of real projects: read whole, no difference with themselves, and the same on
//! a server.

use schema::{NoteKind, PlanOptions, Server, Source};

use crate::bench::{Bench, corpus, reach};

/// Maximum share of opaque statements in a file, in percent.
const OPAQUE_PERCENT_MAX: usize = 1;

/// Checks every file whose name begins so.
pub fn files(prefix: &str, server: &Server, bench: &dyn Bench) {
    let mut read = 0;
    for entry in std::fs::read_dir(corpus().join("real")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with(prefix) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        offline(&name, &text, server, &[]);
        let mut scratch = bench.empty();
        if let Err(message) = reach(&mut *scratch, &text) {
            panic!("{name}: {message}");
        }
        read += 1;
    }
    println!("{prefix}: {read} files read, compared and applied");
    assert!(read > 0, "no file begins with {prefix}");
}

/// Read nearly whole, and no different from itself. Statements that begin with one of `by_design`
/// are of kinds that are kept as they are.
pub fn offline(name: &str, text: &str, server: &Server, by_design: &[&str]) {
    let source = Source {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let loaded = schema::read(&[source], server).unwrap_or_else(|error| panic!("{error}"));
    let opaque = loaded
        .notes
        .iter()
        .filter(|note| note.kind == NoteKind::Opaque)
        .filter(|note| !by_design.iter().any(|start| note.text.starts_with(start)));
    let opaque: Vec<&str> = opaque.map(|note| note.text.as_str()).collect();
    let statements = loaded.schema.statements().len() + opaque.len();
    println!("{name}: {statements} statements, opaque: {opaque:?}");
    assert!(
        opaque.len() * 100 <= statements * OPAQUE_PERCENT_MAX,
        "{name}: {opaque:?}"
    );
    let plan = schema::plan(&loaded.schema, &loaded.schema, &PlanOptions::default());
    assert_eq!(plan.unwrap().statements, [], "{name} differs from itself");
}

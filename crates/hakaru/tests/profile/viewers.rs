//! Exports, read by the viewers' own tools (`dev/viewers`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::support::Place;

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dev/viewers")
}

/// Standard output of a command, which must succeed.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?}: {error}; `cargo xtask test` installs what tests need")
    });
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A profile of which one method takes nearly all, exported.
fn exported(format: &str) -> (Place, PathBuf) {
    let place = Place::new("def busy = spin(0.4)\ndef idle = sleep(0.1)\nbusy\nidle\n");
    place.profile(&["--mode", "wall"]);
    let file = place.folder.path().join(format);
    let name = file.to_string_lossy().into_owned();
    let written = place.hakaru(&["profile", "export", "LAST", "--format", format, "-o", &name]);
    assert_eq!(written.status.code(), Some(0));
    (place, file)
}

#[test]
fn pprof_reads_the_weights_that_we_wrote() {
    let (place, file) = exported("pprof");
    let tool = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pprof");
    output(
        Command::new("go")
            .args(["build", "-o"])
            .arg(&tool)
            .arg("github.com/google/pprof")
            .current_dir(sources()),
    );
    let top = output(
        Command::new(&tool)
            .args(["-top", "-cum", "-unit=ms"])
            .arg(&file)
            .current_dir(place.folder.path()),
    );
    // Columns: flat, flat %, sum %, cum, cum %, name.
    let row = |name: &str| -> f64 {
        let line = top.lines().find(|line| line.trim_end().ends_with(name));
        let line = line.unwrap_or_else(|| panic!("{name} is not in {top}"));
        let cumulative = line.split_whitespace().nth(3).expect("a column");
        cumulative.trim_end_matches("ms").parse().expect("a number")
    };
    assert!((380.0..900.0).contains(&row("Object#busy")), "{top}");
    assert!((95.0..300.0).contains(&row("[sleep]")), "{top}");
    assert!(top.contains("Type: time"), "{top}");
}

/// The validator's packages, installed once.
fn packages() -> PathBuf {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _one = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("viewers");
    std::fs::create_dir_all(&packages).expect("a folder");
    for name in ["package.json", "package-lock.json"] {
        std::fs::copy(sources().join(name), packages.join(name)).expect("copied");
    }
    if !packages.join("node_modules/.package-lock.json").exists() {
        let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        output(Command::new("npm").args(install).current_dir(&packages));
    }
    packages
}

/// Asserts a file valid by the schema, and invalid with the value changed.
fn check_schema(schema: &str, file: &Path, wrong: &str) {
    let packages = packages();
    let validator = || {
        let mut command = Command::new("node");
        command.arg(sources().join("schema.js")).arg(schema);
        command.arg(file).current_dir(&packages);
        command
    };
    output(&mut validator());
    let text = std::fs::read(file).expect("read");
    let mut document: Value = serde_json::from_slice(&text).expect("JSON");
    *document.pointer_mut(wrong).expect("a value there") = "unknown".into();
    std::fs::write(file, document.to_string()).expect("written");
    let refused = validator().output().expect("node runs");
    assert_eq!(refused.status.code(), Some(1), "it can refuse");
}

#[test]
fn speedscopes_schema_accepts_what_we_wrote() {
    let (_place, file) = exported("speedscope");
    check_schema(
        "speedscope/dist/release/file-format-schema.json",
        &file,
        "/profiles/0/type",
    );
}

/// Asserts the lengths of the columns of a Firefox Profiler table, and the ranges of the indexes.
fn check_table(thread: &Value, name: &str, indexes: &[(&str, &str)]) {
    let table = &thread[name];
    let length = table["length"].as_u64().expect("a length") as usize;
    for (column, values) in table.as_object().expect("a table") {
        if let Some(values) = values.as_array() {
            assert_eq!(values.len(), length, "{name}.{column}");
        }
    }
    for (column, target) in indexes {
        let size = match thread[*target].as_array() {
            Some(strings) => strings.len() as u64,
            None => thread[*target]["length"].as_u64().expect("a length"),
        };
        let values = table[*column].as_array().expect("a column").iter();
        let outside = values
            .filter_map(Value::as_u64)
            .find(|index| *index >= size);
        assert_eq!(outside, None, "{name}.{column} points outside of {target}");
    }
}

#[test]
fn firefox_profilers_types_and_tables_fit() {
    let (_place, file) = exported("firefox");
    let schema = sources().join("firefox.schema.json");
    let copy = file.with_extension("copy");
    std::fs::copy(&file, &copy).expect("copied");
    check_schema(
        &schema.to_string_lossy(),
        &copy,
        "/threads/0/samples/weightType",
    );
    let document: Value =
        serde_json::from_slice(&std::fs::read(&file).expect("read")).expect("JSON");
    let categories = document["meta"]["categories"]
        .as_array()
        .expect("categories")
        .len() as u64;
    for thread in document["threads"].as_array().expect("threads") {
        check_table(thread, "samples", &[("stack", "stackTable")]);
        check_table(
            thread,
            "stackTable",
            &[("frame", "frameTable"), ("prefix", "stackTable")],
        );
        check_table(thread, "frameTable", &[("func", "funcTable")]);
        check_table(
            thread,
            "funcTable",
            &[("name", "stringArray"), ("fileName", "stringArray")],
        );
        let used = thread["stackTable"]["category"]
            .as_array()
            .expect("a column")
            .iter();
        assert!(
            used.filter_map(Value::as_u64)
                .all(|category| category < categories)
        );
        let prefixes = thread["stackTable"]["prefix"]
            .as_array()
            .expect("a column")
            .iter();
        let cycle = prefixes.enumerate().find(|(index, prefix)| {
            prefix
                .as_u64()
                .is_some_and(|prefix| prefix >= *index as u64)
        });
        assert_eq!(cycle, None, "a stack comes after the one it continues");
    }
}

//! Findings of planted faults, and the form of pages.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{assert_found, cleared, doctor, document, ended, found, program};

#[test]
fn this_machine_has_no_alarm_above_low_and_facts_take_less_than_a_second() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = document(&mut doctor(folder.path(), &[]));
    assert_eq!(document["format"], "hakaru-doctor");
    assert_eq!(document["version"], 1);
    assert!(document["checks"].as_u64() >= Some(60));
    let boot = document["snapshot"]["machine"]["boot"].as_str();
    let is_known = |word: &str| word.starts_with("spec") || word.ends_with("-redacted]");
    let mut words = boot.unwrap_or_default().split_whitespace();
    assert!(words.all(is_known), "{boot:?}");
    let graver: Vec<_> = found(&document)
        .into_iter()
        // What other tests do to this machine meanwhile is no false alarm.
        .filter(|(id, level)| level != "low" && !id.ends_with(".pressure") && id != "memory.short")
        .collect();
    assert!(graver.is_empty(), "{graver:?}");
    let seconds = document["seconds"].as_f64().expect("a time");
    assert!(seconds < 1.0, "{seconds} s");
}

#[test]
fn few_open_files_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut shell = cleared(Command::new("sh"));
    shell
        .args([
            "-c",
            "ulimit -n 64; exec \"$0\" doctor --json --measure no --only limits",
        ])
        .arg(env!("CARGO_BIN_EXE_hakaru"))
        .current_dir(folder.path());
    let document = document(&mut shell);
    assert_eq!(
        found(&document),
        [("limits.files".to_owned(), "high".to_owned())]
    );
    let finding = &document["findings"][0];
    assert_eq!(finding["undo"][0], "ulimit -n 64");
}

#[test]
fn many_threads_without_a_limit_of_arenas_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("config")).expect("a folder");
    std::fs::write(folder.path().join("config/puma.rb"), "threads 8, 8\n").expect("a file");
    let id = "ruby.malloc-arenas";
    assert_found(&document(&mut doctor(folder.path(), &[])), id);
    let limited = document(doctor(folder.path(), &[]).env("MALLOC_ARENA_MAX", "2"));
    assert!(found(&limited).iter().all(|(other, _)| other != id));
}

#[test]
fn a_rollback_journal_is_found_and_wal_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |mode: &str, is_found: bool| {
        let path = folder.path().join(format!("{mode}.sqlite3"));
        let database = rusqlite::Connection::open(&path).expect("a file");
        database
            .pragma_update(None, "journal_mode", mode)
            .expect("a mode");
        database
            .execute_batch(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX i ON t (a)",
            )
            .expect("a table");
        let url = format!("sqlite:{}", path.display());
        let document = document(&mut doctor(
            folder.path(),
            &["--only", "database", "--database", &url],
        ));
        assert_eq!(document["unseen"], serde_json::json!([]), "{mode}");
        let ids: Vec<String> = found(&document).into_iter().map(|(id, _)| id).collect();
        let expected = if is_found {
            vec!["sqlite.rollback-journal"]
        } else {
            vec![]
        };
        assert_eq!(ids, expected, "{mode}");
    };
    check("delete", true);
    check("wal", false);
}

#[test]
fn indexes_are_double_only_with_the_same_expressions_orders_and_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("app.sqlite3");
    let database = rusqlite::Connection::open(&path).expect("a file");
    database
        .execute_batch(
            "PRAGMA journal_mode = wal;
             CREATE TABLE t (id INTEGER PRIMARY KEY, a_b TEXT, axb TEXT, c TEXT);
             CREATE INDEX short ON t (c); CREATE INDEX long ON t (c, a_b);
             CREATE INDEX lower ON t (lower(a_b), axb); CREATE INDEX axb ON t (axb);
             CREATE INDEX under ON t (a_b); CREATE INDEX other ON t (axb DESC, c);",
        )
        .expect("a table");
    let url = format!("sqlite:{}", path.display());
    let arguments = ["--only", "database", "--database", &url];
    let document = document(&mut doctor(folder.path(), &arguments));
    assert_eq!(document["unseen"], serde_json::json!([]));
    let double = &document["snapshot"]["databases"][0]["lists"]["double indexes"];
    assert_eq!(
        *double,
        serde_json::json!(["short is the beginning of long"])
    );
}

/// Programs with one busy core each, ended with the test.
struct Busy(Vec<Child>);

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn busy_neighbours_are_found_and_named_within_ten_seconds() {
    let folder = tempfile::tempdir().expect("a folder");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let busy = |_| {
        Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .expect("a shell")
    };
    let _busy = Busy((0..2 * cores).map(busy).collect());
    let mut command = program();
    command
        .args(["doctor", "--json", "--only", "cpu"])
        .current_dir(folder.path());
    let document = document(&mut command);
    let findings = document["findings"].as_array().expect("findings");
    let neighbour = findings
        .iter()
        .find(|finding| finding["id"] == "cpu.busy-neighbour");
    let neighbour = neighbour.unwrap_or_else(|| panic!("{document}"));
    assert_ne!(neighbour["level"], "low", "{neighbour}");
    assert_eq!(neighbour["sure"], "measured");
    let seconds = document["seconds"].as_f64().expect("a time");
    assert!(seconds < 10.0, "{seconds} s");
}

#[test]
fn every_question_to_a_server_is_answered() {
    for variable in ["HAKARU_TEST_MARIADB_URL", "HAKARU_TEST_POSTGRES_URL"] {
        let url = std::env::var(variable)
            .unwrap_or_else(|_| panic!("{variable} is not set; run with cargo xtask with-servers"));
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = ["--only", "database", "--database", url.as_str()];
        let document = document(&mut doctor(folder.path(), &arguments));
        assert_eq!(document["unseen"], serde_json::json!([]), "{variable}");
        let databases = document["snapshot"]["databases"]
            .as_array()
            .expect("databases");
        assert_eq!(databases.len(), 1);
        let values = databases[0]["values"].as_object().expect("values");
        assert!(values.len() > 100, "{} values", values.len());
        assert!(values.contains_key("max_connections"));
        // The document is stored and passed on.
        let hidden = [
            "archive_command",
            "init_connect",
            "primary_conninfo",
            "ssl_passphrase_command",
        ];
        for name in hidden {
            assert!(!values.contains_key(name), "{variable}: {name}");
        }
    }
}

/// The servers of the tests have the data on a disk; the app's folder is in memory.
#[test]
fn the_disk_of_a_server_is_measured_where_it_is_not_the_apps() {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    for variable in [
        "HAKARU_TEST_MARIADB_URL",
        "HAKARU_TEST_MYSQL_URL",
        "HAKARU_TEST_POSTGRES_URL",
    ] {
        let url = std::env::var(variable)
            .unwrap_or_else(|_| panic!("{variable} is not set; run with cargo xtask with-servers"));
        let mut command = program();
        command
            .args(["doctor", "--json", "--only", "database", "--database", &url])
            .current_dir(folder.path());
        let document = document(&mut command);
        let disk = &document["snapshot"]["databases"][0]["disk"];
        let sync = disk["sync_ns"].as_f64();
        assert!(
            sync.is_some_and(|ns| ns > 0.0),
            "{variable}: {disk} {}",
            document["unseen"]
        );
    }
}

#[test]
fn commits_of_sqlite_are_measured_on_the_disk_of_the_file() {
    let (memory, disk) = ("/dev/shm", env!("CARGO_TARGET_TMPDIR"));
    let check = |folder: &str, place: &str, is_elsewhere: bool| {
        let folder = tempfile::tempdir_in(folder).expect("a folder");
        let place = tempfile::tempdir_in(place).expect("a place");
        let path = place.path().join("app.sqlite3");
        let database = rusqlite::Connection::open(&path).expect("a file");
        database
            .execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY)")
            .expect("a table");
        let url = format!("sqlite:{}", path.display());
        let mut command = program();
        command
            .args(["doctor", "--json", "--only", "database", "--database", &url])
            .current_dir(folder.path());
        let snapshot = document(&mut command)["snapshot"].take();
        let there = snapshot["databases"][0]["disk"]["sqlite_rollback_ns"].is_f64();
        let here = snapshot["measures"]["sqlite_rollback_ns"].is_f64();
        assert_eq!((there, here), (is_elsewhere, !is_elsewhere), "{url}");
        let left = std::fs::read_dir(place.path()).expect("the place").count();
        assert_eq!(left, 1, "files beside {url}");
    };
    check(memory, disk, true);
    check(disk, disk, false);
}

#[test]
fn pages_fit_the_terminal_in_both_languages_and_list_every_check() {
    let folder = tempfile::tempdir().expect("a folder");
    for columns in ["60", "80", "120"] {
        for language in ["en", "ja"] {
            for arguments in [&["doctor", "--measure", "no"][..], &["doctor", "--list"]] {
                let mut command = program();
                command
                    .args(arguments)
                    .args(["--lang", language])
                    .env("COLUMNS", columns)
                    .current_dir(folder.path());
                let output = ended(&mut command);
                let page = String::from_utf8(output.stdout).expect("text");
                let most: usize = columns.parse().expect("a number");
                for line in page.lines() {
                    assert!(figures::text::width(line) <= most, "{columns}: {line}");
                }
                assert!(page.lines().count() > 3, "{page}");
            }
        }
    }
}

#[test]
fn two_machines_are_compared_and_a_wrong_document_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("here.json");
    let mut document = document(&mut doctor(folder.path(), &[]));
    document["snapshot"]["machine"]["clocksource"] = "acpi_pm".into();
    std::fs::write(&kept, document.to_string()).expect("a file");
    let compare = |file: &Path| {
        let mut command = program();
        command
            .args(["doctor", "--measure", "no", "--lang", "en", "--compare"])
            .arg(file)
            .current_dir(folder.path());
        command
    };
    let page = String::from_utf8(ended(&mut compare(&kept)).stdout).expect("text");
    assert!(page.contains("machine.clocksource: "), "{page}");
    assert!(page.contains("| acpi_pm"), "{page}");
    std::fs::write(&kept, "{}").expect("a file");
    let refused = compare(&kept).output().expect("the program runs");
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn a_page_that_cannot_be_written_costs_no_diagnosis() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |path: &str, code: i32, part: &str| {
        let mut command = program();
        command
            .args(["doctor", "--measure", "no", "--html", path])
            .current_dir(folder.path());
        let output = command.output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(part), "{said}");
        output.stdout
    };
    assert!(!check("/dev/full", 8, "cannot write /dev/full").is_empty());
    // Refused before ten seconds of measuring.
    assert!(check("/nothing/here.html", 1, "name a file in a folder").is_empty());
    let page = check("-", 0, "");
    assert!(page.starts_with(b"<!doctype html>"));
}

#[test]
fn ctrl_c_leaves_nothing_in_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("app.sqlite3");
    let file = rusqlite::Connection::open(&path).expect("a file");
    file.execute_batch("CREATE TABLE t (a INT)")
        .expect("a table");
    let mut command = program();
    command
        .args(["doctor", "--json", "--only", "database", "--database"])
        .arg(format!("sqlite:{}", path.display()))
        .current_dir(folder.path())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let has_scratch = || {
        let entries = std::fs::read_dir(folder.path()).expect("a folder");
        let mut names = entries.flatten().map(|entry| entry.file_name());
        names.any(|name| name.to_string_lossy().starts_with(".hakaru-doctor-"))
    };
    while !has_scratch() && child.try_wait().expect("a state").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("interrupted");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(!has_scratch());
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(shown["format"], "hakaru-doctor");
}

#[test]
fn a_page_in_html_stands_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program();
    command
        .args(["doctor", "--measure", "no", "--html", "doctor.html"])
        .current_dir(folder.path());
    ended(&mut command);
    let page = std::fs::read_to_string(folder.path().join("doctor.html")).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    for fetching in ["<script", "<link", "src=", "@import"] {
        assert!(!page.contains(fetching), "{fetching}");
    }
}

#[test]
fn a_database_elsewhere_is_not_asked_without_a_yes() {
    let folder = tempfile::tempdir().expect("a folder");
    // libpq lets the host in the query win.
    for url in [
        "mysql2://me:secret@db.example.org/app",
        "postgres://me:secret@localhost/app?host=db.example.org",
    ] {
        let mut command = doctor(folder.path(), &["--database", url]);
        let output = command.output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("--host-ok db.example.org"), "{said}");
        assert!(!said.contains("secret"), "{said}");
    }
}

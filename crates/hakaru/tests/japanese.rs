//! Output of the real program with `--lang ja` has no English sentence: each command is run, and
//! every line is read.
//!
//! Errors, `--help`, JSON, SQL with its comments, and files that are written stay English.

#[path = "support/server.rs"]
mod server;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use server::serve;

/// So many English words in a row are a sentence.
const SENTENCE: usize = 3;

/// The first words of an English sentence in a line, if there is one. Text in backticks, commands
/// of `hakaru` or Puma, SQL, paths, flags and figures are none.
fn english(line: &str) -> Option<String> {
    let mut in_row: Vec<&str> = Vec::new();
    let mut in_command = false;
    let spoken: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" 。 ");
    for word in spoken.split([' ', '（', '）', '(', ')']) {
        if matches!(word, "hakaru" | "puma") {
            in_command = true;
        } else if word.is_empty() || !word.is_ascii() {
            in_command = false;
        }
        if !in_command && is_word(word) {
            in_row.push(word);
        } else if !word.is_empty() || in_row.is_empty() {
            in_row.clear();
        }
        if in_row.len() == SENTENCE {
            return Some(in_row.join(" "));
        }
    }
    None
}

fn is_word(word: &str) -> bool {
    let letters = word.trim_end_matches([',', ';', ':', '.', '?']);
    let mut chars = letters.chars();
    let first = chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic());
    first && chars.all(|c| c.is_ascii_lowercase() || matches!(c, '\'' | '-'))
}

#[test]
fn sentences_are_told_from_code() {
    let check = |line: &str, expected: Option<&str>| {
        assert_eq!(english(line).as_deref(), expected, "{line}");
    };
    check("  ! the host was disturbed", Some("the host was"));
    check("対策: add an index on it", Some("add an index"));
    check("stopped early: these are", Some("stopped early: these"));
    check("SELECT id FROM orders WHERE id = ?", None);
    check("hakaru profile show again", None);
    check("実行は `bundle exec rake all`", None);
    check("計測 3 の p99 は max 2.1 s", None);
    check("puma -t 2:2 -b tcp://127.0.0.1:80 config.ru", None);
}

/// All output of a command on both streams, in a language.
fn told(folder: &Path, language: &str, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["--lang", language])
        .args(arguments)
        .current_dir(folder)
        .env_remove("DATABASE_URL")
        .env("COLUMNS", "120")
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let told = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let told = told.concat();
    let codes = [0, 3, 4, 12];
    let code = output.status.code();
    assert!(
        code.is_some_and(|code| codes.contains(&code)),
        "{arguments:?}: {told}"
    );
    told
}

/// Runs a command in Japanese; returns the lines with an English sentence, each after the command.
fn check(folder: &Path, arguments: &[&str]) {
    let told = told(folder, "ja", arguments);
    assert!(!told.is_ascii(), "{arguments:?} says nothing: {told}");
    let found: Vec<String> = (told.lines())
        .filter_map(|line| english(line).map(|words| format!("{words:?} in: {line}")))
        .collect();
    assert!(
        found.is_empty(),
        "{arguments:?}:\n{}\n\n{told}",
        found.join("\n")
    );
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
    std::fs::write(path, text).expect("it is written");
}

#[test]
fn load_check_and_runs_from_outside_speak_japanese() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |arguments: &[&str]| check(folder.path(), arguments);
    let [good, moved] = ["200 OK", "301 Moved"].map(|status| format!("http://{}/", serve(status)));
    let short = ["-c", "2", "-d", "300ms", "--warmup", "100ms"];
    check(&[&["load", &good], &short[..]].concat());
    check(&[&["load", &moved, "--expect", "p99 < 1us"], &short[..]].concat());
    check(&[&["load", &moved, "--expect", "p99.9999 < 1s"], &short[..]].concat());
    check(&["load", "http://127.0.0.1:1/", "-d", "200ms"]);
    check(&["load", &good, "--find-max", "p99 < 1s", "-d", "3s"]);
    check(&[&["run", "--attach", "--url", &moved], &short[..]].concat());
    check(&[&["run", "--attach", "--url", &good], &short[..]].concat());
    let english_page = told(folder.path(), "en", &["report", "--full"]);
    assert!(
        english_page.lines().any(|line| english(line).is_some()),
        "the page in English has no sentence: {english_page}"
    );
    check(&["report", "--full"]);
    check(&["note", "LAST", "memo"]);
    check(&["log"]);
    write(
        folder.path(),
        "two.hurl",
        "GET /\nHTTP 200\n\nGET /\nHTTP 404\n",
    );
    check(&["check", "two.hurl", "--url", &good]);
    let two = ["--url-a", &good, "--url-b", &good, "--segment", "100ms"];
    let blocks = ["--blocks", "1", "-c", "2", "--warmup", "100ms"];
    check(&[&["compare"], &two[..], &blocks].concat());
}

#[test]
fn init_and_schema_speak_japanese() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| write(folder.path(), name, text);
    write("config.ru", "run Rails.application\n");
    write("config/application.rb", "");
    write("config/routes.rb", "get \"about\"\n");
    write("config/puma.rb", "");
    write(
        "config/environments/production.rb",
        "  config.force_ssl = true\n",
    );
    write("db/schema.rb", "");
    write("Gemfile", "gem \"rails\"\n");
    check(folder.path(), &["init"]);
    write(
        "a.sql",
        "CREATE TABLE t (a int);\nINSERT INTO t VALUES (1);\nSELECT 1;\n",
    );
    write("b.sql", "CREATE TABLE t (b int);\n");
    let told = told(
        folder.path(),
        "ja",
        &[
            "schema",
            "plan",
            "a.sql",
            "--to",
            "b.sql",
            "--dialect",
            "sqlite",
            "--out",
            "plan.json",
        ],
    );
    let spoken: Vec<&str> = (told.lines())
        .filter(|line| !line.starts_with("--"))
        .filter(|line| english(line).is_some())
        .collect();
    assert!(
        spoken.is_empty() && told.contains("保留"),
        "{spoken:?}\n{told}"
    );
}

#[test]
fn profiles_speak_japanese() {
    let folder = tempfile::tempdir().expect("a folder");
    write(
        folder.path(),
        "old.txt",
        "main;run;a 500\nmain;run;b 300\nmain;c 5\n",
    );
    write(
        folder.path(),
        "new.txt",
        "main;run;a 900\nmain;run;d 300\nmain;c 5\n",
    );
    let check = |arguments: &[&str]| check(folder.path(), arguments);
    check(&["profile", "show", "old.txt"]);
    check(&["profile", "show", "old.txt", "--around", "run"]);
    check(&["profile", "diff", "old.txt", "new.txt"]);
    check(&["profile", "diff", "old.txt", "old.txt"]);
    check(&[
        "profile",
        "--",
        "ruby",
        "-e",
        "t = Time.now + 0.5; nil while Time.now < t",
    ]);
}

/// An app with waits and work, enough for findings, predictions and advice.
#[test]
fn pages_of_an_app_seen_from_inside_speak_japanese() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.expect("a free port").port();
    let config = format!(
        "[target]\ncommand = \"puma -t 2:2 -b tcp://127.0.0.1:{port} config.ru\"\nurl = \"http://127.0.0.1:{port}\"\n\
         env = {{ RACK_ENV = \"production\" }}\nbefore = \"true\"\n[load]\nconnections = 8\nduration = \"2s\"\nwarmup = \"300ms\"\n"
    );
    write(folder.path(), "hakaru.toml", &config);
    let app = "LOCK = Mutex.new\n\
               run ->(_env) { LOCK.synchronize { sleep 0.002 }; 2000.times.map(&:to_s); sleep 0.005; [200, {}, ['ok']] }\n";
    write(folder.path(), "config.ru", app);
    let check = |arguments: &[&str]| check(folder.path(), arguments);
    check(&["run"]);
    check(&["report", "--full"]);
    check(&["sweep", "-c", "1,2,4", "-d", "300ms", "--warmup", "100ms"]);
    check(&["predict", "-t", "4"]);
    check(&["predict", "--rate", "9000"]);
    check(&["predict", "--rate", "50", "--goal", "p95 < 1ms"]);
    check(&["tune", "--advise"]);
    check(&[
        "tune", "--run", "1", "--budget", "15s", "--block", "1s", "--warmup", "300ms",
    ]);
    check(&["log"]);
}

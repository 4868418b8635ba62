//! `hakaru run`, then `hakaru try` on the unpatched chat: the index of a finding is measured on a
//! copy, and the chat's own database stays unchanged, also after Ctrl-C and after `kill -9`.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(120);

/// Name of the index created by the finding's remedy.
const INDEX: &str = "message_channel_id_id";

/// Flags of the shortest trial.
const BRIEF: [&str; 6] = ["--blocks", "1", "--segment", "1s", "--warmup", "0s"];

/// The chat in a new folder, on a free port and one database.
struct Chat {
    folder: tempfile::TempDir,
    port: u16,
    variable: Option<String>,
}

impl Chat {
    fn new(variable: Option<String>) -> Chat {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/chat");
        std::fs::create_dir(folder.path().join("tmp")).expect("a folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let chat = Chat {
            folder,
            port: listener.local_addr().expect("an address").port(),
            variable,
        };
        drop(listener);
        let copied = Command::new("cp")
            .arg("-r")
            .args([source, chat.path()])
            .status();
        assert!(copied.expect("cp runs").success());
        let _ = std::fs::remove_dir_all(chat.path().join(".hakaru"));
        for ending in ["db", "db-wal", "db-shm"] {
            let _ = std::fs::remove_file(chat.path().join(format!("chat.{ending}")));
        }
        let config = std::fs::read_to_string(chat.path().join("hakaru.toml")).expect("a config");
        let config = config.replace("9292", &chat.port.to_string());
        // Trial boots are loaded for as long as the configured warm-up too, and nothing here
        // depends on a warm app.
        let warmed = config.replace("warmup = \"3s\"", "warmup = \"500ms\"");
        assert_ne!(warmed, config, "the chat's warm-up is elsewhere");
        std::fs::write(chat.path().join("hakaru.toml"), warmed).expect("it is written");
        chat
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("chat")
    }

    fn hakaru(&self, arguments: &[&str]) -> Command {
        self.command(env!("CARGO_BIN_EXE_hakaru"), arguments)
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path())
            .env("CHAT_SMALL", "1")
            .env("TMPDIR", self.folder.path().join("tmp"))
            .env_remove("DATABASE_URL")
            .stdin(Stdio::null());
        if let Some(url) = &self.variable {
            command.env("DATABASE_URL", url);
        }
        command
    }

    /// Fills the database as the configured command before each run does.
    fn seed(&self) {
        let output = self.command("ruby", &["seed.rb", "--reset"]).output();
        let output = output.expect("ruby runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }

    fn json(&self, arguments: &[&str], codes: &[i32]) -> Value {
        let output = self.hakaru(arguments).output().expect("hakaru runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code().unwrap_or(-1);
        assert!(
            codes.contains(&code),
            "{arguments:?} ended with {code}: {said}"
        );
        serde_json::from_slice(&output.stdout).expect("JSON and nothing after it")
    }

    /// Starts a long trial, and waits until B is up.
    fn start_long_trial(&self, finding: &str) -> Child {
        let log = self.path().join(".hakaru/compare-b.log");
        let _ = std::fs::remove_file(&log);
        let child = self
            .hakaru(&["try", finding, "--blocks", "50", "--segment", "2s"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("hakaru runs");
        wait_until("the start of B", || {
            log.exists() && TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
        child
    }

    fn database(&self) -> Box<dyn schema_db::Database> {
        let file = format!("sqlite:{}", self.path().join("chat.db").display());
        let url = self.variable.as_deref().unwrap_or(&file);
        schema_db::scratch::open(url).unwrap_or_else(|error| panic!("{}", error.message))
    }

    /// The schema by the server, and the number of rows of each table.
    fn state(&self) -> (String, Vec<String>) {
        let mut database = self.database();
        let schema = database
            .export()
            .unwrap_or_else(|error| panic!("{}", error.message));
        assert!(!schema.contains(INDEX), "{schema}");
        let mut count = |table: &&str| {
            let rows = database.query(&format!("SELECT count(*) FROM {table}"));
            format!(
                "{table} {:?}",
                rows.unwrap_or_else(|error| panic!("{}", error.message))
            )
        };
        let tables = ["users", "image", "channel", "message", "haveread", "seeded"];
        (schema, tables.iter().map(&mut count).collect())
    }

    /// Traces of a copy: folders, and databases on the server.
    fn leftovers(&self) -> Vec<String> {
        let folders = std::fs::read_dir(self.folder.path().join("tmp"))
            .expect("a folder")
            .flatten();
        let mut left: Vec<String> = folders
            .map(|entry| entry.path().display().to_string())
            .collect();
        if let Some(url) = &self.variable {
            let asked = match url.starts_with("postgres") {
                true => "SELECT datname FROM pg_database WHERE datname LIKE 'hakaru\\_scratch%'",
                false => "SHOW DATABASES LIKE 'hakaru\\_scratch%'",
            };
            let databases = self.database().query(asked);
            left.extend(
                databases
                    .unwrap_or_default()
                    .into_iter()
                    .flatten()
                    .flatten(),
            );
        }
        left
    }
}

fn wait_until(what: &str, mut look: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !look() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a process");
    kill_process(pid, signal).expect("a signal");
}

/// The number of the finding about the index.
fn number(run: &Value) -> String {
    let findings = run["findings"].as_array().expect("findings");
    let wanted = findings.iter().find(|finding| {
        finding["remedy"]["exact"]
            .as_str()
            .is_some_and(|exact| exact.contains(INDEX))
    });
    wanted.unwrap_or_else(|| panic!("no finding asks for {INDEX}: {findings:#?}"))["number"]
        .to_string()
}

/// The address of a test server.
fn server(variable: &str) -> Option<String> {
    let url = std::env::var(variable);
    Some(url.unwrap_or_else(|_| {
        panic!("{variable} is set; bin/test starts the servers that tests need")
    }))
}

/// A trial is killed, another ends by itself and takes back what the first has left, and a third is
/// interrupted.
fn check(variable: Option<String>) {
    let chat = Chat::new(variable);
    let finding = number(&chat.json(&["run", "--json", "--duration", "8s"], &[0]));
    let before = chat.state();

    let mut going = chat.start_long_trial(&finding);
    signal(&going, Signal::KILL);
    going.wait().expect("its end");
    assert_eq!(chat.state(), before);

    let tried = chat.json(&[&["try", &finding, "--json"], &BRIEF[..]].concat(), &[12]);
    assert_eq!(tried["tried"]["number"].to_string(), finding);
    assert!(
        tried["tried"]["remedy"]
            .as_str()
            .is_some_and(|remedy| remedy.contains(INDEX))
    );
    assert_eq!(tried["blocks"], 1, "{tried:#}");
    assert!(tried["a"]["requests"].as_u64() > Some(0), "{tried:#}");
    assert_eq!(chat.state(), before);
    assert_eq!(chat.leftovers(), [""; 0]);

    let mut going = chat.start_long_trial(&finding);
    signal(&going, Signal::INT);
    assert_eq!(going.wait().expect("its end").code(), Some(130));
    assert_eq!(chat.state(), before);
    assert_eq!(chat.leftovers(), [""; 0]);

    let journal = chat.json(&["log", "--json"], &[0]);
    let trial = &journal["runs"][0]["trials"][0];
    assert!(
        trial["finding"]
            .as_str()
            .is_some_and(|text| text.starts_with(&finding)),
        "{journal:#}"
    );
    assert!(
        trial["remedy"]
            .as_str()
            .is_some_and(|text| text.contains(INDEX)),
        "{journal:#}"
    );
}

/// The copy of a whole database is what differs there; what comes after an interruption does not.
#[test]
fn a_schema_is_compared_on_a_scratch_database_of_postgres() {
    let chat = Chat::new(server("HAKARU_TEST_POSTGRES_URL"));
    chat.seed();
    let before = chat.state();
    let index = format!("\nCREATE INDEX {INDEX} ON message (channel_id, id);\n");
    let schema = [before.0.as_str(), &index].concat();
    std::fs::write(chat.path().join("new.sql"), schema).expect("it is written");
    let words = ["compare", "--schema-b", "new.sql", "--json"];
    let compared = chat.json(&[&words[..], &BRIEF[..]].concat(), &[12]);
    assert_eq!(compared["blocks"], 1, "{compared:#}");
    assert_eq!(compared["b"]["name"], "with new.sql");
    assert!(compared["b"]["requests"].as_u64() > Some(0), "{compared:#}");
    assert_eq!(chat.state(), before);
    assert_eq!(chat.leftovers(), [""; 0]);
}

#[test]
fn an_index_is_tried_on_a_copy_of_sqlite() {
    check(None);
}

#[test]
fn an_index_is_tried_on_a_scratch_database_of_mariadb() {
    check(server("HAKARU_TEST_MARIADB_URL"));
}

//! `hakaru try` and `hakaru compare --schema-b` on small apps: an index to stay, a schema, threads,
//! workers, a patch.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::RwLock;

use serde_json::Value;

/// Held for writing by tests whose finding depends on idle cores. What the others assert holds on
/// half of the cores too, so two of these run at once.
static CORES: RwLock<()> = RwLock::new(());

/// Reads one of 20,000 rows by a column without an index, with a connection a thread.
const READS: &str = r#"
require "LIBRARY"

run ->(_env) do
  base = Thread.current.thread_variable_get(:base)
  Thread.current.thread_variable_set(:base, base = CONNECT) unless base
  rows = QUERY
  [200, { "content-type" => "text/plain" }, [rows.to_a.size.to_s]]
end
"#;

/// The Ruby driver of an app's database.
struct Driver {
    /// Ruby library.
    library: &'static str,
    /// Ruby expression for a new connection.
    connect: &'static str,
    /// Ruby expression for the rows.
    query: &'static str,
    /// SQL of the numbered rows, as `i`.
    numbers: &'static str,
}

const SQLITE: Driver = Driver {
    library: "sqlite3",
    connect: r#"SQLite3::Database.new("things.db")"#,
    query: r#"base.execute("SELECT name FROM thing WHERE owner = ?", [rand(1..20_000)])"#,
    numbers: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n",
};

const POSTGRES: Driver = Driver {
    library: "pg",
    connect: r#"PG.connect(ENV.fetch("DATABASE_URL"))"#,
    query: r#"base.exec_params("SELECT name FROM thing WHERE owner = $1", [rand(1..20_000)])"#,
    numbers: "SELECT generate_series(1, 20000) AS i",
};

const SCHEMA: &str =
    "CREATE TABLE thing (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, name TEXT NOT NULL);\n";
const INDEX: &str = "CREATE INDEX thing_by_owner ON thing (owner);\n";

/// Writes rows of a SQLite file with a journal.
const WRITES: &str = r#"
require "sqlite3"

DB = SQLite3::Database.new("kept.db")
DB.execute("CREATE TABLE IF NOT EXISTS kept (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
WRITE = "INSERT INTO kept (text) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
         SELECT printf('text %d', i) FROM n"

run ->(_env) do
  DB.execute(WRITE)
  [200, { "content-type" => "text/plain", "cache-control" => "no-store" }, ["written"]]
end
"#;

/// 2 ms of CPU and 6 ms of sleep: about four threads are best.
const WAITS: &str = r#"
def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :float_millisecond)

run ->(_env) do
  stop = cpu + 2
  nil while cpu < stop
  sleep 0.006
  [200, { "content-type" => "text/plain" }, ["ok"]]
end
"#;

/// An app with 5 ms of CPU: one process uses one core, whatever the number of threads.
const COMPUTES: &str = r#"
def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :float_millisecond)

run ->(_env) do
  stop = cpu + 5
  nil while cpu < stop
  [200, { "content-type" => "text/plain" }, ["ok"]]
end
"#;

/// An app with a wait, only for known paths.
const WAITS_AT_POSTS: &str = r#"
run ->(env) do
  sleep 0.006
  [env["PATH_INFO"] == "/posts" ? 200 : 404, { "content-type" => "text/plain" }, ["ok"]]
end
"#;

/// One block, which claims nothing.
const BRIEF: [&str; 7] = [
    "--json",
    "--blocks",
    "1",
    "--segment",
    "1s",
    // B was seen to need 310 ms; a side that still warms up differs from itself.
    "--warmup",
    "500ms",
];
/// The fewest from which something is claimed.
const CLAIMING: [&str; 7] = [
    "--json",
    "--blocks",
    "6",
    "--segment",
    "500ms",
    "--warmup",
    "200ms",
];

struct Project {
    folder: tempfile::TempDir,
    /// Address of the things' database.
    database: Option<String>,
}

impl Project {
    fn new(app: &str, threads: u32) -> Project {
        let project = Project {
            folder: tempfile::tempdir().expect("a temporary folder"),
            database: None,
        };
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        std::fs::create_dir(project.folder.path().join("app")).expect("a folder");
        std::fs::create_dir(project.folder.path().join("tmp")).expect("a folder");
        project.write("config.ru", app);
        project.write(
            "hakaru.toml",
            &format!(
                "[target]\ncommand = \"puma -t {threads}:{threads} -b tcp://127.0.0.1:{port} config.ru\"\n\
                 url = \"http://127.0.0.1:{port}/\"\nenv = {{ RACK_ENV = \"production\" }}\n\
                 [load]\nconnections = 8\nduration = \"3s\"\nwarmup = \"500ms\"\n"
            ),
        );
        project
    }

    /// Reads things of a SQLite file.
    fn with_things() -> Project {
        let project = Project::reading(&SQLITE);
        let file = project.path().join("things.db");
        project.seeded(format!("sqlite:{}", file.display()), &SQLITE)
    }

    /// An app whose things are in a new database on a server.
    fn with_things_on_postgres(driver: &Driver, name: &str) -> Project {
        let server = std::env::var("HAKARU_TEST_POSTGRES_URL");
        let server = server.expect("bin/test starts the servers that tests need, and says where");
        let mut database = opened(&server);
        for statement in ["DROP DATABASE IF EXISTS", "CREATE DATABASE"] {
            execute(&mut *database, &format!("{statement} {name}"));
        }
        let url = schema_db::scratch::url_of(&server, name).expect("the address names a database");
        Project::reading(driver).seeded(url, driver)
    }

    fn reading(driver: &Driver) -> Project {
        let app = READS.replace("LIBRARY", driver.library);
        let app = app.replace("CONNECT", driver.connect);
        Project::new(&app.replace("QUERY", driver.query), 3)
    }

    fn seeded(mut self, url: String, driver: &Driver) -> Project {
        let mut database = opened(&url);
        execute(&mut *database, SCHEMA);
        let rows = format!(
            "INSERT INTO thing SELECT i, i, 'thing ' || (1000000000 + i) FROM ({}) AS numbers",
            driver.numbers
        );
        execute(&mut *database, &rows);
        self.database = Some(url);
        self
    }

    /// Address of the app's database.
    fn url(&self) -> &str {
        self.database.as_deref().expect("a project with things")
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("app")
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("it is written");
    }

    fn hakaru(&self, code: i32, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
        command
            .args(words)
            .current_dir(self.path())
            .env("TMPDIR", self.folder.path().join("tmp"))
            .env_remove("DATABASE_URL");
        if let Some(url) = self.database.as_ref().filter(|url| is_server(url)) {
            command.env("DATABASE_URL", url);
        }
        let output = command.output().expect("hakaru runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        output
    }

    fn json(&self, code: i32, words: &[&str]) -> Value {
        let output = self.hakaru(code, words);
        serde_json::from_slice(&output.stdout).expect("JSON and nothing after it")
    }

    /// The number of the finding whose remedy begins so, of a run made now.
    fn finding(&self, remedy: &str) -> String {
        self.finding_of(&["run", "--json"], remedy)
    }

    fn finding_of(&self, run: &[&str], remedy: &str) -> String {
        let run = self.json(0, run);
        let findings = run["findings"].as_array().expect("findings");
        let wanted = findings.iter().find(|finding| {
            let exact = finding["remedy"]["exact"].as_str();
            exact.is_some_and(|exact| exact.starts_with(remedy))
        });
        wanted.unwrap_or_else(|| panic!("no remedy is {remedy}: {findings:#?}"))["number"]
            .to_string()
    }

    /// The schema by the database, and the number of rows.
    fn state(&self) -> (String, String) {
        let mut database = opened(self.url());
        let schema = database.export();
        let rows = database.query("SELECT count(*) FROM thing");
        let message = |error: schema_db::DbError| -> String { panic!("{}", error.message) };
        (
            schema.unwrap_or_else(message),
            format!("{:?}", rows.map_err(message)),
        )
    }

    /// Number of a copy's traces: folders, and databases on the server.
    fn leftovers(&self) -> usize {
        const COPIES: &str =
            "SELECT datname FROM pg_database WHERE datname LIKE 'hakaru\\_scratch%'";
        let folder = std::fs::read_dir(self.folder.path().join("tmp"));
        let server = self.database.as_ref().filter(|url| is_server(url));
        let copies = server.map_or(0, |url| {
            let copies = opened(url).query(COPIES);
            copies
                .unwrap_or_else(|error| panic!("{}", error.message))
                .len()
        });
        folder.expect("a folder").count() + copies
    }
}

fn is_server(url: &str) -> bool {
    schema_db::scratch::sqlite_path(url).is_none()
}

fn opened(url: &str) -> Box<dyn schema_db::Database> {
    schema_db::scratch::open(url).unwrap_or_else(|error| panic!("{}", error.message))
}

fn execute(database: &mut dyn schema_db::Database, sql: &str) {
    let done = database.execute(sql);
    done.unwrap_or_else(|error| panic!("{sql}: {}", error.message));
}

fn alone() -> std::sync::RwLockWriteGuard<'static, ()> {
    CORES
        .write()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn beside_another() -> std::sync::RwLockReadGuard<'static, ()> {
    CORES
        .read()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn ratio(compared: &Value, metric: &str) -> f64 {
    let rows = compared["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["metric"] == metric);
    row.expect("the row")["ratio"].as_f64().expect("a ratio")
}

/// Tries the index of a run's finding, with `--keep`.
fn keep_the_index(project: &Project) {
    let before = project.state();
    let finding = project.finding("CREATE INDEX");
    let words = [&["try", &finding, "--keep"], &CLAIMING[..]].concat();
    let mut tried = project.json(0, &words);
    // Where the host makes a side differ from itself, nothing is to be kept.
    for _ in 0..2 {
        if tried["noise_claims"] == true {
            assert_eq!(tried["tried"]["is_kept"], false, "{tried:#}");
            tried = project.json(0, &words);
        }
    }
    assert_eq!(tried["decision"], "faster", "{tried:#}");
    assert_eq!(tried["tried"]["is_kept"], true, "{tried:#}");
    let after = project.state();
    assert!(after.0.contains("CREATE INDEX") && !before.0.contains("CREATE INDEX"));
    assert_eq!(after.1, before.1);
    assert_eq!(project.leftovers(), 0);
    let again = project.hakaru(2, &["try", &finding]);
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(said.contains("is there already"), "{said}");
}

#[test]
fn an_index_that_proves_faster_is_kept_where_that_is_asked() {
    let _shared = beside_another();
    keep_the_index(&Project::with_things());
}

#[test]
fn an_index_is_tried_on_a_scratch_database_of_postgres_and_kept() {
    let _shared = beside_another();
    keep_the_index(&Project::with_things_on_postgres(
        &POSTGRES,
        "hakaru_things",
    ));
}

/// The server keeps the old value; the sessions of B alone have another.
#[test]
fn a_setting_of_postgres_is_tried_in_the_sessions_of_the_app() {
    let _shared = beside_another();
    let driver = Driver {
        connect: r#"PG.connect(ENV.fetch("DATABASE_URL")).tap { |base| File.write("costs", base.exec("SHOW random_page_cost").getvalue(0, 0) + "\n", mode: "a") }"#,
        ..POSTGRES
    };
    let project = Project::with_things_on_postgres(&driver, "hakaru_settings");
    execute(
        &mut *opened(project.url()),
        "CREATE INDEX thing_by_name ON thing (name)",
    );
    let finding = project.finding("ALTER SYSTEM SET random_page_cost");
    let file = project.path().join("costs");
    std::fs::remove_file(&file).expect("the app connected");
    let tried = project.json(12, &[&["try", &finding], &BRIEF[..]].concat());
    let afterwards = tried["tried"]["afterwards"].as_str().expect("a sentence");
    assert!(
        afterwards.contains("the app's own sessions"),
        "{afterwards}"
    );
    let costs = std::fs::read_to_string(file).expect("the app connected");
    let of = |cost: &str| costs.lines().any(|line| line == cost);
    assert!(of("4") && of("1.1"), "{costs}");
    let shown = opened(project.url()).query("SHOW random_page_cost");
    let shown = shown.unwrap_or_else(|error| panic!("{}", error.message));
    assert_eq!(shown, [[Some("4".to_owned())]]);
}

/// The app's own file keeps the journal.
#[test]
fn the_write_ahead_log_of_sqlite_is_tried_on_a_copy() {
    let _shared = beside_another();
    let project = Project::new(WRITES, 1);
    let finding = project.finding("PRAGMA journal_mode = WAL");
    let tried = project.json(12, &[&["try", &finding], &BRIEF[..]].concat());
    assert_eq!(tried["b"]["name"], "with PRAGMA journal_mode = WAL");
    let afterwards = tried["tried"]["afterwards"].as_str().expect("a sentence");
    assert!(afterwards.contains("tried on a copy"), "{afterwards}");
    assert!(tried["b"]["requests"].as_u64() > Some(0), "{tried:#}");
    let file = format!("sqlite:{}", project.path().join("kept.db").display());
    let mode = opened(&file).query("PRAGMA journal_mode");
    let mode = mode.unwrap_or_else(|error| panic!("{}", error.message));
    assert_eq!(mode, [[Some("delete".to_owned())]]);
    assert_eq!(project.leftovers(), 0);
}

#[test]
fn a_schema_is_compared_on_a_copy() {
    let _shared = beside_another();
    let project = Project::with_things();
    let before = project.state();
    project.write("new.sql", &[SCHEMA, INDEX].concat());
    let words = [&["compare", "--schema-b", "new.sql"], &BRIEF[..]].concat();
    let compared = project.json(12, &words);
    assert!(ratio(&compared, "p50") < 0.8, "{compared:#}");
    assert_eq!(compared["b"]["name"], "with new.sql");
    assert_eq!(project.state(), before);
    assert_eq!(project.leftovers(), 0);
}

#[test]
fn threads_and_patches_are_tried() {
    let _shared = beside_another();
    let project = Project::new(WAITS, 1);
    let finding = project.finding("-t ");
    let tried = project.json(12, &[&["try", &finding], &BRIEF[..]].concat());
    assert!(ratio(&tried, "rps") > 1.5, "{tried:#}");
    let afterwards = tried["tried"]["afterwards"].as_str().expect("a sentence");
    assert!(afterwards.contains("start Puma with -t "), "{afterwards}");
    let patch = "--- a/config.ru\n+++ b/config.ru\n@@ -4,6 +4,6 @@\n run ->(_env) do\n   stop = cpu + 2\n   nil while cpu < stop\n-  sleep 0.006\n+  sleep 0.060\n   [200, { \"content-type\" => \"text/plain\" }, [\"ok\"]]\n end\n";
    project.write("fix.diff", patch);
    let words = ["try", &finding, "--patch", "fix.diff"];
    let tried = project.json(12, &[&words[..], &BRIEF[..]].concat());
    assert!(ratio(&tried, "rps") < 0.3, "{tried:#}");
    assert_eq!(tried["b"]["name"], "with fix.diff");
    let app = std::fs::read_to_string(project.path().join("config.ru"));
    assert_eq!(app.expect("the app"), WAITS);
    assert_eq!(project.leftovers(), 0);
}

/// Fewer workers: advice on more depends on cores left idle by other programs.
#[test]
fn other_workers_are_tried() {
    let _alone = alone();
    let project = Project::new(COMPUTES, 2);
    let puma = std::fs::read_to_string(project.path().join("hakaru.toml")).expect("a config");
    let cores = std::thread::available_parallelism().expect("a number of cores");
    let many = format!("puma -w {} -t", 3 * cores.get());
    project.write("hakaru.toml", &puma.replace("puma -t", &many));
    let wanted = format!("-w {cores}");
    let finding = project.finding(&wanted);
    let tried = project.json(12, &[&["try", &finding], &BRIEF[..]].concat());
    let [many, fewer] = ["a", "b"].map(|side| tried[side]["memory_bytes"].as_u64());
    assert!(fewer < many && ratio(&tried, "rps") > 0.0, "{tried:#}");
    let afterwards = tried["tried"]["afterwards"].as_str().expect("a sentence");
    let start = format!("start Puma with {wanted}");
    assert!(afterwards.contains(&start), "{afterwards}");
    assert_eq!(project.leftovers(), 0);
}

#[test]
fn what_was_typed_for_a_run_is_what_is_tried() {
    let _shared = beside_another();
    let project = Project::new(WAITS_AT_POSTS, 1);
    let config = std::fs::read_to_string(project.path().join("hakaru.toml")).expect("a config");
    let words: Vec<&str> = config.split('"').collect();
    let [base, command] = [3, 1].map(|index: usize| words[index]);
    std::fs::remove_file(project.path().join("hakaru.toml")).expect("it is removed");
    project.write("posts.hurl", "GET /posts\nHTTP 200\n");
    let url = format!("{base}posts");
    for asked in [
        &["--url", &url][..],
        &["--url", base, "--flow", "posts.hurl:2"],
    ] {
        let run = ["run", "--json", "-c", "8", "-d", "3s", "--warmup", "500ms"];
        let command: Vec<&str> = command.split(' ').collect();
        let run = [&run, asked, &["--"], &command].concat();
        let finding = project.finding_of(&run, "-t ");
        let tried = project.json(12, &[&["try", &finding], &BRIEF[..]].concat());
        assert!(ratio(&tried, "rps") > 1.5, "{tried:#}");
    }
    let brief = [
        "--budget",
        "4s",
        "--block",
        "500ms",
        "--warmup",
        "200ms",
        "--threads-max",
        "2",
    ];
    let tuned = project.json(
        0,
        &[&["tune", "--run", "LAST", "--json"], &brief[..]].concat(),
    );
    let measured = tuned["measured"].as_array().expect("cells");
    assert!(!measured.is_empty(), "{tuned:#}");
}

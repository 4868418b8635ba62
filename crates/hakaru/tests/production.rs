//! Production is never touched by accident: a Rails app whose production database is elsewhere, and
//! the ways in which an app can be led there. `db.prod.invalid` is the name that hakaru meets; the
//! app's own network leads it to a server on another loopback address, which counts connections and
//! passes them on to MariaDB.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const HOST: &str = "db.prod.invalid";

/// The shortest comparison: no verdict is asked for here.
const COMPARE: &str = "compare --env-b A=1 --blocks 1 --segment 500ms";
const TRY: &str = "try 1 --patch fix.patch --blocks 1 --segment 500ms";
const TUNE: &str =
    "tune --run LAST --budget 60s --workers-max 1 --threads-max 2 --block 1s --warmup 500ms";

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// A change of nothing but a new file.
const PATCH: &str = "diff --git a/note.txt b/note.txt\nnew file mode 100644\n--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+x\n";

fn hakaru(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(arguments)
        .current_dir(folder)
        .env("DISABLE_DATABASE_ENVIRONMENT_CHECK", "1")
        .env_remove("DATABASE_URL")
        .output()
        .expect("hakaru runs")
}

/// Asserts exit code 2 of a command, and a message with the host and the key.
#[track_caller]
fn check_refused(folder: &Path, arguments: &[&str], parts: &[&str]) {
    let output = hakaru(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "{arguments:?}, no {part:?}: {said}");
    }
}

/// Forwards connections and counts the connections.
struct Counter {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Counter {
    fn start(server: String) -> Counter {
        let listener =
            TcpListener::bind("127.0.0.2:0").expect("a port of another loopback address");
        let counter = Counter {
            address: listener.local_addr().expect("its address"),
            connections: Arc::default(),
        };
        let connections = Arc::clone(&counter.connections);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                connections.fetch_add(1, Ordering::SeqCst);
                let server = TcpStream::connect(&server).expect("the server");
                let ends =
                    [client.try_clone(), server.try_clone()].map(|end| end.expect("a clone"));
                let [mut from_client, mut from_server] = ends;
                let (mut client, mut server) = (client, server);
                thread::spawn(move || io::copy(&mut from_client, &mut server));
                thread::spawn(move || io::copy(&mut from_server, &mut client));
            }
        });
        counter
    }

    fn take(&self) -> usize {
        self.connections.swap(0, Ordering::SeqCst)
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
    std::fs::write(path, text).expect("it is written");
}

/// The blog with a production database at [`HOST`].
fn rails_app(folder: &Path, port: u16) {
    let blog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/blog");
    let copied = Command::new("cp").arg("-rT").args([&blog, folder]).status();
    assert!(copied.expect("cp runs").success());
    std::fs::remove_file(folder.join("hakaru.toml")).expect("the app's own configuration");
    let _ = std::fs::remove_dir_all(folder.join(".hakaru"));
    write(
        folder,
        "Gemfile",
        "gem \"bcrypt\"\ngem \"puma\"\ngem \"rails\"\ngem \"mysql2\"\n",
    );
    write(
        folder,
        "config/database.yml",
        &format!(
            "default: &default\n  adapter: mysql2\n  pool: 5\n\nproduction:\n  <<: *default\n  \
             host: <%= ENV.fetch(\"DB_HOST\", \"{HOST}\") %>\n  port: {port}\n  username: hakaru\n  password: hakaru\n  \
             database: blog_production_{}\n",
            std::process::id()
        ),
    );
    let application = folder.join("config/application.rb");
    let text = std::fs::read_to_string(&application).expect("the application");
    let network = format!(
        "{text}\nrequire \"mysql2\"\nMysql2::Client.prepend(Module.new do\n  def connect(user, password, host, *rest)\n    \
         super(user, password, host == \"{HOST}\" ? \"127.0.0.2\" : host, *rest)\n  end\nend)\n"
    );
    std::fs::write(&application, network).expect("its network");
}

/// Leaves a Rack app with the same configuration, whose boot connects to the same database: the
/// experiments after a run start the app some twenty times, and Rails takes seconds each time.
fn boot_quickly(folder: &Path, port: u16) {
    let app = format!(
        "require \"mysql2\"\n\
         Mysql2::Client.new(host: \"127.0.0.2\", port: {port}, username: \"hakaru\", password: \"hakaru\").ping\n\
         run ->(_env) {{ [200, {{}}, [\"hello\"]] }}\n"
    );
    write(folder, "config.ru", &app);
    let text = std::fs::read_to_string(folder.join("hakaru.toml")).expect("a configuration");
    let lines = text.lines().filter(|line| !line.starts_with("before"));
    let text = lines.collect::<Vec<_>>().join("\n");
    std::fs::write(folder.join("hakaru.toml"), text).expect("the configuration");
}

/// Changes the configuration: a free port, and the named permission or none.
fn configure(folder: &Path, key: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    let text = std::fs::read_to_string(folder.join("hakaru.toml")).expect("a configuration");
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("database_host_ok"));
    let text = lines
        .collect::<Vec<_>>()
        .join("\n")
        .replace("3000", &port.to_string());
    let text = text.replace("[target]", &format!("[target]\n{key}"));
    std::fs::write(folder.join("hakaru.toml"), text).expect("the configuration");
}

#[test]
fn a_rails_app_with_a_remote_production_database_is_left_alone_until_it_is_named() {
    let url =
        std::env::var("HAKARU_TEST_MARIADB_URL").expect("HAKARU_TEST_MARIADB_URL; run bin/test");
    let server = url
        .rsplit_once('@')
        .and_then(|(_, rest)| rest.split('/').next())
        .expect("an address");
    let counter = Counter::start(server.to_owned());
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    rails_app(folder, counter.address.port());
    let key = format!("database_host_ok = \"{HOST}\"");
    check_refused(
        folder,
        &["init"],
        &[HOST, "config/database.yml", "rake db:prepare", &key],
    );
    let written =
        std::fs::read_to_string(folder.join("hakaru.toml")).expect("it is written all the same");
    assert!(
        written.contains("# env = { RAILS_ENV = \"production\""),
        "{written}"
    );
    assert!(
        written.contains("DATABASE_URL = \"mysql2://root@127.0.0.1/"),
        "{written}"
    );
    for line in ["run", "sweep", "tune --budget 20s", COMPARE] {
        check_refused(folder, &words(line), &[HOST, &key]);
    }
    assert_eq!(counter.take(), 0, "nothing may have been sent there");

    configure(folder, &key);
    write(folder, "fix.patch", PATCH);
    // Of the last run more requests are known than a busy host lets Rails answer in two seconds.
    let quick = "run --duration 1s --warmup 500ms";
    for line in ["run --duration 2s --warmup 1s", COMPARE, TRY, quick, TUNE] {
        if line == COMPARE {
            boot_quickly(folder, counter.address.port());
        }
        let output = hakaru(folder, &words(line));
        let said = String::from_utf8_lossy(&output.stderr);
        // Done, or undecided after one block.
        let is_done = matches!(output.status.code(), Some(0 | 12));
        assert!(is_done, "{line}, {:?}: {said}", output.status);
        assert!(counter.take() > 0, "{line}: {said}");
    }

    configure(folder, "database_host_ok = [\"another.invalid\"]");
    check_refused(folder, &["try", "1", "--patch", "fix.patch"], &[HOST, &key]);
    check_refused(folder, &["run"], &[HOST, &key]);
    assert_eq!(counter.take(), 0, "another name is no yes");
}

#[test]
fn every_way_to_a_remote_store_is_looked_at() {
    let check = |files: &[(&str, &str)], env: &str, place: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        write(
            folder,
            "config.ru",
            "run ->(env) { [200, {}, [\"hello\"]] }\n",
        );
        let toml = format!("[target]\ncommand = \"puma -t 1:1 config.ru\"\nenv = {{ {env} }}\n");
        write(folder, "hakaru.toml", &toml);
        for (name, text) in files {
            write(folder, name, text);
        }
        check_refused(folder, &["run"], &[HOST, place]);
    };
    check(
        &[],
        "DATABASE_URL = \"postgres://u:secret@db.prod.invalid/shop\"",
        "DATABASE_URL",
    );
    check(
        &[],
        "REDIS_URL = \"redis://db.prod.invalid:6379\"",
        "REDIS_URL",
    );
    check(
        &[(".env", "DATABASE_URL=mysql2://db.prod.invalid/shop\n")],
        "",
        "DATABASE_URL",
    );
    let yml = "production:\n  adapter: postgresql\n  url: <%= \"postgres://\" + \"db.prod.invalid/shop\" %>\n";
    check(
        &[("config/database.yml", yml)],
        "RACK_ENV = \"production\"",
        "config/database.yml, production",
    );
    let silent = "production:\n  adapter: postgresql\n  database: shop\n";
    let env = "RACK_ENV = \"production\", PGHOST = \"db.prod.invalid\"";
    check(
        &[("config/database.yml", silent)],
        env,
        "config/database.yml, production",
    );
}

#[test]
fn a_database_that_only_a_request_opens_ends_the_run_and_leaves_no_run() {
    let url =
        std::env::var("HAKARU_TEST_MARIADB_URL").expect("HAKARU_TEST_MARIADB_URL; run bin/test");
    let server = url
        .rsplit_once('@')
        .and_then(|(_, rest)| rest.split('/').next());
    let counter = Counter::start(server.expect("an address").to_owned());
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let app = format!(
        "require \"mysql2\"\nMysql2::Client.prepend(Module.new do\n  def connect(user, password, host, *rest)\n    \
         super(user, password, host == \"{HOST}\" ? \"127.0.0.2\" : host, *rest)\n  end\nend)\n\
         run(lambda do |env|\n  next [200, {{}}, [\"up\"]] if env[\"PATH_INFO\"] == \"/\"\n  \
         $db ||= Mysql2::Client.new(host: \"{HOST}\", port: {}, username: \"hakaru\", password: \"hakaru\")\n  \
         [200, {{}}, [$db.query(\"SELECT 1\").to_a.to_s]]\nend)\n",
        counter.address.port()
    );
    write(folder, "config.ru", &app);
    write(folder, "walk.hurl", "GET {{base_url}}/rows\nHTTP 200\n");
    let configuration = "[target]\ncommand = \"puma -t 1:1 -b tcp://127.0.0.1:3000 config.ru\"\n\
                         url = \"http://127.0.0.1:3000\"\n\n[[flow]]\nfile = \"walk.hurl\"\n";
    write(folder, "hakaru.toml", configuration);
    configure(folder, "");
    let key = format!("database_host_ok = \"{HOST}\"");
    let run = words("run --duration 60s --warmup 1s");
    check_refused(folder, &run, &[HOST, &key, "the load was ended at once"]);
    assert_eq!(
        counter.take(),
        1,
        "the app's own connection, and none of hakaru's"
    );
    let report = hakaru(folder, &["report"]);
    let said = String::from_utf8_lossy(&report.stderr).into_owned();
    assert_ne!(
        report.status.code(),
        Some(0),
        "a run that was given up can be shown: {said}"
    );

    configure(folder, &key);
    let run = hakaru(folder, &words("run --duration 1s --warmup 500ms"));
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{said}");
}

#[test]
fn a_refusal_shows_no_password() {
    let folder = tempfile::tempdir().expect("a folder");
    let toml = "[target]\ncommand = \"puma config.ru\"\nenv = { DATABASE_URL = \"postgres://u:sesame@db.prod.invalid/x\" }\n";
    write(folder.path(), "hakaru.toml", toml);
    let output = hakaru(folder.path(), &["run"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("sesame"));
}

#[test]
fn a_load_at_another_host_needs_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |arguments: &[&str]| {
        check_refused(
            folder.path(),
            arguments,
            &["192.0.2.7", "--host-ok 192.0.2.7"],
        )
    };
    check(&["load", "http://192.0.2.7/", "-d", "1s"]);
    check(&[
        "load",
        "http://127.0.0.1/",
        "--connect-to",
        "192.0.2.7:80",
        "-d",
        "1s",
    ]);
    check(&[
        "load",
        "http://192.0.2.7/",
        "--host-ok",
        "192.0.2.8",
        "-d",
        "1s",
    ]);
    check(&["run", "--attach", "--url", "http://192.0.2.7/"]);
}

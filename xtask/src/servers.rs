//! Throw-away database servers: a free port on loopback, data in a temporary folder, an ordinary
//! user.
//!
//! How one ends, whatever happens to us: a small shell starts the server and reads its own standard
//! input, a pipe that we hold. When we close it, or die in any way, the shell reads the end, stops
//! the server and removes the folder. It runs in its own process group, so Ctrl-C in our terminal
//! does not reach the server before the tests have ended.

mod files;
mod place;

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::run::{Outcome, capture, free_port};
use crate::setup::roots;
pub(crate) use files::MariadbFiles;
use place::{Home, Place};

/// Starting includes making an empty database, which takes seconds on a slow disk.
const START_LIMIT: Duration = Duration::from_secs(90);
const STOP_LIMIT: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(100);

/// Script of the keeper: `$1` is the signal for stopping the server, `$2` the server's folder, the
/// rest the command.
const KEEPER: &str = r#"
signal=$1 folder=$2; shift 2
"$@" >"$folder/server.log" 2>&1 </dev/null &
server=$!
echo $server >"$folder/server.pid"
cat >/dev/null
kill -"$signal" $server 2>/dev/null
wait $server
cd / && rm -rf "$folder"
"#;

/// A running server; dropping the value stops the server and removes the data.
pub(crate) struct Server {
    /// `scheme://user:password@host:port/database`.
    pub(crate) url: String,
    /// Command which prints the schema, without the address; empty where the packages have none.
    pub(crate) dump: String,
    home: Home,
    keeper: Child,
}

/// Starts the installed MariaDB, or else Debian 12's, with default options and an empty database.
pub(crate) fn mariadb() -> Outcome<Server> {
    mariadb_with(&[])
}

/// Starts MariaDB with options of `mariadbd` after, and so overriding, the usual ones.
pub(crate) fn mariadb_with(options: &[&str]) -> Outcome<Server> {
    let here = Place::Machine.has_mariadb();
    start_mariadb(&Place::machine_or(here, &roots::BOOKWORM_MARIADB)?, options)
}

/// Starts MariaDB 11.8.
pub(crate) fn mariadb118() -> Outcome<Server> {
    start_mariadb(&Place::in_root(&roots::TRIXIE)?, &[])
}

/// Starts MySQL 9.
pub(crate) fn mysql() -> Outcome<Server> {
    mysql_with(&[])
}

/// Starts MySQL 9 with options of `mysqld` after the usual ones.
pub(crate) fn mysql_with(options: &[&str]) -> Outcome<Server> {
    let place = Place::in_root(&roots::SID)?;
    let daemon = place.find("mysqld", "mysql-server-core")?;
    let client = place.find("mysql", "mysql-client-core")?;
    let home = place.make_home("mysql", "mysql")?;
    let data = format!("--datadir={}", home.inside.join("data").display());
    // Debian's default for that folder is one that only an installed package has.
    let common = ["--no-defaults", &data, "--secure-file-priv="];
    let mut make = place.command(&daemon, &home);
    capture(make.args(common).arg("--initialize-insecure"))?;
    let port = free_port()?;
    let mut arguments = mysql_arguments(&home, port)?;
    arguments.extend(["--secure-file-priv=", "--mysqlx=OFF"].map(str::to_owned));
    arguments.extend(options.iter().map(|option| (*option).to_owned()));
    let mut server = launch(&place, mysql_url(port), home, "TERM", &daemon, &arguments)?;
    let dump = place.find("mysqldump", "mysql-client-core")?;
    server.dump = words(&place, &dump, &server.home);
    server.wait_until("MySQL", || ask_mysql(&place, &client, &server.home, port))?;
    Ok(server)
}

/// Starts the newest PostgreSQL installed, or else the one of Debian 12, with an empty database.
pub(crate) fn postgres() -> Outcome<Server> {
    postgres_with(&[])
}

/// Starts the same with settings, each `name=value`.
pub(crate) fn postgres_with(settings: &[&str]) -> Outcome<Server> {
    let here = Place::Machine.postgres_binaries().is_some();
    start_postgres(
        &Place::machine_or(here, &roots::BOOKWORM_POSTGRES)?,
        settings,
    )
}

/// Starts PostgreSQL 18.
pub(crate) fn postgres18() -> Outcome<Server> {
    start_postgres(&Place::in_root(&roots::SID)?, &[])
}

/// Returns whether there is a PostgreSQL, installed or unpacked.
pub(crate) fn has_postgres() -> bool {
    Place::Machine.postgres_binaries().is_some() || roots::BOOKWORM_POSTGRES.is_there()
}

/// Returns whether there is a MariaDB, installed or unpacked.
pub(crate) fn has_mariadb() -> bool {
    Place::Machine.has_mariadb() || roots::BOOKWORM_MARIADB.is_there()
}

/// Makes the data of an empty MariaDB; returns the folder and the server's program.
fn make_mariadb(place: &Place) -> Outcome<(Home, PathBuf)> {
    let daemon = place.find("mariadbd", "mariadb-server-core")?;
    let install = place.find("mariadb-install-db", "mariadb-server-core")?;
    let home = place.make_home("mariadb", "mysql")?;
    let mut make = place.command(&install, &home);
    make.args([
        "--no-defaults",
        "--skip-test-db",
        "--auth-root-authentication-method=normal",
        // Without it the script wants to look this machine's name up.
        "--force",
        &format!("--datadir={}", home.inside.join("data").display()),
    ]);
    capture(make.current_dir(&home.folder))?;
    Ok((home, daemon))
}

fn start_mariadb(place: &Place, options: &[&str]) -> Outcome<Server> {
    let client = place.find("mariadb", "mariadb-client-core")?;
    let (home, daemon) = make_mariadb(place)?;
    let port = free_port()?;
    let mut arguments = mysql_arguments(&home, port)?;
    // InnoDB's own setting leaves the server's: half a dozen a DDL statement, for definitions and
    // the log of DDL.
    arguments.push("--debug-no-sync".to_owned());
    arguments.extend(options.iter().map(|option| (*option).to_owned()));
    let server = launch(place, mysql_url(port), home, "TERM", &daemon, &arguments)?;
    server.wait_until("MariaDB", || ask_mysql(place, &client, &server.home, port))?;
    Ok(server)
}

fn mysql_url(port: u16) -> String {
    format!("mysql2://hakaru:hakaru@127.0.0.1:{port}/hakaru")
}

/// Returns the arguments of MySQL and MariaDB; also writes the statements executed first.
fn mysql_arguments(home: &Home, port: u16) -> Outcome<Vec<String>> {
    let statements = "CREATE DATABASE hakaru CHARACTER SET utf8mb4;\n\
        CREATE USER hakaru@'127.0.0.1' IDENTIFIED BY 'hakaru';\n\
        GRANT ALL ON *.* TO hakaru@'127.0.0.1' WITH GRANT OPTION;\n";
    crate::run::write(&home.folder.join("first.sql"), statements)?;
    let inside = |name: &str| home.inside.join(name).display().to_string();
    Ok(vec![
        "--no-defaults".to_owned(),
        format!("--datadir={}", inside("data")),
        format!("--port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--socket={}", inside("socket")),
        format!("--pid-file={}", inside("pid")),
        format!("--init-file={}", inside("first.sql")),
        // A MariaDB that starts removes temporary tables of others from a folder that they share.
        format!("--tmpdir={}", home.inside.display()),
        // The data lives no longer than the tests; every DDL statement would wait for the disk
        // several times.
        "--innodb-flush-method=nosync".to_owned(),
    ])
}

fn ask_mysql(place: &Place, client: &Path, home: &Home, port: u16) -> Command {
    let mut ask = place.command(client, home);
    ask.args(["--no-defaults", "-h127.0.0.1", "-uhakaru", "-phakaru"]);
    ask.args(["-P", &port.to_string(), "-e", "SELECT 1", "hakaru"]);
    ask
}

/// The data lives no longer than the tests; every new database would wait for the disk a thousand
/// times. In the file, where `ALTER SYSTEM` can say otherwise.
fn forget_disk(settings: &Path) -> Outcome<()> {
    let file = fs::OpenOptions::new().append(true).open(settings);
    let written = file.and_then(|mut file| file.write_all(b"fsync = off\n"));
    written.map_err(|error| format!("cannot write {}: {error}", settings.display()))
}

fn start_postgres(place: &Place, settings: &[&str]) -> Outcome<Server> {
    let binaries = place
        .postgres_binaries()
        .ok_or("there is no PostgreSQL server; install the package postgresql")?;
    let home = place.make_home("postgres", "postgres")?;
    let port = free_port()?.to_string();
    let data = home.inside.join("data").display().to_string();
    let mut make = place.command(&binaries.join("initdb"), &home);
    make.args(["-A", "trust", "-U", "hakaru", "-E", "UTF8"]);
    make.args(["--locale=C.UTF-8", "--no-sync", "-D", &data]);
    capture(make.current_dir(&home.folder))?;
    forget_disk(&home.folder.join("data/postgresql.conf"))?;
    let sockets = home.inside.display().to_string();
    let listen = "listen_addresses=127.0.0.1";
    // Counts statements in databases with its extension, and in no other.
    let counting = "shared_preload_libraries=pg_stat_statements";
    let mut arguments = vec!["-D", &data, "-p", &port, "-k", &sockets, "-c", listen];
    arguments.extend(["-c", counting]);
    arguments.extend(settings.iter().flat_map(|setting| ["-c", setting]));
    let arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
    let url = format!("postgres://hakaru:hakaru@127.0.0.1:{port}/hakaru");
    // SIGINT is PostgreSQL's "fast" stop; SIGTERM would wait for its clients.
    let program = binaries.join("postgres");
    let mut server = launch(place, url, home, "INT", &program, &arguments)?;
    server.dump = words(place, &binaries.join("pg_dump"), &server.home);
    server.wait_until("PostgreSQL", || {
        let mut ask = place.command(&binaries.join("createdb"), &server.home);
        ask.args(["-h", "127.0.0.1", "-p", &port, "-U", "hakaru", "hakaru"]);
        ask
    })?;
    Ok(server)
}

impl Server {
    /// Repeats a command until success, while the server lives.
    fn wait_until(&self, name: &str, ask: impl Fn() -> Command) -> Outcome<()> {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            let Err(complaint) = capture(&mut ask()) else {
                return Ok(());
            };
            if Instant::now() > deadline || !self.lives() {
                let log =
                    fs::read_to_string(self.home.folder.join("server.log")).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let tail = lines[lines.len().saturating_sub(20)..].join("\n  ");
                return Err(format!(
                    "{name} did not start: {complaint}\nits last lines:\n  {tail}"
                ));
            }
            thread::sleep(TICK);
        }
    }

    /// Returns whether the server lives; a server without a written pid counts as alive.
    fn lives(&self) -> bool {
        let Ok(pid) = fs::read_to_string(self.home.folder.join("server.pid")) else {
            return true;
        };
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        pid.trim().is_empty()
            || stat
                .rsplit(')')
                .next()
                .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let deadline = Instant::now() + STOP_LIMIT;
        while matches!(self.keeper.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let group = format!("-{}", self.keeper.id());
                let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                let _ = self.keeper.wait();
                let _ = fs::remove_dir_all(&self.home.folder);
                return;
            }
            thread::sleep(TICK);
        }
    }
}

fn launch(
    place: &Place,
    url: String,
    home: Home,
    signal: &str,
    program: &Path,
    arguments: &[String],
) -> Outcome<Server> {
    let mut server = place.command(program, &home);
    server.args(arguments);
    let mut shell = place.keeper_shell(&home);
    shell
        .args(["-c", KEEPER, "keeper", signal])
        .arg(&home.folder)
        .arg(server.get_program())
        .args(server.get_args());
    shell
        .current_dir(&home.folder)
        .env_remove("HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    let keeper = shell
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let dump = String::new();
    Ok(Server {
        url,
        dump,
        home,
        keeper,
    })
}

/// A program of the server's place as words of a command.
fn words(place: &Place, program: &Path, home: &Home) -> String {
    let command = place.command(program, home);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_ends_and_its_folder_goes_when_it_is_dropped() {
        let home = Place::Machine.make_home("keeper-test", "nobody").unwrap();
        let folder = home.folder.clone();
        let sleep = ["1000".to_owned()];
        let server = launch(
            &Place::Machine,
            String::new(),
            home,
            "TERM",
            Path::new("/bin/sleep"),
            &sleep,
        )
        .unwrap();
        let deadline = Instant::now() + START_LIMIT;
        let pid = loop {
            match fs::read_to_string(folder.join("server.pid")) {
                Ok(pid) if pid.ends_with('\n') => break pid,
                _ => assert!(Instant::now() < deadline),
            }
        };
        assert!(server.lives());
        drop(server);
        assert!(!folder.exists());
        assert!(!Path::new("/proc").join(pid.trim()).exists());
    }

    /// Starts the server, connects with Ruby's driver as the apps do, and checks the end of
    /// processes and folder.
    fn check(server: Outcome<Server>, ask: &str) {
        let server = server.unwrap_or_else(|why| panic!("{why}; bin/test unpacks it"));
        let (folder, keeper) = (server.home.folder.clone(), server.keeper.id());
        let mut ruby = Command::new("ruby");
        ruby.args(["-ruri", "-e", ask])
            .env("DATABASE_URL", &server.url);
        assert_eq!(capture(&mut ruby).unwrap(), "2\n");
        drop(server);
        assert!(!folder.exists());
        assert!(!Path::new("/proc").join(keeper.to_string()).exists());
    }

    const ASK_MYSQL: &str = "require 'mysql2'; u = URI(ENV['DATABASE_URL']); c = Mysql2::Client.new(host: u.host, port: u.port, \
            username: u.user, password: u.password, database: u.path[1..]); p c.query('SELECT 1+1 AS n').first['n']";
    const ASK_POSTGRES: &str =
        "require 'pg'; puts PG.connect(ENV['DATABASE_URL']).exec('SELECT 1+1')[0].values";

    #[test]
    fn a_mariadb_answers_and_goes() {
        check(mariadb(), ASK_MYSQL);
    }

    #[test]
    fn the_mariadb_of_a_private_root_answers_and_goes() {
        check(mariadb118(), ASK_MYSQL);
    }

    #[test]
    fn the_mysql_of_a_private_root_answers_and_goes() {
        check(mysql(), ASK_MYSQL);
    }

    #[test]
    fn a_postgres_answers_and_goes() {
        check(postgres(), ASK_POSTGRES);
    }

    #[test]
    fn the_postgres_of_a_private_root_answers_and_goes() {
        check(postgres18(), ASK_POSTGRES);
    }
}

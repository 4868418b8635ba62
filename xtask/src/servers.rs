//! Throw-away database servers: a free port on loopback, data in a temporary folder, an ordinary user.
//!
//! How one ends, whatever happens to us: a small shell starts the server and reads its own standard
//! input, a pipe that we hold. When we close it, or die in any way, the shell reads the end, stops the
//! server and removes the folder. It runs in its own process group, so Ctrl-C in our terminal does not
//! reach the server before the tests have ended.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::run::{Outcome, capture, find_program, free_port, is_program, is_root};

/// Starting includes making an empty database, which takes seconds on a slow disk.
const START_LIMIT: Duration = Duration::from_secs(90);
const STOP_LIMIT: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(100);

/// `$1` is the signal that stops the server, `$2` its folder, the rest its command.
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

/// A running server; dropping it stops it and removes its data.
pub(crate) struct Server {
    /// `scheme://user:password@host:port/database`.
    pub(crate) url: String,
    folder: PathBuf,
    keeper: Child,
}

/// The account a server runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Account {
    user: u32,
    group: u32,
}

/// Starts Debian's MariaDB with its own defaults and an empty database.
pub(crate) fn mariadb() -> Outcome<Server> {
    let missing = "install the package mariadb-server-core";
    let daemon = find_program("mariadbd").ok_or(format!("there is no mariadbd; {missing}"))?;
    let install = find_program("mariadb-install-db")
        .ok_or(format!("there is no mariadb-install-db; {missing}"))?;
    let (folder, account) = make_folder("mariadb", "mysql")?;
    let port = free_port()?;
    let data = format!("--datadir={}", folder.join("data").display());
    let first = folder.join("first.sql");
    write_first_statements(&first)?;
    let mut make = as_account(Command::new(install), account);
    make.args([
        "--no-defaults",
        "--skip-test-db",
        "--auth-root-authentication-method=normal",
        &data,
    ]);
    capture(make.current_dir(&folder))?;
    let arguments = [
        "--no-defaults".to_owned(),
        data,
        format!("--port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--socket={}", folder.join("socket").display()),
        format!("--pid-file={}", folder.join("mariadbd.pid").display()),
        format!("--init-file={}", first.display()),
    ];
    let url = format!("mysql2://hakaru:hakaru@127.0.0.1:{port}/hakaru");
    let server = launch(url, folder, account, "TERM", &daemon, &arguments)?;
    let client =
        find_program("mariadb").ok_or("there is no mariadb client; install mariadb-client-core")?;
    let port = port.to_string();
    server.wait_until("MariaDB", || {
        let mut ask = Command::new(&client);
        ask.args([
            "--no-defaults",
            "-h127.0.0.1",
            "-uhakaru",
            "-phakaru",
            "-P",
            &port,
            "-e",
            "SELECT 1",
            "hakaru",
        ]);
        ask
    })?;
    Ok(server)
}

/// Starts the newest PostgreSQL installed, with an empty database.
pub(crate) fn postgres() -> Outcome<Server> {
    let binaries = postgres_binaries()
        .ok_or("there is no PostgreSQL server; install the package postgresql")?;
    let (folder, account) = make_folder("postgres", "postgres")?;
    let port = free_port()?.to_string();
    let data = folder.join("data").display().to_string();
    let mut make = as_account(Command::new(binaries.join("initdb")), account);
    make.args([
        "-A",
        "trust",
        "-U",
        "hakaru",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
        "-D",
        &data,
    ]);
    capture(make.current_dir(&folder))?;
    let sockets = folder.display().to_string();
    let arguments = [
        "-D",
        &data,
        "-p",
        &port,
        "-k",
        &sockets,
        "-c",
        "listen_addresses=127.0.0.1",
    ]
    .map(str::to_owned);
    let url = format!("postgres://hakaru:hakaru@127.0.0.1:{port}/hakaru");
    // SIGINT is PostgreSQL's "fast" stop; SIGTERM would wait for its clients.
    let server = launch(
        url,
        folder,
        account,
        "INT",
        &binaries.join("postgres"),
        &arguments,
    )?;
    server.wait_until("PostgreSQL", || {
        let mut ask = Command::new(binaries.join("createdb"));
        ask.args(["-h", "127.0.0.1", "-p", &port, "-U", "hakaru", "hakaru"]);
        ask
    })?;
    Ok(server)
}

/// The folder with the binaries of the newest PostgreSQL: Debian keeps them out of `PATH`.
pub(crate) fn postgres_binaries() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok();
    let mut folders: Vec<(u32, PathBuf)> = versions
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .filter(|(_, folder)| {
            is_program(&folder.join("initdb")) && is_program(&folder.join("postgres"))
        })
        .collect();
    folders.sort();
    let in_path = || find_program("initdb").and_then(|file| Some(file.parent()?.to_owned()));
    folders.pop().map(|(_, folder)| folder).or_else(in_path)
}

impl Server {
    /// Repeats a command until it succeeds, while the server lives.
    fn wait_until(&self, name: &str, ask: impl Fn() -> Command) -> Outcome<()> {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            let Err(complaint) = capture(&mut ask()) else {
                return Ok(());
            };
            if Instant::now() > deadline || !self.lives() {
                let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let tail = lines[lines.len().saturating_sub(20)..].join("\n  ");
                return Err(format!(
                    "{name} did not start: {complaint}\nits last lines:\n  {tail}"
                ));
            }
            thread::sleep(TICK);
        }
    }

    /// Not yet having written its pid counts as alive.
    fn lives(&self) -> bool {
        let Ok(pid) = fs::read_to_string(self.folder.join("server.pid")) else {
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
                let _ = fs::remove_dir_all(&self.folder);
                return;
            }
            thread::sleep(TICK);
        }
    }
}

fn launch(
    url: String,
    folder: PathBuf,
    account: Option<Account>,
    signal: &str,
    program: &Path,
    arguments: &[String],
) -> Outcome<Server> {
    let mut shell = as_account(Command::new("/bin/sh"), account);
    shell
        .args(["-c", KEEPER, "keeper", signal])
        .arg(&folder)
        .arg(program)
        .args(arguments);
    shell
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    let keeper = shell
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    Ok(Server {
        url,
        folder,
        keeper,
    })
}

/// A private folder that belongs to the account the server will have.
fn make_folder(name: &str, user: &str) -> Outcome<(PathBuf, Option<Account>)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: only the uniqueness of the number matters.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("hakaru-{name}-{}-{count}", std::process::id()));
    let account = if is_root() {
        Some(find_account(user)?)
    } else {
        None
    };
    let made = fs::create_dir(&folder)
        .and_then(|()| fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)))
        .and_then(|()| account.map_or(Ok(()), |a| chown(&folder, Some(a.user), Some(a.group))));
    made.map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok((folder, account))
}

fn write_first_statements(path: &Path) -> Outcome<()> {
    let statements = "CREATE DATABASE hakaru CHARACTER SET utf8mb4;\n\
        CREATE USER hakaru@'127.0.0.1' IDENTIFIED BY 'hakaru';\n\
        GRANT ALL ON *.* TO hakaru@'127.0.0.1' WITH GRANT OPTION;\n";
    crate::run::write(path, statements)
}

/// Database servers refuse to run as root: root lends them the account their package made, or `nobody`.
fn find_account(user: &str) -> Outcome<Account> {
    let accounts = fs::read_to_string("/etc/passwd")
        .map_err(|error| format!("cannot read /etc/passwd: {error}"))?;
    account_in(&accounts, user)
        .or_else(|| account_in(&accounts, "nobody"))
        .ok_or_else(|| {
            format!("there is neither a user {user} nor a user nobody to run the server as")
        })
}

fn account_in(accounts: &str, user: &str) -> Option<Account> {
    let fields: Vec<&str> = accounts
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields[0] == user)?;
    Some(Account {
        user: fields.get(2)?.parse().ok()?,
        group: fields.get(3)?.parse().ok()?,
    })
}

fn as_account(mut command: Command, account: Option<Account>) -> Command {
    if let Some(Account { user, group }) = account {
        command.uid(user).gid(group).env_remove("HOME");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_their_whole_name() {
        let text = "root:x:0:0:root:/:/bin/sh\nmysql2:x:5:6::/:/bin/false\nmysql:x:102:105::/:/bin/false\n";
        assert_eq!(
            account_in(text, "mysql"),
            Some(Account {
                user: 102,
                group: 105
            })
        );
        assert_eq!(account_in(text, "nobody"), None);
    }

    #[test]
    fn a_server_ends_and_its_folder_goes_when_it_is_dropped() {
        let (folder, account) = make_folder("keeper-test", "nobody").unwrap();
        let sleep = ["1000".to_owned()];
        let server = launch(
            String::new(),
            folder.clone(),
            account,
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

    /// Starts it, asks it with Ruby's driver as the apps do, and sees its processes and folder go.
    fn check(server: Outcome<Server>, ask: &str) {
        let server = server.unwrap_or_else(|why| panic!("{why}; bin/test installs it"));
        let (folder, keeper) = (server.folder.clone(), server.keeper.id());
        let mut ruby = Command::new("ruby");
        ruby.args(["-ruri", "-e", ask])
            .env("DATABASE_URL", &server.url);
        assert_eq!(capture(&mut ruby).unwrap(), "2\n");
        drop(server);
        assert!(!folder.exists());
        assert!(!Path::new("/proc").join(keeper.to_string()).exists());
    }

    #[test]
    fn a_mariadb_answers_and_goes() {
        let ask = "require 'mysql2'; u = URI(ENV['DATABASE_URL']); c = Mysql2::Client.new(host: u.host, port: u.port, \
            username: u.user, password: u.password, database: u.path[1..]); p c.query('SELECT 1+1 AS n').first['n']";
        check(mariadb(), ask);
    }

    #[test]
    fn a_postgres_answers_and_goes() {
        check(
            postgres(),
            "require 'pg'; puts PG.connect(ENV['DATABASE_URL']).exec('SELECT 1+1')[0].values",
        );
    }
}

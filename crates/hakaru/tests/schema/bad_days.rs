//! Failures of a server or a text: one clear sentence each, a documented code, and no password
//! anywhere.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use schema_db::Database;

use crate::program::{Folder, Said, said};
use crate::server::{Scratch, connect};

const MARIADB: &str = "HAKARU_TEST_MARIADB_URL";
const SECRET: &str = "xyzzy-plugh";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(
        "schema.sql",
        "CREATE TABLE a (id int NOT NULL PRIMARY KEY);\n",
    );
    folder
}

fn apply(folder: &Folder, place: &str) -> Said {
    folder.schema(&["apply", place, "--to", "schema.sql", "--lock-timeout", "1s"])
}

#[test]
fn a_server_that_is_not_there() {
    let folder = folder();
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for (place, words) in [
        (
            "mysql://me@no-such-host.invalid/app".to_owned(),
            "cannot reach no-such-host.invalid:3306/app",
        ),
        (format!("mysql://me@{free}/app"), "cannot reach"),
        (
            "postgres://me@no-such-host.invalid/app".to_owned(),
            "is the address right?",
        ),
        (format!("postgres://me@{free}/app"), "is the address right?"),
        (
            "sqlite:no/such/folder/app.db".to_owned(),
            "cannot open no/such/folder/app.db",
        ),
    ] {
        let said = apply(&folder, &place).ended(9).has_err(words);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    }
    folder
        .schema(&["plan", "sqlite:missing.db", "--to", "schema.sql"])
        .ended(9)
        .has_err("there is no file missing.db");
    assert!(!folder.path().join("missing.db").exists());
}

#[test]
fn a_wrong_user_or_password_or_database() {
    let folder = folder();
    let scratch = Scratch::on(MARIADB);
    let address = scratch.url.rsplit_once('@').unwrap().1.to_owned();
    let wrong = format!("mysql://hakaru:{SECRET}@{address}");
    let said = apply(&folder, &wrong)
        .ended(9)
        .has_err("check the user and the password");
    assert!(!said.err.contains(SECRET), "{}", said.err);
    apply(&folder, &(scratch.url.clone() + "_not"))
        .ended(9)
        .has_err("create the database first");
}

#[test]
fn mysql_passwords_come_from_where_they_are_kept() {
    let folder = folder();
    let scratch = Scratch::on(MARIADB);
    let address = scratch.url.rsplit_once('@').unwrap().1.to_owned();
    let place = format!("mysql://hakaru@{address}");
    apply(&folder, &place).ended(9);
    folder.write(".my.cnf", "[client]\npassword = \"hakaru\"\n");
    apply(&folder, &place).ended(0);
    let check = ["schema", "check", &place, "--to", "schema.sql"];
    let with = |password: &str| {
        let mut command = folder.command(&check);
        said(&command.env("MYSQL_PWD", password).output().unwrap())
    };
    let refused = with(SECRET).ended(9);
    assert!(!refused.err.contains(SECRET), "{}", refused.err);
    std::fs::remove_file(folder.path().join(".my.cnf")).unwrap();
    with("hakaru").ended(0);
}

#[test]
fn a_user_who_may_only_read() {
    let folder = folder();
    let scratch = Scratch::on(MARIADB);
    let (before, database) = scratch.url.rsplit_once('/').unwrap();
    let user = format!("reader_{}", std::process::id());
    let grant = format!("GRANT SELECT ON {database}.* TO {user}@'127.0.0.1'");
    let create = format!("CREATE USER {user}@'127.0.0.1' IDENTIFIED BY 'r'");
    scratch.execute(&[&create, &grant]);
    let address = before.rsplit_once('@').unwrap().1;
    apply(&folder, &format!("mysql://{user}:r@{address}/{database}"))
        .ended(9)
        .has_err("use a user who may change the schema")
        .has_err("CREATE TABLE a");
    scratch.execute(&[&format!("DROP USER {user}@'127.0.0.1'")]);
}

#[test]
fn a_second_apply_waits_and_then_says_who_is_in_the_way() {
    let folder = folder();
    let scratch = Scratch::on(MARIADB);
    let mut other = connect(&scratch.url);
    other.lock(Duration::ZERO).unwrap();
    apply(&folder, &scratch.url)
        .ended(7)
        .has_err("another runner changes");
    drop(other);
    apply(&folder, &scratch.url).ended(0);
    folder.sqlite(
        "app.db",
        "CREATE TABLE a (id int NOT NULL PRIMARY KEY, b int)",
    );
    let mut other = schema_db::sqlite::open(&folder.path().join("app.db")).unwrap();
    other.lock(Duration::ZERO).unwrap();
    apply(&folder, "sqlite:app.db")
        .ended(7)
        .has_err("another run is changing app.db");
    drop(other);
    apply(&folder, "sqlite:app.db").ended(3);
}

#[test]
fn a_lock_that_is_not_given_in_time() {
    let folder = folder();
    folder.sqlite("app.db", "CREATE TABLE b (id int)");
    let other = rusqlite::Connection::open(folder.path().join("app.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    apply(&folder, "sqlite:app.db")
        .ended(7)
        .has_err("nothing was changed");
    let scratch = Scratch::on(MARIADB);
    scratch.execute(&["CREATE TABLE b (id int)"]);
    let mut other = connect(&scratch.url);
    other.execute("LOCK TABLES b WRITE").unwrap();
    let allowed = [
        "apply",
        &scratch.url,
        "--to",
        "schema.sql",
        "--lock-timeout",
        "1s",
        "--enable-drop",
    ];
    folder.schema(&allowed).ended(7).has_err("DROP TABLE");
    other.execute("UNLOCK TABLES").unwrap();
    folder.schema(&allowed).ended(0);
}

#[test]
fn a_disk_that_is_full() {
    let folder = folder();
    folder.sqlite(
        "app.db",
        "CREATE TABLE a (id int); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
         INSERT INTO a SELECT i FROM n",
    );
    // In blocks of 512 bytes; an ignored signal stays ignored in what is executed.
    let script =
        "trap '' XFSZ; ulimit -f 256; exec \"$0\" schema apply sqlite:app.db --to schema.sql";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_hakaru")])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    said(&output)
        .ended(9)
        .has_err("make room on the server's disk")
        .has_err("nothing was changed");
    assert_eq!(folder.ask("app.db", "SELECT count(*) FROM a"), ["9999"]);
}

#[test]
fn texts_that_cannot_be_read() {
    let folder = folder();
    folder.sqlite("app.db", "CREATE TABLE a (id int)");
    folder.write("latin1.sql", b"-- caf\xe9\nCREATE TABLE a (id int);");
    folder.write(
        "wrong.sql",
        "CREATE TABLE a (id int);\nCREATE TABLE b (id int,,);\n",
    );
    let check = |to: &str| {
        folder
            .schema(&["check", "sqlite:app.db", "--to", to])
            .ended(1)
    };
    check("latin1.sql").has_err("latin1.sql is not UTF-8 (line 1)");
    check("wrong.sql")
        .has_err("wrong.sql:2:24: ")
        .has_err("\n    CREATE TABLE b (id int,,);\n");
    check("missing.sql").has_err("cannot read missing.sql");
    check("git:HEAD:schema.sql").has_err("git cannot show HEAD:schema.sql");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    check("empty").has_err("there is no .sql file in empty");
}

#[test]
fn a_version_that_is_too_old() {
    let folder = folder();
    let scratch = Scratch::on(MARIADB);
    let real = scratch
        .url
        .rsplit_once('@')
        .unwrap()
        .1
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    let (address, _served) = older(&real);
    apply(&folder, &scratch.url_at(&address))
        .ended(9)
        .has_err("versions from 10.6 are supported");
}

/// A proxy of a MariaDB with an older version in the greeting.
fn older(real: &str) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut server = std::net::TcpStream::connect(real).unwrap();
    let served = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let (mut from_client, mut to_server) =
            (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut from_client, &mut to_server));
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = server.read(&mut bytes) {
            let part = &mut bytes[..count];
            while let Some(place) = part.windows(6).position(|six| six == b"10.11.") {
                part[place..place + 6].copy_from_slice(b"10.01.");
            }
            if client.write_all(part).is_err() {
                break;
            }
        }
    });
    (address, served)
}

/// A PostgreSQL which asks for a password, returns the received password, and refuses access.
fn curious_postgres() -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let message = |client: &mut std::net::TcpStream| {
            let mut length = [0; 4];
            client.read_exact(&mut length).unwrap();
            let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
            client.read_exact(&mut body).unwrap();
            body
        };
        let mut start = message(&mut client);
        if start.starts_with(&80_877_103_u32.to_be_bytes()) {
            // A question for TLS: no.
            client.write_all(b"N").unwrap();
            start = message(&mut client);
        }
        assert!(
            start.starts_with(&[0, 3, 0, 0]),
            "version 3 of the protocol"
        );
        client.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
        let mut kind = [0];
        client.read_exact(&mut kind).unwrap();
        let password = message(&mut client);
        let error = b"SFATAL\0C28P01\0Mpassword authentication failed for user \"me\"\0\0";
        client.write_all(b"E").unwrap();
        let length = u32::try_from(error.len() + 4).unwrap();
        client.write_all(&length.to_be_bytes()).unwrap();
        client.write_all(error).unwrap();
        String::from_utf8(password)
            .unwrap()
            .trim_end_matches('\0')
            .to_owned()
    });
    (address, asked)
}

#[test]
fn postgres_passwords_come_from_where_they_are_kept() {
    let check = |prepare: &dyn Fn(&Folder, &mut Command), login: &str, expected: &str| {
        let folder = folder();
        let (address, asked) = curious_postgres();
        let place = format!("postgres://{login}@{address}/app");
        let mut command = folder.command(&["schema", "check", &place, "--to", "schema.sql"]);
        prepare(&folder, &mut command);
        let said = said(&command.output().unwrap()).ended(9);
        assert_eq!(asked.join().unwrap(), expected, "{}", said.err);
        assert!(
            said.err.contains("check the user and the password"),
            "{}",
            said.err
        );
        assert!(!said.err.contains(expected), "{}", said.err);
    };
    let env = |_: &Folder, command: &mut Command| {
        command.env("PGPASSWORD", SECRET);
    };
    check(&env, "me", SECRET);
    check(&env, "me:from-the-url", "from-the-url");
    let file = |folder: &Folder, _: &mut Command| {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.write(".pgpass", format!("other:*:*:*:no\n*:*:app:me:{SECRET}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    };
    check(&file, "me", SECRET);
}

//! MySQL and MariaDB: changes by copy are held back by name, together with dependent statements;
//! the rest is done.

use crate::program::{Folder, Said};
use crate::server::{Scratch, connect};

const SERVERS: [&str; 2] = ["HAKARU_TEST_MYSQL_URL", "HAKARU_TEST_MARIADB118_URL"];

/// A database with the tables of `before`, and a folder with `wanted.sql`.
fn prepared(variable: &str, before: &[&str], wanted: &str) -> (Folder, Scratch) {
    let (folder, server) = (Folder::new(), Scratch::on(variable));
    server.execute(before);
    folder.write("wanted.sql", wanted);
    (folder, server)
}

fn online(folder: &Folder, server: &Scratch, more: &[&str]) -> Said {
    let apply = ["apply", &server.url, "--to", "wanted.sql", "--online"];
    folder.schema(&[&apply[..], more].concat())
}

/// Type and default of each column of a table, by name.
fn columns(server: &Scratch, table: &str) -> Vec<String> {
    server.ask(&format!(
        "SELECT CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE) FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}' ORDER BY ORDINAL_POSITION"
    ))
}

fn foreign_keys(server: &Scratch) -> Vec<String> {
    server.ask(
        "SELECT CONSTRAINT_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS \
         WHERE CONSTRAINT_SCHEMA = DATABASE()",
    )
}

/// Whether a column has a type, without the display width of some servers.
fn has(columns: &[String], name: &str, data_type: &str) -> bool {
    let mut columns = columns.iter();
    columns.any(|column| {
        let column = column.strip_prefix(name);
        column.is_some_and(|rest| rest.trim_start().starts_with(data_type))
    })
}

#[test]
fn what_is_copied_waits_alone_and_the_rest_of_the_table_is_done() {
    for variable in SERVERS {
        let before = "CREATE TABLE t (id int NOT NULL PRIMARY KEY, a int, b varchar(10), c int)";
        let wanted = "CREATE TABLE t (id int NOT NULL PRIMARY KEY, a bigint, b varchar(20), \
                      c int DEFAULT 3, d int, KEY (c));";
        let (folder, server) = prepared(variable, &[before], wanted);
        online(&folder, &server, &[])
            .ended(3)
            .has_out("--allow offline-column:t.a");
        let now = columns(&server, "t");
        assert!(has(&now, "a", "int"), "{now:?}");
        assert!(has(&now, "b", "varchar(20)"), "{now:?}");
        assert!(has(&now, "d", "int"), "{now:?}");
        let allowed = ["--allow", "offline-column:t.a"];
        online(&folder, &server, &allowed).ended(0);
        assert!(has(&columns(&server, "t"), "a", "bigint"));
    }
}

#[test]
fn a_foreign_key_stays_where_it_could_not_come_again() {
    for variable in SERVERS {
        let before = [
            "CREATE TABLE p (id int NOT NULL PRIMARY KEY)",
            "CREATE TABLE t (id int NOT NULL PRIMARY KEY, p_id int, \
             CONSTRAINT f FOREIGN KEY (p_id) REFERENCES p (id))",
        ];
        let wanted = "CREATE TABLE p (id bigint NOT NULL PRIMARY KEY, n int);
            CREATE TABLE t (id int NOT NULL PRIMARY KEY, p_id bigint, q int,
              CONSTRAINT f FOREIGN KEY (p_id) REFERENCES p (id));";
        let (folder, server) = prepared(variable, &before, wanted);
        let some = [
            &[][..],
            &["--allow", "offline-constraint:t.f"][..],
            &["--allow", "offline-column:p.id"][..],
        ];
        for allowed in some {
            online(&folder, &server, allowed).ended(3);
            assert_eq!(foreign_keys(&server), ["f"], "{allowed:?}");
        }
        assert!(has(&columns(&server, "p"), "n", "int"));
        assert!(has(&columns(&server, "t"), "q", "int"));
        let all = [
            "offline-constraint:t.f",
            "offline-column:p.id",
            "offline-column:t.p_id",
        ];
        let all: Vec<&str> = all.iter().flat_map(|one| ["--allow", one]).collect();
        online(&folder, &server, &all).ended(0);
        assert_eq!(foreign_keys(&server), ["f"]);
        assert!(has(&columns(&server, "t"), "p_id", "bigint"));
    }
}

/// Tables with a refused change: one locked for a full-text index, one with conflicting rows.
const REFUSED: [&str; 3] = [
    "CREATE TABLE a (id int NOT NULL PRIMARY KEY, words text)",
    "CREATE TABLE b (id int NOT NULL PRIMARY KEY, n int)",
    "INSERT INTO b VALUES (1, 7), (2, 7)",
];

const REFUSED_WANTED: &str =
    "CREATE TABLE a (id int NOT NULL PRIMARY KEY, words text, FULLTEXT KEY w (words));
    CREATE TABLE b (id int NOT NULL PRIMARY KEY, n int, UNIQUE KEY u (n));";

#[test]
fn what_the_server_refused_does_not_count_as_done() {
    for variable in SERVERS {
        let (folder, server) = prepared(variable, &REFUSED, REFUSED_WANTED);
        online(&folder, &server, &[]).ended(1);
        let done = server.ask("SELECT CAST(done AS CHAR) FROM _hakaru_journal");
        assert_eq!(done, ["0"]);
        server.execute(&["UPDATE b SET n = id"]);
        online(&folder, &server, &[])
            .ended(3)
            .has_err("cut off after 0 of 2 statements")
            .has_err("--allow offline-table:a");
    }
}

#[test]
fn a_wait_for_the_lock_of_a_table_ends() {
    for variable in SERVERS {
        let before = "CREATE TABLE t (id int NOT NULL PRIMARY KEY)";
        let wanted = "CREATE TABLE t (id int NOT NULL PRIMARY KEY, n int);";
        let (folder, server) = prepared(variable, &[before], wanted);
        let mut reader = connect(&server.url);
        reader.execute("BEGIN").unwrap();
        reader.query("SELECT * FROM t").unwrap();
        let hurried = ["--online-wait", "1s", "--online-tries", "2"];
        online(&folder, &server, &hurried)
            .ended(7)
            .has_err("try 1 of 2");
        reader.execute("COMMIT").unwrap();
        online(&folder, &server, &[]).ended(0);
    }
}

#[test]
fn a_plan_that_is_kept_takes_the_dearer_way_where_it_has_to() {
    for variable in SERVERS {
        let before = "CREATE TABLE t (id int NOT NULL PRIMARY KEY, n int)";
        let wanted = "CREATE TABLE t (id int NOT NULL PRIMARY KEY, n int, KEY k (n));";
        let (folder, server) = prepared(variable, &[before], wanted);
        let plan = ["plan", &server.url, "--to", "wanted.sql", "--online"];
        let kept = [&plan[..], &["--out", "plan.json"]].concat();
        folder.schema(&kept).ended(0).has_out("ALGORITHM=INSTANT");
        let apply = ["apply", "plan.json", "--from", &server.url];
        folder.schema(&apply).ended(0);
    }
}

#[test]
fn a_check_that_needs_a_copy_waits_alone() {
    for variable in SERVERS {
        let before = "CREATE TABLE t (id int NOT NULL PRIMARY KEY, a int)";
        let wanted = "CREATE TABLE t (id int NOT NULL PRIMARY KEY, a int, b int, KEY (a), CONSTRAINT low CHECK (a < 9));";
        let (folder, server) = prepared(variable, &[before], wanted);
        let said = online(&folder, &server, &[]);
        assert!(has(&columns(&server, "t"), "b", "int"), "{}", said.err);
        // MariaDB may add it without a copy.
        if said.code != Some(0) {
            said.ended(3).has_err("--allow offline-constraint:t.low");
        }
        let allowed = ["--allow", "offline-constraint:t.low"];
        online(&folder, &server, &allowed).ended(0);
        let check = ["check", &server.url, "--to", "wanted.sql"];
        folder.schema(&check).ended(0);
    }
}

/// Command line of the server's own client, in the role of an external copying program.
fn client() -> String {
    let dump = std::env::var("HAKARU_TEST_MYSQL_DUMP").expect("bin/test says where mysqldump is");
    dump.replace("mysqldump", "mysql")
}

#[test]
fn what_the_server_would_copy_is_handed_to_a_program() {
    for variable in SERVERS {
        let before = [
            "CREATE TABLE t (id int NOT NULL PRIMARY KEY, a int)",
            "INSERT INTO t VALUES (1, 7)",
        ];
        let wanted = "CREATE TABLE t (id int NOT NULL PRIMARY KEY, a bigint, KEY k (a));";
        let (folder, server) = prepared(variable, &before, wanted);
        let failing = ["--online-command", "false {table}"];
        online(&folder, &server, &failing)
            .ended(1)
            .has_err("false failed on t");
        let how = "--protocol=tcp --host={host} --port={port} --user={user} {database} \
                   --execute='ALTER TABLE {table} {alter}'";
        let command = format!("{} {how}", client());
        let file = format!("[schema]\nonline_command = {command:?}\n");
        folder.write("hakaru.toml", file);
        online(&folder, &server, &[]).ended(0);
        assert_eq!(server.ask("SELECT CAST(a AS CHAR) FROM t"), ["7"]);
        assert!(has(&columns(&server, "t"), "a", "bigint"));
    }
}

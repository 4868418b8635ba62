//! Files of Rails, compared with ActiveRecord's own schema and dump.

use std::path::Path;
use std::process::Command;

use crate::program::Folder;
use crate::server::Scratch;

const OWN: [&str; 4] = [
    "--exclude",
    "table:schema_migrations",
    "--exclude",
    "table:ar_internal_metadata",
];

/// Runs ActiveRecord in a folder.
fn active_record(folder: &Folder, action: &str, url: &str, file: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema/rails/active_record.rb");
    let output = Command::new("ruby")
        .arg(script)
        .args([action, url, file])
        .current_dir(folder.path())
        .output()
        .expect("ruby runs; bin/test finds one with ActiveRecord");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{action} {file}: {said}");
}

/// The sorted statements of an export: tables of an export are in order of creation.
fn statements(folder: &Folder, place: &str) -> Vec<String> {
    let said = folder.schema(&[&["export", place, "--allow-unseen"], &OWN[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let mut statements: Vec<String> = said
        .out
        .split(";\n")
        .map(|sql| sql.trim().to_owned())
        .collect();
    statements.sort();
    statements
}

fn assert_same(folder: &Folder, from: &str, to: &str) {
    let said = folder.schema(&["check", from, "--to", to]);
    assert_eq!(
        said.code,
        Some(0),
        "{from} to {to}: {}{}",
        said.out,
        said.err
    );
}

/// The databases: one loaded by ActiveRecord, one by us, and one from our own dump of the first.
struct Places {
    urls: [String; 3],
    /// ActiveRecord's names of the third and the first database.
    rails: [String; 3],
}

/// `structure` is what Rails 7.2 wrote as `structure.sql` of the same schema.
fn check(file: &str, structure: Option<&str>, places: &Places) {
    let folder = Folder::new();
    folder.write("schema.rb", file);
    let [theirs, ours, again] = &places.urls;
    active_record(&folder, "load", &places.rails[0], "schema.rb");
    let said = folder.schema(&["apply", ours, "--to", "schema.rb"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert_eq!(statements(&folder, theirs), statements(&folder, ours));
    assert_same(&folder, theirs, "schema.rb");
    if let Some(structure) = structure {
        folder.write("structure.sql", structure);
        assert_same(&folder, theirs, "structure.sql");
    }

    active_record(&folder, "dump", &places.rails[0], "dumped.rb");
    assert!(!folder.read("dumped.rb").contains("Could not dump"));
    assert_same(&folder, theirs, "dumped.rb");

    let dump = ["export", theirs, "--format", "schema.rb"];
    let said = folder.schema(&[&dump[..], &OWN[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    folder.write("ours.rb", &said.out);
    active_record(&folder, "load", &places.rails[2], "ours.rb");
    assert_eq!(statements(&folder, theirs), statements(&folder, again));
    assert_same(&folder, theirs, "ours.rb");
}

fn on_server(variable: &str, file: &str, structure: Option<&str>) {
    let scratches = [(); 3].map(|()| Scratch::on(variable));
    let urls = [0, 1, 2].map(|number| scratches[number].url.clone());
    let rails = urls.clone();
    check(file, structure, &Places { urls, rails });
}

#[test]
fn postgres_15_gets_what_rails_makes() {
    on_server(
        "HAKARU_TEST_POSTGRES_URL",
        include_str!("rails/postgres.rb"),
        Some(include_str!("rails/structure-postgres.sql")),
    );
}

#[test]
fn postgres_18_gets_what_rails_makes() {
    on_server(
        "HAKARU_TEST_POSTGRES18_URL",
        include_str!("rails/postgres.rb"),
        Some(include_str!("rails/structure-postgres.sql")),
    );
}

#[test]
fn mysql_gets_what_rails_makes() {
    on_server(
        "HAKARU_TEST_MYSQL_URL",
        include_str!("rails/mysql.rb"),
        Some(include_str!("rails/structure-mysql.sql")),
    );
}

#[test]
fn mariadb_gets_what_rails_makes() {
    // ActiveRecord 7.2 loses the direction of an index on MariaDB.
    let file = include_str!("rails/mysql.rb").replace(", order: { name: :desc }", "");
    on_server("HAKARU_TEST_MARIADB118_URL", &file, None);
}

#[test]
fn sqlite_gets_what_rails_makes() {
    let folder = Folder::new();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let names = ["theirs.db", "ours.db", "again.db"];
    let places = Places {
        urls: names.map(|name| format!("sqlite:{}", path(name))),
        rails: names.map(|name| format!("sqlite3:{}", path(name))),
    };
    let folder = Folder::new();
    folder.write("schema.rb", include_str!("rails/sqlite.rb"));
    folder.write("structure.sql", include_str!("rails/structure-sqlite.sql"));
    let [theirs, ours, again] = &places.urls;
    active_record(&folder, "load", &places.rails[0], "schema.rb");
    assert_eq!(
        folder.schema(&["apply", ours, "--to", "schema.rb"]).code,
        Some(0)
    );
    active_record(&folder, "dump", &places.rails[0], "dumped.rb");
    let said = folder.schema(&["export", theirs, "--format", "schema.rb"]);
    folder.write("ours.rb", &said.out);
    active_record(&folder, "load", &places.rails[2], "ours.rb");
    // SQLite keeps texts as they were written, which are not the same.
    for (from, to) in [
        (theirs, "schema.rb"),
        (ours, "schema.rb"),
        (theirs, "structure.sql"),
        (theirs, "dumped.rb"),
        (theirs, "ours.rb"),
        (again, "schema.rb"),
    ] {
        assert_same(&folder, from, to);
    }
}

#[test]
fn what_needs_ruby_is_refused_with_its_place() {
    let folder = Folder::new();
    folder.write("db/schema.rb", "ActiveRecord::Schema[7.2].define do\n  create_table \"a\" do |t|\n    t.string \"b\", default: ENV.fetch(\"B\")\n  end\nend\n");
    let said = folder.schema(&["export", "db/schema.rb", "--dialect", "sqlite"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("db/schema.rb:3:28: "), "{}", said.err);
    assert!(
        said.err
            .contains("\n        t.string \"b\", default: ENV.fetch(\"B\")\n"),
        "{}",
        said.err
    );
}

#[test]
fn a_schemafile_requires_others_and_its_errors_name_the_line() {
    let folder = Folder::new();
    folder.write(
        "Schemafile",
        "require \"schema/users\"\nadd_index :users, :name\n",
    );
    folder.write("schema/users.rb", "create_table :users do |t|\n  t.string :name\n  t.check_constraint \"(name\", name: \"c\"\nend\n");
    let export = ["export", "Schemafile", "--dialect", "mysql"];
    let said = folder.schema(&export);
    assert!(
        said.err.contains("schema/users.rb:3:"),
        "{}{}",
        said.out,
        said.err
    );
    folder.write(
        "schema/users.rb",
        "create_table :users do |t|\n  t.string :name, null: false\nend\n",
    );
    let said = folder.schema(&export);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("index_users_on_name"), "{}", said.out);
}

#[test]
fn what_a_schema_file_cannot_hold_is_neither_dropped_nor_asked_for() {
    let scratch = Scratch::on("HAKARU_TEST_POSTGRES_URL");
    scratch.execute(&[
        "CREATE TABLE users (id bigserial PRIMARY KEY, name varchar)",
        "CREATE VIEW names AS SELECT name FROM users",
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE TRIGGER t BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION f()",
        "CREATE SEQUENCE numbers",
        "CREATE DOMAIN word AS text",
        "CREATE TABLE schema_migrations (version varchar PRIMARY KEY)",
    ]);
    let folder = Folder::new();
    folder.write("schema.rb", "ActiveRecord::Schema[7.2].define do\n  create_table \"users\" do |t|\n    t.string \"name\"\n  end\nend\n");
    assert_same(&folder, &scratch.url, "schema.rb");
    folder.write("schema.rb", "ActiveRecord::Schema[7.2].define do\nend\n");
    let said = folder.schema(&["plan", &scratch.url, "--to", "schema.rb"]);
    assert!(said.out.contains("1/1 drop table users"), "{}", said.out);
}

#[test]
fn what_a_schema_file_cannot_say_of_its_tables_stays() {
    let folder = Folder::new();
    folder.write(
        "schema.rb",
        "ActiveRecord::Schema[7.2].define do\n  create_table \"users\" do |t|\n    t.string \"name\"\n  end\n  \
         create_table \"parts\", id: false do |t|\n    t.bigint \"id\", null: false\n    t.date \"at\", null: false\n  end\nend\n",
    );
    let postgres = Scratch::on("HAKARU_TEST_POSTGRES_URL");
    postgres.execute(&[
        "CREATE UNLOGGED TABLE users (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name varchar) WITH (fillfactor = 70)",
        "ALTER TABLE users ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE users FORCE ROW LEVEL SECURITY",
        "ALTER TABLE users ALTER COLUMN name SET STORAGE EXTERNAL",
        "ALTER TABLE users ALTER COLUMN name SET STATISTICS 500",
        "CREATE TABLE parts (id bigint NOT NULL, at date NOT NULL) PARTITION BY RANGE (at)",
        "CREATE TABLE parts_all PARTITION OF parts DEFAULT",
    ]);
    let mysql = Scratch::on("HAKARU_TEST_MYSQL_URL");
    mysql.execute(&[
        "CREATE TABLE users (id bigint AUTO_INCREMENT PRIMARY KEY, name varchar(255)) PARTITION BY HASH (id) PARTITIONS 2",
        "CREATE TABLE parts (id bigint NOT NULL, at date NOT NULL) PARTITION BY HASH (id) PARTITIONS 2",
    ]);
    for place in [&postgres.url, &mysql.url] {
        assert_same(&folder, place, "schema.rb");
    }
    folder.write(
        "strict.rb",
        "ActiveRecord::Schema[7.2].define do\n  create_table \"notes\" do |t|\n    t.text \"name\"\n  end\nend\n",
    );
    folder.sqlite(
        "a.db",
        "CREATE TABLE notes (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, name text) STRICT",
    );
    assert_same(&folder, "sqlite:a.db", "strict.rb");
}

#[test]
fn columns_that_rails_sorted_stay_where_they_are() {
    let folder = Folder::new();
    let file = |release: &str| {
        format!(
            "ActiveRecord::Schema[{release}].define do\n  create_table \"users\" do |t|\n    t.text \"a\"\n    t.text \"b\"\n    t.text \"c\"\n  end\nend\n"
        )
    };
    folder.write("sorted.rb", file("8.1"));
    folder.write("schema.rb", file("8.0"));
    let mysql = Scratch::on("HAKARU_TEST_MYSQL_URL");
    mysql.execute(&["CREATE TABLE users (id bigint AUTO_INCREMENT PRIMARY KEY, b text, a text)"]);
    folder.sqlite(
        "a.db",
        "CREATE TABLE users (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, b text, a text)",
    );
    for place in ["sqlite:a.db", &mysql.url] {
        let plan = |to: &str| folder.schema(&["plan", place, "--to", to]).ended(0).out;
        assert!(plan("schema.rb").contains("-- 1/") && !plan("sorted.rb").contains("rebuild"));
        let said = folder.schema(&["plan", place, "--to", "sorted.rb", "--out", "plan.json"]);
        assert_eq!(said.ended(0).out.matches("-- 1/1 ").count(), 1);
        folder
            .schema(&["apply", "plan.json", "--from", place])
            .ended(0);
        folder
            .schema(&["check", place, "--to", "sorted.rb"])
            .ended(0);
        folder
            .schema(&["check", place, "--to", "schema.rb"])
            .ended(2);
    }
}

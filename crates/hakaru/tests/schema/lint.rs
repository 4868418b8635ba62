//! `hakaru schema lint`, `drift`, and what `hakaru.toml` says about schemas.

use crate::program::Folder;
use crate::server::Scratch;

/// A schema in which each rule finds something.
const POSTGRES: [&str; 9] = [
    "CREATE TABLE logs (line text)",
    "CREATE TYPE mood AS ENUM ('sad', 'Sad')",
    "CREATE TABLE users (id bigserial PRIMARY KEY, name text, nick text, at timestamp)",
    "CREATE TABLE posts (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES users, title text)",
    "CREATE INDEX by_name ON users (name)",
    "CREATE INDEX by_both ON users (name, nick)",
    "CREATE INDEX by_title ON posts (title)",
    "INSERT INTO users (name) SELECT 'a' FROM generate_series(1, 1000)",
    "ANALYZE",
];

/// Rules and names of a report in JSON.
fn found(json: &str) -> Vec<(String, String)> {
    let report: serde_json::Value = serde_json::from_str(json).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| {
            let text = |key: &str| finding[key].as_str().unwrap().to_owned();
            (text("rule"), text("name"))
        })
        .collect()
}

#[test]
fn each_rule_finds_its_own_on_a_server() {
    let scratch = Scratch::on("HAKARU_TEST_POSTGRES_URL");
    scratch.execute(&POSTGRES);
    let folder = Folder::new();
    let said = folder
        .schema(&["lint", &scratch.url, "--format", "json"])
        .ended(2);
    let found = found(&said.out);
    let expected = [
        ("missing-primary-key", "logs"),
        ("foreign-key-without-index", "posts.user_id"),
        ("foreign-key-type", "posts.user_id"),
        ("duplicate-index", "by_name"),
        ("unused-index", "by_name"),
        ("unused-index", "by_both"),
        ("unused-index", "by_title"),
        ("timestamp-without-zone", "users.at"),
        ("enum-hazard", "mood"),
        ("small-primary-key", "posts.id"),
    ];
    let expected = expected.map(|(rule, name)| (rule.to_owned(), name.to_owned()));
    assert_eq!(found, expected, "{}", said.out);
    // Sizes are the server's.
    let size = scratch.ask("SELECT pg_relation_size('by_name') / 1024");
    assert!(
        said.out
            .contains(&format!("by_name of users ({} kB)", size[0])),
        "{}",
        said.out
    );
    assert!(said.err.contains("5 warnings, 5 notes"), "{}", said.err);
}

#[test]
fn rules_and_objects_can_be_ignored() {
    let scratch = Scratch::on("HAKARU_TEST_POSTGRES_URL");
    scratch.execute(&POSTGRES);
    let folder = Folder::new();
    folder.write(
        "hakaru.toml",
        format!(
            "[schema]\nplace = \"{}\"\nlint_ignore = [\"missing-primary-key:log*\", \"enum-hazard\"]\n\
             [schema.environments.ci]\nexclude = [\"posts\", \"users\"]\n",
            scratch.url
        ),
    );
    let said = folder
        .schema(&["lint", "--ignore", "duplicate-index"])
        .ended(2);
    let said = said.has_out("[foreign-key-type]");
    assert!(
        !said.out.contains("logs") && !said.out.contains("mood"),
        "{}",
        said.out
    );
    folder
        .schema(&["lint", "-e", "ci"])
        .ended(0)
        .has_err("0 warnings, 0 notes");
    folder
        .schema(&["lint", "-e", "cd"])
        .ended(1)
        .has_err("no environment cd; it has ci");
    folder
        .schema(&["lint", "--ignore", "nothing"])
        .ended(1)
        .has_err("there is no rule nothing");
    folder.schema(&["lint", "--fail-on", "never"]).ended(0);
}

#[test]
fn other_servers_say_sizes_too() {
    for variable in ["HAKARU_TEST_MYSQL_URL", "HAKARU_TEST_MARIADB118_URL"] {
        let scratch = Scratch::on(variable);
        scratch.execute(&[
            "CREATE TABLE logs (line text, kind enum('1', 'b'))",
            "CREATE TABLE users (id int AUTO_INCREMENT PRIMARY KEY, name varchar(20), KEY by_name (name), KEY again (name))",
            "ANALYZE TABLE users",
        ]);
        let said = Folder::new()
            .schema(&["lint", &scratch.url, "--format", "json"])
            .ended(2);
        let found = found(&said.out);
        for (rule, name) in [
            ("missing-primary-key", "logs"),
            ("duplicate-index", "again"),
            ("enum-hazard", "logs.kind"),
            ("small-primary-key", "users.id"),
        ] {
            assert!(
                found.contains(&(rule.to_owned(), name.to_owned())),
                "{rule}: {}",
                said.out
            );
        }
        assert!(
            said.out.contains("again of users (16 kB)"),
            "{}{}",
            said.out,
            said.err
        );
    }
}

#[test]
fn texts_are_linted_with_their_lines() {
    let folder = Folder::new();
    folder.write("db/schema.rb", "ActiveRecord::Schema[7.2].define do\n  create_table \"a\", id: false do |t|\n    t.string \"b\"\n  end\n\n  create_table \"c\" do |t|\n    t.bigint \"d_id\"\n  end\n  create_table \"d\" do |t|\n  end\n  add_foreign_key \"c\", \"d\"\nend\n");
    let lint = ["lint", "db/schema.rb", "--dialect", "postgres"];
    let said = folder.schema(&lint).ended(2);
    let said = said.has_out("db/schema.rb:2: warning [missing-primary-key]");
    said.has_out("db/schema.rb:7: warning [foreign-key-without-index]");
    let sarif = folder
        .schema(&[&lint[..], &["--format", "sarif"]].concat())
        .ended(2);
    let sarif: serde_json::Value = serde_json::from_str(&sarif.out).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(result["ruleId"], "missing-primary-key");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "db/schema.rb");
    assert_eq!(place["region"]["startLine"], 2);
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    assert_eq!(rules.len(), 8);
    let markdown = folder
        .schema(&[&lint[..], &["--format", "markdown"]].concat())
        .ended(2);
    markdown.has_out("| warning | missing-primary-key | table `a` (db/schema.rb:2) |");
}

#[test]
fn drift_is_told_with_what_would_undo_it() {
    let folder = Folder::new();
    folder.write(
        "schema.sql",
        "CREATE TABLE a (\n  id integer PRIMARY KEY,\n  b text\n);\nCREATE INDEX by_b ON a (b);\n",
    );
    folder
        .schema(&["apply", "sqlite:a.db", "--to", "schema.sql"])
        .ended(0);
    folder.write(
        "hakaru.toml",
        "[schema]\nplace = \"sqlite:a.db\"\nto = \"schema.sql\"\n",
    );
    folder.schema(&["drift"]).ended(0).has_err("no drift");
    folder.sqlite("a.db", "DROP INDEX by_b; CREATE TABLE forgotten (c int);");
    let said = folder.schema(&["drift", "--format", "markdown"]).ended(2);
    let said = said.has_out("`sqlite:a.db` against `schema.sql`");
    let said = said.has_out("| error | schema-drift | table `forgotten` |");
    said.has_out("```sql\n")
        .has_out("CREATE INDEX by_b ON a (b);");
    let said = folder.schema(&["drift", "--format", "sarif"]).ended(2);
    let sarif: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "schema.sql"
        );
    }
    folder
        .schema(&["drift", "--exclude", "forgotten", "--exclude", "index:by_*"])
        .ended(0);
}

#[test]
fn filters_hold_on_both_sides_and_in_a_plan_that_is_kept() {
    let scratch = Scratch::on("HAKARU_TEST_POSTGRES_URL");
    scratch.execute(&[
        "CREATE SCHEMA partman",
        "CREATE TABLE partman.config (id bigserial PRIMARY KEY)",
        "CREATE TABLE schema_migrations (version text PRIMARY KEY)",
        "CREATE TABLE users (id bigserial PRIMARY KEY)",
    ]);
    let folder = Folder::new();
    folder.write(
        "schema.sql",
        "CREATE TABLE users (id bigserial PRIMARY KEY, name text);",
    );
    let out = [
        "--exclude",
        "partman.*",
        "--exclude",
        "schema:partman",
        "--exclude",
        "schema_migrations",
    ];
    let plan = [
        "plan",
        &scratch.url,
        "--to",
        "schema.sql",
        "--out",
        "plan.json",
    ];
    let said = folder.schema(&[&plan[..], &out[..]].concat()).ended(0);
    assert_eq!(said.out.matches("-- 1/1 ").count(), 1, "{}", said.out);
    folder
        .schema(&["apply", "plan.json", "--from", &scratch.url])
        .ended(0);
    let check = ["check", &scratch.url, "--to", "schema.sql"];
    folder.schema(&[&check[..], &out[..]].concat()).ended(0);
    folder
        .schema(&check)
        .ended(2)
        .has_out("drop table partman.config");
    let export = ["export", &scratch.url, "--include", "table:users"];
    let said = folder.schema(&export).ended(0);
    assert_eq!(said.out.matches("CREATE ").count(), 1, "{}", said.out);
}

//! Files written by Rails 5 to 8 and Ridgepole, in the SQL of each server.
#![expect(
    clippy::unwrap_used,
    reason = "what cannot be done here fails the test that needs it"
)]

use rails_schema::convert;
use schema::{Product, Server, Source, SyntaxError};

fn read(product: Product, name: &str, text: &str) -> Result<String, SyntaxError> {
    let source = Source {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let mut require = |_: &Source, name: &str| Err(format!("there is no {name}"));
    let converted = convert(&source, &Server::unknown(product), &mut require)?;
    Ok(converted
        .sources
        .into_iter()
        .map(|source| source.text)
        .collect())
}

/// Checks the SQL of a file, without blank lines.
#[track_caller]
fn check(product: Product, text: &str, expected: &[&str]) {
    let sql = read(product, "db/schema.rb", text).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<&str> = sql
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(lines, expected);
}

/// Checks the columns and trailing statements of a table, without `create_table`.
#[track_caller]
fn check_table(product: Product, release: &str, body: &str, expected: &[&str]) {
    let text = format!(
        "ActiveRecord::Schema{release}.define(version: 1) do\ncreate_table \"t\", id: false do |t|\n{body}\nend\nend"
    );
    let sql = read(product, "db/schema.rb", &text).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<&str> = sql
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let (first, last) = (
        lines.iter().position(|line| line.ends_with('(')),
        lines.iter().position(|line| *line == ");"),
    );
    let inside = &lines[first.unwrap() + 1..last.unwrap()];
    let all: Vec<&str> = inside
        .iter()
        .chain(&lines[last.unwrap() + 1..])
        .map(|line| line.trim_end_matches([',', ';']))
        .collect();
    assert_eq!(all, expected);
}

use Product::{MariaDb, Mysql, Postgres, Sqlite};

#[test]
fn a_datetime_is_what_its_release_makes_of_it() {
    let check = |release: &str, body: &str, expected: &str| {
        check_table(Postgres, release, body, &[&format!("\"a\" {expected}")]);
    };
    check("", "t.datetime \"a\"", "timestamp");
    check("", "t.datetime \"a\", precision: 6", "timestamp(6)");
    check("[6.1]", "t.datetime \"a\"", "timestamp");
    check("[7.0]", "t.datetime \"a\"", "timestamp(6)");
    check("[7.0]", "t.datetime \"a\", precision: nil", "timestamp");
    check(
        "[8.1]",
        "t.datetime \"a\", precision: 0, null: false",
        "timestamp(0) NOT NULL",
    );
    check("[8.0]", "t.timestamp \"a\"", "timestamp");
    check("[8.0]", "t.timestamptz \"a\"", "timestamptz");
}

#[test]
fn files_of_rails_5_are_read() {
    check(
        Mysql,
        "# comment\nActiveRecord::Schema.define(version: 20180101) do\n\n  create_table \"users\", id: :integer, unsigned: true, force: :cascade, options: \"ENGINE=InnoDB DEFAULT CHARSET=utf8\" do |t|\n    t.text \"bio\", limit: 16777215\n    t.integer  \"age\",              limit: 1, default: 0,     null: false\n    t.index [\"age\"], name: \"by_age\", using: :btree\n  end\n  add_index \"users\", [\"bio\"], name: \"by_bio\", length: {\"bio\"=>10}, using: :btree\nend\n",
        &[
            "CREATE TABLE `users` (  `id` int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,",
            "`bio` mediumtext,",
            "`age` tinyint DEFAULT 0 NOT NULL,",
            "INDEX `by_age` USING btree (`age`)",
            ") ENGINE=InnoDB DEFAULT CHARSET=utf8;",
            "CREATE INDEX `by_bio` USING btree ON `users` (`bio`(10));",
        ],
    );
}

#[test]
fn files_of_ridgepole_are_read() {
    check(
        Mysql,
        "create_table(:users, id: :bigint, unsigned: true, force: :cascade, renamed_from: \"members\") { |t|\n  t.string :full_name, limit: 100, renamed_from: 'name'\n  t.unsigned_integer :n\n  t.timestamps\n  t.references :team, index: { name: :by_team }\n}\nadd_foreign_key :users, :teams\n",
        &[
            "CREATE TABLE `users` ( -- @renamed from=\"members\"",
            "`id` bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,",
            "`full_name` varchar(100), -- @renamed from=\"name\"",
            "`n` int unsigned,",
            "`created_at` datetime(6) NOT NULL,",
            "`updated_at` datetime(6) NOT NULL,",
            "`team_id` bigint,",
            "INDEX `by_team` (`team_id`)",
            ");",
            "ALTER TABLE `users` ADD CONSTRAINT `fk_rails_b2bbf87303` FOREIGN KEY (`team_id`) REFERENCES `teams` (`id`);",
        ],
    );
}

#[test]
fn literals_are_those_of_ruby() {
    let check = |written: &str, expected: &str| {
        check_table(
            Postgres,
            "[7.2]",
            &format!("t.text :a, default: {written}"),
            &[&format!("\"a\" text DEFAULT {expected}")],
        );
    };
    check(r#""a\"b\u00e9\u{20ac 41}\\""#, "'a\"bé€A\\'");
    check(r"'it\'s \n'", r"'it''s \n'");
    check(r#""it's""#, "'it''s'");
    check("-> { \"now()\" }", "now()");
    check("->{'now()'}", "now()");
    check("lambda { \"now()\" }", "now()");
    let text = "create_table :t do |t|\n  t.text :a, default: <<~SQL.freeze, null: false\n    a\n      b\n  SQL\n  t.text :c\nend";
    let sql = read(Sqlite, "s.rb", text).unwrap();
    assert!(
        sql.contains("'a\n  b\n' NOT NULL,") && sql.contains("\"c\" text"),
        "{sql}"
    );
    check("1_000", "'1000'");
    check(":word", "'word'");
    check("nil", "NULL");
}

#[test]
fn defaults_follow_the_type() {
    let check = |product, column: &str, expected: &str| {
        check_table(product, "[7.2]", column, &[expected]);
    };
    check(
        Postgres,
        "t.boolean :a, default: true",
        "\"a\" boolean DEFAULT TRUE",
    );
    check(
        Sqlite,
        "t.boolean :a, default: \"f\"",
        "\"a\" boolean DEFAULT 0",
    );
    check(
        Postgres,
        "t.decimal :a, precision: 3, default: \"0.5\"",
        "\"a\" decimal(3) DEFAULT 0.5",
    );
    check(
        Postgres,
        "t.jsonb :a, default: { \"k\" => [1, nil, { b: \"<\" }] }",
        r#""a" jsonb DEFAULT '{"k":[1,null,{"b":"\u003c"}]}'"#,
    );
    check(
        Postgres,
        "t.text :a, array: true, default: [\"x y\", nil, \"null\", \"\"]",
        r#""a" text[] DEFAULT '{"x y",NULL,"null",""}'"#,
    );
    check(
        Sqlite,
        "t.text :a, default: -> { \"hex(1)\" }",
        "\"a\" text DEFAULT (hex(1))",
    );
    check(
        Mysql,
        "t.string :a, default: \"\\\\\"",
        r"`a` varchar(255) DEFAULT '\\'",
    );
    check(
        Mysql,
        "t.timestamp :a, default: -> { \"CURRENT_TIMESTAMP(6)\" }, null: false",
        "`a` timestamp(6) DEFAULT CURRENT_TIMESTAMP(6) NOT NULL",
    );
    check(MariaDb, "t.timestamp :a", "`a` timestamp NULL");
}

#[test]
fn what_is_not_literal_is_refused_where_it_stands() {
    let refused = |body: &str, place: &str, message: &str| {
        let text = format!("ActiveRecord::Schema[7.2].define do\n{body}\nend");
        let error = read(Postgres, "s.rb", &text).unwrap_err();
        assert_eq!(format!("{}:{}", error.line, error.column), place, "{error}");
        assert!(error.message.contains(message), "{error}");
    };
    let needs = "nothing is run";
    refused("x = 1", "2:3", needs);
    refused("create_table \"a#{1}\" do |t|\nend", "2:16", needs);
    refused("create_table \"a\" if true", "2:18", needs);
    refused("create_table Foo", "2:14", needs);
    refused("create_table \"a\", comment: \"b\".upcase", "2:31", needs);
    refused(
        "create_table \"a\" do |t|\n  t.string \"b\", default: Time.now\nend",
        "3:26",
        needs,
    );
    refused(
        "create_table \"a\" do |t|\n  t.string \"b\", default: -> { foo }\nend",
        "3:31",
        needs,
    );
    refused(
        "create_table \"a\" do |t|\n  t.string \"b\", sized: 3\nend",
        "3:17",
        "`sized:`",
    );
    refused("create_table \"a\", tablespace: 3", "2:19", "`tablespace:`");
    refused(
        "create_table \"a\" do |t|\n  t.integer \"b\", limit: 9\nend",
        "3:3",
        "9 bytes",
    );
    refused(
        "create_table \"a\" do |t|\n  u.string \"b\"\nend",
        "3:3",
        "block's own table",
    );
    refused(
        "create_table \"a\" do |t|\n  t.check_constraint \"(1\"\nend",
        "3:22",
        "do not match",
    );
    refused("drop_table \"a\"", "2:1", "`drop_table`");
    refused("create_table \"a\" do |t|", "3:4", "before `end`");
    refused("create_table \"a", "2:14", "no end");
    refused(
        "add_foreign_key \"a\", \"b\", on_delete: :never",
        "2:38",
        ":cascade",
    );
    refused(
        "execute(\"SELECT 1\") { |c| c }",
        "2:1",
        "leave the block out",
    );
    refused("require \"other\"", "2:1", "there is no other");
}

#[test]
fn views_and_functions_of_scenic_and_fx_are_read() {
    check(
        Postgres,
        "ActiveRecord::Schema[7.0].define do\n  create_view \"v\", sql_definition: <<-SQL\n      SELECT 1;\n  SQL\n  create_view \"m\", materialized: true, sql_definition: <<-SQL\n      SELECT 2;\n  SQL\n  create_function :f, sql_definition: <<-'SQL'\n      CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'\n  SQL\nend",
        &[
            "CREATE VIEW \"v\" AS SELECT 1;",
            "CREATE MATERIALIZED VIEW \"m\" AS SELECT 2;",
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';",
        ],
    );
}

#[test]
fn sql_stands_on_the_lines_of_its_ruby() {
    let text = "\n\ncreate_table \"a\" do |t|\n\n  t.text \"b\"\n  # comment\n  t.index [\"b\"]\nend\n\nadd_index \"a\", \"b\", name: \"c\"\n";
    let sql = read(Postgres, "s.rb", text).unwrap();
    let line = |text: &str| {
        sql.lines()
            .position(|line| line.contains(text))
            .map(|line| line + 1)
    };
    assert_eq!(line("CREATE TABLE"), Some(3));
    assert_eq!(line("\"b\" text"), Some(5));
    assert_eq!(line("\"c\""), Some(10));
    let text = "create_table \"a\" do |t|\n  t.text \"b\"\nend\ncreate_table \"c\", id: false do |t|\n  t.text \"d\"\nend\n";
    let sql = read(Sqlite, "s.rb", text).unwrap();
    assert_eq!(sql.lines().nth(1).unwrap().trim(), "\"b\" text");
    assert_eq!(sql.lines().nth(4).unwrap().trim(), "\"d\" text");
}

#[test]
fn no_text_makes_it_panic() {
    let text = include_str!("../../../apps/blog/db/schema.rb");
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let _ = read(Mysql, "s.rb", &text[..end]);
        let _ = read(Sqlite, "s.rb", &text[end..]);
    }
    let mut random = fastrand::Rng::with_seed(25);
    let pieces = [
        "create_table",
        " ",
        "\"a\"",
        ":b",
        "do |t|",
        "end",
        "\n",
        "t.",
        "string",
        ",",
        "[",
        "]",
        "{",
        "}",
        "->",
        "<<~X",
        "#",
        "\\",
        "é",
        "'",
        "1",
        "-",
        "(",
        ")",
        "=>",
        "%w[",
        "\"\\u{",
    ];
    for _ in 0..20_000 {
        let text: String = (0..random.usize(1..20))
            .map(|_| pieces[random.usize(..pieces.len())])
            .collect();
        let _ = read(Postgres, "s.rb", &text);
    }
}

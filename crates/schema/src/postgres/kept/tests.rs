//! What is read and planned of texts alone.

use super::norm::norm;
use super::*;
use crate::ObjectKind;

#[test]
fn objects_are_told_apart() {
    for (text, kind, name) in [
        (
            "CREATE TYPE addr AS (street text)",
            ObjectKind::CompositeType,
            "public.addr",
        ),
        (
            "create type app.fr as range (subtype = float8)",
            ObjectKind::RangeType,
            "app.fr",
        ),
        (
            "CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int)",
            ObjectKind::Aggregate,
            "public.total(integer)",
        ),
        (
            "CREATE CAST (int AS text) WITH INOUT",
            ObjectKind::Cast,
            "(integer AS text)",
        ),
        (
            "CREATE OR REPLACE RULE r AS ON DELETE TO app.t DO INSTEAD NOTHING",
            ObjectKind::Rule,
            "r ON app.t",
        ),
        (
            "CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq)",
            ObjectKind::Operator,
            "public.=== (integer, integer)",
        ),
        (
            "CREATE STATISTICS IF NOT EXISTS s ON a, b FROM t",
            ObjectKind::Statistics,
            "public.s",
        ),
        (
            "CREATE EVENT TRIGGER et ON ddl_command_end EXECUTE FUNCTION f()",
            ObjectKind::EventTrigger,
            "et",
        ),
    ] {
        let steps = read(text, "public").unwrap_or_default();
        let [Step::Made(kept)] = &steps[..] else {
            panic!("{text}");
        };
        assert_eq!((kept.kind.kind, kept.name.as_str()), (kind, name));
    }
    assert!(read("CREATE TYPE mood AS ENUM ('a')", "public").is_none());
}

#[test]
fn spaces_and_case_are_no_difference() {
    assert_eq!(
        norm("CREATE  RULE r AS\n ON x ( 'A  b' )"),
        norm("create rule R as on X('A  b')")
    );
    assert_ne!(
        norm("CREATE RULE r AS ON 'a'"),
        norm("CREATE RULE r AS ON 'A'")
    );
}

#[test]
fn a_class_without_a_family_has_one_of_its_name() {
    let text = "CREATE OPERATOR CLASS c FOR TYPE int USING btree AS OPERATOR 1 <";
    let steps = read(text, "public").unwrap_or_default();
    let [Step::Made(family), Step::Made(class)] = &steps[..] else {
        panic!("{text}");
    };
    assert_eq!(family.sql, "CREATE OPERATOR FAMILY public.c USING btree");
    assert_eq!(class.name, "public.c USING btree");
    assert!(class.sql.contains(" FAMILY public.c AS "), "{}", class.sql);
}

/// The plan from one text to another; what waits begins with `--`.
fn planned(from: &str, to: &str) -> Vec<String> {
    use crate::postgres::tests::read;
    let options = crate::PlanOptions::default();
    let mut plan = crate::postgres::plan(&read(from), &read(to), &options).unwrap();
    plan.hold_back(&crate::Allowed::default());
    plan.statements.iter().map(crate::Statement::line).collect()
}

#[test]
fn a_label_changes_and_goes_with_a_yes_only() {
    let table = "CREATE TABLE t (a int);";
    let labelled =
        |label: &str| format!("{table} SECURITY LABEL FOR selinux ON TABLE public.t IS '{label}';");
    let head = "SECURITY LABEL FOR selinux ON TABLE public.t IS";
    assert_eq!(planned(table, &labelled("a")), [format!("{head} 'a'")]);
    assert_eq!(
        planned(&labelled("a"), &labelled("b")),
        [format!("-- {head} 'b'")]
    );
    assert_eq!(planned(&labelled("a"), table), [format!("-- {head} NULL")]);
    assert_eq!(planned(&labelled("a"), &labelled("a")), [""; 0]);
}

#[test]
fn a_password_that_no_export_has_is_no_difference() {
    let server = "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;";
    let mapping = |options: &str| {
        format!("{server} CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS ({options});")
    };
    let with = mapping("\"user\" 'a', password 'b'");
    assert_eq!(planned(&mapping("\"user\" 'a'"), &with), [""; 0]);
    let subscription = |connection: &str| {
        format!(
            "CREATE SUBSCRIPTION s CONNECTION '{connection}' PUBLICATION p WITH (connect = false);"
        )
    };
    for (with, without) in [
        ("host=a password=b port=1", "host=a port=1"),
        ("password=''b c'' host=a", "host=a"),
        ("postgres://me:b@h/d", "postgres://me@h/d"),
    ] {
        let planned = planned(&subscription(without), &subscription(with));
        assert_eq!(planned, [""; 0], "{with}");
    }
}

#[test]
fn a_base_type_is_announced_before_its_functions_and_made_after_them() {
    let text = "CREATE TYPE n; CREATE FUNCTION n_in(cstring) RETURNS n LANGUAGE internal AS 'int4in'; \
         CREATE FUNCTION n_out(n) RETURNS cstring LANGUAGE internal AS 'int4out'; \
         CREATE TYPE n (INPUT = n_in, OUTPUT = n_out); CREATE TABLE t (a n);";
    let made = planned("", text);
    let starts: Vec<&str> = made.iter().map(|sql| &sql[..15]).collect();
    assert_eq!(
        starts,
        [
            "CREATE TYPE pub",
            "CREATE OR REPLA",
            "CREATE OR REPLA",
            "CREATE TYPE n (",
            "CREATE TABLE pu"
        ]
    );
    let dropped = planned(text, "");
    let expected = ["-- DROP TABLE public.t", "-- DROP TYPE public.n CASCADE"];
    assert_eq!(dropped, expected);
}

#[test]
fn a_language_without_a_handler_is_an_extension() {
    let text = "CREATE OR REPLACE PROCEDURAL LANGUAGE plpgsql; CREATE TRUSTED LANGUAGE plperl; \
         CREATE LANGUAGE own HANDLER plpgsql_call_handler;";
    let made = planned("", text);
    let expected = [
        "CREATE EXTENSION plperl",
        "CREATE LANGUAGE own HANDLER plpgsql_call_handler",
    ];
    assert_eq!(made, expected);
}

#[test]
fn a_type_without_a_schema_is_the_same_in_casts_operators_and_aggregates() {
    let text = |qualified: &str| {
        format!(
            "CREATE TYPE coin AS (x int); CREATE FUNCTION worth({qualified}coin) RETURNS int LANGUAGE sql AS 'SELECT 1'; \
             CREATE CAST ({qualified}coin AS int) WITH FUNCTION worth(coin); \
             CREATE OPERATOR === (LEFTARG = {qualified}coin, RIGHTARG = {qualified}coin, FUNCTION = worth); \
             CREATE AGGREGATE total({qualified}coin) (SFUNC = worth, STYPE = int);"
        )
    };
    // What the server says of each is compared by the same identity.
    let names = |text: &str| -> Vec<String> {
        let made = planned(text, "").into_iter();
        let mut made: Vec<String> = made.filter(|sql| !sql.contains("DROP FUNCTION")).collect();
        made.sort();
        made
    };
    assert_eq!(names(&text("")), names(&text("public.")));
    assert!(names(&text("")).contains(&"-- DROP CAST (public.coin AS integer)".to_owned()));
}

#[test]
fn a_copied_configuration_has_the_mapping_that_is_altered() {
    let text = "CREATE TEXT SEARCH CONFIGURATION own (COPY = simple); \
         ALTER TEXT SEARCH CONFIGURATION own ALTER MAPPING FOR asciiword WITH simple;";
    let expected =
        "ALTER TEXT SEARCH CONFIGURATION public.own ALTER MAPPING FOR asciiword WITH simple";
    assert_eq!(planned("", text)[1], expected);
    let added = text.replace("ALTER MAPPING", "ADD MAPPING");
    assert!(planned(&added, text).is_empty());
}

#[test]
fn a_copied_configuration_is_compared_when_the_server_was_asked() {
    let read = |text: &str| {
        let source = crate::Source {
            name: "s.sql".to_owned(),
            text: text.to_owned(),
        };
        let server = crate::Server::unknown(crate::Product::Postgres);
        crate::read(&[source], &server).unwrap().schema
    };
    let made = |mapped: &str| {
        format!(
            "CREATE TEXT SEARCH CONFIGURATION own (PARSER = pg_catalog.\"default\"); \
             ALTER TEXT SEARCH CONFIGURATION own ADD MAPPING FOR asciiword WITH {mapped};"
        )
    };
    let mut wanted = read("CREATE TEXT SEARCH CONFIGURATION own (COPY = simple)");
    wanted.adopt(&read(&made("simple")));
    let plan = |from: &str| -> Vec<String> {
        let plan = crate::plan(&read(from), &wanted, &crate::PlanOptions::default()).unwrap();
        plan.statements.into_iter().map(|each| each.sql).collect()
    };
    assert!(plan(&made("simple")).is_empty());
    let expected =
        "ALTER TEXT SEARCH CONFIGURATION public.own ALTER MAPPING FOR asciiword WITH simple";
    assert_eq!(plan(&made("words")), [expected]);
}

#[test]
fn a_recreated_column_keeps_its_comment() {
    let with = |kind: &str| {
        format!(
            "CREATE TABLE t (a {kind}, b int GENERATED ALWAYS AS (a * 2) STORED);
             COMMENT ON COLUMN t.b IS 'twice';"
        )
    };
    let steps = planned(&with("int"), &with("bigint"));
    let is_comment = |sql: &&String| sql.contains("COMMENT ON COLUMN") && sql.contains("'twice'");
    assert_eq!(steps.iter().filter(is_comment).count(), 1, "{steps:?}");
    assert_eq!(planned(&with("int"), &with("int")), [""; 0]);
}

#[test]
fn a_column_that_is_computed_no_longer_loses_its_values_with_a_yes_only() {
    let computed =
        |how: &str| format!("CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a * 2) {how});");
    let plain = "CREATE TABLE t (a int, b int);";
    let remade = [
        "-- ALTER TABLE public.t DROP COLUMN b",
        "-- ALTER TABLE public.t ADD COLUMN b integer",
    ];
    assert_eq!(planned(&computed("VIRTUAL"), plain), remade);
    // The server keeps what it has stored.
    let kept = ["ALTER TABLE public.t ALTER COLUMN b DROP EXPRESSION"];
    assert_eq!(planned(&computed("STORED"), plain), kept);
}

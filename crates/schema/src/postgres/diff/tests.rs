//! The differences of two texts as values.

use super::*;
use crate::postgres::tests::read;

fn compare(from: &str, to: &str, check: impl FnOnce(&SchemaDiff<'_>)) {
    let (from, to) = (read(from), read(to));
    let sides = Sides {
        from: &from,
        to: &to,
        stored: None,
        same: Same {
            default_schema: &to.default_schema,
        },
    };
    check(&SchemaDiff::of(&sides, &[]));
}

/// Checks the columns of the only changed table, a letter each: added, changed or remade.
fn columns(from: &str, to: &str, expected: &[(&str, char)], retyped: &[&str]) {
    compare(from, to, |diff| {
        let [TableDiff { step, .. }] = diff.tables.as_slice() else {
            panic!("{} tables", diff.tables.len());
        };
        let TableStep::Alter(change) = step else {
            panic!("not altered");
        };
        let steps = change.columns.iter().map(|step| match step {
            ColumnStep::Add(to) => (to.name.as_str(), 'a'),
            ColumnStep::Change { to, .. } => (to.name.as_str(), 'c'),
            ColumnStep::Remake { to, .. } => (to.name.as_str(), 'r'),
        });
        assert_eq!(steps.collect::<Vec<_>>(), expected, "{from} to {to}");
        assert_eq!(change.retyped, retyped, "{from} to {to}");
    });
}

#[test]
fn what_is_stored_alike_is_no_difference() {
    let from = "CREATE TYPE mood AS ENUM ('a'); CREATE SEQUENCE s; CREATE TABLE t (a int DEFAULT 1); \
                CREATE VIEW v AS SELECT a FROM t WHERE a IN (1, 2);";
    let to = "CREATE TYPE mood AS ENUM ('a'); CREATE SEQUENCE s; CREATE TABLE t (a int DEFAULT 1); \
              CREATE VIEW v AS SELECT t.a FROM t WHERE (a = ANY (ARRAY[1, 2]));";
    compare(from, to, |diff| {
        assert!(diff.types.is_empty() && diff.sequences.is_empty() && diff.functions.is_empty());
        assert!(diff.tables.is_empty() && diff.kept.is_empty());
        assert!(diff.remade_functions.is_empty());
        assert_eq!(diff.views.len(), 0);
    });
}

#[test]
fn a_column_computed_from_a_changing_one_is_remade() {
    let computed = "c int GENERATED ALWAYS AS (a * 2) STORED";
    let from = format!("CREATE TABLE t (a int, b int, {computed});");
    columns(
        &from,
        &format!("CREATE TABLE t (a bigint, {computed}, d text);"),
        &[("a", 'c'), ("c", 'r'), ("d", 'a')],
        &["a"],
    );
    columns(
        &from,
        &format!("CREATE TABLE t (a int, b bigint, {computed});"),
        &[("a", 'c'), ("b", 'c'), ("c", 'c')],
        &["b"],
    );
    columns(
        "CREATE TABLE t (a int, c int);",
        &format!("CREATE TABLE t (a int, {computed});"),
        &[("a", 'c'), ("c", 'r')],
        &[],
    );
}

#[test]
fn a_table_divided_in_another_way_is_recreated() {
    let from = "CREATE TABLE t (a int, b int) PARTITION BY RANGE (a);";
    let to = "CREATE TABLE t (a int, b int) PARTITION BY RANGE (b); CREATE TABLE u (a int);";
    compare(from, to, |diff| {
        let steps = diff.tables.iter().map(|table| match &table.step {
            TableStep::Create => ("create", table.to.name.name.as_str()),
            TableStep::Recreate(from) => ("recreate", from.name.name.as_str()),
            TableStep::Alter(change) => ("alter", change.from.name.name.as_str()),
        });
        let steps: Vec<(&str, &str)> = steps.collect();
        assert_eq!(steps, [("recreate", "t"), ("create", "u")]);
    });
}

#[test]
fn a_view_with_the_old_columns_first_is_replaced() {
    let table = "CREATE TABLE t (a int, b int);";
    let view =
        |name: &str, columns: &str| format!("CREATE VIEW {name} AS SELECT {columns} FROM t;");
    let from = [view("v1", "a"), view("v2", "a"), view("v3", "a")].concat();
    let to = [
        view("v1", "a"),
        view("v2", "a, b"),
        view("v3", "b"),
        view("v4", "a"),
    ]
    .concat();
    compare(
        &format!("{table} {from}"),
        &format!("{table} {to}"),
        |diff| {
            let steps = diff.views.iter();
            let mut steps: Vec<_> = steps
                .map(|(name, step)| (name.name.as_str(), *step))
                .collect();
            steps.sort_unstable_by_key(|(name, _)| *name);
            assert_eq!(
                steps,
                [
                    ("v2", ViewStep::Replace),
                    ("v3", ViewStep::Recreate),
                    ("v4", ViewStep::Create)
                ]
            );
        },
    );
}

#[test]
fn a_function_with_another_result_is_remade_and_every_table_compared() {
    let text = |result: &str| {
        format!(
            "CREATE FUNCTION f() RETURNS {result} LANGUAGE sql AS 'SELECT 1'; CREATE TABLE t (a int);"
        )
    };
    compare(&text("int"), &text("int"), |diff| {
        assert!(diff.remade_functions.is_empty() && diff.tables.is_empty());
    });
    compare(&text("int"), &text("bigint"), |diff| {
        let remade = diff.remade_functions.iter().map(|key| key.0.name.as_str());
        assert_eq!(remade.collect::<Vec<_>>(), ["f"]);
        assert_eq!((diff.functions.len(), diff.tables.len()), (1, 1));
    });
}

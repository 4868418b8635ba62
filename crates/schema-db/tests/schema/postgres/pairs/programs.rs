//! Routines, aggregates, types without rows, and what reacts to changes of rows.

use fastrand::Rng;

/// One of the texts.
fn one<'a>(random: &mut Rng, texts: &[&'a str]) -> &'a str {
    texts[random.usize(..texts.len())]
}

/// What needs no table. The functions of triggers are always there.
pub(super) fn before(random: &mut Rng) -> Vec<String> {
    let mut made = vec![format!(
        "CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN {}RETURN NEW; END'",
        one(random, &["", "PERFORM 1; "])
    )];
    made.push(format!(
        "CREATE DOMAIN small AS {}{}",
        one(random, &["integer", "bigint"]),
        one(
            random,
            &[
                "",
                " DEFAULT 1",
                " CHECK (VALUE > -5)",
                " CONSTRAINT low CHECK (VALUE < 1000)",
            ],
        )
    ));
    if random.bool() {
        let part = one(random, &["x integer", "x bigint", "x integer, y text"]);
        made.push(format!("CREATE TYPE spot AS ({part})"));
    }
    if random.bool() {
        let argument = one(random, &["n integer", "m integer", "n bigint", ""]);
        let body = one(
            random,
            &[
                "LANGUAGE sql AS 'SELECT 1'",
                "LANGUAGE plpgsql AS 'BEGIN NULL; END'",
                "LANGUAGE sql BEGIN ATOMIC SELECT 2; END",
            ],
        );
        made.push(format!("CREATE PROCEDURE act({argument}) {body}"));
    }
    if random.bool() {
        let start = one(random, &["", ", INITCOND = '0'", ", INITCOND = '5'"]);
        let how = one(random, &["SFUNC = int4pl", "SFUNC = int4larger"]);
        made.push(format!(
            "CREATE AGGREGATE total(integer) ({how}, STYPE = integer{start})"
        ));
    }
    made
}

/// Rules, triggers and statistics on a column of a table; `plain` is the table's name within
/// others.
pub(super) fn around(random: &mut Rng, table: &str, plain: &str, column: &str) -> Vec<String> {
    let event = one(random, &["UPDATE", "DELETE"]);
    let also = one(random, &["NOTHING", "ALSO SELECT 1", "INSTEAD NOTHING"]);
    let when = one(random, &["BEFORE", "AFTER"]);
    let kinds = one(random, &["", " (ndistinct)", " (dependencies, ndistinct)"]);
    let changed = format!("NEW.{column} IS DISTINCT FROM OLD.{column}");
    [
        format!(
            "CREATE RULE {plain}_rule AS ON {event} TO {table} WHERE OLD.{column} IS NULL DO {also}"
        ),
        format!(
            "CREATE TRIGGER {plain}_seen {when} UPDATE OF {column} ON {table} FOR EACH ROW WHEN ({changed}) EXECUTE FUNCTION noted()"
        ),
        format!("CREATE STATISTICS {plain}_both{kinds} ON id, {column} FROM {table}"),
    ]
    .into_iter()
    .filter(|_| random.u8(..4) == 0)
    .collect()
}

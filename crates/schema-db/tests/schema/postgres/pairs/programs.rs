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
    made.extend(rights_of_programs(random));
    made
}

/// Owners and privileges of what [`before`] makes, and of the enum. An owner that no statement
/// names stays whoever it is, so that each is named.
fn rights_of_programs(random: &mut Rng) -> Vec<String> {
    const OWNED: [&str; 3] = ["FUNCTION noted()", "DOMAIN small", "TYPE kind"];
    const RIGHTS: [&str; 3] = [
        "REVOKE ALL ON FUNCTION noted() FROM PUBLIC",
        "GRANT EXECUTE ON FUNCTION noted() TO user3 WITH GRANT OPTION",
        "GRANT USAGE ON TYPE kind TO user3",
    ];
    let owner = |object: &&str| format!("ALTER {object} OWNER TO {}", one(random, &OWNERS));
    let mut made: Vec<String> = OWNED.iter().map(owner).collect();
    let rights = RIGHTS.iter().filter(|_| random.u8(..4) == 0);
    made.extend(rights.map(|sql| (*sql).to_owned()));
    made
}

/// Owners.
const OWNERS: [&str; 2] = ["user1", "user2"];

/// Owner and privileges of a table.
pub(super) fn rights(random: &mut Rng, table: &str, column: &str) -> Vec<String> {
    let owner = one(random, &OWNERS);
    let who = one(random, &["user3", "PUBLIC", "user3 WITH GRANT OPTION"]);
    let what = one(random, &["SELECT", "SELECT, INSERT", "ALL"]);
    let rights = [
        (format!("REVOKE DELETE ON {table} FROM {owner}"), 4),
        (format!("GRANT {what} ON {table} TO {who}"), 3),
        (
            format!("GRANT UPDATE ({column}) ON {table} TO readonly_user"),
            5,
        ),
    ];
    let mut made = vec![format!("ALTER TABLE {table} OWNER TO {owner}")];
    let rights = rights
        .into_iter()
        .filter(|(_, chance)| random.u8(..*chance) == 0);
    made.extend(rights.map(|(sql, _)| sql));
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

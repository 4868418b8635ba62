//! Routines, events and sequences, and the options and indexes of one product only.

use fastrand::Rng;

use super::Table;

/// One of the texts.
fn one<'a>(random: &mut Rng, texts: &[&'a str]) -> &'a str {
    texts[random.usize(..texts.len())]
}

/// Statements behind the tables; sequences are in front of the tables.
pub(super) fn programs(random: &mut Rng) -> Vec<String> {
    let argument = one(random, &["IN n int", "IN n bigint", "INOUT m int", ""]);
    let body = one(
        random,
        &[
            "SELECT 1",
            "BEGIN SET @a = 1; SET @b = 'x;y'; END",
            "COMMENT 'counts; all' SELECT count(*) FROM alpha",
        ],
    );
    let result = one(random, &["int", "bigint", "varchar(20)"]);
    let every = one(random, &["1 DAY", "'1:30' HOUR_MINUTE", "2 WEEK"]);
    let act = one(random, &["DELETE FROM alpha", "SET @tidied = 1"]);
    [
        format!("CREATE PROCEDURE act({argument}) {body}"),
        format!("CREATE FUNCTION twice(n int) RETURNS {result} DETERMINISTIC RETURN n * 2"),
        format!(
            "CREATE EVENT tidy ON SCHEDULE EVERY {every} STARTS '2031-01-01 00:00:00' DISABLE DO {act}"
        ),
    ]
    .into_iter()
    .filter(|_| random.bool())
    .collect()
}

/// Indexes, columns and options of only one of the products.
pub(super) fn of_product(random: &mut Rng, table: &mut Table, is_mariadb: bool) {
    match is_mariadb {
        true => {
            if random.u8(..6) == 0 {
                table.items.push("KEY ignored (id) IGNORED".to_owned());
            }
            let is_whole = !table.options.contains("PARTITION");
            if is_whole && random.u8(..8) == 0 {
                table.options.push_str(" WITH SYSTEM VERSIONING");
            }
        }
        false => {
            let factor = random.u8(1..3);
            if random.u8(..5) == 0 {
                let item = format!("KEY made ((`id` * {factor}), id)");
                table.items.push(item);
            }
            if random.u8(..6) == 0 {
                table.items.push("KEY unseen (id) INVISIBLE".to_owned());
            }
        }
    }
}

//! Statements and calls doing at once what a loop does one by one.

use crate::exact::Exact;
use words::{Text, text};

use super::Repeated;
use crate::associations::{self, Association};
use crate::context::Context;
use crate::query::{self, Query};
use crate::types::{Remedy, Safety};

/// Returns the remedy: reading or writing once in place of `digest` again and again.
pub(super) fn remedy(digest: &str, reads: bool, in_transactions: bool) -> Remedy {
    let query = query::read(digest);
    let column = query
        .as_ref()
        .and_then(|query| match query.equal.as_slice() {
            [column] => Some(column.name.as_str()),
            _ => None,
        });
    let text = match column {
        _ if !reads => written(digest, in_transactions),
        Some(column) if query::aggregates(digest) => {
            text!(
                "query once: {column} IN (…) with GROUP BY {column}; or keep the number in a column",
                column
            )
        }
        Some(column) if query.as_ref().is_some_and(first_rows) => {
            text!(
                "query once for the first rows of all: number the rows of each {column} \
                 (ROW_NUMBER() OVER (PARTITION BY {column} …)), or join them by LATERAL",
                column
            )
        }
        Some(column) => {
            text!(
                "collect the values first and query once, with {column} IN (…) or a JOIN",
                column
            )
        }
        None => text!("query once for all of them, with a JOIN or IN (…)"),
    };
    // A LIMIT counts the rows of one value only, of which an aggregate has one; and a GROUP BY of
    // its own has another meaning with many.
    let limited = |query: &Query| query.limited && !query::aggregates(digest);
    let plain = query
        .as_ref()
        .is_some_and(|query| !limited(query) && !query.grouped);
    let exact = column.filter(|_| reads && plain);
    Remedy {
        text,
        exact: exact
            .and_then(|column| for_all(digest, column))
            .map(Exact::Text),
        safety: Safety::Code,
    }
}

/// Returns the words for writing all rows at once.
fn written(digest: &str, in_transactions: bool) -> Text {
    let once = match query::verb(digest).as_str() {
        "UPDATE" => text!(
            "change all rows with one statement: a condition that picks them all (`update_all`, in Sequel `update`), or \
             `upsert_all` where each row gets values of its own. No validation or callback of a model runs then, and \
             `update_all` leaves updated_at as it is"
        ),
        "DELETE" => text!(
            "delete all rows with one statement, by a condition that picks them all (`delete_all`, in Sequel `delete`). \
             No callback and no `dependent:` of a model runs then"
        ),
        _ => text!(
            "write all rows with one statement (`insert_all!`, in Sequel `multi_insert`, or VALUES with several rows). \
             No validation or callback of a model runs then; `insert_all` without ! leaves out duplicates silently"
        ),
    };
    match in_transactions {
        true => text!(
            "{once}. At least use one transaction around the loop: each COMMIT waits for the disk",
            once
        ),
        false => once,
    }
}

/// Clauses behind the condition. One row needs none of them, and rows of groups can do without.
const CLAUSES_BEHIND: [&str; 5] = [" ORDER BY ", " LIMIT ", " OFFSET ", " FETCH ", " FOR "];

/// Returns the statement for all values at once; `None` when there is no plain way. The rows have
/// to name the value they belong to, or nobody could hand them out.
fn for_all(digest: &str, column: &str) -> Option<String> {
    if digest.matches(" = ?").count() != 1 {
        return None;
    }
    let (_, rest) = digest.split_once("SELECT ")?;
    let (selected, tail) = rest.split_once(" FROM ")?;
    if selected.to_ascii_uppercase().starts_with("DISTINCT") {
        return None;
    }
    // As the statement spells it, with its table and quotes.
    let spelled = tail.split(" = ?").next()?.rsplit([' ', '(']).next()?;
    let tail = tail.replace(" = ?", " IN (?)");
    if query::aggregates(digest) {
        let upper = tail.to_ascii_uppercase();
        let ends = CLAUSES_BEHIND
            .iter()
            .filter_map(|clause| upper.find(clause));
        let condition = &tail[..ends.min().unwrap_or(tail.len())];
        return Some(format!(
            "SELECT {spelled}, {selected} FROM {condition} GROUP BY {spelled}"
        ));
    }
    let named = selected
        .split([',', ' ', '.', '`', '"'])
        .any(|word| word == "*" || word.eq_ignore_ascii_case(column));
    let first = if named {
        String::new()
    } else {
        format!("{spelled}, ")
    };
    Some(format!("SELECT {first}{selected} FROM {tail}"))
}

/// Whether a statement wants the first rows in an order.
fn first_rows(query: &Query) -> bool {
    query.limited && query.ordered
}

/// Whether an association's rows loaded with their owners serve in place of the statement: all rows
/// of an owner, or their number.
fn is_loadable(digest: &str, query: &Query) -> bool {
    let counts = digest.to_ascii_uppercase().starts_with("SELECT COUNT(");
    let all = !first_rows(query) && query.range.is_empty();
    all && (counts || !query::aggregates(digest))
}

/// A statement of a loop following an association.
struct Follows<'a> {
    association: &'a Association,
    digest: &'a str,
    /// The column compared.
    column: String,
}

impl Follows<'_> {
    fn counts(&self) -> bool {
        query::aggregates(self.digest)
    }
}

fn loadable(digest: &str) -> Option<Query> {
    query::read(digest).filter(|query| is_loadable(digest, query))
}

/// Returns the statements of the loop on a route, following associations named by the app.
fn follows<'a>(
    context: &'a Context<'_>,
    found: &'a [Repeated<'_>],
    route: &str,
) -> Vec<Follows<'a>> {
    let from = context.tables_of(route);
    let on_route = found.iter().filter(|each| each.route == route);
    let followed = on_route.filter_map(|each| {
        let query = loadable(each.digest)?;
        let [column] = query.equal.as_slice() else {
            return None;
        };
        let tables = query.tables.iter().map(|table| table.name.clone());
        let tables: Vec<String> = tables.collect();
        let column = column.name.clone();
        let all = context.associations();
        Some(Follows {
            association: associations::followed(all, (&tables, &column), &from)?,
            digest: each.digest,
            column,
        })
    });
    followed.collect()
}

/// Returns the remedy in the app's object mapper, where most of the loop's reads follow
/// associations named by the app. Rows that the loop only counts are not loaded: there may be many
/// more of them than there are statements.
pub(super) fn loading(context: &Context<'_>, found: &[Repeated<'_>]) -> Option<Remedy> {
    let most = found.first().filter(|most| most.reads())?;
    loadable(most.digest)?;
    let follows = follows(context, found, most.route);
    let (counted, read): (Vec<&Follows<'_>>, Vec<&Follows<'_>>) =
        follows.iter().partition(|one| one.counts());
    let loaded: Vec<&Association> = read.iter().map(|one| one.association).collect();
    let load = associations::together(&loaded);
    let only = counted
        .iter()
        .find(|one| !loaded.contains(&one.association));
    let text = match (&load, only) {
        (None, None) => return None,
        (None, Some(only)) => text!(
            "count once for all owners, with {column} IN (…) and `{count}`, and look each number up there; or keep the \
             number in a column (in Rails `counter_cache: true`)",
            column = only.column,
            count = only.association.counting()
        ),
        (Some(load), Some(only)) => text!(
            "load them with their owners: {load}; what is only counted, count once for all owners (`{count}`), or keep the \
             number in a column (in Rails `counter_cache: true`)",
            load,
            count = only.association.counting()
        ),
        (Some(load), None) if !counted.is_empty() => text!(
            "load them with their owners: {load}, and count what is loaded with `size`; or keep the number in a column \
             (`counter_cache: true`)",
            load
        ),
        (Some(load), None) => text!("load them with their owners: {load}", load),
    };
    let counting = || only.and_then(|only| for_all(only.digest, &only.column));
    Some(Remedy {
        text,
        exact: load.clone().or_else(counting).map(Exact::Text),
        safety: Safety::Code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_for_all_values_keep_their_meaning() {
        let check = |digest: &str, expected: Option<&str>| {
            assert_eq!(sql_digest::digest(digest.as_bytes()), digest, "no digest");
            assert_eq!(
                remedy(digest, true, false).exact_text().as_deref(),
                expected
            );
        };
        check(
            "SELECT COUNT(*) AS cnt FROM message WHERE channel_id = ?",
            Some(
                "SELECT channel_id, COUNT(*) AS cnt FROM message WHERE channel_id IN (?) GROUP BY channel_id",
            ),
        );
        check(
            "SELECT name, icon FROM users WHERE id = ?",
            Some("SELECT id, name, icon FROM users WHERE id IN (?)"),
        );
        check(
            "SELECT id, name FROM users WHERE id = ?",
            Some("SELECT id, name FROM users WHERE id IN (?)"),
        );
        check(
            "SELECT * FROM users WHERE id = ?",
            Some("SELECT * FROM users WHERE id IN (?)"),
        );
        check(
            "SELECT `u`.* FROM `users` `u` WHERE `u`.`id` = ?",
            Some("SELECT `u`.* FROM `users` `u` WHERE `u`.`id` IN (?)"),
        );
        check(
            "SELECT m.a FROM m JOIN u ON m.x = u.y WHERE u.`key` = ?",
            Some("SELECT u.`key`, m.a FROM m JOIN u ON m.x = u.y WHERE u.`key` IN (?)"),
        );
        check("SELECT DISTINCT a FROM t WHERE b = ?", None);
        check("SELECT * FROM users WHERE id = ? AND team = ?", None);
        check("SELECT * FROM users WHERE id > ?", None);
        check(
            "SELECT * FROM message WHERE user_id = ? ORDER BY id LIMIT ?",
            None,
        );
        check("SELECT COUNT(*) FROM a WHERE b = ? GROUP BY c", None);
        // An order and a limit of one row say nothing, and cannot stand before GROUP BY.
        check(
            "SELECT COUNT(*) FROM a WHERE b = ? ORDER BY c",
            Some("SELECT b, COUNT(*) FROM a WHERE b IN (?) GROUP BY b"),
        );
        check(
            r#"SELECT count(*) AS "count" FROM "a" WHERE ("a"."b" = ?) LIMIT ?"#,
            Some(
                r#"SELECT "a"."b", count(*) AS "count" FROM "a" WHERE ("a"."b" IN (?)) GROUP BY "a"."b""#,
            ),
        );
    }
}

//! Sentences on a missing index, and the statement adding one.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::exact::Exact;
use breakdown::SqlSummary;
use database::Kind;
use figures::numbers;
use words::{Text, text};

use super::migration::Migration;
use super::{Reads, Wanted};
use crate::app;
use crate::context::Context;
use crate::demand::Demand;
use crate::text::{fit, ms, place};
use crate::types::{Confidence, Remedy, Safety};

/// Returns the sentence on a table read from end to end.
pub(in crate::rules) fn from_end_to_end() -> Text {
    text!("reads it from end to end")
}

/// Returns the evidence of a plan.
pub(in crate::rules) fn plan(table: &str, how: Text) -> Text {
    text!("the database's plan for {table} {how}", table, how)
}

/// Returns the evidence of a statement: executions, time of each, place and text.
pub(in crate::rules) fn executions(sql: &SqlSummary) -> Text {
    text!(
        "{count} × {each} at {line}: {digest}",
        count = numbers::count(sql.count),
        each = ms(sql.each_ms()),
        line = place(sql.called_from.first().map(String::as_str)),
        digest = fit(&sql.digest, 160)
    )
}

/// Returns the sentence on the gain where all but the returned rows are left unread.
pub(in crate::rules) fn unread(gain: Text, saved: &Demand) -> Text {
    text!(
        "{gain}: −{saved} in all, spent on rows that are never returned",
        gain,
        saved = ms(saved.sum())
    )
}

/// Sentences on a plan's way to read rows.
pub(super) struct Told {
    pub(super) how: Text,
    pub(super) read: Text,
    pub(super) why: Text,
}

impl Told {
    pub(super) fn of(wanted: &Wanted<'_>) -> Told {
        let rows = || {
            text!(
                "{rows} rows read each time",
                rows = numbers::count(wanted.table_rows)
            )
        };
        let why = || text!("every row is read to find a few, and the time grows with the table");
        match wanted.reads {
            Reads::All => Told {
                how: from_end_to_end(),
                read: rows(),
                why: match wanted.confidence() {
                    Confidence::High => why(),
                    _ => text!(
                        "every row is read, though the result may need few of them, and the time grows with the table"
                    ),
                },
            },
            Reads::Range => Told {
                how: text!("walks an index along a range"),
                read: rows(),
                why: why(),
            },
            Reads::Order => Told {
                how: text!(
                    "walks an index in the order of the result until it has found enough rows"
                ),
                read: text!("rows are searched in order"),
                why: text!(
                    "other rows are read until enough of the wanted ones are found: the rarer those are, the longer it takes"
                ),
            },
            Reads::Part => {
                let name = wanted.used.map_or("", |index| &index.name);
                let columns = wanted
                    .used
                    .map_or(String::new(), |index| index.columns.join(", "));
                Told {
                    how: text!("uses {name}, which holds {columns} only", name, columns),
                    read: text!("{name} holds {columns} only", name, columns),
                    why: text!(
                        "all rows that the index finds are read and then searched or sorted for the few that are wanted"
                    ),
                }
            }
        }
    }
}

/// Returns the statement adding the index, built beside the database's work if possible, and the
/// app's way to write the same.
pub(super) fn remedy(context: &Context<'_>, table: &str, columns: &[&str]) -> Remedy {
    let database = context.database_kind();
    let postgres = database == Some(Kind::Postgres);
    let backticks = database == Some(Kind::Mysql);
    let quote = |name: &str| quoted(name, if backticks { '`' } else { '"' });
    let name = index_name(table, columns);
    let listed: Vec<String> = columns.iter().map(|column| quote(column)).collect();
    let (how, side) = if postgres {
        (
            "INDEX CONCURRENTLY",
            text!("built without blocking writes, but outside of a transaction"),
        )
    } else if backticks {
        (
            "INDEX",
            text!("InnoDB builds it while writes go on; TEXT and BLOB columns need a length"),
        )
    } else {
        ("INDEX", text!("they wait while it is built"))
    };
    let exact = format!(
        "CREATE {how} {} ON {} ({})",
        quote(&name),
        quote(table),
        listed.join(", ")
    );
    let migration =
        app::mapper(context).map(|mapper| Migration::of(mapper, (table, columns), &name, postgres));
    Remedy {
        text: add(migration.as_ref(), table, side),
        exact: Some(Exact::Index(exact)),
        safety: Safety::Careful,
    }
}

/// Returns the sentence on adding the index, by a migration where the app has migrations.
fn add(migration: Option<&Migration>, table: &str, side: Text) -> Text {
    let Some(migration) = migration else {
        return text!(
            "add the index; writes to {table} cost a little more ({side})",
            table,
            side
        );
    };
    let line = &migration.line;
    match migration.without_transaction {
        Some(beside) => text!(
            "add the index, in a migration with `{beside}`: `{line}`; writes to {table} cost a little more ({side})",
            beside,
            line,
            table,
            side
        ),
        None => text!(
            "add the index, in a migration: `{line}`; writes to {table} cost a little more ({side})",
            line,
            table,
            side
        ),
    }
}

/// Bytes of the longest name of an index: PostgreSQL cuts longer ones, MySQL and MariaDB refuse
/// longer ones.
const NAME_BYTES_MAX: usize = 63;

/// Returns the name of an index, of its table and columns; a long one ends in a hash of the whole.
fn index_name(table: &str, columns: &[&str]) -> String {
    let mut name = format!("{table}_{}", columns.join("_"));
    if name.len() > NAME_BYTES_MAX {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let ending = format!("_{:08x}", hasher.finish() as u32);
        name.truncate(name.floor_char_boundary(NAME_BYTES_MAX - ending.len()));
        name += &ending;
    }
    name
}

/// Words reserved by PostgreSQL, MySQL, MariaDB or SQLite, and likely as names too.
const KEYWORDS: &str = "all analyze and any array as asc between both by call case cast change check collate column \
    condition constraint convert create cross cube current_date current_time current_timestamp current_user cursor \
    database databases default delayed delete desc describe distinct div do drop dual each else empty end escape \
    except exists exit explain false fetch float for force foreign from full fulltext function generated get grant \
    group grouping groups having if ignore in index infile initially inner insert int integer intersect interval into \
    is join key keys kill lag lateral lead leading leave left like limit linear lines load lock long loop master match \
    member mod natural not null numeric of offset on only optimize option or order out outer over overlaps partition \
    placing precision primary procedure purge range rank read reads real recursive references regexp release rename \
    repeat replace require resignal restrict return returning revoke right row rows schema schemas select sensitive \
    separator session_user set show signal similar some spatial specific sql starting symmetric system table \
    terminated then to trailing transaction trigger true undo union unique unlock unsigned update usage use user using \
    values varying verbose virtual when where while window with write xor zerofill";

/// Returns a name with quotes if needed: plain names need none, possible keywords get quotes.
fn quoted(name: &str, quote: char) -> String {
    let is_keyword = KEYWORDS.split(' ').any(|word| word == name);
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !is_keyword;
    if plain {
        name.to_owned()
    } else {
        let doubled = name.replace(quote, &format!("{quote}{quote}"));
        format!("{quote}{doubled}{quote}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_to_what_all_servers_take() {
        assert_eq!(
            index_name("orders", &["shop_id", "id"]),
            "orders_shop_id_id"
        );
        let table = "subscription_billing_period_adjustments";
        let long = index_name(table, &["billing_account_id", "created_at"]);
        assert_eq!(long.len(), NAME_BYTES_MAX, "{long}");
        assert!(
            long.starts_with("subscription_billing_period_adjustments_billing_accoun"),
            "{long}"
        );
        let other = index_name(table, &["billing_account_id", "updated_at"]);
        assert_ne!(long, other);
        let wide = index_name(&"ä".repeat(40), &["a"]);
        assert!(wide.len() <= NAME_BYTES_MAX, "{wide}");
    }

    #[test]
    fn words_reserved_by_one_of_the_servers_are_quoted() {
        let check = |name: &str, expected: &str| assert_eq!(quoted(name, '"'), expected);
        for name in [
            "read", "groups", "rows", "end", "limit", "desc", "default", "all",
        ] {
            check(name, &format!("\"{name}\""));
        }
        check("state", "state");
        check("user_id", "user_id");
        check("Name", "\"Name\"");
    }
}

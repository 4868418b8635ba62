//! Sentences on a missing index, and the statement adding one.

use crate::exact::Exact;
use breakdown::SqlSummary;
use database::Kind;
use figures::numbers;
use words::{Text, text};

use super::{Reads, Wanted};
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

/// Returns the statement adding the index, built beside the database's work if possible.
pub(super) fn remedy(database: Option<Kind>, table: &str, columns: &[&str]) -> Remedy {
    let postgres = database == Some(Kind::Postgres);
    let backticks = database == Some(Kind::Mysql);
    let quote = |name: &str| quoted(name, if backticks { '`' } else { '"' });
    let name = quote(&format!("{table}_{}", columns.join("_")));
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
        "CREATE {how} {name} ON {} ({})",
        quote(table),
        listed.join(", ")
    );
    Remedy {
        text: text!(
            "add the index; writes to {table} cost a little more ({side})",
            table,
            side
        ),
        exact: Some(Exact::Index(exact)),
        safety: Safety::Careful,
    }
}

/// Returns a name with quotes if needed: plain names need none, possible keywords get quotes.
fn quoted(name: &str, quote: char) -> String {
    const KEYWORDS: [&str; 12] = [
        "group",
        "order",
        "key",
        "user",
        "index",
        "table",
        "rank",
        "condition",
        "option",
        "range",
        "to",
        "from",
    ];
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !KEYWORDS.contains(&name);
    if plain {
        name.to_owned()
    } else {
        let doubled = name.replace(quote, &format!("{quote}{quote}"));
        format!("{quote}{doubled}{quote}")
    }
}

//! The updates of one row in one request, and the cost of all but one.

use std::collections::{BTreeMap, BTreeSet};

use recording::{Handled, SqlUse, TextId};

use crate::context::Context;
use crate::query;

/// The common parts of two updates of one row, the table and the condition: SET and values differ.
pub(super) type Row<'a> = (&'a str, &'a str);

/// The part of updates going away where one of several is left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Needless {
    /// Time in the driver without waits for the GVL, milliseconds.
    pub(super) ms: f64,
    /// Executions of statements.
    pub(super) calls: f64,
}

impl Needless {
    /// Returns the part of one update, of so many of the row in the request: the same part of each,
    /// with a transaction around the update alone.
    pub(super) fn of(
        context: &Context<'_>,
        handled: &Handled,
        update: &SqlUse,
        updates: usize,
    ) -> Needless {
        let share = 1.0 - 1.0 / updates as f64;
        let around = around(context, handled, update.site);
        Needless {
            ms: share * (time_ms(update) + around.ms),
            calls: share * (1.0 + around.calls),
        }
    }

    pub(super) fn add(&mut self, more: &Needless) {
        self.ms += more.ms;
        self.calls += more.calls;
    }
}

/// Returns the updates of each row in a request: by one key each, and not again and again, which is
/// a loop.
pub(super) fn updates<'a>(
    context: &Context<'a>,
    handled: &'a Handled,
) -> BTreeMap<Row<'a>, Vec<&'a SqlUse>> {
    let mut rows: BTreeMap<Row<'a>, Vec<&SqlUse>> = BTreeMap::new();
    for used in &handled.sql {
        let digest = context.text(used.digest);
        if query::verb(digest) == "UPDATE"
            && let Some((_, condition)) = digest.split_once(" WHERE ")
            && is_by_key(condition)
            && used.count == 1
        {
            let row = (table(digest), condition);
            rows.entry(row).or_default().push(used);
        }
    }
    rows
}

/// Whether a condition ends with a comparison for equality, and leads to one row. Sequel writes
/// brackets around each comparison and around all, and a LIMIT for MySQL.
fn is_by_key(condition: &str) -> bool {
    let mut bare = condition.strip_suffix(" LIMIT ?").unwrap_or(condition);
    while let Some(inner) = bare.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        bare = inner;
    }
    bare.ends_with(" = ?") && !bare.contains(" OR ")
}

/// Columns with the time of the last change, set by every update of an object mapper.
const TIMES: [&str; 2] = ["updated_at", "updated_on"];

/// Whether updates set different columns. Those of the same columns are of different rows, as the
/// two of a transfer between accounts: the second would undo the first.
pub(super) fn set_different_columns<'a>(digests: impl Iterator<Item = &'a str>) -> bool {
    let kinds: BTreeSet<BTreeSet<&str>> = digests.map(columns).collect();
    kinds.len() > 1
}

/// Returns the columns set by an update, without the times of the last change.
fn columns(digest: &str) -> BTreeSet<&str> {
    let set = digest.split_once(" SET ").map_or("", |(_, set)| set);
    let set = set.split(" WHERE ").next().unwrap_or(set);
    let names = set.split(", ").filter_map(|one| one.split_once(" = "));
    let names = names.filter_map(|(column, _)| column.rsplit('.').next());
    names
        .map(|name| name.trim_matches(['"', '`']))
        .filter(|name| !TIMES.contains(name))
        .collect()
}

/// Returns the words before SET.
fn table(digest: &str) -> &str {
    digest.split(" SET ").next().unwrap_or(digest)
}

/// Returns the transaction around each write of a line: an object mapper saves each change in a
/// new one. Nothing where the line's writes share one, or are in another line's.
fn around(context: &Context<'_>, handled: &Handled, site: TextId) -> Needless {
    let (mut writes, mut begun, mut ended, mut ms) = (0, 0, 0, 0.0);
    for used in handled.sql.iter().filter(|used| used.site == site) {
        match query::verb(context.text(used.digest)).as_str() {
            "INSERT" | "UPDATE" | "DELETE" | "REPLACE" => writes += used.count,
            "BEGIN" | "START" => {
                begun += used.count;
                ms += time_ms(used);
            }
            "COMMIT" => {
                ended += used.count;
                ms += time_ms(used);
            }
            _ => {}
        }
    }
    match writes > 0 && begun == writes && ended == writes {
        true => Needless {
            ms: ms / f64::from(writes),
            calls: 2.0,
        },
        false => Needless::default(),
    }
}

fn time_ms(used: &SqlUse) -> f64 {
    (used.time - used.gvl_wait).as_millis_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_is_picked_in_the_words_of_each_mapper() {
        let check = |condition: &str, expected: bool| {
            assert_eq!(is_by_key(condition), expected, "{condition}");
        };
        check("id = ?", true);
        check(r#""users"."id" = ?"#, true);
        check("(id = ?)", true);
        check("((team_id = ?) AND (id = ?))", true);
        check("(`id` = ?) LIMIT ?", true);
        check("(id = ?) OR (team_id = ?)", false);
        check("((id = ?) OR (team_id = ?))", false);
        check(
            "(id IN (SELECT user_id FROM members WHERE team_id = ?))",
            false,
        );
        check("(id > ?)", false);
        check("id IN (?)", false);
        check("", false);
    }

    #[test]
    fn updates_of_the_same_columns_are_of_different_rows() {
        let check = |updates: [&str; 2], expected: bool| {
            assert_eq!(
                set_different_columns(updates.into_iter()),
                expected,
                "{updates:?}"
            );
        };
        let icon = "UPDATE users SET icon = ? WHERE id = ?";
        check([icon, "UPDATE users SET name = ? WHERE id = ?"], true);
        let took = r#"UPDATE "accounts" SET "cents" = "accounts"."cents" - ?, "updated_at" = ? WHERE "accounts"."id" = ?"#;
        let gave =
            r#"UPDATE "accounts" SET "cents" = "accounts"."cents" + ? WHERE "accounts"."id" = ?"#;
        check([took, gave], false);
        let touched = "UPDATE users SET updated_at = ? WHERE id = ?";
        check([icon, touched], true);
        let counted = "UPDATE users SET icons = COALESCE(icons, ?) + ? WHERE id = ?";
        check([icon, counted], true);
        check([counted, &counted.replace('+', "-")], false);
    }
}

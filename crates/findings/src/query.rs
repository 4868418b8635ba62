//! Reads a digest as far as advice on indexes needs: tables, and the columns picking or ordering
//! rows.
//!
//! Not a parser of SQL. It knows plain SELECTs with joins and conditions bound by AND; of anything
//! else (subqueries, OR, unions) it says nothing, since wrong advice is worse than none.

mod conditions;
mod tokens;

use conditions::Conditions;
pub(crate) use conditions::{Hidden, Hides};
use tokens::{Token, cut};

/// A column as named by the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// Table or alias before the dot.
    pub(crate) qualifier: Option<String>,
    pub(crate) name: String,
}

/// A table with the statement's alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) alias: String,
}

/// Conditions and order of a SELECT.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) tables: Vec<Table>,
    /// Compared for equality with a value.
    pub(crate) equal: Vec<Column>,
    /// Whether one of `equal` is compared with a list of values: an index with the column first has
    /// the rows of all values one after the other, in no common order of the next column.
    pub(crate) lists: bool,
    /// Columns compared with a value in another way, servable by an index.
    pub(crate) range: Vec<Column>,
    /// Compared for equality with each other.
    pub(crate) joined: Vec<(Column, Column)>,
    /// Conditions keeping an index from serving a column.
    pub(crate) hidden: Vec<Hidden>,
    /// Columns of ORDER BY; empty when anything but columns stands there.
    pub(crate) order: Vec<Column>,
    /// Whether the statement has a WHERE.
    pub(crate) filtered: bool,
    /// Whether the statement has an ORDER BY, of whatever.
    pub(crate) ordered: bool,
    /// Whether the statement has a LIMIT.
    pub(crate) limited: bool,
    /// Whether rows are grouped, or equal ones made one.
    pub(crate) grouped: bool,
}

/// The statement in a few words, such as `SELECT … FROM user`.
pub(crate) fn brief(digest: &str) -> String {
    let tokens = cut(digest);
    let after = |keyword: &str| {
        let place = tokens.iter().position(|token| token.is(keyword))?;
        tokens.get(place + 1)?.name()
    };
    let first = tokens.first().and_then(|token| token.name()).unwrap_or("");
    match first.to_ascii_uppercase().as_str() {
        "SELECT" => after("FROM").map(|table| format!("SELECT … FROM {table}")),
        "DELETE" => after("FROM").map(|table| format!("DELETE FROM {table}")),
        "INSERT" => after("INTO").map(|table| format!("INSERT INTO {table}")),
        "REPLACE" => after("INTO").map(|table| format!("REPLACE INTO {table}")),
        "UPDATE" => after("UPDATE").map(|table| format!("UPDATE {table}")),
        _ => None,
    }
    .unwrap_or_else(|| crate::text::fit(digest, 40))
}

/// The first keyword of a statement, upper case.
pub(crate) fn verb(digest: &str) -> String {
    let word = digest.split_whitespace().next().unwrap_or("");
    word.to_ascii_uppercase()
}

/// Whether a statement returns aggregates in place of rows. How many rows were read for a good
/// reason, the number of returned ones does not say then. Window functions return every row.
pub(crate) fn aggregates(digest: &str) -> bool {
    const FUNCTIONS: [&str; 5] = ["COUNT", "SUM", "MAX", "MIN", "AVG"];
    let tokens = cut(digest);
    let mut pairs = tokens.windows(2);
    let calls = |pair: &[Token<'_>]| {
        pair[1] == Token::Open && FUNCTIONS.iter().any(|name| pair[0].is(name))
    };
    pairs.any(calls) && !tokens.iter().any(|token| token.is("OVER"))
}

/// Whether a statement returns all columns of the rows: `SELECT *`, or `SELECT t.*` as ActiveRecord
/// writes it.
pub(crate) fn returns_all_columns(digest: &str) -> bool {
    let tokens = cut(digest);
    let all =
        |rest: &[Token<'_>]| matches!(rest, [Token::Operator("*"), from, ..] if from.is("FROM"));
    match tokens.as_slice() {
        [select, table, Token::Dot, rest @ ..] => {
            select.is("SELECT") && table.name().is_some() && all(rest)
        }
        [select, rest @ ..] => select.is("SELECT") && all(rest),
        [] => false,
    }
}

/// Whether a statement locks rows until the end of the transaction.
pub(crate) fn locks(digest: &str) -> bool {
    const CLAUSES: [&str; 4] = [
        " FOR UPDATE",
        " FOR NO KEY UPDATE",
        " FOR SHARE",
        " LOCK IN SHARE MODE",
    ];
    let upper = digest.to_ascii_uppercase();
    match verb(digest).as_str() {
        "SELECT" => CLAUSES.iter().any(|clause| upper.contains(clause)),
        verb => matches!(verb, "UPDATE" | "DELETE"),
    }
}

/// Whether a statement may wait for rows locked by others: `NOWAIT` and `SKIP LOCKED` never wait.
pub(crate) fn waits_for_rows(digest: &str) -> bool {
    let upper = digest.to_ascii_uppercase();
    locks(digest) && !upper.contains(" NOWAIT") && !upper.contains(" SKIP LOCKED")
}

/// Reads a SELECT; `None` for anything else and when the reader is not sure.
pub(crate) fn read(digest: &str) -> Option<Query> {
    let tokens = cut(digest);
    let selects = tokens.iter().filter(|token| token.is("SELECT")).count();
    let unsure = [
        "UNION",
        "INTERSECT",
        "EXCEPT",
        "WITH",
        "NATURAL",
        "USING",
        "LATERAL",
    ];
    let odd = tokens
        .iter()
        .any(|t| unsure.iter().any(|word| t.is(word)) || *t == Token::Semicolon);
    if selects != 1 || odd || !tokens.first()?.is("SELECT") {
        return None;
    }
    let mut query = Query::default();
    for (clause, body) in clauses(&tokens) {
        match clause {
            "FROM" => read_from(body, &mut query)?,
            "WHERE" => {
                query.filtered = true;
                Conditions::of(body)?.add_to(&mut query);
            }
            "GROUP" | "HAVING" | "DISTINCT" => query.grouped = true,
            "ORDER" => {
                query.ordered = true;
                query.order = read_order(body);
            }
            "LIMIT" | "FETCH" => query.limited = true,
            _ => {}
        }
    }
    (!query.tables.is_empty()).then_some(query)
}

/// The clauses outside of all brackets, each with the tokens after the keyword.
fn clauses<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<(&'static str, &'t [Token<'a>])> {
    const KEYWORDS: [&str; 11] = [
        "SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET",
        "FETCH", "FOR",
    ];
    let mut starts: Vec<(&'static str, usize)> = Vec::new();
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate() {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ if depth == 0 => {
                if let Some(keyword) = KEYWORDS.iter().find(|keyword| token.is(keyword)) {
                    starts.push((keyword, place));
                }
            }
            _ => {}
        }
    }
    let ends = starts
        .iter()
        .skip(1)
        .map(|(_, start)| *start)
        .chain([tokens.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((keyword, start), end)| (*keyword, &tokens[start + 1..end]))
        .collect()
}

/// `a [AS] x, b JOIN c y ON …`
fn read_from(body: &[Token<'_>], query: &mut Query) -> Option<()> {
    let mut rest = body;
    loop {
        rest = read_table(rest, query)?;
        if let Some((Token::Comma, after)) = rest.split_first() {
            rest = after;
            continue;
        }
        let on_end = rest.iter().position(starts_join).unwrap_or(rest.len());
        let (on, joins) = rest.split_at(on_end);
        if let Some((first, condition)) = on.split_first() {
            if !first.is("ON") {
                return None;
            }
            Conditions::of(condition)?.add_to(query);
        }
        let join = joins.iter().position(|token| token.is("JOIN"));
        match join {
            Some(join) => rest = &joins[join + 1..],
            None if joins.is_empty() => return Some(()),
            None => return None,
        }
    }
}

fn starts_join(token: &Token<'_>) -> bool {
    ["JOIN", "INNER", "LEFT", "RIGHT", "CROSS", "FULL"]
        .iter()
        .any(|word| token.is(word))
}

/// Reads a table and an alias; returns the tokens behind.
fn read_table<'t, 'a>(mut rest: &'t [Token<'a>], query: &mut Query) -> Option<&'t [Token<'a>]> {
    let mut name = rest.first()?.name()?;
    rest = &rest[1..];
    while let [Token::Dot, part, after @ ..] = rest {
        name = part.name()?;
        rest = after;
    }
    if rest.first().is_some_and(|token| token.is("AS")) {
        rest = &rest[1..];
    }
    let mut alias = name;
    if let Some(token) = rest.first()
        && !token.is("ON")
        && !starts_join(token)
        && let Some(word) = token.name()
    {
        alias = word;
        rest = &rest[1..];
    }
    query.tables.push(Table {
        name: name.to_owned(),
        alias: alias.to_owned(),
    });
    Some(rest)
}

/// Reads `BY a, b DESC`: columns all in one direction, else nothing.
fn read_order(body: &[Token<'_>]) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut descending = Vec::new();
    let body = body.get(1..).unwrap_or_default();
    for item in body.split(|token| *token == Token::Comma) {
        let (column, rest) = match conditions::column(item) {
            Some(found) => found,
            None => return Vec::new(),
        };
        match rest {
            [] => descending.push(false),
            [way] if way.is("ASC") => descending.push(false),
            [way] if way.is("DESC") => descending.push(true),
            _ => return Vec::new(),
        }
        columns.push(column);
    }
    if descending.windows(2).all(|pair| pair[0] == pair[1]) {
        columns
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns in short: `equal | range | joined | order`.
    fn check(digest: &str, expected: &str) {
        assert_eq!(sql_digest::digest(digest.as_bytes()), digest, "no digest");
        let show = |column: &Column| match &column.qualifier {
            Some(qualifier) => format!("{qualifier}.{}", column.name),
            None => column.name.clone(),
        };
        let list = |columns: &[Column]| columns.iter().map(show).collect::<Vec<_>>().join(",");
        let found = read(digest).map(|query| {
            let joined: Vec<String> = query
                .joined
                .iter()
                .map(|(a, b)| format!("{}={}", show(a), show(b)))
                .collect();
            [
                list(&query.equal),
                list(&query.range),
                joined.join(","),
                list(&query.order),
            ]
            .join("|")
        });
        assert_eq!(
            found.as_deref(),
            (expected != "unsure").then_some(expected),
            "{digest}"
        );
    }

    #[test]
    fn conditions_are_found() {
        check(
            "SELECT * FROM message WHERE channel_id = ?",
            "channel_id|||",
        );
        check(
            "SELECT * FROM message WHERE id > ? AND channel_id = ? ORDER BY id DESC LIMIT ?",
            "channel_id|id||id",
        );
        check(
            "SELECT a FROM t WHERE b IN (?) AND c IS NULL AND ? = d",
            "b,c,d|||",
        );
        check(
            "SELECT a FROM t WHERE b BETWEEN ? AND ? AND c = ?::int",
            "c|b||",
        );
        check("SELECT a FROM `t` WHERE `t`.`b` = ?", "t.b|||");
        check(
            r#"SELECT "t".* FROM "t" WHERE "t"."b" = ? LIMIT ?"#,
            "t.b|||",
        );
        check("SELECT a FROM t WHERE lower(b) = ? AND c LIKE ?", "|||");
        check(
            "SELECT a FROM t WHERE b <> ? AND c != ? AND NOT d = ?",
            "|||",
        );
        check("SELECT a FROM t WHERE b = c + ?", "|||");
        check("SELECT a FROM t WHERE (b = ? OR c = ?) AND d = ?", "d|||");
        check("SELECT a FROM t WHERE (b = ?) AND d = ?", "b,d|||");
        check(
            "SELECT a FROM t WHERE ((b = ?) AND (c > ?) AND ((d = ?) OR (e = ?)))",
            "b|c||",
        );
        check("SELECT a FROM t WHERE (b, c) = (?)", "|||");
    }

    #[test]
    fn conditions_that_hide_a_column_are_found() {
        let check = |condition: &str, expected: &[(&str, &str)]| {
            let digest = format!("SELECT a FROM t WHERE {condition}");
            assert_eq!(sql_digest::digest(digest.as_bytes()), digest, "no digest");
            let query = read(&digest).expect("a query");
            let found = query.hidden.iter().map(|hidden| {
                let columns: Vec<&str> = hidden.columns.iter().map(|it| it.name.as_str()).collect();
                let by = match &hidden.by {
                    Hides::Expression(text) => text.as_str(),
                    Hides::Pattern => "LIKE",
                };
                (columns.join(","), by.to_owned())
            });
            let found: Vec<(String, String)> = found.collect();
            let expected: Vec<(String, String)> = expected
                .iter()
                .map(|(columns, by)| ((*columns).to_owned(), (*by).to_owned()))
                .collect();
            assert_eq!(found, expected, "{condition}");
        };
        check("lower(b) = ?", &[("b", "lower(…)")]);
        check("(DATE(`t`.`b`) = ?) AND c = ?", &[("b", "DATE(…)")]);
        check("CAST(b AS DATE) >= ?", &[("b,AS,DATE", "CAST(…)")]);
        check(
            "EXTRACT(YEAR FROM b) IN (?)",
            &[("YEAR,FROM,b", "EXTRACT(…)")],
        );
        check("coalesce(lower(b), ?) = ?", &[("b", "coalesce(…)")]);
        check("b::date = ?", &[("b", "b::date")]);
        check("b + ? > ?", &[("b", "b + …")]);
        check("b LIKE ? AND c ILIKE ?", &[("b", "LIKE"), ("c", "LIKE")]);
        check("b = ? AND NOT (c = ?)", &[]);
        check("b NOT LIKE ? AND b = lower(?) AND lower(?) = ?", &[]);
        check("b = c AND EXISTS (?)", &[]);
    }

    #[test]
    fn joins_and_order() {
        check(
            "SELECT * FROM message AS m JOIN user u ON m.user_id = u.id WHERE m.channel_id = ? ORDER BY m.id",
            "m.channel_id||m.user_id=u.id|m.id",
        );
        check("SELECT * FROM a, b WHERE a.x = b.y", "||a.x=b.y|");
        check("SELECT * FROM a ORDER BY x ASC, y DESC", "|||");
        check("SELECT * FROM a ORDER BY rand()", "|||");
        check(
            "SELECT * FROM a LEFT OUTER JOIN b ON a.x = b.y",
            "||a.x=b.y|",
        );
    }

    #[test]
    fn unsure_of_the_rest() {
        check("SELECT a FROM t WHERE b = ? OR c = ?", "unsure");
        check("SELECT a FROM t WHERE b IN (SELECT x FROM y)", "unsure");
        check("SELECT a FROM t UNION SELECT b FROM u", "unsure");
        check("UPDATE t SET a = ? WHERE b = ?", "unsure");
        check("SELECT ?", "unsure");
        check("", "unsure");
        check("SELECT a FROM (VALUES (?)) x", "unsure");
        check("SELECT a FROM t x y WHERE b = ?", "unsure");
    }

    #[test]
    fn rows_that_become_one_are_grouped() {
        let check = |digest: &str, expected: bool| {
            let query = read(digest).expect("a query");
            assert_eq!(query.grouped, expected, "{digest}");
        };
        check("SELECT DISTINCT a FROM t WHERE b = ?", true);
        check("select distinct on (a) b from t order by a", true);
        check("SELECT a FROM t GROUP BY a", true);
        check("SELECT COUNT(DISTINCT a) FROM t", false);
        check("SELECT a FROM t WHERE b = ?", false);
        assert_eq!(read("SELECT a FROM t WHERE b IS DISTINCT FROM ?"), None);
    }

    #[test]
    fn aggregates_are_known_from_rows() {
        assert!(aggregates("SELECT COUNT(*) FROM t WHERE a = ?"));
        assert!(aggregates("select coalesce(sum(a), ?) from t"));
        assert!(!aggregates("SELECT count, discount(a) FROM t"));
        assert!(!aggregates("SELECT SUM(a) OVER (ORDER BY b) FROM t"));
    }

    #[test]
    fn all_columns_are_named_by_a_star() {
        assert!(returns_all_columns("SELECT * FROM t"));
        assert!(returns_all_columns(
            r#"select "t".* from "t" where "t"."a" = ?"#
        ));
        assert!(!returns_all_columns("SELECT COUNT(*) FROM t"));
        assert!(!returns_all_columns("SELECT t.*, a FROM t"));
        assert!(!returns_all_columns("SELECT t.a FROM t"));
        assert!(!returns_all_columns("DELETE FROM t"));
        assert!(!returns_all_columns(""));
    }

    #[test]
    fn statements_in_brief() {
        assert_eq!(
            brief("SELECT name FROM `user` WHERE id = ?"),
            "SELECT … FROM user"
        );
        assert_eq!(brief("insert into t (a) VALUES (?)"), "INSERT INTO t");
        assert_eq!(brief("UPDATE t SET a = ?"), "UPDATE t");
        assert_eq!(brief("COMMIT"), "COMMIT");
        assert_eq!(brief(""), "");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[ a-zA-Z(),.=<>?`\"*;\u{e9}]{0,80}") {
            let _ = (read(&text), brief(&text));
        }
    }
}

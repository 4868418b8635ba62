//! A view's query in a canonical spelling, equal for the source and for the output of `SHOW CREATE
//! VIEW`.
//!
//! Servers print each column with table and alias (`t`.`a` AS `a`), joins in parentheses and
//! aliases of tables without `AS`. One SELECT from tables and joins is understood. An unqualified
//! column is understood where the query reads a single table: otherwise only the tables'
//! definitions say which one has it, and what `*` stands for. A query with such a column, a
//! subquery or anything else unknown is compared token by token.

mod sources;

use super::keywords::is_keyword;
use super::tokens::{is_database, listed, text};
use super::tree;
use crate::mysql::lexer::{Kind, Token, unquoted};
use crate::mysql::model::Name;
use sources::Sources;

/// Clauses in grammatical order.
const CLAUSES: [&str; 8] = [
    "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WITH",
];

/// Words behind which a query is more than one SELECT, or is not only read.
const OTHERS: [&str; 8] = [
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "MINUS",
    "WINDOW",
    "FOR",
    "LOCK",
    "INTO",
];

/// Limit on tokens; longer queries are compared token by token: each join copies the text to the
/// left.
const TOKENS_MAX: usize = 5_000;

/// Returns the canonical text, or `None` for a query outside the grammar understood here. `columns`
/// are the view's own column names, if any.
pub(super) fn canonical(
    tokens: &[Token<'_>],
    columns: &[Name],
    database: Option<&str>,
) -> Option<String> {
    if tokens.len() > TOKENS_MAX {
        return None;
    }
    let tokens = without(tokens, database);
    let clauses = clauses(&tokens)?;
    let [select, from, filter, group, having, order, limit, check] = clauses;
    let mut sources = Sources::default();
    let read = match from {
        [] => None,
        from => Some(sources.all(from)?),
    };
    let query = Query {
        table: match sources.names.as_slice() {
            [single] => Some(single.clone()),
            _ => None,
        },
        aliases: Vec::new(),
    };
    let (head, items) = query.items(select)?;
    let names = items
        .iter()
        .map(|(value, name)| (value, name.to_lowercase()));
    let late = Query {
        table: query.table.clone(),
        aliases: names
            .filter(|(value, name)| *value != name)
            .map(|(_, name)| name)
            .collect(),
    };
    let mut text = format!("{head}{}", shown(&items, columns)?);
    let mut push = |word: &str, clause: String| text = format!("{text} {word} {clause}");
    if let Some(read) = read {
        push("from", read);
    }
    if !filter.is_empty() {
        push("where", query.value(filter)?);
    }
    if !group.is_empty() {
        push("group by", late.list(by(group)?)?);
    }
    if !having.is_empty() {
        push("having", late.value(having)?);
    }
    if !order.is_empty() {
        push("order by", late.list(by(order)?)?);
    }
    if !limit.is_empty() {
        push("limit", limited(limit)?);
    }
    if !check.is_empty() {
        push("with", checked(check)?.to_owned());
    }
    Some(text)
}

/// The tokens without `database.`
fn without<'a>(tokens: &[Token<'a>], database: Option<&str>) -> Vec<Token<'a>> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if is_database(&tokens[at..], database) {
            at += 2;
        } else {
            kept.push(*token);
            at += 1;
        }
    }
    kept
}

/// What stands behind the words of [`CLAUSES`].
fn clauses<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<[&'t [Token<'a>]; CLAUSES.len()]> {
    if !tokens.first()?.is(CLAUSES[0]) {
        return None;
    }
    let mut clauses: [&[Token<'a>]; CLAUSES.len()] = [&[]; CLAUSES.len()];
    let (mut clause, mut start, mut depth) = (0, 1, 0_usize);
    for (at, token) in tokens.iter().enumerate().skip(1) {
        depth += usize::from(token.is_op("("));
        depth = depth.checked_sub(usize::from(token.is_op(")")))?;
        if depth > 0 || token.kind != Kind::Word || tokens[at - 1].is_op(".") {
            continue;
        }
        if OTHERS.iter().any(|word| token.is(word)) {
            return None;
        }
        if let Some(next) = CLAUSES.iter().position(|word| token.is(word)) {
            if next <= clause {
                return None;
            }
            clauses[clause] = &tokens[start..at];
            (clause, start) = (next, at + 1);
        }
    }
    clauses[clause] = &tokens[start..];
    // A word with nothing behind it is a mistake.
    (start < tokens.len()).then_some(clauses)
}

fn by<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    match tokens {
        [first, rest @ ..] if first.is("BY") => Some(rest),
        _ => None,
    }
}

/// First and number of the rows.
fn limited(tokens: &[Token<'_>]) -> Option<String> {
    match tokens {
        [count] if count.kind == Kind::Number => Some(count.text.to_owned()),
        [first, comma, count] if comma.is_op(",") => Some(format!("{},{}", first.text, count.text)),
        [count, offset, first] if offset.is("OFFSET") => {
            Some(format!("{},{}", first.text, count.text))
        }
        _ => None,
    }
}

fn checked(tokens: &[Token<'_>]) -> Option<&'static str> {
    let (how, rest) = match tokens {
        [how, rest @ ..] if how.is("LOCAL") => ("local check option", rest),
        [how, rest @ ..] if how.is("CASCADED") => ("cascaded check option", rest),
        rest => ("cascaded check option", rest),
    };
    match rest {
        [check, option] if check.is("CHECK") && option.is("OPTION") => Some(how),
        _ => None,
    }
}

/// What a query's expressions are read with.
struct Query {
    /// Name of the only table, as used in column references.
    table: Option<String>,
    /// Unqualified names of items other than the column so called, in lower case.
    aliases: Vec<String>,
}

impl Query {
    fn value(&self, tokens: &[Token<'_>]) -> Option<String> {
        let Some(table) = &self.table else {
            return tree::canonical(tokens);
        };
        let mut kept = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let is_first = at == 0 || !tokens[at - 1].is_op(".");
            if is_first && self.is_qualified(&tokens[at..], table) {
                at += 2;
            } else {
                kept.push(*token);
                at += 1;
            }
        }
        tree::canonical(&kept)
    }

    /// Whether the tokens are `table.column`, and the column alone means the same.
    fn is_qualified(&self, tokens: &[Token<'_>], table: &str) -> bool {
        let [qualifier, dot, column, ..] = tokens else {
            return false;
        };
        let is_free = |name: String| !self.aliases.contains(&name.to_lowercase());
        dot.is_op(".")
            && named(qualifier).is_some_and(|name| name == table)
            && named(column).is_some_and(is_free)
    }

    /// What rows are grouped or sorted by.
    fn list(&self, tokens: &[Token<'_>]) -> Option<String> {
        let values = listed(tokens).into_iter().map(|item| match item {
            [value @ .., last] if last.is("DESC") => Some(format!("{} desc", self.value(value)?)),
            [value @ .., last] if last.is("ASC") => self.value(value),
            value => self.value(value),
        });
        let values: Vec<String> = values.collect::<Option<_>>()?;
        Some(values.join(", "))
    }

    /// The SELECT keyword with modifiers, and the named items.
    fn items(&self, tokens: &[Token<'_>]) -> Option<(&'static str, Vec<(String, String)>)> {
        let (head, tokens) = match tokens {
            [first, rest @ ..] if first.is("DISTINCT") => ("select distinct ", rest),
            [first, rest @ ..] if first.is("ALL") => ("select ", rest),
            [first, ..] if is_hint(first) => return None,
            all => ("select ", all),
        };
        let mut items = Vec::new();
        for item in listed(tokens) {
            let (value, name) = item_of(item)?;
            items.push((self.value(value)?, name));
        }
        Some((head, items))
    }
}

/// Prints items under the view's column names, or else under the items' own.
fn shown(items: &[(String, String)], columns: &[Name]) -> Option<String> {
    if !columns.is_empty() && columns.len() != items.len() {
        return None;
    }
    let named = items.iter().enumerate().map(|(at, (value, name))| {
        let name = columns.get(at).map_or(name, |column| &column.text);
        format!("{value} as {name}")
    });
    Some(named.collect::<Vec<_>>().join(", "))
}

/// Value of an item, and the name given by the query or the server.
fn item_of<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<(&'t [Token<'a>], String)> {
    match tokens {
        [value @ .., as_word, name] if as_word.is("AS") => {
            let name = match name.kind {
                Kind::Text => Some(unquoted(name.text)),
                _ => named(name),
            };
            Some((value, name?))
        }
        [value @ .., before, name] if ends_value(before) && is_name(name) => {
            Some((&tokens[..value.len() + 1], named(name)?))
        }
        [.., dot, column] if dot.is_op(".") => Some((tokens, named(column)?)),
        [column] if named(column).is_some() => Some((tokens, named(column)?)),
        [] => None,
        value => Some((value, text(value))),
    }
}

/// Whether a word is a hint on how to execute the query.
fn is_hint(token: &Token<'_>) -> bool {
    const HINTS: [&str; 3] = ["DISTINCTROW", "STRAIGHT_JOIN", "HIGH_PRIORITY"];
    let is_setting =
        token.kind == Kind::Word && token.text.to_ascii_uppercase().starts_with("SQL_");
    is_setting || HINTS.iter().any(|hint| token.is(hint))
}

fn named(token: &Token<'_>) -> Option<String> {
    match token.kind {
        Kind::Quoted => Some(unquoted(token.text)),
        Kind::Word => Some(token.text.to_owned()),
        _ => None,
    }
}

/// Whether a token can only be a name.
fn is_name(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Quoted => true,
        Kind::Word => !is_keyword(token.text),
        _ => false,
    }
}

/// Whether a name behind the token begins something new.
fn ends_value(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Quoted | Kind::Number | Kind::Text => true,
        Kind::Op => token.is_op(")"),
        Kind::Word => !is_keyword(token.text) || token.is("END") || token.is("NULL"),
        Kind::Param => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::expr::lexed;

    #[track_caller]
    fn check(written: &str, columns: &[&str], printed: &str) {
        let columns: Vec<Name> = columns.iter().map(|name| Name::quoted(*name)).collect();
        let written = canonical(&lexed(written), &columns, Some("app"));
        assert!(written.is_some());
        assert_eq!(written, canonical(&lexed(printed), &[], Some("app")));
    }

    #[test]
    fn what_servers_print_is_what_was_written() {
        check(
            "SELECT id, Name n, count(*) FROM app.users WHERE id > 0 AND name <> 'x' GROUP BY id ORDER BY id ASC",
            &[],
            "select `users`.`id` AS `id`,`users`.`Name` AS `n`,count(0) AS `count(*)` from `users` \
             where ((`users`.`id` > 0) and (`users`.`name` <> 'x')) group by `users`.`id` order by `users`.`id`",
        );
        check(
            "SELECT u.id AS id, coalesce(p.title, '-') AS title FROM users AS u LEFT OUTER JOIN posts p ON u.id = p.user_id \
             INNER JOIN other ON other.id = p.id WHERE u.name LIKE 'a%' LIMIT 5 OFFSET 10",
            &[],
            "select `u`.`id` AS `id`,coalesce(`p`.`title`,'-') AS `title` from ((`users` `u` left join `posts` `p` \
             on((`u`.`id` = `p`.`user_id`))) join `other` on((`other`.`id` = `p`.`id`))) where (`u`.`name` like 'a%') limit 10,5",
        );
        check(
            "SELECT DISTINCT a, b + 1 FROM t WITH CHECK OPTION",
            &["x", "y"],
            "select distinct `t`.`a` AS `x`,`t`.`b` + 1 AS `y` from `t` WITH CASCADED CHECK OPTION",
        );
        check(
            "SELECT a.x, b.y FROM a, b WHERE a.id = b.id",
            &[],
            "select `a`.`x` AS `x`,`b`.`y` AS `y` from (`a` join `b`) where (`a`.`id` = `b`.`id`)",
        );
        check("SELECT 1 AS one", &[], "select 1 AS `one`");
    }

    #[test]
    fn what_means_something_else_is_another_query() {
        let check = |one: &str, other: &str| {
            let (one, other) = (lexed(one), lexed(other));
            let (one, other) = (canonical(&one, &[], None), canonical(&other, &[], None));
            assert!(one.is_some() && one != other, "{one:?}");
        };
        check("SELECT a FROM t", "SELECT b AS a FROM t");
        check("SELECT a FROM t", "SELECT a FROM u");
        check("SELECT a FROM t", "SELECT DISTINCT a FROM t");
        check(
            "SELECT a.x FROM a JOIN b ON a.id = b.id",
            "SELECT b.x FROM a JOIN b ON a.id = b.id",
        );
        check(
            "SELECT a.x FROM a LEFT JOIN b ON a.id = b.id",
            "SELECT a.x FROM a JOIN b ON a.id = b.id",
        );
        check(
            "SELECT b AS a FROM t ORDER BY a",
            "SELECT b AS a FROM t ORDER BY t.a",
        );
        check("SELECT a FROM t LIMIT 1", "SELECT a FROM t LIMIT 2");
        check(
            "SELECT a FROM t WITH CHECK OPTION",
            "SELECT a FROM t WITH LOCAL CHECK OPTION",
        );
    }

    #[test]
    fn what_only_the_server_knows_is_left_to_it() {
        for query in [
            "SELECT * FROM t",
            "SELECT a FROM t UNION SELECT 1",
            "SELECT a FROM t WHERE a IN (SELECT 1)",
            "SELECT a FROM (SELECT 1 AS a) AS t",
            "SELECT a FROM t NATURAL JOIN u",
            "SELECT a FROM t RIGHT JOIN u ON t.id = u.id",
            "SELECT a FROM t JOIN u USING (id)",
            "SELECT SQL_NO_CACHE a FROM t",
            "SELECT a FROM",
            "(SELECT a FROM t)",
        ] {
            assert_eq!(canonical(&lexed(query), &[], None), None, "{query}");
        }
        let deep = format!("SELECT a FROM {}t", "(".repeat(100_000));
        assert_eq!(canonical(&lexed(&deep), &[], None), None);
    }
}

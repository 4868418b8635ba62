//! SQL token by token: the original text, the canonical form, and sqldef's spelling.

use std::borrow::Cow;

use super::keywords::is_keyword;
use crate::mysql::lexer::{Kind, Token, backticked, literal, unquoted};

/// The tokens' text, with one space or line end wherever there was white space.
pub(crate) fn text(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    let mut end = tokens.first().map_or(0, |token| token.at);
    for token in tokens {
        if token.at > end {
            text.push(' ');
        }
        text.push_str(token.text);
        end = token.end();
    }
    text
}

/// The tokens' text with original line ends, and without `database.` in front of names.
pub(crate) fn without_database(
    source: &str,
    tokens: &[Token<'_>],
    database: Option<&str>,
) -> String {
    let mut text = String::new();
    let mut end = tokens.first().map_or(0, |token| token.at);
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        let gap = source.get(end..token.at).unwrap_or_default();
        match (gap.is_empty() || text.is_empty(), gap.contains('\n')) {
            (true, _) => {}
            (false, true) => text.push('\n'),
            (false, false) => text.push(' '),
        }
        if is_database(&tokens[index..], database) {
            index += 2;
            end = tokens.get(index).map_or(end, |token| token.at);
            continue;
        }
        text.push_str(token.text);
        end = token.end();
        index += 1;
    }
    text
}

/// What stands between the commas of a list.
pub(crate) fn listed<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut items = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        depth += usize::from(token.is_op("("));
        depth = depth.saturating_sub(usize::from(token.is_op(")")));
        if depth == 0 && token.is_op(",") {
            items.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    if start < tokens.len() {
        items.push(&tokens[start..]);
    }
    items
}

/// Whether the tokens begin with `database.`, which is redundant.
pub(super) fn is_database(tokens: &[Token<'_>], database: Option<&str>) -> bool {
    let (Some(database), [name, dot, ..]) = (database, tokens) else {
        return false;
    };
    dot.is_op(".")
        && match name.kind {
            Kind::Word => name.text == database,
            Kind::Quoted => unquoted(name.text) == database,
            _ => false,
        }
}

/// The tokens without `database.` in front of sequences in defaults, as shown by MariaDB. A dump
/// names the dumped database there and nowhere else, so a sequence of the text is the text's own.
pub(crate) fn with_own_sequences<'t, 'a>(
    tokens: &'t [Token<'a>],
    database: Option<&str>,
    is_sequence: impl Fn(&str) -> bool,
) -> Cow<'t, [Token<'a>]> {
    let is_known = |at: usize| match &tokens[at..] {
        [_, dot, name, ..] => dot.is_op(".") && is_sequence(&unquoted(name.text)),
        _ => false,
    };
    let counts = |at: usize| {
        let [before, open] = &tokens[at.saturating_sub(2)..at] else {
            return false;
        };
        open.is_op("(") && ["NEXTVAL", "LASTVAL"].iter().any(|word| before.is(word))
    };
    let is_own = |at: usize| is_database(&tokens[at..], database) || is_known(at);
    let is_named = |at: &usize| counts(*at) && is_own(*at);
    let named: Vec<usize> = (0..tokens.len()).filter(is_named).collect();
    if named.is_empty() {
        return Cow::Borrowed(tokens);
    }
    let is_kept = |at: &usize| !named.iter().any(|named| *at == *named || *at == named + 1);
    let kept = (0..tokens.len()).filter(is_kept);
    Cow::Owned(kept.map(|at| tokens[at]).collect())
}

/// Tokens with one spelling: keywords in lower case, names without quotes, strings in one form, no
/// space but one.
pub(super) fn canonical(tokens: &[Token<'_>], database: Option<&str>) -> String {
    let mut canonical = String::new();
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        if is_database(&tokens[index..], database) {
            index += 2;
            continue;
        }
        if !canonical.is_empty() {
            canonical.push(' ');
        }
        let is_called = tokens.get(index + 1).is_some_and(|next| next.is_op("("));
        push_canonical(&mut canonical, token, is_called);
        index += 1;
    }
    canonical
}

fn push_canonical(canonical: &mut String, token: &Token<'_>, is_called: bool) {
    match token.kind {
        Kind::Word if is_called || is_keyword(token.text) => {
            canonical.push_str(&token.text.to_ascii_lowercase());
        }
        Kind::Word | Kind::Op | Kind::Number | Kind::Param => canonical.push_str(token.text),
        Kind::Quoted => canonical.push_str(&unquoted(token.text)),
        Kind::Text => canonical.push_str(&literal(&unquoted(token.text))),
    }
}

/// sqldef's spelling of expressions: lower-case keywords, quotes only where needed, one space
/// around operators, none inside parentheses.
pub(crate) fn drop_in(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| &tokens[index]);
        let is_called = tokens.get(index + 1).is_some_and(|next| next.is_op("("));
        if before.is_some_and(|before| is_apart(&tokens[..index], before, token)) {
            text.push(' ');
        }
        match token.kind {
            Kind::Word if token.is("substring") && is_called => text.push_str("substr"),
            Kind::Word if token.is("now") && is_called => text.push_str("now"),
            Kind::Word if is_unit(before, tokens, index) => {
                text.push_str(&token.text.to_ascii_uppercase());
            }
            Kind::Word if is_keyword(token.text) => {
                text.push_str(&token.text.to_ascii_lowercase());
            }
            Kind::Quoted => text.push_str(&plain(&unquoted(token.text))),
            Kind::Text => text.push_str(&literal(&unquoted(token.text))),
            _ => text.push_str(token.text),
        }
    }
    text
}

/// The unit behind `INTERVAL 30` keeps capitals.
fn is_unit(before: Option<&Token<'_>>, tokens: &[Token<'_>], index: usize) -> bool {
    before.is_some() && index >= 2 && tokens[index - 2].is("INTERVAL")
}

fn plain(name: &str) -> String {
    let is_plain = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match is_plain && !is_reserved(name) && !name.is_empty() {
        true => name.to_owned(),
        false => backticked(name),
    }
}

fn is_reserved(name: &str) -> bool {
    const RESERVED: [&str; 14] = [
        "all", "and", "as", "case", "from", "group", "in", "is", "key", "not", "or", "order",
        "select", "where",
    ];
    RESERVED.iter().any(|word| name.eq_ignore_ascii_case(word))
}

/// Whether a space stands between two tokens.
fn is_apart(all_before: &[Token<'_>], before: &Token<'_>, token: &Token<'_>) -> bool {
    if token.kind == Kind::Op {
        match token.text {
            ")" | "," | "." | ";" => return false,
            // A call has none in front of its parenthesis; `in (`, `as (` and operators do.
            "(" => {
                let is_name = before.kind == Kind::Quoted
                    || (before.kind == Kind::Word
                        && (!is_keyword(before.text) || is_function(before)));
                return !is_name && !before.is_op("(");
            }
            _ => {}
        }
    }
    if before.kind == Kind::Op {
        let is_sign = matches!(before.text, "-" | "+" | "!" | "~")
            && match all_before
                .len()
                .checked_sub(2)
                .map(|index| &all_before[index])
            {
                None => true,
                Some(earlier) => match earlier.kind {
                    Kind::Op => !earlier.is_op(")"),
                    kind => kind == Kind::Word && is_keyword(earlier.text),
                },
            };
        return !(before.is_op("(") || before.is_op(".") || is_sign);
    }
    true
}

fn is_function(word: &Token<'_>) -> bool {
    const FUNCTIONS: [&str; 19] = [
        "cast",
        "char",
        "convert",
        "date",
        "datetime",
        "day",
        "decimal",
        "if",
        "left",
        "mod",
        "over",
        "replace",
        "right",
        "time",
        "timestamp",
        "truncate",
        "varchar",
        "current_timestamp",
        "repeat",
    ];
    FUNCTIONS.iter().any(|function| word.is(function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::lexer::{Executes, Lexer};
    use crate::{Product, Server};

    fn lexed(sql: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(sql, Executes::of(&Server::unknown(Product::Mysql)));
        std::iter::from_fn(|| lexer.next().unwrap()).collect()
    }

    #[test]
    fn only_what_means_something_is_kept() {
        let check = |one: &str, other: &str| {
            let database = Some("app");
            assert_eq!(
                canonical(&lexed(one), database),
                canonical(&lexed(other), database)
            );
        };
        check(
            "SELECT `a`, COUNT(*)\nFROM app.t",
            "select a,count( * ) from `t`",
        );
        check("a = \"x\"", "a='x'");
    }

    #[test]
    fn as_sqldef_prints() {
        let check = |sql: &str, expected: &str| assert_eq!(drop_in(&lexed(sql)), expected);
        check("`state` IN ('a','b')", "state in ('a', 'b')");
        check("json_extract(data,'$.n')", "json_extract(data, '$.n')");
        check("1+1-1", "1 + 1 - 1");
        check(
            "created < NOW() - INTERVAL 30 DAY",
            "created < now() - interval 30 DAY",
        );
        check("(a/b)*2", "(a / b) * 2");
        check(
            "lead(p.a, 1) OVER (PARTITION BY p.a)",
            "lead(p.a, 1) over(partition by p.a)",
        );
        check(
            "CASE WHEN (`d` = 0) THEN -1 ELSE NULL END",
            "case when (d = 0) then -1 else null end",
        );
    }
}

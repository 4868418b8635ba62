//! One spelling for stretches of SQL that mean the same: no comments, no layout, no needless quotes.

use super::lex::{Kind, Token, literal, unquoted};

/// The statement as it stands in its source, or written anew from its tokens when there are comments in it: a dump opens
/// and closes versioned ones across statements' ends.
pub(super) fn text(source: &str, tokens: &[Token<'_>]) -> String {
    let start = tokens.first().map_or(0, |token| token.at);
    let slice = &source[start..tokens.last().map_or(start, Token::end)];
    if !slice.contains("/*") && !slice.contains("*/") {
        return slice.to_owned();
    }
    let mut text = String::with_capacity(slice.len());
    let mut end = start;
    for token in tokens {
        let gap = &source[end..token.at];
        match (gap.is_empty(), gap.contains('\n')) {
            (true, _) => {}
            (false, true) => text.push('\n'),
            (false, false) => text.push(' '),
        }
        text.push_str(token.text);
        end = token.end();
    }
    text
}

/// Tokens with one spelling. Words lose their case in front of `(` and where they are keywords; names keep it.
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
        match token.kind {
            Kind::Word if is_called || is_keyword(token.text) => {
                canonical.push_str(&token.text.to_ascii_lowercase());
            }
            Kind::Word | Kind::Op | Kind::Number | Kind::Param => canonical.push_str(token.text),
            Kind::Quoted => canonical.push_str(&unquoted(token.text)),
            Kind::Text => canonical.push_str(&literal(&unquoted(token.text))),
        }
        index += 1;
    }
    canonical
}

/// Whether these tokens begin with `database.`, which means the same as nothing.
fn is_database(tokens: &[Token<'_>], database: Option<&str>) -> bool {
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

fn is_keyword(word: &str) -> bool {
    KEYWORDS
        .binary_search_by(|keyword| {
            keyword
                .bytes()
                .cmp(word.bytes().map(|byte| byte.to_ascii_lowercase()))
        })
        .is_ok()
}

/// Words that are reserved or begin clauses, so that their case means nothing; sorted.
const KEYWORDS: [&str; 90] = [
    "add",
    "after",
    "all",
    "alter",
    "and",
    "as",
    "asc",
    "auto_increment",
    "before",
    "begin",
    "between",
    "by",
    "call",
    "cascade",
    "case",
    "character",
    "charset",
    "check",
    "collate",
    "column",
    "comment",
    "constraint",
    "create",
    "cross",
    "current_timestamp",
    "declare",
    "default",
    "delete",
    "desc",
    "distinct",
    "do",
    "drop",
    "each",
    "else",
    "end",
    "engine",
    "escape",
    "event",
    "every",
    "exists",
    "for",
    "foreign",
    "from",
    "fulltext",
    "group",
    "having",
    "if",
    "in",
    "index",
    "inner",
    "insert",
    "int",
    "interval",
    "into",
    "is",
    "join",
    "key",
    "left",
    "like",
    "limit",
    "not",
    "null",
    "on",
    "or",
    "order",
    "outer",
    "primary",
    "references",
    "replace",
    "returns",
    "right",
    "row",
    "schedule",
    "select",
    "set",
    "table",
    "text",
    "then",
    "to",
    "trigger",
    "union",
    "unique",
    "unsigned",
    "update",
    "using",
    "values",
    "varchar",
    "view",
    "when",
    "where",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::lex::{Executes, Lexer};
    use crate::{Product, Server};

    fn check(one: &str, other: &str) {
        let of = |sql: &str| {
            let mut lexer = Lexer::new(sql, Executes::of(&Server::unknown(Product::Mysql)));
            let tokens: Vec<Token<'_>> = std::iter::from_fn(|| lexer.next().unwrap()).collect();
            canonical(&tokens, Some("app"))
        };
        assert_eq!(of(one), of(other));
    }

    #[test]
    fn only_what_means_something_is_kept() {
        assert!(KEYWORDS.is_sorted());
        check(
            "SELECT `a`, COUNT(*)\nFROM app.t",
            "select a,count( * ) /* all */ from `t`",
        );
        check("a = \"x\"", "a='x'");
    }
}

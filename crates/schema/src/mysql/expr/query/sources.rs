//! Tables and joins, printed fully parenthesised.

use super::{is_name, named};
use crate::mysql::expr::tree;
use crate::mysql::lexer::Token;

/// Deeper joins are compared token by token; the stack is finite.
const DEPTH_MAX: usize = 50;

/// What stands behind FROM.
#[derive(Default)]
pub(super) struct Sources {
    /// What columns call the tables.
    pub names: Vec<String>,
    depth: usize,
}

impl Sources {
    /// Prints all sources, or returns `None` when tokens are left.
    pub fn all(&mut self, tokens: &[Token<'_>]) -> Option<String> {
        let mut at = 0;
        let text = self.sources(tokens, &mut at)?;
        (at == tokens.len()).then_some(text)
    }

    /// Joins between commas, which bind weakest.
    fn sources(&mut self, tokens: &[Token<'_>], at: &mut usize) -> Option<String> {
        let mut left = self.joins(tokens, at)?;
        while tokens.get(*at).is_some_and(|token| token.is_op(",")) {
            *at += 1;
            left = format!("({left} join {})", self.joins(tokens, at)?);
        }
        Some(left)
    }

    fn joins(&mut self, tokens: &[Token<'_>], at: &mut usize) -> Option<String> {
        let mut left = self.source(tokens, at)?;
        while let Some((word, length)) = join(&tokens[*at..]) {
            *at += length;
            let right = self.source(tokens, at)?;
            let is_on = tokens.get(*at).is_some_and(|token| token.is("ON"));
            if !is_on {
                if word != "join" {
                    return None;
                }
                left = format!("({left} join {right})");
                continue;
            }
            let start = *at + 1;
            *at = start + condition(&tokens[start..]);
            let on = tree::canonical(&tokens[start..*at])?;
            left = format!("({left} {word} {right} on {on})");
        }
        Some(left)
    }

    /// Prints a table with an alias, or a parenthesised join.
    fn source(&mut self, tokens: &[Token<'_>], at: &mut usize) -> Option<String> {
        let first = tokens.get(*at)?;
        *at += 1;
        if first.is_op("(") {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return None;
            }
            let text = self.sources(tokens, at)?;
            self.depth -= 1;
            let is_closed = tokens.get(*at).is_some_and(|token| token.is_op(")"));
            *at += 1;
            return is_closed.then_some(text);
        }
        let name = named(first).filter(|_| is_name(first))?;
        let has_as = tokens.get(*at).is_some_and(|token| token.is("AS"));
        *at += usize::from(has_as);
        let alias = tokens.get(*at).filter(|token| is_name(token));
        let Some(alias) = alias.and_then(named) else {
            self.names.push(name.clone());
            return (!has_as).then_some(name);
        };
        *at += 1;
        let text = match alias == name {
            true => name,
            false => format!("{name} {alias}"),
        };
        self.names.push(alias);
        Some(text)
    }
}

/// The join beginning here, and the number of words.
fn join(tokens: &[Token<'_>]) -> Option<(&'static str, usize)> {
    const JOINS: [(&[&str], &str); 5] = [
        (&["JOIN"], "join"),
        (&["INNER", "JOIN"], "join"),
        (&["CROSS", "JOIN"], "join"),
        (&["LEFT", "JOIN"], "left join"),
        (&["LEFT", "OUTER", "JOIN"], "left join"),
    ];
    let begins = |words: &[&str]| {
        words.len() <= tokens.len() && words.iter().zip(tokens).all(|(word, token)| token.is(word))
    };
    let found = JOINS.iter().find(|(words, _)| begins(words));
    found.map(|(words, text)| (*text, words.len()))
}

/// How many tokens of a join's condition there are.
fn condition(tokens: &[Token<'_>]) -> usize {
    const ENDS: [&str; 7] = [
        "JOIN",
        "INNER",
        "CROSS",
        "LEFT",
        "RIGHT",
        "NATURAL",
        "STRAIGHT_JOIN",
    ];
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        let is_called = tokens.get(at + 1).is_some_and(|next| next.is_op("("));
        let ends = token.is_op(",")
            || token.is_op(")")
            || (!is_called && ENDS.iter().any(|word| token.is(word)));
        if depth == 0 && ends {
            return at;
        }
        depth += usize::from(token.is_op("("));
        depth = depth.saturating_sub(usize::from(token.is_op(")")));
    }
    tokens.len()
}

//! Expressions, queries and bodies: kept as written, compared in a canonical form.
//!
//! Servers store an expression as a tree and print it again: MySQL with all parentheses, MariaDB
//! with the needed ones. So [`tree`] reads one by operator precedence and prints it with all of
//! them, and [`query`] does so for a view's query. What they do not know (subqueries, bodies) is
//! compared token by token.

mod keywords;
mod query;
mod tokens;
mod tree;

use super::lexer::{Executes, Lexer, Token};
use super::model::Name;
use crate::{Product, Server};

/// A stretch of SQL.
#[derive(Clone, Debug, Default)]
pub struct Expr {
    /// As written, without comments.
    pub text: String,
    /// Equal for what is stored alike.
    pub norm: String,
}

/// Compares normal forms, not spellings.
impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.norm == other.norm
    }
}

impl Eq for Expr {}

impl Expr {
    /// An expression.
    pub(super) fn new(tokens: &[Token<'_>]) -> Expr {
        Expr {
            text: text(tokens),
            norm: tree::canonical(tokens).unwrap_or_else(|| tokens::canonical(tokens, None)),
        }
    }

    /// Reads a view's query; `columns` are the view's own column names.
    pub(super) fn query(tokens: &[Token<'_>], columns: &[Name], database: Option<&str>) -> Expr {
        let norm = query::canonical(tokens, columns, database).unwrap_or_else(|| {
            let names: Vec<String> = columns
                .iter()
                .map(|name| name.text.to_lowercase())
                .collect();
            format!(
                "({}) {}",
                names.join(", "),
                tokens::canonical(tokens, database)
            )
        });
        Expr {
            text: text(tokens),
            norm,
        }
    }

    /// Reads a body, a schedule or other SQL compared only by tokens; qualifiers of the own
    /// database are dropped.
    pub(super) fn statement(tokens: &[Token<'_>], database: Option<&str>) -> Expr {
        Expr {
            text: text(tokens),
            norm: tokens::canonical(tokens, database),
        }
    }
}

/// Tokens in one spelling.
pub(super) fn canonical(tokens: &[Token<'_>]) -> String {
    tokens::canonical(tokens, None)
}

/// Tokens of a text known to be valid, having been read before.
pub(super) fn lexed(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer::new(text, Executes::of(&Server::unknown(Product::Mysql)));
    std::iter::from_fn(|| lexer.next().ok().flatten()).collect()
}

/// Prints a text as sqldef does.
pub(super) fn drop_in_text(text: &str) -> String {
    drop_in(&lexed(text))
}

pub(super) use tokens::{drop_in, listed, text, with_own_sequences, without_database};

/// Converts the words of a text to capitals, except in strings.
pub(super) fn upper_text(text: &str) -> String {
    let mut upper = text.to_owned();
    for token in lexed(text)
        .iter()
        .filter(|token| token.kind == super::lexer::Kind::Word)
    {
        upper.replace_range(token.at..token.end(), &token.text.to_uppercase());
    }
    upper
}

/// Whether one pair of parentheses encloses the whole text.
pub(super) fn is_enclosed(text: &str) -> bool {
    let tokens = lexed(text);
    let mut depth = 0_usize;
    let ends = tokens.iter().position(|token| {
        depth += usize::from(token.is_op("("));
        depth = depth.saturating_sub(usize::from(token.is_op(")")));
        depth == 0
    });
    tokens.len() > 1 && ends == Some(tokens.len() - 1)
}

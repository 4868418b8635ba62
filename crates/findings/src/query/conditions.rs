//! Conditions bound by AND, as in WHERE and ON.

use super::tokens::Token;
use super::{Column, Query};

/// The conditions of a statement possibly served by an index.
#[derive(Default)]
pub(super) struct Conditions {
    equal: Vec<Column>,
    range: Vec<Column>,
    joined: Vec<(Column, Column)>,
}

impl Conditions {
    /// Returns the conditions; `None` when OR (or XOR) binds any outside of brackets.
    pub(super) fn of(body: &[Token<'_>]) -> Option<Conditions> {
        let mut found = Conditions::default();
        for term in terms(body)? {
            found.add(term);
        }
        Some(found)
    }

    pub(super) fn add_to(self, query: &mut Query) {
        query.equal.extend(self.equal);
        query.range.extend(self.range);
        query.joined.extend(self.joined);
    }

    fn add(&mut self, term: &[Token<'_>]) {
        // Sequel writes each condition in brackets, and all of them in another pair.
        if let Some(inner) = bracketed(term) {
            if let Some(inner) = Conditions::of(inner) {
                self.equal.extend(inner.equal);
                self.range.extend(inner.range);
                self.joined.extend(inner.joined);
            }
            return;
        }
        if let [Token::Value, Token::Operator("="), rest @ ..] = term {
            if let Some((column, [])) = column(rest) {
                self.equal.push(column);
            }
            return;
        }
        let Some((left, rest)) = column(term) else {
            return;
        };
        match rest {
            [Token::Operator("=" | "<=>" | "=="), Token::Value, cast @ ..] if is_cast(cast) => {
                self.equal.push(left);
            }
            [
                Token::Operator("<" | ">" | "<=" | ">="),
                Token::Value,
                cast @ ..,
            ] if is_cast(cast) => {
                self.range.push(left);
            }
            [is, null] if is.is("IS") && null.is("NULL") => self.equal.push(left),
            [of, Token::Open, inner @ .., Token::Close]
                if of.is("IN") && inner.iter().all(is_listed) =>
            {
                self.equal.push(left);
            }
            [between, ..] if between.is("BETWEEN") => self.range.push(left),
            [Token::Operator("="), right @ ..] => {
                if let Some((right, [])) = column(right) {
                    self.joined.push((left, right));
                }
            }
            _ => {}
        }
    }
}

/// Returns the tokens between brackets around a whole term.
fn bracketed<'t, 'a>(term: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    let [Token::Open, inner @ .., Token::Close] = term else {
        return None;
    };
    let mut depth = 0_usize;
    for token in inner {
        match token {
            Token::Open => depth += 1,
            // The first bracket ends within the term.
            Token::Close => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    (depth == 0).then_some(inner)
}

fn is_listed(token: &Token<'_>) -> bool {
    matches!(token, Token::Value | Token::Comma)
}

fn is_cast(tokens: &[Token<'_>]) -> bool {
    matches!(tokens, [] | [Token::Operator("::"), Token::Word(_)])
}

/// Returns a column at the start of `tokens`, and the tokens after.
pub(super) fn column<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<(Column, &'t [Token<'a>])> {
    let mut qualifier = None;
    let mut name = tokens.first()?.name()?;
    if tokens[0].is("NOT") {
        return None;
    }
    let mut rest = &tokens[1..];
    while let [Token::Dot, part, after @ ..] = rest {
        qualifier = Some(name.to_owned());
        name = part.name()?;
        rest = after;
    }
    let column = Column {
        qualifier,
        name: name.to_owned(),
    };
    Some((column, rest))
}

/// Splits at AND outside of brackets, but not at the AND of BETWEEN.
fn terms<'t, 'a>(body: &'t [Token<'a>]) -> Option<Vec<&'t [Token<'a>]>> {
    let mut terms = Vec::new();
    let (mut start, mut depth, mut between) = (0, 0_usize, false);
    for (place, token) in body.iter().enumerate() {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            Token::Operator("||") => return None,
            token if token.is("OR") || token.is("XOR") => return None,
            token if token.is("BETWEEN") => between = true,
            token if token.is("AND") && between => between = false,
            token if token.is("AND") => {
                terms.push(&body[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    terms.push(&body[start..]);
    Some(terms)
}

//! Conditions bound by AND, as in WHERE and ON.

use super::tokens::Token;
use super::{Column, Query};

/// A condition keeping an index from serving a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    /// Candidates for the column: of `CAST(a AS DATE)`, all three.
    pub(crate) columns: Vec<Column>,
    pub(crate) by: Hides,
}

/// Way of a condition to hide a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hides {
    /// The column is in an expression such as `lower(…)`, and an index holds the column itself.
    Expression(String),
    /// The column is matched against a pattern: an index serves beginnings only.
    Pattern,
}

/// The conditions of a statement possibly served by an index.
#[derive(Default)]
pub(super) struct Conditions {
    equal: Vec<Column>,
    range: Vec<Column>,
    joined: Vec<(Column, Column)>,
    hidden: Vec<Hidden>,
    lists: bool,
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
        query.hidden.extend(self.hidden);
        query.lists |= self.lists;
    }

    fn add(&mut self, term: &[Token<'_>]) {
        // Sequel writes each condition in brackets, and all of them in another pair.
        if let Some(inner) = bracketed(term) {
            if let Some(inner) = Conditions::of(inner) {
                self.equal.extend(inner.equal);
                self.range.extend(inner.range);
                self.joined.extend(inner.joined);
                self.hidden.extend(inner.hidden);
                self.lists |= inner.lists;
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
                self.lists = true;
            }
            [between, ..] if between.is("BETWEEN") => self.range.push(left),
            [Token::Operator("="), right @ ..] => {
                if let Some((right, [])) = column(right) {
                    self.joined.push((left, right));
                }
            }
            rest => self.hidden.extend(hidden(left, rest)),
        }
    }
}

/// Returns what hides a column, from the name at the start of a condition and the tokens after.
fn hidden(name: Column, rest: &[Token<'_>]) -> Option<Hidden> {
    match rest {
        [like, Token::Value, ..] if like.is("LIKE") || like.is("ILIKE") => Some(Hidden {
            columns: vec![name],
            by: Hides::Pattern,
        }),
        [Token::Open, ..] => {
            let end = closing(rest)?;
            let columns = names(&rest[1..end]);
            let is_compared = rest.get(end + 1).is_some_and(compares);
            (is_compared && !columns.is_empty()).then(|| Hidden {
                columns,
                by: Hides::Expression(format!("{}(…)", name.name)),
            })
        }
        [Token::Operator("::"), Token::Word(kind), op, ..] if compares(op) => {
            let by = Hides::Expression(format!("{}::{kind}", name.name));
            let columns = vec![name];
            Some(Hidden { columns, by })
        }
        [Token::Operator(sign @ ("+" | "-" | "*" | "/" | "%")), ..] => {
            let by = Hides::Expression(format!("{} {sign} …", name.name));
            let columns = vec![name];
            Some(Hidden { columns, by })
        }
        _ => None,
    }
}

/// Whether a token compares what stands before with what stands behind.
fn compares(token: &Token<'_>) -> bool {
    const WORDS: [&str; 4] = ["IN", "BETWEEN", "LIKE", "ILIKE"];
    let by_sign = matches!(
        token,
        Token::Operator("=" | "<=>" | "==" | "<" | ">" | "<=" | ">=")
    );
    by_sign || WORDS.iter().any(|word| token.is(word))
}

/// Index of the bracket closing the one at the start.
fn closing(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    tokens.iter().position(|token| {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// The names in an expression except functions, each with its qualifier.
fn names(expression: &[Token<'_>]) -> Vec<Column> {
    let mut names = Vec::new();
    let mut rest = expression;
    while let Some((_, after)) = rest.split_first() {
        match column(rest) {
            Some((_, [Token::Open, ..])) | None => rest = after,
            Some((name, behind)) => {
                names.push(name);
                rest = behind;
            }
        }
    }
    names
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

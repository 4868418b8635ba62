//! The normal form of expressions: what means the same to SQLite is written the same.

use super::lexer::{Kind, Token, lex};
use super::model::quoted;

/// Tokens in lower case, names without needless quotes.
pub(super) type Pieces = Vec<String>;

/// The normal form of tokens.
pub(super) fn pieces(source: &str, tokens: &[Token]) -> Pieces {
    let piece = |token: &Token| piece(source, token);
    let all: Pieces = tokens.iter().map(piece).collect();
    without_outer_brackets(all)
}

fn piece(source: &str, token: &Token) -> String {
    let text = token.text(source);
    match token.kind {
        Kind::Word | Kind::Number | Kind::Blob => text.to_ascii_lowercase(),
        Kind::Quoted => piece_of_name(&unquoted(text)),
        Kind::Text => text.to_owned(),
        Kind::Sign => match text {
            "==" => "=".to_owned(),
            "!=" => "<>".to_owned(),
            other => other.to_owned(),
        },
    }
}

/// How a name looks among pieces.
pub(super) fn piece_of_name(name: &str) -> String {
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80);
    if plain && !name.is_empty() {
        name.to_ascii_lowercase()
    } else {
        quoted(&name.to_ascii_lowercase())
    }
}

fn without_outer_brackets(mut pieces: Pieces) -> Pieces {
    let depth = outer_brackets(&pieces);
    if depth > 0 {
        pieces.drain(..depth);
        pieces.truncate(pieces.len() - depth);
    }
    pieces
}

/// How many pairs of brackets enclose everything.
fn outer_brackets(pieces: &Pieces) -> usize {
    let opening = pieces.iter().take_while(|piece| *piece == "(").count();
    let closing = pieces
        .iter()
        .rev()
        .take_while(|piece| *piece == ")")
        .count();
    let (mut depth, mut least) = (0, opening.min(closing));
    let inner = least..pieces.len().saturating_sub(least);
    if inner.start >= inner.end {
        return 0;
    }
    let start = opening as isize;
    for piece in &pieces[opening..pieces.len() - closing] {
        match piece.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        least = least.min((start + depth).max(0).unsigned_abs());
    }
    least
}

/// Strips the quotes of a name or a string.
pub(super) fn unquoted(text: &str) -> String {
    let Some(mark) = text.chars().next() else {
        return String::new();
    };
    let close = if mark == '[' { ']' } else { mark };
    if !matches!(mark, '"' | '`' | '[' | '\'') || text.len() < 2 || !text.ends_with(close) {
        return text.to_owned();
    }
    let inner = &text[1..text.len() - 1];
    match mark {
        '[' => inner.to_owned(),
        mark => inner.replace(&format!("{mark}{mark}"), &mark.to_string()),
    }
}

/// Replaces every name equal to `old`; nothing else changes.
pub(super) fn with_renamed(text: &str, old: &str, new: &str) -> String {
    let old = piece_of_name(old);
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    for token in lex(text).tokens {
        let is_name = matches!(token.kind, Kind::Word | Kind::Quoted);
        if is_name && piece(text, &token) == old {
            result.push_str(&text[copied..token.start()]);
            result.push_str(&quoted(new));
            copied = token.end();
        }
    }
    result.push_str(&text[copied..]);
    result
}

/// The pieces with a name replaced.
pub(super) fn rename_pieces(pieces: &mut Pieces, old: &str, new: &str) {
    let (old, new) = (piece_of_name(old), piece_of_name(new));
    for piece in pieces.iter_mut().filter(|piece| **piece == old) {
        piece.clone_from(&new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        assert_eq!(pieces(source, &lex(source).tokens).join(" "), expected);
    }

    #[test]
    fn what_means_the_same_looks_the_same() {
        check("((A  +\n[b]))", "a + b");
        check("(a) + (b)", "( a ) + ( b )");
        check("((a) + (b))", "( a ) + ( b )");
        check("((a) + b)", "( a ) + b");
        check("()", "( )");
        check(
            "\"the name\" == 'It''s' AND x != X'0F'",
            "\"the name\" = 'It''s' and x <> x'0f'",
        );
    }

    #[test]
    fn names_are_replaced_and_nothing_else() {
        assert_eq!(
            with_renamed("CHECK (Nick <> 'nick') -- nick", "nick", "name"),
            "CHECK (\"name\" <> 'nick') -- nick"
        );
    }
}

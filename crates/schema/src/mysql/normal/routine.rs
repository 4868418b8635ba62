//! Routines: parameters and body as written, the rest as printed by servers.

use super::Rules;
use super::charset::charset_name;
use super::types;
use crate::Server;
use crate::mysql::cursor::Cursor;
use crate::mysql::expr;
use crate::mysql::lexer::{Fault, Token};
use crate::mysql::parser;

/// Returns the compared form of what stands behind the name of a procedure or function.
pub(in crate::mysql) fn norm(tokens: &[Token<'_>], server: &Server) -> String {
    let mut cursor = Cursor::new(tokens, 0);
    match head(&mut cursor, server) {
        Ok(head) => format!("{head} {}", expr::canonical(cursor.rest())),
        // In whatever language it is.
        Err(_) => expr::canonical(tokens),
    }
}

fn head(cursor: &mut Cursor<'_, '_>, server: &Server) -> Result<String, Fault> {
    let parameters = expr::canonical(cursor.parens()?);
    let mut said = Vec::new();
    if cursor.eat("RETURNS") {
        said.push(returned(cursor, server)?);
    }
    let mut words = Vec::new();
    while let Some(word) = characteristic(cursor)? {
        words.extend(word);
    }
    words.sort_unstable();
    said.extend(words);
    Ok(format!("({parameters}) {}", said.join(" ")))
}

/// The type of a function's result. What the database has anyway is left out, as servers write it
/// or not.
fn returned(cursor: &mut Cursor<'_, '_>, server: &Server) -> Result<String, Fault> {
    let written = parser::data_type(cursor)?;
    let stored = types::stored(&written, &Rules::of(server));
    let mut text = format!("returns {}", stored.print());
    let charset = written.charset.as_deref().map(charset_name);
    let charset = charset.filter(|charset| server.charset.as_ref() != Some(charset));
    let collation = written.collation;
    let collation = collation.filter(|collation| server.collation.as_ref() != Some(collation));
    for (word, value) in [("charset", charset), ("collate", collation)] {
        text.extend(value.map(|value| format!(" {word} {value}")));
    }
    Ok(text)
}

/// One characteristic; `Some(None)` for what holds anyway, `None` where the body begins.
fn characteristic(cursor: &mut Cursor<'_, '_>) -> Result<Option<Option<String>>, Fault> {
    const SAID: [&[&str]; 4] = [
        &["DETERMINISTIC"],
        &["NO", "SQL"],
        &["READS", "SQL", "DATA"],
        &["MODIFIES", "SQL", "DATA"],
    ];
    const USUAL: [&[&str]; 4] = [
        &["NOT", "DETERMINISTIC"],
        &["CONTAINS", "SQL"],
        &["LANGUAGE", "SQL"],
        &["SQL", "SECURITY", "DEFINER"],
    ];
    if USUAL.iter().any(|words| cursor.eat_seq(words)) {
        return Ok(Some(None));
    }
    if let Some(words) = SAID.iter().find(|words| cursor.eat_seq(words)) {
        return Ok(Some(Some(words.join(" "))));
    }
    if cursor.eat_seq(&["SQL", "SECURITY", "INVOKER"]) {
        return Ok(Some(Some("SECURITY INVOKER".to_owned())));
    }
    if cursor.eat("LANGUAGE") {
        return Ok(Some(Some(format!("LANGUAGE {}", cursor.any()?.text))));
    }
    if cursor.eat("COMMENT") {
        let comment = cursor.string()?;
        let comment = (!comment.is_empty()).then(|| format!("COMMENT {comment:?}"));
        return Ok(Some(comment));
    }
    Ok(None)
}

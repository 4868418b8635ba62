//! Splits a text into statements at the delimiter, which `DELIMITER` changes; never inside strings,
//! comments or bodies.

use super::lexer::{Executes, Fault, Kind, Lexer, Token};
use crate::rename::Renamed;

/// One statement; the buffers are reused by the next.
#[derive(Default)]
pub(super) struct Statement<'a> {
    pub tokens: Vec<Token<'a>>,
    /// Rename comments inside and right behind the statement, by offset.
    pub renames: Vec<(usize, Renamed)>,
}

impl Statement<'_> {
    /// Byte offsets of the first token's start and of the last token's end.
    pub fn span(&self) -> (usize, usize) {
        let start = self.tokens.first().map_or(0, |token| token.at);
        (start, self.tokens.last().map_or(start, Token::end))
    }
}

pub(super) struct Splitter<'a> {
    lexer: Lexer<'a>,
    delimiter: &'a str,
}

impl<'a> Splitter<'a> {
    pub fn new(text: &'a str, executes: Executes) -> Splitter<'a> {
        Splitter {
            lexer: Lexer::new(text, executes),
            delimiter: ";",
        }
    }

    /// Reads the next non-empty statement; `false` at the end.
    pub fn next(&mut self, statement: &mut Statement<'a>) -> Result<bool, Fault> {
        loop {
            statement.tokens.clear();
            let is_more = self.read(statement)?;
            statement.renames = std::mem::take(&mut self.lexer.renames);
            if !statement.tokens.is_empty() {
                return Ok(true);
            }
            if !is_more {
                return Ok(false);
            }
        }
    }

    fn read(&mut self, statement: &mut Statement<'a>) -> Result<bool, Fault> {
        let mut body = Body::default();
        loop {
            self.lexer.skip()?;
            if self.at_delimiter() && (self.delimiter != ";" || body.depth == 0) {
                self.lexer.at += self.delimiter.len();
                self.comment_behind();
                return Ok(true);
            }
            let Some(token) = self.lexer.next()? else {
                return Ok(false);
            };
            if statement.tokens.is_empty() && token.is("DELIMITER") {
                self.delimiter = delimiter(self.lexer.rest_of_line());
                return Ok(true);
            }
            // The client takes it without a delimiter.
            if statement.tokens.is_empty() && token.is("USE") {
                statement.tokens.push(token);
                self.lexer.rest_of_line();
                return Ok(true);
            }
            body.see(&statement.tokens, &token);
            statement.tokens.push(token);
        }
    }

    fn at_delimiter(&self) -> bool {
        self.lexer.text[self.lexer.at..].starts_with(self.delimiter)
    }

    /// A comment on the same line behind the delimiter still belongs to the statement.
    fn comment_behind(&mut self) {
        let rest = &self.lexer.text[self.lexer.at..];
        let comment = rest.trim_start_matches([' ', '\t']);
        // A line may be the whole text, so its end is looked for only where it matters.
        let has_old_name = || {
            comment
                .lines()
                .next()
                .is_some_and(|line| line.contains("@rename"))
        };
        if comment.starts_with("-- ") && has_old_name() {
            // The comment ends with its line, so reading it meets nothing that could fail.
            let _ = self.lexer.skip();
        }
    }
}

fn delimiter(line: &str) -> &str {
    match line.split_whitespace().next() {
        Some(delimiter) => delimiter,
        None => ";",
    }
}

/// How deep a statement is inside the blocks of a stored program. It matters where the delimiter is
/// `;` alone.
#[derive(Default)]
struct Body {
    is_program: bool,
    depth: usize,
    /// Whether the previous word was END, possibly followed by the block's kind.
    is_end: bool,
    /// Whether the program is a package: a block without BEGIN, or with one for what is executed at
    /// first use.
    is_package: bool,
    /// Whether the head of a package's routine has begun, and whether BEGIN is still to come.
    is_head: bool,
    is_routine: bool,
}

/// A program's kind stands at most so many tokens behind CREATE (OR REPLACE DEFINER = user @ host
/// …).
const HEAD_TOKENS: usize = 10;

impl Body {
    fn see(&mut self, before: &[Token<'_>], token: &Token<'_>) {
        if token.kind != Kind::Word {
            self.is_end = false;
            return;
        }
        if !self.is_program {
            self.is_program = before.len() <= HEAD_TOKENS
                && before.first().is_some_and(|first| first.is("CREATE"))
                && ["TRIGGER", "EVENT", "PROCEDURE", "FUNCTION", "PACKAGE"]
                    .iter()
                    .any(|kind| token.is(kind))
                && !before.iter().any(|token| token.is_op("("));
            self.is_package = self.is_program && token.is("PACKAGE");
            self.depth = usize::from(self.is_package);
            return;
        }
        let is_block = ["IF", "LOOP", "WHILE", "REPEAT"]
            .iter()
            .any(|kind| token.is(kind));
        let was_end = std::mem::take(&mut self.is_end);
        if token.is("END") {
            self.is_end = true;
            self.depth = self.depth.saturating_sub(1);
        } else if was_end && (is_block || token.is("CASE")) {
            // The kind of the block that has just ended.
        } else if self.is_package && self.depth == 1 {
            self.see_in_package(token);
        } else if token.is("BEGIN")
            || token.is("CASE")
            || (is_block && begins_statement(before.last()))
        {
            self.depth += 1;
        }
    }
}

impl Body {
    /// Counts a word of a package outside of routines.
    fn see_in_package(&mut self, token: &Token<'_>) {
        if token.is("AS") || token.is("IS") {
            self.is_routine = std::mem::take(&mut self.is_head);
        } else if token.is("FUNCTION") || token.is("PROCEDURE") {
            self.is_head = true;
        } else if token.is("BEGIN") && std::mem::take(&mut self.is_routine) {
            self.depth += 1;
        }
    }
}

fn begins_statement(before: Option<&Token<'_>>) -> bool {
    before.is_some_and(|before| {
        before.is_op(";")
            || before.is_op(":")
            || ["BEGIN", "THEN", "ELSE", "LOOP", "DO", "REPEAT", "ROW"]
                .iter()
                .any(|word| before.is(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Product, Server};

    fn check(sql: &str, expected: &[&str]) {
        let mut splitter = Splitter::new(sql, Executes::of(&Server::unknown(Product::MariaDb)));
        let mut statement = Statement::default();
        let mut found = Vec::new();
        while splitter.next(&mut statement).unwrap() {
            let (start, end) = statement.span();
            found.push(&sql[start..end]);
        }
        assert_eq!(found, expected, "{sql}");
    }

    #[test]
    fn statements_end_at_delimiters_alone() {
        check("a ';' `;`; -- ;\n/* ; */ b;;c", &["a ';' `;`", "b", "c"]);
        check("DELIMITER $$\na; b $$\ndelimiter ;\nc;", &["a; b", "c"]);
        check("use x\na;", &["use", "a"]);
        check(
            "/*!50003 CREATE*/ /*!50003 TRIGGER t */;\nb",
            &["CREATE*/ /*!50003 TRIGGER t", "b"],
        );
    }

    #[test]
    fn bodies_keep_their_delimiters() {
        let body = "CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN
            IF a THEN SET b = IF(1, 2, 3); END IF;
            CASE c WHEN 1 THEN d; END CASE;
            SELECT CASE e WHEN 1 THEN 2 END;
            l: LOOP LEAVE l; END LOOP;
            BEGIN f; END;
        END";
        check(&format!("{body}; g"), &[body, "g"]);
        let package = "CREATE PACKAGE p AS FUNCTION one RETURN int; PROCEDURE two(a int); END";
        let body = "CREATE OR REPLACE PACKAGE BODY p AS a int := 5; FUNCTION one RETURN int AS BEGIN RETURN 1; END;
            PROCEDURE two(a int) AS b int; BEGIN IF a IS NULL THEN b := 2; END IF; END; BEGIN a := 7; END";
        check(&format!("{package}; {body}; c"), &[package, body, "c"]);
        let variables = "CREATE PACKAGE BODY p AS a int; BEGIN a := 7; END";
        check(&format!("{variables}; c"), &[variables, "c"]);
        let single = "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO IF (a) THEN b; END IF";
        check(&format!("{single}; c"), &[single, "c"]);
        check(
            "CREATE TABLE t (begin int); a",
            &["CREATE TABLE t (begin int)", "a"],
        );
    }
}

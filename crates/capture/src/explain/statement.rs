//! A reader of just enough SQL to decide whether a statement may be explained, where the
//! placeholders are, and which table an alias stands for.
//!
//! Reads the common ground of the dialects. Where they disagree (backslashes in strings, double
//! quotes) the cautious reading is taken, and drivers are asked in ways that run one statement
//! only.

use std::collections::HashMap;

use super::TableName;

/// A single SELECT without locks and writes.
#[derive(Debug)]
pub(super) struct Statement<'a> {
    sql: &'a str,
    tokens: Vec<Token<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    /// A name in double quotes, back quotes or brackets.
    Quoted,
    String,
    /// `?`, `?1`, `$1`, `:name`, `@name`.
    Placeholder,
    Number,
    Sign,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    start: usize,
}

/// Words after a table in FROM, never taken for an alias.
const AFTER_TABLE: &[&str] = &[
    "where",
    "group",
    "order",
    "having",
    "limit",
    "offset",
    "fetch",
    "union",
    "intersect",
    "except",
    "window",
    "join",
    "inner",
    "left",
    "right",
    "full",
    "cross",
    "natural",
    "straight_join",
    "on",
    "using",
    "use",
    "force",
    "ignore",
    "indexed",
    "not",
    "partition",
    "tablesample",
    "lateral",
    "select",
    "for",
    "lock",
    "into",
    "procedure",
];

/// Words never part of a plain SELECT: `INTO` writes, `FOR UPDATE` and the like lock (`FOR` also
/// stands in `substring(a FOR 3)` and index hints, which are lost), `LOCK IN SHARE MODE` too; the
/// rest could stand in a WITH.
const REFUSED: &[&str] = &[
    "into",
    "for",
    "lock",
    "insert",
    "update",
    "delete",
    "merge",
    "procedure",
];

impl<'a> Statement<'a> {
    /// Returns the statement; `None` for anything but a plain SELECT.
    pub(super) fn plain_select(sql: &'a str) -> Option<Statement<'a>> {
        let mut tokens = tokens(sql)?;
        while tokens.last().is_some_and(|token| token.text == ";") {
            tokens.pop();
        }
        let first = tokens.iter().find(|token| token.text != "(")?;
        let plain = first.is_word("select")
            && tokens.iter().all(|token| token.text != ";")
            && !tokens
                .iter()
                .any(|token| REFUSED.iter().any(|word| token.is_word(word)));
        plain.then_some(Statement { sql, tokens })
    }

    /// Returns the text as written.
    pub(super) fn sql(&self) -> &'a str {
        let end = self
            .tokens
            .last()
            .map_or(0, |token| token.start + token.text.len());
        &self.sql[..end]
    }

    pub(super) fn has_placeholders(&self) -> bool {
        self.tokens
            .iter()
            .any(|token| token.kind == Kind::Placeholder)
    }

    /// Returns the statement with a constant for every placeholder; the module `explain` says which
    /// and why.
    pub(super) fn with_constants(&self) -> String {
        let mut text = String::with_capacity(self.sql.len() + 16);
        let mut written = 0;
        let mut in_limit = false;
        for token in &self.tokens {
            in_limit = match token.kind {
                Kind::Word => token.is_word("limit") || token.is_word("offset"),
                Kind::Sign => in_limit && token.text == ",",
                _ => in_limit,
            };
            if token.kind == Kind::Placeholder {
                text.push_str(&self.sql[written..token.start]);
                text.push_str(if in_limit { "1" } else { "'1'" });
                written = token.start + token.text.len();
            }
        }
        text.push_str(&self.sql()[written..]);
        text
    }

    /// Tables by the names used in a plan: alias, else table; in lower case.
    pub(super) fn tables(&self) -> HashMap<String, TableName> {
        let mut tables = HashMap::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let starts = self.tokens[at].is_word("from")
                || self.tokens[at].is_word("join")
                || self.tokens[at].is_word("straight_join");
            at += 1;
            while starts && at < self.tokens.len() {
                at = self.table_at(at, &mut tables);
                if self.tokens.get(at).is_none_or(|token| token.text != ",") {
                    break;
                }
                at += 1;
            }
        }
        tables
    }

    /// Reads `schema.table AS alias` and returns the position after the alias.
    fn table_at(&self, mut at: usize, tables: &mut HashMap<String, TableName>) -> usize {
        let name_at = |at: usize| {
            let token = self.tokens.get(at)?;
            (!token.is_any_word(AFTER_TABLE)).then(|| token.name())?
        };
        while self.tokens.get(at).is_some_and(|token| token.text == "(") {
            at += 1;
        }
        let Some(mut table) = name_at(at) else {
            return at;
        };
        let mut schema = None;
        at += 1;
        while self.tokens.get(at).is_some_and(|token| token.text == ".") {
            let Some(next) = name_at(at + 1) else {
                return at;
            };
            schema = Some(std::mem::replace(&mut table, next));
            at += 2;
        }
        let explicit = self.tokens.get(at).is_some_and(|token| token.is_word("as"));
        at += usize::from(explicit);
        let alias = match self.tokens.get(at) {
            Some(token) if explicit || !token.is_any_word(AFTER_TABLE) => token.name(),
            _ => None,
        };
        at += usize::from(alias.is_some());
        let known_as = alias.as_deref().unwrap_or(&table).to_lowercase();
        tables
            .entry(known_as)
            .or_insert(TableName { schema, table });
        at
    }
}

impl Token<'_> {
    fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    fn is_any_word(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(word))
    }

    /// Returns the name in the token, without quotes.
    fn name(&self) -> Option<String> {
        match self.kind {
            Kind::Word => Some(self.text.to_owned()),
            Kind::Quoted => {
                let quote = &self.text[self.text.len() - 1..];
                let inner = &self.text[1..self.text.len() - 1];
                Some(inner.replace(&quote.repeat(2), quote))
            }
            _ => None,
        }
    }
}

/// `None` when a string or comment does not end.
fn tokens(sql: &str) -> Option<Vec<Token<'_>>> {
    let bytes = sql.as_bytes();
    let mut tokens = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let (kind, end) = match bytes[start] {
            byte if byte.is_ascii_whitespace() => {
                start += 1;
                continue;
            }
            b'-' if bytes[start..].starts_with(b"--") => {
                start = line_end(bytes, start);
                continue;
            }
            b'/' if bytes[start..].starts_with(b"/*") => {
                // `/*!` and `/*+` are no comments to MySQL.
                if matches!(bytes.get(start + 2), Some(b'!')) {
                    return None;
                }
                start += 2 + find(&bytes[start + 2..], b"*/")? + 2;
                continue;
            }
            b'\'' => (Kind::String, quoted_end(bytes, start, b'\'')?),
            quote @ (b'"' | b'`') => (Kind::Quoted, quoted_end(bytes, start, quote)?),
            b'$' if !followed_by_digit(bytes, start) => return None,
            b'?' | b'$' => (
                Kind::Placeholder,
                run_end(bytes, start + 1, u8::is_ascii_digit),
            ),
            b':' | b'@' if bytes.get(start + 1).is_some_and(is_word_byte) => {
                (Kind::Placeholder, run_end(bytes, start + 1, is_word_byte))
            }
            b':' if bytes.get(start + 1) == Some(&b':') => (Kind::Sign, start + 2),
            byte if byte.is_ascii_digit() => (Kind::Number, run_end(bytes, start, is_number_byte)),
            byte if is_word_byte(&byte) => (Kind::Word, run_end(bytes, start, is_word_byte)),
            _ => (Kind::Sign, start + 1),
        };
        tokens.push(Token {
            kind,
            text: &sql[start..end],
            start,
        });
        start = end;
    }
    Some(tokens)
}

fn is_word_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'$' || *byte >= 0x80
}

fn is_number_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'.'
}

fn followed_by_digit(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
}

fn run_end(bytes: &[u8], start: usize, belongs: fn(&u8) -> bool) -> usize {
    start
        + bytes[start..]
            .iter()
            .take_while(|byte| belongs(byte))
            .count()
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    run_end(bytes, start, |byte| *byte != b'\n')
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// Returns the end of a quoted text. A doubled quote belongs to it. A backslash before a quote
/// reads differently in different dialects, so such a text is refused.
fn quoted_end(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    loop {
        let byte = *bytes.get(at)?;
        if byte == b'\\' && bytes.get(at + 1) == Some(&quote) {
            return None;
        }
        match byte == quote {
            true if bytes.get(at + 1) == Some(&quote) => at += 2,
            true => return Some(at + 1),
            false => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_plain_selects_pass() {
        let check = |sql: &str, expected: bool| {
            assert_eq!(Statement::plain_select(sql).is_some(), expected, "{sql}");
        };
        check("SELECT 1", true);
        check(" /* app:chat */ -- by\n select * from t;", true);
        check("(SELECT a FROM t) UNION (SELECT b FROM u)", true);
        check("SELECT 'for update; into' FROM t", true);
        check("SELECT a FROM t; DROP TABLE t", false);
        check("SELECT a INTO OUTFILE '/x' FROM t", false);
        check("SELECT * FROM t FOR UPDATE", false);
        check("SELECT * FROM t LOCK IN SHARE MODE", false);
        check("WITH x AS (SELECT 1) SELECT * FROM x", false);
        check("UPDATE t SET a = 1", false);
        check("INSERT INTO t SELECT 1", false);
        check("SELECT 1 /*! INTO OUTFILE '/x' */", false);
        check("SELECT 'open", false);
        check("SELECT /* open", false);
        check(r"SELECT 'a\'; DROP TABLE t; -- '", false);
        check("SELECT $$; DROP TABLE t$$", false);
        check("", false);
    }

    #[test]
    fn placeholders_get_constants() {
        let check = |sql: &str, expected: &str| {
            let statement = Statement::plain_select(sql).unwrap();
            assert_eq!(statement.with_constants(), expected);
            assert_eq!(statement.has_placeholders(), statement.sql() != expected);
        };
        check(
            "SELECT a FROM t WHERE b = ? AND c IN (?,?)",
            "SELECT a FROM t WHERE b = '1' AND c IN ('1','1')",
        );
        check(
            "SELECT a FROM t LIMIT ? OFFSET ?",
            "SELECT a FROM t LIMIT 1 OFFSET 1",
        );
        check(
            "SELECT a FROM t WHERE b=$1 LIMIT $2, $3",
            "SELECT a FROM t WHERE b='1' LIMIT 1, 1",
        );
        check(
            "SELECT a FROM t WHERE b = :name",
            "SELECT a FROM t WHERE b = '1'",
        );
        check(
            "SELECT a::text, '?' FROM t -- ?",
            "SELECT a::text, '?' FROM t",
        );
    }

    #[test]
    fn tables_by_their_names_in_the_plan() {
        let check = |sql: &str, expected: &[(&str, &str)]| {
            let mut found: Vec<(String, String)> = Statement::plain_select(sql)
                .unwrap()
                .tables()
                .into_iter()
                .map(|(alias, name)| {
                    (
                        alias,
                        name.schema.map_or(String::new(), |schema| schema + ".") + &name.table,
                    )
                })
                .collect();
            found.sort();
            let found: Vec<(&str, &str)> = found
                .iter()
                .map(|(a, b)| (a.as_str(), b.as_str()))
                .collect();
            assert_eq!(found, expected, "{sql}");
        };
        check(
            "SELECT * FROM message WHERE id > ?",
            &[("message", "message")],
        );
        check(
            "SELECT * FROM message AS M, `user` u LEFT JOIN \"image\" ON 1 = 1 ORDER BY 1",
            &[("image", "image"), ("m", "message"), ("u", "user")],
        );
        check(
            "SELECT * FROM a WHERE id IN (SELECT x FROM app.b c WHERE c.y = 1)",
            &[("a", "a"), ("c", "app.b")],
        );
        check(
            "SELECT * FROM (SELECT * FROM `we``ird`) d",
            &[("we`ird", "we`ird")],
        );
        check(
            "SELECT extract(year FROM day) FROM t",
            &[("day", "day"), ("t", "t")],
        );
        check("SELECT 1", &[]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(sql in "\\PC{0,60}", tail in "[ -~\n]{0,60}") {
            for text in [sql.clone(), format!("SELECT {sql} FROM {tail}"), tail] {
                if let Some(statement) = Statement::plain_select(&text) {
                    statement.with_constants();
                    statement.tables();
                }
            }
        }
    }
}

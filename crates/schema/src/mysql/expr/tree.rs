//! An expression parsed by operator precedence and printed fully parenthesised in one spelling.

mod calls;

use std::collections::BTreeSet;

use crate::mysql::lexer::{Kind, Token, literal, unquoted};

/// Limit on nesting; deeper expressions are compared token by token. No person writes such depths,
/// and the stack is finite.
const DEPTH_MAX: usize = 200;

/// Limit on tokens; longer expressions are compared token by token: each operation copies the text
/// to the left.
const TOKENS_MAX: usize = 5_000;

/// Returns the canonical text, or `None` for an expression outside the grammar understood here.
pub(super) fn canonical(tokens: &[Token<'_>]) -> Option<String> {
    if tokens.len() > TOKENS_MAX {
        return None;
    }
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
    };
    let node = parser.binary(0)?;
    (parser.at == tokens.len()).then(|| node.print())
}

#[derive(Clone, Debug)]
enum Node {
    Leaf(String),
    /// AND or OR with all operands.
    Joined(&'static str, Vec<Node>),
    /// Anything else, printed.
    Done(String),
    /// `left = right`, which a chain of OR may turn into IN.
    Equal(Box<Node>, Box<Node>),
    In(Box<Node>, BTreeSet<String>),
}

impl Node {
    fn print(&self) -> String {
        match self {
            Node::Leaf(text) | Node::Done(text) => text.clone(),
            Node::Equal(left, right) => format!("({} = {})", left.print(), right.print()),
            Node::In(left, values) if values.len() == 1 => {
                let value: Vec<&str> = values.iter().map(String::as_str).collect();
                format!("({} = {})", left.print(), value.join(""))
            }
            Node::In(left, values) => {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                format!("({} in ({}))", left.print(), values.join(", "))
            }
            Node::Joined(op, nodes) => {
                let parts: Vec<String> = nodes.iter().map(Node::print).collect();
                format!("({})", parts.join(&format!(" {op} ")))
            }
        }
    }
}

/// Joins what is AND to AND and OR to OR; equalities of one thing in a chain of OR are an IN.
fn joined(op: &'static str, left: Node, right: Node) -> Node {
    let mut nodes = Vec::new();
    for node in [left, right] {
        match node {
            Node::Joined(inner, more) if inner == op => nodes.extend(more),
            node => nodes.push(node),
        }
    }
    if op == "or" {
        nodes = gathered(nodes);
    }
    match nodes.len() {
        1 => nodes.remove(0),
        _ => Node::Joined(op, nodes),
    }
}

fn gathered(nodes: Vec<Node>) -> Vec<Node> {
    let mut gathered: Vec<Node> = Vec::new();
    for node in nodes {
        let (subject, values) = match &node {
            Node::Equal(left, right) if is_constant(right) => {
                (left.print(), BTreeSet::from([right.print()]))
            }
            Node::In(left, values) => (left.print(), values.clone()),
            _ => {
                gathered.push(node);
                continue;
            }
        };
        let same = gathered.iter_mut().find_map(|node| match node {
            Node::In(left, values) if left.print() == subject => Some(values),
            _ => None,
        });
        match same {
            Some(known) => known.extend(values),
            None => gathered.push(Node::In(Box::new(Node::Leaf(subject)), values)),
        }
    }
    gathered
}

fn is_constant(node: &Node) -> bool {
    matches!(node, Node::Leaf(text) if text.starts_with(|first: char| first == '\'' || first.is_ascii_digit()))
}

struct Parser<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    depth: usize,
}

impl<'t, 'a> Parser<'t, 'a> {
    fn peek(&self) -> Option<&'t Token<'a>> {
        self.tokens.get(self.at)
    }

    fn is(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| token.is(word))
    }

    fn eat(&mut self, word: &str) -> bool {
        let is = self.is(word);
        self.at += usize::from(is);
        is
    }

    fn eat_op(&mut self, op: &str) -> bool {
        let is = self.peek().is_some_and(|token| token.is_op(op));
        self.at += usize::from(is);
        is
    }

    /// Returns the next operator and the precedence, without consuming a token.
    fn operator(&self) -> Option<(&'static str, u8)> {
        let token = self.peek()?;
        const OPS: [(&str, &str, u8); 22] = [
            ("||", "or", 1),
            ("&&", "and", 3),
            ("=", "=", 5),
            ("<=>", "<=>", 5),
            (">=", ">=", 5),
            (">", ">", 5),
            ("<=", "<=", 5),
            ("<", "<", 5),
            ("<>", "<>", 5),
            ("!=", "<>", 5),
            ("|", "|", 6),
            ("&", "&", 7),
            ("<<", "<<", 8),
            (">>", ">>", 8),
            ("-", "-", 9),
            ("+", "+", 9),
            ("*", "*", 10),
            ("/", "/", 10),
            ("%", "%", 10),
            ("^", "^", 11),
            ("->", "->", 13),
            ("->>", "->>", 13),
        ];
        const WORDS: [(&str, &str, u8); 15] = [
            ("OR", "or", 1),
            ("XOR", "xor", 2),
            ("AND", "and", 3),
            ("IS", "is", 5),
            ("LIKE", "like", 5),
            ("REGEXP", "regexp", 5),
            ("RLIKE", "regexp", 5),
            ("IN", "in", 5),
            ("BETWEEN", "between", 5),
            ("NOT", "not", 5),
            ("MEMBER", "member of", 5),
            ("DIV", "div", 10),
            ("MOD", "%", 10),
            ("COLLATE", "collate", 12),
            ("SOUNDS", "sounds like", 5),
        ];
        let find = |table: &'static [(&str, &str, u8)], matches: &dyn Fn(&str) -> bool| {
            table
                .iter()
                .find(|(spelling, _, _)| matches(spelling))
                .map(|(_, op, strength)| (*op, *strength))
        };
        match token.kind {
            Kind::Op => find(&OPS, &|spelling| spelling == token.text),
            Kind::Word => find(&WORDS, &|spelling| token.is(spelling)),
            _ => None,
        }
    }

    fn binary(&mut self, weakest: u8) -> Option<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let mut left = self.prefix()?;
        while let Some((op, strength)) = self.operator() {
            if strength < weakest {
                break;
            }
            self.at += 1;
            left = self.operation(left, op, strength)?;
        }
        self.depth -= 1;
        Some(left)
    }

    fn operation(&mut self, left: Node, op: &'static str, strength: u8) -> Option<Node> {
        match op {
            "or" | "and" => {
                let right = self.binary(strength + 1)?;
                Some(joined(op, left, right))
            }
            "=" => {
                let right = self.binary(strength + 1)?;
                Some(Node::Equal(Box::new(left), Box::new(right)))
            }
            "is" => {
                let not = if self.eat("NOT") { "not " } else { "" };
                let what = self.peek()?.text.to_ascii_lowercase();
                self.at += 1;
                Some(Node::Done(format!("({} is {not}{what})", left.print())))
            }
            "not" => {
                let (op, strength) = self.operator()?;
                self.at += 1;
                let inner = self.operation(left, op, strength)?;
                Some(Node::Done(format!("(not {})", inner.print())))
            }
            "in" => self.in_list(left),
            "between" => {
                let low = self.binary(6)?.print();
                if !self.eat("AND") {
                    return None;
                }
                let high = self.binary(6)?.print();
                let left = left.print();
                Some(Node::Done(format!("({left} between {low} and {high})")))
            }
            "collate" => {
                let collation = self.peek()?;
                self.at += 1;
                let name = unquoted_name(collation);
                Some(Node::Done(format!("({} collate {name})", left.print())))
            }
            "member of" | "sounds like" => {
                self.at += 1;
                let right = self.binary(strength + 1)?.print();
                Some(Node::Done(format!("({} {op} {right})", left.print())))
            }
            "->" | "->>" => {
                let path = self.binary(strength + 1)?.print();
                let extract = format!("json_extract({}, {path})", left.print());
                Some(Node::Done(match op {
                    "->" => extract,
                    _ => format!("json_unquote({extract})"),
                }))
            }
            _ => {
                let right = self.binary(strength + 1)?.print();
                let mut text = format!("({} {op} {right})", left.print());
                if op == "like" && self.eat("ESCAPE") {
                    text = format!("({text} escape {})", self.binary(6)?.print());
                }
                Some(Node::Done(text))
            }
        }
    }

    fn in_list(&mut self, left: Node) -> Option<Node> {
        if !self.eat_op("(") {
            return None;
        }
        let values = self.list()?;
        Some(Node::In(Box::new(left), values.into_iter().collect()))
    }

    /// Values up to the closing parenthesis, which is eaten.
    fn list(&mut self) -> Option<Vec<String>> {
        let mut values = Vec::new();
        if self.eat_op(")") {
            return Some(values);
        }
        loop {
            values.push(self.binary(0)?.print());
            if self.eat_op(")") {
                return Some(values);
            }
            if !self.eat_op(",") {
                return None;
            }
        }
    }

    fn prefix(&mut self) -> Option<Node> {
        let token = self.peek()?;
        self.at += 1;
        match token.kind {
            Kind::Number => Some(Node::Leaf(number(token.text))),
            Kind::Text => Some(Node::Leaf(literal(&self.strings(token)))),
            Kind::Param => Some(Node::Leaf(token.text.to_owned())),
            Kind::Quoted => self.name(unquoted(token.text)),
            Kind::Op => self.prefix_op(token.text),
            Kind::Word => self.prefix_word(token),
        }
    }

    fn strings(&mut self, first: &Token<'_>) -> String {
        let mut text = unquoted(first.text);
        while let Some(token) = self.peek().filter(|token| token.kind == Kind::Text) {
            text.push_str(&unquoted(token.text));
            self.at += 1;
        }
        text
    }

    fn prefix_op(&mut self, op: &str) -> Option<Node> {
        match op {
            "(" => {
                let mut values = vec![self.binary(0)?];
                while self.eat_op(",") {
                    values.push(self.binary(0)?);
                }
                if !self.eat_op(")") {
                    return None;
                }
                if values.len() == 1 {
                    return values.pop();
                }
                let printed: Vec<String> = values.iter().map(Node::print).collect();
                Some(Node::Done(format!("row({})", printed.join(", "))))
            }
            "-" => {
                let operand = self.binary(12)?.print();
                Some(Node::Leaf(format!("-{operand}")))
            }
            "+" => self.binary(12),
            "!" => Some(Node::Done(format!("(not {})", self.binary(12)?.print()))),
            "~" => Some(Node::Done(format!("~{}", self.binary(12)?.print()))),
            _ => None,
        }
    }

    fn prefix_word(&mut self, token: &Token<'_>) -> Option<Node> {
        let word = token.text.to_ascii_lowercase();
        let next = self.peek();
        // `_utf8mb4'x'` and `N'x'` are strings whose character set goes without saying.
        if (word.starts_with('_') || word == "n")
            && next.is_some_and(|next| next.kind == Kind::Text)
        {
            return self.prefix();
        }
        if next.is_some_and(|next| next.is_op("(")) && !["not", "in", "and", "or"].contains(&&*word)
        {
            self.at += 1;
            return self.call(&word);
        }
        match word.as_str() {
            "not" => {
                let inner = self.binary(4)?.print();
                let opposite = [
                    (" is null)", " is not null)"),
                    (" is not null)", " is null)"),
                ];
                let negated = opposite.iter().find_map(|(ends, becomes)| {
                    Some(format!("{}{becomes}", inner.strip_suffix(ends)?))
                });
                Some(Node::Done(
                    negated.unwrap_or_else(|| format!("(not {inner})")),
                ))
            }
            "case" => self.case(),
            "interval" => {
                let count = self.binary(0)?.print();
                let unit = self.peek()?.text.to_ascii_lowercase();
                self.at += 1;
                Some(Node::Done(format!("interval {count} {unit}")))
            }
            "binary" => Some(Node::Done(format!("binary {}", self.binary(12)?.print()))),
            "date" | "time" | "timestamp" if next.is_some_and(|next| next.kind == Kind::Text) => {
                let value = self.prefix()?.print();
                Some(Node::Done(format!("{word} {value}")))
            }
            "null" | "true" | "false" => Some(Node::Leaf(word)),
            "current_timestamp" | "localtime" | "localtimestamp" => {
                Some(Node::Leaf("current_timestamp()".to_owned()))
            }
            "current_date" => Some(Node::Leaf("current_date()".to_owned())),
            "current_time" => Some(Node::Leaf("current_time()".to_owned())),
            "current_user" => Some(Node::Leaf("current_user()".to_owned())),
            "select" | "exists" | "with" => None,
            _ => self.name(token.text.to_owned()),
        }
    }

    /// Reads a column, possibly qualified.
    fn name(&mut self, first: String) -> Option<Node> {
        let mut name = first.to_lowercase();
        while self.eat_op(".") {
            let token = self.peek()?;
            self.at += 1;
            name = format!("{name}.{}", unquoted_name(token).to_lowercase());
        }
        Some(Node::Leaf(name))
    }
}

fn unquoted_name(token: &Token<'_>) -> String {
    match token.kind {
        Kind::Quoted | Kind::Text => unquoted(token.text),
        _ => token.text.to_owned(),
    }
}

fn number(text: &str) -> String {
    text.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::lexer::{Executes, Lexer};
    use crate::{Product, Server};

    fn canonical_of(sql: &str) -> Option<String> {
        let mut lexer = Lexer::new(sql, Executes::of(&Server::unknown(Product::Mysql)));
        let tokens: Vec<Token<'_>> = std::iter::from_fn(|| lexer.next().unwrap()).collect();
        canonical(&tokens)
    }

    #[test]
    fn alike() {
        let check = |one: &str, other: &str| {
            assert_eq!(canonical_of(one).unwrap(), canonical_of(other).unwrap());
        };
        check("a + b * c", "(`a` + (`b` * `c`))");
        check("A AND b AND c", "((a and b) AND c)");
        check("a = 1 OR a = 2 OR a = 1", "a IN (2, 1)");
        check("a NOT IN (1)", "NOT a = 1");
        check("d->>'$.x'", "json_unquote(json_extract(d, _utf8mb4'$.x'))");
        check("CONVERT(a, SIGNED)", "cast(a as signed)");
        check("now()", "CURRENT_TIMESTAMP");
        check("substring(a, 1)", "substr(a,1)");
        check("a BETWEEN 1 AND 2 AND b", "((a between 1 and 2) and b)");
        check("case when (a = 0) then b end", "CASE WHEN a=0 THEN b END");
        check("a != 1", "a <> 1");
        check(
            "NOT a IS NULL AND NOT b IS NOT NULL",
            "a is not null and b is null",
        );
        check("not a like 'x%'", "a not like 'x%'");
    }

    #[test]
    fn not_alike() {
        let check = |one: &str, other: &str| {
            assert_ne!(canonical_of(one).unwrap(), canonical_of(other).unwrap());
        };
        check("(a + b) * c", "a + b * c");
        check("a OR b AND c", "(a OR b) AND c");
        check("a = 'x'", "a = 'X'");
        check("a - (b - c)", "a - b - c");
    }

    #[test]
    fn unknown_or_endless() {
        assert_eq!(canonical_of("a IN (SELECT 1)"), None);
        assert_eq!(canonical_of("a +"), None);
        assert_eq!(canonical_of(&"(".repeat(100_000)), None);
    }
}

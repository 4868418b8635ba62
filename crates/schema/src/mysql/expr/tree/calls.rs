//! Function calls, casts and CASE.

use super::{Node, Parser, unquoted_name};
use crate::mysql::expr::tokens;

/// All rows.
const COUNT_ALL: &str = "count(*)";

impl Parser<'_, '_> {
    /// From behind the opening parenthesis on.
    pub(super) fn call(&mut self, function: &str) -> Option<Node> {
        let function = match function {
            "substring" | "mid" => "substr",
            "now" | "localtime" | "localtimestamp" => "current_timestamp",
            "curdate" => "current_date",
            "curtime" => "current_time",
            "lcase" => "lower",
            "ucase" => "upper",
            "char_length" | "character_length" => "char_length",
            "octet_length" => "length",
            "power" => "pow",
            "ceiling" => "ceil",
            "day" => "dayofmonth",
            "json_compact" => "json_compact",
            function => function,
        };
        if matches!(function, "cast" | "convert") {
            return self.cast(function);
        }
        if function == "count" && self.eat_op("*") {
            return self.eat_op(")").then(|| Node::Done(COUNT_ALL.to_owned()));
        }
        let distinct = if self.eat("DISTINCT") {
            "distinct "
        } else {
            ""
        };
        let values = self.list()?;
        // What servers make of `count(*)` in a view.
        if function == "count" && distinct.is_empty() && values == ["0"] {
            return Some(Node::Done(COUNT_ALL.to_owned()));
        }
        if let ("mod", [left, right]) = (function, values.as_slice()) {
            return Some(Node::Done(format!("({left} % {right})")));
        }
        Some(Node::Done(format!(
            "{function}({distinct}{})",
            values.join(", ")
        )))
    }

    /// `CAST(x AS type)` and `CONVERT(x, type)` are one; `CONVERT(x USING charset)` is another.
    fn cast(&mut self, function: &str) -> Option<Node> {
        let value = self.binary(0)?.print();
        if function == "convert" && self.eat("USING") {
            let charset = self.peek()?;
            self.at += 1;
            return self
                .eat_op(")")
                .then(|| Node::Done(format!("convert({value} using {})", unquoted_name(charset))));
        }
        if !(self.eat("AS") || self.eat_op(",")) {
            return None;
        }
        let start = self.at;
        let mut depth = 1;
        while depth > 0 {
            let token = self.peek()?;
            depth += usize::from(token.is_op("("));
            depth -= usize::from(token.is_op(")"));
            self.at += 1;
        }
        let kind = tokens::canonical(&self.tokens[start..self.at - 1], None);
        let kind = kind
            .to_ascii_lowercase()
            .replace("signed integer", "signed");
        Some(Node::Done(format!("cast({value} as {kind})")))
    }

    /// From behind CASE on.
    pub(super) fn case(&mut self) -> Option<Node> {
        let mut text = "case".to_owned();
        if !self.is("WHEN") {
            text = format!("{text} {}", self.binary(0)?.print());
        }
        while self.eat("WHEN") {
            let when = self.binary(0)?.print();
            if !self.eat("THEN") {
                return None;
            }
            text = format!("{text} when {when} then {}", self.binary(0)?.print());
        }
        if self.eat("ELSE") {
            text = format!("{text} else {}", self.binary(0)?.print());
        }
        self.eat("END").then(|| Node::Done(format!("({text} end)")))
    }
}

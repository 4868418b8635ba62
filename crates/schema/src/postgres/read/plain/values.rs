//! Types and expressions of plain statements.

use super::tokens::{Kind, Tokens};
use crate::postgres::model::Type;

/// Deepest brackets in a plain expression.
const DEPTH_MAX: usize = 16;

/// Most operators in one row of a plain expression.
const OPERATORS_MAX: usize = 100;

/// Types named by one keyword, each possibly followed by arguments.
const TYPES: [&str; 14] = [
    "bigint", "boolean", "dec", "decimal", "float", "int", "integer", "json", "name", "numeric",
    "real", "smallint", "text", "varchar",
];

/// Values written as words.
const CONSTANTS: [&str; 6] = [
    "true",
    "false",
    "null",
    "current_date",
    "current_timestamp",
    "current_user",
];

impl Tokens<'_> {
    /// A type, perhaps an array.
    pub(super) fn data_type(&mut self) -> Option<Type> {
        let start = self.start();
        self.type_name()?;
        if self.eat_sign("[") {
            self.need_sign("]")?;
        }
        Some(Type::parse(self.since(start)))
    }

    fn type_name(&mut self) -> Option<()> {
        if self.is("timestamp") || self.is("time") {
            self.advance();
            if self.eat_sign("(") {
                self.digits()?;
                self.need_sign(")")?;
            }
            if self.eat("with") || self.eat("without") {
                self.need("time")?;
                self.need("zone")?;
            }
            return Some(());
        }
        if self.eat("double") {
            return self.need("precision");
        }
        if self.eat("character") || self.eat("char") {
            self.eat("varying");
        } else if TYPES.iter().any(|word| self.is(word)) {
            self.advance();
        } else {
            self.path()?;
        }
        if self.is_sign("(") {
            self.list(Tokens::digits)?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let is_whole = self.kind() == Kind::Number && !self.current().contains('.');
        if is_whole {
            self.advance();
        }
        is_whole.then_some(())
    }

    /// Steps over an expression.
    pub(super) fn expression(&mut self, depth: usize) -> Option<()> {
        for _ in 0..OPERATORS_MAX {
            self.term(depth)?;
            if !self.operator() {
                return Some(());
            }
        }
        None
    }

    /// Whether an operator with two sides was next, and is stepped over.
    fn operator(&mut self) -> bool {
        let is_sign = self.kind() == Kind::Sign
            && !matches!(self.current(), "(" | ")" | "," | "." | "[" | "]" | "::");
        let is_one = is_sign || self.is("and") || self.is("or");
        if is_one {
            self.advance();
        }
        is_one
    }

    /// Reads a value with prefix and suffix operators.
    fn term(&mut self, depth: usize) -> Option<()> {
        self.eat("not");
        if self.eat_sign("-") && self.kind() != Kind::Number {
            return None;
        }
        self.value(depth)?;
        while self.eat_sign("::") {
            self.data_type()?;
        }
        if self.eat("in") {
            self.list(|tokens| tokens.deeper(depth))?;
        } else if self.eat("is") {
            self.eat("not");
            self.need("null")?;
        }
        Some(())
    }

    fn deeper(&mut self, depth: usize) -> Option<()> {
        if depth == DEPTH_MAX {
            return None;
        }
        self.expression(depth + 1)
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.kind() {
            Kind::Number | Kind::String => self.advance(),
            Kind::Sign => {
                self.need_sign("(")?;
                self.deeper(depth)?;
                self.need_sign(")")?;
            }
            _ if CONSTANTS.iter().any(|word| self.is(word)) => self.advance(),
            _ => self.column_or_call(depth)?,
        }
        Some(())
    }

    fn column_or_call(&mut self, depth: usize) -> Option<()> {
        if self.path().is_none() {
            // Many a column's name is a keyword; that of a function or a table means something else
            // then.
            self.column_name()?;
            return (!self.is_sign("(") && !self.is_sign(".")).then_some(());
        }
        if self.is_sign("(") {
            self.arguments(depth)?;
        }
        Some(())
    }

    fn arguments(&mut self, depth: usize) -> Option<()> {
        self.need_sign("(")?;
        if self.eat_sign(")") {
            return Some(());
        }
        self.rest_of_list(|tokens| tokens.deeper(depth))
    }
}

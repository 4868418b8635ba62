//! XPath 1.0 over HTML and XML as sent by servers, without I/O.
//!
//! [`Document`] takes any text that has an element, however wrong its markup: elements are closed
//! and added as by libxml2, whose trees the paths in flows are written for. [`Expression`] is
//! parsed once and evaluated against any number of documents.

mod evaluate;
mod expression;
mod functions;
mod html;
mod lexer;
mod number;
mod rules;
mod scan;
mod tree;
mod xml;

#[cfg(test)]
mod tests;

pub use expression::Expression;
pub use tree::Document;

/// Result of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// So many nodes.
    Nodes(usize),
    /// A number, which may be infinite or none.
    Number(f64),
    /// A text.
    Text(String),
    /// A truth value.
    Bool(bool),
}

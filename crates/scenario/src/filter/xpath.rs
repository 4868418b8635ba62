//! XPath of queries and filters, compiled when the flow is read; an XPath with expressions, at each
//! use.

use std::fmt;

use ::xpath::{Document, Expression, Found};

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::template::{Expr, Template, print_quoted, print_quoted_template, quoted};
use crate::value::Value;
use crate::variables::Variables;

/// An XPath.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum XPath {
    Fixed(String, Box<Expression>),
    Written(Template),
}

impl XPath {
    /// `"//path"`.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<XPath, Fault> {
        let start = cursor.at();
        let template = quoted(cursor)?;
        match template.as_static() {
            None => Ok(XPath::Written(template)),
            Some(text) => match compile(text) {
                Ok(expression) => Ok(XPath::Fixed(text.to_owned(), Box::new(expression))),
                Err(why) => Err(Fault::new(start, why)),
            },
        }
    }

    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            XPath::Fixed(..) => Vec::new(),
            XPath::Written(template) => template.exprs().collect(),
        }
    }

    /// Returns the value on a document.
    pub(crate) fn find(
        &self,
        document: &Document,
        variables: &mut Variables,
    ) -> Result<Value, String> {
        let found = match self {
            XPath::Fixed(_, expression) => expression.evaluate(document),
            XPath::Written(template) => compile(&template.render(variables)?)?.evaluate(document),
        };
        Ok(match found.map_err(|why| format!("xpath: {why}"))? {
            Found::Nodes(count) => Value::Nodes(count),
            Found::Number(number) => Value::Float(number),
            Found::Text(text) => Value::Text(text),
            Found::Bool(value) => Value::Bool(value),
        })
    }
}

fn compile(text: &str) -> Result<Expression, String> {
    Expression::parse(text).map_err(|why| format!("not an XPath: {why}"))
}

impl fmt::Display for XPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            XPath::Fixed(text, _) => print_quoted(text),
            XPath::Written(template) => print_quoted_template(template),
        })
    }
}

//! The Ruby of schema files as a tree: calls with literal arguments and blocks of calls.

mod literal;
mod parser;

pub(crate) use parser::parse;

/// A method call, which every statement of a schema file is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// Byte offset of the first character.
    pub(crate) at: usize,
    /// Receiver: `t` in `t.string "a"`, `ActiveRecord::Schema` in `ActiveRecord::Schema.define`.
    pub(crate) receiver: Option<String>,
    /// What stands in brackets behind the receiver: the version in `ActiveRecord::Schema[7.2]`.
    pub(crate) subscript: Option<Value>,
    pub(crate) name: String,
    /// Positional arguments.
    pub(crate) arguments: Vec<Value>,
    /// Keyword arguments.
    pub(crate) options: Vec<(Key, Value)>,
    pub(crate) block: Option<Block>,
    /// The name in a comment `# @renamed from=name` on the same line.
    pub(crate) renamed_from: Option<String>,
}

/// The name of an option, or the key of a hash.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) at: usize,
    pub(crate) name: String,
}

/// What stands between `do |t|` and `end`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) parameter: Option<String>,
    pub(crate) calls: Vec<Call>,
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    /// Byte offset of the first character.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Nil,
    Bool(bool),
    /// As written, without underscores.
    Number(String),
    Text(String),
    Symbol(String),
    List(Vec<Value>),
    Hash(Vec<(Key, Value)>),
    /// A lambda returning a string: SQL.
    Lambda(String),
}

impl Value {
    /// The letters of a string or symbol.
    pub(crate) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) | Kind::Symbol(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the value is falsy in Ruby.
    pub(crate) fn is_false(&self) -> bool {
        matches!(self.kind, Kind::Nil | Kind::Bool(false))
    }
}

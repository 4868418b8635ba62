//! Options of a call: each is taken by name, and an untaken one is an error.

use std::cell::RefCell;

use schema::{Source, SyntaxError};

use crate::ruby::{Key, Kind, Value};

/// Why an expression is refused.
pub(super) const UNBALANCED: &str = "the parentheses or quotes of this expression do not match";

/// What a call or a hash says by name.
pub(super) struct Options<'a> {
    source: &'a Source,
    pairs: Vec<&'a (Key, Value)>,
    taken: RefCell<Vec<&'a str>>,
}

impl<'a> Options<'a> {
    pub(super) fn new(source: &'a Source, pairs: &'a [(Key, Value)]) -> Options<'a> {
        Options {
            source,
            pairs: pairs.iter().collect(),
            taken: RefCell::default(),
        }
    }

    /// Adds further options; the first of one name counts.
    pub(super) fn with(mut self, pairs: &'a [(Key, Value)]) -> Options<'a> {
        self.pairs.extend(pairs);
        self
    }

    /// The same without some, which are somebody else's.
    pub(super) fn without(&self, names: &[&str]) -> Options<'a> {
        let pairs = self.pairs.iter().copied();
        Options {
            source: self.source,
            pairs: pairs
                .filter(|(key, _)| !names.contains(&key.name.as_str()))
                .collect(),
            taken: RefCell::default(),
        }
    }

    /// The option's value, also when `nil`.
    pub(super) fn given(&self, name: &'static str) -> Option<&'a Value> {
        self.taken.borrow_mut().push(name);
        let mut pairs = self.pairs.iter();
        pairs
            .find(|(key, _)| key.name == name)
            .map(|(_, value)| value)
    }

    /// The option's value, unless `nil` or `false`.
    pub(super) fn value(&self, name: &'static str) -> Option<&'a Value> {
        self.given(name).filter(|value| !value.is_false())
    }

    /// A string or a symbol.
    pub(super) fn word(&self, name: &'static str) -> Result<Option<String>, SyntaxError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        match value.word() {
            Some(word) => Ok(Some(word.to_owned())),
            None => self.fail(value.at, &format!("`{name}:` takes a string")),
        }
    }

    /// An expression in SQL.
    pub(super) fn expression(&self, name: &'static str) -> Result<Option<String>, SyntaxError> {
        match self.word(name)? {
            Some(sql) if !is_balanced(&sql) => {
                let at = self.value(name).map_or(0, |value| value.at);
                self.fail(at, UNBALANCED)
            }
            sql => Ok(sql),
        }
    }

    pub(super) fn flag(&self, name: &'static str) -> Result<bool, SyntaxError> {
        match self.given(name).map(|value| (&value.kind, value.at)) {
            None | Some((Kind::Nil | Kind::Bool(false), _)) => Ok(false),
            Some((Kind::Bool(true), _)) => Ok(true),
            Some((_, at)) => self.fail(at, &format!("`{name}:` takes true or false")),
        }
    }

    /// A non-negative integer option.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<u64>, SyntaxError> {
        match self.value(name).map(|value| (&value.kind, value.at)) {
            None => Ok(None),
            Some((Kind::Number(number), at)) => match number.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => self.fail(at, &format!("`{name}:` takes a whole number")),
            },
            Some((_, at)) => self.fail(at, &format!("`{name}:` takes a number")),
        }
    }

    /// One name or several.
    pub(super) fn words(&self, name: &'static str) -> Result<Option<Vec<String>>, SyntaxError> {
        self.value(name)
            .map(|value| words(self.source, value))
            .transpose()
    }

    /// Marks options without effect on the schema as taken.
    pub(super) fn ignore(&self, names: &[&'static str]) {
        self.taken.borrow_mut().extend(names);
    }

    /// Whether all were taken.
    pub(super) fn finish(&self) -> Result<(), SyntaxError> {
        let taken = self.taken.borrow();
        let mut pairs = self.pairs.iter();
        match pairs.find(|(key, _)| !taken.contains(&key.name.as_str())) {
            None => Ok(()),
            Some((key, _)) => self.fail(
                key.at,
                &format!("what `{}:` means here is not known", key.name),
            ),
        }
    }

    pub(super) fn fail<T>(&self, at: usize, message: &str) -> Result<T, SyntaxError> {
        Err(SyntaxError::at(self.source, at, message))
    }
}

/// One name or several.
pub(super) fn words(source: &Source, value: &Value) -> Result<Vec<String>, SyntaxError> {
    let word = |value: &Value| {
        value.word().map(str::to_owned).ok_or_else(|| {
            SyntaxError::at(source, value.at, "expected a name, as a string or symbol")
        })
    };
    match &value.kind {
        Kind::List(values) => values.iter().map(word).collect(),
        _ => word(value).map(|word| vec![word]),
    }
}

/// Whether parentheses in an expression are balanced, except in strings and quoted names.
pub(super) fn is_balanced(sql: &str) -> bool {
    let (mut depth, mut quote) = (0_usize, None);
    for letter in sql.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"' | '`', None) => quote = Some(letter),
            ('(', None) => depth += 1,
            (')', None) => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
    }
    depth == 0 && quote.is_none()
}

//! The functions of XPath 1.0 (4). One entry of [`FUNCTIONS`] and one arm of `call` is all that a
//! new one takes.

use crate::evaluate::{Context, Value};
use crate::expression::Expr;
use crate::tree::{Kind, Place};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Id,
    Lang,
    Last,
    LocalName,
    Name,
    NamespaceUri,
    NormalizeSpace,
    Not,
    Number,
    Position,
    Round,
    StartsWith,
    StringLength,
    Substring,
    SubstringAfter,
    SubstringBefore,
    Sum,
    Text,
    Translate,
    True,
}

/// Names, with the least and the greatest number of arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 27] = [
    ("boolean", Function::Boolean, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("concat", Function::Concat, 2, usize::MAX),
    ("contains", Function::Contains, 2, 2),
    ("count", Function::Count, 1, 1),
    ("false", Function::False, 0, 0),
    ("floor", Function::Floor, 1, 1),
    ("id", Function::Id, 1, 1),
    ("lang", Function::Lang, 1, 1),
    ("last", Function::Last, 0, 0),
    ("local-name", Function::LocalName, 0, 1),
    ("name", Function::Name, 0, 1),
    ("namespace-uri", Function::NamespaceUri, 0, 1),
    ("normalize-space", Function::NormalizeSpace, 0, 1),
    ("not", Function::Not, 1, 1),
    ("number", Function::Number, 0, 1),
    ("position", Function::Position, 0, 0),
    ("round", Function::Round, 1, 1),
    ("starts-with", Function::StartsWith, 2, 2),
    ("string", Function::Text, 0, 1),
    ("string-length", Function::StringLength, 0, 1),
    ("substring", Function::Substring, 2, 3),
    ("substring-after", Function::SubstringAfter, 2, 2),
    ("substring-before", Function::SubstringBefore, 2, 2),
    ("sum", Function::Sum, 1, 1),
    ("translate", Function::Translate, 3, 3),
    ("true", Function::True, 0, 0),
];

impl Function {
    pub(crate) fn named(name: &str) -> Option<Function> {
        let found = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        found.map(|(_, function, ..)| *function)
    }

    /// Checks the number of arguments; the error is a sentence.
    pub(crate) fn check_count(self, count: usize) -> Result<(), String> {
        let row = FUNCTIONS.iter().find(|(_, function, ..)| *function == self);
        match row {
            Some((name, _, least, most)) if count < *least || count > *most => Err(format!(
                "`{name}` takes {}, not {count} arguments",
                match (least, most) {
                    (least, most) if least == most => format!("{least}"),
                    (least, &usize::MAX) => format!("{least} or more"),
                    (least, most) => format!("{least} to {most}"),
                }
            )),
            _ => Ok(()),
        }
    }
}

/// What a function is given: values, in order.
struct Arguments<'a> {
    context: Context<'a>,
    values: Vec<Value>,
}

impl Arguments<'_> {
    /// The argument as text; without one, the text of the context's node.
    fn text(&self, at: usize) -> String {
        let document = self.context.document;
        match self.values.get(at) {
            Some(value) => value.text(document),
            None => document.text(self.context.node),
        }
    }

    fn number(&self, at: usize) -> f64 {
        match self.values.get(at) {
            Some(value) => value.number(self.context.document),
            None => crate::number::parse(&self.text(at)),
        }
    }

    fn truth(&self, at: usize) -> bool {
        self.values.get(at).is_some_and(Value::truth)
    }

    /// The nodes of the argument; without one, the context's node.
    fn nodes(&self, at: usize) -> Result<&[Place], String> {
        match self.values.get(at) {
            Some(Value::Nodes(nodes)) => Ok(nodes),
            Some(_) => Err("a function of nodes is given something else".to_owned()),
            None => Ok(std::slice::from_ref(&self.context.node)),
        }
    }
}

impl Context<'_> {
    pub(crate) fn call(self, function: Function, arguments: &[Expr]) -> Result<Value, String> {
        let values = arguments.iter().map(|argument| self.value(argument));
        let given = Arguments {
            context: self,
            values: values.collect::<Result<_, _>>()?,
        };
        let text = |at| given.text(at);
        let number = |at| given.number(at);
        Ok(match function {
            Function::Boolean => Value::Bool(given.truth(0)),
            Function::Not => Value::Bool(!given.truth(0)),
            Function::True => Value::Bool(true),
            Function::False => Value::Bool(false),
            Function::Lang => Value::Bool(self.has_language(&text(0))),
            Function::Contains => Value::Bool(text(0).contains(&text(1))),
            Function::StartsWith => Value::Bool(text(0).starts_with(&text(1))),
            Function::Number => Value::Number(number(0)),
            Function::Floor => Value::Number(number(0).floor()),
            Function::Ceiling => Value::Number(number(0).ceil()),
            Function::Round => Value::Number(round(number(0))),
            Function::Last => Value::Number(self.size as f64),
            Function::Position => Value::Number(self.position as f64),
            Function::Count => Value::Number(given.nodes(0)?.len() as f64),
            Function::StringLength => Value::Number(text(0).chars().count() as f64),
            Function::Sum => {
                let numbers = given.nodes(0)?.iter();
                let numbers = numbers.map(|node| crate::number::parse(&self.document.text(*node)));
                Value::Number(numbers.fold(0.0, |sum, number| sum + number))
            }
            Function::Text => Value::Text(text(0)),
            Function::Concat => {
                let texts = given.values.iter().map(|value| value.text(self.document));
                Value::Text(texts.collect())
            }
            Function::NormalizeSpace => Value::Text(normal(&text(0))),
            Function::Translate => Value::Text(translate(&text(0), &text(1), &text(2))),
            Function::SubstringAfter => {
                let text = text(0);
                let split = text.split_once(&given.text(1));
                Value::Text(split.map_or_else(String::new, |(_, after)| after.to_owned()))
            }
            Function::SubstringBefore => {
                let text = text(0);
                let split = text.split_once(&given.text(1));
                Value::Text(split.map_or_else(String::new, |(before, _)| before.to_owned()))
            }
            Function::Substring => {
                let length = given.values.get(2).map(|_| number(2));
                Value::Text(substring(&text(0), number(1), length))
            }
            Function::Name | Function::LocalName | Function::NamespaceUri => {
                let first = given.nodes(0)?.first();
                Value::Text(first.map_or_else(String::new, |node| self.name_of(*node, function)))
            }
            Function::Id => Value::Nodes(self.with_ids(&given)),
        })
    }

    fn name_of(self, node: Place, function: Function) -> String {
        let name = self.document.name(node);
        let target = || match &self.document.nodes[node.node].kind {
            Kind::Instruction { target, .. } if function != Function::NamespaceUri => {
                target.clone()
            }
            _ => String::new(),
        };
        match function {
            Function::Name => name.map_or_else(target, |name| name.written()),
            Function::LocalName => name.map_or_else(target, |name| name.local.clone()),
            _ => name.map_or_else(target, |name| name.namespace.clone()),
        }
    }

    /// Returns whether the node is in a language, by the nearest `xml:lang`.
    fn has_language(self, wanted: &str) -> bool {
        let mut node = self.node.node;
        loop {
            let attributes = self
                .document
                .element(node)
                .map(|element| &element.attributes);
            let mut of_xml = attributes.into_iter().flatten();
            let found = of_xml.find(|one| one.name.local == "lang" && one.name.prefix == "xml");
            if let Some(attribute) = found {
                let value = attribute.value.to_ascii_lowercase();
                let rest = value.strip_prefix(&wanted.to_ascii_lowercase());
                return rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
            }
            if node == 0 {
                return false;
            }
            node = self.document.nodes[node].parent;
        }
    }

    /// Returns the first element of each id.
    fn with_ids(self, given: &Arguments<'_>) -> Vec<Place> {
        let words = match given.values.first() {
            Some(Value::Nodes(nodes)) => {
                let texts = nodes.iter().map(|node| self.document.text(*node));
                texts.collect::<Vec<String>>().join(" ")
            }
            _ => given.text(0),
        };
        let mut found: Vec<Place> = words
            .split_ascii_whitespace()
            .filter_map(|word| (1..self.document.nodes.len()).find(|node| self.has_id(*node, word)))
            .map(Place::of)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn has_id(self, node: usize, id: &str) -> bool {
        let attributes = self
            .document
            .element(node)
            .map(|element| &element.attributes);
        let mut all = attributes.into_iter().flatten();
        all.any(|one| {
            one.name.local == "id"
                && one.value == id
                && (self.document.is_html || one.name.prefix == "xml")
        })
    }
}

fn round(number: f64) -> f64 {
    let floor = number.floor();
    if number - floor >= 0.5 {
        floor + 1.0
    } else {
        floor
    }
}

fn normal(text: &str) -> String {
    let words = text
        .split([' ', '\t', '\n', '\r'])
        .filter(|word| !word.is_empty());
    words.collect::<Vec<&str>>().join(" ")
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    text.chars()
        .filter_map(|c| match from.chars().position(|known| known == c) {
            Some(at) => to.get(at).copied(),
            None => Some(c),
        })
        .collect()
}

/// Characters from `start` (from 1) on, so many or all.
fn substring(text: &str, start: f64, length: Option<f64>) -> String {
    let begin = round(start);
    let end = length.map_or(f64::INFINITY, |length| begin + round(length));
    let is_inside = |position: f64| position >= begin && position < end;
    text.chars()
        .enumerate()
        .filter(|(index, _)| is_inside((index + 1) as f64))
        .map(|(_, c)| c)
        .collect()
}

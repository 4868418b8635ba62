//! The value of an expression on a document (XPath 1.0, 2 and 3).

use crate::Found;
use crate::expression::{Axis, Expr, Expression, Operator, Start, Step, Test};
use crate::number;
use crate::tree::{Document, Kind, Place};

/// A value inside of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// In the document's order, each once.
    Nodes(Vec<Place>),
    Number(f64),
    Text(String),
    Bool(bool),
}

/// What an expression is evaluated for.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) document: &'a Document,
    pub(crate) node: Place,
    /// From 1.
    pub(crate) position: usize,
    pub(crate) size: usize,
}

impl Expression {
    /// Evaluates the expression for the document's root.
    ///
    /// # Errors
    /// A sentence: a prefix that the document does not declare, or something other than nodes where
    /// nodes are needed.
    pub fn evaluate(&self, document: &Document) -> Result<Found, String> {
        let context = Context {
            document,
            node: Place::ROOT,
            position: 1,
            size: 1,
        };
        Ok(match context.value(&self.root)? {
            Value::Nodes(nodes) => Found::Nodes(nodes.len()),
            Value::Number(number) => Found::Number(number),
            Value::Text(text) => Found::Text(text),
            Value::Bool(value) => Found::Bool(value),
        })
    }
}

impl Value {
    pub(crate) fn number(&self, document: &Document) -> f64 {
        match self {
            Value::Number(number) => *number,
            Value::Bool(value) => f64::from(u8::from(*value)),
            other => number::parse(&other.text(document)),
        }
    }

    pub(crate) fn text(&self, document: &Document) -> String {
        match self {
            Value::Nodes(nodes) => nodes
                .first()
                .map_or_else(String::new, |first| document.text(*first)),
            Value::Number(number) => number::write(*number),
            Value::Text(text) => text.clone(),
            Value::Bool(value) => value.to_string(),
        }
    }

    pub(crate) fn truth(&self) -> bool {
        match self {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Text(text) => !text.is_empty(),
            Value::Bool(value) => *value,
        }
    }
}

impl Context<'_> {
    pub(crate) fn value(self, expr: &Expr) -> Result<Value, String> {
        Ok(match expr {
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Negative(inner) => Value::Number(-self.value(inner)?.number(self.document)),
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right)?,
            Expr::Call(function, arguments) => self.call(*function, arguments)?,
            Expr::Filtered(inner, conditions) => {
                let mut nodes = self.nodes(inner)?;
                for condition in conditions {
                    nodes = self.keep(nodes, condition)?;
                }
                Value::Nodes(nodes)
            }
            Expr::Path(start, steps) => {
                let mut nodes = match start {
                    Start::Here => vec![self.node],
                    Start::Root => vec![Place::ROOT],
                    Start::Nodes(inner) => self.nodes(inner)?,
                };
                for step in steps {
                    nodes = self.step(&nodes, step)?;
                }
                Value::Nodes(nodes)
            }
        })
    }

    fn nodes(self, expr: &Expr) -> Result<Vec<Place>, String> {
        match self.value(expr)? {
            Value::Nodes(nodes) => Ok(nodes),
            _ => Err("a step goes on from something that is no node".to_owned()),
        }
    }

    fn binary(self, operator: Operator, left: &Expr, right: &Expr) -> Result<Value, String> {
        let number = |expr: &Expr| Ok::<f64, String>(self.value(expr)?.number(self.document));
        Ok(match operator {
            Operator::Or => Value::Bool(self.value(left)?.truth() || self.value(right)?.truth()),
            Operator::And => Value::Bool(self.value(left)?.truth() && self.value(right)?.truth()),
            Operator::Plus => Value::Number(number(left)? + number(right)?),
            Operator::Minus => Value::Number(number(left)? - number(right)?),
            Operator::Times => Value::Number(number(left)? * number(right)?),
            Operator::Div => Value::Number(number(left)? / number(right)?),
            Operator::Mod => Value::Number(number(left)? % number(right)?),
            Operator::Union => {
                let mut all = self.nodes(left)?;
                all.extend(self.nodes(right)?);
                Value::Nodes(in_order(all))
            }
            comparison => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                Value::Bool(compare(comparison, &left, &right, self.document))
            }
        })
    }

    fn step(self, from: &[Place], step: &Step) -> Result<Vec<Place>, String> {
        let test = Tested::of(&step.test, step.axis, self.document)?;
        let mut all = Vec::new();
        for node in from {
            let mut found = along(self.document, *node, step.axis);
            found.retain(|place| test.fits(self.document, *place));
            for condition in &step.conditions {
                found = self.keep(found, condition)?;
            }
            all.append(&mut found);
        }
        Ok(in_order(all))
    }

    /// Keeps the nodes for which a condition holds; a number means the place.
    fn keep(self, nodes: Vec<Place>, condition: &Expr) -> Result<Vec<Place>, String> {
        let size = nodes.len();
        let mut kept = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let position = index + 1;
            let context = Context {
                node,
                position,
                size,
                ..self
            };
            let holds = match context.value(condition)? {
                Value::Number(number) => number == position as f64,
                other => other.truth(),
            };
            if holds {
                kept.push(node);
            }
        }
        Ok(kept)
    }
}

fn in_order(mut nodes: Vec<Place>) -> Vec<Place> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// A test with the namespace of the test's prefix.
struct Tested<'a> {
    test: &'a Test,
    namespace: &'a str,
    axis: Axis,
}

impl<'a> Tested<'a> {
    fn of(test: &'a Test, axis: Axis, document: &'a Document) -> Result<Tested<'a>, String> {
        let prefix = match test {
            Test::Any(prefix) | Test::Name(prefix, _) => prefix.as_deref(),
            _ => None,
        };
        let namespace = match prefix {
            None => "",
            Some("xml") => "http://www.w3.org/XML/1998/namespace",
            Some(prefix) => {
                let found = document.namespaces.get(prefix);
                found.ok_or_else(|| {
                    format!("the prefix `{prefix}` is not declared in the document")
                })?
            }
        };
        Ok(Tested {
            test,
            namespace,
            axis,
        })
    }

    fn fits(&self, document: &Document, place: Place) -> bool {
        let kind = match place.attribute {
            0 => Some(&document.nodes[place.node].kind),
            _ => None,
        };
        match self.test {
            Test::Node => true,
            Test::Text => matches!(kind, Some(Kind::Text(_))),
            Test::Comment => matches!(kind, Some(Kind::Comment(_))),
            Test::Instruction(wanted) => match kind {
                Some(Kind::Instruction { target, .. }) => {
                    wanted.as_ref().is_none_or(|wanted| wanted == target)
                }
                _ => false,
            },
            Test::Any(_) | Test::Name(..) => {
                let is_attribute = place.attribute > 0;
                if is_attribute != (self.axis == Axis::Attribute) {
                    return false;
                }
                let Some(name) = document.name(place) else {
                    return false;
                };
                match self.test {
                    Test::Any(None) => true,
                    Test::Name(_, local) => {
                        name.local == *local && name.namespace == self.namespace
                    }
                    _ => name.namespace == self.namespace,
                }
            }
        }
    }
}

/// Returns the nodes along an axis, the nearest first.
fn along(document: &Document, from: Place, axis: Axis) -> Vec<Place> {
    let is_attribute = from.attribute > 0;
    let node = &document.nodes[from.node];
    let places = |nodes: &[usize]| nodes.iter().copied().map(Place::of).collect::<Vec<Place>>();
    match axis {
        Axis::Itself => vec![from],
        Axis::Parent => parent(document, from).into_iter().collect(),
        Axis::Ancestor | Axis::AncestorOrSelf => {
            let first = match axis {
                Axis::Ancestor => parent(document, from),
                _ => Some(from),
            };
            std::iter::successors(first, |place| parent(document, *place)).collect()
        }
        Axis::DescendantOrSelf if is_attribute => vec![from],
        Axis::Child | Axis::Descendant | Axis::Attribute if is_attribute => Vec::new(),
        Axis::Child => places(&node.children),
        Axis::Descendant => (from.node + 1..end(document, from.node))
            .map(Place::of)
            .collect(),
        Axis::DescendantOrSelf => (from.node..end(document, from.node))
            .map(Place::of)
            .collect(),
        Axis::Attribute => {
            let count = document
                .element(from.node)
                .map_or(0, |element| element.attributes.len());
            (1..=count)
                .map(|attribute| Place {
                    node: from.node,
                    attribute,
                })
                .collect()
        }
        Axis::FollowingSibling | Axis::PrecedingSibling => {
            if is_attribute || from == Place::ROOT {
                return Vec::new();
            }
            let all = &document.nodes[node.parent].children;
            let at = all.partition_point(|child| *child < from.node);
            match axis {
                Axis::FollowingSibling => places(&all[at + 1..]),
                _ => all[..at].iter().rev().copied().map(Place::of).collect(),
            }
        }
        Axis::Following => {
            let behind = match is_attribute {
                true => from.node + 1,
                false => end(document, from.node),
            };
            (behind..document.nodes.len()).map(Place::of).collect()
        }
        Axis::Preceding => {
            let above = along(document, from, Axis::Ancestor);
            let before = (1..from.node).rev().map(Place::of);
            before.filter(|place| !above.contains(place)).collect()
        }
    }
}

fn parent(document: &Document, place: Place) -> Option<Place> {
    match place {
        Place::ROOT => None,
        Place { attribute: 0, node } => Some(Place::of(document.nodes[node].parent)),
        Place { node, .. } => Some(Place::of(node)),
    }
}

/// Returns the number behind the last node inside of a node.
fn end(document: &Document, node: usize) -> usize {
    let mut last = node;
    while let Some(child) = document.nodes[last].children.last() {
        last = *child;
    }
    last + 1
}

/// Compares two values; of nodes, one fitting node is enough (3.4).
fn compare(operator: Operator, left: &Value, right: &Value, document: &Document) -> bool {
    let texts = |nodes: &[Place]| {
        nodes
            .iter()
            .map(|node| document.text(*node))
            .collect::<Vec<_>>()
    };
    match (left, right) {
        (Value::Nodes(left), Value::Nodes(right)) => {
            let right = texts(right);
            texts(left).into_iter().any(|left| {
                let is_right = |right: &String| {
                    let pair = (Value::Text(left.clone()), Value::Text(right.clone()));
                    compare(operator, &pair.0, &pair.1, document)
                };
                right.iter().any(is_right)
            })
        }
        (Value::Nodes(_), Value::Bool(_)) | (Value::Bool(_), Value::Nodes(_)) => {
            let truths = (Value::Bool(left.truth()), Value::Bool(right.truth()));
            compare(operator, &truths.0, &truths.1, document)
        }
        (Value::Nodes(nodes), other) => texts(nodes)
            .into_iter()
            .any(|text| compare(operator, &Value::Text(text), other, document)),
        (other, Value::Nodes(nodes)) => texts(nodes)
            .into_iter()
            .any(|text| compare(operator, other, &Value::Text(text), document)),
        _ => compare_plain(operator, left, right, document),
    }
}

fn compare_plain(operator: Operator, left: &Value, right: &Value, document: &Document) -> bool {
    let numbers = (left.number(document), right.number(document));
    let is_equal = || match (left, right) {
        (Value::Bool(_), _) | (_, Value::Bool(_)) => left.truth() == right.truth(),
        (Value::Number(_), _) | (_, Value::Number(_)) => numbers.0 == numbers.1,
        _ => left.text(document) == right.text(document),
    };
    match operator {
        Operator::Equal => is_equal(),
        Operator::Unequal => !is_equal(),
        Operator::Less => numbers.0 < numbers.1,
        Operator::LessOrEqual => numbers.0 <= numbers.1,
        Operator::Greater => numbers.0 > numbers.1,
        _ => numbers.0 >= numbers.1,
    }
}

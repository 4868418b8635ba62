//! Expressions (XPath 1.0, 3) as trees.

use crate::functions::Function;
use crate::lexer::{Token, tokens};

/// Nesting of an expression, at most.
const DEPTH_MAX: usize = 64;

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(crate) root: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Binary(Operator, Box<Expr>, Box<Expr>),
    Negative(Box<Expr>),
    Number(f64),
    Text(String),
    Call(Function, Vec<Expr>),
    /// Steps from the context's node, from the root, or from each node of an expression.
    Path(Start, Vec<Step>),
    /// Nodes of an expression to which the conditions apply.
    Filtered(Box<Expr>, Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Times,
    Div,
    Mod,
    Union,
}

/// Operators in levels of equal binding, the weakest first.
const LEVELS: [&[(Token, Operator)]; 7] = [
    &[(Token::Operator("or"), Operator::Or)],
    &[(Token::Operator("and"), Operator::And)],
    &[
        (Token::Sign("="), Operator::Equal),
        (Token::Sign("!="), Operator::Unequal),
    ],
    &[
        (Token::Sign("<"), Operator::Less),
        (Token::Sign("<="), Operator::LessOrEqual),
        (Token::Sign(">"), Operator::Greater),
        (Token::Sign(">="), Operator::GreaterOrEqual),
    ],
    &[
        (Token::Sign("+"), Operator::Plus),
        (Token::Sign("-"), Operator::Minus),
    ],
    &[
        (Token::Operator("*"), Operator::Times),
        (Token::Operator("div"), Operator::Div),
        (Token::Operator("mod"), Operator::Mod),
    ],
    // Behind the sign of a number.
    &[(Token::Sign("|"), Operator::Union)],
];
const UNION_LEVEL: usize = LEVELS.len() - 1;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Start {
    Here,
    Root,
    Nodes(Box<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) axis: Axis,
    pub(crate) test: Test,
    pub(crate) conditions: Vec<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Parent,
    Preceding,
    PrecedingSibling,
    Itself,
}

const AXES: [(&str, Axis); 12] = [
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Following),
    ("following-sibling", Axis::FollowingSibling),
    ("parent", Axis::Parent),
    ("preceding", Axis::Preceding),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("self", Axis::Itself),
];

/// Which nodes of an axis are taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// Any element, or attribute; with a prefix, of the prefix's namespace.
    Any(Option<String>),
    Name(Option<String>, String),
    Node,
    Text,
    Comment,
    Instruction(Option<String>),
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// A sentence with what is wrong, and where.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser {
            tokens: &tokens,
            depth: 0,
        };
        let root = parser.binary(0)?;
        match parser.tokens {
            [] => Ok(Expression { root }),
            [next, ..] => Err(format!("unexpected {}", shown(next))),
        }
    }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Number(number) => format!("`{number}`"),
        Token::Literal(text) => format!("the text {text:?}"),
        Token::Name(None, name) => format!("`{name}`"),
        Token::Name(Some(prefix), name) => format!("`{prefix}:{name}`"),
        Token::Any(_) => "`*`".to_owned(),
        Token::Operator(sign) | Token::Sign(sign) => format!("`{sign}`"),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    depth: usize,
}

impl Parser<'_> {
    fn next_is(&self, sign: &'static str) -> bool {
        self.tokens.first() == Some(&Token::Sign(sign))
    }

    fn take(&mut self, sign: &'static str) -> bool {
        let found = self.next_is(sign);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), String> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{sign}`"))),
        }
    }

    fn wrong(&self, expected: &str) -> String {
        match self.tokens.first() {
            Some(token) => format!("expected {expected} in place of {}", shown(token)),
            None => format!("expected {expected} at the end"),
        }
    }

    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        if level == UNION_LEVEL && self.next_is("-") {
            return self.negative();
        }
        let Some(operators) = LEVELS.get(level) else {
            return self.path();
        };
        let mut left = self.binary(level + 1)?;
        while let Some(next) = self.tokens.first()
            && let Some((_, operator)) = operators.iter().find(|(token, _)| token == next)
        {
            self.tokens = &self.tokens[1..];
            let right = self.binary(level + 1)?;
            left = Expr::Binary(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn negative(&mut self) -> Result<Expr, String> {
        let mut is_negative = false;
        while self.take("-") {
            is_negative = !is_negative;
        }
        let inner = self.binary(UNION_LEVEL)?;
        Ok(match is_negative {
            true => Expr::Negative(Box::new(inner)),
            // Still a number.
            false => Expr::Negative(Box::new(Expr::Negative(Box::new(inner)))),
        })
    }

    /// An expression inside of another one.
    fn inner(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!(
                "the expression is nested more than {DEPTH_MAX} deep"
            ));
        }
        let inner = self.binary(0);
        self.depth -= 1;
        inner
    }

    fn path(&mut self) -> Result<Expr, String> {
        if let Some(primary) = self.primary()? {
            let conditions = self.conditions()?;
            let start = match conditions.is_empty() {
                true => primary,
                false => Expr::Filtered(Box::new(primary), conditions),
            };
            if !self.next_is("/") && !self.next_is("//") {
                return Ok(start);
            }
            let mut steps = Vec::new();
            self.more_steps(&mut steps)?;
            return Ok(Expr::Path(Start::Nodes(Box::new(start)), steps));
        }
        let mut steps = Vec::new();
        if self.take("//") {
            steps.push(anywhere());
            steps.push(self.step()?);
            self.more_steps(&mut steps)?;
            return Ok(Expr::Path(Start::Root, steps));
        }
        if self.take("/") {
            if self.begins_step() {
                steps.push(self.step()?);
                self.more_steps(&mut steps)?;
            }
            return Ok(Expr::Path(Start::Root, steps));
        }
        steps.push(self.step()?);
        self.more_steps(&mut steps)?;
        Ok(Expr::Path(Start::Here, steps))
    }

    fn begins_step(&self) -> bool {
        match self.tokens.first() {
            Some(Token::Name(..) | Token::Any(_)) => true,
            Some(Token::Sign(sign)) => [".", "..", "@"].contains(sign),
            _ => false,
        }
    }

    fn more_steps(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        loop {
            if self.take("//") {
                steps.push(anywhere());
            } else if !self.take("/") {
                return Ok(());
            }
            steps.push(self.step()?);
        }
    }

    /// What is no step: a text, a number, something in parentheses, a call.
    fn primary(&mut self) -> Result<Option<Expr>, String> {
        let found = match self.tokens {
            [Token::Number(number), ..] => Expr::Number(*number),
            [Token::Literal(text), ..] => Expr::Text(text.clone()),
            [Token::Sign("("), ..] => {
                self.tokens = &self.tokens[1..];
                let inner = self.inner()?;
                self.expect(")")?;
                return Ok(Some(inner));
            }
            [Token::Name(prefix, name), Token::Sign("("), ..] if node_type(name).is_none() => {
                return self.call(prefix.as_deref(), name).map(Some);
            }
            _ => return Ok(None),
        };
        self.tokens = &self.tokens[1..];
        Ok(Some(found))
    }

    fn call(&mut self, prefix: Option<&str>, name: &str) -> Result<Expr, String> {
        let function = Function::named(name).filter(|_| prefix.is_none());
        let function = function.ok_or_else(|| format!("there is no function `{name}`"))?;
        self.tokens = &self.tokens[2..];
        let mut arguments = Vec::new();
        if !self.take(")") {
            arguments.push(self.inner()?);
            while self.take(",") {
                arguments.push(self.inner()?);
            }
            self.expect(")")?;
        }
        function.check_count(arguments.len())?;
        Ok(Expr::Call(function, arguments))
    }

    fn conditions(&mut self) -> Result<Vec<Expr>, String> {
        let mut all = Vec::new();
        while self.take("[") {
            all.push(self.inner()?);
            self.expect("]")?;
        }
        Ok(all)
    }

    fn step(&mut self) -> Result<Step, String> {
        for (sign, axis) in [("..", Axis::Parent), (".", Axis::Itself)] {
            if self.take(sign) {
                let conditions = Vec::new();
                let test = Test::Node;
                return Ok(Step {
                    axis,
                    test,
                    conditions,
                });
            }
        }
        let axis = match self.tokens {
            [Token::Sign("@"), ..] => {
                self.tokens = &self.tokens[1..];
                Axis::Attribute
            }
            [Token::Name(None, name), Token::Sign("::"), ..] => {
                let found = AXES.iter().find(|(known, _)| known == name);
                let (_, axis) = found.ok_or_else(|| match name.as_str() {
                    "namespace" => "the axis `namespace` is not followed here".to_owned(),
                    name => format!("there is no axis `{name}`"),
                })?;
                self.tokens = &self.tokens[2..];
                *axis
            }
            _ => Axis::Child,
        };
        let test = self.test()?;
        let conditions = self.conditions()?;
        Ok(Step {
            axis,
            test,
            conditions,
        })
    }

    fn test(&mut self) -> Result<Test, String> {
        let (test, taken) = match self.tokens {
            [Token::Any(prefix), ..] => (Test::Any(prefix.clone()), 1),
            [
                Token::Name(None, name),
                Token::Sign("("),
                Token::Literal(target),
                ..,
            ] if name == "processing-instruction" => (Test::Instruction(Some(target.clone())), 3),
            [Token::Name(None, name), Token::Sign("("), ..] => match node_type(name) {
                Some(test) => (test, 2),
                None => return Err(format!("there is no kind of nodes `{name}()`")),
            },
            [Token::Name(prefix, name), ..] => (Test::Name(prefix.clone(), name.clone()), 1),
            _ => return Err(self.wrong("a step, such as a name")),
        };
        self.tokens = &self.tokens[taken..];
        if taken > 1 {
            self.expect(")")?;
        }
        Ok(test)
    }
}

fn node_type(name: &str) -> Option<Test> {
    Some(match name {
        "node" => Test::Node,
        "text" => Test::Text,
        "comment" => Test::Comment,
        "processing-instruction" => Test::Instruction(None),
        _ => return None,
    })
}

/// The step written as `//`.
fn anywhere() -> Step {
    Step {
        axis: Axis::DescendantOrSelf,
        test: Test::Node,
        conditions: Vec::new(),
    }
}

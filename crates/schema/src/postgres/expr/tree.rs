//! A tree's normal form.

use std::fmt::Write as _;

use squawk_parser::SyntaxKind as K;

use super::Context;
use crate::postgres::interval::interval;
use crate::postgres::model::Type;
use crate::postgres::name::{fold, quote, string};
use crate::postgres::parser::{Node, is_type};

/// Makes the normal form.
pub(super) struct Normal<'a> {
    context: Context<'a>,
    /// Name or alias of the only relation of a query.
    alias: Option<String>,
    is_single: bool,
}

impl<'a> Normal<'a> {
    pub(super) fn new(context: Context<'a>) -> Normal<'a> {
        Normal {
            context,
            alias: None,
            is_single: false,
        }
    }

    pub(super) fn look_at_relations(&mut self, query: Node<'_>) {
        let relations: Vec<Node<'_>> = query
            .inside()
            .filter(|node| node.kind() == K::RELATION_FROM_ITEM)
            .collect();
        let others = query
            .inside()
            .any(|node| matches!(node.kind(), K::FUNCTION_FROM_ITEM | K::PAREN_SELECT));
        if let ([relation], false) = (relations.as_slice(), others) {
            self.is_single = true;
            let name = relation
                .tokens()
                .filter(|token| token.kind() != K::DOT)
                .last();
            self.alias = name.map(|name| fold(name.text()));
        }
    }

    pub(super) fn node(&self, node: Node<'_>) -> String {
        if node.is_leaf() {
            return self.token(node);
        }
        match node.kind() {
            K::PAREN_EXPR | K::PAREN_FROM_ITEM | K::PAREN_SELECT => self.inner(node),
            K::BIN_EXPR => self.binary(node),
            K::BETWEEN_EXPR => self.between(node),
            K::PREFIX_EXPR => self.prefix(node),
            K::CAST_EXPR => self.cast(node),
            K::FIELD_EXPR => self.field(node),
            K::CALL_EXPR => self.call(node),
            K::TARGET => self.target(node),
            K::RELATION_FROM_ITEM => self.relation(node),
            K::RELATION_NAME_REF | K::PATH_REF | K::PATH => self.path(node),
            K::JOIN_INNER => "join".to_owned(),
            K::SORT_ASC => String::new(),
            _ => self.all(node),
        }
    }

    fn all(&self, node: Node<'_>) -> String {
        let mut text = String::new();
        for child in node.children() {
            if matches!(child.kind(), K::OUTER_KW | K::SEMICOLON) {
                continue;
            }
            let child = self.node(child);
            if !child.is_empty() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(&child);
            }
        }
        text
    }

    /// What the parentheses hold.
    fn inner(&self, node: Node<'_>) -> String {
        let inside: Vec<String> = node
            .children()
            .filter(|child| !matches!(child.kind(), K::L_PAREN | K::R_PAREN))
            .map(|child| self.node(child))
            .collect();
        inside.join(" ")
    }

    fn token(&self, token: Node<'_>) -> String {
        let text = token.text();
        match token.kind() {
            K::IDENT => quote(&fold(text)),
            K::STRING | K::ESC_STRING | K::DOLLAR_QUOTED_STRING => format!("'{}'", string(text)),
            kind if kind.is_keyword() => text.to_lowercase(),
            _ => text.to_owned(),
        }
    }

    fn binary(&self, node: Node<'_>) -> String {
        let children: Vec<Node<'_>> = node.children().collect();
        let (Some(left), Some(right)) = (children.first(), children.last()) else {
            return String::new();
        };
        let middle = &children[1..children.len() - 1];
        let operator: Vec<String> = middle
            .iter()
            .map(|part| part.words().to_lowercase())
            .collect();
        let operator = operator.join(" ");
        match operator.as_str() {
            "and" | "or" => self.flat(node, &operator),
            "in" => self.in_list(*left, *right, "=", "any"),
            "not in" => self.in_list(*left, *right, "<>", "all"),
            "at time zone" => format!("timezone({} , {})", self.node(*right), self.node(*left)),
            operator => {
                let operator = match operator {
                    "!=" => "<>",
                    "like" => "~~",
                    "not like" => "!~~",
                    "ilike" => "~~*",
                    "not ilike" => "!~~*",
                    operator => operator
                        .strip_prefix("operator(pg_catalog.")
                        .map_or(operator, |rest| rest.trim_end_matches(')')),
                };
                let right = self.node(*right);
                let only = match operator {
                    "=" => only_item(&right, "any"),
                    "<>" => only_item(&right, "all"),
                    _ => None,
                };
                let right = only.unwrap_or(&right);
                format!("({} {operator} {right})", self.node(*left))
            }
        }
    }

    /// Normal form of `a AND b AND c`, regardless of parentheses.
    fn flat(&self, node: Node<'_>, operator: &str) -> String {
        let mut terms = Vec::new();
        self.terms(node, operator, &mut terms);
        format!("({})", terms.join(&format!(" {operator} ")))
    }

    fn terms(&self, node: Node<'_>, operator: &str, terms: &mut Vec<String>) {
        let bare = bare(node);
        let children: Vec<Node<'_>> = bare.children().collect();
        let is_same = bare.kind() == K::BIN_EXPR
            && children.len() == 3
            && children[1].text().eq_ignore_ascii_case(operator);
        if is_same {
            self.terms(children[0], operator, terms);
            self.terms(children[2], operator, terms);
        } else if operator == "and" && bare.kind() == K::BETWEEN_EXPR && !bare.has(K::NOT_KW) {
            terms.extend(self.bounds(bare, ">=", "<="));
        } else {
            terms.push(self.node(bare));
        }
    }

    fn in_list(&self, left: Node<'_>, right: Node<'_>, operator: &str, quantifier: &str) -> String {
        let left = self.node(left);
        if right.find(K::SELECT).is_some() {
            return format!("({left} {operator} {quantifier} ({}))", self.node(right));
        }
        let items: Vec<String> = right
            .children()
            .filter(|item| !matches!(item.kind(), K::L_PAREN | K::R_PAREN | K::COMMA))
            .map(|item| self.node(item))
            .collect();
        match items.as_slice() {
            [item] => format!("({left} {operator} {item})"),
            items => format!(
                "({left} {operator} {quantifier} (array [ {} ]))",
                items.join(" , ")
            ),
        }
    }

    fn between(&self, node: Node<'_>) -> String {
        if node.find(K::SYMMETRIC).is_some() || node.text().to_lowercase().contains("symmetric") {
            return self.all(node);
        }
        if node.has(K::NOT_KW) {
            return format!("({})", self.bounds(node, "<", ">").join(" or "));
        }
        format!("({})", self.bounds(node, ">=", "<=").join(" and "))
    }

    fn bounds(&self, node: Node<'_>, low: &str, high: &str) -> Vec<String> {
        let parts: Vec<String> = node
            .children()
            .filter(|child| !child.kind().is_keyword())
            .map(|child| self.node(child))
            .collect();
        match parts.as_slice() {
            [value, from, to] => vec![
                format!("({value} {low} {from})"),
                format!("({value} {high} {to})"),
            ],
            _ => vec![self.all(node)],
        }
    }

    fn prefix(&self, node: Node<'_>) -> String {
        let children: Vec<Node<'_>> = node.children().collect();
        let Some(operand) = children.last() else {
            return String::new();
        };
        let operator = children[..children.len() - 1]
            .iter()
            .map(|part| part.words().to_lowercase())
            .collect::<String>();
        let value = self.node(*operand);
        if operator == "-" && bare(*operand).kind() == K::LITERAL {
            return format!("-{value}");
        }
        format!("({operator} {value})")
    }

    /// Normal form of a cast. Casts of literals, and of columns to text, are added by the server
    /// and dropped; others are significant.
    fn cast(&self, node: Node<'_>) -> String {
        let type_node = node.children().find(|child| is_type(child.kind()));
        let operand = node.children().find(|child| {
            !child.is_leaf() && !is_type(child.kind()) && !matches!(child.kind(), K::COLON_COLON)
        });
        let (Some(type_node), Some(operand)) = (type_node, operand) else {
            return self.all(node);
        };
        let data_type = Type::parse(&type_node.words());
        let fields: String = node
            .children()
            .filter(|child| {
                matches!(
                    child.kind(),
                    K::INTERVAL_YEAR
                        | K::INTERVAL_MONTH
                        | K::INTERVAL_DAY
                        | K::INTERVAL_HOUR
                        | K::INTERVAL_MINUTE
                        | K::INTERVAL_SECOND
                )
            })
            .map(|child| child.words().to_lowercase())
            .collect();
        let operand = bare(operand);
        let value = self.node(operand);
        if !fields.is_empty() {
            return format!("'{}'", interval(value.trim_matches('\''), &fields));
        }
        let is_number_type = matches!(
            data_type.name.as_str(),
            "integer" | "bigint" | "smallint" | "numeric" | "double precision" | "real"
        );
        match operand.kind() {
            K::LITERAL
                if value.starts_with('\'') && is_number_type && data_type.args.is_empty() =>
            {
                value.trim_matches('\'').to_owned()
            }
            K::LITERAL => value,
            K::PREFIX_EXPR if is_number_type && operand.find(K::LITERAL).is_some() => value,
            K::CAST_EXPR if data_type.is_text() && value.starts_with('\'') => value,
            K::NAME_REF | K::FIELD_EXPR if data_type.name == "text" && !data_type.is_array => value,
            K::CAST_EXPR if data_type.name == "text" && !data_type.is_array => value,
            K::ARRAY_EXPR if data_type.is_array && !value.ends_with("[ ]") => value,
            _ => {
                let mut shown = data_type;
                shown
                    .schema
                    .take_if(|schema| schema == self.context.default_schema);
                format!("({value} :: {})", shown.sql())
            }
        }
    }

    fn field(&self, node: Node<'_>) -> String {
        let parts: Vec<String> = node
            .children()
            .filter(|part| part.kind() != K::DOT)
            .map(|part| self.node(part))
            .collect();
        let [qualifier, name] = parts.as_slice() else {
            return parts.join(".");
        };
        let is_known = Some(qualifier.as_str()) == self.context.relation.map(quote).as_deref()
            || Some(qualifier) == self.alias.as_deref().map(quote).as_ref()
            || *qualifier == quote(self.context.default_schema)
            || qualifier == "pg_catalog";
        if is_known {
            name.clone()
        } else {
            format!("{qualifier}.{name}")
        }
    }

    fn call(&self, node: Node<'_>) -> String {
        let mut text = String::new();
        for child in node.children() {
            let part = match child.kind() {
                K::SOME_FN | K::ANY_FN | K::ALL_FN => {
                    let word = if child.kind() == K::ALL_FN {
                        "all"
                    } else {
                        "any"
                    };
                    format!("{word} ({})", self.quantified(child))
                }
                _ => self.node(child),
            };
            let _ = write!(text, "{}{part}", if text.is_empty() { "" } else { " " });
        }
        text.replace(" ( ", "(").replace(" )", ")")
    }

    fn quantified(&self, node: Node<'_>) -> String {
        let inside = node
            .children()
            .filter(|child| !matches!(child.kind(), K::L_PAREN | K::R_PAREN))
            .skip(1);
        inside
            .map(|child| self.node(bare(child)))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Normal form of a result column, without a redundant alias.
    fn target(&self, node: Node<'_>) -> String {
        let Some(expression) = node.children().next() else {
            return String::new();
        };
        let text = self.node(expression);
        let alias = node
            .children()
            .skip(1)
            .last()
            .and_then(|alias| alias.tokens().last());
        let Some(alias) = alias else { return text };
        let alias = quote(&fold(alias.text()));
        let own = match bare(expression).kind() {
            K::NAME_REF | K::FIELD_EXPR => text.rsplit('.').next().unwrap_or_default().to_owned(),
            K::CALL_EXPR => text.split('(').next().unwrap_or_default().to_owned(),
            K::CASE_EXPR => "\"case\"".to_owned(),
            _ => String::new(),
        };
        if own == alias {
            text
        } else {
            format!("{text} as {alias}")
        }
    }

    fn relation(&self, node: Node<'_>) -> String {
        let mut parts = node.children();
        let name = parts.next().map(|name| self.node(name)).unwrap_or_default();
        let alias = parts
            .last()
            .and_then(|alias| alias.tokens().find(|token| token.kind() == K::IDENT));
        match alias {
            Some(alias) if !self.is_single && quote(&fold(alias.text())) != name => {
                format!("{name} {}", quote(&fold(alias.text())))
            }
            _ => name,
        }
    }

    fn path(&self, node: Node<'_>) -> String {
        let parts: Vec<String> = node
            .tokens()
            .filter(|token| token.kind() != K::DOT)
            .map(|token| quote(&fold(token.text())))
            .collect();
        match parts.as_slice() {
            [schema, name]
                if *schema == quote(self.context.default_schema) || schema == "pg_catalog" =>
            {
                name.clone()
            }
            parts => parts.join("."),
        }
    }
}

/// The only item of a compared list; comparing with the item is equivalent.
fn only_item<'t>(list: &'t str, quantifier: &str) -> Option<&'t str> {
    let rest = list.strip_prefix(quantifier)?.strip_prefix(" (array [ ")?;
    let item = rest.strip_suffix(" ])")?;
    (!item.contains(" , ") && !item.contains('[')).then_some(item)
}

/// The expression inside any number of parentheses.
pub(crate) fn bare(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while node.kind() == K::PAREN_EXPR {
        match node.children().nth(1) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

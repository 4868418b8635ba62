//! Expressions and queries in sqldef's spelling: words in lower case, `IN` as `= ANY`, literals
//! without casts.

use squawk_parser::SyntaxKind as K;

use crate::postgres::expr::bare;
use crate::postgres::interval::interval;
use crate::postgres::model::Type;
use crate::postgres::name::string;
use crate::postgres::parser::{Node, Tree, is_type};

/// Types of redundant casts of literals: the column's own type.
const IMPLIED: [&str; 6] = [
    "text",
    "character varying",
    "character",
    "date",
    "time without time zone",
    "timestamp without time zone",
];

/// Strips parentheses around the whole text.
pub(crate) fn trimmed(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        && is_balanced(inner)
    {
        text = inner.trim();
    }
    text
}

/// Whether no parenthesis closes before opening, except in strings and quoted names.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            (None, _) => {}
        }
    }
    depth == 0
}

/// Spells an expression or a query like sqldef; unparsable texts are unchanged.
pub(super) fn as_sqldef(text: &str) -> String {
    let text = trimmed(text);
    let is_query = ["select", "with", "values", "table"].iter().any(|word| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    });
    let whole = if is_query {
        text.to_owned()
    } else {
        format!("SELECT {text}")
    };
    let tree = Tree::parse(&whole);
    let Some(root) = tree.root().children().next() else {
        return text.to_owned();
    };
    if tree.error.is_some() {
        return text.to_owned();
    }
    let mut line = Line::default();
    line.node(root);
    if is_query {
        line.text
    } else {
        line.text.split_off("select ".len().min(line.text.len()))
    }
}

/// Pieces joined with spaces where needed.
#[derive(Default)]
struct Line {
    text: String,
    /// The next piece follows without a space.
    is_glued: bool,
}

impl Line {
    fn push(&mut self, piece: &str) {
        let closes = matches!(piece, "," | ")" | "]" | "." | "::" | ";");
        if !(self.text.is_empty() || self.is_glued || closes) {
            self.text.push(' ');
        }
        self.text.push_str(piece);
        self.is_glued = matches!(piece, "(" | "[" | "." | "::");
    }

    fn glue(&mut self) {
        self.is_glued = true;
    }

    fn node(&mut self, node: Node<'_>) {
        if node.is_leaf() {
            return self.token(node);
        }
        match node.kind() {
            K::CAST_EXPR => self.cast(node),
            K::BIN_EXPR => self.binary(node),
            K::CALL_EXPR => self.call(node),
            K::ARRAY_EXPR => self.array(node),
            K::SOME_FN | K::ANY_FN | K::ALL_FN => self.quantifier(node),
            kind if is_type(kind) => self.push(&type_name(node)),
            _ => self.all(node),
        }
    }

    fn all(&mut self, node: Node<'_>) {
        for child in node.children() {
            self.node(child);
        }
    }

    fn token(&mut self, token: Node<'_>) {
        let text = token.text();
        match token.kind() {
            K::SEMICOLON => {}
            K::STRING | K::ESC_STRING | K::DOLLAR_QUOTED_STRING => {
                self.push(&format!("'{}'", string(text).replace('\'', "''")));
            }
            // What checks of domains and triggers speak of are names.
            K::VALUE_KW | K::OLD_KW | K::NEW_KW => self.push(text),
            kind if kind.is_keyword() => self.push(&text.to_lowercase()),
            _ => self.push(text),
        }
    }

    fn array(&mut self, node: Node<'_>) {
        for child in node.children() {
            match child.kind() {
                K::ARRAY_KW => self.push("ARRAY"),
                K::L_BRACK => {
                    self.glue();
                    self.push("[");
                }
                _ => self.node(child),
            }
        }
    }

    fn call(&mut self, node: Node<'_>) {
        let mut is_name = true;
        for child in node.children() {
            if matches!(child.kind(), K::SOME_FN | K::ANY_FN | K::ALL_FN) {
                is_name = false;
                self.node(child);
            } else if is_name {
                is_name = false;
                self.push(&child.text().to_lowercase());
            } else {
                if child.kind() == K::ARG_LIST {
                    self.glue();
                }
                self.node(child);
            }
        }
    }

    /// `ANY (…)`; `SOME` is the same word.
    fn quantifier(&mut self, node: Node<'_>) {
        self.push(if node.kind() == K::ALL_FN {
            "ALL"
        } else {
            "ANY"
        });
        for child in node.children().skip(1) {
            self.node(child);
        }
    }

    fn binary(&mut self, node: Node<'_>) {
        let children: Vec<Node<'_>> = node.children().collect();
        let (Some(left), Some(right)) = (children.first(), children.last()) else {
            return;
        };
        let words: Vec<String> = children[1..children.len() - 1]
            .iter()
            .map(|part| part.words().to_lowercase())
            .collect();
        let operator = words.join(" ");
        self.node(*left);
        let is_list = right.find(K::SELECT).is_none();
        match operator.as_str() {
            "in" if is_list => self.in_list(*right, "=", "ANY"),
            "not in" if is_list => self.in_list(*right, "<>", "ALL"),
            operator => {
                self.push(match operator {
                    "like" => "~~",
                    "not like" => "!~~",
                    "ilike" => "~~*",
                    "not ilike" => "!~~*",
                    "!=" => "<>",
                    operator => operator,
                });
                self.node(*right);
            }
        }
    }

    fn in_list(&mut self, list: Node<'_>, operator: &str, quantifier: &str) {
        self.push(operator);
        self.push(quantifier);
        self.push("(");
        self.push("ARRAY");
        self.glue();
        self.push("[");
        for item in list.children() {
            if !matches!(item.kind(), K::L_PAREN | K::R_PAREN) {
                self.node(item);
            }
        }
        self.push("]");
        self.push(")");
    }

    fn cast(&mut self, node: Node<'_>) {
        let type_node = node.children().find(|child| is_type(child.kind()));
        let operand = node.children().find(|child| {
            !is_type(child.kind()) && (!child.is_leaf() || child.kind() == K::LITERAL)
        });
        let (Some(type_node), Some(operand)) = (type_node, operand) else {
            return self.all(node);
        };
        let data_type = Type::parse(&type_node.words());
        let inner = bare(operand);
        let fields: String = node
            .children()
            .filter(|child| !matches!(child.kind(), K::COLON_COLON) && !is_type(child.kind()))
            .filter(|child| child.start() > operand.start())
            .map(|child| child.words().to_lowercase())
            .collect();
        if !fields.is_empty() && inner.kind() == K::LITERAL {
            let value = interval(&string(inner.text()), &fields);
            return self.push(&format!("'{value}'::interval"));
        }
        let is_plain = !data_type.is_array && data_type.schema.is_none();
        let is_implied = is_plain && IMPLIED.contains(&data_type.name.as_str());
        let goes = match inner.kind() {
            K::LITERAL => is_implied,
            K::NAME_REF | K::FIELD_EXPR => is_plain && data_type.name == "text",
            _ => false,
        };
        if goes {
            return self.node(inner);
        }
        self.node(operand);
        self.push("::");
        self.push(&type_name(type_node));
    }
}

fn type_name(node: Node<'_>) -> String {
    Type::parse(&node.words()).sql()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(as_sqldef(text), expected);
    }

    #[test]
    fn expressions_are_spelled_as_sqldef_does() {
        check("status IN ('a', 'b')", "status = ANY (ARRAY['a', 'b'])");
        check("t1 = SOME (ARRAY['x', 'y'])", "t1 = ANY (ARRAY['x', 'y'])");
        check(
            "n1 = 0 or not n1 > 10 and n1 IS NOT NULL",
            "n1 = 0 or not n1 > 10 and n1 is not null",
        );
        check("t2 not like 'x'", "t2 !~~ 'x'");
        check("t4::text ~ '[0-9]'", "t4 ~ '[0-9]'");
        check("d2 >= date '2022-01-01'", "d2 >= '2022-01-01'");
        check(
            "(CURRENT_TIMESTAMP + '1 day'::interval)",
            "current_timestamp + '1 day'::interval",
        );
        check("interval '90' minute", "'01:30:00'::interval");
        check(
            "((now() AT TIME ZONE 'utc')::text)",
            "(now() at time zone 'utc')::text",
        );
        check("ARRAY[]::int[]", "ARRAY[]::integer[]");
        check(
            "LENGTH(UPPER(\"Email\")) > 0",
            "length(upper(\"Email\")) > 0",
        );
        check(
            "OLD.status IS DISTINCT FROM NEW.status",
            "OLD.status is distinct from NEW.status",
        );
        check(
            "SELECT id, 'x' as added FROM hoge",
            "select id, 'x' as added from hoge",
        );
    }

    #[test]
    fn parentheses_around_all_of_it_go() {
        assert_eq!(trimmed("((a) and (b))"), "(a) and (b)");
        assert_eq!(trimmed("(a) and (b)"), "(a) and (b)");
        assert_eq!(trimmed("(')(')"), "')('");
    }
}

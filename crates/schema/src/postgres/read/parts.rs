//! Small pieces shared by many statements: names, options, strings, former names.

use std::collections::BTreeMap;

use squawk_parser::SyntaxKind as K;

use super::{Reader, Statement};
use crate::postgres::model::{Meta, Sql, Type};
use crate::postgres::name::{Name, fold, quote, string};
use crate::postgres::parser::{Node, Tree, is_type};
use crate::rename::renamed_from;
use crate::{Note, NoteKind};

/// The parts of a dotted name.
pub(super) fn parts(node: Node<'_>) -> Vec<String> {
    node.tokens()
        .filter(|token| !matches!(token.kind(), K::DOT | K::ONLY_KW | K::STAR))
        .map(|token| fold(token.text()))
        .collect()
}

/// A name of one word.
pub(super) fn word(node: Node<'_>) -> String {
    parts(node).pop().unwrap_or_default()
}

/// The name of one word in the child of a kind; empty when there is none.
pub(super) fn word_in(node: Node<'_>, kind: K) -> String {
    node.child(kind).map(word).unwrap_or_default()
}

/// The names in a list of columns.
pub(super) fn columns(list: Node<'_>) -> Vec<String> {
    list.inside()
        .filter(|node| matches!(node.kind(), K::COLUMN_NAME_REF | K::COLUMN_NAME))
        .map(word)
        .collect()
}

/// The type inside a node, without `SETOF`.
pub(super) fn type_in(node: Node<'_>) -> Option<Type> {
    let found = node.children().find(|child| is_type(child.kind()))?;
    Some(type_of(found))
}

pub(super) fn type_of(node: Node<'_>) -> Type {
    let words = node.words();
    let setof = words
        .get(..6)
        .is_some_and(|start| start.eq_ignore_ascii_case("setof "));
    Type::parse(if setof { &words[6..] } else { &words })
}

/// A collation as SQL, quoted; `None` for the database's own.
pub(super) fn collation(node: Node<'_>) -> Option<String> {
    let mut parts = parts(node.find(K::COLLATION_REF)?);
    if parts.len() > 1 && parts[0] == "pg_catalog" {
        parts.remove(0);
    }
    (parts != ["default"]).then(|| {
        parts
            .iter()
            .map(|part| quote(part))
            .collect::<Vec<_>>()
            .join(".")
    })
}

/// `(fillfactor = 70, toast.x = 1)`, values without quotes.
pub(super) fn options(list: Node<'_>) -> BTreeMap<String, String> {
    list.inside()
        .filter(|node| node.kind() == K::ATTRIBUTE_OPTION)
        .map(|option| {
            let words = option.words();
            match words.split_once('=') {
                Some((name, value)) => (
                    name.trim().to_lowercase().replace('"', ""),
                    value.trim().trim_matches('\'').to_owned(),
                ),
                None => (words.to_lowercase().replace('"', ""), "true".to_owned()),
            }
        })
        .collect()
}

/// SQL of a node, as written.
pub(super) fn sql(node: Node<'_>) -> Sql {
    Sql(node.text().to_owned())
}

/// A literal's text, when the node holds one.
pub(super) fn string_in(node: Node<'_>) -> Option<String> {
    node.find(K::LITERAL).map(|literal| string(literal.text()))
}

/// The number in a node.
pub(super) fn number_in(node: Node<'_>) -> Option<i64> {
    let words = node.words();
    let digits = words
        .rsplit(|letter: char| !letter.is_ascii_digit())
        .next()?;
    let number: i64 = digits.parse().ok()?;
    Some(if words.contains('-') { -number } else { number })
}

impl Reader<'_> {
    /// Resolves the name of a node.
    pub(super) fn name(&self, node: Node<'_>) -> Name {
        self.resolve(&parts(node))
    }

    /// Metadata of an object created by a separate statement.
    pub(super) fn meta(&self, statement: Statement<'_>) -> Meta {
        Meta {
            source: Some(statement.text.to_owned()),
            ..Meta::default()
        }
    }

    /// The former name in the first comment between two offsets of a statement, or behind the end.
    pub(super) fn former(
        &mut self,
        statement: Statement<'_>,
        from: usize,
        to: usize,
    ) -> Option<String> {
        let tree: &Tree<'_> = statement.tree;
        let inside = tree
            .comments
            .iter()
            .filter(|(start, _)| (from..to).contains(start))
            .map(|(start, end)| &statement.text[*start..*end]);
        let behind = (to >= statement.text.len()).then_some(statement.tail);
        let renamed = inside.chain(behind).find_map(renamed_from)?;
        if renamed.is_deprecated {
            self.note_deprecated();
        }
        Some(renamed.from)
    }

    fn note_deprecated(&mut self) {
        let Some(source) = self.source else { return };
        self.notes.push(Note {
            source: source.name.clone(),
            line: self.line,
            kind: NoteKind::Deprecated,
            text: "@rename is deprecated. Please use @renamed instead.".to_owned(),
        });
    }
}

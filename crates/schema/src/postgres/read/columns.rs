//! Columns.

use squawk_parser::SyntaxKind as K;

use super::constraints::add_constraint;
use super::parts::{collation, sql, type_in, word};
use super::sequences::sequence_options;
use super::{Reader, Statement, Trouble};
use crate::postgres::model::{Column, Generated, Identity, Sql, Table};
use crate::postgres::parser::Node;

impl Reader<'_> {
    /// Reads a column; constraints on more than the value are added to the table.
    pub(super) fn column(
        &mut self,
        statement: Statement<'_>,
        table: &mut Table,
        node: Node<'_>,
        end: usize,
    ) -> Result<Column, Trouble> {
        let name = node.child(K::COLUMN_NAME).ok_or(Trouble::Opaque)?;
        let mut column = Column {
            name: word(name),
            data_type: type_in(node).unwrap_or_default(),
            ..Column::default()
        };
        column.meta.renamed_from = self.former(statement, name.end(), end);
        column.not_null = column.data_type.is_serial;
        for part in node.children() {
            match part.kind() {
                K::NOT_NULL_CONSTRAINT => (column.not_null, column.not_null_said) = (true, true),
                K::DEFAULT_CONSTRAINT => column.default = default_in(part),
                K::GENERATED_CONSTRAINT => generated(&mut column, part),
                K::COLLATE => column.collation = collation(part),
                K::STORAGE => {
                    column.storage = part.tokens().last().map(|mode| mode.text().to_uppercase())
                }
                K::COMPRESSION_METHOD => {
                    column.compression = part
                        .tokens()
                        .last()
                        .map(|method| method.text().to_lowercase());
                }
                K::PRIMARY_KEY_CONSTRAINT
                | K::UNIQUE_CONSTRAINT
                | K::CHECK_CONSTRAINT
                | K::REFERENCES_CONSTRAINT => {
                    column.not_null |= part.kind() == K::PRIMARY_KEY_CONSTRAINT;
                    let constraint = self.constraint(part, Some(&column.name))?;
                    add_constraint(table, constraint);
                }
                _ => {}
            }
        }
        Ok(column)
    }
}

/// The default in a node.
pub(super) fn default_in(node: Node<'_>) -> Option<Sql> {
    let expression = node.children().find(|child| {
        !matches!(
            child.kind(),
            K::DEFAULT_KW | K::SET_KW | K::CONSTRAINT_NAME_CLAUSE
        )
    })?;
    // An expression may be more than one child: take all of it.
    let last = node.children().last().unwrap_or(expression);
    default_of(expression.text_to(last))
}

/// A default as written; `None` for `NULL`.
pub(super) fn default_of(text: &str) -> Option<Sql> {
    let is_null = text
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("null"));
    let ends = text.len() == 4 || text[4.min(text.len())..].starts_with("::");
    (!(is_null && ends)).then(|| Sql(text.to_owned()))
}

fn generated(column: &mut Column, node: Node<'_>) {
    if let Some(identity) = node.child(K::GENERATED_IDENTITY) {
        column.identity = Some(Box::new(identity_in(identity)));
        column.not_null = true;
        return;
    }
    let Some(inner) = node
        .children()
        .find(|child| matches!(child.kind(), K::GENERATED_STORED | K::GENERATED_ALWAYS))
        .or(Some(node))
    else {
        return;
    };
    let whole = if inner.has(K::L_PAREN) { inner } else { node };
    let expression = whole
        .children()
        .skip_while(|child| child.kind() != K::L_PAREN)
        .nth(1);
    let stored = whole.find(K::VIRTUAL).is_none() && whole.find(K::STORED_KW).is_some();
    column.generated = expression.map(|expression| Generated {
        expression: sql(expression),
        stored,
    });
}

/// `ALWAYS AS IDENTITY (…)`.
pub(super) fn identity_in(node: Node<'_>) -> Identity {
    let list = node.child(K::SEQUENCE_OPTION_LIST);
    Identity {
        always: node.has(K::GENERATED_ALWAYS),
        options: list.map(sequence_options).unwrap_or_default(),
        written: list.map(|list| list.words()).unwrap_or_default(),
    }
}

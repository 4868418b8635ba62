//! Tablespaces: settings of tables, materialized views and indexes, compared by words.

use squawk_parser::SyntaxKind as K;

use super::Reader;
use super::parts::word;
use crate::postgres::model::ConstraintKind;
use crate::postgres::name::{Name, fold, quote};
use crate::postgres::parser::Node;

impl Reader<'_> {
    /// `SET default_tablespace = fast`, as dumps say before a table or an index.
    pub(super) fn take_tablespace(&mut self, text: &str) {
        let Some((_, value)) = text.split_once("default_tablespace") else {
            return;
        };
        let value = value.trim().trim_start_matches('=').trim();
        let name = fold(value.trim_matches('\''));
        let is_usual = matches!(name.as_str(), "default" | "");
        self.tablespace = (!is_usual).then_some(name);
    }

    /// Places a new relation of a kind in the tablespace of the statement or of an earlier `SET`.
    pub(super) fn place(&mut self, words: &str, name: &Name, said: Option<String>) {
        if let Some(space) = said.or_else(|| self.tablespace.clone()) {
            let (name, space) = (name.quoted(), quote(&space));
            self.read_kept(&format!("ALTER {words} {name} SET TABLESPACE {space}"));
        }
    }

    /// Says where the indexes of new constraints of a table lie.
    pub(super) fn place_keys(&mut self, table: &Name) {
        let constraints = self.schema.tables.get_mut(table).into_iter();
        let constraints = constraints.flat_map(|table| table.constraints.values_mut());
        let mut new = Vec::new();
        for constraint in constraints.filter(|constraint| !constraint.is_placed) {
            constraint.is_placed = true;
            let is_exclusion = matches!(constraint.kind, ConstraintKind::Exclude(_));
            if is_exclusion || constraint.keys().is_some() {
                new.push((constraint.name.clone(), constraint.tablespace.take()));
            }
        }
        for (name, space) in new {
            self.place("INDEX", &Name::new(table.schema.clone(), name), space);
        }
    }
}

/// The tablespace named by a statement.
pub(super) fn space(node: Node<'_>) -> Option<String> {
    let name = node.child(K::TABLESPACE_CLAUSE)?.find(K::TABLESPACE_REF)?;
    Some(word(name))
}

/// The tablespace of a constraint's index.
pub(super) fn space_of_key(node: Node<'_>) -> Option<String> {
    let name = node
        .find(K::CONSTRAINT_INDEX_TABLESPACE)?
        .find(K::TABLESPACE_REF)?;
    Some(word(name))
}

//! Sequences, extensions and schemas.

use squawk_parser::SyntaxKind as K;

use super::parts::{number_in, parts, type_in, word};
use super::{Read, Reader, Statement, Trouble};
use crate::postgres::model::{Extension, Namespace, Sequence, SequenceOptions};
use crate::postgres::name::Name;
use crate::postgres::parser::Node;

/// The options below a node, in any order. What the server assumes anyway is left out.
pub(super) fn sequence_options(node: Node<'_>) -> SequenceOptions {
    let mut options = SequenceOptions::default();
    for option in node.inside() {
        match option.kind() {
            K::OPTION_AS_TYPE => {
                options.data_type = type_in(option).map(|data_type| data_type.name);
            }
            K::OPTION_START => options.start = number_in(option),
            K::OPTION_INCREMENT => options.increment = number_in(option),
            K::OPTION_MIN_VALUE => options.min = number_in(option),
            K::OPTION_MAX_VALUE => options.max = number_in(option),
            K::OPTION_CACHE => options.cache = number_in(option),
            K::OPTION_CYCLE => options.cycle = true,
            K::OPTION_NO_CYCLE => options.cycle = false,
            _ => {}
        }
    }
    options
}

impl SequenceOptions {
    /// Leaves out what the server would assume for the type.
    pub(in crate::postgres) fn normalize(&mut self, data_type: &str) {
        let top = match data_type {
            "smallint" => i64::from(i16::MAX),
            "integer" => i64::from(i32::MAX),
            _ => i64::MAX,
        };
        let ascending = self.increment.unwrap_or(1) > 0;
        let (min, max) = if ascending { (1, top) } else { (-top - 1, -1) };
        self.min.take_if(|value| *value == min);
        self.max.take_if(|value| *value == max);
        let first = if ascending {
            self.min.unwrap_or(min)
        } else {
            self.max.unwrap_or(max)
        };
        self.start.take_if(|value| *value == first);
        self.increment.take_if(|value| *value == 1);
        self.cache.take_if(|value| *value == 1);
        self.data_type.take_if(|name| name == "bigint");
    }
}

impl Reader<'_> {
    pub(super) fn create_sequence(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let name = node.child(K::SEQUENCE).ok_or(Trouble::Opaque)?;
        let mut sequence = Sequence {
            name: self.name(name),
            unlogged: node.has(K::UNLOGGED),
            meta: self.meta(statement),
            ..Sequence::default()
        };
        if node.has(K::TEMP) {
            return Err(Trouble::Opaque);
        }
        sequence.meta.renamed_from = self.former(statement, 0, statement.text.len());
        sequence.options = sequence_options(node);
        self.own(&mut sequence, node);
        self.schema
            .sequences
            .insert(sequence.name.clone(), sequence);
        Ok(())
    }

    pub(super) fn alter_sequence(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let name = node
            .child(K::SEQUENCE_REF)
            .map(|name| self.name(name))
            .ok_or(Trouble::Opaque)?;
        if node.has(K::OWNER_TO) {
            return self.change_owner(statement);
        }
        if let Some(rename) = node.child(K::SEQUENCE_RENAME_TO) {
            let to = rename.child(K::SEQUENCE).map(word).ok_or(Trouble::Opaque)?;
            let to = Name::new(name.schema.clone(), to);
            let sequence = self
                .schema
                .sequences
                .rename(&name, to.clone())
                .ok_or(Trouble::Opaque)?;
            sequence.name = to;
            return Ok(());
        }
        let Some(mut sequence) = self.schema.sequences.get(&name).cloned() else {
            return Err(Trouble::Opaque);
        };
        let changed = sequence_options(node);
        let options = &mut sequence.options;
        options.data_type = changed.data_type.or(options.data_type.take());
        options.start = changed.start.or(options.start);
        options.increment = changed.increment.or(options.increment);
        options.min = changed.min.or(options.min);
        options.max = changed.max.or(options.max);
        options.cache = changed.cache.or(options.cache);
        options.cycle |= changed.cycle;
        self.own(&mut sequence, node);
        if let Some(slot) = self.schema.sequences.get_mut(&name) {
            *slot = sequence;
        }
        Ok(())
    }

    fn own(&self, sequence: &mut Sequence, node: Node<'_>) {
        let Some(owner) = node.find(K::OPTION_OWNED_BY) else {
            return;
        };
        let Some(column) = owner.child(K::QUALIFIED_COLUMN_NAME_REF) else {
            return;
        };
        let mut column = parts(column);
        let name = column.pop().unwrap_or_default();
        if !column.is_empty() {
            sequence.owned_by = Some((self.resolve(&column), name));
        }
    }

    pub(super) fn create_extension(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let name = node.child(K::EXTENSION).map(word).ok_or(Trouble::Opaque)?;
        let extension = Extension {
            schema: node.child(K::EXTENSION_SCHEMA).map(word),
            meta: self.meta(statement),
            name,
        };
        if !self.schema.extensions.contains(&extension.name) {
            self.schema
                .extensions
                .insert(extension.name.clone(), extension);
        }
        Ok(())
    }

    pub(super) fn create_schema(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let named = node
            .children()
            .find(|child| matches!(child.kind(), K::NAMED_SCHEMA | K::AUTHORIZATION_SCHEMA));
        let named = named.ok_or(Trouble::Opaque)?;
        let name = named
            .find(K::SCHEMA)
            .or_else(|| named.find(K::ROLE))
            .map(word)
            .ok_or(Trouble::Opaque)?;
        let elements = node
            .children()
            .any(|child| child.kind() != K::NAMED_SCHEMA && child.start() > named.end());
        if elements && !statement.text[named.end()..].trim().is_empty() {
            return Err(Trouble::Opaque);
        }
        let namespace = Namespace {
            meta: self.meta(statement),
        };
        if !self.schema.schemas.contains(&name) {
            self.schema.schemas.insert(name, namespace);
        }
        Ok(())
    }
}

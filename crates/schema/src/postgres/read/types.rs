//! Enums and domains.

use squawk_parser::SyntaxKind as K;

use super::columns::default_in;
use super::constraints::check;
use super::parts::{collation, string_in, type_in, word};
use super::{Read, Reader, Statement, Trouble};
use crate::postgres::model::{
    Constraint, ConstraintKind, Domain, EnumValue, Sql, Type, TypeKind, UserType,
};
use crate::postgres::name::{Name, made, string};
use crate::postgres::parser::Node;

impl Reader<'_> {
    pub(super) fn create_type(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let name = node.child(K::TYPE_NAME).ok_or(Trouble::Opaque)?;
        let values = node.child(K::ENUM_TYPE).ok_or(Trouble::Opaque)?;
        let variants: Vec<Node<'_>> = values
            .inside()
            .filter(|item| item.kind() == K::VARIANT)
            .collect();
        let first = variants
            .first()
            .map_or(statement.text.len(), |first| first.start());
        let renamed_from = self.former(statement, name.end(), first);
        let mut labels = Vec::new();
        for (at, variant) in variants.iter().enumerate() {
            let end = variants
                .get(at + 1)
                .map_or(statement.text.len() - 1, |next| next.start());
            labels.push(EnumValue {
                label: string(variant.text()),
                renamed_from: self.former(statement, variant.end(), end),
            });
        }
        self.insert_type(statement, name, TypeKind::Enum(labels), renamed_from)
    }

    fn insert_type(
        &mut self,
        statement: Statement<'_>,
        name: Node<'_>,
        kind: TypeKind,
        renamed_from: Option<String>,
    ) -> Read {
        let mut meta = self.meta(statement);
        meta.renamed_from = renamed_from;
        let name = self.name(name);
        self.schema
            .types
            .insert(name.clone(), UserType { name, kind, meta });
        Ok(())
    }

    pub(super) fn alter_type(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        if node.has(K::OWNER_TO) {
            return self.change_owner(statement);
        }
        let name = node
            .child(K::TYPE_NAME_REF)
            .map(|name| self.name(name))
            .ok_or(Trouble::Opaque)?;
        let found = self.schema.types.get_mut(&name).ok_or(Trouble::Opaque)?;
        let TypeKind::Enum(values) = &mut found.kind else {
            return Err(Trouble::Opaque);
        };
        if let Some(add) = node.child(K::ADD_VALUE) {
            let label = string_in(add).ok_or(Trouble::Opaque)?;
            let place = |kind: K| {
                let label = add.child(kind).and_then(string_in)?;
                values.iter().position(|value| value.label == label)
            };
            let at = place(K::BEFORE_VALUE)
                .or_else(|| place(K::AFTER_VALUE).map(|at| at + 1))
                .unwrap_or(values.len());
            if values.iter().all(|value| value.label != label) {
                values.insert(
                    at,
                    EnumValue {
                        label,
                        renamed_from: None,
                    },
                );
            }
            return Ok(());
        }
        if let Some(rename) = node.child(K::RENAME_VALUE) {
            let labels: Vec<String> = rename
                .all(K::LITERAL)
                .map(|label| string(label.text()))
                .collect();
            if let [from, to] = labels.as_slice() {
                for value in values.iter_mut().filter(|value| value.label == *from) {
                    value.label.clone_from(to);
                }
                return Ok(());
            }
        }
        if let Some(rename) = node.child(K::TYPE_RENAME_TO) {
            let to = rename
                .child(K::TYPE_NAME)
                .map(word)
                .ok_or(Trouble::Opaque)?;
            let to = Name::new(name.schema.clone(), to);
            if let Some(renamed) = self.schema.types.rename(&name, to.clone()) {
                renamed.name = to;
            }
            return Ok(());
        }
        Err(Trouble::Opaque)
    }

    pub(super) fn create_domain(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        let name = node.child(K::DOMAIN).ok_or(Trouble::Opaque)?;
        let mut domain = Domain {
            base: type_in(node).ok_or(Trouble::Opaque)?,
            ..Domain::default()
        };
        let full = self.name(name);
        // The server copies it, so that another default of the base does not change it.
        domain.default = self.default_of_domain(&domain.base);
        for part in node.children() {
            match part.kind() {
                K::DEFAULT_CONSTRAINT => domain.default = default_in(part),
                K::NOT_NULL_CONSTRAINT => domain.not_null = true,
                K::COLLATE => domain.collation = collation(part),
                K::CHECK_CONSTRAINT => add_check(&mut domain, &full.name, part)?,
                _ => {}
            }
        }
        let renamed_from = self.former(statement, name.end(), statement.text.len());
        self.insert_type(statement, name, TypeKind::Domain(domain), renamed_from)
    }

    /// The default of a domain; `None` for any other type.
    fn default_of_domain(&self, base: &Type) -> Option<Sql> {
        let schema = base.schema.as_ref().unwrap_or(&self.schema.default_schema);
        let name = Name::new(schema.clone(), base.name.clone());
        match &self.schema.types.get(&name)?.kind {
            TypeKind::Domain(domain) if !base.is_array => domain.default.clone(),
            TypeKind::Domain(_) | TypeKind::Enum(_) => None,
        }
    }

    pub(super) fn alter_domain(&mut self, statement: Statement<'_>) -> Read {
        let node = statement.node;
        if node.has(K::OWNER_TO) {
            return self.change_owner(statement);
        }
        let name = node
            .child(K::DOMAIN_REF)
            .map(|name| self.name(name))
            .ok_or(Trouble::Opaque)?;
        let found = self.schema.types.get_mut(&name).ok_or(Trouble::Opaque)?;
        let TypeKind::Domain(domain) = &mut found.kind else {
            return Err(Trouble::Opaque);
        };
        for part in node.children() {
            match part.kind() {
                K::SET_DEFAULT => domain.default = default_in(part),
                K::DROP_DEFAULT => domain.default = None,
                K::SET_NOT_NULL => domain.not_null = true,
                K::DROP_NOT_NULL => domain.not_null = false,
                K::ADD_CONSTRAINT => {
                    let constraint = part.child(K::CHECK_CONSTRAINT).ok_or(Trouble::Opaque)?;
                    add_check(domain, &name.name, constraint)?;
                }
                K::DROP_CONSTRAINT => {
                    let dropped = part.child(K::CONSTRAINT_NAME_REF).map(word);
                    domain
                        .checks
                        .retain(|check| Some(&check.name) != dropped.as_ref());
                }
                K::DOMAIN_RENAME_TO | K::SET_SCHEMA | K::VALIDATE_CONSTRAINT => {
                    return Err(Trouble::Opaque);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn add_check(domain: &mut Domain, name: &str, node: Node<'_>) -> Read {
    let mut constraint =
        Constraint::new(ConstraintKind::Check(check(node).ok_or(Trouble::Opaque)?));
    match node
        .child(K::CONSTRAINT_NAME_CLAUSE)
        .and_then(|clause| clause.child(K::CONSTRAINT_NAME))
    {
        Some(given) => (constraint.name, constraint.is_named) = (word(given), true),
        None => {
            let is_taken = |name: &str| domain.checks.iter().any(|check| check.name == name);
            constraint.name = made(name, None, "check", is_taken);
        }
    }
    constraint.not_valid = node.has(K::NOT_VALID);
    domain.checks.push(constraint);
    Ok(())
}
